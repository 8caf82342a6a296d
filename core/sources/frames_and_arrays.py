"""Sources of frames, tables and NumPy arrays in memory, and of Arrow, Feather and NumPy's files, which may be mapped.

Where a person may have several records, which of them count is drawn at random at every reading. Who reads several
times and needs the same records each time reads them into memory once, to be divided and read again.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from ..domain import Column, Domain, Items, Vector
from ..domain.column import arrow_array, arrow_table
from ..domain.written import beside_text
from ..errors import RequestError
from ..privacy.budget import EACH_RECORD
from .duck import Scan, identifier, plain_sentences
from .people import HALF, PAIR_ROWS, Pairs, Person, Reads, WholeNumbers, are_whole_numbers
from .queried import QueriedPairs, by_person
from .source import BATCH_ROWS, ColumnInfo, Location, Part, Paths, Source, column_of_arrow, numbered


class ArrowSource(Source):
    """Records that can be read any number of times as Arrow batches.

    `read`: Gives the batches of some columns, from the beginning at every call.
    """

    def __init__(self, label: str, schema: pa.Schema, read: Reads, total: int | None = None) -> None:
        self.label, self.schema, self.read, self.total = label, schema, read, total
        self.columns = tuple(map(column_of_arrow, schema))

    @classmethod
    def of_table(cls, table: pa.Table, label: str) -> ArrowSource:
        """A table in memory."""
        return cls(
            label,
            table.schema,
            lambda names, rows: iter(table.select(list(names)).to_batches(max_chunksize=rows)),
            table.num_rows,
        )

    def rows_total(self) -> int | None:
        return self.total

    def _batches(self, domain: Domain, rows: int) -> Iterator[pa.RecordBatch]:
        if domain.unit.column is None:
            with plain_sentences(self.label):
                yield from numbered(self.read(domain.fields, rows))
            return
        scan, person, values, _ = self._queried(domain, rows)
        yield from by_person(scan, domain, person, values, [], rows)

    def pairs(self, domain: Domain) -> Pairs:
        scan, person, values, types = self._queried(domain, PAIR_ROWS)
        (name,), id_name = domain.names, domain.unit.id_column
        queried = QueriedPairs.of(domain, self.label, lambda: nullcontext(scan), person, values[name], types[name])
        if not are_whole_numbers(self.schema.field(id_name).type, self.schema.field(name).type):
            return queried
        return WholeNumbers(self.label, self.read, id_name, name, domain.missing == "refuse", queried)

    def _queried(self, domain: Domain, rows: int) -> tuple[Scan, Person, dict[str, str], dict[str, str]]:
        """The records as a table of DuckDB's: the id and the values in SQL, and the types of all columns."""
        names = list(dict.fromkeys([*domain.fields, domain.unit.id_column]))
        schema = pa.schema([(name, _for_duckdb(self.schema.field(name).type)) for name in names])

        def make_tables() -> dict[str, pa.RecordBatchReader]:
            batches = scan.reading(batch.cast(schema) for batch in self.read(names, rows))
            return {"records": pa.RecordBatchReader.from_batches(schema, batches)}

        scan, types = Scan("records", self.label, make_tables=make_tables), _types_in_sql(schema, self.label)
        unit = domain.unit.id_column
        person = Person.of(unit, HALF if pa.types.is_float16(self.schema.field(unit).type) else types[unit])
        return scan, person, {name: identifier(name) for name in domain.fields}, types


@lru_cache(maxsize=64)
def _types_in_sql(schema: pa.Schema, label: str) -> dict[str, str]:
    """DuckDB's types of the columns of a schema, which it tells from the schema alone; to open it takes 20 ms."""
    scan = Scan("records", label, make_tables=lambda: {"records": pa.RecordBatchReader.from_batches(schema, ())})
    return {name: kind for name, kind, *_ in scan.fetch("DESCRIBE SELECT * FROM records")}


MIXED = "mixed-integer"  # What pandas calls a column of numbers and texts.


class FrameSource(Source):
    """A pandas frame; only the columns that a domain names are ever converted."""

    def __init__(self, frame: pd.DataFrame) -> None:
        # Column labels may be numbers; a domain's names are texts.
        self.label, self.frame = "the frame", frame.set_axis([str(name) for name in frame.columns], axis="columns")
        kinds = [_kind_of_pandas(self.frame.iloc[:, place]) for place in range(self.frame.shape[1])]
        self.columns = tuple(ColumnInfo(name, kind) for name, kind in zip(self.frame.columns, kinds, strict=True))

    def rows_total(self) -> int | None:
        return len(self.frame)

    def _batches(self, domain: Domain, rows: int) -> Iterator[pa.RecordBatch]:
        return self._as_arrow(domain)._batches(domain, rows)

    def pairs(self, domain: Domain) -> Pairs:
        return self._as_arrow(domain).pairs(domain)

    def _as_arrow(self, domain: Domain) -> ArrowSource:
        person = [] if domain.unit.column is None else [domain.unit.column]
        names = list(dict.fromkeys([*domain.fields, *person]))
        written = {column.field for column in domain.columns if column.as_written} - set(person)
        frame = self.frame[names].copy(deep=False)
        for name in names:
            # Numbers among words for "missing", as spreadsheets give them: all are read as they are written.
            if name in written and pd.api.types.infer_dtype(frame[name], skipna=True) == MIXED:
                frame[name] = frame[name].map(beside_text, na_action="ignore")
        return ArrowSource.of_table(arrow_table(frame, names, "The frame"), self.label)


def arrow_file(location: Location) -> ArrowFiles:
    """Arrow or Feather files (the file format or the stream format), mapped into memory batch by batch."""
    with location.opened() as paths, plain_sentences(location.label):
        schemas = [_open_ipc(path)[0] for path in paths]
    if any(schema != schemas[0] for schema in schemas):
        raise RequestError(f"All of {location.label} must have the same columns.")

    return ArrowFiles(location, schemas[0])


class ArrowFiles(ArrowSource):
    """Records of Arrow or Feather files that have the same columns."""

    def __init__(self, location: Location, schema: pa.Schema) -> None:
        super().__init__(location.label, schema, self._read_all)
        self.location = location

    def fingerprint(self) -> dict | None:
        return self.location.fingerprint()

    def _parts(self, domain: Domain) -> tuple[Part, ...]:
        return tuple(ArrowFile(None, path) for path in self.location.paths) if isinstance(self.location, Paths) else ()

    def _read_all(self, names: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        with self.location.opened() as paths:
            for path in paths:
                yield from _read_ipc(path, names, rows)


@dataclass(frozen=True)
class ArrowFile(Part):
    """One file of a source; its rows are counted from its beginning."""

    path: str

    @property
    def files(self) -> tuple[str, ...]:
        return (self.path,)

    def batches(self, domain: Domain, rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        with plain_sentences(f"the file {Path(self.path).name!r}"):
            yield from numbered(_read_ipc(self.path, domain.fields, rows))


def _read_ipc(path: str, names: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
    """Some columns of a file, in batches of at most so many rows."""
    for batch in _open_ipc(path)[1]:
        chosen = batch.select(list(names))
        chosen.validate(full=True)  # offsets of a damaged file could point anywhere
        for start in range(0, batch.num_rows, rows):
            yield chosen.slice(start, rows)


def _open_ipc(path: str) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """Schema and batches of a file in either format."""
    source = pa.memory_map(path)
    is_file = source.read(6) == b"ARROW1"
    source.seek(0)
    if not is_file:
        stream = pa.ipc.open_stream(source)
        return stream.schema, iter(stream)
    file = pa.ipc.open_file(source)
    return file.schema, (file.get_batch(number) for number in range(file.num_record_batches))


def _for_duckdb(kind: pa.DataType) -> pa.DataType:
    """The same type, or the next larger one where DuckDB doesn't know it."""
    if pa.types.is_float16(kind):
        return pa.float32()
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_for_duckdb(kind.value_type), kind.list_size)
    return pa.list_(_for_duckdb(kind.value_type)) if pa.types.is_list(kind) else kind


def _kind_of_pandas(series: pd.Series) -> str:
    if isinstance(series.dtype, pd.CategoricalDtype):
        return _kind_of_pandas(series.cat.categories.to_series())
    if pd.api.types.is_bool_dtype(series.dtype):
        return "boolean"
    if pd.api.types.is_numeric_dtype(series.dtype):
        return "number"
    if pd.api.types.is_datetime64_any_dtype(series.dtype) or pd.api.types.is_timedelta64_dtype(series.dtype):
        return "date"
    inferred = pd.api.types.infer_dtype(series, skipna=True)
    kinds = {"string": "text", "boolean": "boolean", "integer": "number", "floating": "number", "decimal": "number"}
    kinds[MIXED] = "text"
    kinds |= dict.fromkeys(("date", "datetime", "datetime64", "time", "timedelta"), "date")
    return kinds.get(inferred, "other")


class Drawn(ArrowSource):
    """The columns of a domain of records that were drawn already, so that a person has no more of them than may be."""

    def __init__(self, table: pa.Table, label: str) -> None:
        made = ArrowSource.of_table(table, label)
        super().__init__(label, made.schema, made.read, made.total)
        self.table = table

    @classmethod
    def of(cls, source: Source, domain: Domain, most: int) -> Drawn:
        """Read a source once.

        `most`: Numbers that are held in memory; RequestError where there are more. RequestError: As `Source.batches`
        does, and when the records are too many to be held.
        """
        parts, held = [], 0
        for batch in source.batches(domain):
            held += len(batch) * domain.dimensions
            if held > most:
                raise RequestError(
                    f"All records are held in memory for this, at most {most:,} numbers: give it fewer records or "
                    "columns."
                )
            parts.append(batch)
        # That nobody is there is no reason to refuse, which would tell it.
        table = pa.Table.from_batches(parts) if parts else pa.table({name: pa.nulls(0) for name in domain.fields})
        return cls(table, source.label)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def batches(self, domain: Domain, rows: int = BATCH_ROWS, start: int = 0) -> Iterator[pa.RecordBatch]:
        return super().batches(replace(domain, unit=EACH_RECORD), rows, start)

    def where(self, chosen: np.ndarray) -> Drawn:
        """Some of them, bool (n,)."""
        return Drawn(self.table.filter(pa.array(chosen)), self.label)


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
        return self._as_arrow(domain.read).batches(domain, rows, start)

    def sets(self, domain: Domain, rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        return self._as_arrow(domain).sets(domain, rows)

    def parts(self, domain: Domain) -> tuple[Part, ...]:
        return self._as_arrow(domain.read).parts(domain)

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
