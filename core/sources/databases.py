"""Tables of database files, named as ``file::table``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import RequestError
from .duck import Scan, identifier, literal
from .locations import Paths
from .queried import QueriedSource
from .source import Source
from .sqlite import sqlite_table, sqlite_tables

SQLITE_MAGIC = b"SQLite format 3\0"
DUCKDB_MAGIC = b"DUCK"
DUCKDB_PLACE = 8
"""Bytes before it: a checksum."""


def is_database(path: Path) -> bool:
    """Whether a file is one of a database, by its first bytes."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(len(SQLITE_MAGIC))
    return head == SQLITE_MAGIC or head[DUCKDB_PLACE:].startswith(DUCKDB_MAGIC)


def tables_of(path: Path) -> tuple[str, ...]:
    """Names of all tables and views of a DuckDB or SQLite file, as `database_table` takes them.

    Raises
    ------
    RequestError
        When the file cannot be read as a database, or holds no table.
    """
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
