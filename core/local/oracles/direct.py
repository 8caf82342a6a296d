"""Direct encoding, or randomised response on d values (Warner 1965; Kairouz, Oh, Viswanath 2014).

A report is a value: the own one with weight A, every other with weight B. Whatever the truth, weights add up to A + (d
- 1)B, so p = A/(A + (d - 1)B), q = B/(A + (d - 1)B), and no ratio is above A/B. Its variance is n(d - 2 + E)/(E - 1)²
for a value that nobody has, E = A/B; it takes ⌈log₂ d⌉ bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...privacy.noise.randomness import Source, Stream
from ...privacy.noise.responses import UNIT
from ...runtime.array_types import Array, Integers
from .counting import count_numbers
from .oracle import Matrix, Pure, bits_for, weighed


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
