"""Every release that a ledger has paid for, kept beside it: what was paid for once cannot be made again for nothing.

A shelf is a folder of release files and of nothing else. They are public, each of them; the folder is its owner's all
the same, as the names of the files say which data sets there are.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote, unquote

from platformdirs import user_data_path

from ..errors import RequestError
from ..privacy.ledger.ledger import Ledger
from .file import UNFINISHED, Room
from .release import Release, load

SUFFIX = ".npz"
MOMENT = "%Y%m%dT%H%M%SZ"
NAMED = re.compile(r"(?P<dataset>.+)-(?P<moment>\d{8}T\d{6}Z)-[0-9a-f]{8}\.npz", re.DOTALL)
LONGEST = 150
"""Characters of a data set's name in that of a file, whose name may have 255."""
FORGOTTEN = 7 * 86_400.0
"""Seconds after which room that nobody has filled is given back: whoever asked for it was killed."""


@dataclass(frozen=True)
class Entry:
    """One release on a shelf.

    Attributes
    ----------
    name : str
        Of its file.
    dataset : str
        That paid for it; cut where it is very long.
    created : datetime
        When it was made, UTC.
    size : int
        Bytes of its file.
    """

    name: str
    dataset: str
    created: datetime
    size: int


class Shelf:
    """The releases of one ledger; its folder exists from the first one on.

    Parameters
    ----------
    folder : Path
        Where they are.
    """

    def __init__(self, folder: Path):
        self.folder = folder

    def keep(self, release: Release, dataset: str) -> Path:
        """Put a release on the shelf; RequestError when it cannot be written."""
        with self.room(0) as room:
            return room.keep(release, dataset)

    @contextmanager
    def room(self, size: int) -> Iterator[Place]:
        """A place for a file of at most so many bytes, which nothing else on the disk can take meanwhile.

        Raises
        ------
        RequestError
            When there is no such room.
        """
        with ExitStack() as taken:
            try:
                self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._sweep()
                room = taken.enter_context(Room.of(self.folder, size))
            except OSError as problem:
                raise RequestError(
                    f"There is no room to keep the release, of at most {size:,} bytes, in {str(self.folder)!r}, beside "
                    f"the ledger: {problem.strerror or problem}."
                ) from None
            yield Place(self, room)

    def entries(self) -> tuple[Entry, ...]:
        """What is on the shelf, the latest first."""
        found = []
        with suppress(FileNotFoundError):
            for path in self.folder.iterdir():
                named = NAMED.fullmatch(path.name)
                if named is not None and path.is_file():
                    moment = datetime.strptime(named["moment"], MOMENT).replace(tzinfo=UTC)
                    found.append(Entry(path.name, unquote(named["dataset"]), moment, path.stat().st_size))
        return tuple(sorted(found, key=lambda entry: (entry.created, entry.name), reverse=True))

    def path(self, name: str) -> Path:
        """Where one is; RequestError when there is none of this name."""
        if not NAMED.fullmatch(name) or Path(name).name != name or not (self.folder / name).is_file():
            raise RequestError(f"There is no release {name!r} in {str(self.folder)!r}.")
        return self.folder / name

    def load(self, name: str) -> Release:
        """Open one."""
        return load(self.path(name))

    def remove(self, name: str) -> None:
        """Take one off the shelf, for ever."""
        self.path(name).unlink()

    def _sweep(self) -> None:
        for path in self.folder.glob(f".*{UNFINISHED}"):
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > FORGOTTEN:
                    path.unlink()


@dataclass(frozen=True)
class Place:
    """A place on a shelf that was made free beforehand."""

    shelf: Shelf
    room: Room

    def keep(self, release: Release, dataset: str) -> Path:
        """Put the release there; RequestError when it cannot be written."""
        moment = datetime.fromisoformat(release.created).astimezone(UTC).strftime(MOMENT)
        while len(quote(dataset, safe=" ")) > LONGEST:
            dataset = dataset[:-1]
        path = self.shelf.folder / f"{quote(dataset, safe=' ')}-{moment}-{secrets.token_hex(4)}{SUFFIX}"
        release.save(path, room=self.room)
        return path


def shelf_of(ledger: Ledger) -> Shelf:
    """The shelf of a ledger: beside its file, or in the user's data folder for a database."""
    if "://" in ledger.where:
        return Shelf(user_data_path("frostglass", appauthor=False) / "releases")
    return Shelf(Path(f"{ledger.where}.releases"))
