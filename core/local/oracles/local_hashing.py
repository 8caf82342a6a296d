"""Local hashing: direct encoding of a hash of the value (Bassily, Smith 2015; Wang, Blocki, Li, Jha 2017).

Every device draws a public hash function h to g cells, by its own coins and whatever the value is, and reports h and
the cell of its value by direct encoding over g cells. Given h, no cell is more than A/B times likelier for one value
than for another; and h has nothing to do with the value. So the report keeps ε, for any hash functions at all.

A report (h, y) speaks for all x with h(x) = y: p = A/(A + (g - 1)B), and q = 1/g as h(x') is uniform and independent of
h(x). The variance is n(E - 1 + g)²/((E - 1)²(g - 1)) for a value that nobody has.

Hashes are 64-bit multiply-shift (Dietzfelbinger 1996): the upper 32 bits t of ax + b modulo 2^64 for random words a and
b, of which b has only its upper half, cut into g ranges of t: y = ⌊tg/2^32⌋. Ranges differ by one number in length, and
pairs of hashes from independent ones by about as little, 2^-32.

The collector does not hash: x is in the range of y if ax + b - start < length modulo 2^64, and from one x to the next a
is added. That is an addition and a comparison for each report and value.

Binary local hashing (Bassily, Smith 2015): local hashing to g = 2 cells, with one bit beside the hash function.

Optimal local hashing (Wang, Blocki, Li, Jha 2017): g = round(E) + 1 cells, where the variance of hashing is least.

(E - 1 + g)²/((E - 1)²(g - 1)) has its minimum 4E/(E - 1)² at g = E + 1: as little as optimised unary encoding, for a
report of a hash function and a cell however large the domain is.

Fast local hashing (Cormode, Maddock, Maple 2021): optimal local hashing with one of k' public hash functions.

A report is the number of a function, uniform whatever the value, and a cell by direct encoding, so it keeps ε as
`local_hashing` does. The collector counts reports by function and cell, whatever the domain, and hashes only k'd times:
C_x = Σ_s count[s, h_s(x)].

As functions are shared, values that collide under one do so for everyone who has it: beside the variance of optimal
local hashing an estimate has Σ_{x' ≠ x} f_x'²/(k'(g - 1)) over the choice of functions. That takes collisions of x with
x' and with x'' that have nothing to do with each other, where multiply-shift makes them sure only of two values: of
evenly spaced ones it sends three to one cell too often, and the frequent values of a list often stand side by side. So
values are scattered over all numbers of 32 bits first, by a public bijection (the finaliser of MurmurHash3; Appleby
2008), which is nothing to privacy and brings the measured error to the formula's. Without it it was 6% above at ε = 3.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np

from ...errors import RequestError
from ...geometry.uniforms import PublicRandom
from ...privacy.noise.randomness import Source, Stream, SystemSource
from ...privacy.noise.responses import UNIT, WORD, told
from ...privacy.replay.laws import PublicCoins
from ...privacy.replay.tape import drawn
from ...runtime.compiled_code import njit
from ...runtime.counter_tables import Array, Floats, Integers, Truths, Words
from ...runtime.environment import over_ranges
from ...runtime.parameters import Seed, Whole, parameter
from .counting import Tally
from .oracle import Matrix, NumberedReports, Pure, bits_for, checked_counts, weighed

TOGETHER = 8
VALUES_AT_ONCE = 2048  # Counters of so many values stay in the first cache while all reports go over them.
UPPER = np.uint64(0xFFFF_FFFF_0000_0000)
LOWER = np.uint64(0xFFFF_FFFF)
EXAMPLE = 0x9E37_79B9_7F4A_7C15
MOST_WRITTEN_OUT = 1 << 20


@dataclass(frozen=True)
class LocalHashing(Pure):
    """A report is a hash function and a cell: the words a, and b with the cell in its lower half."""

    report_words = 2

    @property
    def cells(self) -> int:
        """g: as many as leave the least variance."""
        return round(self.odds) + 1

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        return Fraction(self.surplus + UNIT, self.surplus + self.cells * UNIT), Fraction(1, self.cells)

    @property
    def bits(self) -> int:
        return 64 + 32 + bits_for(self.cells)

    def _reports(self, values: Integers, source: Source) -> Array:
        law = PublicCoins(WORD, (len(values), 2))
        reports = drawn(law, None, lambda: source.stream().words(2 * len(values)).reshape(-1, 2), source.private)
        reports[:, 1] &= UPPER
        mine = hashed(reports[:, 0], reports[:, 1], values, self.cells)
        reports[:, 1] |= self._told(mine, source).astype(np.uint64)
        return reports

    def _told(self, mine: Integers, source: Source) -> Array:
        """The cells that are reported of those of the values, by direct encoding."""

        def report(place: Integers, anything: Integers, stream: Stream) -> Array:
            return np.where(place == 0, mine, anything)

        return weighed(mine, 1, self.cells, self.surplus, source, report)

    def _fits(self, reports: Array) -> Truths:
        return (reports[:, 1] & LOWER) < self.cells

    def _add(self, table: Integers, reports: Array) -> None:
        add_supports(*ranges(reports, self.cells), table)

    def keys(self, values: Integers) -> Integers:
        """The numbers of 32 bits that values are hashed as, int64 (n,)."""
        return values

    def privatise_keys(self, keys: Integers, source: Source | None = None) -> Array:
        """Reports of numbers up to 2^32 - 1, as of texts in a domain too large to be gone through."""
        if len(keys) and not (0 <= keys.min() and keys.max() < 1 << 32):
            raise RequestError("A key to be reported must be a whole number of 32 bits.")
        return self._reports(keys, SystemSource() if source is None else source)

    def supported(self, reports: Array, keys: Integers) -> Integers:
        """C_x for some keys alone: int64 (k,)."""
        counts = np.zeros(len(keys), np.int64)
        starts, steps, lengths = ranges(reports, self.cells)
        over_ranges(
            len(keys), lambda low, high: _support_some(starts, steps, lengths, keys[low:high], counts[low:high]), 4
        )
        return counts

    def work(self, people: float) -> tuple[float, float]:
        return 1e-7, 4e-10 * people * self.domain

    @property
    def written_out(self) -> tuple[Words, Words]:
        """Words a and b of the hash functions that the transition matrix is of; that of others looks alike."""
        return np.array([EXAMPLE], np.uint64), np.zeros(1, np.uint64)

    def transition_matrix(self) -> Matrix:
        a, b = self.written_out
        if len(a) * self.cells * self.domain > MOST_WRITTEN_OUT:
            raise RequestError("There are too many reports to be written out.")
        total = (self.surplus + self.cells * UNIT) * len(a)
        matrix = []
        for value in range(self.domain):
            own = hashed(a, b, self.keys(np.full(len(a), value)), self.cells).tolist()
            cells = [(cell, report) for cell in own for report in range(self.cells)]
            matrix.append([Fraction(self.surplus * (report == cell) + UNIT, total) for cell, report in cells])
        return matrix


def hashed(a: Words, b: Words, values: Integers, cells: int) -> Integers:
    """The cell of each value by the hash function beside it, int64 (n,)."""
    upper = (a * values.astype(np.uint64) + (b & UPPER)) >> np.uint64(32)
    return (upper * np.uint64(cells) >> np.uint64(32)).astype(np.int64)


def ranges(reports: Array, cells: int) -> tuple[Words, Words, Words]:
    """Start, step and length for each report: it speaks for x when start + x step < length, modulo 2^64."""
    half, y, g = np.uint64(32), reports[:, 1] & LOWER, np.uint64(cells)
    low = ((y << half) + g - np.uint64(1)) // g
    high = ((y + np.uint64(1) << half) + g - np.uint64(1)) // g
    return (reports[:, 1] & UPPER) - (low << half), np.ascontiguousarray(reports[:, 0]), high - low << half


def add_supports(starts: Words, steps: Words, lengths: Words, table: Integers) -> None:
    """Add C_x for x = 0, 1, 2 and so on to a table."""
    if len(starts) * len(table) < 1 << 20 or len(starts) < len(table):  # then a range of values for each thread
        over_ranges(len(table), lambda low, high: _support(starts, steps, lengths, low, table[low:high]), 4096)
        return
    lock = Lock()

    def work(low: int, high: int) -> None:
        mine = np.zeros_like(table)
        _support(starts[low:high], steps[low:high], lengths[low:high], 0, mine)
        with lock:
            np.add(table, mine, out=table)

    over_ranges(len(starts), work, 4096)


@njit(nogil=True, cache=True)
def _support(starts: Words, steps: Words, lengths: Words, first: int, table: Integers) -> None:
    """Add for each value how many reports speak for it; eight reports share one pass over the counters."""
    for low in range(0, table.size, VALUES_AT_ONCE):
        counters = table[low : min(low + VALUES_AT_ONCE, table.size)]
        origin = np.uint64(first + low)
        whole = starts.size - starts.size % TOGETHER
        for i in range(0, whole, TOGETHER):
            a0, a1, a2, a3 = steps[i], steps[i + 1], steps[i + 2], steps[i + 3]
            a4, a5, a6, a7 = steps[i + 4], steps[i + 5], steps[i + 6], steps[i + 7]
            l0, l1, l2, l3 = lengths[i], lengths[i + 1], lengths[i + 2], lengths[i + 3]
            l4, l5, l6, l7 = lengths[i + 4], lengths[i + 5], lengths[i + 6], lengths[i + 7]
            t0, t1 = starts[i] + a0 * origin, starts[i + 1] + a1 * origin
            t2, t3 = starts[i + 2] + a2 * origin, starts[i + 3] + a3 * origin
            t4, t5 = starts[i + 4] + a4 * origin, starts[i + 5] + a5 * origin
            t6, t7 = starts[i + 6] + a6 * origin, starts[i + 7] + a7 * origin
            for x in range(counters.size):
                counters[x] += (np.int64(t0 < l0) + np.int64(t1 < l1) + np.int64(t2 < l2) + np.int64(t3 < l3)) + (
                    np.int64(t4 < l4) + np.int64(t5 < l5) + np.int64(t6 < l6) + np.int64(t7 < l7)
                )
                t0, t1, t2, t3 = t0 + a0, t1 + a1, t2 + a2, t3 + a3
                t4, t5, t6, t7 = t4 + a4, t5 + a5, t6 + a6, t7 + a7
        for i in range(whole, starts.size):
            at, step, length = starts[i] + steps[i] * origin, steps[i], lengths[i]
            for x in range(counters.size):
                counters[x] += np.int64(at < length)
                at += step


@njit(nogil=True, cache=True)
def _support_some(starts: Words, steps: Words, lengths: Words, values: Integers, counts: Integers) -> None:
    for k in range(values.size):
        x, found = np.uint64(values[k]), 0
        for i in range(starts.size):
            found += starts[i] + x * steps[i] < lengths[i]
        counts[k] = found


@dataclass(frozen=True)
class BinaryHashing(LocalHashing):
    """Two cells."""

    name = "blh"
    title = "binary local hashing"
    paper = "Bassily, Smith 2015"
    cells = 2


@dataclass(frozen=True)
class OptimalHashing(LocalHashing):
    """As many cells as leave the least variance."""

    name = "olh"
    title = "optimal local hashing"
    paper = "Wang, Blocki, Li, Jha 2017"


FAMILY = 0x464C48


@dataclass(frozen=True)
class FastHashing(NumberedReports, LocalHashing):
    """A report is one number: that of the function times g, and the cell."""

    name = "flh"
    title = "fast local hashing"
    paper = "Cormode, Maddock, Maple 2021"

    functions: int = parameter(Whole("The number of hash functions", 1, 1 << 20), 1000)  # k'.
    seed: int = parameter(Seed("The seed of the hash functions"), None)  # Public; the functions follow from it.
    # 1 where values are scattered before they are hashed; 0 in surveys of earlier versions.
    scattered: int = parameter(Whole("Whether values are scattered", 0, 1), 1)
    report_words = 0

    @classmethod
    def read(cls, value: object) -> dict[str, Any]:
        """Surveys of earlier versions do not say whether values are scattered, as they never were."""
        if isinstance(value, dict) and "scattered" not in value:
            value = value | {"scattered": 0}
        return super().read(value)

    def written(self) -> dict[str, Any]:
        facts = super().written()
        if not self.scattered:  # as such surveys were written, whose fingerprint is of every word
            del facts["scattered"]
        return facts

    def keys(self, values: Integers) -> Integers:
        return scatter(values) if self.scattered else values

    @property
    def outcomes(self) -> int:
        return self.functions * self.cells

    @property
    def table_shape(self) -> tuple[int, ...]:
        return (self.functions, self.cells)

    @cached_property
    def family(self) -> tuple[Words, Words]:
        """The words a and b of every function."""
        words = PublicRandom(self.seed, FAMILY).words(self.functions, 2)
        return np.ascontiguousarray(words[:, 0]), np.ascontiguousarray(words[:, 1])

    @property
    def written_out(self) -> tuple[Words, Words]:
        return self.family

    def _reports(self, values: Integers, source: Source) -> Array:
        function = told(self.functions, len(values), source).astype(np.int64)
        a, b = self.family
        mine = hashed(a[function], b[function], self.keys(values), self.cells)
        return (function * self.cells + self._told(mine, source)).astype(self.report_type)

    def _fits(self, reports: Array) -> Truths:
        return reports < self.outcomes

    def supports(self, tally: Tally) -> Integers:
        counts, keys = np.zeros(self.domain, np.int64), self.keys(np.arange(self.domain)).astype(np.uint64)

        def work(low: int, high: int) -> None:
            for start in range(low, high, VALUES_AT_ONCE):
                stop = min(start + VALUES_AT_ONCE, high)
                _look_up(*self.family, tally.table, keys[start:stop], counts[start:stop])

        over_ranges(self.domain, work, 64)
        return counts

    def line(self, tally: Tally, estimate: Floats) -> tuple[Floats | float, Floats | float]:
        nothing, each = super().line(tally, estimate)
        known = np.maximum(float((estimate**2).sum()) - self.domain * nothing, 0.0)
        return nothing + np.maximum(known - np.maximum(estimate, 0.0) ** 2, 0.0) / self._shared, each

    def variance(self, counts: object) -> Floats:
        held = checked_counts(counts, self.domain)
        shared: Floats = ((held**2).sum() - held**2) / self._shared
        return super().variance(held) + shared

    @property
    def _shared(self) -> float:
        return float(self.functions * (self.cells - 1))

    def work(self, people: float) -> tuple[float, float]:
        return 1e-7, 2e-9 * people + 1e-9 * self.functions * self.domain


@njit(nogil=True, cache=True)
def _look_up(a: Words, b: Words, table: Integers, keys: Words, counts: Integers) -> None:
    """Add C_x of these keys: the cell of each by every function."""
    half, cells = np.uint64(32), np.uint64(table.shape[1])
    for s in range(table.shape[0]):
        row, add, factor = table[s], b[s] & np.uint64(0xFFFF_FFFF_0000_0000), a[s]
        for x in range(counts.size):
            counts[x] += row[(keys[x] * factor + add >> half) * cells >> half]


def scatter(values: Integers) -> Integers:
    """A bijection of the numbers of 32 bits under which evenly spaced ones no longer are: int64 (n,)."""
    x = values.astype(np.uint32)
    for shift, factor in ((16, 0x85EB_CA6B), (13, 0xC2B2_AE35)):
        x = (x ^ x >> np.uint32(shift)) * np.uint32(factor)
    return (x ^ x >> np.uint32(16)).astype(np.int64)
