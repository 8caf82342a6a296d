"""Which weighted sums of periods are measured, so that the sum over any run of periods has little noise.

Let x_s be the table of period s of T. Released is y = C x + z, one row of C after the other, where a row has weights
for periods up to the one at whose end it is measured, and z is noise of one scale. Sums over runs are then read off y
by least squares. With X = CᵀC, the sum over the periods w (a vector of 0 and 1) has the variance wᵀX⁻¹w times that of
z, and z must hide how far one record moves y: the largest norm of a column of C (`core.sketches.living`). So the error
of all runs together is max_s X_ss · trace(W X⁻¹), W_st = min(s, t) (T + 1 - max(s, t)) the number of runs with s and t
in them (the matrix mechanism: Li, Miklau, Hay, McGregor, Rastogi 2015). Under Gaussian noise the best X of all is a
convex problem, and its Cholesky factor is triangular: to go along with time costs nothing.

*Bands*, for Gaussian noise. A column has the first weights of the power series (1 - z)^-p, c_0 = 1, c_k = c_{k-1} (k -
1 + p)/k, up to a band, divided by its norm. With p = 1/2 and no band it is the square root of the matrix of sums up to
now (Fichtenberger, Henzinger, Upadhyay 2023; banded and with equal columns: Choquette-Choo et al. 2023; Kalinin,
Lampert 2024), and p = 0 is each period by itself. The p and band of least error have 1.025 times the error of the best
X for 12 periods and 1.05 times for 365, where each period by itself has 1.74 and 13 times, the square root 1.33 and
1.25 times.

*Trees*, for pure noise, of which a record pays for the sum of its column and not for its length: sums over stretches of
k, k², ... periods beside each period, every level with a weight of its own (Hay et al. 2010; Honaker's estimates from
above and below are least squares).

All weights are whole numbers, `WHOLE` for 1, rounded down, so that y is a table of whole numbers with exact noise, and
what a record moves is added up exactly. They follow from a few numbers in the file by additions, products, quotients
and square roots of IEEE 754, which are the same on every computer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import cast

import numpy as np
from scipy.linalg import solve_triangular

from ..runtime.counter_tables import Floats, Integers

WHOLE = 1024  # What the weight 1 is in the table: so fine that rounding changes no error by a thousandth.
PERCENT = 100  # Steps of powers and of levels' weights.
BANDS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)  # That are tried.
BRANCHES = (2, 3, 4, 6, 8, 12, 16, 20)  # Stretches' lengths that are tried.
LEVELS = 12  # Of a tree, at most.
WEIGHTS = (30, 45, 60, 75, 90)  # Of the levels above single periods that are tried, in hundredths.


@dataclass(frozen=True)
class Factor:
    """A matrix C, by the few numbers that a file says of it."""

    periods: int  # T.
    band: int = 0  # How many periods a row of bands adds up at most; 0 for a tree.
    power: int = 0  # P of a band, in hundredths.
    branches: int = 0  # K of a tree; 0 for bands.
    weights: tuple[int, ...] = ()  # Of a tree's levels from single periods up, in hundredths.
    # Periods, from 0, whose rows were paid for and never kept. What was measured before a lost period is not measured
    # again after it, so that the periods after it can be told from it.
    lost: tuple[int, ...] = ()

    @cached_property
    def rows(self) -> tuple[tuple[int, int], ...]:
        """Of each row the period at whose end it is measured, and its level; in the order of time."""
        if not self.branches:
            return tuple((period, 0) for period in range(self.periods))
        found = []
        for level, weight in enumerate(self.weights):
            length = self.branches**level
            if weight:
                ends = [min(start + length, self.periods) - 1 for start in range(0, self.periods, length)]
                found += [(end, level) for end in ends]
        return tuple(sorted(found))

    def rows_until(self, periods: int) -> int:
        """How many rows are measured when so many periods are over."""
        return sum(end < periods for end, _ in self.rows)

    @cached_property
    def matrix(self) -> Integers:
        """C, int64 (rows, periods), none of it below 0."""
        made = _tree(self) if self.branches else _bands(self.periods, self.band, self.power)
        ends = np.array([end for end, _ in self.rows])
        for lost in self.lost:
            made[np.ix_(ends >= lost, np.arange(self.periods) <= lost)] = 0
        made.flags.writeable = False
        return made

    @cached_property
    def l1(self) -> int:
        """The largest sum of a column of C, with the rows that were lost."""
        return int(self._whole.matrix.sum(axis=0).max())

    @cached_property
    def l2_squared(self) -> int:
        """The largest squared length of a column of C, with the rows that were lost."""
        return int((self._whole.matrix**2).sum(axis=0).max())

    @property
    def _whole(self) -> Factor:
        return Factor(self.periods, self.band, self.power, self.branches, self.weights) if self.lost else self

    def readings(self, periods: int) -> tuple[Floats, Floats]:
        """How sums are read off the rows of the periods that are over.

        Returns the least squares inverse B, float64 (periods, rows), zero for lost periods; and X⁻¹, the covariances of
        single periods in units of the variance of a row's noise.
        """
        return _readings(self, periods)

    @cached_property
    def spread(self) -> float:
        """Mean of wᵀX⁻¹w over all runs of all periods, where nothing was lost."""
        matrix = self.matrix.astype(np.float64)
        if self.branches:  # X is diagonal but for the few rows above single periods (Woodbury)
            level = np.array([level for _, level in self.rows])
            own, above = matrix[level == 0].diagonal()[0] ** 2, matrix[level > 0]
            wanted = runs_with(self.periods)
            explained = np.linalg.solve(own * np.eye(len(above)) + above @ above.T, above @ wanted @ above.T)
            total = (np.trace(wanted) - np.trace(explained)) / own
        else:  # a run is a sum up to its end less one up to its beginning, which are rows of `ends`
            inverse = solve_triangular(matrix, np.eye(self.periods), lower=True, check_finite=False)
            ends = np.cumsum(inverse, axis=0)
            total = (self.periods + 1) * np.sum(ends**2) - np.sum(ends.sum(axis=0) ** 2)
        return float(total / (self.periods * (self.periods + 1) / 2))


@lru_cache(maxsize=64)
def _readings(factor: Factor, periods: int) -> tuple[Floats, Floats]:
    rows = factor.matrix[: factor.rows_until(periods), :periods].astype(np.float64)
    kept = [period for period in range(periods) if period not in factor.lost]
    inverse, weights = np.zeros((periods, periods)), np.zeros((periods, len(rows)))
    if kept:
        own = rows[:, kept]
        inverse[np.ix_(kept, kept)] = np.linalg.inv(own.T @ own)
        weights[kept] = inverse[np.ix_(kept, kept)] @ own.T
    return weights, inverse


@lru_cache(maxsize=8)
def runs_with(periods: int) -> Floats:
    """W: how many of all runs have both periods in them, float64 (periods, periods)."""
    places = np.arange(1.0, periods + 1.0)
    return cast(Floats, np.minimum.outer(places, places) * (periods + 1.0 - np.maximum.outer(places, places)))


def _bands(periods: int, band: int, power: int) -> Integers:
    series = [1.0]
    for k in range(1, min(band, periods)):
        series.append(series[-1] * ((PERCENT * (k - 1) + power) / (PERCENT * k)))
    columns = {}
    for long in range(1, len(series) + 1):
        norm = math.sqrt(math.fsum(c * c for c in series[:long]))
        columns[long] = [max(1, math.floor(WHOLE * c / norm)) if c else 0 for c in series[:long]]
    made = np.zeros((periods, periods), np.int64)
    for period in range(periods):
        long = min(len(series), periods - period)
        made[period : period + long, period] = columns[long]
    return made


def _tree(factor: Factor) -> Integers:
    made = np.zeros((len(factor.rows), factor.periods), np.int64)
    for row, (end, level) in enumerate(factor.rows):
        length = factor.branches**level
        made[row, end // length * length : end + 1] = WHOLE * factor.weights[level] // PERCENT
    return made


def alone(periods: int) -> Factor:
    """Each period by itself."""
    return Factor(periods, band=1)


@lru_cache(maxsize=32)
def best_bands(periods: int) -> Factor:
    """The bands of least error under Gaussian noise, longer and longer ones, each with its best power."""
    best = alone(periods)
    for band in (*(band for band in BANDS if band < periods), periods):
        found = _with_best_power(periods, band)
        if _gaussian_error(found) >= _gaussian_error(best):
            break
        best = found
    return best


def _gaussian_error(factor: Factor) -> float:
    return factor.l2_squared * factor.spread


def _with_best_power(periods: int, band: int) -> Factor:
    """The least error over powers from 1 to 100 hundredths, which falls and then rises."""
    low, high = 1, PERCENT
    while high - low > 2:
        left, right = (2 * low + high) // 3, max((low + 2 * high) // 3, (2 * low + high) // 3 + 1)
        falls = _gaussian_error(Factor(periods, band, left)) > _gaussian_error(Factor(periods, band, right))
        low, high = (left, high) if falls else (low, right)
    return min((Factor(periods, band, power) for power in range(low, high + 1)), key=_gaussian_error)


@lru_cache(maxsize=32)
def best_tree(periods: int) -> Factor:
    """The tree of least error under pure noise, of those with one weight for all levels above single periods."""
    found = [alone(periods)]
    for branches in (k for k in BRANCHES if k < periods):
        for above in range(1, math.ceil(math.log(periods, branches))):
            weights = [(PERCENT, *[weight] * above) for weight in WEIGHTS]
            found += [Factor(periods, branches=branches, weights=one) for one in weights]
    return min(found, key=lambda factor: factor.l1**2 * factor.spread)


def cheapest(periods: int, variance: Callable[[Factor], float]) -> Factor:
    """The bands or the tree, whichever has runs of less noise, where a row's noise has a variance by what one moves."""
    return min((best_bands(periods), best_tree(periods)), key=lambda factor: variance(factor) * factor.spread)


def in_words(factor: Factor) -> str:
    """What is measured, for a person."""
    if factor.branches:
        return f"sums over stretches of {factor.branches} periods, of {factor.branches} of those, and so on"
    if factor.band == 1:
        return "every period by itself"
    return f"weighted sums of up to {factor.band} periods"
