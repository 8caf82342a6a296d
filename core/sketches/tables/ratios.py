"""Shares, means and sums: quotients of counts.

The error of a quotient N / D is that of (N - r D) / D at r = N / D, to first order. For shares, D is a sum of cells of
which N is one: only residuals that hold none of the columns that are added up are in both, so that cov(N, D) =
var(D) / cells. For a mean, N - r D counts every cell by its place less the mean r; all but its average lies in
contrasts, where the mean plays no part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from ...domain import Dates
from ...errors import RequestError
from ..answers import check_level
from .best_guess import best_guess, guessed
from .bounded_means import NoiseOfParts, Part
from .counts import (
    Chosen,
    Where,
    cell_keys,
    check_apart,
    chosen,
    chosen_values,
    ends_of,
    in_natural_units,
    measured,
    places_of,
    spread,
    weighted,
)
from .expected_counts import nearest_between
from .reading import Reading
from .table_layout import Columns

TOLD = 2.0  # Standard errors that a number of records must be above zero for anything to be divided by it.


def shares(reading: Reading, of: Sequence[str], within: Sequence[str], where: Where, level: float) -> pd.DataFrame:
    """The share of each combination of cells among the records that fit, or of those in each group.

    Noise may make some shares negative, and so others too large for the place that is left. What is told are the
    nearest to the unbiased ones that are within their intervals, not negative, and add up to 1.
    """
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
    error = np.sqrt(spread) / divisor
    if reading.luck is None:
        frame = _frame(share, error, reading.noise.reach(level) * error)
    else:
        luck = reading.luck.variance(share, share, 1.0) / divisor
        ends = reading.luck.ends(share, reading.noise.reach(level) * error, level, divisor, 1.0 / divisor)
        frame = _frame(share, np.sqrt(error**2 + luck), ends)
    frame |= {end: np.clip(frame[end], 0.0, 1.0) for end in ("low", "high")}
    low, high = (np.reshape(frame[end], (-1, int(cells))) for end in ("low", "high"))
    frame["estimate"] = nearest_between(share.reshape(low.shape), low, high, 1.0).reshape(-1)
    keys = cell_keys([axes[place] for place in (*groups, *parts)])
    return pd.DataFrame(keys | frame)


def means(reading: Reading, column: str, by: Sequence[str], where: Where, level: float) -> pd.DataFrame:
    """The mean of a column of numbers in each group.

    Inside a cell records are taken to lie where those of the column by itself do. By itself, the interval allows for
    any place in the cell; in a part or group for chance, and for what `_off_cells` says. Neither lies outside what was
    asked for, where no mean can be. In a part or group the estimate is that of the best guess, as quantiles are, within
    the interval.
    """
    check_level(level)
    asked = _asked(reading, column, by, where)
    count = asked.count()
    mean = asked.total(asked.middles * asked.share) / count
    spread = np.sqrt(asked.variance(asked.middles, mean)) / count
    reach = reading.noise.reach(level)
    if asked.fine:
        below, above = _quotient_reaches(asked, mean, count, reach)
        least, most = (asked.total(values * kept) / asked.count(kept) for values, kept in asked.mean_ends)
    else:
        guess = asked.guessed_mean()
        mean = np.where(np.isnan(mean) | np.isnan(guess), mean, guess)
        ends = _ends_of_part(asked, count, reach)
        below, above = (np.maximum(sign * (end - mean), 0.0) for sign, end in zip((-1.0, 1.0), ends, strict=True))
        least, most = (mean + sign * _off_cells(asked, mean) for sign in (-1.0, 1.0))
    if reading.luck is not None:
        squares = asked.total(asked.middles**2 * asked.share) / count
        luck = reading.luck.variance(squares, mean, 1.0) / count
        spread = np.sqrt(spread**2 + luck)
        below, above = (reading.luck.reach(reach, luck, level) for reach in (below, above))
    found = {"estimate": mean, "low": least - below, "high": most + above}
    axis = reading.layout.axes[asked.place]
    within = {name: np.clip(values, asked.ends[0], asked.greatest) for name, values in found.items()}
    columns = {name: in_natural_units(axis, values) for name, values in within.items()} | {"standard_error": spread}
    return pd.DataFrame(asked.keys | {name: values.reshape(-1) for name, values in columns.items()})


def _off_cells(asked: _Asked, mean: np.ndarray) -> np.ndarray:
    """How far the mean of each part may be off by where in cells its records lie, and by conditions that cut a cell.

    A part that is chosen by what hangs together with x has more of its records on one side of each cell too. Where it
    does so evenly, its mean lies away from that of all by so much more as the spread within cells is of the whole
    spread (Sheppard 1898); twice that is allowed for. A cell that a condition cuts may have its records with none of
    what it means, or with all: the interval reaches to both.
    """
    guess = best_guess(asked.reading).counts((asked.place,)) * asked.share
    people = max(float(guess.sum()), 1.0)
    middle = float(guess @ asked.middles) / people
    within = float(guess @ asked.lengths**2) / people / 12.0
    whole = float(guess @ (asked.middles - middle) ** 2) / people + within
    off = 2.0 * np.abs(mean - middle) * within / max(whole, 1e-300)
    if not all(one.whole for one in (asked.own, *asked.cut.values())):
        ends = [asked.guessed_mean(end) for end in ("least", "most")]
        off = off + np.max([np.nan_to_num(np.abs(one - mean)) for one in ends], axis=0)
    return np.asarray(off)


def _ends_of_part(asked: _Asked, count: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the mean of each part by noise, and by chance in cells: that of all sets K of a stretch of cells."""
    guess = best_guess(asked.reading).counts((asked.place,))
    cells, every = asked.cells(), asked.reading.counts((asked.place,))
    others = {place: one.share for place, one in asked.cut.items()} | dict.fromkeys(asked.groups)
    noises = NoiseOfParts(asked.reading, asked.place, others)
    found = np.full((2, *count.shape), np.nan)
    for group in np.ndindex(count.shape):
        if np.isnan(count[group]):
            continue
        size = min(float(count[group]) / max(float(guess @ asked.share), 1.0), 1.0)
        chance = float(np.maximum(cells[group], 0.0) @ (asked.share * asked.lengths**2)) * (1.0 - size) / 12.0
        for end, sign in enumerate((-1.0, 1.0)):
            part = Part(sign * asked.middles, asked.share, cells[group], every, guess, size, chance)
            noise = noises.at(dict(zip(asked.groups, group, strict=True)))
            found[(end, *group)] = sign * part.largest_mean(noise, reach)
    return found[0], found[1]


def _quotient_reaches(
    asked: _Asked, mean: np.ndarray, count: np.ndarray, reach: float
) -> tuple[np.ndarray, np.ndarray]:
    """How far below and above its estimate the mean of each group may lie, by noise of so many standard errors.

    With r taken from the estimate, N is 0, and N - r D has noise of variance a - 2 b r + c r². Those r are kept for
    which it is within `reach` standard errors of 0 (Fieller 1954): those between the roots of

        (D² - reach² c) r² + 2 reach² b r - reach² a = 0,

    which holds at any size of a group, where errors to first order are too short for small ones. Where D itself cannot
    be told from nobody, any r is kept.
    """
    unit = max(asked.ends[1] - asked.ends[0], 1e-300)  # so that coefficients are alike in size
    a, plus, minus = (asked.variance(asked.middles, mean + unit * shift) for shift in (0.0, 1.0, -1.0))
    b, c = (minus - plus) / 4.0, np.maximum((plus + minus) / 2.0 - a, 0.0)
    square = reach**2
    leading = (unit * count) ** 2 - square * c
    root = np.sqrt(np.maximum((square * b) ** 2 + leading * square * a, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = [np.where(leading > 0.0, (root + sign * square * b) / leading * unit, np.inf) for sign in (1.0, -1.0)]
    below, above = (np.where(np.isnan(mean), np.nan, end) for end in ends)
    return below, above


def sums(reading: Reading, column: str, by: Sequence[str], where: Where, level: float) -> pd.DataFrame:
    """The sum of a column of numbers in each group; otherwise as `means`."""
    check_level(level)
    asked = _asked(reading, column, by, where)
    if isinstance(reading.layout.axes[asked.place].column, Dates):
        raise RequestError(f"The column {column!r} holds dates, which have a mean and no sum.")
    total = asked.total(asked.middles * asked.share)
    spread = np.sqrt(asked.variance(asked.middles, np.zeros_like(total)))
    reach = reading.noise.reach(level) * spread
    if reading.luck is not None:
        luck = reading.luck.variance(asked.total(asked.middles**2 * asked.share**2), total, reading.people)
        spread, reach = np.sqrt(spread**2 + luck), reading.luck.reach(reach, luck, level)
    low, high = (asked.total(values) for values in asked.sum_ends)
    columns = {"estimate": total, "low": low - reach, "high": high + reach, "standard_error": spread}
    return pd.DataFrame(asked.keys | {name: values.reshape(-1) for name, values in columns.items()})


@dataclass(frozen=True, eq=False)
class _Asked:
    """Sums over the cells of a column of numbers, in each of some groups, of the records that fit a condition."""

    reading: Reading
    place: int
    groups: Columns  # Columns that make the groups.
    cut: dict[int, Chosen]  # Conditions on further columns.
    own: Chosen  # The condition on the column itself: all of it, or a range.
    ends: tuple[float, float]  # Of that range, within the bounds.
    fine: bool  # Whether the column is asked for by itself, so that its fine cells tell.

    @property
    def greatest(self) -> float:
        """The largest value that is meant: the last step of the range, where the column has steps."""
        steps = self.reading.layout.axes[self.place].steps
        return self.ends[1] - (0.0 if steps is None else steps.step)

    @property
    def conditions(self) -> dict[int, np.ndarray]:
        """Weights of the cells of further columns."""
        return {place: one.share for place, one in self.cut.items()}

    @property
    def keys(self) -> dict[str, object]:
        return cell_keys([self.reading.layout.axes[one] for one in self.groups])

    @property
    def share(self) -> np.ndarray:
        return self.own.share

    @property
    def sides(self) -> tuple[np.ndarray, np.ndarray]:
        """Both ends of what is meant of each cell."""
        axis = self.reading.layout.axes[self.place]
        low, high = axis.sides(self.fine, self.ends)
        return axis.beside_missing(low, self.fine), axis.beside_missing(high, self.fine)

    @cached_property
    def middles(self) -> np.ndarray:
        """Where the records of each cell lie on average, as far as they are meant."""
        low, high = self.sides
        if self.fine:
            return (low + high) / 2.0
        usual = _usual_places(self.reading, self.place)
        return np.where(self.own.least == 1.0, usual, (low + high) / 2.0)

    @property
    def mean_ends(self) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
        """Values and weights of the cells for the least mean and the largest: of a cell that is cut anything between
        none and all is meant, and a mean is least with all of the lower one and nothing of the upper one.
        """
        (low, high), (least, most) = self.sides, (self.own.least, self.own.most)
        cut = least < most
        lower = cut & (np.arange(len(cut)) == int(np.argmax(most)))
        return (low, np.where(lower, most, least)), (high, np.where(lower, least, most))

    @property
    def sum_ends(self) -> tuple[np.ndarray, np.ndarray]:
        """What a record of each cell adds to the sum, at least and at most."""
        low, high = self.sides
        whole = self.own.least == 1.0
        least, most = (np.where(whole, side, edge(side, 0.0)) for side, edge in ((low, np.minimum), (high, np.maximum)))
        return least * self.own.most, most * self.own.most

    def total(self, weights: np.ndarray) -> np.ndarray:
        if self.fine:
            return np.asarray(weights @ self.reading.fine_counts(self.place))
        return weighted(self.reading, self.groups, self.conditions | {self.place: weights})[0]

    def count(self, kept: np.ndarray | None = None) -> np.ndarray:
        """The records of each group; NaN where there are too few to be told from none."""
        weights = self.share if kept is None else kept
        _, error = weighted(self.reading, self.groups, self.conditions | {self.place: weights}, self.fine)
        found = self.total(weights)
        return np.where(found > TOLD * error, found, np.nan)

    def cells(self) -> np.ndarray:
        """The counts of each cell of the column in each part, float64 (groups ..., cells)."""
        return weighted(self.reading, (*self.groups, self.place), self.conditions)[0]

    @cached_property
    def lengths(self) -> np.ndarray:
        """Of what is meant of each cell."""
        low, high = self.sides
        return high - low

    def guessed_mean(self, cells: str = "share") -> np.ndarray:
        """The mean of each part by the best guess, NaN where there is none; of cells that are cut with their share, or
        with all ("most") or none of them ("least").
        """
        meant = {place: getattr(one, cells) for place, one in self.cut.items()}
        counts = guessed(self.reading, (*self.groups, self.place), meant)
        found = counts * getattr(self.own, cells)
        people = found.sum(axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(people > 0.0, found @ self.middles / people, np.nan)

    def variance(self, values: np.ndarray, mean: np.ndarray) -> np.ndarray:
        """Of the sum over a group of the values less the group's mean."""
        share = self.share
        if self.fine:
            return self.reading.noise.fine_variance(self.place, (values - float(mean)) * share)
        table = measured(self.reading, (*self.groups, *self.conditions, self.place))
        own = {self.place: (values - mean[..., None]) * share}
        return spread(self.reading, table, self.groups, self.conditions | own, len(self.groups))


def _asked(reading: Reading, column: str, by: Sequence[str], where: Where) -> _Asked:
    """What is asked, checked."""
    axes = reading.layout.axes
    (place,) = places_of(axes, [column])
    groups, asked = places_of(axes, by), places_of(axes, list(where))
    axis = axes[place]
    if axis.categories:
        raise RequestError(f"The column {column!r} holds categories, which have no mean: ask for shares.")
    check_apart(groups, (place, *asked))
    fine = not groups and set(asked) <= {place}
    own = chosen_values(axis, where, fine)
    cut = {one: _as_fine_cells_say(reading, one, where[axes[one].name]) for one in asked if one != place}
    return _Asked(reading, place, groups, cut, own, ends_of(axis, where.get(column)), fine)


def _as_fine_cells_say(reading: Reading, place: int, condition: object) -> Chosen:
    """A condition, of which a cell that is cut counts by the share that its fine cells have of it."""
    axis = reading.layout.axes[place]
    one = chosen(axis, condition)
    if one.whole:
        return one
    fine = best_guess(reading).fine_counts(place).reshape(axis.cells, -1)
    inside = (chosen(axis, condition, fine=True).share.reshape(fine.shape) * fine).sum(axis=1)
    told = (one.least < one.most) & (fine.sum(axis=1) > 0.0)
    return replace(one, share=np.where(told, inside / np.where(told, fine.sum(axis=1), 1.0), one.share))


def _usual_places(reading: Reading, place: int) -> np.ndarray:
    """Where in each cell of a column records lie on average, as its fine cells have them; the middle without any."""
    axis = reading.layout.axes[place]
    fine = best_guess(reading).fine_counts(place).reshape(axis.cells, -1)
    low, high = axis.sides(fine=True)
    middles = axis.beside_missing((low + high) / 2.0, fine=True).reshape(fine.shape)
    totals = fine.sum(axis=1)
    return np.where(totals > 0, (fine * middles).sum(axis=1) / np.where(totals > 0, totals, 1.0), middles.mean(axis=1))


def _frame(
    estimate: np.ndarray, error: np.ndarray, reach: np.ndarray | tuple[np.ndarray, np.ndarray]
) -> dict[str, np.ndarray]:
    """The columns of answers whose bands reach so far to either side, or have these ends."""
    low, high = reach if isinstance(reach, tuple) else (estimate - reach, estimate + reach)
    columns = {"estimate": estimate, "low": low, "high": high, "standard_error": error}
    return {name: values.reshape(-1) for name, values in columns.items()}
