"""Tables of database files, named as ``file::table``; those of SQLite through Python's own reader.

A view of SQLite may be a query without an end, which a table of a file cannot be. So no more than `MOST_ROWS` records
are read of a view, and SQLite is stopped when it looks for the next ones for longer than `MOST_SECONDS`; between two
batches whoever started the reading may stop it as any other.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic

import pyarrow as pa

from ..errors import RequestError
from .duck import Scan, identifier, literal
from .frames_and_arrays import ArrowSource
from .queried import QueriedSource
from .source import Paths, Source

MOST_ROWS = 1_000_000_000  # records that are read of a view
MOST_SECONDS = 600.0  # For one batch of records.
STEPS = 1_000_000  # Of SQLite's machine, some tens of milliseconds, after which it asks whether to go on.


def sqlite_tables(path: Path, label: str) -> tuple[str, ...]:
    """Names of all tables and views of a SQLite database."""
    with _opened(path, label) as session:
        return _names(session)


def sqlite_table(path: Path, table: str, label: str) -> ArrowSource:
    """A table or view of a SQLite database, opened for reading only."""
    with _opened(path, label) as session:
        names = _names(session)
        if table not in names:
            raise RequestError(f"There is no table {table!r} in {label}; its tables are: {', '.join(names)}.")
        is_view = table in _names(session, "view")
        described = session.execute(f"PRAGMA table_info({identifier(table)})").fetchall()
        schema = pa.schema([(_text(name), _type(_text(declared))) for _, name, declared, *_ in described])

    def read(names: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        chosen = pa.schema([schema.field(name) for name in names])
        sql = f"SELECT {', '.join(map(identifier, names))} FROM {identifier(table)}"
        watch, found = _Watch(), 0
        try:
            with closing(_connect(path)) as session:
                session.set_progress_handler(watch.late, STEPS)
                watch.begin()
                cursor = session.execute(sql)
                while records := cursor.fetchmany(rows):
                    found += len(records)
                    if is_view and found > MOST_ROWS:
                        raise RequestError(
                            f"The view {table!r} of {label} has more than {MOST_ROWS:,} records, the most that are "
                            "read of a view, as some have no end; write what it gives to a table."
                        )
                    columns = zip(zip(*records, strict=True), chosen, strict=True)
                    yield pa.RecordBatch.from_arrays([_array(*column) for column in columns], schema=chosen)
                    watch.begin()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            # What Python itself finds wrong, as text that is none, has no code of SQLite's.
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT and not watch.stopped:
                raise KeyboardInterrupt from None  # what SQLite makes of a signal that comes while it asks
            if watch.stopped:
                raise RequestError(
                    f"{table!r} of {label} gave no further records within {MOST_SECONDS:g} seconds, so the reading was "
                    "stopped, as a view may have no end; write what it gives to a table."
                ) from None
            raise RequestError(f"The table {table!r} of {label} cannot be read to its end.") from None

    return ArrowSource(label, schema, read)


class _Watch:
    """Tells SQLite to stop when a batch of records is not there in time."""

    def __init__(self) -> None:
        self.stopped = False
        self._end = 0.0

    def begin(self) -> None:
        """Wait for a batch from now on."""
        self._end = monotonic() + MOST_SECONDS

    def late(self) -> bool:
        """Whether SQLite is to stop; it asks in the middle of its work."""
        self.stopped |= monotonic() > self._end
        return self.stopped


def _names(session: sqlite3.Connection, *kinds: str) -> tuple[str, ...]:
    listed = session.execute("SELECT name, type FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY name")
    return tuple(_text(name) for name, kind in listed if kind in (kinds or ("table", "view")))


def _text(found: object) -> str:
    """A name or a type, which a damaged file may have as anything."""
    if isinstance(found, str):
        return found
    raise sqlite3.DatabaseError


@contextmanager
def _opened(path: Path, label: str) -> Iterator[sqlite3.Connection]:
    """A database whose tables are looked at; RequestError when it is none, or damaged."""
    try:
        with closing(_connect(path)) as session:
            yield session
    except (sqlite3.Error, UnicodeDecodeError):  # the second where SQLite's complaint quotes bytes that are no text
        raise RequestError(f"What is in {label} cannot be read as a SQLite database.") from None


def _connect(path: Path) -> sqlite3.Connection:
    session = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, check_same_thread=False)
    session.execute("PRAGMA trusted_schema=OFF")  # a stranger's file calls nothing that acts outside of it
    return session


def _array(values: Sequence[object], field: pa.Field) -> pa.Array:
    try:
        return pa.array(values, field.type)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        # SQLite stores any value in any column.
        raise RequestError(f"The column {field.name!r} holds values that are not of its declared type.") from None


def _type(declared: str) -> pa.DataType:
    """The Arrow type of a declared type, by SQLite's own rules of affinity (its documentation, "Datatypes", 3.1)."""
    declared = declared.upper()
    if "INT" in declared:
        return pa.int64()
    if any(part in declared for part in ("CHAR", "CLOB", "TEXT", "DATE", "TIME")):
        return pa.string()
    if "BLOB" in declared:
        return pa.binary()
    return pa.float64()


SQLITE_MAGIC = b"SQLite format 3\0"
DUCKDB_MAGIC = b"DUCK"
DUCKDB_PLACE = 8  # Bytes before it: a checksum.


def is_database(path: Path) -> bool:
    """Whether a file is one of a database, by its first bytes."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(len(SQLITE_MAGIC))
    return head == SQLITE_MAGIC or head[DUCKDB_PLACE:].startswith(DUCKDB_MAGIC)


def tables_of(path: Path) -> tuple[str, ...]:
    """Names of all tables and views of a DuckDB or SQLite file, as `database_table` takes them."""
    label = f"the database {path.name!r}"
    with path.open("rb") as file:
        magic = file.read(len(SQLITE_MAGIC))
    names = sqlite_tables(path, label) if magic == SQLITE_MAGIC else _by_shortest_name(_duckdb_tables(path, label))
    if not names:
        raise RequestError(f"There is no table in {label}.")
    return names


def _by_shortest_name(tables: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Each table's name, with its schema where another one has a table of this name, or it is not the usual one."""
    names = [name for _, name in tables]
    return tuple(name if schema == "main" and names.count(name) == 1 else f"{schema}.{name}" for schema, name in tables)


def _attached(path: Path) -> list[str]:
    return [f"ATTACH {literal(str(path))} AS source (READ_ONLY)"]


def _duckdb_tables(path: Path, label: str) -> list[tuple[str, str]]:
    """Schema and name of every table and view."""
    path = path.resolve()
    return Scan("", label, (str(path),), _attached(path)).fetch(
        "SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = 'source' ORDER BY ALL"
    )


def database_table(path: Path, table: str) -> Source:
    """A table or view of a DuckDB or SQLite file, opened for reading only."""
    if not path.is_file():
        raise RequestError(f"There is no database file {str(path)!r}.")
    with path.open("rb") as file:
        magic = file.read(len(SQLITE_MAGIC))
    label = f"the database {path.name!r}"
    return sqlite_table(path, table, label) if magic == SQLITE_MAGIC else DuckDBTable(path.resolve(), table, label)


class DuckDBTable(QueriedSource):
    """A table or view of a DuckDB file, ``table`` or ``schema.table``; what it refers to outside is not opened."""

    def __init__(self, path: Path, table: str, label: str) -> None:
        names = _duckdb_tables(path, label)
        found = [(schema, name) for schema, name in names if table in (name, f"{schema}.{name}")]
        if len(found) != 1:
            known = ", ".join(_by_shortest_name(names))
            problem = "no table" if not found else "more than one table"
            raise RequestError(f"There is {problem} {table!r} in {label}; its tables are: {known}.")
        ((self.schema, self.name),) = found
        self.path, self.attach = path, _attached(path)
        expression = f"source.{identifier(self.schema)}.{identifier(self.name)}"
        super().__init__(Paths(label, (str(path),)), lambda paths: expression, self._attach)

    def _attach(self, paths: Sequence[str]) -> list[str]:
        return self.attach

    def fingerprint(self) -> dict | None:
        # What a view says may come in another order each time, and what was not yet written back lies beside the file.
        if self.rows_total() is None or Path(f"{self.path}.wal").exists():
            return None
        return super().fingerprint()

    def rows_total(self) -> int | None:
        with self.location.opened() as paths:
            counted = self.scan(paths).fetch(
                "SELECT estimated_size FROM duckdb_tables() WHERE database_name = 'source' "
                f"AND schema_name = {literal(self.schema)} AND table_name = {literal(self.name)}"
            )
        return counted[0][0] if counted else None
