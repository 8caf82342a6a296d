"""The Hadamard mechanism (Bassily, Nissim, Stemmer, Thakurta 2017; with t coefficients: Cormode, Maddock, Maple 2021).

With φ(x, j) = (-1)^popcount(x & j), every device draws t coefficients j_1 … j_t below D, the power of two from d on,
whatever its value is, and reports them with the t signs φ(x, j_i) by direct encoding among all 2^t strings of signs:
the true one with weight A, every other with weight B. Given the coefficients, no string is more than A/B times likelier
for one value than for another.

The other strings' surplus being nothing, a reported sign has mean cφ(x, j_i), c = (E - 1)/(E + 2^t - 1), and the
product of two of them has mean c times that of the true ones. So with the sum A[j] of all signs of coefficient j, f̂_x
= Σ_j φ(x, j)A[j]/(tc), a transform of D log D steps, and its variance is n/(tc²) + f_x((t - 1)/(tc) - 1).

t is that of the least variance, (E + 2^t - 1)²/t, whose reports fit into 64 bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product

import numpy as np

from ...errors import RequestError
from ...parameters import Resolved, Whole, parameter
from ...privacy.noise.randomness import Source, Stream
from ...privacy.noise.responses import UNIT
from ...privacy.replay.laws import PublicCoins
from ...privacy.replay.tape import drawn
from ...runtime.array_types import Array, Floats, Integers
from ..tally import Tally
from .oracle import Matrix, Oracle, checked_counts, weighed
from .transform import add_signs, parities, transformed

REPORT_BITS = 64
MOST_WRITTEN_OUT = 1 << 14


@dataclass(frozen=True)
class Hadamard(Oracle):
    """A report is one word: t coefficients, and a sign for each.

    Attributes
    ----------
    coefficients : int
        t; by its variance where it is not said.
    """

    name = "hm"
    title = "Hadamard mechanism"
    paper = "Bassily, Nissim, Stemmer, Thakurta 2017; Cormode, Maddock, Maple 2021"

    coefficients: Resolved[int] = parameter(
        Whole("The number of coefficients", 1, 32), None, settled="how many coefficients a report has"
    )

    def _check(self) -> None:
        most = REPORT_BITS // (self.places + 1)
        if self.coefficients is None:
            odds = float(self.odds)
            self._settle(coefficients=min(range(1, most + 1), key=lambda t: (odds + 2.0**t - 1) ** 2 / t))
        if self.coefficients > most:
            raise RequestError(f"A report has room for {most} coefficients of {self.domain:,} values.")

    @property
    def places(self) -> int:
        """log₂ D."""
        return (self.domain - 1).bit_length()

    @property
    def bits(self) -> int:
        return self.coefficients * (self.places + 1)

    @property
    def table_shape(self) -> tuple[int, ...]:
        return (1 << self.places,)

    @cached_property
    def shrinking(self) -> float:
        """c: what of a sign is left on average."""
        return float(Fraction(self.surplus, self.surplus + (UNIT << self.coefficients)))

    def _reports(self, values: Integers, source: Source) -> Array:
        t, places = self.coefficients, np.uint64(self.places)
        mask = np.uint64((1 << t * self.places) - 1)
        coefficients = drawn(
            PublicCoins(int(mask) + 1, (len(values),)),
            None,
            lambda: source.stream().words(len(values)) & mask,
            source.private,
        )
        true = np.zeros(len(values), np.uint64)
        signs = np.empty(len(values), np.uint64)
        words = values.astype(np.uint64)
        for i in range(t):
            parities(coefficients >> (np.uint64(i) * places) & np.uint64(self.table_shape[0] - 1), words, signs)
            true |= signs << np.uint64(i)

        def report(place: Integers, anything: Integers, stream: Stream) -> Array:
            return np.where(place == 0, true, anything.astype(np.uint64))

        told = weighed(true.astype(np.int64), 1, 1 << t, self.surplus, source, report)
        return (coefficients | told << (np.uint64(t) * places)).astype(self.report_type)

    def _fits(self, reports: Array) -> Array:
        spare = 8 * self.report_type.itemsize - self.bits
        return np.ones(len(reports), np.bool_) if not spare else reports >> reports.dtype.type(self.bits) == 0

    def _add(self, table: Integers, reports: Array) -> None:
        add_signs(reports, self.places, self.coefficients, table)

    @property
    def reach(self) -> tuple[float, float]:
        return -1 / self.shrinking, 1 / self.shrinking

    def estimate(self, tally: Tally) -> Floats:
        return transformed(tally.table)[: self.domain] / (self.coefficients * self.shrinking)

    def _variances(self) -> tuple[float, float]:
        t, c = self.coefficients, self.shrinking
        return 1 / (t * c * c), (t - 1) / (t * c) - 1

    def line(self, tally: Tally, estimate: Floats) -> tuple[Floats | float, Floats | float]:
        other, more = self._variances()
        return tally.people * other, more

    def variance(self, counts: object) -> Floats:
        held = checked_counts(counts, self.domain)
        other, more = self._variances()
        found: Floats = held.sum() * other + held * more
        return found

    def work(self, people: float) -> tuple[float, float]:
        return 1e-7, 3e-9 * self.coefficients * people + 1e-9 * self.places * self.table_shape[0]

    def transition_matrix(self) -> Matrix:
        t, size = self.coefficients, self.table_shape[0]
        if size**t << t > MOST_WRITTEN_OUT:
            raise RequestError(f"Reports of {self.bits} bits are too many to be written out.")
        total = (self.surplus + (UNIT << t)) * size**t
        drawn = list(product(range(size), repeat=t))
        matrix = []
        for value in range(self.domain):
            true = [sum(((value & j).bit_count() & 1) << i for i, j in enumerate(js)) for js in drawn]
            matrix.append([Fraction(self.surplus * (s == told) + UNIT, total) for s in true for told in range(1 << t)])
        return matrix
