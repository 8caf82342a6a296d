"""A half-built table on disk, so that a long reading survives the end of its process.

A checkpoint is exact: as private as the records themselves. Its file can be read by its owner alone (mode 0600, in a
folder of mode 0700), is written whole or not at all, and is gone when the release is saved. Its layout is a line that
says what it is, the length of a header, the header as JSON, the counters, and the SHA-256 of all that.

`core.releases.engine.resuming` says when one is written, used and removed, and why no record is ever counted twice.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from platformdirs import user_data_path

from ...errors import RequestError
from ...sketches.linear import LinearSketch
from .building import Begun

MAGIC = b"frostglass-checkpoint 1\n"
LENGTH_BYTES = 8
DIGEST_BYTES = hashlib.sha256().digest_size
MAX_HEADER = 64 << 20
SUFFIX, UNFINISHED = ".checkpoint", ".unfinished"


class DamagedCheckpoint(RequestError):
    """A checkpoint that says something else than what was written, or that others could have written or read."""


@dataclass(frozen=True)
class Checkpoint:
    """Where a building stood, and of what."""

    # What is built: names of the files, data set, mechanism, domain and all parameters but seeds. The same command has
    # the same one, so the file is named after it.
    identity: dict[str, Any]
    # What has to be the same for the building to go on: sizes and times of the files, program and libraries.
    sameness: dict[str, Any]
    parameters: dict[str, Any]  # Of the sketch, seeds included.
    paid: int  # Releases of this very sketch that the ledger knew when the building began.
    rows: int = 0  # Rows (sets, where those are gathered) that are in the table.
    records: tuple[int, ...] = ()  # How many of them were kept, of the sketch's `count_shape`, flat.
    written: str = ""  # When, ISO 8601, UTC.

    @property
    def name(self) -> str:
        """Name of its file."""
        return hashlib.sha256(_text(self.identity)).hexdigest()[:32] + SUFFIX

    @property
    def age(self) -> float:
        """Seconds since it was written."""
        return max(0.0, (datetime.now(UTC) - datetime.fromisoformat(self.written)).total_seconds())


class Checkpoints:
    """A folder of checkpoints that only its owner may enter; it exists while there is one.

    `folder`: Its path.
    """

    def __init__(self, folder: Path):
        self.folder = folder

    @classmethod
    def beside(cls, ledger: str) -> Checkpoints:
        """Those of releases that a ledger pays for: beside its file, or in the user's data folder for a database."""
        if "://" in ledger:
            return cls(user_data_path("frostglass", appauthor=False) / "checkpoints")
        return cls(Path(f"{ledger}.checkpoints"))

    def write(self, checkpoint: Checkpoint, begun: Begun) -> None:
        """Put the state of a building in the place of the last one, in one step; OSError when it cannot be written.

        The new file is complete on the disk before it takes the name of the old one, and the old one is there until
        then: whenever the process or the machine dies, there is exactly one whole state.
        """
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._check_closed()
        self._remove_unfinished(checkpoint.name)
        facts = vars(checkpoint) | {
            "rows": begun.rows,
            "records": np.ravel(begun.records).tolist(),
            "written": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        header = _text(facts)
        draft = self.folder / f".{checkpoint.name}.{secrets.token_hex(8)}{UNFINISHED}"
        digest = hashlib.sha256()
        try:
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb", buffering=0) as file:
                length = len(header).to_bytes(LENGTH_BYTES, "little")
                contents: Iterable[bytes | memoryview] = (MAGIC, length, header, *_pieces(begun.table))
                for piece in contents:
                    digest.update(piece)
                    _write_all(file, piece)
                _write_all(file, digest.digest())
                os.fsync(file.fileno())
            draft.replace(self.folder / checkpoint.name)
        finally:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
        if os.name == "posix":
            _sync_folder(self.folder)

    def find(self, name: str) -> Checkpoint | None:
        """What the checkpoint of that name says of itself, its counters not looked at yet; None when there is none.

        DamagedCheckpoint when the file is not one that `write` made.
        """
        try:
            with self._opened(name) as file:
                return _read_header(file)[0]
        except FileNotFoundError:
            return None
        except OSError:
            raise DamagedCheckpoint("It cannot be read.") from None

    def begun(self, checkpoint: Checkpoint, sketch: LinearSketch) -> Begun:
        """The state that a checkpoint holds, for the sketch that it was made of.

        DamagedCheckpoint when a byte of it is not what was written, or it is no state of this sketch.
        """
        table = sketch.zeros()
        digest = hashlib.sha256()
        try:
            with self._opened(checkpoint.name) as file:
                found, head = _read_header(file)
                size = len(head) + table.nbytes + DIGEST_BYTES
                if found != checkpoint or os.fstat(file.fileno()).st_size != size:
                    raise DamagedCheckpoint("It has another size than a table of this kind.")
                digest.update(head)
                for piece in _pieces(table):
                    if file.readinto(piece) != len(piece):
                        raise DamagedCheckpoint("It is cut short.")
                    digest.update(piece)
                if file.read(DIGEST_BYTES) != digest.digest():
                    raise DamagedCheckpoint("It is not what was written.")
        except OSError:
            raise DamagedCheckpoint("It cannot be read.") from None
        records = np.array(found.records, dtype=np.int64)
        if (
            records.size != int(np.prod(sketch.count_shape))
            or (records < 0).any()
            or sketch.records_in(records) > found.rows
        ):
            raise DamagedCheckpoint("It counts more records than rows.")
        return Begun(table, records.reshape(sketch.count_shape), found.rows)

    def holds(self, name: str) -> bool:
        """Whether there is a checkpoint of that name."""
        return (self.folder / name).exists()

    def all(self) -> list[tuple[str, Checkpoint | None]]:
        """Names of all checkpoints, and what they say of themselves; None for a damaged one."""
        found: list[tuple[str, Checkpoint | None]] = []
        for name in sorted(path.name for path in self.folder.glob(f"*{SUFFIX}")):
            try:
                found.append((name, self.find(name)))
            except DamagedCheckpoint:
                found.append((name, None))
        return found

    def remove(self, name: str) -> None:
        """Remove a checkpoint, if it is there, and the folder with the last one."""
        with suppress(FileNotFoundError):
            (self.folder / name).unlink()
        self._remove_unfinished(name)
        with suppress(OSError):
            self.folder.rmdir()

    def _check_closed(self) -> None:
        """OSError when others may enter the folder; one that was there before is not closed to them, but not used."""
        facts = self.folder.stat()
        if os.name == "posix" and (facts.st_uid != os.getuid() or facts.st_mode & 0o077):
            raise PermissionError(errno.EACCES, f"others may enter {str(self.folder)!r}")

    def _remove_unfinished(self, name: str) -> None:
        """Remove what a process that was killed while writing has left."""
        for path in self.folder.glob(f".{name}.*{UNFINISHED}"):
            with suppress(OSError):
                path.unlink()

    def _opened(self, name: str) -> BufferedReader:
        """The file, if it is an ordinary one that belongs to this user alone."""
        # Not following a link, and not waiting for whoever writes to what is no file but a pipe.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        file = os.fdopen(os.open(self.folder / name, flags), "rb")
        facts = os.fstat(file.fileno())
        if os.name == "posix" and (
            not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.getuid() or facts.st_mode & 0o077
        ):
            file.close()
            raise DamagedCheckpoint("Others than its owner may have read or written it.")
        return file


def _read_header(file: BinaryIO) -> tuple[Checkpoint, bytes]:
    """What the file says of itself, and the bytes that say it."""
    head = file.read(len(MAGIC) + LENGTH_BYTES)
    length = int.from_bytes(head[len(MAGIC) :], "little")
    if not head.startswith(MAGIC) or length > MAX_HEADER:
        raise DamagedCheckpoint("It is none.")
    text = file.read(length)
    try:
        facts = json.loads(text)
        checkpoint = Checkpoint(**facts | {"records": tuple(facts["records"])})
        whole = [checkpoint.paid, checkpoint.rows, *checkpoint.records]
        # A time that cannot be read, or is of no zone, has no age: asking for it raises one of these.
        if not all(type(number) is int and 0 <= number < 1 << 63 for number in whole) or checkpoint.age < 0:
            raise ValueError
    except (ValueError, TypeError, KeyError, RecursionError):
        raise DamagedCheckpoint("Its header cannot be read.") from None
    return checkpoint, head + text


def _pieces(table: np.ndarray) -> Iterator[memoryview]:
    """The bytes of a table in pieces that fit into caches, so that they are hashed and written while they are there."""
    flat = table.reshape(-1).data.cast("B")
    step = 1 << 20
    return (flat[start : start + step] for start in range(0, len(flat), step))


def _write_all(file: BinaryIO, piece: bytes | memoryview) -> None:
    rest = memoryview(piece)
    while rest:
        rest = rest[file.write(rest) :]


def _sync_folder(folder: Path) -> None:
    """Make sure that the new name is on the disk too."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _text(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, allow_nan=False).encode()
