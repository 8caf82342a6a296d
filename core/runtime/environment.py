"""What the program finds around it: its folder, packages that may be missing, the time, and processes beside it."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

from ..errors import RequestError

_LIBRARY = Path(__file__).resolve().parents[1]
INSTALLED = (_LIBRARY / "app").is_dir()
# The folder of app.py, pages, sample_data and the document that the app shows.
APP = _LIBRARY / "app" if INSTALLED else _LIBRARY.parent
PROGRAM = "frostglass" if INSTALLED else "python -m core"  # What a person types to run a command.


def check_extra(package: str, extra: str, what: str) -> None:
    """RequestError where a package is missing that an extra of the installation brings."""
    if find_spec(package) is None:
        raise RequestError(f"{what} needs the package {package}: install Frostglass with its extra {extra!r}.")


def utc() -> datetime:
    """Now, in coordinated universal time."""
    return datetime.now(UTC)


THREADS = "OPENBLAS_NUM_THREADS"  # How many threads NumPy's linear algebra works in.


def become(module: str, *arguments: str) -> None:
    """Run a module of this library in the place of this process.

    Without -P a file in the folder where the command was typed could pass for a library. Linear algebra keeps to one
    thread, unless the variable says otherwise: its matrices are small here and several visitors ask at once, while
    threads that wait for each other at each of them took twice as much of the processors as the work itself.
    """
    os.environ.setdefault(THREADS, "1")
    os.execv(sys.executable, _command(module, *arguments))


def beside(module: str, *arguments: str) -> subprocess.Popen[bytes]:
    """Run a module of this library likewise, beside this process, which does not wait for it."""
    os.environ.setdefault(THREADS, "1")
    return subprocess.Popen(_command(module, *arguments), stdin=subprocess.DEVNULL)


def _command(module: str, *arguments: str) -> list[str]:
    place, name = str(Path(__file__).resolve().parents[2]), f"{__name__.partition('.')[0]}.{module}"
    begin = f"import runpy, sys; sys.path.insert(0, {place!r}); runpy.run_module({name!r}, run_name='__main__')"
    return [sys.executable, "-P", "-c", begin, *arguments]


VERSION = "0.1.0"
SOFTWARE = f"Frostglass {VERSION}"
