"""Files and folders that live no longer than the process that made them, even when it is killed.

What a process leaves behind when it is killed may be gigabytes of private rows, so every one is held with a lock, which
the system lets go of however the process ends, and whoever comes next removes what nobody holds. A lock and no number
of a process decides: numbers are used again, and are others in a container that shares the folder.

Files that others write lose their names at once, so that nothing of them is left when the process is killed: DuckDB
keeps the files into which it spills open until it removes them, so all that it needs of a name is that there is
one to remove. An empty file takes the place of each as soon as it has grown: what was there then belongs to who has it
open alone, no path leads to it, and the system frees it however the process ends.
"""

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows, where nobody can remove a file that is open
    fcntl = None  # type: ignore[assignment]  # as there is no such module, its absence is what is looked for

PREFIX, LOCK, UNFINISHED = "frostglass-", "lock", ".unfinished"
PIECE = 1 << 20


@contextmanager
def private_folder() -> Iterator[Path]:
    """An empty folder in the one for temporary files that only its owner may enter, removed at the end.

    Its name tells the number of the process, for people. Those of processes that were killed are removed first.
    """
    sweep_folders()
    folder, lock = None, None
    while folder is None or lock is None:
        # mkdtemp gives the folder the mode 0700 as it makes it.
        folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
        lock = _new_lock(folder / LOCK)
    try:
        with lock:
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def unfinished(path: Path, size: int = 0) -> Iterator[BinaryIO]:
    """A file to write to that takes the place of ``path`` once all of it is on the disk; on failure, nothing is left.

    `size`: Bytes that are taken on the disk at once, so that nothing else fills it meanwhile; what was not needed of
    them is given back.
    """
    sweep_unfinished(path.parent)
    while True:
        draft = path.with_name(f".{secrets.token_hex(8)}{UNFINISHED}")
        try:
            with draft.open("xb") as file:
                if not _hold(file, draft):
                    continue
                _take(file, size)
                yield file
                if size:
                    file.truncate()
                file.flush()
                os.fsync(file.fileno())
                if fcntl is not None:
                    draft.replace(path)  # still held, so that nobody sweeps it before it has its name
            if fcntl is None:
                draft.replace(path)
            return
        finally:
            with suppress(OSError):
                draft.unlink(missing_ok=True)


@contextmanager
def held(path: Path) -> Iterator[bool]:
    """Hold a file, made where there is none, for as long as the block; False where a living process holds it."""
    with path.open("ab") as file:
        yield _hold(file, path)


def _take(file: BinaryIO, size: int) -> None:
    """Make an empty file so large that its bytes are there when they are written."""
    if size and hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
    elif size:
        for start in range(0, size, PIECE):
            file.write(bytes(min(PIECE, size - start)))
        file.flush()
        os.fsync(file.fileno())
        file.seek(0)


def sweep() -> None:
    """Remove what processes that were killed have left: at the start of a program, before it does anything else."""
    sweep_folders()
    sweep_unfinished(Path())


def sweep_folders() -> None:
    """Remove this user's `private_folder`s that no living process holds."""
    for folder in _mine(Path(tempfile.gettempdir()), f"{PREFIX}[0-9]*-*"):
        with suppress(OSError), _abandoned(folder / LOCK) as there:
            # A folder without a lock is another version's, or is just being made: it goes if it is empty.
            if there:
                shutil.rmtree(folder)
            else:
                folder.rmdir()


def sweep_unfinished(folder: Path) -> None:
    """Remove this user's files that were never finished, and that no living process holds, from a folder."""
    for file in _mine(folder, f".????????????????{UNFINISHED}"):
        with suppress(OSError), _abandoned(file) as there:
            if there:
                file.unlink()


def _mine(folder: Path, pattern: str) -> list[Path]:
    """What is there of this user's by such a name, links left aside."""
    found = []
    with suppress(OSError):
        for path in folder.glob(pattern):
            with suppress(OSError):
                if not path.is_symlink() and (not hasattr(os, "getuid") or path.lstat().st_uid == os.getuid()):
                    found.append(path)
    return found


def _new_lock(path: Path) -> BinaryIO | None:
    """A file that is held while it is open; None where another process swept it in between, empty as it was."""
    try:
        lock = path.open("xb")
    except FileNotFoundError:
        return None
    if _hold(lock, path):
        return lock
    lock.close()
    return None


def _hold(file: BinaryIO, path: Path) -> bool:
    """Lock an open file for as long as it is open; whether it is still there, as another may have swept it before."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks, where nobody sweeps either
        return True
    return path.exists()


@contextmanager
def _abandoned(path: Path) -> Iterator[bool]:
    """Hold a file that no living process holds; whether it is there at all.

    It is held for as long as what belongs to it is being removed. Were it only looked at, the process that has just
    made it and not yet locked it would find it free in the moment after the look, and lose what it is about to use.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError:
        yield False
        return
    with file:
        if fcntl is not None:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield True
            return
    path.rename(path)  # refused there while it is open
    yield True


# Seconds between two looks, and so about as long as a file keeps its name, on a computer that is not overrun.
PAUSE = 0.01
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
