"""Parquet files, row group by row group.

Two readers. Arrow's decodes the chosen columns page by page, several row groups at once where they are small, and gives
them in the order of the file. It takes a third of the processor time of a query where values lie as they are, and up to
1.4 times as much where they lie in dictionaries, and it can begin at any row group; it is used where the files say the
same of the columns and nothing has to be converted.
DuckDB's reads everything else: files that differ in their types, folders whose names are columns (``year=2026``), files
in an object store, and selections by person, which are sorted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..domain import Cyclic, Dates, Domain
from ..domain.column import is_list
from ..runtime.environment import cores, in_order
from .duck import literals, plain_sentences
from .people import PAIR_ROWS, Pairs, WholeNumbers, are_whole_numbers, cut_between_sets
from .queried import QueriedSource
from .row_groups import EdgeRows, Footer, Piece, RowGroups, pages
from .source import Location, Part, Paths, passed_over

# Rows that are worth a part of their own, where row groups are smaller: some tenths of a second of work.
PART_ROWS = 1 << 21
READ_ROWS = 1 << 18  # Rows that are worth a thread's while, where row groups are smaller, when several are read at once
READ_BYTES = 1 << 25  # Most that the values of such a piece may take, as all of them are held until their turn comes.
MOST_READERS = 4


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
                calls = (partial(_all_of, run, domain, rows) for run in runs)
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
        for schema in others:
            if any(
                schema.get_field_index(name) < 0 or schema.field(name).type != kind
                for name, kind in zip(names, types, strict=True)
            ):
                return None
        return types


def _all_of(run: RowGroups, domain: Domain, rows: int) -> list[pa.RecordBatch]:
    """What a thread reads before its turn comes."""
    return list(run.batches(domain, rows))


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
    if pa.types.is_dictionary(kind):
        return _is_plain(kind.value_type) and not is_list(kind.value_type)
    if is_list(kind):
        return _is_plain(kind.value_type) and not is_list(kind.value_type)
    return (
        pa.types.is_integer(kind)
        or pa.types.is_float32(kind)
        or pa.types.is_float64(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_decimal128(kind)
        or pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
    )
