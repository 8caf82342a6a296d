"""Answers about columns that no table has together: the best guess, between bounds that the measured tables set.

The guess is the most even table that agrees with those that were measured, and may be wrong by as much as they allow.
So its interval is not that of the noise alone: it holds whatever records there could be. Let A_P be the records that
fit the conditions on the columns P of one measured table. Everyone who fits all conditions is in every A_P, so

    |all| <= min over P of |A_P|,     |all| >= sum over j of |A_Pj| - (k - 1) |A_C|

for any k tables which have all columns between them, and whose common columns are C (Bonferroni: whoever of A_C is
missing from the intersection is missing from one of the A_Pj). Every count on the right has an interval of its own;
those that one answer needs share its error probability, so the answer's interval holds with its level. That of a mean
is the least and the largest mean of any numbers of records between such bounds, one pair a cell of the averaged column.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from ..answers import check_level
from .best_guess import BestGuess
from .counts import (
    Chosen,
    Where,
    cell_keys,
    check_apart,
    chosen,
    chosen_values,
    ends_of,
    in_natural_units,
    over_cells,
    places_of,
    weighted,
)
from .reading import Reading
from .table_layout import Columns


@dataclass(frozen=True, eq=False)
class GuessedAnswers:
    """The best guess of one release about any of its columns together, with bounds; asked as `TableAnswers` is."""

    reading: Reading
    level: float = 0.95  # Probability with which each interval holds the exact answer.

    @cached_property
    def _guess(self) -> BestGuess:
        return BestGuess(self.reading)

    def table(self, *by: str, where: Where | None = None) -> pd.DataFrame:
        """How many records there are in each combination of the cells of some columns, of those that fit."""
        check_level(self.level)
        axes, conditions = self.reading.layout.axes, where or {}
        kept, asked = places_of(axes, by), places_of(axes, list(conditions))
        check_apart(kept, asked)
        meant = {place: chosen(axes[place], conditions[axes[place].name]) for place in asked}
        low, high = self._bounds(kept, meant, 1)
        guess = np.clip(self._counts(kept, meant), low, high)
        return self._frame(kept, {"estimate": guess, "low": low, "high": high})

    def mean(self, column: str, by: Sequence[str], where: Where) -> pd.DataFrame:
        """The mean of a column of numbers in each group; NaN where nobody may be."""
        return self._of_values(column, by, where, mean=True)

    def sum(self, column: str, by: Sequence[str], where: Where) -> pd.DataFrame:
        """The sum of a column of numbers in each group."""
        return self._of_values(column, by, where, mean=False)

    def _of_values(self, column: str, by: Sequence[str], where: Where, mean: bool) -> pd.DataFrame:
        check_level(self.level)
        axes = self.reading.layout.axes
        (place,) = places_of(axes, [column])
        axis = axes[place]
        groups, asked = places_of(axes, by), places_of(axes, list(where))
        check_apart(groups, (place, *asked))
        own = chosen_values(axis, where, fine=False)
        meant = {one: chosen(axes[one], where[axes[one].name]) for one in asked if one != place}
        sides = [axis.beside_missing(ends) for ends in axis.sides(False, ends_of(axis, where.get(column)))]
        low, high = self._bounds((*groups, place), meant, axis.cells)
        low, high = low * own.least, high * own.most
        guess = np.clip(self._counts((*groups, place), meant) * own.share, low, high)
        middles = (sides[0] + sides[1]) / 2.0
        with np.errstate(invalid="ignore", divide="ignore"):
            if mean:
                found = {
                    "estimate": guess @ middles / guess.sum(axis=-1),
                    "low": -_largest_mean(-sides[0], low, high),
                    "high": _largest_mean(sides[1], low, high),
                }
                found = {name: in_natural_units(axis, values) for name, values in found.items()}
            else:
                least, most = np.minimum(sides[0] * low, sides[0] * high), np.maximum(sides[1] * low, sides[1] * high)
                found = {"estimate": guess @ middles, "low": least.sum(axis=-1), "high": most.sum(axis=-1)}
        return self._frame(groups, found)

    def _frame(self, kept: Columns, found: dict[str, np.ndarray]) -> pd.DataFrame:
        keys = cell_keys([self.reading.layout.axes[place] for place in kept])
        frame = pd.DataFrame(keys | {name: np.asarray(values).reshape(-1) for name, values in found.items()})
        frame.attrs["guessed"] = True
        return frame

    def _counts(self, kept: Columns, meant: dict[int, Chosen]) -> np.ndarray:
        table = tuple(sorted((*kept, *meant)))
        return over_cells(self._guess.counts(table), table, kept, {i: one.share for i, one in meant.items()})

    def _bounds(self, kept: Columns, meant: dict[int, Chosen], answers: int) -> tuple[np.ndarray, np.ndarray]:
        """Ends of every combination of the kept columns' cells, float64; `answers` of them have to hold at once."""
        columns = tuple(sorted((*kept, *meant)))
        parts = self._guess.measured_parts(columns)
        covers = [cover for first in range(len(parts)) if (cover := _cover(parts[first:] + parts[:first], columns))]
        needed = answers * (len(parts) + sum(len(cover) + 1 for cover in covers))
        reach = self.reading.noise.reach(1.0 - (1.0 - self.level) / needed)
        ends = {part: self._ends(part, kept, meant, reach) for part in parts}
        high = np.min(np.broadcast_arrays(*(most for _, most in ends.values())), axis=0)
        low = np.zeros_like(high)
        for cover in covers:
            common = tuple(sorted(set(cover[0]).intersection(*cover[1:])))
            everyone = self._ends(common, kept, meant, reach)[1]
            low = np.maximum(low, sum(ends[part][0] for part in cover) - (len(cover) - 1) * everyone)
        high = np.maximum(high, 0.0)
        return np.minimum(low, high), high

    def _ends(
        self, part: Columns, kept: Columns, meant: dict[int, Chosen], reach: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """The interval of how many fit the conditions on some columns, with a side of length 1 for every other one."""
        inside = tuple(place for place in kept if place in part)
        mine = {place: one for place, one in meant.items() if place in part}
        shape = [self.reading.layout.axes[place].cells if place in part else 1 for place in kept]
        least, least_error = weighted(self.reading, inside, {place: one.least for place, one in mine.items()})
        most, most_error = weighted(self.reading, inside, {place: one.most for place, one in mine.items()})
        if self.reading.luck is not None:
            least_error, most_error = (
                np.sqrt(error**2 + self.reading.luck.variance(count, count, self.reading.people))
                for count, error in ((least, least_error), (most, most_error))
            )
        return (least - reach * least_error).reshape(shape), (most + reach * most_error).reshape(shape)


def _cover(parts: Sequence[Columns], columns: Columns) -> tuple[Columns, ...]:
    """Some of the parts which have all columns between them, beginning with the first; none where all do not."""
    taken: list[Columns] = []
    left = set(columns)
    first = parts[0]
    for part in sorted(parts, key=lambda part: (part != first, -len(set(part) & set(first)), part)):
        if left & set(part):
            taken.append(part)
            left -= set(part)
    return () if left else tuple(taken)


def _largest_mean(values: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The largest mean of values of which between low and high are there, by the last side; NaN where nobody can be.

    As many as may be of the largest ones and as few as may be of the others: one of the places to part them is best.
    """
    order = np.argsort(values)
    values, low, high = values[order], low[..., order], high[..., order]
    few, many = np.cumsum(low, axis=-1), np.cumsum(high[..., ::-1], axis=-1)[..., ::-1]
    few_sum = np.cumsum(low * values, axis=-1)
    many_sum = np.cumsum((high * values)[..., ::-1], axis=-1)[..., ::-1]
    below = np.concatenate([np.zeros((*few.shape[:-1], 1)), few[..., :-1]], axis=-1)
    below_sum = np.concatenate([np.zeros((*few.shape[:-1], 1)), few_sum[..., :-1]], axis=-1)
    whole = below + many
    means = np.where(whole > 0, (below_sum + many_sum) / np.where(whole > 0, whole, 1.0), -np.inf)
    found = means.max(axis=-1)
    return np.where(np.isfinite(found), found, np.nan)
