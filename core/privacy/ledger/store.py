"""Where a ledger lives: a file of SQLite or a PostgreSQL database, opened so that a commit is final.

Reading and writing happen inside one transaction each. Writers exclude each other: SQLite by BEGIN IMMEDIATE,
PostgreSQL by locking the rows they are about to change. A commit survives a power cut (``synchronous = EXTRA``: with
less, SQLite may take back a commit whose journal's removal had not reached the disk, and budget would come back with
it).
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa
from platformdirs import user_data_path

from ...errors import RequestError
from .engines import SECONDS_TO_WAIT, create_file, postgres_engine, sqlite_engine
from .tables import BOOK, SCHEMA_VERSION, WITNESSED_VERSION, LogTables
from .witness import End, witness_at

# What SQLite says when the file may be well and its surroundings are not; anything else it objects to is damage.
SQLITE_CANNOT = ("unable to open", "readonly", "disk i/o error", "is full", "permission")


class LedgerDamaged(RequestError):
    """The ledger is not as Frostglass left it; nothing was spent, and nothing is until it is whole again."""


class Store:
    """Transactions on a ledger's three tables."""

    def __init__(self, where: str | Path | None = None, witness: str = "") -> None:
        """Open a ledger, creating it where there is none.

        Parameters
        ----------
        where : str | Path | None
            A path or ``sqlite:///path`` (SQLite file), or ``postgresql://…``; None is ``ledger.sqlite`` in the user's
            data folder.
        witness : str
            The second place that knows how far the ledger had come, as `witness_at` takes it; none without.
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

        Raises
        ------
        RequestError
            When the ledger has a second place that was not named, also before the block begins.
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
