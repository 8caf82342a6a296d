"""What two releases differ by: densities place by place, and tables cell by cell and column by column.

How strongly columns go together, Cramér's V, is asked of both with the same least share of the records in a cell, that
of the noisier one: what noise hides in one is then left out of both, and two releases of the same people differ by
noise alone, however much of it either has.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeVar

import numpy as np
import pandas as pd

from ..domain import Dates
from ..releases.comparison import Banded, Comparison
from ..runtime.counter_tables import Floats
from ..sketches.tables.table_answers import least_shares, strengths
from ..sketches.tables.table_axes import Axis, is_number
from .answerable import map_size, places_along
from .density import Curve, Heatmap, marginal_grid, marginal_line
from .table_profile import as_number, measured, words_for_cells

SIZE = 64
POINTS = 200
Drawn = TypeVar("Drawn", Curve, Heatmap)


def line_of_differences(
    compared: Comparison,
    column: str,
    at: Mapping[str, object] | None = None,
    points: int | None = None,
    level: float = 0.95,
) -> Curve:
    """The difference along one column; columns that are not in ``at`` are averaged over, as in `marginal_line`.

    Without a number of points there are as many as show all that is as narrow as the kernel.
    """
    points = places_along(compared.first.sketch, column, POINTS) if points is None else points
    one, other = (marginal_line(release, column, at, points, level) for release in (compared.first, compared.second))
    return _difference(compared, one, other, level)


def grid_of_differences(
    compared: Comparison, x: str, y: str, at: Mapping[str, object] | None = None, size: int = SIZE, level: float = 0.95
) -> Heatmap:
    """The difference of two releases over two columns, with its band."""
    size = min(map_size(release, size) for release in (compared.first, compared.second))
    one, other = (marginal_grid(release, x, y, at, size, level) for release in (compared.first, compared.second))
    return _difference(compared, one, other, level)


def _difference(compared: Comparison, one: Drawn, other: Drawn, level: float) -> Drawn:
    found = compared.banded(one, other, level)
    return replace(
        one,
        estimate=found.estimate,
        low=found.low,
        high=found.high,
        standard_error=found.standard_error,
        density=one.density - other.density,
    )


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

    def frame(self) -> pd.DataFrame:
        """One row a combination, the cells in words."""
        names = [[words_for_cells(axis, [cell]) for cell in range(axis.valued)] for axis in (self.across, self.up)]
        return pd.DataFrame(
            {
                self.across.name: names[0] * self.up.valued,
                self.up.name: [name for name in names[1] for _ in names[0]],
                "estimate": self.estimate.ravel(),
                "low": self.low.ravel(),
                "high": self.high.ravel(),
            }
        )


@dataclass(frozen=True)
class Row:
    """One difference of two tables."""

    # The column, and which of its values is counted, or `MEAN`.
    column: str
    what: str
    unit: str
    # The difference and its band.
    estimate: float
    low: float
    high: float
    mean: bool

    @property
    def told(self) -> bool:
        """Whether the difference is more than noise alone may make."""
        return self.low > 0.0 or self.high < 0.0


@dataclass(frozen=True)
class Strength:
    """How strongly two columns go together in two tables, by Cramér's V."""

    column: str
    other: str
    # In each of the tables, the noise taken off.
    first: float
    second: float
    estimate: float
    low: float
    high: float

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


def groups_of(compared: Comparison) -> list[tuple[str, str]]:
    """Columns of numbers or dates that were counted together with one of categories, whose groups have means."""
    answers = compared.first.asked(LEVEL)
    groups = [axis.name for axis in answers.axes if axis.categories]
    numbers = [axis.name for axis in answers.axes if not axis.categories and is_number(axis.column)]
    return [(number, group) for number in numbers for group in groups if measured(answers, [number, group])]


def means_of_groups(compared: Comparison, column: str, by: str, level: float = LEVEL) -> list[Row]:
    """By how much the mean of a column differs in each group of another; NaN in a group that may be empty.

    `column`, `by`: One of `groups_of`.
    """
    axes = {axis.name: axis for axis in compared.first.asked(level).axes}
    return _means(compared, axes[column], level, by, axes[by].categories)


def strength_differences(compared: Comparison, level: float = LEVEL) -> list[Strength]:
    """Every pair of columns that was measured, what is surely different first, and then the strongest."""
    readings = [release.asked(level).reading for release in (compared.first, compared.second)]
    one, other = map(least_shares, readings)
    least = {pair: max(share, other[pair]) for pair, share in one.items()}
    frames = [strengths(reading, (), level, least).set_index(["column", "other"]).sort_index() for reading in readings]
    before, after = map(_banded, frames)
    less = compared.less(before, after)
    values = zip(before.estimate, after.estimate, less.estimate, less.low, less.high, strict=True)
    rows = [Strength(*pair, *map(float, each)) for pair, each in zip(frames[0].index, values, strict=True)]
    return sorted(rows, key=lambda row: (not row.told, -max(row.first, row.second)))


def _mean(compared: Comparison, axis: Axis, level: float) -> Row:
    """The mean of a column with its interval; dates count as numbers, as a difference of two dates is none."""
    (row,) = _means(compared, axis, level, (), (MEAN,))
    return row


def _means(
    compared: Comparison, axis: Axis, level: float, by: str | tuple[str, ...], labels: Sequence[str]
) -> list[Row]:
    one, other = (
        _means_of(release.mean(axis.name, by, level=level), axis) for release in (compared.first, compared.second)
    )
    found = compared.less(one, other)
    unit = f"{axis.column.step}s" if isinstance(axis.column, Dates) else getattr(axis.column, "unit", "")
    rows = zip(labels, found.estimate.tolist(), found.low.tolist(), found.high.tolist(), strict=True)
    return [Row(axis.name, label, unit, estimate, low, high, mean=True) for label, estimate, low, high in rows]


def _means_of(frame: pd.DataFrame, axis: Axis) -> Banded:
    """Means as numbers, which dates become too."""
    return _banded(frame[["estimate", "low", "high"]].map(lambda value: as_number(axis, value)))


def _banded(frame: pd.DataFrame) -> Banded:
    estimate, low, high = (frame[end].to_numpy(dtype=np.float64) for end in ("estimate", "low", "high"))
    return Banded(estimate, low, high, (high - low) / 4.0)


def _categories(compared: Comparison, axis: Axis, level: float) -> list[Row]:
    found = compared.table(axis.name, level=level)
    estimate, low, high = (found[end].tolist() for end in ("estimate", "low", "high"))
    return [
        Row(axis.name, category, "", estimate[cell], low[cell], high[cell], mean=False)
        for cell, category in enumerate(axis.categories)
    ]
