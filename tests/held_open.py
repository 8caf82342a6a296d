"""What a process holds open in a folder, where files of it have lost their names."""

import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

LISTED = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="what a process holds open is not listed here")


def held_open(process: subprocess.Popen, folder: Path) -> int:
    """Bytes in files of a folder that a process has open, whether they still have a name or not."""
    held = 0
    for one in Path(f"/proc/{process.pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            held += one.stat().st_size if one.readlink().is_relative_to(folder) else 0
    return held
