"""Tables of SQLite databases, through Python's own reader."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pyarrow as pa

from ..errors import RequestError
from .arrow import ArrowSource
from .duck import identifier


def sqlite_tables(path: Path, label: str) -> tuple[str, ...]:
    """Names of all tables and views of a SQLite database."""
    try:
        with closing(_connect(path)) as session:
            return _names(session)
    except sqlite3.Error:
        raise _unreadable(label) from None


def sqlite_table(path: Path, table: str, label: str) -> ArrowSource:
    """A table or view of a SQLite database, opened for reading only."""
    try:
        with closing(_connect(path)) as session:
            names = _names(session)
            if table not in names:
                raise RequestError(f"There is no table {table!r} in {label}; its tables are: {', '.join(names)}.")
            described = session.execute(f"PRAGMA table_info({identifier(table)})").fetchall()
    except sqlite3.Error:
        raise _unreadable(label) from None
    schema = pa.schema([(name, _type(declared)) for _, name, declared, *_ in described])

    def read(names: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        chosen = pa.schema([schema.field(name) for name in names])
        sql = f"SELECT {', '.join(map(identifier, names))} FROM {identifier(table)}"
        try:
            with closing(_connect(path)) as session:
                cursor = session.execute(sql)
                while records := cursor.fetchmany(rows):
                    columns = zip(zip(*records, strict=True), chosen, strict=True)
                    yield pa.RecordBatch.from_arrays([_array(*column) for column in columns], schema=chosen)
        except sqlite3.Error:
            raise RequestError(f"The table {table!r} of {label} cannot be read to its end.") from None

    return ArrowSource(label, schema, read)


def _names(session: sqlite3.Connection) -> tuple[str, ...]:
    listed = session.execute(
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name"
    )
    return tuple(name for (name,) in listed)


def _unreadable(label: str) -> RequestError:
    return RequestError(f"What is in {label} cannot be read as a SQLite database.")


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, check_same_thread=False)


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
