"""Quantiles of a column of numbers, with intervals where the noisy counts below a place can be told apart.

At every edge of the cells, T is the number of records below it less q times all of them: below the quantile it is
negative, above it is not. From the lower end on, edges are passed for as long as T is told from zero on the negative
side, and from the upper end likewise: the quantile lies between the last ones passed. To miss it, the very edge beside
it must be told wrongly, so the interval holds with its level, however many edges there are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ....checks import check_number
from ....errors import RequestError
from ...answers import check_level
from ..reading import Reading
from .conditions import Where, chosen, chosen_values, ends_of, places_of
from .counts import cell_keys, check_apart, in_natural_units, measured


def quantiles(
    reading: Reading, column: str, quantile: float, by: Sequence[str], where: Where, level: float
) -> pd.DataFrame:
    """The value below which a share of the records of each group lies; see `TableAnswers.quantile`."""
    check_level(level)
    share = check_number(quantile, "The quantile")
    if not 0.0 < share < 1.0:
        raise RequestError("The quantile must lie strictly between 0 and 1, such as 0.5 for the median.")
    axes = reading.layout.axes
    (place,) = places_of(axes, [column])
    groups, asked = places_of(axes, by), places_of(axes, list(where))
    check_apart(groups, (place, *asked))
    if axes[place].categories:
        raise RequestError(f"The column {column!r} holds categories, which have no quantiles.")
    fine = not groups and set(asked) <= {place}
    own = chosen_values(axes[place], where, fine).share
    edges = np.clip(axes[place].edges(fine), *ends_of(axes[place], where.get(column)))
    conditions = {i: chosen(axes[i], where[axes[i].name]).share for i in asked if i != place}
    below, error = _below(reading, place, share, groups, conditions, own)
    reach = reading.noise.reach(level) * error
    steps = axes[place].steps
    step = 0.0 if steps is None else steps.step
    rows = [_one(edges, step, *row) for row in zip(below, below - reach, below + reach, strict=True)]
    estimate, low, high = (in_natural_units(axes[place], ends) for ends in np.array(rows).T)
    return pd.DataFrame(cell_keys([axes[i] for i in groups]) | {"estimate": estimate, "low": low, "high": high})


def _below(
    reading: Reading,
    place: int,
    share: float,
    groups: Sequence[int],
    conditions: dict[int, np.ndarray],
    own: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """T at every edge and its standard error, float64 (groups, cells + 1)."""
    axes, noise = reading.layout.axes, reading.noise
    fine = not groups and not conditions
    mine = axes[place]
    cells = mine.valued << mine.halvings if fine else mine.valued
    weights = mine.beside_missing(np.tril(np.ones((cells + 1, cells)), -1) - share, fine) * own
    if fine:
        return (weights @ reading.fine_counts(place))[None], np.sqrt(noise.fine_variance(place, weights))[None]
    table = measured(reading, (*groups, *conditions, place))
    found = reading.counts(table)
    averages: list[np.ndarray] = []
    variances: list[np.ndarray] = []
    for one in table:
        side = [1] * (len(groups) + 1)
        if one == place:
            side[-1] = cells + 1
            averages.append(weights.mean(axis=1).reshape(side))
            variances.append(noise.axis_variance(place, weights).reshape(side))
        elif one in conditions:
            averages.append(np.asarray(conditions[one].mean()))
            variances.append(np.asarray(noise.axis_variance(one, conditions[one])))
        else:
            side[list(groups).index(one)] = axes[one].cells
            averages.append(np.full(side, 1.0 / axes[one].cells))
            variances.append(noise.axis_spread(one).reshape(side))
    for axis in reversed(range(len(table))):
        if table[axis] in conditions:
            found = np.tensordot(found, conditions[table[axis]], axes=(axis, 0))
    left = [one for one in table if one not in conditions]
    found = np.transpose(found, [left.index(one) for one in (*groups, place)])
    below = found.reshape(-1, mine.cells) @ weights.T
    error = np.sqrt(np.broadcast_to(noise.products(table, averages, variances), (*found.shape[:-1], cells + 1)))
    return below, error.reshape(below.shape)


def _one(
    edges: np.ndarray, step: float, below: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[float, float, float]:
    """The quantile and the ends of its interval, by T and its band at every edge; a value where there are steps."""
    near = 1e-9 * float(np.abs(below).max())  # sums that are 0 but for rounding
    under, over = high < -near, low > near
    first = int(np.argmin(under)) if not under.all() else len(edges) - 1
    last = int(np.argmin(over[::-1])) if not over.all() else len(edges) - 1
    least, most = edges[max(first - 1, 0)], edges[min(len(edges) - last, len(edges) - 1)]
    # The most likely rising course of T: between the highest so far and the lowest from here on.
    course = (np.maximum.accumulate(below) + np.minimum.accumulate(below[::-1])[::-1]) / 2.0
    place = int(np.clip(np.searchsorted(course, -near), 1, len(edges) - 1))
    before, after = course[place - 1], course[place]
    part = 0.5 if after <= before else float(np.clip(-before / (after - before), 0.0, 1.0))
    found = edges[place - 1] + part * (edges[place] - edges[place - 1])
    if step:  # the last value that begins before it, as a cell ends where the next value is
        found = edges[place - 1] + step * (np.ceil((found - edges[place - 1]) / step - 1e-9) - 1.0)
        found, most = max(found, edges[place - 1]), most - step
    least, most = min(least, most), max(least, most)
    return float(np.clip(found, least, most)), float(least), float(most)
