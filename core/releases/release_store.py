"""Every release that a ledger has paid for, kept beside it: what was paid for once cannot be made again for nothing.

A shelf is a folder of public files: releases, counted local reports and models. What is made or opened gets a name of
its own there, which says the data set, and is its owner's business. What its owner gives a name, by renaming it or by
putting a file there by hand, is on show: whoever reaches the app may open it. A text beside a file, of the same name
with the ending .txt, describes it.

The ledger of the bundled samples: it counts as any ledger does, and can begin again, as samples are nobody's secret.

An owner's ledger never forgets, which is what makes its totals promises. Made-up records promise nobody anything; but
counted beside real ones, their budget would run out once and for ever, and whoever teaches with them needs a fresh one
every lesson. So they have a file of their own, and nothing but bundled samples may be paid from it.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import file_digest, sha256
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote, unquote

from platformdirs import user_data_path

from ..errors import RequestError
from ..privacy.ledger.ledger import Ledger
from ..privacy.ledger.ledger_records import checked_name, look_alike
from ..privacy.ledger.ledger_store import default_place
from ..runtime import archives, environment
from ..runtime.archives import Archive
from ..runtime.transient import unfinished
from ..sketches.registry import card
from .file import LARGE_ARRAYS, PARTS_ARRAYS, sync_folder
from .manifest import MAX_MANIFEST
from .release import Release, load

ARCHIVED, WRITTEN = ".npz", ".json"
DESCRIBED = ".txt"  # The ending of the text that describes a file.
FORMATS = ("frostglass-release", "frostglass-local")
MODEL = "frostglass-model"
# What mechanisms were asked whose card does not say it.
QUESTIONS = {
    "tables": "the whole table",
    "classes": "which group a place is like",
    "parts": "several questions",
    "bounds": "bounds",
    "quantiles": "quantiles",
    "count": "how many there are",
    "discovery": "what the columns hold",
    "fitting": "how many records fit what is declared",
    "spread": "how far records lie apart",
}
MOST_BYTES = 100 << 20  # Of a file that is looked at; larger ones are opened by their path.


def is_public_file(path: Path) -> bool:
    """Whether there is a file of a public kind under a name that people can read; what it holds is checked when opened.

    Links are none, as they would show what lies elsewhere.
    """
    if path.suffix not in (ARCHIVED, WRITTEN) or not path.name.isprintable():
        return False
    try:
        facts = path.lstat()
        if path.is_symlink() or not path.is_file() or facts.st_size == 0:
            return False
    except OSError:
        return False
    return _says_public(path, facts.st_size, facts.st_mtime_ns)


@lru_cache(maxsize=4_096)
def _says_public(path: Path, size: int, changed: int) -> bool:
    """Whether a file says that it is of a public kind; it is looked at anew once it has changed."""
    try:
        with path.open("rb") as file:
            if path.suffix == WRITTEN:
                return size <= MOST_BYTES and _format(file.read().decode()) == MODEL
            archive = Archive(file, (*LARGE_ARRAYS, *PARTS_ARRAYS))
            return _format(archive.text("manifest", MAX_MANIFEST)) in FORMATS
    except (OSError, ValueError, RequestError):
        return False


def question_in_words(mechanism: str) -> str | None:
    """What was asked, as far as a mechanism tells; None for a model, and for one of another version."""
    if mechanism in QUESTIONS:
        return QUESTIONS[mechanism]
    try:
        answers = card(mechanism).answers
    except RequestError:
        return None
    return {"closeness": "how dense it is", "distance": "how far everyone is", "regression": "what predicts what"}.get(
        answers, answers
    )


@lru_cache(maxsize=4_096)
def _asked(path: Path, size: int, changed: int) -> str:
    """What a release answers, by its manifest, which is public; "" of a model, and of a file that is damaged."""
    if path.suffix == WRITTEN:
        return ""
    try:
        with path.open("rb") as file:
            facts = archives.loads(Archive(file, (*LARGE_ARRAYS, *PARTS_ARRAYS)).text("manifest", MAX_MANIFEST))
    except (OSError, ValueError, RequestError):
        return ""
    return question_in_words(str(facts.get("mechanism"))) or "" if isinstance(facts, dict) else ""


def _format(text: str) -> object:
    facts = archives.loads(text)
    return facts.get("format") if isinstance(facts, dict) else None


def digest_of(path: Path) -> str:
    """SHA-256 of a file, which is read anew once it has changed; "" where it cannot be read."""
    try:
        facts = path.stat()
        return _digest(path, facts.st_size, facts.st_mtime_ns)
    except OSError:
        return ""


@lru_cache(maxsize=4_096)
def _digest(path: Path, size: int, changed: int) -> str:
    with path.open("rb") as file:
        return file_digest(file, sha256).hexdigest()


def described(path: Path) -> str:
    """The text beside a file, on one line; "" where there is none that people can read."""
    try:
        text = path.with_suffix(DESCRIBED)
        if text.is_symlink() or text.stat().st_size > 10_000:
            return ""
        words = " ".join(text.read_text(encoding="utf-8").split())
    except (OSError, ValueError):
        return ""
    return words if words.isprintable() else ""


MOMENT = "%Y%m%dT%H%M%SZ"
NAMED = re.compile(
    r"(?P<dataset>.+)-(?P<moment>\d{8}T\d{6}Z)-(?P<mark>[0-9a-f]{8}(?:[0-9a-f]{8})?)\.(?:npz|json)", re.DOTALL
)
# Bytes of the mark in the name of a file that was opened, and of a release that the ledger has paid for. That of the
# latter stands in the ledger's entry too (`core.releases.payment`); earlier versions gave the shorter one to both.
OPENED, PAID = 4, 8
# What a release may be called: what every system takes for the name of a file, and none for a hidden one.
TITLE = re.compile(r"[^\W_][\w .()\-]*")
DIGEST = re.compile(r"[0-9a-f]{12,64}")
LONGEST_TEXT = 1_000
LONGEST = 150  # Characters of a data set's name in that of a file, whose name may have 255.


def paid_name(dataset: str) -> str:
    """A new name for a release that the ledger is about to pay for."""
    return _name(dataset, PAID)


@dataclass(frozen=True)
class Entry:
    """One release on a shelf."""

    name: str  # Of its file.
    dataset: str  # That paid for it; cut where it is very long.
    created: datetime  # When it was paid for, UTC.
    size: int  # Bytes of its file.
    shown: bool = False  # Whether it is on show: its owner has given it its name.
    description: str = ""  # The owner's words about it.
    question: str = ""  # What it answers, in words; "" where the file does not say it.

    @property
    def title(self) -> str:
        """What its owner calls it: the name that was given to it, or its data and its question."""
        return f"{self.dataset}: {self.question}" if self.question and not self.shown else self.dataset


class Shelf:
    """The releases of one ledger; its folder exists from the first one on.

    `folder`: Where they are.
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
    def room(self, dataset: str, size: int, name: str | None = None) -> Iterator[Place]:
        """Room for a file of at most so many bytes, which nothing else on the disk can take meanwhile.

        Its name is new, unless the ledger was told one already; see `paid_name`.

        What is put there is on the shelf when the room is left; where nothing could be put there, nothing is.
        """
        path = self.folder / (name or paid_name(dataset))
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
                if _is_here(path):
                    found.append(_entry(path))
        return tuple(sorted(found, key=lambda entry: (entry.created, entry.name), reverse=True))

    def path(self, name: str) -> Path:
        """Where one is; RequestError when there is none of this name."""
        if Path(name).name != name or not _is_here(self.folder / name):
            raise RequestError(f"There is no release {name!r} in {str(self.folder)!r}.")
        return self.folder / name

    def find(self, address: str, shown: bool = False) -> Path | None:
        """The file of a name, with or without its ending, or of the beginning of a digest; None where there is none.

        `address`: The name, or at least 12 digits of its SHA-256. `shown`: Whether only what is on show is looked for.
        """
        offered = [entry for entry in self.entries() if entry.shown or not shown]
        for entry in offered:
            if address in (entry.name, Path(entry.name).stem):
                return self.folder / entry.name
        if DIGEST.fullmatch(address):
            paths = (self.folder / entry.name for entry in offered)
            return next((path for path in paths if digest_of(path).startswith(address)), None)
        return None

    def load(self, name: str) -> Release:
        """Open one."""
        return load(self.path(name))

    def remove(self, name: str) -> None:
        """Take one off the shelf, for ever."""
        path = self.path(name)
        path.unlink()
        path.with_suffix(DESCRIBED).unlink(missing_ok=True)
        path.with_name(finer_name(name)).unlink(missing_ok=True)

    def put(self, stem: str, ending: str, content: bytes) -> Path:
        """Keep a file that was opened, as what is made here is kept; one that is here already stays as it is."""
        known = self.find(sha256(content).hexdigest())
        if known is not None:
            return known
        path = (self.folder / _name(stem, OPENED)).with_suffix(ending)
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with unfinished(path) as file:
                file.write(content)
        except OSError as problem:
            raise RequestError(
                f"The file cannot be kept in {str(self.folder)!r}: {problem.strerror or problem}."
            ) from None
        sync_folder(self.folder)
        return path

    def rename(self, name: str, title: str) -> str:
        """Give one a name, under which it is on show from then on; its new name."""
        path = self.path(name)
        title = checked_name(title, "name of a release")
        if not TITLE.fullmatch(title) or NAMED.fullmatch(title + path.suffix):
            raise RequestError(
                "The name of a release on the shelf is that of a file: letters, digits, blanks, '.', '-', '_' and "
                "brackets, beginning with a letter or a digit."
            )
        others = [entry.name for entry in self.entries() if entry.name != name]
        if any(look_alike(title, Path(other).stem) for other in others):
            raise RequestError(f"There is a release on the shelf whose name looks like {title!r}, so take another.")
        text = path.with_suffix(DESCRIBED)
        renamed = path.rename(self.folder / f"{title}{path.suffix}")
        if text.is_file():
            text.rename(renamed.with_suffix(DESCRIBED))
        return renamed.name

    def describe(self, name: str, words: str) -> None:
        """Say what one is, in a text beside it; "" takes the text away."""
        text, words = self.path(name).with_suffix(DESCRIBED), " ".join(words.split())
        if len(words) > LONGEST_TEXT or not words.isprintable():
            raise RequestError(f"A description has at most {LONGEST_TEXT:,} visible characters.")
        if words:
            text.write_text(words + "\n", encoding="utf-8")
        else:
            text.unlink(missing_ok=True)


@dataclass(frozen=True)
class Place:
    """Room for one release file, taken beforehand."""

    path: Path  # Where the file will be.
    file: BinaryIO  # Where it is written until then.

    def dated(self, release: Release) -> Release:
        """The same, made when its name says: of two times the first may be before records are read and the other after
        it, and tell how many there are."""
        named = NAMED.fullmatch(self.path.name)
        return replace(release, created=_moment(named).isoformat()) if named else release

    def put(self, release: Release) -> None:
        """Fill it; OSError or RequestError when that fails."""
        release.write_to(self.file)


def _is_here(path: Path) -> bool:
    """Whether a file is one of the shelf: under a name that was given here, or a public file put there by hand.

    One that was made here is listed even when it was damaged since, as opening it says what is wrong.
    """
    if NAMED.fullmatch(path.name):
        return path.is_file() and not path.is_symlink()
    return is_public_file(path)


def _entry(path: Path) -> Entry:
    """What the shelf says of a file."""
    facts, named = path.stat(), NAMED.fullmatch(path.name)
    words = described(path)[:LONGEST_TEXT]
    if named is None:
        moment = datetime.fromtimestamp(facts.st_mtime, UTC)
        return Entry(path.name, path.stem, moment, facts.st_size, True, words)
    asked = _asked(path, facts.st_size, facts.st_mtime_ns)
    return Entry(path.name, unquote(named["dataset"]), _moment(named), facts.st_size, False, words, asked)


def _moment(named: re.Match[str]) -> datetime:
    return datetime.strptime(named["moment"], MOMENT).replace(tzinfo=UTC)


def public_name(name: str) -> str:
    """The name under which a kept release is handed out; it says nothing of the data, unless its owner chose it."""
    if not NAMED.fullmatch(name):
        return name
    return "-".join(["release", *name.rsplit("-", 2)[1:]])


def finer_name(name: str) -> str:
    """The name of what is kept for topping up a release of this name, its own or the public one."""
    return f"{Path(public_name(name)).stem}.finer"


def said_in_names(dataset: str) -> str:
    """A data set's name as those of its files have it; cut where it is very long."""
    while len(quote(dataset, safe=" ")) > LONGEST:
        dataset = dataset[:-1]
    return quote(dataset, safe=" ")


def _name(dataset: str, mark: int) -> str:
    """The name of a file for a release that a data set pays for now, or of one that was opened; no two are alike."""
    moment = environment.utc().strftime(MOMENT)
    return f"{said_in_names(dataset)}-{moment}-{secrets.token_hex(mark)}.npz"


def shelf_of(ledger: Ledger) -> Shelf:
    """The shelf of a ledger: beside its file, or in the user's data folder for a database."""
    return Shelf(ledger.shelf) if ledger.shelf is not None else shelf_beside(ledger.where)


def shelf_beside(where: str | Path) -> Shelf:
    """The shelf of the ledger at a path or an address, which need not be there."""
    place = str(where).removeprefix("sqlite+pysqlite:///").removeprefix("sqlite:///")
    if "://" in place:
        return Shelf(user_data_path("frostglass", appauthor=False) / "releases")
    return Shelf(Path(f"{Path(place).expanduser().absolute()}.releases"))


ENDING = ".samples"  # Stands behind the name of the ledger of its owner; only files with it are ever begun again.


class Sandbox:
    """A ledger with its shelf that can be emptied.

    `place`: Its file, which exists from the first use on.
    """

    def __init__(self, place: Path):
        self.place = place.with_name(place.name.removesuffix(ENDING) + ENDING)

    @classmethod
    def beside(cls, where: str | Path | None) -> Sandbox:
        """The one beside a ledger: a path or an address, None for the ledger in the user's data folder."""
        named = str(where or default_place()).removeprefix("sqlite+pysqlite:///").removeprefix("sqlite:///")
        return cls(default_place() if "://" in named else Path(named).expanduser().absolute())

    @property
    def exists(self) -> bool:
        """Whether anything was ever counted in it."""
        return self.place.exists()

    @property
    def ledger(self) -> Ledger:
        """Open it; RequestError when it cannot be used."""
        return Ledger(self.place)

    @property
    def shelf(self) -> Shelf:
        """Where its releases are kept."""
        return Shelf(Path(f"{self.place}.releases"))

    def begin_again(self) -> None:
        """Forget all that was spent, and the releases that it was spent on."""
        for entry in self.shelf.entries():
            if not entry.shown:
                self.shelf.remove(entry.name)
        self.place.unlink(missing_ok=True)


def counts_samples(ledger: Ledger) -> bool:
    """Whether a ledger is one that can begin again."""
    return ledger.where.endswith(ENDING)
