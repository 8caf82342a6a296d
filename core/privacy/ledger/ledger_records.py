"""The ledger's records, each chained to the one before it, so that reading is checking.

A link is the SHA-256 of the previous link and the record's own fields. Registrations form one chain over the whole
ledger; the releases of a data set form one that starts at its registration. Counts and last links are kept apart from
the chains, so that a missing last record is noticed too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any

import sqlalchemy as sa

from ...runtime import environment
from ..accounting import Cost
from ..budget import Budget, decimal_text
from ..neighbours import Neighbours
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


def read_history(store: Store, connection: sa.Connection, name: str, lock: bool = False) -> History | None:
    """Return a data set with all its releases, every link checked; None for an unknown name.

    Parameters
    ----------
    lock : bool
        Keep other writers from this data set until the transaction ends.
    """
    before = DATASETS.alias()
    link_before = sa.select(before.c.link).where(before.c.number == DATASETS.c.number - 1).scalar_subquery()
    question = sa.select(DATASETS, link_before.label("link_before")).where(DATASETS.c.name == name)
    row = connection.execute(question.with_for_update(of=DATASETS) if lock else question).one_or_none()
    if row is None:
        return None
    dataset = _dataset(store, row, row.number, row.link_before or "")
    entries, link = [], row.link
    releases = connection.execute(
        sa.select(RELEASES).where(RELEASES.c.dataset == row.number).order_by(RELEASES.c.number)
    ).all()
    for number, release in enumerate(releases, 1):
        entries.append(_entry(store, release, number, link))
        link = release.link
    if (len(releases), link) != (row.releases, row.head):
        raise store.damaged(f"a release of data set {name!r} is missing")
    return History(dataset, row.number, tuple(entries), link)


def append_release(connection: sa.Connection, history: History, cost: str, note: str) -> str:
    """Write a release at the end of a locked data set's chain and return its id."""
    number = len(history.entries) + 1
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
