"""What of Parquet files can be read by itself: runs of row groups, and the rows of whole sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from ..domain import Domain
from ..domain.batches import FIRST_ROW
from .decoded import check_decoded, fits, repeated_texts, rows_that_fit, spelt_out
from .duck import plain_sentences
from .gathering import ascends, batches_of, gather
from .pairs import WholeNumbers
from .source import BATCH_ROWS, Part

PAGES_BYTES = 1 << 20
"""Of each column that are read from a file at a time, so that a row group of any size streams in little memory."""


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
    """Consecutive row groups of one file.

    Attributes
    ----------
    rows : int
        Number of records.
    path, label : str
        Of the file, and how messages name the source.
    groups : tuple[int, ...]
        Numbers of the row groups.
    first_row : int
        Place of the first record in the source.
    """

    rows: int
    path: str
    label: str
    groups: tuple[int, ...]
    first_row: int

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
    """The rows of some whole sets, in ascending order of their ids.

    Attributes
    ----------
    label : str
        How messages name the source.
    pieces : tuple[Piece, ...]
        Where the rows are.
    first_row : int
        Place of the first one in the source.
    """

    label: str
    pieces: tuple[Piece, ...]
    first_row: int

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
