"""The ledger's records, each chained to the one before it, so that reading is checking.

A link is the SHA-256 of the previous link and the record's own fields. Registrations form one chain over the whole
ledger; the releases of a data set form one that starts at its registration. Counts and last links are kept apart from
the chains, so that a missing last record is noticed too.

Names of data sets: one account for all that look the same.

Whoever releases under a name that a reader takes for another would spend the budget of one data set twice. So names
are kept in their one spelling (Unicode's NFC), and a new name is refused where it looks like a known one: the same
but for capitals, for compatible forms (fullwidth letters, ligatures), for characters that draw nothing (variation
selectors, joiners), or for letters of Cyrillic and Greek that are drawn like Latin ones. The last are single letters
that Unicode Technical Standard 39 calls confusable with letters of Latin and that fonts draw alike; likenesses within
Latin (l and 1, rn and m) are left to the reader, as refusing those would refuse honest names.
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from ...errors import RequestError
from ...runtime import environment
from ..accounting import Cost
from ..budget import Budget, Neighbours, decimal_text
from .ledger_store import Store
from .ledger_tables import BOOK, DATASETS, RELEASES, append_row


def link_of(previous: str, fields: Mapping[str, Any]) -> str:
    """The SHA-256 of the link before and a record's own fields."""
    # default=str: a damaged file may hold any type in any column, and must give another link rather than an error.
    text = json.dumps([previous, fields], sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def canonical(record: Mapping[str, Any]) -> str:
    """Return the one text of a JSON object; ValueError or TypeError for what JSON cannot hold."""
    return json.dumps(record, sort_keys=True, separators=(",", ":"), allow_nan=False)


def moment() -> str:
    """Now, as records have it: UTC to the second."""
    return environment.utc().isoformat(timespec="seconds")


ID_LENGTH = 16
MOST_REMEMBERED = 16_384  # Releases whose sums a process does not make again.
INSTEAD = "instead of"  # In the note of what was given back: the entry whose price is the smaller one of this.
LOGGED = "log"  # In a release's note: how long the log was when it was written, and the log's last link then.


@dataclass(frozen=True)
class Dataset:
    """A data set's total promise, fixed when it was registered."""

    name: str  # What the owner calls it.
    # The total of all releases there will ever be.
    epsilon: Decimal
    delta: Decimal
    # Whom the promise protects; every release must protect the same.
    neighbours: Neighbours
    unit: str
    created: datetime  # When it was registered (UTC).


@dataclass(frozen=True)
class Entry:
    """One release: when it was written down, its cost and the public facts noted with it."""

    id: str
    when: datetime
    cost: Cost
    note: dict[str, Any] = field(hash=False)


@dataclass(frozen=True)
class History:
    """A data set, its releases in order, and where the next one is to be chained."""

    dataset: Dataset
    number: int
    entries: tuple[Entry, ...]
    head: str
    written: int  # How many records there are: what was given back has two and is one entry.
    less: frozenset[str] = frozenset()  # Of which entries something was given back.

    @property
    def costs(self) -> list[Cost]:
        """The releases' costs, in order."""
        return [entry.cost for entry in self.entries]


def read_datasets(store: Store, connection: sa.Connection) -> list[Dataset]:
    """Return all data sets in order of registration, checked against the count and the last link."""
    count, head = connection.execute(sa.select(BOOK.c.datasets, BOOK.c.head)).one()
    rows = connection.execute(sa.select(DATASETS).order_by(DATASETS.c.number)).all()
    datasets, link = [], ""
    for number, row in enumerate(rows, 1):
        datasets.append(_dataset(store, row, number, link))
        link = row.link
    if (len(rows), link) != (count, head):
        raise store.damaged("a data set is missing")
    return datasets


def append_dataset(connection: sa.Connection, budget: Budget, name: str, unit: str) -> None:
    """Register a data set at the end of the chain; the caller holds the lock on the book and has read it."""
    count, head = connection.execute(sa.select(BOOK.c.datasets, BOOK.c.head)).one()
    fields = {
        "number": count + 1,
        "name": name,
        "epsilon": decimal_text(budget.epsilon),
        "delta": decimal_text(budget.delta),
        "neighbours": budget.neighbours.value,
        "unit": unit,
        "created": moment(),
    }
    link = link_of(head, fields)
    connection.execute(sa.insert(DATASETS).values(**fields, link=link, releases=0, head=link))
    connection.execute(sa.update(BOOK).values(datasets=count + 1, head=link))


_BEFORE = DATASETS.alias()
_LINK_BEFORE = sa.select(_BEFORE.c.link).where(_BEFORE.c.number == DATASETS.c.number - 1).scalar_subquery()
_KNOWN = sa.select(DATASETS, _LINK_BEFORE.label("link_before")).where(DATASETS.c.name == sa.bindparam("name"))
_MADE = sa.select(RELEASES).where(RELEASES.c.dataset == sa.bindparam("number")).order_by(RELEASES.c.number)


def read_history(store: Store, connection: sa.Connection, name: str, lock: bool = False) -> History | None:
    """Return a data set with all its releases, every link checked; None for an unknown name.

    `lock`: Keep other writers from this data set until the transaction ends.
    """
    row = connection.execute(_KNOWN.with_for_update(of=DATASETS) if lock else _KNOWN, {"name": name}).one_or_none()
    if row is None:
        return None
    dataset = _dataset(store, row, row.number, row.link_before or "")
    entries, link = [], row.link
    releases = connection.execute(_MADE, {"number": row.number}).all()
    for number, release in enumerate(releases, 1):
        entries.append(_entry(store, release, number, link))
        link = release.link
    if (len(releases), link) != (row.releases, row.head):
        raise store.damaged(f"a release of data set {name!r} is missing")
    less = frozenset(entry.note[INSTEAD] for entry in entries if INSTEAD in entry.note)
    return History(dataset, row.number, _as_they_stand(entries), link, len(entries), less)


def _as_they_stand(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Entries with the prices that count: of what was given back, that of the part which was drawn."""
    written = tuple(entries)
    less = {entry.note[INSTEAD]: entry for entry in written if INSTEAD in entry.note}
    noted = {of: {key: value for key, value in one.note.items() if key != INSTEAD} for of, one in less.items()}
    return tuple(
        replace(entry, cost=less[entry.id].cost, note=noted[entry.id]) if entry.id in less else entry
        for entry in written
        if INSTEAD not in entry.note
    )


def append_release(connection: sa.Connection, history: History, cost: str, note: str) -> str:
    """Write a release at the end of a locked data set's chain and return its id."""
    number = history.written + 1
    fields = {"dataset": history.number, "number": number, "created": moment(), "cost": cost, "note": note}
    link = link_of(history.head, fields)
    end = sa.update(DATASETS).where(DATASETS.c.number == history.number).values(releases=number, head=link)
    append_row(connection, sa.insert(RELEASES).values(**fields, link=link), end)
    return link[:ID_LENGTH]


def _dataset(store: Store, row: sa.Row[Any], number: int, previous: str) -> Dataset:
    fields = {
        name: getattr(row, name) for name in ("number", "name", "epsilon", "delta", "neighbours", "unit", "created")
    }
    if row.number != number or row.link != link_of(previous, fields):
        raise store.damaged(f"registration {number} was changed")
    try:
        budget = Budget(row.epsilon, row.delta, row.neighbours)
        created = datetime.fromisoformat(row.created)
    except (ValueError, TypeError) as error:
        raise store.damaged(f"registration {number} cannot be read") from error
    return Dataset(row.name, budget.epsilon, budget.delta, budget.neighbours, row.unit, created)


def _entry(store: Store, row: sa.Row[Any], number: int, previous: str) -> Entry:
    try:
        if row.number != number or not _fits(previous, *row):
            raise store.damaged(f"release {number} of data set number {row.dataset} was changed")
        return _parsed(row.link, row.created, row.cost, row.note)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise store.damaged(f"release {number} of data set number {row.dataset} cannot be read") from error


@lru_cache(maxsize=MOST_REMEMBERED, typed=True)
def _fits(previous: str, dataset: int, number: int, created: str, cost: str, note: str, link: str) -> bool:
    """Whether a release's own link is that of its fields behind the one before; the same ones need no second sum."""
    fields = {"dataset": dataset, "number": number, "created": created, "cost": cost, "note": note}
    return link == link_of(previous, fields)


@lru_cache(maxsize=MOST_REMEMBERED)
def _parsed(link: str, created: str, cost: str, note: str) -> Entry:
    """An entry whose link was checked just now; making numbers of its text again would take longer than the check."""
    noted = json.loads(note)
    noted.pop(LOGGED, None)
    return Entry(link[:ID_LENGTH], datetime.fromisoformat(created), Cost.from_dict(json.loads(cost)), noted)


LONGEST_NAME = 100

# Letters of Cyrillic and Greek to those of Latin that are drawn alike, each in its own case.
_ALIKE = str.maketrans(
    "АВЕЗКМНОРСТУХІЈЅԌԚԜ" + "аеорсухіјѕһԁԛԝѵӏ" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ" + "ανορυικχγ",
    "ABE3KMHOPCTYXIJSGQW" + "aeopcyxijshdqwvl" + "ABEZHIKMNOPTYX" + "avopuikxy",
)


def checked_name(text: object, what: str) -> str:
    """Return a name in its one Unicode spelling (NFC), or say what a name may be."""
    if isinstance(text, str):
        text = unicodedata.normalize("NFC", text)
        if 1 <= len(text) <= LONGEST_NAME and text.isprintable() and text == text.strip():
            return text
    raise RequestError(
        f"The {what} must be a text of 1 to {LONGEST_NAME} visible characters without blanks at its ends, so that it "
        "can be told from every other."
    )


COPIED = re.compile(r" ?\(\d{1,3}\)$")
"""What a browser puts behind the name of a file that was saved before."""


def named_after(source: str, known: Iterable[str] = ()) -> str | None:
    """A name for a data set that was given none: that of its file, without folder and format; None where it has none.

    App and command line name the same file alike by it, so that its people have one budget, also a copy that a browser
    has numbered. A name with the format or the number that the ledger knows already stays, as earlier versions gave it.

    Examples
    --------
    >>> named_after("/data/visits.csv.gz"), named_after("people.duckdb::visits"), named_after("visits/*.parquet")
    ('visits', 'people.visits', None)
    >>> named_after("/data/visits.csv", ["visits.csv", "others"]), named_after("visits (1).csv")
    ('visits.csv', 'visits')
    """
    path, _, table = source.rpartition("::") if "::" in source and not Path(source).exists() else (source, "", "")
    whole = name = Path(path.split("?")[0] if "://" in path else path).name
    for suffix in (".gz", *Path(name.removesuffix(".gz")).suffixes[-1:]):
        name = name.removesuffix(suffix)
    numbered = ".".join(part for part in (name, table) if part)
    name = ".".join(part for part in (COPIED.sub("", name) or name, table) if part)
    if not name or any(mark in name for mark in "*?["):
        return None
    earlier = (f"{whole}::{table}" if table else whole, numbered)
    return next((one for one in earlier if one in known and name not in known), name)


def look_alike(one: str, other: str) -> bool:
    """Whether a reader easily takes one name for the other.

    Examples
    --------
    >>> look_alike("Survey", "surveys"), look_alike("Survey", "SURVEY"), look_alike("Survey", "Ѕurvеy\ufe0f")
    (False, True, True)
    """
    one, other = _visible(one), _visible(other)
    return one.casefold() == other.casefold() or (
        one.translate(_ALIKE).casefold() == other.translate(_ALIKE).casefold()
    )


FOLLOWS = "follows"  # The note of what an entry shows that was kept: one entry of each, as two would tell more.


def check_first(history: History, note: dict[str, Any]) -> None:
    """Refuse what follows from something kept that another entry has used."""
    if FOLLOWS in note and any(entry.note.get(FOLLOWS) == note[FOLLOWS] for entry in history.entries):
        raise RequestError(
            "This release was topped up already, which uses up what was kept for it; top up what came of that, so "
            "nothing was spent."
        )


def check_new(name: str, known: Iterable[str]) -> None:
    """Refuse a name that is not known and looks like one that is."""
    names = list(known)
    other = None if name in names else next((other for other in names if look_alike(name, other)), None)
    if other is not None:
        raise RequestError(
            f"The ledger already knows a data set {other!r}; write its name the same way, or choose one that differs "
            "in more than capitals or letters that look alike, as data under two names would be spent twice."
        )


def _visible(name: str) -> str:
    """What is drawn of a name, in its plain form, with one blank for several."""
    plain = unicodedata.normalize("NFKC", name)
    return " ".join("".join(sign for sign in plain if not _draws_nothing(sign)).split())


def _draws_nothing(sign: str) -> bool:
    """Whether it is a variation selector, a joiner, a filler: drawn as nothing on its own."""
    code = ord(sign)
    return (
        unicodedata.category(sign) == "Cf"
        or 0xFE00 <= code <= 0xFE0F
        or 0xE0100 <= code <= 0xE01EF
        or code in (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2800, 0x3164, 0xFFA0)
    )
