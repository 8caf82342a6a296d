"""Oracles whose report shows the value among others: unary encoding, subset selection and direct encoding.

Unary encoding: a report has a bit for every value, each set by a coin of its own.

The own bit is set with probability p, every other with probability q. Two values x and x' differ in the coins of two
bits, so the largest ratio of two reports is p/(1 - p) · (1 - q)/q: a report that has the bit of x and not that of x'.
Coins are thresholds of 64 digits, p = P/2^64 and q = Q/2^64, so this ratio is a fraction, and it is at most A/B.

All bits of a report have coins of their own: were one coin used for two bits, they would move together, and which
reports can be there at all would tell the value.

Optimised unary encoding (Wang, Blocki, Li, Jha 2017).

The own bit is a fair coin, p = 1/2, as few people have any one value; others are set with q = 1/(E + 1), the least
Q/2^64 for which that ratio, which is (1 - q)/q, is at most A/B. Its variance is 4nE/(E - 1)² for a value that
nobody has; a report takes d bits.

Symmetric unary encoding, as basic one-time RAPPOR has it (Erlingsson, Pihur, Korolova 2014).

Every bit is reported as it is with probability p, and flipped with probability q = 1 - p. The ratio above is then
(p/(1 - p))², so p is the largest P/2^64 whose square odds are at most A/B: p = √E/(√E + 1). Its variance is
n√E/(√E - 1)² for a value that nobody has; a report takes d bits.

Subset selection (Wang et al. 2016; Ye, Barg 2018): a report is a set of k values.

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

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np

from ...errors import RequestError
from ...privacy.noise.randomness import Source, Stream
from ...privacy.noise.responses import UNIT, WORD, coins, subsets
from ...privacy.replay.laws import SentBits
from ...privacy.replay.tape import drawn
from ...runtime.counter_tables import Array, Integers, Truths
from ...runtime.parameters import Resolved, Whole, parameter
from .counting import count_bits
from .oracle import MOST_VALUES, Matrix, NumberedReports, Pure, weighed

MOST_WRITTEN_OUT = 10


@dataclass(frozen=True)
class Bits(Pure):
    """A report has a bit for every value."""

    @property
    def bits(self) -> int:
        return self.domain

    @property
    def report_words(self) -> int:
        return -(-self.domain // 64)

    def _fits(self, reports: Array) -> Truths:
        within: Truths = (reports[:, -1] & ~last_word(self.domain)) == 0
        return within

    def _add(self, table: Integers, reports: Array) -> None:
        count_bits(reports, table)


@dataclass(frozen=True)
class Unary(Bits):
    """Each bit is set by a coin of its own."""

    @property
    @abstractmethod
    def thresholds(self) -> tuple[int, int]:
        """P and Q: of 2^64 words, how many set the own bit, and how many set another."""

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        own, other = self.thresholds
        return Fraction(own, WORD), Fraction(other, WORD)

    @property
    def odds(self) -> Fraction:
        p, q = self.chances
        return p * (1 - q) / ((1 - p) * q)

    def _reports(self, values: Integers, source: Source) -> Array:
        law = SentBits(*self.chances, len(values))
        return drawn(law, values, lambda: self._tossed(values, source.stream()), source.private)

    def _tossed(self, values: Integers, stream: Stream) -> Array:
        own, other = self.thresholds
        people, words = len(values), self.report_words
        reports = coins(other, people * words, stream).reshape(people, words)
        reports[:, -1] &= last_word(self.domain)
        mine = coins(own, -(-people // 64), stream)
        set_bits = np.unpackbits(mine.view(np.uint8), bitorder="little")[:people].astype(np.uint64)
        rows, word, bit = np.arange(people), values >> 6, (values & 63).astype(np.uint64)
        cleared = reports[rows, word] & ~(np.uint64(1) << bit)
        reports[rows, word] = cleared | set_bits << bit
        return reports

    def work(self, people: float) -> tuple[float, float]:
        return 5e-10 * self.domain, 5e-11 * people * self.domain

    def transition_matrix(self) -> Matrix:
        if self.domain > MOST_WRITTEN_OUT:
            raise RequestError(f"Reports of {self.domain:,} bits are too many to be written out.")
        p, q = self.chances
        matrix = []
        for value in range(self.domain):
            chance = [p if bit == value else q for bit in range(self.domain)]
            row = [Fraction(1)]
            for bit in range(self.domain):  # bit by bit, the later half of the reports has it
                row = [one * (1 - chance[bit]) for one in row] + [one * chance[bit] for one in row]
            matrix.append(row)
        return matrix


def last_word(domain: int) -> np.uint64:
    """The bits of a report's last word that stand for values."""
    return np.uint64(WORD - 1 >> -domain % 64)


@dataclass(frozen=True)
class OptimisedUnary(Unary):
    """Bits of others are set seldom."""

    name = "oue"
    title = "optimised unary encoding"
    paper = "Wang, Blocki, Li, Jha 2017"

    @property
    def thresholds(self) -> tuple[int, int]:
        return WORD >> 1, -(-WORD * UNIT // (self.surplus + 2 * UNIT))


@dataclass(frozen=True)
class SymmetricUnary(Unary):
    """Both kinds of bits are flipped equally often."""

    name = "sue"
    title = "symmetric unary encoding"
    paper = "Erlingsson, Pihur, Korolova 2014"

    @cached_property
    def thresholds(self) -> tuple[int, int]:
        own = symmetric_threshold(self.surplus)
        return own, WORD - own


def symmetric_threshold(surplus: int, bits: int = 2) -> int:
    """The largest P for which odds P/(2^64 - P) to the power `bits` are at most A/B, by halving."""
    low, high = WORD >> 1, WORD - 1
    while low < high:
        middle = (low + high + 1) // 2
        if middle**bits * UNIT <= (surplus + UNIT) * (WORD - middle) ** bits:
            low = middle
        else:
            high = middle - 1
    return low


MOST_SETS_WRITTEN_OUT = 10_000


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
        if sets > MOST_SETS_WRITTEN_OUT:
            raise RequestError(f"{sets:,} sets are too many to be written out.")
        total = comb(self.domain - 1, self.size - 1) * self.surplus + sets * UNIT
        reports = list(combinations(range(self.domain), self.size))
        return [
            [Fraction(self.surplus * (value in chosen) + UNIT, total) for chosen in reports]
            for value in range(self.domain)
        ]


@dataclass(frozen=True)
class DirectEncoding(NumberedReports, Pure):
    """Every person reports a value."""

    name = "de"
    title = "direct encoding"
    paper = "Warner 1965; Kairouz, Oh, Viswanath 2014"

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        total = self.surplus + self.domain * UNIT
        return Fraction(self.surplus + UNIT, total), Fraction(UNIT, total)

    @property
    def outcomes(self) -> int:
        return self.domain

    def _reports(self, values: Integers, source: Source) -> Array:
        def report(place: Integers, anything: Integers, stream: Stream) -> Array:
            return np.where(place == 0, values, anything).astype(self.report_type)

        return weighed(values, 1, self.domain, self.surplus, source, report)

    def transition_matrix(self) -> Matrix:
        p, q = self.chances
        return [[p if report == value else q for report in range(self.domain)] for value in range(self.domain)]
