"""Counts of any combination of columns that were measured together, with what is known of their errors.

Which records are meant: a condition on a column, as weights of its cells.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ...domain import Dates, Ordered
from ...errors import RequestError
from ...formatting.numbers import listed, shown
from ...runtime.parameters import check_number
from ..answers import check_level
from .reading import Reading
from .table_axes import Axis, Steps
from .table_layout import Columns

# By name of a column: a category, a list of categories, or a pair (low, high) of numbers or dates, low <= x < high, of
# which either may be None. None by itself means those who have no value, where they have a category or cell.
Where = Mapping[str, Any]


@dataclass(frozen=True)
class Chosen:
    """Some of the cells of an axis, float64 (cells,) each."""

    share: np.ndarray  # What of each cell is meant, if records lie evenly in it: the weights of the estimate.
    # 1 where all of a cell is meant, and where any of it is: records may lie anywhere in a cell that is cut.
    least: np.ndarray
    most: np.ndarray

    @property
    def whole(self) -> bool:
        return bool((self.least == self.most).all())


def chosen(axis: Axis, condition: object, fine: bool = False) -> Chosen:
    """The cells that a condition means.

    RequestError when there is no such category, or the condition does not fit the column. `condition`: see `Where`.
    `fine`: whether fine cells are asked for.
    """
    if condition is None:
        return _missing(axis, fine)
    if axis.categories:
        return _categories(axis, condition)
    found = _range(axis, condition, fine)
    return Chosen(*(axis.beside_missing(weights, fine) for weights in (found.share, found.least, found.most)))


def chosen_values(axis: Axis, where: Where, fine: bool) -> Chosen:
    """The cells of those whose values are averaged or ordered: all who have one, or who are in a range."""
    if axis.name in where:
        if where[axis.name] is None:
            raise RequestError(f"Those without a value of {axis.name!r} can be counted, and have no mean or quantile.")
        return chosen(axis, where[axis.name], fine)
    every = axis.beside_missing(np.ones(axis.valued << axis.halvings if fine else axis.valued), fine)
    return Chosen(every, every, every)


def _missing(axis: Axis, fine: bool) -> Chosen:
    label = missing_label(axis)
    if not label:
        raise RequestError(
            f"Whether a value of {axis.name!r} is missing is not in this release: missing values have no category in "
            "that column, so their records were left out or not accepted."
        )
    if axis.categories:
        return _categories(axis, label)
    only = axis.beside_missing(np.zeros(axis.valued << axis.halvings if fine else axis.valued), fine, 1.0)
    return Chosen(only, only, only)


def missing_label(axis: Axis) -> str:
    """What those without a value are called in a release; "" where it does not count them."""
    return axis.missing or (str(getattr(axis.column, "missing_category", "")) if axis.categories else "")


def _categories(axis: Axis, condition: object) -> Chosen:
    wanted = [condition] if isinstance(condition, str) else condition
    if not isinstance(wanted, (list, tuple, set, frozenset)) or not all(isinstance(one, str) for one in wanted):
        raise RequestError(f"The column {axis.name!r} is asked for a category, or a list of categories.")
    for one in wanted:
        if one not in axis.categories:
            known = listed([shown(category) for category in axis.categories], 8)
            raise RequestError(f"The column {axis.name!r} has no category {one!r}; there are {known}.")
    share = np.array([float(category in wanted) for category in axis.categories])
    return Chosen(share, share, share)


def _range(axis: Axis, condition: object, fine: bool) -> Chosen:
    ends = _ends(axis, condition)
    if axis.steps is not None:
        return _values(axis, axis.steps, ends, fine)
    edges = axis.edges(fine)
    # The outermost cells hold what lies beyond the bounds, and the last one its upper end.
    low, high = (-math.inf if ends[0] <= edges[0] else ends[0]), (math.inf if ends[1] >= edges[-1] else ends[1])
    width = np.diff(edges)
    inside = np.minimum(high, edges[1:]) - np.maximum(low, edges[:-1])
    share = np.clip(inside / width, 0.0, 1.0)
    near = 1e-9  # an end that is an edge cuts no cell
    share = np.where(share > 1.0 - near, 1.0, np.where(share < near, 0.0, share))
    return Chosen(share, (share == 1.0).astype(float), (share > 0.0).astype(float))


def _values(axis: Axis, steps: Steps, ends: tuple[float, float], fine: bool) -> Chosen:
    """Of a column with steps: which of the values of each cell lie in a range, each of them whole."""
    first, last = map(steps.first_from, ends)
    edges = axis.values(fine)
    many = np.diff(edges)
    inside = np.clip(np.minimum(last, edges[1:]) - np.maximum(first, edges[:-1]), 0, many)
    # A cell without values is empty for certain; taken as the one before it, it adds the least noise.
    before = np.maximum.accumulate(np.where(many > 0, np.arange(len(many)), 0))
    share = (inside / np.maximum(many, 1))[before]
    return Chosen(share, (share == 1.0).astype(float), (share > 0.0).astype(float))


def _end(axis: Axis, end: object) -> float:
    """An end of a range as a number: of a column of dates the steps since the first."""
    if isinstance(axis.column, Dates):
        return float(axis.column.numbers_of([end])[0])
    return check_number(end, f"An end of the range of {axis.name!r}")


def _ends(axis: Axis, condition: object) -> tuple[float, float]:
    if not isinstance(condition, (tuple, list)) or len(condition) != 2:
        raise RequestError(f"The column {axis.name!r} is asked for a range, as (low, high); either may be None.")
    ends = [
        open_end if end is None else _end(axis, end)
        for end, open_end in zip(condition, (-math.inf, math.inf), strict=True)
    ]
    if not ends[0] < ends[1]:
        raise RequestError(f"The range of {axis.name!r} must have its low end below its high one.")
    return ends[0], ends[1]


def ends_of(axis: Axis, condition: object) -> tuple[float, float]:
    """Both ends of a range, or of all there is without one, within the bounds of the column; where it has steps, at its
    first value and behind its last one.
    """
    low, high = (-math.inf, math.inf) if condition is None else _ends(axis, condition)
    if axis.steps is not None:
        first, last = axis.steps.value(np.array([axis.steps.first_from(low), axis.steps.first_from(high)]))
        return float(first), float(last)
    return max(low, axis.low), min(high, axis.high)


def places_of(axes: Sequence[Axis], names: Sequence[str]) -> Columns:
    """The places of named columns, in the order of the names; RequestError where one is not there, or twice."""
    places = {axis.name: place for place, axis in enumerate(axes)}
    for name in names:
        if not isinstance(name, str) or name not in places:
            raise RequestError(f"There is no column {str(name)!r}; there are {listed([shown(n) for n in places], 12)}.")
    if len(set(names)) < len(names):
        raise RequestError("A column is named twice.")
    return tuple(places[name] for name in names)


def counts(reading: Reading, by: Sequence[str], where: Where, level: float) -> pd.DataFrame:
    """Records in each combination of the cells of some columns, of those that fit a condition; see `TableAnswers`."""
    check_level(level)
    axes = reading.layout.axes
    kept, asked = places_of(axes, by), places_of(axes, list(where))
    check_apart(kept, asked)
    fine = len(kept) + len(asked) == 1
    conditions = {place: chosen(axes[place], where[axes[place].name], fine) for place in asked}
    fine = fine and not kept
    reach = reading.noise.reach(level)
    share, error = weighted(reading, kept, {i: c.share for i, c in conditions.items()}, fine)
    low, high = _banded(reading, share, reach * error, level)
    if not all(condition.whole for condition in conditions.values()):
        ends = [
            weighted(reading, kept, {i: getattr(c, end) for i, c in conditions.items()}, fine)
            for end in ("least", "most")
        ]
        # Whatever the cut cells hold of what is meant, the truth lies between that of no part of them and of all.
        low = np.minimum(low, _banded(reading, ends[0][0], reach * ends[0][1], level)[0])
        high = np.maximum(high, _banded(reading, ends[1][0], reach * ends[1][1], level)[1])
    if reading.luck is not None:
        error = np.sqrt(error**2 + reading.luck.variance(share, share, reading.people))
    keys = cell_keys([axes[place] for place in kept])
    return pd.DataFrame(
        keys
        | {
            "estimate": share.reshape(-1),
            "low": low.reshape(-1),
            "high": high.reshape(-1),
            "standard_error": error.reshape(-1),
        }
    )


def _banded(reading: Reading, count: np.ndarray, reach: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """The ends of bands that reach so far by noise; of the population, where that is asked for."""
    if reading.luck is None:
        return count - reach, count + reach
    return reading.luck.ends(count, reach, level, reading.people)


def check_apart(kept: Columns, asked: Columns) -> None:
    """RequestError when a column is counted by and has a condition."""
    if set(kept) & set(asked):
        raise RequestError("A column is either what is counted by, or has a condition; leave it out of one of them.")


def weighted(
    reading: Reading, kept: Columns, weights: dict[int, np.ndarray], fine: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Sums of counts over the cells of some columns with these weights, and their standard errors.

    RequestError when the columns were not measured together. Returns float64, a side for each kept column. `kept`:
    columns whose cells are kept apart, in the order of the result's sides. `weights`: by further columns, a weight for
    each of their cells. `fine`: whether the weights are those of the fine cells of a single column.
    """
    noise = reading.noise
    if fine:
        ((place, vector),) = weights.items()
        return np.asarray(vector @ reading.fine_counts(place)), np.sqrt(noise.fine_variance(place, vector))
    table = measured(reading, (*kept, *weights))
    found = over_cells(reading.counts(table), table, kept, weights)
    return found, np.sqrt(spread(reading, table, kept, weights, found.ndim))


def spread(reading: Reading, table: Columns, kept: Columns, weights: dict[int, np.ndarray], sides: int) -> np.ndarray:
    """Variances of such sums, an array of so many sides; weights may be others in each cell of the kept columns."""
    noise, axes = reading.noise, reading.layout.axes
    means: list[np.ndarray] = []
    variances: list[np.ndarray] = []
    alone: list[np.ndarray] = []
    for place in table:
        if place in weights:
            means.append(np.asarray(weights[place].mean(axis=-1)))
            variances.append(np.asarray(noise.axis_variance(place, weights[place])))
            alone.append(noise.alone_variance(place, weights[place]))
        else:
            side = [1] * sides
            side[kept.index(place)] = axes[place].cells
            means.append(np.full(side, 1.0 / axes[place].cells))
            variances.append(noise.axis_spread(place).reshape(side))
            alone.append(noise.alone_spread(place).reshape(side))
    return noise.products(table, means, variances, alone)


def over_cells(counts: np.ndarray, table: Columns, kept: Columns, weights: dict[int, np.ndarray]) -> np.ndarray:
    """Counts of a table summed over the cells of some columns with weights; a side for each kept one, in its place.

    Several sets of weights of one column, one a row, are one side more behind them.
    """
    for side in reversed(range(len(table))):
        if table[side] in weights:
            counts = np.tensordot(counts, weights[table[side]], axes=(side, -1))
    left = [place for place in table if place not in weights]
    return np.transpose(counts, [*map(left.index, kept), *range(len(left), counts.ndim)])


def measured(reading: Reading, places: Sequence[int]) -> Columns:
    """The columns in order; RequestError where no table has all of them."""
    table = tuple(sorted(places))
    if table not in reading.noise.by_columns:
        axes = reading.layout.axes
        raise RequestError(
            f"The release has no table of {listed([shown(axes[i].name) for i in table], 8)} together: unbiased counts "
            f"are known of at most {max(map(len, reading.layout.tables))} columns at a time, those that were measured "
            "together; a best guess can be had of any."
        )
    return table


def cell_keys(axes: Sequence[Axis]) -> dict[str, object]:
    """The cells of every combination, the last column moving fastest: categories, values, and intervals of numbers."""
    if not axes:
        return {}
    sides = [axis.cells for axis in axes]
    places = np.indices(sides).reshape(len(sides), -1)
    return {axis.name: labels(axis)[place] for axis, place in zip(axes, places, strict=True)}


def in_natural_units(axis: Axis, numbers: np.ndarray) -> np.ndarray:
    """Numbers of an axis as people read them: of a column of dates the dates, and as they are otherwise."""
    dates: np.ndarray = axis.column.between(numbers) if isinstance(axis.column, Dates) else numbers
    return dates


def labels(axis: Axis) -> pd.Categorical:
    """The cells of an axis: categories, values where each is a cell, or intervals that hold their lower end."""
    if axis.categories:
        ordered = isinstance(axis.column, Ordered)
        return pd.Categorical(axis.categories, categories=list(axis.categories), ordered=ordered)
    edges = axis.edges()
    if axis.steps is not None and (edges == np.rint(edges)).all():
        edges = edges.astype(np.int64)  # whole numbers, written as such
    natural = in_natural_units(axis, edges)
    cells = pd.Index(natural[:-1]) if axis.of_single_values else pd.IntervalIndex.from_breaks(natural, closed="left")
    if axis.missing:
        cells = cells.astype(object).append(pd.Index([axis.missing], dtype=object))
    return pd.Categorical(cells, categories=cells, ordered=True)
