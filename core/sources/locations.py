"""Where the bytes of a source are: files on a disk, or content that arrived over the network."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from ..machine.files.transient import private_folder


@dataclass(frozen=True)
class Upload:
    """A file that arrived over the network: its name, which tells the format, and its content."""

    name: str
    content: bytes = field(repr=False)


class Location(Protocol):
    """Files that can be opened by path for as long as the context lasts."""

    @property
    def label(self) -> str:
        """How messages name the files."""
        ...

    def opened(self) -> AbstractContextManager[tuple[str, ...]]:
        """Paths of the files, in the order in which they are read."""
        ...

    def fingerprint(self) -> dict | None:
        """What tells, later and to another process, whether the files are still the same; None where nothing can."""
        ...


@dataclass(frozen=True)
class Paths:
    """Files on disk, in the order in which they are read."""

    label: str
    paths: tuple[str, ...]

    @contextmanager
    def opened(self) -> Iterator[tuple[str, ...]]:
        yield self.paths

    def fingerprint(self) -> dict | None:
        """Absolute paths, sizes and times of change; None where a file is no longer there, or none of this machine.

        The time at which a file's entry was last changed is there beside that of its content, as programs that copy or
        unpack set the latter to whatever they like.
        """
        try:
            found = [(str(Path(path).absolute()), Path(path).stat()) for path in self.paths]
        except OSError:
            return None
        return {"files": [[path, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns] for path, facts in found]}


@dataclass(frozen=True)
class InMemory:
    """Content that never touches a disk where the operating system has files in memory (Linux).

    Elsewhere it lies for the time of reading in a folder that only its owner may enter.
    """

    label: str
    content: bytes = field(repr=False)

    @contextmanager
    def opened(self) -> Iterator[tuple[str, ...]]:
        if hasattr(os, "memfd_create") and Path("/proc/self/fd").is_dir():
            with os.fdopen(os.memfd_create("upload"), "wb") as file:
                file.write(self.content)
                file.flush()
                yield (f"/proc/self/fd/{file.fileno()}",)
        else:
            with private_folder() as folder:
                path = folder / "upload"
                path.write_bytes(self.content)
                yield (str(path),)

    def fingerprint(self) -> dict | None:
        """None: the content is gone with the process."""
        return None
