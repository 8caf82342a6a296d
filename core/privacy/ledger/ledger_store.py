"""Where a ledger lives: a file of SQLite or a PostgreSQL database, opened so that a commit is final.

Reading and writing happen inside one transaction each. Writers exclude each other: SQLite by BEGIN IMMEDIATE,
PostgreSQL by locking the rows they are about to change. A commit survives a power cut (``synchronous = EXTRA``: with
less, SQLite may take back a commit whose journal's removal had not reached the disk, and budget would come back with
it).
"""

import os
import random
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from platformdirs import user_data_path
from sqlalchemy.pool import NullPool

from ...errors import RequestError
from ...runtime.environment import check_extra
from .ledger_tables import BOOK, POSTGRES_SETUP_LOCK, SCHEMA_VERSION, WITNESSED_VERSION, LogTables, create_tables
from .witness import End, witness_at

SYNCHRONOUS = "EXTRA"  # When SQLite says that a commit is made: once it is on the disk, and the folder too.
SECONDS_TO_WAIT = 30
SECONDS_BETWEEN_LOOKS = (0.001, 0.009)
SECONDS_UNASKED = 1.0  # So long after it was used a connection to a server is taken to live.


@cache
def _sqlite() -> tuple[sa.Engine, dict[Any, Any]]:
    """What all ledgers in files share: how SQLite is spoken to, and every statement once it is compiled.

    SQLAlchemy keeps both for each engine, and to compile what a ledger asks takes as long as to ask it.
    """
    engine = sa.create_engine("sqlite://")
    with engine.connect():  # asks what this SQLite can do
        return engine, {}


def sqlite_engine(path: Path) -> sa.Engine:
    shared, compiled = _sqlite()
    connect: Any = partial(_connect_sqlite, path)
    pool = NullPool(connect, dialect=shared.dialect)
    engine = sa.Engine(pool, shared.dialect, shared.url, execution_options={"compiled_cache": compiled})

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


@cache
def _empty() -> bytes:
    """The file of a ledger in which nothing was ever promised."""
    engine = sa.create_engine("sqlite://")
    with engine.connect() as connection:
        create_tables(connection)
        connection.commit()
        driven: Any = connection.connection.driver_connection
        return bytes(driven.serialize())


def create_file(path: Path) -> None:
    """Create an empty ledger in one step, readable by its owner alone.

    It is written under another name and then linked, which fails when the name is taken by then. So a ledger is either
    absent or whole, whenever the process dies, and a file cut to nothing is never mistaken for a new ledger.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".ledger-", dir=path.parent)
    draft = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_empty())
            file.flush()
            os.fsync(handle)
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


# What SQLite says when the file may be well and its surroundings are not; anything else it objects to is damage.
SQLITE_CANNOT = ("unable to open", "readonly", "disk i/o error", "is full", "permission")


class LedgerDamaged(RequestError):
    """The ledger is not as Frostglass left it; nothing was spent, and nothing is until it is whole again."""


class Store:
    """Transactions on a ledger's three tables."""

    def __init__(self, where: str | Path | None = None, witness: str = "") -> None:
        """Open a ledger, creating it where there is none.

        `where`: A path or ``sqlite:///path`` (SQLite file), or ``postgresql://…``; None is ``ledger.sqlite`` in the
        user's data folder. `witness`: The second place that knows how far the ledger had come, as `witness_at` takes
        it; none without.
        """
        url = _parse(where)
        self._witness = witness_at(witness) if witness else None
        self._sqlite = url.get_backend_name() == "sqlite"
        self.where = str(url.database) if self._sqlite else url.render_as_string(hide_password=True)
        if self._sqlite:
            path = Path(self.where)
            self._engine = sqlite_engine(path)
            with self._sentences():
                if not path.exists():
                    create_file(path)
        else:
            with self._sentences():
                self._engine = postgres_engine(url, os.getpid())
        self._look()

    def _look(self) -> None:
        """Raise what is wrong with it now; of a server that is one question, without a transaction."""
        if self._sqlite:
            with self.reading():
                return
        seen, level = self._seen(), {"isolation_level": "AUTOCOMMIT"}
        with self._sentences(), self._engine.connect().execution_options(**level) as connection:
            self._check(connection, seen)

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Yield a connection that sees one moment of the ledger."""
        level = {} if self._sqlite else {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        seen = self._seen()
        with self._sentences(), self._engine.connect().execution_options(**level) as connection, connection.begin():
            self._check(connection, seen)
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Yield a connection whose changes all become final when the block ends, or none of them.

        RequestError when the ledger has a second place that was not named, also before the block begins.
        """
        options = {"frostglass_writes": True} if self._sqlite else {"isolation_level": "READ COMMITTED"}
        seen, end = self._seen(), None
        with self._sentences(), self._engine.connect().execution_options(**options) as connection, connection.begin():
            self._check(connection, seen)
            self.check_named(connection)
            if self._witness is not None and connection.info[BOOK.name] != WITNESSED_VERSION:
                connection.execute(sa.update(BOOK).values(version=WITNESSED_VERSION))
            yield connection
            if self._witness is not None:
                end = LogTables(connection).end
        if self._witness is not None and end not in (None, seen):
            self._witness.append(end)

    def check_named(self, connection: sa.Connection) -> None:
        """Refuse to change a ledger that has a second place without telling that place; RequestError."""
        if self._witness is None and connection.info.get(BOOK.name) == WITNESSED_VERSION:
            raise RequestError(
                f"The privacy ledger {self.where} has a second place, which has to be told of every change and was not "
                "named; name it with --witness or FROSTGLASS_WITNESS, or in Python as Ledger(where, witness)."
            )

    def _seen(self) -> End | None:
        """How far the second place knows the ledger to have come.

        It is asked before a transaction begins, and written after one has ended, so that the ledger is never behind.
        """
        return None if self._witness is None else self._witness.farthest()

    def _check(self, connection: sa.Connection, seen: End | None) -> None:
        """Refuse pages that contradict each other, tables of another version, and a ledger that was put back."""
        if self._sqlite:
            faults = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalars().all()
            orphans = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
            if faults != ["ok"] or orphans:
                raise self.damaged("its pages contradict each other")
        tables = LogTables(connection)
        versions, whole = tables.state
        if versions not in ({SCHEMA_VERSION}, {WITNESSED_VERSION}):
            raise RequestError(
                f"The privacy ledger {self.where} was not written by this version of Frostglass, which knows format "
                f"{SCHEMA_VERSION} and {WITNESSED_VERSION} only; nothing was spent."
            )
        connection.info[BOOK.name] = min(versions)
        if not whole:
            raise self.damaged("its log does not end where it should")
        if seen is not None and not tables.had(seen):
            raise self.damaged(
                "its second place knows of what it lacks, as if an older copy or another ledger were put here"
            )

    def damaged(self, why: str) -> LedgerDamaged:
        """Return the refusal of a ledger that cannot be trusted."""
        return LedgerDamaged(
            f"The privacy ledger {self.where} is damaged or was edited ({why}), so nobody can say what has been spent; "
            "restore it from a copy that holds every release, as nothing is released until then."
        )

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        """Turn what a database says into one sentence."""
        try:
            yield
        except sa.exc.OperationalError as error:
            said = str(error.orig).lower()
            if "locked" in said or "lock timeout" in said:
                raise RequestError(
                    f"The privacy ledger {self.where} is in use by another process that did not finish within "
                    f"{SECONDS_TO_WAIT} seconds; nothing was spent."
                ) from error
            if self._sqlite and not any(words in said for words in SQLITE_CANNOT):
                raise self.damaged(_first_line(error)) from error
            raise RequestError(
                f"The privacy ledger {self.where} cannot be read and written ({_first_line(error)}), so nothing can be "
                "released: every release is written down before it is made."
            ) from error
        except (sa.exc.DBAPIError, UnicodeDecodeError, MemoryError) as error:
            # The last two are how Python's driver meets some damaged pages.
            raise self.damaged(_first_line(error)) from error
        except OSError as error:
            raise RequestError(
                f"The privacy ledger {self.where} cannot be created ({error.strerror}); choose a place on a local disk "
                "that you may write to."
            ) from error


def default_place() -> Path:
    """The file of a ledger that nobody named: one in the user's data folder."""
    return user_data_path("frostglass", appauthor=False) / "ledger.sqlite"


def _parse(where: str | Path | None) -> sa.URL:
    """Return the address of a ledger, or say which there are."""
    if where is None:
        where = default_place()
    if isinstance(where, Path) or "://" not in where:
        return sa.URL.create("sqlite", database=str(Path(where).expanduser().absolute()))
    try:
        url = sa.make_url(where)
    except (sa.exc.ArgumentError, ValueError) as error:
        raise RequestError(
            "The address of the privacy ledger cannot be read; write a path, sqlite:///PATH or postgresql://HOST/NAME."
        ) from error
    if url.drivername in ("sqlite", "sqlite+pysqlite") and url.database not in (None, "", ":memory:") and not url.query:
        return sa.URL.create("sqlite", database=str(Path(url.database).absolute()))
    if url.drivername in ("postgresql", "postgres", "postgresql+psycopg"):
        return url.set(drivername="postgresql+psycopg")
    raise RequestError(
        "A privacy ledger lives in a file (a path or sqlite:///PATH) or in PostgreSQL (postgresql://HOST/NAME) only, "
        "as it must outlive the program and keep two releases from spending the same budget."
    )


def _first_line(error: Exception) -> str:
    """Return the first line of what a database said, without what a damaged name would do to a terminal."""
    line = str(getattr(error, "orig", error)).strip().partition("\n")[0]
    return "".join(character for character in line if character.isprintable())
