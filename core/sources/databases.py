"""Tables of database files, named as ``file::table``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import RequestError
from .duck import Scan, identifier, literal
from .queried import QueriedSource
from .source import Paths, Source
from .sqlite import sqlite_table

SQLITE_MAGIC = b"SQLite format 3\0"


def database_table(path: Path, table: str) -> Source:
    """A table or view of a DuckDB or SQLite file, opened for reading only."""
    path = path.expanduser()
    if not path.is_file():
        raise RequestError(f"There is no database file {str(path)!r}.")
    with path.open("rb") as file:
        magic = file.read(len(SQLITE_MAGIC))
    label = f"the database {path.name!r}"
    return sqlite_table(path, table, label) if magic == SQLITE_MAGIC else DuckDBTable(path.resolve(), table, label)


class DuckDBTable(QueriedSource):
    """A table or view of a DuckDB file, ``table`` or ``schema.table``; what it refers to outside is not opened."""

    def __init__(self, path: Path, table: str, label: str) -> None:
        attach = [f"ATTACH {literal(str(path))} AS source (READ_ONLY)"]
        names = Scan("", label, (str(path),), attach).fetch(
            "SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = 'source'"
        )
        found = [(schema, name) for schema, name in names if table in (name, f"{schema}.{name}")]
        if len(found) != 1:
            known = ", ".join(f"{schema}.{name}" for schema, name in names)
            problem = "no table" if not found else "more than one table"
            raise RequestError(f"There is {problem} {table!r} in {label}; its tables are: {known}.")
        ((self.schema, self.name),) = found
        self.attach = attach
        expression = f"source.{identifier(self.schema)}.{identifier(self.name)}"
        super().__init__(Paths(label, (str(path),)), lambda paths: expression, self._attach)

    def _attach(self, paths: Sequence[str]) -> list[str]:
        return self.attach

    def fingerprint(self) -> dict | None:
        # What a view says may come in another order each time, and what was not yet written back lies beside the file.
        if self.rows_total() is None or Path(f"{self.location.paths[0]}.wal").exists():
            return None
        return super().fingerprint()

    def rows_total(self) -> int | None:
        with self.location.opened() as paths:
            counted = self.scan(paths).fetch(
                "SELECT estimated_size FROM duckdb_tables() WHERE database_name = 'source' "
                f"AND schema_name = {literal(self.schema)} AND table_name = {literal(self.name)}"
            )
        return counted[0][0] if counted else None
