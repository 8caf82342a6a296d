"""The log beside a ledger: who did what, each line chained to the one before it, and never a value of the data.

It is only ever appended to. Every line carries a SHA-256 of itself and of the line before, as the ledger's records do,
and the last link is kept apart with the count, so that a line that was changed, moved or removed is noticed, also the
last one. The ledger and the log hold each other: a release is written into both in one transaction, the ledger's entry
notes how long the log was and its last link then, and the log's line names the entry. So a log that was begun again, or
was cut and given another count, contradicts the ledger.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from .ledger_records import ID_LENGTH, LOGGED, canonical, link_of, moment
from .ledger_store import Store
from .ledger_tables import LOG, LOG_BOOK, RELEASES, LogTables, append_row

LONGEST_WORD = 300
MOST_WORDS = 200


class Did(StrEnum):
    """What somebody did."""

    SIGNED_IN = "signed in"
    DECLARED = "declared"
    REGISTERED = "registered"
    FORECAST = "forecast"
    ASKED = "asked for approval"
    APPROVED = "approved"
    DECLINED = "declined"
    RELEASED = "released"
    GIVEN_BACK = "given back"
    CONTINUED = "continued"
    MERGED = "merged"
    DOWNLOADED = "downloaded"


ABOUT = frozenset(
    {
        "dataset", "columns", "mechanism", "epsilon", "delta", "neighbours", "unit", "entry", "file", "files",
        "request", "role", "periods",
    }
)  # fmt: skip
"""What may be said about it: public facts of these names alone, so that no value of the data finds a place."""


@dataclass(frozen=True)
class Line:
    """One thing that was done."""

    number: int  # From 1 on.
    when: datetime  # UTC.
    who: str  # Their e-mail address, or name on the computer.
    did: str  # What.
    about: dict[str, Any] = field(hash=False)  # Public facts about it.
    link: str  # Of the chain.


class Log:
    """The log in a ledger's place.

    `store`: The ledger's.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def write(self, who: str, did: Did, about: Mapping[str, Any] | None = None) -> None:
        """Append a line in a transaction of its own."""
        with self._store.writing() as connection:
            append(connection, who, did, about or {})

    def lines(self, after: int = 0) -> list[Line]:
        """All lines, or those after one, checked against the chain and the count."""
        with self._store.reading() as connection:
            return self.lines_of(connection, after)

    def verify(self) -> int:
        """Check the whole log against its chain, and against what the ledger has noted of it; the number of lines."""
        with self._store.reading() as connection:
            lines = self.lines_of(connection)
            links = {line.number: line.link for line in lines} | {0: ""}
            named = {line.about.get("entry") for line in lines if line.did in (Did.RELEASED, Did.GIVEN_BACK)}
            for link, note in connection.execute(sa.select(RELEASES.c.link, RELEASES.c.note)).all():
                held = json.loads(note).get(LOGGED)
                if held is None:  # written by a version that had no log
                    continue
                number, _, head = str(held).partition(":")
                if links.get(int(number)) != head or link[:ID_LENGTH] not in named:
                    raise self._store.damaged("its log lacks what was there when a release was made")
        return len(lines)

    def lines_of(self, connection: sa.Connection, after: int = 0) -> list[Line]:
        """The same by an open connection."""
        tables = LogTables(connection)
        if not tables.exist:
            return []
        count, head = connection.execute(sa.select(LOG_BOOK.c.lines, LOG_BOOK.c.head)).one()
        before = connection.execute(sa.select(LOG.c.link).where(LOG.c.number == after)).scalar() or ""
        rows = connection.execute(sa.select(LOG).where(LOG.c.number > after).order_by(LOG.c.number)).all()
        lines, link = [], before
        for number, row in enumerate(rows, after + 1):
            fields = {name: getattr(row, name) for name in ("number", "created", "who", "did", "about")}
            if row.number != number or row.link != link_of(link, fields):
                raise self._store.damaged(f"line {number} of its log was changed")
            link = row.link
            when = datetime.fromisoformat(row.created)
            lines.append(Line(number, when, row.who, row.did, json.loads(row.about), link))
        if (after + len(rows), link) != (count, head):
            raise self._store.damaged("a line of its log is missing")
        return lines


def append(
    connection: sa.Connection, who: str, did: Did, about: Mapping[str, Any], end: tuple[int, str] | None = None
) -> None:
    """Append a line inside a transaction that writes something else too; ``end`` is what `last` said in it."""
    count, head = last(connection) if end is None else end
    fields = {
        "number": count + 1,
        "created": moment(),
        "who": _word(who),
        "did": str(did),
        "about": canonical(_checked(about)),
    }
    link = link_of(head, fields)
    end_row = sa.update(LOG_BOOK).values(lines=count + 1, head=link)
    append_row(connection, sa.insert(LOG).values(**fields, link=link), end_row)


def last(connection: sa.Connection) -> tuple[int, str]:
    """How many lines there are, and the last link; other writers wait from here to the end of the transaction."""
    LogTables(connection).create()
    found = connection.execute(sa.select(LOG_BOOK.c.lines, LOG_BOOK.c.head).with_for_update()).one()
    return found.lines, found.head


def _checked(about: Mapping[str, Any]) -> dict[str, Any]:
    """What is said, with every text cut and made printable."""
    if unknown := about.keys() - ABOUT:
        raise ValueError(f"The log has no place for {sorted(unknown)}.")
    return {name: _plain(value) for name, value in about.items()}


def _plain(value: object) -> object:
    if isinstance(value, (list, tuple)):
        return [_word(str(one)) for one in value[:MOST_WORDS]]
    return value if isinstance(value, int) else _word(str(value))


def _word(text: str) -> str:
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)[:LONGEST_WORD]
