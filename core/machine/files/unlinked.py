"""Files that others write lose their names at once, so that nothing of them is left when the process is killed.

DuckDB keeps the files into which it spills open until it removes them, so all that it needs of a name is that there is
one to remove. An empty file takes the place of each as soon as it has grown: what was there then belongs to who has it
open alone, no path leads to it, and the system frees it however the process ends.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

PAUSE = 0.01
"""Seconds between two looks, and so about as long as a file keeps its name, on a computer that is not overrun."""
EMPTY = "empty"


@contextmanager
def unlinked(folder: Path, suffix: str) -> Iterator[None]:
    """Take away what the files of a folder hold from their names, those with the suffix, until the end of the block.

    Where an open file cannot be replaced (Windows) all stays as it is.
    """
    done = Event()

    def watch() -> None:
        while not done.wait(PAUSE):
            with suppress(OSError):
                _take_names(folder, suffix)

    watcher = Thread(target=watch, name="unlinked", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _take_names(folder: Path, suffix: str) -> None:
    with os.scandir(folder) as entries:
        for entry in entries:
            # An empty file is one that has just been put there, or that nobody has written to.
            if entry.name.endswith(suffix) and entry.stat(follow_symlinks=False).st_size:
                empty = folder / EMPTY
                empty.touch(mode=0o600)
                empty.replace(entry.path)
