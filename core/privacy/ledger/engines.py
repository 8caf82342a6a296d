"""How a ledger's database is reached: SQLite so that a commit is final, PostgreSQL by connections that are kept."""

from __future__ import annotations

import os
import random
import sqlite3
import tempfile
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.pool import NullPool

from ...runtime.environment import check_extra
from .tables import BOOK, POSTGRES_SETUP_LOCK, create_tables

SYNCHRONOUS = "EXTRA"
"""When SQLite says that a commit is made: once it is on the disk, and the folder too."""
SECONDS_TO_WAIT = 30
SECONDS_BETWEEN_LOOKS = (0.001, 0.009)
SECONDS_UNASKED = 1.0
"""So long after it was used a connection to a server is taken to live."""


def sqlite_engine(path: Path) -> sa.Engine:
    engine = sa.create_engine("sqlite://", creator=lambda: _connect_sqlite(path), poolclass=NullPool)

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        if connection.get_execution_options().get("frostglass_writes", False):
            _begin_to_write(connection)
        else:
            connection.exec_driver_sql("BEGIN")

    return engine


def _begin_to_write(connection: sa.Connection) -> None:
    """Take SQLite's one place for writing, as soon as anybody else who waits would get it.

    SQLite waits longer and longer between two looks, up to a tenth of a second, so that whoever has just written and
    looks again at once comes first time after time, and others may wait until they give up. Everybody who looks every
    few milliseconds, at random, has the same chance.
    """
    connection.exec_driver_sql("PRAGMA busy_timeout = 0")
    end = time.monotonic() + SECONDS_TO_WAIT
    while True:
        try:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            break
        except sa.exc.OperationalError as error:
            if "locked" not in str(error.orig).lower() or time.monotonic() > end:
                raise
        time.sleep(random.uniform(*SECONDS_BETWEEN_LOOKS))  # when to look again is nobody's secret
    connection.exec_driver_sql(f"PRAGMA busy_timeout = {1000 * SECONDS_TO_WAIT}")


def _connect_sqlite(path: Path) -> sqlite3.Connection:
    # mode=rw: a file that has vanished is an error, never a fresh and empty ledger. isolation_level=None: the driver
    # begins no transaction by itself.
    connection = sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, timeout=SECONDS_TO_WAIT, isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA synchronous = {SYNCHRONOUS}")
    return connection


@lru_cache(maxsize=8)
def postgres_engine(url: sa.URL, process: int) -> sa.Engine:
    """The connections of a process to a database, in which the tables were found or made.

    All ledgers of the process share them, as making a connection takes as long as everything that is done with it. A
    process that was forked has connections of its own.
    """
    check_extra("psycopg", "postgres", "A ledger in PostgreSQL")
    connecting = {"connect_timeout": SECONDS_TO_WAIT}
    engine = sa.create_engine(url, pool_size=2, max_overflow=-1, connect_args=connecting)
    sa.event.listen(engine, "connect", _settle)
    sa.event.listen(engine, "checkin", _note_use)
    sa.event.listen(engine, "checkout", _ask_after_a_while)
    with engine.begin() as connection:
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(POSTGRES_SETUP_LOCK)))
        if not sa.inspect(connection).has_table(BOOK.name):
            create_tables(connection)
    return engine


def _settle(connection: Any, _: Any) -> None:
    """Have every commit on the disk before it is said to be made, whatever the server's own settings are."""
    connection.autocommit = True
    connection.execute(f"SET synchronous_commit = on; SET lock_timeout = '{SECONDS_TO_WAIT}s'")
    connection.autocommit = False


def _note_use(_: Any, record: Any) -> None:
    record.info["used"] = time.monotonic()


def _ask_after_a_while(connection: Any, record: Any, _: Any) -> None:
    """Make a connection anew where its server was started again; one that was used just now is not asked."""
    if time.monotonic() - record.info.get("used", -SECONDS_UNASKED) < SECONDS_UNASKED:
        return
    try:
        connection.autocommit = True
        connection.execute("SELECT 1")
        connection.autocommit = False
    except connection.Error as error:
        raise sa.exc.DisconnectionError from error


def create_file(path: Path) -> None:
    """Create an empty ledger in one step, readable by its owner alone.

    It is written under another name and then linked, which fails when the name is taken by then. So a ledger is either
    absent or whole, whenever the process dies, and a file cut to nothing is never mistaken for a new ledger.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".ledger-", dir=path.parent)
    os.close(handle)
    draft = Path(name)
    try:
        engine = sqlite_engine(draft)
        with engine.connect().execution_options(frostglass_writes=True) as connection, connection.begin():
            create_tables(connection)
        try:
            os.link(draft, path)
        except FileExistsError:
            return  # another process was first, and its ledger is as good
    finally:
        draft.unlink()
    if os.name == "posix":
        folder = os.open(path.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)
