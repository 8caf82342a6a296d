"""Which records are meant: a condition on a column, as weights of its cells."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....checks import check_number
from ....domain import Dates
from ....errors import RequestError
from ....formatting.numbers import listed, shown
from ..layout import Columns
from ..table_axes import Axis, Steps

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
    width = edges[1] - edges[0]
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
        if name not in places:
            raise RequestError(f"There is no column {str(name)!r}; there are {listed([shown(n) for n in places], 12)}.")
    if len(set(names)) < len(names):
        raise RequestError("A column is named twice.")
    return tuple(places[name] for name in names)
