"""What others write loses its name, and nothing else: who has it open goes on, and a killed process leaves no row."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.machine.files.unlinked import unlinked

pytestmark = pytest.mark.skipif(os.name != "posix", reason="an open file cannot be replaced there")
SPILLING = """
import sys, tempfile
tempfile.tempdir = sys.argv[1]
from core.sources.duck import Scan
with Scan("", "rows").connection("100MB") as session:
    rows = session.sql(
        "SELECT 'somebody' || hash(i) || repeat('x', 40) AS t, i FROM range(3000000) s(i) ORDER BY hash(i * 7)"
    )
    reader = rows.to_arrow_reader(1000)
    next(iter(reader))
    print("sorted", flush=True)
    sys.stdin.read()
"""


def wait_for(what):
    """Until something is so, however busy the computer is."""
    for _ in range(6_000):
        if what():
            return
        time.sleep(0.01)
    raise AssertionError("It never came to be.")


def test_an_open_file_loses_its_name_and_not_what_it_holds(tmp_path):
    path, other = tmp_path / "a.tmp", tmp_path / "a.block"
    with unlinked(tmp_path, ".tmp"), path.open("w+b", buffering=0) as file:
        for row in (b"one", b"two"):
            file.write(row)
            other.write_bytes(row)
            wait_for(lambda: os.fstat(file.fileno()).st_nlink == 0)
            assert path.read_bytes() == b"" and other.read_bytes() == row
        file.seek(0)
        assert file.read() == b"onetwo"
        path.unlink()  # as who wrote it removes it
        path.write_bytes(b"another of the same name")
        wait_for(lambda: path.stat().st_size == 0)
    path.write_bytes(b"kept")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.block", "a.tmp"] and path.read_bytes() == b"kept"


@pytest.mark.deep
def test_a_killed_reading_leaves_no_row_behind(tmp_path):
    command = [sys.executable, "-c", SPILLING, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as reading:
        assert reading.stdout.readline() == b"sorted\n"
        (folder,) = tmp_path.iterdir()
        held = [one for one in Path(f"/proc/{reading.pid}/fd").iterdir() if str(folder) in str(one.readlink())]
        assert sum(one.stat().st_size for one in held) > 1 << 20
        wait_for(lambda: not sum(one.stat().st_size for one in folder.iterdir() if one.suffix == ".tmp"))
        reading.send_signal(signal.SIGKILL)
        reading.wait()
    assert not sum(one.stat().st_size for one in folder.iterdir() if one.suffix == ".tmp")
