"""The Hadamard mechanism (Bassily, Nissim, Stemmer, Thakurta 2017; with t coefficients: Cormode, Maddock, Maple 2021).

With φ(x, j) = (-1)^popcount(x & j), every device draws t coefficients j_1 … j_t below D, the power of two from d on,
whatever its value is, and reports them with the t signs φ(x, j_i) by direct encoding among all 2^t strings of signs:
the true one with weight A, every other with weight B. Given the coefficients, no string is more than A/B times likelier
for one value than for another.

The other strings' surplus being nothing, a reported sign has mean cφ(x, j_i), c = (E - 1)/(E + 2^t - 1), and the
product of two of them has mean c times that of the true ones. So with the sum A[j] of all signs of coefficient j, f̂_x
= Σ_j φ(x, j)A[j]/(tc), a transform of D log D steps, and its variance is n/(tc²) + f_x((t - 1)/(tc) - 1).

t is that of the least variance, (E + 2^t - 1)²/t, whose reports fit into 64 bits.

The Hadamard transform, and counting of signs.

Hadamard response (Acharya, Sun, Zhang 2019).

Reports are the columns of B blocks of b each, b = 2^⌈log₂(d/B + 1)⌉. A value belongs to the
block ⌊x/(b - 1)⌋ and has there the row r = x mod (b - 1) + 1 of the Hadamard matrix; the b/2 columns y of its block
with an even popcount(r & y) speak for it and have weight A, all others weight B. Each value has b/2 of them, so the
total is the same for all, and no ratio is above A/B.

Rows but the first are balanced and orthogonal: of reports of another value, as many speak for x as stand against it in
its block. So Z = (reports that speak for x) - (others of its block) has mean f_x c, c = (E - 1)/(E + 2B - 1), and f̂_x
= Z/c. A person counts ±1 in Z when their report is in the block, with probability (E + 1)/(E + 2B - 1) for those whose
value is in it and 2/(E + 2B - 1) for others. So its variance is (expected reports in the block)/c² - f_x, and reports
in the block are seen.

B is the power of two up to 2d with the least variance where values are as likely as each other: the B' = ⌈d/(b - 1)⌉
blocks that hold values have a B'-th of the people each, so it is ((E + 1)/B' + 2(1 - 1/B')) (E + 2B - 1)/(E - 1)² a
person. The paper's 2^⌊log₂ min(E, 2d)⌋, which surveys have that say no B, has 1.2 times that at ε = 1 and d = 194.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from threading import Lock
from typing import Any

import numpy as np

from ...errors import RequestError
from ...privacy.noise.randomness import Source, Stream
from ...privacy.noise.responses import UNIT
from ...privacy.replay.laws import PublicCoins
from ...privacy.replay.tape import drawn
from ...runtime.compiled_code import njit
from ...runtime.counter_tables import Array, Floats, Integers, Words
from ...runtime.environment import over_ranges
from ...runtime.parameters import Resolved, Whole, parameter
from .counting import Tally
from .oracle import EvenOracle, Matrix, NumberedReports, Oracle, checked_counts, weighed

WORTH_A_THREAD = 1 << 16


def transformed(table: Integers) -> Integers:
    """Σ_j (-1)^popcount(x & j) T[.., j] for every x, along the last axis, whose length is a power of two."""
    result: Integers = np.array(table, dtype=np.int64)
    rows = result.reshape(-1, table.shape[-1])
    over_ranges(len(rows), lambda start, stop: _transform(rows[start:stop]), max(1, WORTH_A_THREAD // rows.shape[1]))
    return result


def add_signs(reports: Words, places: int, coefficients: int, table: Integers) -> None:
    """Add the signs of reports to the coefficients that they name.

    `reports`: Each has `coefficients` numbers of `places` bits, and above them a bit for each: one stands for -1.
    `places`, `coefficients`: log₂ of the table's length, and how many coefficients a report has.
    """
    lock = Lock()

    def work(start: int, stop: int) -> None:
        mine = np.zeros_like(table)
        _add_signs(reports[start:stop], np.uint64(places), coefficients, mine)
        with lock:
            np.add(table, mine, out=table)

    over_ranges(len(reports), work, max(WORTH_A_THREAD, len(table)))


@njit(nogil=True, cache=True)
def parity(word: np.uint64) -> np.uint64:
    """Whether a word has an odd number of ones, as 0 or 1."""
    for shift in (32, 16, 8, 4, 2, 1):
        word ^= word >> np.uint64(shift)
    return word & np.uint64(1)


@njit(nogil=True, cache=True)
def parities(left: Words, right: Words, out: Words) -> None:
    """popcount(a & b) modulo 2 of each pair."""
    for i in range(left.size):
        out[i] = parity(left[i] & right[i])


@njit(nogil=True, cache=True)
def _transform(rows: Integers) -> None:
    for r in range(rows.shape[0]):
        row, step = rows[r], 1
        while step < row.size:
            for start in range(0, row.size, 2 * step):
                for i in range(start, start + step):
                    one, other = row[i], row[i + step]
                    row[i], row[i + step] = one + other, one - other
            step *= 2


@njit(nogil=True, cache=True)
def _add_signs(reports: Array, places: np.uint64, coefficients: int, table: Integers) -> None:
    mask = (np.uint64(1) << places) - np.uint64(1)
    for i in range(reports.size):
        rest = np.uint64(reports[i])
        signs = rest >> (np.uint64(coefficients) * places)
        for _ in range(coefficients):
            table[rest & mask] += 1 - 2 * np.int64(signs & np.uint64(1))
            rest >>= places
            signs >>= np.uint64(1)


REPORT_BITS = 64
MOST_WRITTEN_OUT = 1 << 14


@dataclass(frozen=True)
class Hadamard(EvenOracle):
    """A report is one word: t coefficients, and a sign for each."""

    name = "hm"
    title = "Hadamard mechanism"
    paper = "Bassily, Nissim, Stemmer, Thakurta 2017; Cormode, Maddock, Maple 2021"

    # t; by its variance where it is not said.
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

    @property
    def _variances(self) -> tuple[float, float]:
        t, c = self.coefficients, self.shrinking
        return 1 / (t * c * c), (t - 1) / (t * c) - 1

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


@dataclass(frozen=True)
class HadamardResponse(NumberedReports, Oracle):
    """A report is a column."""

    name = "hr"
    title = "Hadamard response"
    paper = "Acharya, Sun, Zhang 2019"

    # B, a power of two; by its variance where it is not said.
    blocks: Resolved[int] = parameter(
        Whole("The number of blocks", 1, 1 << 32), None, settled="how many blocks of columns there are"
    )

    def _check(self) -> None:
        if self.blocks is None:
            self._settle(blocks=min((1 << place for place in range(self.domain.bit_length() + 1)), key=self._spread))
        if self.blocks & (self.blocks - 1) or self.blocks > 2 * self.domain:
            raise RequestError(
                f"The number of blocks must be a power of two, and at most twice {self.domain:,} values."
            )

    @classmethod
    def read(cls, facts: Any) -> dict[str, Any]:
        """Parameters from a file; those that say no blocks were written when there was one rule for them."""
        if not isinstance(facts, dict) or "blocks" in facts:
            return super().read(facts)
        given = super().read(facts | {"blocks": 1})
        one = cls(**given)
        return given | {"blocks": 1 << (min(int(one.odds), 2 * one.domain).bit_length() - 1)}

    def _spread(self, blocks: int) -> float:
        """The variance that a person adds to the estimate of a value, where values are as likely as each other."""
        odds, rows = float(self.odds), (1 << (-(-self.domain // blocks)).bit_length()) - 1
        used = -(-self.domain // rows)
        seen = ((odds + 1.0) + 2.0 * (used - 1)) / used
        return seen * (odds + 2.0 * blocks - 1.0) / (odds - 1.0) ** 2

    @cached_property
    def width(self) -> int:
        """b: the least power of two for which B rows of b - 1 hold all values."""
        return 1 << (-(-self.domain // self.blocks)).bit_length()

    @property
    def outcomes(self) -> int:
        return self.blocks * self.width

    @property
    def table_shape(self) -> tuple[int, ...]:
        return self.blocks, self.width

    def _reports(self, values: Integers, source: Source) -> Array:
        def report(place: Integers, anything: Integers, stream: Stream) -> Array:
            reports = np.empty(len(values), self.report_type)
            _columns(values, place, anything, self.width, reports)
            return reports

        return weighed(values, self.width // 2, self.outcomes, self.surplus, source, report)

    @cached_property
    def shrinking(self) -> float:
        """c."""
        return float(Fraction(self.surplus, self.surplus + 2 * self.blocks * UNIT))

    @property
    def reach(self) -> tuple[float, float]:
        return -1 / self.shrinking, 1 / self.shrinking

    def estimate(self, tally: Tally) -> Floats:
        return transformed(tally.table)[:, 1:].reshape(-1)[: self.domain] / self.shrinking

    def line(self, tally: Tally, estimate: Floats) -> tuple[Floats | float, Floats | float]:
        return self._each(tally.table.sum(axis=1)) / self.shrinking**2, -1.0

    def variance(self, counts: object) -> Floats:
        held = checked_counts(counts, self.domain)
        starts = np.arange(0, self.domain, self.width - 1)
        inside = np.zeros(self.blocks)
        inside[: len(starts)] = np.add.reduceat(held, starts)
        odds = float(self.odds)
        seen = ((odds + 1) * inside + 2 * (held.sum() - inside)) / (odds + 2 * self.blocks - 1)
        return self._each(seen) / self.shrinking**2 - held

    def _each(self, blocks: Array) -> Floats:
        """For each value, what there is of its block."""
        return np.repeat(np.asarray(blocks, np.float64), self.width - 1)[: self.domain]

    def work(self, people: float) -> tuple[float, float]:
        return 1e-7, 1e-9 * people + 1e-9 * self.outcomes * self.width.bit_length()

    def transition_matrix(self) -> Matrix:
        total = self.width // 2 * self.surplus + self.outcomes * UNIT
        matrix = []
        for value in range(self.domain):
            block, row = value // (self.width - 1), value % (self.width - 1) + 1
            speaks = [
                report // self.width == block and not (row & report % self.width).bit_count() & 1
                for report in range(self.outcomes)
            ]
            matrix.append([Fraction(self.surplus * one + UNIT, total) for one in speaks])
        return matrix


@njit(nogil=True, cache=True)
def _columns(values: Integers, places: Integers, anything: Integers, width: int, reports: Array) -> None:
    """The reported columns: for a place, that many columns of those that speak for the value are passed over.

    A place has its bits in all positions but that of the row's lowest one; that bit makes the popcount even.
    """
    for i in range(values.size):
        if places[i] < 0:
            reports[i] = anything[i]
            continue
        row = np.uint64(values[i] % (width - 1) + 1)
        lowest = row & (~row + np.uint64(1))
        place, under = np.uint64(places[i]), lowest - np.uint64(1)
        column = (place & ~under) << np.uint64(1) | place & under
        column |= lowest * parity(row & column)
        reports[i] = np.uint64(values[i] // (width - 1) * width) + column
