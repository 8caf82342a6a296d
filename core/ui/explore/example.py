"""Places to begin with, where a visitor has no table of points yet: spread over the public bounds, and nobody."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...domain import Categorical, Column, Dates, Domain, Ordered
from ...domain.scalar import Scalar
from ..frame.marks import note
from .columns import drawable
from .values import tidy

PLACES, SEED = 12, 7
EXAMPLE = "These places are an example, spread over the public bounds. Drop a table of your own above."


@dataclass(frozen=True)
class Example:
    """A table that nobody dropped, with what a dropped one has."""

    file_id: str
    name: str
    data: bytes

    def getvalue(self) -> bytes:
        """The table, CSV."""
        return self.data


def example_of(domain: Domain, identity: str) -> Example | None:
    """Places of a domain; None where there are columns that no few numbers say."""
    if len(drawable(domain)) < len(domain.columns):
        return None
    random = np.random.default_rng(SEED)
    table = pd.DataFrame({column.name: _values(column, random.random(PLACES)) for column in domain.columns})
    return Example(f"example of {identity}", "example.csv", table.to_csv(index=False).encode())


def say_example() -> None:
    """What is shown while nothing was dropped."""
    note(EXAMPLE)


def _values(column: Column, shares: np.ndarray) -> list[object]:
    """Values of a column at shares of its range."""
    if isinstance(column, (Categorical, Ordered)):
        return [column.categories[int(share * len(column.categories))] for share in shares]
    assert isinstance(column, Scalar)
    numbers = [column.low + float(share) * (column.high - column.low) for share in shares]
    if isinstance(column, Dates):
        return [column.text(number) for number in numbers]
    return [tidy(number, column) for number in numbers]
