"""What every source offers, whatever it reads."""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from ..domain import Coordinate, Dates, Domain, Numeric
from ..domain.column import is_list
from ..domain.encoding import FIRST_ROW, ROWS_READ
from ..errors import RequestError
from ..runtime.transient import private_folder
from .people import Pairs, gathered

BATCH_ROWS = 65_536
MAX_NAMES_SHOWN = 20


@dataclass(frozen=True)
class ColumnInfo:
    """Name of a column and the kind of its values: number, text, date, boolean, vector or other.

    ``length`` is how many numbers each vector holds, where the column's type says so; None otherwise. ``lists`` says
    whether the values are lists, of numbers or of anything else. ``format`` is how texts are written, as their first
    values look (a name of `core.domain.formats`): to be proposed to their owner, like the kind; "" where there is
    nothing to be said.
    """

    name: str
    kind: str
    length: int | None = None
    lists: bool = False
    format: str = ""


@dataclass(frozen=True)
class Part(ABC):
    """Some consecutive records of a source, which another process can read by itself.

    A part is a value: it names files and what of them to read, and opens them when it is read, so it can be sent to
    where the work is done.
    """

    rows: int | None

    @property
    def files(self) -> tuple[str, ...]:
        """Paths of the files that it reads, so that it can be seen whether another computer has the same ones."""
        return ()

    @abstractmethod
    def batches(self, domain: Domain, rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """The domain's columns of the records, in order, in batches of at most ``rows``.

        The domain is the one that `Source.parts` was asked for.

        RequestError: As `Source.batches` does, and when the files are not what they were.
        """


class Source(ABC):
    """Records of a table, read as often as needed, never all at once."""

    # Name and kind of every column, in order; all that is known before a domain is stated.
    columns: tuple[ColumnInfo, ...]
    label: str  # How messages name the source.
    remarks: tuple[str, ...] = ()  # Sentences on how it is read, for its owner.

    def batches(self, domain: Domain, rows: int = BATCH_ROWS, start: int = 0) -> Iterator[pa.RecordBatch]:
        """The domain's columns of all records that may be used, in batches of at most ``rows``.

        When the domain names an id column, at most the stated number of records of each person are kept, chosen at
        random (see `core.sources.people`), in an order that means nothing. When the domain's sets are gathered, a
        record is a set: the list of all items of one id (see `core.sources.people`).

        `domain`: Says which columns, and who one person is. `rows`: Most records in a batch. `start`: Records to pass
        over, as they were read before; only where `keeps_order`. RequestError when a column is absent, the source is
        damaged, or a value cannot be what the domain says; while the batches are drawn, too, as nothing is read before;
        and behind the last one where the files have changed meanwhile, as a record may have come before and again then.
        """
        domain = domain.read
        self.check_columns(domain)
        if domain.gathers:
            found = passed_over((batch.select(domain.names) for batch in self.sets(domain, rows)), start)
        else:
            found = self._batches(domain, rows) if start == 0 else self._batches_from(domain, rows, start)
        return self._unchanged(found)

    def _unchanged(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        before = self.fingerprint()
        yield from batches
        if self.fingerprint() != before:
            raise RequestError(f"What is in {self.label} has changed while it was read; start again.")

    def sets(self, domain: Domain, rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """The sets of a domain that gathers them, at most so many a batch, and beside each list its id."""
        self.check_columns(domain)
        return gathered(self.pairs(domain), domain.unit.id_column, domain.names[0], rows)

    def pairs(self, domain: Domain) -> Pairs:
        """Rows of an id and an item, for a domain whose sets are gathered and whose columns exist."""
        raise RequestError(f"The rows of {self.label} cannot be gathered into sets.")

    def parts(self, domain: Domain) -> tuple[Part, ...]:
        """The source in parts, which in order are exactly the records of `batches`, each once.

        Parquet files are divided by their row groups, other files are one part each. Empty where a source cannot be
        divided: data in memory, databases, and records selected by person, which takes all of them at once. Edges in
        Parquet files are divided where their ids are whole numbers in ascending order, which takes a reading of the
        ids; no set is in two parts.

        RequestError when a column is absent or cannot be what the domain says.
        """
        domain = domain.read
        self.check_columns(domain)
        if domain.gathers:
            return self._parts_of_sets(domain)
        return () if domain.unit.column is not None else self._parts(domain)

    def fingerprint(self) -> dict | None:
        """What tells whether the records are still the same, for JSON: the files with their sizes and times of change.

        None where nothing does, so that an interrupted reading has to begin again.
        """
        return None

    def keeps_order(self, domain: Domain) -> bool:
        """Whether every reading gives the same records in the same order, so that one can be continued.

        A selection by person does not: it is drawn at random each time. Sets that are gathered are not selected.
        """
        return domain.unit.column is None or domain.gathers

    def check_columns(self, domain: Domain) -> None:
        """Refuse a domain whose columns are absent, or that says numbers of dates, or dates of numbers."""
        domain, unit = domain.read, domain.unit.column
        self.check_names([*domain.fields, *([] if unit is None else [unit])])
        for column in domain.columns:
            found = self.kind(column.field)
            clock = isinstance(column, Numeric) and column.reading is not None and column.reading.format
            if isinstance(column, (Numeric, Coordinate)) and found == "date" and not clock:
                raise RequestError(
                    f"The column {column.name!r} holds dates or times where numbers are expected: declare it as a "
                    "date, with a first and a last one, or as the hour, weekday or month of it."
                )
            if isinstance(column, Dates) and found in ("number", "boolean") and not column.format:
                raise RequestError(
                    f"The column {column.name!r} holds numbers where dates are expected: say how dates are written in "
                    "it, such as %Y%m%d, or unix for seconds since 1970, or declare it as numbers."
                )

    @abstractmethod
    def _batches(self, domain: Domain, rows: int) -> Iterator[pa.RecordBatch]:
        """The batches, for a domain whose columns exist."""

    def _batches_from(self, domain: Domain, rows: int, start: int) -> Iterator[pa.RecordBatch]:
        """The batches after the first ``start`` records; those are read and let go of unless a source knows better."""
        return passed_over(self._batches(domain, rows), start)

    def _parts(self, domain: Domain) -> tuple[Part, ...]:
        """The parts, for a domain of records whose columns exist."""
        return ()

    def _parts_of_sets(self, domain: Domain) -> tuple[Part, ...]:
        """The parts, for a domain whose sets are gathered."""
        return ()

    @abstractmethod
    def rows_total(self) -> int | None:
        """Number of records, where it is known without reading them; for the owner's progress bar, never public."""

    def kind(self, name: str) -> str:
        """Kind of the values of a column."""
        return next(column.kind for column in self.columns if column.name == name)

    def check_names(self, names: Sequence[str]) -> None:
        """Refuse a name that is no column, or that several columns bear."""
        present = [column.name for column in self.columns]
        for name in names:
            if name not in present:
                shown = ", ".join(present[:MAX_NAMES_SHOWN]) + (", …" if len(present) > MAX_NAMES_SHOWN else "")
                raise RequestError(f"There is no column {name!r} in {self.label}; its columns are: {shown}.")
            if present.count(name) > 1:
                raise RequestError(f"There are {present.count(name)} columns {name!r} in {self.label}; rename them.")


def numbered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same batches, each with the place of its first row, so that a refusal can name the row."""
    first = 0
    for batch in batches:
        yield batch.replace_schema_metadata({FIRST_ROW: str(first)})
        first += batch.num_rows


def passed_over(batches: Iterator[pa.RecordBatch], start: int) -> Iterator[pa.RecordBatch]:
    """The same batches without their first ``start`` records; every batch still says the place of its first row."""
    read = 0
    for batch in batches:
        facts = batch.schema.metadata or {}
        read += int(facts.get(ROWS_READ, 0))
        if start >= batch.num_rows:
            start -= batch.num_rows
            continue
        if start:
            facts = facts | {FIRST_ROW: str(int(facts.get(FIRST_ROW, 0)) + start)}
        if ROWS_READ in facts:
            facts = facts | {ROWS_READ: str(read)}
        yield batch.slice(start).replace_schema_metadata(facts)
        start = read = 0


def column_of_arrow(field: pa.Field) -> ColumnInfo:
    """What is known of a column from its Arrow type."""
    length = field.type.list_size if pa.types.is_fixed_size_list(field.type) else None
    return ColumnInfo(field.name, kind_of_arrow(field.type), length, is_list(field.type))


def kind_of_arrow(kind: pa.DataType) -> str:
    """Kind of the values of an Arrow type."""
    if pa.types.is_dictionary(kind):
        return kind_of_arrow(kind.value_type)
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number"
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return "text"
    if pa.types.is_temporal(kind):
        return "date"
    if is_list(kind):
        return "vector" if kind_of_arrow(kind.value_type) == "number" else "other"
    return "other"


@dataclass(frozen=True)
class Upload:
    """A file that arrived over the network: its name, which tells the format, and its content."""

    name: str
    content: bytes = field(repr=False)


class Location(Protocol):
    """Files that can be opened by path for as long as the context lasts."""

    @property
    def label(self) -> str:
        """How messages name the files."""
        ...

    def opened(self) -> AbstractContextManager[tuple[str, ...]]:
        """Paths of the files, in the order in which they are read."""
        ...

    def fingerprint(self) -> dict | None:
        """What tells, later and to another process, whether the files are still the same; None where nothing can."""
        ...


@dataclass(frozen=True)
class Paths:
    """Files on disk, in the order in which they are read."""

    label: str
    paths: tuple[str, ...]

    @contextmanager
    def opened(self) -> Iterator[tuple[str, ...]]:
        yield self.paths

    def fingerprint(self) -> dict | None:
        """Absolute paths, sizes and times of change; None where a file is no longer there, or none of this machine.

        The time at which a file's entry was last changed is there beside that of its content, as programs that copy or
        unpack set the latter to whatever they like.
        """
        try:
            found = [(str(Path(path).absolute()), Path(path).stat()) for path in self.paths]
        except OSError:
            return None
        return {"files": [[path, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns] for path, facts in found]}


@dataclass(frozen=True)
class InMemory:
    """Content that never touches a disk where the operating system has files in memory (Linux).

    Elsewhere it lies for the time of reading in a folder that only its owner may enter.
    """

    label: str
    content: bytes = field(repr=False)

    @contextmanager
    def opened(self) -> Iterator[tuple[str, ...]]:
        if hasattr(os, "memfd_create") and Path("/proc/self/fd").is_dir():
            with os.fdopen(os.memfd_create("upload"), "wb") as file:
                file.write(self.content)
                file.flush()
                yield (f"/proc/self/fd/{file.fileno()}",)
        else:
            with private_folder() as folder:
                path = folder / "upload"
                path.write_bytes(self.content)
                yield (str(path),)

    def fingerprint(self) -> dict | None:
        """None: the content is gone with the process."""
        return None
