"""What of Parquet files can be read by itself: runs of row groups, and the rows of whole sets.

The values of a Parquet file may take much more memory than its bytes. A value that is repeated is written once, so a
file of some kilobytes may hold a text of a million letters in each of a million rows, or lists of any length. What is
decoded at once is therefore bounded by what the file says of its columns, and repeated texts are held once until a
piece of them, of a bounded size, is spelt out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ..domain import Domain
from ..domain.encoding import FIRST_ROW
from ..errors import RequestError
from .duck import plain_sentences
from .people import WholeNumbers, ascends, batches_of, gather
from .source import BATCH_ROWS, Part

DECODED_BYTES = 1 << 28  # Most that the values of a column may take at once; one value alone may take more.
LEVELS = 4  # Bytes for each value in a list, while it is read, that say where lists begin and end.
MOST_DECODED = 1 << 30  # Bytes that any column of a row group may take, however small the file is.
# How much larger than the file a column may say it is beyond that; honest tables shrink some tens of times.
MOST_TIMES = 1_000


def check_decoded(metadata: pq.FileMetaData, label: str) -> None:
    """Refuse a file that says of itself that its values are beyond measure larger than it is.

    Raises
    ------
    RequestError
        One sentence, before any value is decoded.
    """
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        for place in range(group.num_columns):
            chunk = group.column(place)
            many, stored = _bytes_of(chunk, group.num_rows), max(chunk.total_compressed_size, 1)
            if many > MOST_DECODED and many > MOST_TIMES * stored:
                raise RequestError(
                    f"A column of {label} would grow from {stored:,} bytes to {many:,} when it is read, and more than "
                    f"{MOST_TIMES:,} times is refused, as such a file is made to use up a computer's memory."
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


def fits(batch: pa.RecordBatch, rows: int) -> bool:
    """Whether so many rows take little memory, even if each has the longest text of the dictionaries of a batch.

    All texts that a row group points to are in those of its first row.
    """
    return rows * _longest(batch) <= DECODED_BYTES


def spelt_out(batch: pa.RecordBatch, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The same rows with their texts as the schema has them, in pieces whose texts take little memory.

    Raises
    ------
    RequestError
        When texts are repeated so often that writing them out would take more than any table does.
    """
    for column in _dictionaries(batch):
        lengths = pc.fill_null(pc.binary_length(column.dictionary), 0).cast(pa.int64())
        held, many = (pc.sum(each).as_py() or 0 for each in (lengths, lengths.take(column.indices)))
        if many > MOST_DECODED and many > MOST_TIMES * held:
            raise RequestError(
                f"The texts of {batch.num_rows:,} records would grow from {held:,} bytes to {many:,} when they are "
                f"read, and more than {MOST_TIMES:,} times is refused, as such a file is made to use up a computer's "
                "memory."
            )
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
    return (
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
    )


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
            if all(fits(first, at_once) for first in firsts if first is not None):
                repeated = []
    with pq.ParquetFile(path, read_dictionary=repeated, **reading) as file:
        for batch in file.iter_batches(at_once, row_groups=groups, columns=names):
            yield from spelt_out(batch.select(names), schema) if repeated else [batch.select(names)]
