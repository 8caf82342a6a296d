"""Sources that DuckDB reads: a table expression, with what SQL must say about each column."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from ..domain import Column, Domain
from .duck import Scan, identifier, kind_of_sql, length_of_sql
from .faults import Fault
from .locations import Location, Paths
from .pairs import Pairs
from .people import Person
from .selections import QueriedPairs, by_person, in_order
from .source import BATCH_ROWS, ColumnInfo, Part, Source, numbered

FromPaths = Callable[[Sequence[str]], str]
"""From the paths of the opened files to an SQL table expression."""


class QueriedSource(Source):
    """Records that a DuckDB table expression names.

    Parameters
    ----------
    location : Location
        The files.
    table : FromPaths
        Makes the table expression from their paths.
    setup : Callable[[Sequence[str]], list[str]] | None
        Makes from the paths the statements that come before (attaching a database, loading an extension).
    """

    def __init__(self, location: Location, table: FromPaths, setup: Callable[[Sequence[str]], list[str]] | None = None):
        self.location, self.label = location, location.label
        self._table, self._setup = table, setup or (lambda paths: [])
        with location.opened() as paths:
            self.types = self._describe(paths)
        self.columns = tuple(
            ColumnInfo(name, self._kind(name, kind), length_of_sql(kind), kind.endswith("]"))
            for name, kind in self.types.items()
        )

    def scan(self, paths: Sequence[str]) -> Scan:
        """The table, for files that are open."""
        return Scan(self._table(paths), self.label, paths, self._setup(paths))

    def _describe(self, paths: Sequence[str]) -> dict[str, str]:
        scan = self.scan(paths)
        return {name: kind for name, kind, *_ in scan.fetch(f"DESCRIBE SELECT * FROM {scan.table}")}

    def _kind(self, name: str, sql_type: str) -> str:
        return kind_of_sql(sql_type)

    def rows_total(self) -> int | None:
        return None

    def fingerprint(self) -> dict | None:
        files = self.location.fingerprint()
        if files is None:
            return None
        with self.location.opened() as paths:
            return files | {"table": self._table(paths)}

    def value_sql(self, column: Column) -> str:
        """The column's value as an SQL expression."""
        return identifier(column.field)

    def faults(self, column: Column) -> list[Fault]:
        """What this source refuses in the column."""
        return []

    def _batches(self, domain: Domain, rows: int) -> Iterator[pa.RecordBatch]:
        values, faults = self._values(domain)
        with self.location.opened() as paths:
            if domain.unit.column is None:
                yield from numbered(in_order(self.scan(paths), values, faults, rows))
            else:
                yield from by_person(self.scan(paths), domain, self._person(domain), values, faults, rows)

    def pairs(self, domain: Domain) -> Pairs:
        (column,) = domain.columns
        kind = self.types[column.name]
        value, faults = self.value_sql(column), self.faults(column)
        return QueriedPairs.of(domain, self.label, self._opened, self._person(domain), value, kind, faults)

    @contextmanager
    def _opened(self) -> Iterator[Scan]:
        with self.location.opened() as paths:
            yield self.scan(paths)

    def _person(self, domain: Domain) -> Person:
        return Person.of(domain.unit.id_column, self.types[domain.unit.id_column])

    def _values(self, domain: Domain) -> tuple[dict[str, str], list[Fault]]:
        """The values of the domain's columns in SQL, by name, and what is refused in them."""
        alone = {column.field: column for column in domain.columns}
        shared = {name for name in domain.fields if sum(column.field == name for column in domain.columns) > 1}
        values = {
            name: identifier(name) if name in shared else self.value_sql(column) for name, column in alone.items()
        }
        return values, [fault for name, column in alone.items() if name not in shared for fault in self.faults(column)]

    def _file_parts(self, domain: Domain) -> tuple[Part, ...]:
        """One part a file, where each can be read without the others; its rows are counted from its beginning."""
        if not isinstance(self.location, Paths):
            return ()
        values, faults = self._values(domain)
        return tuple(
            QueriedFile(None, path, self._table((path,)), tuple(values.items()), tuple(faults))
            for path in self.location.paths
        )


@dataclass(frozen=True)
class QueriedFile(Part):
    """One file of a source.

    Attributes
    ----------
    path, table : str
        Of the file, and the SQL expression that names its records.
    values : tuple[tuple[str, str], ...]
        Name and SQL expression of each column.
    faults : tuple[Fault, ...]
        What is refused.
    """

    path: str
    table: str
    values: tuple[tuple[str, str], ...]
    faults: tuple[Fault, ...]

    @property
    def files(self) -> tuple[str, ...]:
        return (self.path,)

    def batches(self, domain: Domain, rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        scan = Scan(self.table, f"the file {Path(self.path).name!r}", (self.path,))
        return numbered(in_order(scan, dict(self.values), self.faults, rows))
