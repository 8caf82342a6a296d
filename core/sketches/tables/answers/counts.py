"""Counts of any combination of columns that were measured together, with what is known of their errors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ....domain import Dates, Ordered
from ....errors import RequestError
from ....words.phrases import listed, shown
from ...answers import check_level
from ..axes import Axis
from ..layout import Columns
from ..reading import Reading
from .conditions import Where, chosen, places_of


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
    low, high = share - reach * error, share + reach * error
    if not all(condition.whole for condition in conditions.values()):
        ends = [
            weighted(reading, kept, {i: getattr(c, end) for i, c in conditions.items()}, fine)
            for end in ("least", "most")
        ]
        # Whatever the cut cells hold of what is meant, the truth lies between that of no part of them and of all.
        low = np.minimum(low, ends[0][0] - reach * ends[0][1])
        high = np.maximum(high, ends[1][0] + reach * ends[1][1])
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


def check_apart(kept: Columns, asked: Columns) -> None:
    """RequestError when a column is counted by and has a condition."""
    if set(kept) & set(asked):
        raise RequestError("A column is either what is counted by, or has a condition; leave it out of one of them.")


def weighted(
    reading: Reading, kept: Columns, weights: dict[int, np.ndarray], fine: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Sums of counts over the cells of some columns with these weights, and their standard errors.

    Parameters
    ----------
    reading : Reading
        What the release says.
    kept : Columns
        Columns whose cells are kept apart, in the order of the result's sides.
    weights : dict[int, np.ndarray]
        By further columns, a weight for each of their cells.
    fine : bool
        Whether the weights are those of the fine cells of a single column.

    Returns
    -------
    tuple[np.ndarray, np.ndarray]
        float64, a side for each kept column.

    Raises
    ------
    RequestError
        When the columns were not measured together.
    """
    noise, axes = reading.noise, reading.layout.axes
    if fine:
        ((place, vector),) = weights.items()
        variance = noise.fine_variance(place, vector)
        return np.asarray(vector @ reading.fine_counts(place)), np.sqrt(variance)
    table = measured(reading, (*kept, *weights))
    found = reading.counts(table)
    means: list[np.ndarray] = []
    variances: list[np.ndarray] = []
    for place in table:
        if place in weights:
            means.append(np.asarray(weights[place].mean()))
            variances.append(np.asarray(noise.axis_variance(place, weights[place])))
        else:
            side = [1] * len(kept)
            side[kept.index(place)] = axes[place].cells
            means.append(np.full(side, 1.0 / axes[place].cells))
            variances.append(noise.axis_spread(place).reshape(side))
    for axis in reversed(range(len(table))):
        if table[axis] in weights:
            found = np.tensordot(found, weights[table[axis]], axes=(axis, 0))
    left = [place for place in table if place not in weights]
    found = np.transpose(found, [left.index(place) for place in kept])
    return found, np.sqrt(noise.products(table, means, variances))


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
