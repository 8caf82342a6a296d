"""Quantiles of released tables.

They are read off the noisy counts below each place. At every edge of the cells, T is the number of records below
it less q times all of them: below the quantile it is negative, above it is not. From the lower end on, edges are passed
for as long as T is told from zero on the negative side, and from the upper end likewise: the quantile lies between the
last ones passed. To miss it, the very edge beside it must be told wrongly, so the interval holds with its level,
however many edges there are.

The quantile itself is where the most likely rising course of these sums passes zero; in a part or group that of the
best guess, as its mean is.

Where a quantile lies in a cell that a heap of equal values fills: at the roundest number in the cell.

Records are taken to be spread evenly over a cell, which many equal values are not: half of all are at one place then,
and a number read off between the cell's ends is as many records off. People heap at round numbers, 0 the roundest
of all. A cell is taken for a heap where three things are seen beyond doubt in counts that are released: it holds three
times as many as a smooth course through the cells on either side could; both are looked at as widely as noise needs to
tell them from nothing; and no less than a tenth of what it holds lies elsewhere, as bounds much too wide put everybody
into one cell. The interval of the quantile stays the cell, so a heap at another number costs no more than before.
"""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from ...domain import Dates
from ...errors import RequestError
from ...runtime.parameters import check_number
from ..answers import check_level
from .best_guess import guessed
from .counts import Where, cell_keys, check_apart, chosen, chosen_values, ends_of, in_natural_units, places_of, weighted
from .reading import Reading

TIMES = 3.0  # As many as a smooth course would have, that a heap has.
ELSEWHERE = 1.0 / 9.0  # Of those in the heap, how many lie in other cells at least.
DIGITS = 15  # Of a round number at most.


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
    mine, steps = axes[place], axes[place].steps
    cells = mine.valued << mine.halvings if fine else mine.valued
    # Of every edge, the records below it less their share of all: T, by groups.
    weights = mine.beside_missing(np.tril(np.ones((cells + 1, cells)), -1) - share, fine) * own
    found = weighted(reading, groups, conditions | {place: weights}, fine)
    course = rising(found[0])
    if not fine:
        guess = guessed(reading, (*groups, place), conditions) @ weights.T
        course = np.where(np.isnan(guess), course, guess)
    below, error = (values.reshape(-1, cells + 1) for values in found)
    reach = reading.noise.reach(level) * error
    if reading.luck is not None:
        squares = weighted(reading, groups, conditions | {place: weights**2}, fine)[0].reshape(below.shape)
        reach = reading.luck.reach(reach, reading.luck.variance(squares, below, reading.people), level)
    step = 0.0 if steps is None else steps.step
    by_numbers = not isinstance(axes[place].column, Dates)
    rows = [_one(edges, step, by_numbers, *row) for row in zip(course.reshape(below.shape), below, reach, strict=True)]
    estimate, low, high = (in_natural_units(axes[place], ends) for ends in np.array(rows).T)
    return pd.DataFrame(cell_keys([axes[i] for i in groups]) | {"estimate": estimate, "low": low, "high": high})


def rising(below: np.ndarray) -> np.ndarray:
    """The most likely rising course of sums up to each edge: between the highest so far and the lowest from here on."""
    lowest = np.minimum.accumulate(below[..., ::-1], axis=-1)[..., ::-1]
    course: np.ndarray = (np.maximum.accumulate(below, axis=-1) + lowest) / 2.0
    return course


def _one(
    edges: np.ndarray, step: float, by_numbers: bool, course: np.ndarray, below: np.ndarray, reach: np.ndarray
) -> tuple[float, float, float]:
    """The quantile by a rising course of T, and the ends of its interval by T as counted and how far it may be off, at
    every edge; a value where there are steps.

    `by_numbers`: whether values heap at round numbers, as dates do not.
    """
    near = 1e-9 * float(np.abs(below).max())  # sums that are 0 but for rounding
    under, over = below + reach < -near, below - reach > near
    first = int(np.argmin(under)) if not under.all() else len(edges) - 1
    last = int(np.argmin(over[::-1])) if not over.all() else len(edges) - 1
    least, most = edges[max(first - 1, 0)], edges[min(len(edges) - last, len(edges) - 1)]
    place = int(np.clip(np.searchsorted(course, -near), 1, len(edges) - 1))
    before, after = course[place - 1], course[place]
    part = 0.5 if after <= before else float(np.clip(-before / (after - before), 0.0, 1.0))
    found = edges[place - 1] + part * (edges[place] - edges[place - 1])
    if step:  # the last value that begins before it, as a cell ends where the next value is
        found = edges[place - 1] + step * (np.ceil((found - edges[place - 1]) / step - 1e-9) - 1.0)
        found, most = max(found, edges[place - 1]), most - step
    doubt = float(reach[place - 1 : place + 1].sum())
    if by_numbers and edges[place] - edges[place - 1] > step and heaped(np.diff(course), place - 1, doubt):
        found = roundest(float(edges[place - 1]), float(edges[place]), float(found), step)
    least, most = min(least, most), max(least, most)
    return float(np.clip(found, least, most)), float(least), float(most)


def heaped(counts: np.ndarray, cell: int, doubt: float) -> bool:
    """Whether a cell holds a heap for certain.

    `counts`: released records of each cell, none below 0, float64 (cells,). `cell`: which one. `doubt`: how far off its
    own may be.
    """
    own = float(counts[cell])
    if own <= 2.0 * doubt or float(counts.sum()) - own < ELSEWHERE * own:
        return False
    smooth = max(_smooth(side, doubt) for side in (counts[:cell][::-1], counts[cell + 1 :]))
    return own - doubt > TIMES * smooth


def _smooth(beside: np.ndarray, doubt: float) -> float:
    """How many a cell would hold where the course of those on one side of it, the nearest first, went on."""
    wide = 1
    while 2 * wide <= len(beside):
        near, far = float(beside[:wide].sum()), float(beside[wide : 2 * wide].sum())
        if near > 2.0 * doubt:  # a course that falls from here on rises towards the cell, up to twice as steeply
            return near / wide * max(1.0, near / max(far, doubt, 1e-9)) ** (1.0 + 1.0 / wide)
        wide *= 2
    return float(beside.sum()) / max(len(beside), 1)


def roundest(low: float, high: float, near: float, step: float = 0.0, apart: float = 0.0) -> float:
    """The roundest number from ``low`` to below ``high``, of some as round the nearest to ``near``.

    `step`: where above 0, only ``low`` and what lies whole steps above it may occur. `apart`: how far numbers as round
    lie apart at least, so that few cells hold one by chance. ``near`` where no number is round.
    """
    if low <= 0.0 < high and _occurs(0.0, low, step):
        return 0.0
    power = math.floor(math.log10(max(abs(low), abs(high)))) + 1
    for digits in range(DIGITS):
        for leading in (5.0, 2.0, 1.0):
            size = leading * 10.0 ** (power - digits)
            if size < apart:
                return near
            first, last = math.ceil(low / size - 1e-9), math.ceil(high / size - 1e-9) - 1
            number = float(f"{size * min(max(math.floor(near / size + 0.5), first), last):.15g}")  # 0.69 is 69 * 0.01
            if first <= last and _occurs(number, low, step):
                return number
    return near


def _occurs(number: float, low: float, step: float) -> bool:
    steps = (number - low) / step if step else 0.0
    return abs(steps - math.floor(steps + 0.5)) < 1e-6
