"""Places to begin with, where a visitor has no table of points yet: spread over the public bounds, and nobody."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from ...domain import Categorical, Column, Dates, Domain, Ordered
from ...domain.column import Scalar
from ...sources.samples import Sample, samples
from ..released.asked_points import tidy
from ..released.chosen_view import drawable

PLACES, SEED = 12, 7
EXAMPLE = "These places are an example, spread over the public bounds. Drop a table of your own above."
OF_SAMPLE = (
    "These are an example: some records of the bundled sample, which are public. Drop a table of your own above."
)


@dataclass(frozen=True)
class Example:
    """A table that nobody dropped, with what a dropped one has."""

    file_id: str
    name: str
    data: bytes
    words: str = EXAMPLE
    """What is said of it while nothing was dropped."""

    def getvalue(self) -> bytes:
        """The table, CSV."""
        return self.data


def example_of(domain: Domain, identity: str) -> Example | None:
    """Places of a domain; None where there are columns that no few numbers say, and no bundled sample has them."""
    if len(drawable(domain)) < len(domain.columns):
        return _of_sample(domain, identity)
    random = np.random.default_rng(SEED)
    table = pd.DataFrame({column.name: _values(column, random.random(PLACES)) for column in domain.columns})
    return Example(f"example of {identity}", "example.csv", table.to_csv(index=False).encode())


def _of_sample(domain: Domain, identity: str) -> Example | None:
    """Records, evenly far apart, of the bundled sample with all of these columns; their file is public."""
    one = next((one for one in samples() if set(domain.columns) <= _columns(one)), None)
    if one is None or one.path.suffix != ".parquet":
        return None
    table = pq.read_table(one.path, columns=list(domain.names))
    table = table.take(np.linspace(0, table.num_rows - 1, PLACES).astype(int))
    written = pa.BufferOutputStream()
    pq.write_table(table, written)
    return Example(f"example of {identity}", "example.parquet", written.getvalue().to_pybytes(), OF_SAMPLE)


def _columns(one: Sample) -> set[Column]:
    return {*one.domain.columns, *([] if one.label is None else [one.label])}


def _values(column: Column, shares: np.ndarray) -> list[object]:
    """Values of a column at shares of its range."""
    if isinstance(column, (Categorical, Ordered)):
        return [column.categories[int(share * len(column.categories))] for share in shares]
    assert isinstance(column, Scalar)
    numbers = [column.low + float(share) * (column.high - column.low) for share in shares]
    if isinstance(column, Dates):
        return [column.text(number) for number in numbers]
    return [tidy(number, column) for number in numbers]
