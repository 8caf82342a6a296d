"""Asking a release of tables by the names of columns: unbiased answers with intervals, or the best guess, whose counts
agree with each other.

How strongly two columns hang together, with the noise taken off, and what noise and chance alone would show.

Where columns a and b have nothing to do with each other, a table is what its margins say, e = a b / n, up to chance,
whose variance is about e, and the noise's s^2. The statistic is the sum of (x - e)^2 / (e + s^2) over the cells. What
it would be for columns without any connection is drawn from public random numbers: `alone` is its 95% point. Cramer's V
is made of (x - e)^2 less the noise's share of it: noise does not make it larger, and it is 0 where nothing is left.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import pandas as pd

from ...errors import RequestError
from .best_guess import BestGuess
from .counts import Where, cell_keys, check_apart, chosen, counts, over_cells, places_of
from .quantiles import quantiles
from .ratios import means, shares, sums
from .reading import Reading
from .table_axes import Axis

DRAWS = 200
LEAST = 1.0  # Records that are expected in a cell at least where it is divided by.


def associations(reading: Reading, columns: Sequence[str]) -> pd.DataFrame:
    guess = BestGuess(reading)
    rows = [(*pair.names, *_told(pair, guess)) for pair in _measured(reading, guess, columns)]
    if not rows:
        raise RequestError("No two of these columns were measured together.")
    frame = pd.DataFrame(rows, columns=["column", "other", "cramers_v", "bits", "statistic", "alone", "told"])
    return frame.sort_values("bits", ascending=False, ignore_index=True)


def strengths(
    reading: Reading,
    columns: Sequence[str] = (),
    level: float = 0.95,
    least: Mapping[tuple[str, str], float] | None = None,
) -> pd.DataFrame:
    """Every pair of columns that was measured with Cramer's V, the noise taken off, and its interval.

    First comes what is surely strongest, by the low ends: where cells are many, noise may make a weak pair look strong,
    and its wide interval says so.

    V is between 0 and 1. Where fewer records are expected in a cell than one standard deviation of the noise, that many
    are taken to be: rare cells, of which the noise would tell nothing, make V smaller and never larger. With x - e as x
    less what margins say, and noise of variance s^2 in each, the sum of ((x - e)^2 - s^2) / e has variance 2 s^4 / e^2
    + 4 s^2 (x - e)^2 / e^2 by noise, added up: the interval is of that. `reading`, `columns`, `level`: what was
    released, which columns (all, where none is named), and that of the intervals. `least`: of every pair, the share of
    the records that are taken to be expected in a cell at least: `least_shares`, or more, so that two releases of more
    and less noise are asked for the same.
    """
    reach = reading.noise.reach(level)
    rows = []
    for pair in _measured(reading, BestGuess(reading), columns):
        divisor = np.maximum(pair.expected, pair.records * max(pair.least_share, (least or {}).get(pair.names, 0.0)))
        squares, chance = pair.difference**2, pair.variance
        if reading.luck is not None:  # a draw moves a cell where e records are expected with variance d e
            chance = chance + reading.luck.design * np.maximum(pair.expected, 0.0) * pair.free
        found = float(((squares - chance) / divisor).sum())
        moved = 2.0 * chance**2 + 4.0 * chance * np.maximum(squares - chance, 0.0)
        error = math.sqrt(float((moved / divisor**2).sum()) / pair.free)
        rows.append(
            (*pair.names, *(pair.cramers_v(end) for end in (found, found - reach * error, found + reach * error)))
        )
    frame = pd.DataFrame(rows, columns=["column", "other", "estimate", "low", "high"])
    return frame.sort_values(["low", "estimate"], ascending=False, ignore_index=True)


def least_shares(reading: Reading) -> dict[tuple[str, str], float]:
    """Of every pair that was measured, the share of the records that are expected in a cell at least."""
    return {pair.names: pair.least_share for pair in _measured(reading, BestGuess(reading), ())}


@dataclass(frozen=True)
class _Pair:
    """Two columns that were measured together, cell by cell."""

    places: tuple[int, int]
    names: tuple[str, str]
    records: float  # How many records there are.
    expected: np.ndarray  # What the margins say of every cell, e.
    difference: np.ndarray  # What the table adds to its margins, x - e.
    variance: float  # Of the noise in that, s^2.

    @property
    def free(self) -> float:
        """The share of the cells' noise that is free, as it is of sum 0 along each side."""
        return math.prod(1.0 - 1.0 / side for side in self.expected.shape)

    @property
    def least_share(self) -> float:
        return max(LEAST, math.sqrt(self.variance)) / self.records

    def cramers_v(self, square: float) -> float:
        """Cramer's V of a sum of squares over what was expected."""
        return math.sqrt(min(1.0, max(0.0, square / (self.records * (min(self.expected.shape) - 1)))))


def _measured(reading: Reading, guess: BestGuess, columns: Sequence[str]) -> Iterator[_Pair]:
    """Every pair of these columns, or of all, that was measured."""
    axes, noise = reading.layout.axes, reading.noise
    for places in combinations(sorted(places_of(axes, columns)) if columns else range(len(axes)), 2):
        if places not in noise.by_columns:
            continue
        one, other = places
        expected = np.outer(guess.counts((one,)), guess.counts((other,))) / guess.records
        difference = reading.residual(places) - _interaction(expected)
        variance = noise.variances[places] * math.prod(float(noise.axis_spread(place).mean()) for place in places)
        yield _Pair(places, (axes[one].name, axes[other].name), guess.records, expected, difference, variance)


def _told(pair: _Pair, guess: BestGuess) -> tuple[float, float, float, float, bool]:
    """Cramer's V, bits, the statistic, what it would be for columns without any connection, and whether it is more."""
    scale = np.maximum(pair.expected, LEAST) + pair.variance
    statistic = float((pair.difference**2 / scale).sum())
    # What is released has its exact noise already: these are made-up tables that chance and such noise alone would
    # give, drawn from a public seed to compare the released one with. Nothing is hidden by them.
    random = np.random.default_rng(0)
    drawn = random.normal(size=(DRAWS, *pair.expected.shape)) * np.sqrt(pair.expected)
    noisy = random.normal(size=(DRAWS, *pair.expected.shape)) * math.sqrt(pair.variance / pair.free)
    alone = float(np.quantile((_interaction(drawn + noisy) ** 2 / scale).sum(axis=(1, 2)), 0.95))
    square = float(((pair.difference**2 - pair.variance) / np.maximum(pair.expected, LEAST)).sum())
    return pair.cramers_v(square), _bits(guess.counts(pair.places)), statistic, alone, statistic > alone


def _interaction(values: np.ndarray) -> np.ndarray:
    """What a table, along its last two sides, adds to its margins."""
    values = values - values.mean(axis=-1, keepdims=True)
    return values - values.mean(axis=-2, keepdims=True)


def _bits(counts: np.ndarray) -> float:
    share = counts / counts.sum()
    even = np.outer(share.sum(axis=1), share.sum(axis=0))
    seen = share > 0
    return float((share[seen] * np.log2(share[seen] / even[seen])).sum())


@dataclass(frozen=True, eq=False)
class TableAnswers:
    """Unbiased answers of one release, each with an interval.

    A condition (``where``) maps names of columns to a category, a list of categories, or a pair (low, high) of numbers,
    low <= x < high, of which either may be None. Answers exist for columns that were measured together (by default, any
    two); others are refused with a sentence. An estimate may be negative where there is little: it is unbiased, and a
    low end at or below 0 says that the answer cannot be told from zero.

    A range whose ends are no edges of cells takes its share of a cell that it cuts, and its interval is as wide as
    anything that the cell's records may do.
    """

    reading: Reading  # What a noisy table says of each residual.
    level: float = 0.95  # Probability with which each interval holds the exact answer.

    @property
    def axes(self) -> tuple[Axis, ...]:
        return self.reading.layout.axes

    def count(self, where: Where | None = None) -> pd.DataFrame:
        """How many records fit a condition: one row."""
        return counts(self.reading, (), where or {}, self.level)

    def table(self, *by: str, where: Where | None = None) -> pd.DataFrame:
        """How many records there are in each combination of the cells of some columns, one row each.

        `by`: names of columns, whose cells (categories, and intervals of numbers) are the keys of the rows. `where`: A
        condition on further columns.
        """
        return counts(self.reading, by, where or {}, self.level)

    def shares(self, *of: str, within: Sequence[str] = (), where: Where | None = None) -> pd.DataFrame:
        """The share of each combination of the cells of some columns, one row each.

        `of`: names of the columns whose cells are compared; their shares add up to 1. `within`: names of columns that
        make groups, of each of which the shares are taken. `where`: A condition on further columns. Estimates are the
        nearest to the unbiased ones within their intervals that are not negative and add up to 1. Where too few records
        are left to be told from none, shares are NaN.
        """
        return shares(self.reading, of, within, where or {}, self.level)

    def mean(self, column: str, by: Sequence[str] = (), where: Where | None = None) -> pd.DataFrame:
        """The mean of a column of numbers, one row a group.

        Where neither groups nor conditions are asked for, cells are fine and the interval holds the mean wherever in
        its cell each record lies; the standard error is that of the noise alone. Of a part or group the mean, and its
        quantiles, are those of the best guess, and the interval takes records to lie in cells as they do as a whole, or
        as what hangs together evenly would have them.
        """
        return means(self.reading, column, by, where or {}, self.level)

    def sum(self, column: str, by: Sequence[str] = (), where: Where | None = None) -> pd.DataFrame:
        """The sum of a column of numbers, one row a group; as `mean`."""
        return sums(self.reading, column, by, where or {}, self.level)

    def quantile(
        self, column: str, quantile: float = 0.5, by: Sequence[str] = (), where: Where | None = None
    ) -> pd.DataFrame:
        """The value below which a share of the records lies, one row a group; without a share, the median."""
        return quantiles(self.reading, column, quantile, by, where or {}, self.level)

    def associations(self, *columns: str) -> pd.DataFrame:
        """How strongly each two columns (of those named, or of all) hang together, the strongest first.

        The frame has `cramers_v` (0 to 1, noise taken off), `bits` (mutual information of the best guess), `statistic`,
        `alone` (what the statistic would pass in one of twenty releases of columns without any connection), and `told`,
        whether it did.
        """
        return associations(self.reading, columns)

    def strengths(self, *columns: str) -> pd.DataFrame:
        """Cramer's V of each two columns (of those named, or of all) with an interval, the surely strongest first.

        The quick way to rank hundreds of columns; `associations` says more of each pair.
        """
        return strengths(self.reading, columns, self.level)


@dataclass(frozen=True, eq=False)
class TableGuess:
    """The best guess of one release: counts that are not negative and agree with each other, without intervals.

    Any columns may be asked for together, also such as were not measured together: these are the most even table that
    agrees with those that were. For conclusions, ask for unbiased answers: a guess is off on purpose.
    """

    reading: Reading  # What a noisy table says of each residual.

    @cached_property
    def guess(self) -> BestGuess:
        return BestGuess(self.reading)

    @property
    def axes(self) -> tuple[Axis, ...]:
        return self.reading.layout.axes

    def count(self, where: Where | None = None) -> float:
        """How many records fit a condition; a cell that a range cuts counts by its share."""
        return float(self.table(where=where).estimate[0])

    def table(self, *by: str, where: Where | None = None) -> pd.DataFrame:
        """How many records there are in each combination of the cells of some columns, with a column `estimate`.

        `by`: names of columns; see `TableAnswers.table`. `where`: A condition on further columns.
        """
        axes, conditions = self.axes, where or {}
        kept, asked = places_of(axes, by), places_of(axes, list(conditions))
        check_apart(kept, asked)
        if len(asked) == 1 and not kept:
            weights = chosen(axes[asked[0]], conditions[axes[asked[0]].name], fine=True).share
            return pd.DataFrame({"estimate": [float(weights @ self.guess.fine_counts(asked[0]))]})
        table = tuple(sorted((*kept, *asked)))
        meant = {place: chosen(axes[place], conditions[axes[place].name]).share for place in asked}
        found = over_cells(self.guess.counts(table), table, kept, meant)
        return pd.DataFrame(cell_keys([axes[place] for place in kept]) | {"estimate": found.reshape(-1)})
