"""Tables of places to ask about: all their columns, as they stand, with answers put beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    to a bound: a query may lie anywhere. Where the domain's sets are gathered, so are those of the source, one row for
    each id, unless its column holds whole lists.

    Raises
    ------
    RequestError
        When the source cannot be read, misses a column, or holds no rows or too many.
    """
    gathers = _is_gathered(source, domain)
    batches, rows = [], 0
    for batch in source.sets(replace(domain, missing="refuse")) if gathers else _as_it_stands(source, domain):
        batches.append(batch.replace_schema_metadata(None))
        rows += batch.num_rows
        if rows > most:
            raise RequestError(f"There are more than {most:,} rows in {source.label}, which is the most at once.")
    if not rows:
        raise RequestError(f"There are no rows in {source.label}.")
    return pa.Table.from_batches(batches)


def told_apart(queries: pa.Table, domain: Domain) -> pa.Table:
    """What answers stand beside: the queries less the lists of a set, whose other columns, or numbers, name them."""
    (name, *others) = domain.names
    if others or not domain.holds_sets or not pa.types.is_nested(queries.schema.field(name).type):
        return queries
    rest = queries.drop_columns(name)
    return rest if rest.num_columns else pa.table({"query": np.arange(1, len(queries) + 1)})


def _as_it_stands(source: Source, domain: Domain) -> Iterator[pa.RecordBatch]:
    columns, unit = domain.asked_columns, PrivacyUnit()
    # An array without names has its columns taken in order, and none besides.
    if getattr(source, "names", ()) is not None:
        source.check_names(domain.names)
        further = [column.name for column in source.columns if column.name not in domain.names]
        if domain.holds_sets:
            columns = tuple(Categorical(name, ("a", "b")) for name in domain.names)
        columns += tuple(Categorical(name, ("a", "b")) for name in further)
    return source.batches(replace(domain, columns=columns, unit=unit))


def _is_gathered(source: Source, domain: Domain) -> bool:
    """Whether the source has one item a row, as the data had; whole lists are asked about as they are."""
    (name, *_) = domain.names
    return domain.gathers and not any(info.name == name and info.lists for info in source.columns)


def beside(places: pa.Table, answers: Mapping[str, np.ndarray]) -> pa.Table:
    """Places with their answers, arrays (n,), in further columns; one whose name is taken is called ``answer_NAME``."""
    table = places
    for name, values in answers.items():
        table = table.append_column(f"answer_{name}" if name in places.column_names else name, pa.array(values))
    return table
