"""Shares, means and sums: quotients of counts, with errors to first order.

The error of a quotient N / D is that of (N - r D) / D at r = N / D. For shares, D is a sum of cells of which N is one:
only residuals that hold none of the columns that are added up are in both, so that cov(N, D) = var(D) / cells. For a
mean, N - r D counts every cell by its place less the mean r; all but its average lies in contrasts, where the mean
plays no part.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.special import ndtri

from ...domain import Dates
from ...errors import RequestError
from ...sketches.linear import check_level
from ...sketches.tables.reading import Reading
from .best_guess import BestGuess
from .conditions import Where, chosen, places_of
from .counts import cell_keys, check_apart, in_natural_units, measured, weighted

TOLD = 2.0
"""Standard errors that a number of records must be above zero for anything to be divided by it."""


def shares(reading: Reading, of: Sequence[str], within: Sequence[str], where: Where, level: float) -> pd.DataFrame:
    """The share of each combination of cells among the records that fit, or of those in each group."""
    check_level(level)
    axes = reading.layout.axes
    parts, groups, asked = (places_of(axes, names) for names in (of, within, list(where)))
    check_apart((*parts, *groups), asked)
    if not parts or set(parts) & set(groups):
        raise RequestError("A share needs the columns whose cells are compared, and others for the groups.")
    conditions = {place: chosen(axes[place], where[axes[place].name]).share for place in asked}
    count, error = weighted(reading, (*groups, *parts), conditions)
    ones = {place: np.ones(axes[place].cells) for place in parts}
    whole, whole_error = weighted(reading, groups, conditions | ones)
    shape = (*whole.shape, *(1,) * len(parts))
    whole, variance = whole.reshape(shape), (whole_error**2).reshape(shape)
    told = whole > TOLD * np.sqrt(variance)
    divisor = np.where(told, whole, np.nan)
    share = count / divisor
    cells = float(np.prod([axes[place].cells for place in parts]))
    spread = np.maximum(error**2 + share**2 * variance - 2.0 * share * variance / cells, 0.0)
    frame = _frame(share, np.sqrt(spread) / divisor, level)
    keys = cell_keys([axes[place] for place in (*groups, *parts)])
    return pd.DataFrame(keys | frame)


def means(reading: Reading, column: str, by: Sequence[str], where: Where, level: float) -> pd.DataFrame:
    """The mean of a column of numbers in each group.

    Inside a cell records are taken to lie where those of the column by itself do; the interval allows for any place in
    the cell.
    """
    check_level(level)
    total, count, spread, ends, keys = _sums(reading, column, by, where, centred=True)
    reach = float(ndtri(0.5 + level / 2.0))
    low, high = (end / count - reach * spread for end, reach in zip(ends, (reach, -reach), strict=True))
    axis = reading.layout.axes[places_of(reading.layout.axes, [column])[0]]
    found = {"estimate": total / count, "low": low, "high": high}
    columns = {name: in_natural_units(axis, values) for name, values in found.items()} | {"standard_error": spread}
    return pd.DataFrame(keys | {name: values.reshape(-1) for name, values in columns.items()})


def sums(reading: Reading, column: str, by: Sequence[str], where: Where, level: float) -> pd.DataFrame:
    """The sum of a column of numbers in each group; otherwise as `means`."""
    check_level(level)
    axes = reading.layout.axes
    if isinstance(axes[places_of(axes, [column])[0]].column, Dates):
        raise RequestError(f"The column {column!r} holds dates, which have a mean and no sum.")
    total, _, spread, ends, keys = _sums(reading, column, by, where, centred=False)
    reach = float(ndtri(0.5 + level / 2.0))
    low, high = (end - reach * spread for end, reach in zip(ends, (reach, -reach), strict=True))
    columns = {"estimate": total, "low": low, "high": high, "standard_error": spread}
    return pd.DataFrame(keys | {name: values.reshape(-1) for name, values in columns.items()})


def _sums(
    reading: Reading, column: str, by: Sequence[str], where: Where, centred: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray], dict[str, object]]:
    """Sum and number of records of each group, the standard error of the sum or the mean, the sum at both ends."""
    axes, noise = reading.layout.axes, reading.noise
    (place,) = places_of(axes, [column])
    groups, asked = places_of(axes, by), places_of(axes, list(where))
    axis = axes[place]
    if axis.categories:
        raise RequestError(f"The column {column!r} holds categories, which have no mean: ask for shares.")
    check_apart((place, *groups), asked)
    conditions = {one: chosen(axes[one], where[axes[one].name]).share for one in asked}
    fine = not groups and not asked
    edges = axis.edges(fine)
    middles = (edges[:-1] + edges[1:]) / 2.0 if fine else _usual_places(reading, place)
    if fine:
        counts = reading.fine_counts(place)
        count, total = np.asarray(counts.sum()), np.asarray(middles @ counts)
        at_ends = (np.asarray(edges[:-1] @ counts), np.asarray(edges[1:] @ counts))
    else:
        ones = np.ones(axis.cells)
        count, _ = weighted(reading, groups, conditions | {place: ones})
        total, _ = weighted(reading, groups, conditions | {place: middles})
        low, high = (weighted(reading, groups, conditions | {place: end})[0] for end in (edges[:-1], edges[1:]))
        at_ends = (low, high)
    _, count_error = weighted(reading, groups, conditions | {place: np.ones(axis.cells)})
    count = np.where(count > TOLD * count_error, count, np.nan)
    mean = total / count if centred else np.zeros_like(total)
    if fine:
        variance = noise.fine_variance(place, middles - float(mean))
    else:
        variance = _variance(reading, groups, conditions, place, middles, mean)
    spread = np.sqrt(variance) / (count if centred else 1.0)
    return total, count, spread, at_ends, cell_keys([axes[one] for one in groups])


def _usual_places(reading: Reading, place: int) -> np.ndarray:
    """Where in each cell of a column records lie on average, as its fine cells have them; the middle without any."""
    axis = reading.layout.axes[place]
    fine = BestGuess(reading).fine_counts(place).reshape(axis.cells, -1)
    edges = axis.edges(fine=True)
    middles = ((edges[:-1] + edges[1:]) / 2.0).reshape(fine.shape)
    totals = fine.sum(axis=1)
    return np.where(totals > 0, (fine * middles).sum(axis=1) / np.where(totals > 0, totals, 1.0), middles.mean(axis=1))


def _variance(
    reading: Reading,
    groups: Sequence[int],
    conditions: dict[int, np.ndarray],
    place: int,
    values: np.ndarray,
    mean: np.ndarray,
) -> np.ndarray:
    """Of the sum over a group of the values less the group's mean."""
    noise, axes = reading.noise, reading.layout.axes
    table = measured(reading, (*groups, *conditions, place))
    averages: list[np.ndarray] = []
    variances: list[np.ndarray] = []
    for one in table:
        if one == place:
            averages.append(values.mean() - mean)
            variances.append(np.asarray(noise.axis_variance(place, values)))
        elif one in conditions:
            averages.append(np.asarray(conditions[one].mean()))
            variances.append(np.asarray(noise.axis_variance(one, conditions[one])))
        else:
            side = [1] * len(groups)
            side[list(groups).index(one)] = axes[one].cells
            averages.append(np.full(side, 1.0 / axes[one].cells))
            variances.append(noise.axis_spread(one).reshape(side))
    return noise.products(table, averages, variances)


def _frame(estimate: np.ndarray, error: np.ndarray, level: float) -> dict[str, object]:
    reach = float(ndtri(0.5 + level / 2.0)) * error
    columns = {"estimate": estimate, "low": estimate - reach, "high": estimate + reach, "standard_error": error}
    return {name: values.reshape(-1) for name, values in columns.items()}
