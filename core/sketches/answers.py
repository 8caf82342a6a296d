"""What a release says at queries, with intervals: one query by itself, or all of them together."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.special import ndtri, stdtrit

from ..errors import RequestError


@dataclass(frozen=True)
class Answers:
    """What a release says at n queries; arrays float64 (n,).

    One table answers all queries, so their errors move together: of many releases, the interval at a query holds the
    exact sum in the stated share, but in a single release far fewer or far more of the queries may be covered. For
    intervals that hold at all queries at once, see `level_of_each`.
    """

    # The sum over all records: how many records' worth of closeness there is at the query, or how far all records
    # together are from it. Unbiased, so a kernel sum may fall below zero where there is little.
    estimate: np.ndarray
    # An interval that holds the exact sum with the stated probability.
    low: np.ndarray
    high: np.ndarray
    # Estimate divided by the number of records: the average closeness, between 0 and 1 but for the noise, or the
    # average distance.
    density: np.ndarray
    standard_error: np.ndarray  # Standard deviation of the estimate, from sampling and noise together.
    # Degrees of freedom that the standard error has: one fewer than there are independent estimates, and infinite where
    # it is known and not measured.
    degrees: float

    @classmethod
    def of_groups(cls, estimates: np.ndarray, weights: np.ndarray, records: float, level: float) -> Self:
        """Answers from independent, equally distributed estimates.

        Each group of rows is unbiased and independent of the others, so the spread of their estimates measures sampling
        error and noise together, whatever the data: mean +- t * s / sqrt(G), Student's t with G - 1 degrees of freedom.
        RequestError when the level is not strictly between 0 and 1. `estimates`: float64 (G, n), one estimate a group.
        `weights`: float64 (G,), the groups' shares of the rows, which add up to 1. `records`: the number of records,
        for densities. `level`: probability with which the interval holds the exact kernel sum.
        """
        check_level(level)
        degrees = len(weights) - 1
        mean = weights @ estimates
        if degrees:
            error = np.sqrt(weights @ (estimates - mean) ** 2 / degrees)
            reach = stdtrit(degrees, 0.5 + level / 2.0) * error
        else:
            error = reach = np.full(len(mean), math.inf)
        return cls(mean, mean - reach, mean + reach, mean / max(records, 1.0), error, degrees)

    @classmethod
    def of_errors(cls, estimate: np.ndarray, standard_error: np.ndarray, records: float, level: float) -> Self:
        """Answers whose standard errors are known from public facts, with normal intervals.

        RequestError when the level is not strictly between 0 and 1. `estimate`, `standard_error`: float64 (n,).
        `records`, `level`: as in `of_groups`.
        """
        check_level(level)
        reach = ndtri(0.5 + level / 2.0) * standard_error
        return cls(estimate, estimate - reach, estimate + reach, estimate / max(records, 1.0), standard_error, math.inf)

    @classmethod
    def unknown(cls, estimate: np.ndarray, records: float, level: float) -> Self:
        """Answers of which nobody knows how far they are off; RequestError where the level is none."""
        check_level(level)
        far = np.full(len(estimate), math.inf)
        return cls(estimate, -far, far, estimate / max(float(records), 1.0), far, math.inf)

    def reaching(self, off: float | np.ndarray) -> Self:
        """The same with intervals that reach further by so much on either side."""
        return replace(self, low=self.low - off, high=self.high + off)

    def of_population(self, luck: SamplingLuck, records: float, ratio: float | np.ndarray, level: float) -> Answers:
        """The same answers for the population that the records were drawn from, with longer bands of the same level."""
        low, high = luck.ends(self.estimate, self.high - self.estimate, level, max(records, 1.0), ratio)
        further = luck.variance(ratio * self.estimate, self.estimate, max(records, 1.0))
        return replace(self, low=low, high=high, standard_error=np.sqrt(self.standard_error**2 + further))


@dataclass(frozen=True)
class SamplingLuck:
    """What an answer says beyond the records, of the population that they were drawn from at random.

    A sum over n records of values between 0 and 1 has expectation T over all draws of n records. Where the mean square
    of a value is r times its mean, a draw moves the sum with variance v(T) = d (r T - T^2 / n); for a count, whose
    values are 0 and 1, r = 1. Persons are drawn, and not rows: where one has up to m rows, of correlation c, d is
    1 + (m - 1) c (Kish 1965), and m at most.

    Noise and luck are independent. All T are in the band that are not told from the answer x by both together,
    (x - T)^2 <= reach^2 + z^2 v(T), as Wilson's interval has it (1927): it is not narrower where by luck nobody was
    drawn. Below 0 and above r n, where no expectation is, the band ends where noise has it.
    """

    design: float = 1.0  # d.

    def variance(self, squares: np.ndarray, sums: np.ndarray, records: float | np.ndarray) -> np.ndarray:
        """Of sums of values over n records, by sums of their squares: d (squares - sums^2 / n)."""
        return np.asarray(self.design * np.maximum(squares - sums**2 / records, 0.0))

    def ends(
        self,
        estimate: np.ndarray,
        reach: np.ndarray,
        level: float,
        records: float | np.ndarray,
        ratio: float | np.ndarray = 1.0,
    ) -> tuple[np.ndarray, np.ndarray]:
        """The ends of the band.

        `estimate`, `reach`: The answer, and how far a band of this level for noise alone reaches to either side.
        `level`, `records`, `ratio`: Of the band; n; and r.
        """
        squared = ndtri(0.5 + level / 2.0) ** 2 * self.design
        leading, middle = 1.0 + squared / records, 2.0 * estimate + squared * ratio
        root = np.sqrt(np.maximum(middle**2 - 4.0 * leading * (estimate**2 - reach**2), 0.0))
        low, high = (middle - root) / (2.0 * leading), (middle + root) / (2.0 * leading)
        most = np.multiply(ratio, records)
        inside = [(0.0 < end) & (end < most) for end in (low, high)]
        return np.where(inside[0], low, estimate - reach), np.where(inside[1], high, estimate + reach)

    def reach(self, noise: np.ndarray, luck: np.ndarray, level: float) -> np.ndarray:
        """How far a band reaches, by the reach of noise alone and the variance of luck."""
        return np.asarray(np.sqrt(noise**2 + ndtri(0.5 + level / 2.0) ** 2 * luck))


def check_level(level: float) -> None:
    """RequestError unless the level of an interval lies strictly between 0 and 1."""
    if not 0.0 < level < 1.0:
        raise RequestError("The level of an interval must lie strictly between 0 and 1, such as 0.95.")


def level_of_each(level: float, queries: int) -> float:
    """The level at which intervals of so many queries hold at all of them together with probability `level`.

    The chances of missing add up to 1 - level at most (Bonferroni), however the errors of the queries hang together,
    which needs nothing but that each interval has its own level. For errors known from public facts, intervals of a
    thousand queries become 2.1 times as long; for those measured from ten groups 3.2 times, and from four 11 times.
    RequestError when the level is not strictly between 0 and 1.
    """
    check_level(level)
    return 1.0 - (1.0 - level) / max(queries, 1)
