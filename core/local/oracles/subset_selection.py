"""Subset selection (Wang et al. 2016; Ye, Barg 2018): a report is a set of k values.

A set that has the own value has weight A, any other weight B. As many sets have one value as another, so the total is
the same for all and no ratio is above A/B. The own value is in the set with p = kA/(kA + (d - k)B), and any other with
q = (p(k - 1) + (1 - p)k)/(d - 1).

k is that of the least variance, next to d/(E + 1). Its error is that of optimised unary encoding or a little less, by
its sets being all of one size. A set is sent as d bits.

Direct encoding, or randomised response on d values (Warner 1965; Kairouz, Oh, Viswanath 2014).

A report is a value: the own one with weight A, every other with weight B. Whatever the truth, weights add up to A + (d
- 1)B, so p = A/(A + (d - 1)B), q = B/(A + (d - 1)B), and no ratio is above A/B. Its variance is n(d - 2 + E)/(E - 1)²
for a value that nobody has, E = A/B; it takes ⌈log₂ d⌉ bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np

from ...errors import RequestError
from ...privacy.noise.randomness import Source, Stream
from ...privacy.noise.responses import UNIT, subsets
from ...runtime.array_types import Array, Integers, Truths
from ...runtime.parameters import Resolved, Whole, parameter
from .counting import count_numbers
from .oracle import MOST_VALUES, Matrix, Pure, bits_for, weighed
from .unary import Bits

MOST_WRITTEN_OUT = 10_000


@dataclass(frozen=True)
class SubsetSelection(Bits):
    """Of the bits k are set."""

    name = "ss"
    title = "subset selection"
    paper = "Ye, Barg 2018"

    # k; by its variance where it is not said.
    size: Resolved[int] = parameter(Whole("The size of sets", 1, MOST_VALUES), None, settled="how large its sets are")

    def _check(self) -> None:
        if self.size is None:
            near = int(self.domain / (1 + float(self.odds)))
            sizes = {min(max(size, 1), self.domain - 1) for size in range(near - 1, near + 3)}
            self._settle(size=min(sorted(sizes), key=self._variance_of))
        if self.size >= self.domain:
            raise RequestError("The size of sets must be below the number of values, or they say nothing.")

    def _chances_of(self, size: int) -> tuple[Fraction, Fraction]:
        own = size * (self.surplus + UNIT)
        p = Fraction(own, own + (self.domain - size) * UNIT)
        return p, (p * (size - 1) + (1 - p) * size) / (self.domain - 1)

    def _variance_of(self, size: int) -> Fraction:
        p, q = self._chances_of(size)
        return q * (1 - q) / (p - q) ** 2

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        return self._chances_of(self.size)

    def _reports(self, values: Integers, source: Source) -> Array:
        def report(place: Integers, anything: Integers, stream: Stream) -> Array:
            return subsets(self.domain, self.size, np.where(place >= 0, values, -1), stream)

        # Sets with the own value are k/d of all, so its surplus is k(A - B) where all sets have dB.
        return weighed(values, self.size, self.domain, self.surplus, source, report)

    def _fits(self, reports: Array) -> Truths:
        fine: Truths = super()._fits(reports) & (np.bitwise_count(reports).sum(axis=1) == self.size)
        return fine

    def work(self, people: float) -> tuple[float, float]:
        return 1e-8 * self.size, 5e-11 * people * self.domain

    def transition_matrix(self) -> Matrix:
        sets = comb(self.domain, self.size)
        if sets > MOST_WRITTEN_OUT:
            raise RequestError(f"{sets:,} sets are too many to be written out.")
        total = comb(self.domain - 1, self.size - 1) * self.surplus + sets * UNIT
        reports = list(combinations(range(self.domain), self.size))
        return [
            [Fraction(self.surplus * (value in chosen) + UNIT, total) for chosen in reports]
            for value in range(self.domain)
        ]


@dataclass(frozen=True)
class DirectEncoding(Pure):
    """Every person reports a value."""

    name = "de"
    title = "direct encoding"
    paper = "Warner 1965; Kairouz, Oh, Viswanath 2014"

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        total = self.surplus + self.domain * UNIT
        return Fraction(self.surplus + UNIT, total), Fraction(UNIT, total)

    @property
    def bits(self) -> int:
        return bits_for(self.domain)

    @property
    def outcomes(self) -> int:
        return self.domain

    def _reports(self, values: Integers, source: Source) -> Array:
        def report(place: Integers, anything: Integers, stream: Stream) -> Array:
            return np.where(place == 0, values, anything).astype(self.report_type)

        return weighed(values, 1, self.domain, self.surplus, source, report)

    def _add(self, table: Integers, reports: Array) -> None:
        count_numbers(reports, table)

    def transition_matrix(self) -> Matrix:
        p, q = self.chances
        return [[p if report == value else q for report in range(self.domain)] for value in range(self.domain)]
