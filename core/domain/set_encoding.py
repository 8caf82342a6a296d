"""Records that are sets: how they are read from a column of lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd
import pyarrow as pa

from ..errors import RequestError
from .arrow import arrow_table
from .items import Items
from .sets import Sets
from .unfit import refuse_query, refuse_record


@dataclass(frozen=True)
class SetEncoding:
    """How records become sets; an empty set is a missing value, as it is like no other.

    Parameters
    ----------
    column : Items
        The column that holds the sets.
    missing : str
        What becomes of a missing value: "drop" or "refuse".
    """

    column: Items
    missing: str

    def encode(self, batch: pa.RecordBatch | pa.Table) -> Sets:
        """The sets that are kept."""
        sets = self._read(batch)
        empty = sets.sizes == 0
        if not empty.any():
            return sets
        if self.missing == "refuse":
            refuse_record({self.column.name: empty}, {}, batch)
        return sets[~empty]

    def encode_queries(self, queries: object) -> Sets:
        """Sets that are asked about: a list of lists of items, `Sets`, or a table with one list a row."""
        if isinstance(queries, (pd.DataFrame, pa.Table, pa.RecordBatch, Mapping)):
            sets = self._read(arrow_table(queries, (self.column.name,), "The queries").combine_chunks())
        else:
            sets = Sets.of(queries)  # type: ignore[arg-type]
        empty = sets.sizes == 0
        if empty.any():
            refuse_query({self.column.name: empty}, {})
        return sets

    def _read(self, table: pa.RecordBatch | pa.Table) -> Sets:
        if table.schema.get_field_index(self.column.name) < 0:
            raise RequestError(f"The data must have one column {self.column.name!r}.")
        array = table.column(self.column.name)
        if isinstance(array, pa.ChunkedArray):
            array = array.combine_chunks()
        return self.column.read_sets(array)
