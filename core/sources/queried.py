"""Sources that DuckDB reads: a table expression, with what SQL must say about each column."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from ..domain import Column, Domain
from ..errors import RequestError
from ..privacy.budget import EarliestUnit
from .duck import Fault, OutOfMemory, Scan, identifier, kind_of_sql, length_of_sql
from .people import (
    PAIR_ROWS,
    PERSON,
    REFUSED,
    Pair,
    Pairs,
    Person,
    keep_at_most,
    keep_earliest,
    known,
    ordering_sql,
    settled_sql,
)
from .source import BATCH_ROWS, ColumnInfo, Location, Part, Paths, Source, numbered

Opened = Callable[[], AbstractContextManager[Scan]]  # Gives a table that can be read for as long as the context lasts.


def in_order(scan: Scan, values: Mapping[str, str], faults: Sequence[Fault], rows: int) -> Iterator[pa.RecordBatch]:
    """The values (names and SQL expressions), in the order of the table."""
    first = 0
    for batch in scan.stream(f"SELECT {_columns_sql(values, faults)} FROM {scan.table}", rows):

        def row(index: int, before: int = first) -> int:
            return before + index + 1

        _check(batch, faults, scan.label, row)
        first += batch.num_rows
        yield _renamed(batch, values)


def by_person(
    scan: Scan, domain: Domain, person: Person, values: Mapping[str, str], faults: Sequence[Fault], rows: int
) -> Iterator[pa.RecordBatch]:
    """The values of at most the stated number of records a person; see `core.sources.people`."""
    faults, kept = [*faults, *person.faults], ""
    if domain.missing == "refuse":
        # After the selection a row has no place any more, so what is missing is looked for before it.
        # An empty list is a missing set.
        empty = {name: f"nullif(len({value}), 0)" for name, value in values.items()} if domain.holds_sets else values
        faults += missing({domain.unit.id_column: person.sql, **empty})
    else:
        kept = f"WHERE {PERSON} IS NOT NULL"
    place = "row_number() OVER ()" if faults else "0"
    inner = f"SELECT {_columns_sql(values, faults)}, {place} AS place, {person.sql} AS {PERSON} FROM {scan.table}"
    columns, unit = [f"c{number}" for number in range(len(values))], domain.unit
    sort = settled_sql if isinstance(unit, EarliestUnit) else ordering_sql
    ordered = sort(f"SELECT * FROM ({inner}) {kept}", columns, ("fault", "place"))

    def checked() -> Iterator[pa.RecordBatch]:
        for batch in scan.stream(ordered, rows):

            def row(index: int, batch: pa.RecordBatch = batch) -> int:
                return batch.column("place")[index].as_py()

            _check(batch, faults, scan.label, row)
            yield batch

    if isinstance(unit, EarliestUnit):
        chosen = keep_earliest(checked(), unit.records, lambda batch: domain.order(unit.first, _renamed(batch, values)))
    else:
        chosen = keep_at_most(checked(), unit.records)
    for batch in chosen:
        yield _renamed(batch, values)


def missing(values: Mapping[str, str]) -> list[Fault]:
    """What is refused where nothing may be missing."""
    return [Fault(f"{value} IS NULL", name, REFUSED) for name, value in values.items()]


@dataclass(frozen=True)
class QueriedPairs:
    """Rows of an id and an item that DuckDB reads."""

    label: str  # How messages name the source.
    opened: Opened  # Gives the table, for as long as the context lasts.
    # The two values in SQL, null where they are missing.
    person: str
    item: str
    refused: tuple[Fault, ...] = ()  # What is refused rather than left out.

    @classmethod
    def of(
        cls,
        domain: Domain,
        label: str,
        opened: Opened,
        person: Person,
        value: str,
        kind: str,
        faults: Sequence[Fault] = (),
    ) -> QueriedPairs:
        """The pairs that a domain means, from the id, the value in SQL and its type, and what is refused in it."""
        item = f"CASE WHEN isnan({value}) THEN NULL ELSE {value} END" if kind in ("FLOAT", "DOUBLE") else value
        refused = [*person.faults, *faults]
        if domain.missing == "refuse":
            refused += missing({domain.unit.id_column: person.sql, domain.names[0]: item})
        return cls(label, opened, person.sql, item, tuple(refused))

    def ids(self) -> Iterator[pa.Array]:
        with self.opened() as scan:
            for batch in in_order(scan, {PERSON: self.person}, (), PAIR_ROWS):
                yield batch.column(0).drop_null()

    def in_order(self) -> Iterator[Pair]:
        rows = 0
        with self.opened() as scan:
            for batch in in_order(scan, self._values, self.refused, PAIR_ROWS):
                rows += len(batch)
                yield (*known(*batch.columns), rows)

    def sorted(self) -> Iterator[Pair]:
        """By id. What does not fit in memory is spilled: about 12 bytes a row of whole numbers, more of texts."""
        # A first reading refuses what is at fault, with its place, so that the sort has nothing to carry but pairs.
        if self.refused:
            for _ in self.in_order():
                pass
        rows = 0
        with self.opened() as scan:
            values = f"SELECT {self.person} AS {PERSON}, {self.item} AS item FROM {scan.table}"
            pairs = f"SELECT * FROM ({values}) WHERE {PERSON} IS NOT NULL AND item IS NOT NULL ORDER BY {PERSON}"
            try:
                for batch in scan.stream(pairs, PAIR_ROWS):
                    rows += len(batch)
                    yield (*known(*batch.columns), rows)
            except OutOfMemory:
                raise RequestError(
                    f"The rows of {self.label} are not in ascending order of their ids, and sorting them needs more "
                    "room than half of what is free in the folder for temporary files (TMPDIR names another); or sort "
                    "the data beforehand."
                ) from None

    @property
    def _values(self) -> dict[str, str]:
        return {PERSON: self.person, "item": self.item}


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


FromPaths = Callable[[Sequence[str]], str]  # From the paths of the opened files to an SQL table expression.


class QueriedSource(Source):
    """Records that a DuckDB table expression names.

    `table`: Makes the table expression from their paths. `setup`: Makes from the paths the statements that come before
    (attaching a database, loading an extension).
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
    """One file of a source."""

    # Of the file, and the SQL expression that names its records.
    path: str
    table: str
    values: tuple[tuple[str, str], ...]  # Name and SQL expression of each column.
    faults: tuple[Fault, ...]  # What is refused.

    @property
    def files(self) -> tuple[str, ...]:
        return (self.path,)

    def batches(self, domain: Domain, rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        scan = Scan(self.table, f"the file {Path(self.path).name!r}", (self.path,))
        return numbered(in_order(scan, dict(self.values), self.faults, rows))
