"""Tables of places to ask about: all their columns, as they stand, with answers put beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa

from ..domain import Categorical, Domain, PrivacyUnit
from ..errors import RequestError
from .source import Source

MOST_QUERIES = 1_000_000


def read_queries(source: Source, domain: Domain, most: int = MOST_QUERIES) -> pa.Table:
    """All columns of a source, those of the domain first; at most so many rows, as they are held in memory.

    Further columns pass through as if they held categories, which are read as they stand. No row is dropped or moved
    to a bound: a query may lie anywhere.

    Raises
    ------
    RequestError
        When the source cannot be read, misses a column, or holds no rows or too many.
    """
    # An array without names has its columns taken in order, and none besides.
    named = getattr(source, "names", ()) is not None
    names = [column.name for column in source.columns] if named else []
    further = [Categorical(name, ("a", "b")) for name in names if name not in domain.names]
    everything = replace(domain, columns=(*domain.columns, *further), unit=PrivacyUnit())
    batches, rows = [], 0
    for batch in source.batches(everything):
        batches.append(batch.replace_schema_metadata(None))
        rows += batch.num_rows
        if rows > most:
            raise RequestError(f"There are more than {most:,} rows in {source.label}, which is the most at once.")
    if not rows:
        raise RequestError(f"There are no rows in {source.label}.")
    return pa.Table.from_batches(batches)


def beside(places: pa.Table, answers: Mapping[str, np.ndarray]) -> pa.Table:
    """Places with their answers, arrays (n,), in further columns; one whose name is taken is called ``answer_NAME``."""
    table = places
    for name, values in answers.items():
        table = table.append_column(f"answer_{name}" if name in places.column_names else name, pa.array(values))
    return table
