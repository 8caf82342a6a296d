"""What two released tables differ by: two columns cell by cell, and every column in a row or a few."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from ..domain import Dates
from ..machine.array_types import Floats
from ..releases.comparison import Banded, Comparison
from ..sketches.tables.axes import Axis
from .overview import as_number, measured

MEAN = "mean"
LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class CellDifferences:
    """Differences in every combination of the cells of two columns, float64 (of the second, of the first)."""

    across: Axis
    up: Axis
    estimate: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True)
class Row:
    """One difference of two tables.

    Attributes
    ----------
    column, what : str, str
        The column, and which of its values is counted, or `MEAN`.
    unit : str
        Of a mean, that of the column; "" of shares and numbers of records.
    estimate, low, high : float
        The difference and its band.
    mean : bool
        Whether means are compared.
    """

    column: str
    what: str
    unit: str
    estimate: float
    low: float
    high: float
    mean: bool

    @property
    def told(self) -> bool:
        """Whether the difference is more than noise alone may make."""
        return self.low > 0.0 or self.high < 0.0


def pairs_of(compared: Comparison) -> list[tuple[str, str]]:
    """The pairs of columns that both tables have counts of."""
    answers = compared.first.asked(LEVEL)
    names = [axis.name for axis in answers.axes]
    return [pair for pair in combinations(names, 2) if measured(answers, pair)]


def cell_differences(compared: Comparison, across: str, up: str, level: float = LEVEL) -> CellDifferences:
    """The difference in every combination of the cells of two columns; missing values are left to their own columns."""
    axes = {axis.name: axis for axis in compared.first.asked(LEVEL).axes}
    found = compared.table(up, across, level=level)
    shape = (axes[up].cells, axes[across].cells)
    valued = (slice(axes[up].valued), slice(axes[across].valued))
    ends = (found[end].to_numpy(dtype=np.float64).reshape(shape)[valued] for end in ("estimate", "low", "high"))
    return CellDifferences(axes[across], axes[up], *ends)


def rows_of_differences(compared: Comparison, level: float = LEVEL) -> list[Row]:
    """Every column: the mean of numbers and dates, and of categories the share (or number) of each."""
    rows: list[Row] = []
    for axis in compared.first.asked(LEVEL).axes:
        rows += _categories(compared, axis, level) if axis.categories else [_mean(compared, axis, level)]
    return rows


def _mean(compared: Comparison, axis: Axis, level: float) -> Row:
    """Of a column; dates are compared as numbers, as a difference of two dates is none."""
    one, other = (_mean_of(release.asked(level).mean(axis.name), axis) for release in (compared.first, compared.second))
    found = one.minus(other)
    unit = f"{axis.column.step}s" if isinstance(axis.column, Dates) else getattr(axis.column, "unit", "")
    estimate, low, high = (float(end[0]) for end in (found.estimate, found.low, found.high))
    return Row(axis.name, MEAN, unit, estimate, low, high, mean=True)


def _mean_of(frame: pd.DataFrame, axis: Axis) -> Banded:
    estimate, low, high = (np.array([as_number(axis, frame[end].iloc[0])]) for end in ("estimate", "low", "high"))
    return Banded(estimate, low, high, (high - low) / 4.0)


def _categories(compared: Comparison, axis: Axis, level: float) -> list[Row]:
    found = compared.table(axis.name, level=level)
    estimate, low, high = (found[end].tolist() for end in ("estimate", "low", "high"))
    return [
        Row(axis.name, category, "", estimate[cell], low[cell], high[cell], mean=False)
        for cell, category in enumerate(axis.categories)
    ]
