"""Sources that DuckDB reads: a table expression, with what SQL must say about each column."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from ..columns import Column
from ..domain import Domain
from ..errors import RequestError
from .duck import Scan, identifier, kind_of_sql, length_of_sql
from .people import PERSON, keep_at_most, ordering_sql, person_sql
from .source import BATCH_ROWS, ColumnInfo, Location, Part, Paths, Source, numbered

FromPaths = Callable[[Sequence[str]], str]
"""From the paths of the opened files to an SQL table expression."""


@dataclass(frozen=True)
class Fault:
    """What stops the reading of a record: a condition in SQL, and how the message goes on after naming the place."""

    condition: str
    column: str
    problem: str


class QueriedSource(Source):
    """Records that a DuckDB table expression names.

    Parameters
    ----------
    location : the files.
    table : makes the table expression from their paths.
    setup : makes from the paths the statements that come before (attaching a database, loading an extension).
    """

    def __init__(self, location: Location, table: FromPaths, setup: Callable[[Sequence[str]], list[str]] | None = None):
        self.location, self.label = location, location.label
        self._table, self._setup = table, setup or (lambda paths: [])
        with location.opened() as paths:
            self.types = self._describe(paths)
        self.columns = tuple(
            ColumnInfo(name, self._kind(name, kind), length_of_sql(kind)) for name, kind in self.types.items()
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
        return identifier(column.name)

    def faults(self, column: Column) -> list[Fault]:
        """What this source refuses in the column."""
        return []

    def _batches(self, domain: Domain, rows: int) -> Iterator[pa.RecordBatch]:
        values, faults = self._values(domain)
        with self.location.opened() as paths:
            if domain.unit.column is None:
                yield from numbered(_in_order(self.scan(paths), values, faults, rows))
            else:
                person = person_sql(identifier(domain.unit.column), self.types[domain.unit.column])
                yield from by_person(self.scan(paths), domain, person, values, faults, rows)

    def _values(self, domain: Domain) -> tuple[dict[str, str], list[Fault]]:
        """The values of the domain's columns in SQL, by name, and what is refused in them."""
        faults = [fault for column in domain.columns for fault in self.faults(column)]
        return {column.name: self.value_sql(column) for column in domain.columns}, faults

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
    path, table : of the file, and the SQL expression that names its records.
    values : name and SQL expression of each column.
    faults : what is refused.
    """

    path: str
    table: str
    values: tuple[tuple[str, str], ...]
    faults: tuple[Fault, ...]

    def batches(self, domain: Domain, rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        scan = Scan(self.table, f"the file {Path(self.path).name!r}", (self.path,))
        return numbered(_in_order(scan, dict(self.values), self.faults, rows))


def _in_order(
    scan: Scan, values: Mapping[str, str], faults: Sequence[Fault], rows: int
) -> Iterator[pa.RecordBatch]:
    """The values (names and SQL expressions), in the order of the table."""
    first = 0
    for batch in scan.stream(f"SELECT {_columns_sql(values, faults)} FROM {scan.table}", rows):
        _check(batch, faults, scan.label, lambda index, first=first: first + index + 1)
        first += batch.num_rows
        yield _renamed(batch, values)


def by_person(
    scan: Scan, domain: Domain, person: str, values: Mapping[str, str], faults: Sequence[Fault], rows: int
) -> Iterator[pa.RecordBatch]:
    """The values of at most the stated number of records a person; see `core.sources.people`."""
    faults, known = list(faults), ""
    if domain.missing == "refuse":
        # After the selection a row has no place any more, so what is missing is looked for before it.
        why = "is missing, and the domain says that missing values are refused"
        faults.append(Fault(f"{person} IS NULL", domain.unit.column, why))
        faults += [Fault(f"{value} IS NULL", name, why) for name, value in values.items()]
    else:
        known = f"WHERE {PERSON} IS NOT NULL"
    place = "row_number() OVER ()" if faults else "0"
    inner = f"SELECT {_columns_sql(values, faults)}, {place} AS place, {person} AS {PERSON} FROM {scan.table}"
    columns = [*(f"c{number}" for number in range(len(values))), "fault", "place"]
    ordered = ordering_sql(f"SELECT * FROM ({inner}) {known}", columns)

    def checked() -> Iterator[pa.RecordBatch]:
        for batch in scan.stream(ordered, rows):
            _check(batch, faults, scan.label, lambda index, batch=batch: batch.column("place")[index].as_py())
            yield batch

    for batch in keep_at_most(checked(), domain.unit.records):
        yield _renamed(batch, values)


def _columns_sql(values: Mapping[str, str], faults: Sequence[Fault]) -> str:
    """The values as c0, c1, …, and ``fault``: null for a sound record, else the number of its first fault."""
    cases = " ".join(f"WHEN {fault.condition} THEN {number}" for number, fault in enumerate(faults))
    columns = [f"{value} AS c{number}" for number, value in enumerate(values.values())]
    return ", ".join([*columns, f"CAST({f'CASE {cases} END' if faults else 'NULL'} AS INTEGER) AS fault"])


def _check(batch: pa.RecordBatch, faults: Sequence[Fault], label: str, place: Callable[[int], int]) -> None:
    numbers = batch.column("fault")
    if numbers.null_count < len(numbers):
        index = int(numbers.is_valid().to_numpy(zero_copy_only=False).argmax())
        fault = faults[numbers[index].as_py()]
        raise RequestError(
            f"The value of the column {fault.column!r} in row {place(index):,} of {label} {fault.problem}."
        )


def _renamed(batch: pa.RecordBatch, values: Mapping[str, str]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(batch.columns[: len(values)], names=list(values))
