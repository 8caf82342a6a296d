"""NumPy arrays, in memory or in files; a large .npy file is mapped, never read as a whole."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pyarrow as pa

from ..domain import Column, Domain, Items, Vector
from ..domain.encoding import arrow_array, arrow_table
from ..errors import RequestError
from .arrow_tables import ArrowSource
from .duck import plain_sentences
from .source import BATCH_ROWS, ColumnInfo, Location, Part, Source

MAX_ARCHIVE_BYTES = 4 << 30


class ArraySource(Source):
    """An array (n, columns) or (n,), whose columns have names only if they are given.

    Without names, the columns of a domain are taken in order, a column of vectors taking as many as its length and one
    of sets all of them; where sets are gathered, the first is the id and the second the item.
    """

    def __init__(self, array: np.ndarray, label: str, names: Sequence[str] | None = None) -> None:
        if array.ndim not in (1, 2) or array.shape[1:] == (0,) or array.dtype.kind not in "biufUM":
            raise RequestError(
                f"{label[:1].upper()}{label[1:]} must be a 1-d or 2-d array of numbers, with a row for each record."
            )
        self.array, self.label = array if array.ndim == 2 else array[:, None], label
        width = self.array.shape[1]
        if names is not None and len(names) != width:
            raise RequestError(f"There are {len(names):,} names for the {width:,} columns of {label}.")
        self.names = None if names is None else tuple(names)
        kind = {"b": "boolean", "U": "text", "M": "date"}.get(array.dtype.kind, "number")
        shown = self.names or [f"column {place}" for place in range(1, width + 1)]
        self.columns = tuple(ColumnInfo(name, kind) for name in shown)

    def as_vectors(self, name: str) -> ArraySource:
        """The same records as one column of vectors, each a row of the array."""
        vectors = ArraySource(self.array, self.label)
        vectors.columns = (ColumnInfo(name, "vector", self.array.shape[1], lists=True),)
        return vectors

    def rows_total(self) -> int | None:
        return len(self.array)

    def batches(self, domain: Domain, rows: int = BATCH_ROWS, start: int = 0) -> Iterator[pa.RecordBatch]:
        return self._as_arrow(domain).batches(domain, rows, start)

    def sets(self, domain: Domain, rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        return self._as_arrow(domain).sets(domain, rows)

    def parts(self, domain: Domain) -> tuple[Part, ...]:
        return self._as_arrow(domain).parts(domain)

    def _batches(self, domain: Domain, rows: int) -> Iterator[pa.RecordBatch]:
        return self._as_arrow(domain)._batches(domain, rows)

    def _as_arrow(self, domain: Domain) -> ArrowSource:
        """The array with names: its own, or the domain's in order."""
        if self.names is not None:
            places = {name: slice(place, place + 1) for place, name in enumerate(self.names)}
            vectors: set[str] = set()
        else:
            places, vectors = self._in_order(domain), {c.field for c in domain.columns if _is_wide(c)}

        def column(name: str, start: int, stop: int) -> pa.Array:
            block = np.asarray(self.array[start:stop, places[name]])
            return arrow_array(_native(block if name in vectors else block[:, 0]), name)

        def read(names: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
            for start in range(0, len(self.array), rows):
                yield pa.RecordBatch.from_arrays([column(name, start, start + rows) for name in names], list(names))

        schema = pa.schema([(name, column(name, 0, 1).type) for name in places])
        return ArrowSource(self.label, schema, read, len(self.array))

    def _in_order(self, domain: Domain) -> dict[str, slice]:
        width = self.array.shape[1]
        if domain.gathers:
            if width != 2:
                raise RequestError(f"Each row of {self.label} must be an id and an item, not {width:,} numbers.")
            return {domain.unit.id_column: slice(0, 1), domain.names[0]: slice(1, 2)}
        if domain.holds_sets and domain.unit.column is None:
            return {domain.names[0]: slice(0, width)}
        wide = {column.field: column.length for column in domain.columns if isinstance(column, Vector)}
        widths = [wide.get(name, 1) for name in domain.fields]
        if sum(widths) != width or domain.unit.column is not None:
            raise RequestError(
                f"The columns of {self.label} have no names, so they are taken in the domain's order: it needs exactly "
                f"the array's {width:,} columns and no id column, or the names given in `columns`."
            )
        ends = np.cumsum(widths)
        return {
            name: slice(int(end - width), int(end))
            for name, end, width in zip(domain.fields, ends, widths, strict=True)
        }


def _is_wide(column: Column) -> bool:
    """Whether a value of the column is several numbers of a row."""
    return isinstance(column, Vector) or (isinstance(column, Items) and not column.gathered)


def array_source(array: np.ndarray, label: str, names: Sequence[str] | None = None) -> Source:
    """An array as a source; the fields of a structured array are columns by name."""
    if array.dtype.names is None:
        return ArraySource(array, label, names)
    fields = {name: _native(array[name]) for name in array.dtype.names}
    return ArrowSource.of_table(arrow_table(fields, list(fields)), label)


def npy_file(location: Location, names: Sequence[str] | None = None) -> Source:
    """A .npy file, mapped into memory."""
    with location.opened() as (path,), _damage_as_one_error(location.label):
        if zipfile.is_zipfile(path):
            raise ValueError("an archive, which np.load would read as one")
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    return array_source(array, location.label, names)


def npz_file(location: Location, names: Sequence[str] | None = None) -> Source:
    """A .npz file: one array, or arrays of the same length that are columns by name (2-d ones of vectors)."""
    with location.opened() as (path,), _damage_as_one_error(location.label):
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size > MAX_ARCHIVE_BYTES:
            raise RequestError(
                f"The arrays in {location.label} need more than {MAX_ARCHIVE_BYTES >> 30} GiB of memory: save them as "
                ".npy, which is read piece by piece, or as Parquet."
            )
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: _native(archive[name]) for name in archive.files}
    if len(arrays) == 1:
        return array_source(next(iter(arrays.values())), location.label, names)
    table = arrow_table(arrays, list(arrays), location.label)
    return ArrowSource.of_table(table, location.label)


@contextmanager
def _damage_as_one_error(label: str) -> Iterator[None]:
    """One sentence for whatever a damaged header or archive makes NumPy stumble over, which is of many types."""
    with plain_sentences(label):
        try:
            yield
        except (RequestError, ValueError, OSError, MemoryError):
            raise
        except Exception:
            raise ValueError("damaged") from None


def _native(array: np.ndarray) -> np.ndarray:
    """The array in types that Arrow knows."""
    if array.dtype == np.longdouble:
        array = array.astype(np.float64)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
