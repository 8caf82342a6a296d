"""What every source offers, whatever it reads."""

from __future__ import annotations

import os
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from ..domain import FIRST_ROW, Domain
from ..errors import RequestError

BATCH_ROWS = 65_536
MAX_NAMES_SHOWN = 20


@dataclass(frozen=True)
class ColumnInfo:
    """Name of a column and the kind of its values: number, text, date, boolean, vector or other.

    ``length`` is how many numbers each vector holds, where the column's type says so; None otherwise.
    """

    name: str
    kind: str
    length: int | None = None


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


@dataclass(frozen=True)
class Paths:
    """Files on disk, in the order in which they are read."""

    label: str
    paths: tuple[str, ...]

    @contextmanager
    def opened(self) -> Iterator[tuple[str, ...]]:
        yield self.paths


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
            with tempfile.TemporaryDirectory(prefix="frostglass-") as folder:
                path = Path(folder, "upload")
                path.write_bytes(self.content)
                yield (str(path),)


class Source(ABC):
    """Records of a table, read as often as needed, never all at once.

    Attributes
    ----------
    columns : name and kind of every column, in order; all that is known before a domain is stated.
    label : how messages name the source.
    """

    columns: tuple[ColumnInfo, ...]
    label: str

    def batches(self, domain: Domain, rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """The domain's columns of all records that may be used, in batches of at most ``rows``.

        When the domain names an id column, at most the stated number of records of each person are kept, chosen at
        random (see `core.sources.people`), in an order that means nothing.

        Raises
        ------
        RequestError
            When a column is absent, the source is damaged, or a value cannot be what the domain says; while the
            batches are drawn, too, as nothing is read before.
        """
        unit = domain.unit.column
        self.check_names([*domain.names, *([] if unit is None else [unit])])
        for column in domain.columns:
            if column.kind == "numeric" and self.kind(column.name) == "date":
                raise RequestError(
                    f"The column {column.name!r} holds dates or times where numbers are expected: turn them into a "
                    "number first, for example days since a fixed date or the hour of the day."
                )
        return self._batches(domain, rows)

    @abstractmethod
    def _batches(self, domain: Domain, rows: int) -> Iterator[pa.RecordBatch]:
        """The batches, for a domain whose columns exist."""

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


def column_of_arrow(field: pa.Field) -> ColumnInfo:
    """What is known of a column from its Arrow type."""
    length = field.type.list_size if pa.types.is_fixed_size_list(field.type) else None
    return ColumnInfo(field.name, kind_of_arrow(field.type), length)


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
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return "vector" if kind_of_arrow(kind.value_type) == "number" else "other"
    return "other"
