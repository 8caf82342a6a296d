"""A second place, elsewhere, that knows how far a ledger had come: a ledger that was put back is noticed there.

A ledger that was replaced by an older copy of itself is whole in itself, and what was spent since would be spent again.
So after every change, and before any noise is drawn, the end of the ledger's log is written to a place that is only
ever appended to: how many lines there are, and the last link, which stands for all of them and for every release among
them. Whoever puts the ledger back has to change that place as well, so it belongs to somebody else, or to a computer
elsewhere.

The place is written when the ledger's own transaction is final, so that a crash leaves it behind the ledger by a line
and never ahead of it. A release whose line could not be written there is not made, and what it has cost is spent.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import sqlalchemy as sa

from ...errors import RequestError
from ...runtime.environment import check_extra

# Bytes of a file that are looked at: its last lines, as several processes append and the farthest need not be last.
TAIL = 1 << 16
SECONDS_TO_WAIT = 10
SPENT = "what the ledger wrote down just now is spent, and no release is made of it"
SCHEMA = sa.MetaData()
HEADS = sa.Table(
    "frostglass_witness",
    SCHEMA,
    sa.Column("lines", sa.BigInteger, nullable=False, index=True),
    sa.Column("head", sa.Text, nullable=False),
)

End = tuple[int, str]  # How many lines a log has, and the link of the last one.


class Witness(Protocol):
    """A place that keeps the ends that a log has had."""

    def farthest(self) -> End | None:
        """The end with the most lines; None where there is none yet."""

    def append(self, end: End) -> None:
        """Write down an end; RequestError when that cannot be done."""


class FileWitness:
    """A file of one line an end, such as on a disk of another computer.

    `path`: Its place; it is made where there is none, in a folder that is there.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def farthest(self) -> End | None:
        """The end with the most lines; None where there is none yet."""
        with _sentences(), self._path.open("ab+") as file:  # made here, so that a place that cannot be written is seen
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - TAIL))
            lines = file.read().decode("ascii", "replace").splitlines()
        ends = [_parsed(line) for line in lines[1 if size > TAIL else 0 :]]
        if None in ends:
            raise RequestError(
                "The second place of the privacy ledger has a line that is none of its own, so nothing is released; "
                "look at who may write to it."
            )
        return max((end for end in ends if end is not None), default=None)

    def append(self, end: End) -> None:
        """Write down an end, durably."""
        with _sentences(SPENT):
            file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(file, f"{end[0]} {end[1]}\n".encode("ascii"))  # in one piece, whoever else writes
                os.fsync(file)
            finally:
                os.close(file)


class DatabaseWitness:
    """A table in PostgreSQL, on which the one who writes needs to be allowed no more than INSERT and SELECT.

    `address`: ``postgresql://…``, of another server than the ledger's.
    """

    def __init__(self, address: str) -> None:
        self._engine = _engine(sa.make_url(address).set(drivername="postgresql+psycopg"), os.getpid())

    def farthest(self) -> End | None:
        """The end with the most lines; None where there is none yet."""
        question = sa.select(HEADS.c.lines, HEADS.c.head).order_by(HEADS.c.lines.desc()).limit(1)
        with _sentences(), self._engine.connect() as connection:
            found = connection.execute(question).one_or_none()
        return None if found is None else (found.lines, found.head)

    def append(self, end: End) -> None:
        """Write down an end."""
        with _sentences(SPENT), self._engine.begin() as connection:
            connection.execute(sa.insert(HEADS).values(lines=end[0], head=end[1]))


def witness_at(where: str) -> Witness:
    """The witness at a path or at ``postgresql://…``."""
    if where.startswith("postgresql://"):
        with _sentences():
            return DatabaseWitness(where)
    return FileWitness(Path(where))


def known_to(where: str) -> End:
    """How far the witness at a path or at ``postgresql://…`` knows a ledger to have come.

    RequestError when there is none, or it knows of no ledger yet, so that it agrees with any; none is begun.
    """
    there = where.startswith("postgresql://") or Path(where).is_file()
    if there and (end := witness_at(where).farthest()) is not None:
        return end
    raise RequestError(
        "The second place knows of no ledger yet, so it would agree with any; name the one that the server writes to."
    )


@lru_cache(maxsize=8)
def _engine(url: sa.URL, process: int) -> sa.Engine:
    """The connections of a process, with the table found or made."""
    check_extra("psycopg", "postgres", "A second place in PostgreSQL")
    connecting = {"connect_timeout": SECONDS_TO_WAIT}
    engine = sa.create_engine(url, pool_size=1, max_overflow=-1, pool_pre_ping=True, connect_args=connecting)
    with engine.connect() as connection:
        there = sa.inspect(connection).has_table(HEADS.name)
    if not there:
        SCHEMA.create_all(engine)
    return engine


def _parsed(line: str) -> End | None:
    count, _, head = line.partition(" ")
    return (int(count), head) if count.isdecimal() and len(head) == 64 else None


@contextmanager
def _sentences(then: str = "nothing is released") -> Iterator[None]:
    """Turn what a system says into one sentence, with what came of it."""
    try:
        yield
    except (OSError, sa.exc.SQLAlchemyError) as error:
        reason = getattr(error, "strerror", None) or "its database does not answer as it should"
        raise RequestError(
            f"The second place of the privacy ledger cannot be read and written ({reason}), so {then}: without it, "
            "nobody would notice an older copy in the ledger's place."
        ) from None
