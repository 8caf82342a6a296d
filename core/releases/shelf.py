"""Every release that a ledger has paid for, kept beside it: what was paid for once cannot be made again for nothing.

A shelf is a folder of release files and of nothing else. They are public, each of them; the folder is its owner's all
the same, as the names of the files say which data sets there are.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote, unquote

from platformdirs import user_data_path

from ..errors import RequestError
from ..machine.files.transient import unfinished
from ..privacy.ledger.ledger import Ledger
from .file import sync_folder
from .release import Release, load

MOMENT = "%Y%m%dT%H%M%SZ"
NAMED = re.compile(r"(?P<dataset>.+)-(?P<moment>\d{8}T\d{6}Z)-[0-9a-f]{8}\.npz", re.DOTALL)
LONGEST = 150
"""Characters of a data set's name in that of a file, whose name may have 255."""


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
        When it was paid for, UTC.
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
        try:
            with self.room(dataset, 0) as place:
                place.put(release)
        except OSError as problem:
            raise RequestError(
                f"The release cannot be kept in {str(self.folder)!r}: {problem.strerror or problem}."
            ) from None
        return place.path

    @contextmanager
    def room(self, dataset: str, size: int) -> Iterator[Place]:
        """Room for a file of at most so many bytes, which nothing else on the disk can take meanwhile.

        What is put there is on the shelf when the room is left; where nothing could be put there, nothing is.

        Raises
        ------
        RequestError
            When there is no such room.
        """
        path = self.folder / _name(dataset)
        with ExitStack() as taken:
            try:
                self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                file = taken.enter_context(unfinished(path, size))
            except OSError as problem:
                raise RequestError(
                    f"There is no room to keep the release, of at most {size:,} bytes, in {str(self.folder)!r}, beside "
                    f"the ledger: {problem.strerror or problem}."
                ) from None
            yield Place(path, file)
        sync_folder(self.folder)

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


@dataclass(frozen=True)
class Place:
    """Room for one release file, taken beforehand.

    Attributes
    ----------
    path : Path
        Where the file will be.
    file : BinaryIO
        Where it is written until then.
    """

    path: Path
    file: BinaryIO

    def put(self, release: Release) -> None:
        """Fill it; OSError or RequestError when that fails."""
        release.write_to(self.file)


def public_name(name: str) -> str:
    """The name under which a kept release is handed out; it says nothing of the data, as that on the shelf does."""
    return "-".join(["release", *name.rsplit("-", 2)[1:]])


def _name(dataset: str) -> str:
    """The name of a file for a release that a data set pays for now; no two are alike."""
    while len(quote(dataset, safe=" ")) > LONGEST:
        dataset = dataset[:-1]
    moment = datetime.now(UTC).strftime(MOMENT)
    return f"{quote(dataset, safe=' ')}-{moment}-{secrets.token_hex(4)}.npz"


def shelf_of(ledger: Ledger) -> Shelf:
    """The shelf of a ledger: beside its file, or in the user's data folder for a database."""
    if ledger.shelf is not None:
        return Shelf(ledger.shelf)
    if "://" in ledger.where:
        return Shelf(user_data_path("frostglass", appauthor=False) / "releases")
    return Shelf(Path(f"{ledger.where}.releases"))
