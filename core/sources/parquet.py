"""Parquet files, row group by row group: runs of row groups, and the rows of whole sets.

Two readers. Arrow's decodes the chosen columns page by page, several row groups at once where they are small, and gives
them in the order of the file. It takes a third of the processor time of a query where values lie as they are, and up to
1.4 times as much where they lie in dictionaries, and it can begin at any row group; it is used where the files say the
same of the columns and nothing has to be converted.
DuckDB's reads everything else: files that differ in their types, folders whose names are columns (``year=2026``), files
in an object store, and selections by person, which are sorted.

The values of a Parquet file may take much more memory than its bytes. A value that is repeated is written once, so a
file of some kilobytes may hold a text of a million letters in each of a million rows, or lists of any length. What is
decoded at once is therefore bounded by what the file says of its columns, and repeated texts are held once until a
piece of them, of a bounded size, is spelt out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ..domain import Cyclic, Dates, Domain
from ..domain.column import is_list
from ..domain.encoding import FIRST_ROW
from ..errors import RequestError
from ..runtime.environment import cores, in_order
from .duck import literals, plain_sentences
from .people import PAIR_ROWS, Pairs, WholeNumbers, are_whole_numbers, ascends, batches_of, cut_between_sets, gather
from .queried import QueriedSource
from .source import BATCH_ROWS, Location, Part, Paths, passed_over

DECODED_BYTES = 1 << 28  # Most that the values of a column may take at once; one value alone may take more.
LEVELS = 4  # Bytes for each value in a list, while it is read, that say where lists begin and end.
MOST_DECODED = 1 << 30  # Bytes that any column of a row group may take, however small the file is.
# How much larger than the file a column may say it is beyond that; honest tables shrink some tens of times.
MOST_TIMES = 1_000


def check_decoded(metadata: pq.FileMetaData, label: str) -> None:
    """Refuse a file, before any value is decoded, that says that its values are beyond measure larger than it is."""
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        for place in range(group.num_columns):
            chunk = group.column(place)
            stored = max(chunk.total_compressed_size, 1)
            _check_growth(f"A column of {label}", stored, _bytes_of(chunk, group.num_rows))


def _check_growth(what: str, held: int, many: int) -> None:
    if many > MOST_DECODED and many > MOST_TIMES * held:
        raise RequestError(
            f"{what} would grow from {held:,} bytes to {many:,} when read, and more than {MOST_TIMES:,} times is "
            "refused, as such a file is made to use up a computer's memory."
        )


def rows_that_fit(group: pq.RowGroupMetaData, names: Sequence[str]) -> int:
    """How many rows of a row group may be decoded at once, by what the file says of these columns."""
    sizes = [
        max(1, _bytes_of(chunk, group.num_rows))
        for chunk in map(group.column, range(group.num_columns))
        if any(f"{chunk.path_in_schema}.".startswith(f"{name}.") for name in names)
    ]
    return max(1, DECODED_BYTES * group.num_rows // max(sizes, default=1))


def repeated_texts(schema: pa.Schema, groups: Sequence[pq.RowGroupMetaData], names: Sequence[str]) -> list[str]:
    """Those of some columns whose values are texts that are written once and pointed to."""
    pointed_to = {
        chunk.path_in_schema
        for group in groups
        for chunk in map(group.column, range(group.num_columns))
        if chunk.has_dictionary_page
    }
    return [name for name in names if name in pointed_to and _is_text(schema.field(name).type)]


def spelt_out(batch: pa.RecordBatch, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The same rows with their texts as the schema has them, in pieces whose texts take little memory.

    Refuses texts that are repeated so often that writing them out would take more than any table does.
    """
    for column in _dictionaries(batch):
        lengths = pc.fill_null(pc.binary_length(column.dictionary), 0).cast(pa.int64())
        held, many = (pc.sum(each).as_py() or 0 for each in (lengths, lengths.take(column.indices)))
        _check_growth(f"The texts of {batch.num_rows:,} records", held, many)
    rows = max(1, DECODED_BYTES // max(_longest(batch), 1))
    wanted = pa.schema([schema.field(name) for name in batch.schema.names])
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows).cast(wanted)


def _longest(batch: pa.RecordBatch) -> int:
    lengths = (pc.max(pc.binary_length(column.dictionary)).as_py() for column in _dictionaries(batch))
    return max((length or 0 for length in lengths), default=0)


def _dictionaries(batch: pa.RecordBatch) -> Iterator[pa.DictionaryArray]:
    for column in batch.columns:
        if pa.types.is_dictionary(column.type) and _is_text(column.type.value_type):
            yield column


def _bytes_of(chunk: pq.ColumnChunkMetaData, rows: int) -> int:
    """Bytes that a column of a row group takes: without compression as it is stored, or as values in lists."""
    width = {"BOOLEAN": 1, "INT32": 4, "FLOAT": 4, "INT96": 12}.get(chunk.physical_type, 8)
    listed = chunk.num_values * (width + LEVELS) if chunk.num_values > rows else 0
    return max(chunk.total_uncompressed_size, listed)


def _is_text(kind: pa.DataType) -> bool:
    return kind in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())


# Of each column that are read from a file at a time, so that a row group of any size streams in little memory.
PAGES_BYTES = 1 << 20


@dataclass(frozen=True)
class Footer:
    """What the end of a file says: its columns, and how many rows each row group has."""

    schema: pa.Schema
    groups: tuple[int, ...]

    @classmethod
    def of(cls, path: str, label: str) -> Footer:
        """Read it, and refuse a file that is made to use up memory; messages call it by the label."""
        with pq.ParquetFile(path) as file:
            check_decoded(file.metadata, label)
            groups = (file.metadata.row_group(number).num_rows for number in range(file.num_row_groups))
            return cls(file.schema_arrow.remove_metadata(), tuple(groups))

    @property
    def rows(self) -> int:
        """Rows of the file."""
        return sum(self.groups)


@dataclass(frozen=True)
class RowGroups(Part):
    """Consecutive row groups of one file."""

    rows: int
    # Of the file, and how messages name the source.
    path: str
    label: str
    groups: tuple[int, ...]  # numbers of row groups
    first_row: int  # Place of the first record in the source.

    @property
    def files(self) -> tuple[str, ...]:
        return (self.path,)

    def batches(self, domain: Domain, rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        place = self.first_row
        with plain_sentences(self.label):
            for batch in pages(self.path, domain.fields, rows, self.groups):
                yield batch.replace_schema_metadata({FIRST_ROW: str(place)})
                place += batch.num_rows


@dataclass(frozen=True)
class Piece:
    """Some consecutive rows of a file: its row groups, the rows of theirs to pass over, and how many to take."""

    path: str
    groups: tuple[int, ...]
    skip: int
    rows: int


@dataclass(frozen=True)
class EdgeRows(Part):
    """The rows of some whole sets, in ascending order of their ids."""

    label: str  # How messages name the source.
    pieces: tuple[Piece, ...]  # Where the rows are.
    first_row: int  # Place of the first one in the source.

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(piece.path for piece in self.pieces)

    def batches(self, domain: Domain, rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        (name,), id_name = domain.names, domain.unit.id_column
        refuse = domain.missing == "refuse"
        pairs = WholeNumbers(self.label, self._read, id_name, name, refuse, None, self.first_row).in_order()
        for batch in batches_of(gather(pairs, ascends, self.label), id_name, name, rows):
            yield batch.select([name])

    def _read(self, names: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        for piece in self.pieces:
            skip, left = piece.skip, piece.rows
            for batch in pages(piece.path, names, rows, piece.groups):
                chosen = batch.slice(skip, left)
                skip, left = max(0, skip - len(batch)), left - len(chosen)
                if len(chosen):
                    yield chosen
                if not left:
                    break


def pages(path: str, names: Sequence[str], rows: int, groups: Sequence[int]) -> Iterator[pa.RecordBatch]:
    """Some columns of some row groups, in batches of at most so many rows, and of fewer where they would be large."""
    names = list(names)
    reading = {"pre_buffer": False, "buffer_size": PAGES_BYTES, "page_checksum_verification": True}
    with pq.ParquetFile(path) as file:
        schema, chosen = file.schema_arrow, [file.metadata.row_group(number) for number in groups]
    at_once = min([rows, *(rows_that_fit(group, names) for group in chosen)])
    repeated = repeated_texts(schema, chosen, names)
    if repeated:
        with pq.ParquetFile(path, read_dictionary=repeated, **reading) as file:
            firsts = (next(file.iter_batches(1, [number], repeated), None) for number in groups)
            # The dictionaries of its first row have all texts of a row group, the longest of which each row may have.
            if all(at_once * _longest(first) <= DECODED_BYTES for first in firsts if first is not None):
                repeated = []
    with pq.ParquetFile(path, read_dictionary=repeated, **reading) as file:
        for batch in file.iter_batches(at_once, row_groups=groups, columns=names):
            yield from spelt_out(batch.select(names), schema) if repeated else [batch.select(names)]


# Rows that are worth a part of their own, where row groups are smaller: some tenths of a second of work.
PART_ROWS = 1 << 21
READ_ROWS = 1 << 18  # Rows that are worth a thread's while, where row groups are smaller, when several are read at once
READ_BYTES = 1 << 25  # Most that the values of such a piece may take, as all of them are held until their turn comes.
MOST_READERS = 4
PLAIN = (pa.float32(), pa.float64(), pa.bool_(), pa.string(), pa.large_string())  # As are whole numbers and decimals.


class ParquetSource(QueriedSource):
    """Records of Parquet files, of which only the chosen columns are read."""

    def __init__(self, location: Location) -> None:
        self._known: tuple[dict | None, tuple[Footer, ...]] | None = None
        super().__init__(location, lambda paths: f"read_parquet({literals(paths)})")

    def _describe(self, paths: Sequence[str]) -> dict[str, str]:
        """The types; lists of one length are stated in the file's Arrow schema, which DuckDB does not read."""
        types = super()._describe(paths)
        with plain_sentences(self.label):
            fixed = {
                field.name: field.type.list_size
                for field in pq.read_schema(paths[0])
                if pa.types.is_fixed_size_list(field.type)
            }
        return {
            name: f"{kind.removesuffix('[]')}[{fixed[name]}]" if kind.endswith("[]") and name in fixed else kind
            for name, kind in types.items()
        }

    def rows_total(self) -> int | None:
        return sum(footer.rows for footer in self._footers)

    def pairs(self, domain: Domain) -> Pairs:
        queried = super().pairs(domain)
        (name,), id_name = domain.names, domain.unit.id_column
        types = self._types([id_name, name])
        if types is None or not are_whole_numbers(*types):
            return queried
        return WholeNumbers(self.label, self._read, id_name, name, domain.missing == "refuse", queried)

    def _read(self, names: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        """Some columns of all files, by Arrow's reader."""
        with self.location.opened() as paths:
            for path, footer in zip(paths, self._footers, strict=True):
                if footer.rows:
                    yield from pages(path, names, rows, range(len(footer.groups)))

    def _parts(self, domain: Domain) -> tuple[Part, ...]:
        if not isinstance(self.location, Paths) or not self._plain(domain):
            return ()
        return self._row_groups(self.location.paths, PART_ROWS)

    def _parts_of_sets(self, domain: Domain) -> tuple[Part, ...]:
        pairs = self.pairs(domain)
        if not isinstance(self.location, Paths) or not isinstance(pairs, WholeNumbers):
            return ()
        with plain_sentences(self.label):
            ids = (batch.column(0) for batch in self._read([pairs.id_name], PAIR_ROWS))
            cuts = cut_between_sets(ids, PART_ROWS)
        return tuple(
            EdgeRows(None, self.label, self._pieces(self.location.paths, *rows), rows[0]) for rows in pairwise(cuts)
        )

    def _pieces(self, paths: Sequence[str], start: int, stop: int) -> tuple[Piece, ...]:
        """The row groups that hold some rows, a piece a file."""
        pieces: list[Piece] = []
        place = 0
        for path, footer in zip(paths, self._footers, strict=True):
            ends = np.cumsum([place, *footer.groups])
            first, last = max(start, place), min(stop, place := int(ends[-1]))
            if first < last:
                begin = int(np.searchsorted(ends, first, side="right")) - 1
                end = int(np.searchsorted(ends, last))
                pieces.append(Piece(path, tuple(range(begin, end)), first - int(ends[begin]), last - first))
        return tuple(pieces)

    def _batches(self, domain: Domain, rows: int) -> Iterator[pa.RecordBatch]:
        return self._batches_from(domain, rows, 0)

    def _batches_from(self, domain: Domain, rows: int, start: int) -> Iterator[pa.RecordBatch]:
        if not self._plain(domain):
            yield from passed_over(super()._batches(domain, rows), start)
            return
        with self.location.opened() as paths:
            runs = [run for run in self._row_groups(paths, READ_ROWS) if run.first_row + run.rows > start]
            skip = start - runs[0].first_row if runs and start else 0
            readers = min(cores(), MOST_READERS, len(runs))
            if readers > 1 and max(run.rows for run in runs) * self._bytes_a_row(domain) <= READ_BYTES:
                calls = (partial(lambda run: list(run.batches(domain, rows)), run) for run in runs)
                with closing(in_order(calls, readers, readers + 1)) as ready:
                    yield from passed_over(chain.from_iterable(ready), skip)
            else:
                yield from passed_over(chain.from_iterable(run.batches(domain, rows) for run in runs), skip)

    def _bytes_a_row(self, domain: Domain) -> float:
        """Memory that the values of a row take; infinite where they may be of any length."""
        kinds = [self._footers[0].schema.field(name).type for name in domain.fields]
        return sum(kind.bit_width / 8 if pa.types.is_primitive(kind) else math.inf for kind in kinds)

    def _row_groups(self, paths: Sequence[str], at_least: int) -> tuple[RowGroups, ...]:
        """All row groups in order, in runs within a file that are worth opening it for."""
        found: list[RowGroups] = []
        first_row = 0
        for path, footer in zip(paths, self._footers, strict=True):
            for groups in _runs(footer.groups, at_least):
                rows = sum(footer.groups[groups.start : groups.stop])
                found.append(RowGroups(rows, path, self.label, tuple(groups), first_row))
                first_row += rows
        return tuple(found)

    @property
    def _footers(self) -> tuple[Footer, ...]:
        """What each file says of itself, read again when a file has changed: rows by an old footer could be no set."""
        found = self.location.fingerprint()
        if self._known is None or self._known[0] != found:
            with self.location.opened() as paths, plain_sentences(self.label):
                self._known = found, tuple(Footer.of(path, self.label) for path in paths)
        return self._known[1]

    def _plain(self, domain: Domain) -> bool:
        """Whether Arrow's reader gives what DuckDB's would: all files alike, no column of the path, simple types."""
        types = self._types(domain.fields)
        if domain.unit.column is not None or types is None:
            return False
        # A date is the same whichever reads it; the text of one, which a category is, has its digits from the type.
        as_text = {column.field for column in domain.columns if not isinstance(column, (Cyclic, Dates))}
        return all(
            _is_plain(kind) or (name not in as_text and (pa.types.is_date(kind) or pa.types.is_timestamp(kind)))
            for name, kind in zip(domain.fields, types, strict=True)
        )

    def _types(self, names: Sequence[str]) -> list[pa.DataType] | None:
        """Types of these columns; None where the files differ in them, or the name of a folder is a column."""
        with self.location.opened() as paths:
            if any("=" in str(Path(path).parent) for path in paths):
                return None
        first, *others = (footer.schema for footer in self._footers)
        places = [first.get_field_index(name) for name in names]
        if min(places) < 0:
            return None
        types = [first.field(place).type for place in places]
        asked = [(schema, name, kind) for schema in others for name, kind in zip(names, types, strict=True)]
        alike = (schema.get_field_index(name) >= 0 and schema.field(name).type == kind for schema, name, kind in asked)
        return types if all(alike) else None


def _runs(sizes: Sequence[int], at_least: int) -> Iterator[range]:
    """Consecutive numbers of row groups, whose sizes add up to so many rows or a little more; the rest apart."""
    first, held = 0, 0
    for number, size in enumerate(sizes):
        held += size
        if held >= at_least:
            yield range(first, number + 1)
            first, held = number + 1, 0
    if held:
        yield range(first, len(sizes))


def _is_plain(kind: pa.DataType) -> bool:
    """Whether the values of a type are the same whichever of the two reads them."""
    if pa.types.is_dictionary(kind) or is_list(kind):
        return _is_plain(kind.value_type) and not is_list(kind.value_type)
    return pa.types.is_integer(kind) or pa.types.is_decimal128(kind) or kind in PLAIN
