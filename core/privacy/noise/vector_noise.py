"""Noise for whole vectors under pure epsilon: P(z) ∝ exp(-|z|/b) with the Euclidean length |z|, rounded, exactly.

*The mechanism.* Where a person moves a vector of m counters by at most Δ in length, noise with density proportional to
exp(-|z| ε/Δ) on R^m keeps ε: it is the K-norm mechanism of Hardt and Talwar (2010) for the Euclidean ball. A table of
several such vectors, each with noise of its own, keeps ε where the lengths that a person adds to them sum to Δ at most,
by the triangle inequality in every block. One counter's variance is (m+1)(Δ/ε)²; Laplace noise on every counter has
2(Δ1/ε)², and Δ1 may reach √m Δ.

*Rounding.* The exact sums S are integers, so S + round(Z) = round(S + Z): the table that is released is a function of
what the ideal mechanism would release, which costs no privacy, provided that round(Z) has exactly the law of the
rounded ideal noise. (Ties have probability zero.) It adds 1/12 to the variance, or less where b is small.

*The ideal noise.* For independent standard normal G in R^m and G' in R^(m+1), Z = b |G'| G. Proof: given |G'|, the mean
of exp(i<w,Z>) is exp(-b²|w|²|G'|²/2), and |G'|² is chi-square with m+1 degrees of freedom, so the characteristic
function of Z is (1 + b²|w|²)^(-(m+1)/2): that of the density proportional to exp(-|z|/b) (Stein, Weiss 1971,
Theorem 1.14).

*Deciding a rounding.* With p digits after the point, cells y of G and y' of G', and integer square roots,

    A2^-p <= b|G'| < B2^-p   for A = ⌊b √(Σy'²)⌋ and B = ⌊b √(Σ(y'+1)²)⌋ + 1,    Ay/4^p <= |Z_i| < B(y+1)/4^p.

Where both ends round to one integer, that is round(|Z_i|) whatever digits follow; otherwise 64 more digits of every
number involved are tossed (`normal`), until they do. It ends with probability one, as |Z_i| + 1/2 is an integer with
probability zero. No floating point takes part.

*The compiled loop* decides nearly all coordinates with 64-bit numbers. Let M = ⌊2^c b √(Σy'²)⌋ and
N = ⌊2^c b √(Σ(y'+1)²)⌋ + 1 with c as large as N <= 2^63 and f <= 62 allow, f = 2p + c - 64. Then for a = ⌊My/2^64⌋

    a <= My/2^64 <= 2^f |Z_i| < N(y+1)/2^64 = My/2^64 + M/2^64 + (N-M)(y+1)/2^64 <= a + w,
    w = ⌊(N-M)(y+1)/2^64⌋ + 3 for the largest y of the vector,

so when a + 2^(f-1) and a + w + 2^(f-1) agree but for their last f digits, the digits before those are round(|Z_i|).
About one coordinate in 2^(p-3)/|Z_i| is left to Python; all are when |Z_i| is about 2^p or more (f < 1).

*Time.* All of this happens before the noise meets the table and without looking at it, so the time it takes says
nothing of the table; it may say a little of the noise (that a coordinate nearly was a tie), as for every sampler by
rejection. The promise is about what is released.

One noise vector with density proportional to exp(-|z|/b) on R^m, known to as many digits as anyone asks for.

The noise of objective perturbation (Chaudhuri, Monteleoni, Sarwate 2011) goes into an equation and not onto a table, so
it cannot be rounded when it is drawn: its promise is proven for real vectors. Here the vector stays real. Its entries
are Z_i = ± b|G'||G_i| as in above, for normal numbers whose digits are tossed when they are wanted, and `bounds`
says between which two numbers an entry lies. Whoever computes with all numbers between the bounds, and asks for more
digits until every one of them gives the same released value, releases what the real vector gives.

One vector of independent normal numbers, known to as many digits as anyone asks for.

The same for promises that are proven for real vectors of Gaussian noise inside an equation: an entry is σ times
a standard normal number whose digits are tossed when they are wanted, and `bounds` says between which two numbers it
lies.

Standard normal numbers, each known to as many binary digits as anyone asks for, exactly.

A number is its sign and the leading digits of its size; the digits that follow are fair coins that nobody has tossed
yet, and `Expansion.leading` tosses them when they are wanted. Nothing is ever rounded.

Let σ = 2^p. The size of a normal number, times σ, is y + x for a cell y = 0, 1, 2, ... and a place x in [0, 1) inside
it, with density proportional to exp(-(y+x)²/(2σ²)). Rejection from discrete Gaussian noise makes it:

1.  Draw Y with P(y) ∝ exp(-y²/(2σ²)) over the integers (`gaussian`, exact), and leave out the negative ones.
2.  Let x be uniform: infinitely many fair coins.
3.  Keep (Y, x) with probability exp(-((Y+x)² - Y²)/(2σ²)) <= 1. What is kept has the density above.
4.  Toss a fair coin for the sign.

The decision in step 3 compares a uniform U with that probability. As x < 1, it is above 1 - (2Y+1)/(2σ²), and nearly
every U is below that already by its first 63 digits: the candidate is kept before any digit of x is tossed. Otherwise
(probability about 2^-p) digits of x and U are tossed until they settle it. Either way the decision is the one that all
digits would give, and depends on no digit that is not tossed yet: those are fair coins still.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...runtime.compiled_code import njit
from ...runtime.counter_tables import Integers, Truths, Words
from ...runtime.inner_products import upper_half
from .discrete_samplers import LARGEST_SCALE, Draws, GaussianSampler, gaussian_sampler
from .randomness import WORD_BITS, Coin, Stream

PLACES = 54
UNIFORM_BITS = WORD_BITS - 1
# More candidates than numbers by the half that is negative, and a little more.
CANDIDATES_A_NUMBER = 2.05
SPARE_CANDIDATES = 64


@dataclass
class Expansion:
    """A number of at least zero with binary digits that are tossed when they are first asked for."""

    # The number lies in [digits, digits + 1) / 2^places.
    digits: int
    places: int

    def leading(self, places: int, stream: Stream) -> int:
        """Return floor(2^places · number); `places` must be no less than the number was made with."""
        while self.places < places:
            self.extend(stream)
        return self.digits >> (self.places - places)

    def extend(self, stream: Stream) -> None:
        """Toss the next 64 digits."""
        self.digits = self.digits << WORD_BITS | int(stream.words(1)[0])
        self.places += WORD_BITS


@dataclass(frozen=True)
class Normals:
    """Independent standard normal numbers."""

    # First digits of the sizes, int64 (n,): a size lies in [cell, cell + 1) / 2^places, and what follows is untossed.
    cells: np.ndarray
    negative: np.ndarray  # Their signs, bool (n,).
    # Numbers of which more than that is known, by index; these take precedence over `cells`, which holds 0 there.
    tossed: dict[int, Expansion]


def standard_normals(count: int, stream: Stream, places: int = PLACES) -> Normals:
    """Return `count` independent standard normal numbers, with at least `places` digits after the point."""
    sampler = gaussian_sampler(Fraction(1 << 2 * places))
    cells, negative = np.empty(count, np.int64), np.empty(count, bool)
    tossed: dict[int, Expansion] = {}
    filled = 0
    while filled < count:
        fresh, signs, known = _candidates(int((count - filled) * CANDIDATES_A_NUMBER), sampler, places, stream)
        fresh, signs = fresh[: count - filled], signs[: count - filled]
        cells[filled : filled + len(fresh)], negative[filled : filled + len(fresh)] = fresh, signs
        tossed |= {filled + index: number for index, number in known.items() if index < len(fresh)}
        filled += len(fresh)
    return Normals(cells, negative, tossed)


def _candidates(
    count: int, sampler: GaussianSampler, places: int, stream: Stream
) -> tuple[np.ndarray, np.ndarray, dict[int, Expansion]]:
    """Put candidates through steps 1 to 4 and return what is kept, as the fields of `Normals`."""
    draws = sampler.draw(count + SPARE_CANDIDATES, stream)
    cells, words = draws.values, stream.words(len(draws.values))
    negative, uniform = (words & np.uint64(1)).astype(bool), (words >> np.uint64(1)).astype(np.int64)
    keep = cells >= 0
    slow = keep & ~_surely_kept(cells, uniform, places)
    slow[list(draws.exact)] = True
    numbers = {}
    for index in np.flatnonzero(slow).tolist():
        cell = draws.exact.get(index, int(cells[index]))
        number = _kept(cell, int(uniform[index]), places, stream) if cell >= 0 else None
        keep[index] = number is not None
        if number is not None:
            numbers[index], cells[index] = number, 0
    rank = np.cumsum(keep) - 1
    return cells[keep], negative[keep], {int(rank[index]): number for index, number in numbers.items()}


def _surely_kept(cells: np.ndarray, uniform: np.ndarray, places: int) -> np.ndarray:
    """Whether U < (u+1)/2^63 <= 1 - (2y+1)/2^(2p+1), that is, 2^63 - 1 - u >= (2y+1) 2^(62-2p)."""
    room, shift = np.iinfo(np.int64).max - uniform, UNIFORM_BITS - 1 - 2 * places
    return room >> shift >= 2 * cells + 1 if shift >= 0 else room > (2 * cells + 1) >> -shift


def _kept(cell: int, uniform: int, places: int, stream: Stream) -> Expansion | None:
    """Decide step 3 with as many digits as it takes; the number if it is kept, with the digits that were tossed."""
    number, level = Expansion(cell, places), Expansion(uniform, UNIFORM_BITS)
    start = Fraction(cell, 1 << places) ** 2
    while True:
        unit = Fraction(1, 1 << number.places)
        least, most = (((number.digits + end) * unit) ** 2 - start for end in (0, 1))
        if level.digits < Coin(most / 2).leading(level.places):
            return number  # U < (u+1)/2^k <= floor(2^k e^-most)/2^k, below the probability wherever x lies
        if level.digits > Coin(least / 2).leading(level.places):
            return None  # U >= u/2^k >= (floor(2^k e^-least) + 1)/2^k, above it wherever x lies
        number.extend(stream)
        level.extend(stream)


LARGEST_VARIANCE = LARGEST_SCALE**2  # Of the ideal noise in one counter, (m+1)b².
MOST_FRACTION_BITS = 62


@dataclass(frozen=True)
class RoundedL2Sampler:
    """Rounded noise vectors of one length and scale."""

    scale: Fraction  # b = Δ/ε.
    block: int  # m, the length of a vector.
    places: int = PLACES  # p, digits after the point that every normal number starts with.

    def draw(self, count: int, stream: Stream) -> Draws:
        """Return `count` numbers, one vector after the other; `count` is a multiple of the block."""
        vectors = count // self.block
        radii = standard_normals(vectors * (self.block + 1), stream, self.places)
        numbers = standard_normals(count, stream, self.places)
        values, decided = self._decide(radii.cells.reshape(vectors, -1), numbers)
        # A cell that holds none of its number's digits decides nothing, neither for itself nor for its vector.
        decided[[index // (self.block + 1) for index in radii.tossed]] = False
        decided.reshape(-1)[list(numbers.tossed)] = False
        exact: dict[int, int] = {}
        for vector in np.flatnonzero(~decided.all(axis=1)).tolist():
            length = Length(self.scale, expansions(radii, vector, self.block + 1, self.places), self.places, stream)
            directions = expansions(numbers, vector, self.block, self.places)
            for place in np.flatnonzero(~decided[vector]).tolist():
                index = vector * self.block + place
                size = length.rounded_product(directions[place])
                exact[index] = -size if numbers.negative[index] else size
        return Draws(values.reshape(-1), exact)

    def _decide(self, radii: np.ndarray, numbers: Normals) -> tuple[np.ndarray, np.ndarray]:
        """Round what 64-bit numbers can: values int64 and whether they are decided, both (vectors, block)."""
        cells = numbers.cells.reshape(len(radii), self.block)
        bounds = [
            self._bounds(row, largest)
            for row, largest in zip(radii.tolist(), cells.max(axis=1, initial=0).tolist(), strict=True)
        ]
        factors, widths, fraction_bits = np.array(bounds, np.uint64).reshape(-1, 3).T
        values, decided = np.empty(cells.shape, np.int64), np.empty(cells.shape, bool)
        _round(cells, numbers.negative.reshape(cells.shape), factors, widths, fraction_bits, values, decided)
        return values, decided

    def _bounds(self, radius: Sequence[int], largest: int) -> tuple[int, int, int]:
        """Return M, w and f of the module for one vector; f = 0 leaves it to Python."""
        squares, total = sum(y * y for y in radius), sum(radius)
        least, most = squares, squares + 2 * total + len(radius)
        above, below = self.scale.numerator**2, self.scale.denominator**2
        whole_bits = ((above * most // below).bit_length() + 1) // 2
        shift = min(WORD_BITS - 1 - whole_bits, MOST_FRACTION_BITS + WORD_BITS - 2 * self.places)
        factor, end = _scaled_root(self.scale, least, shift), _scaled_root(self.scale, most, shift) + 1
        width = ((end - factor) * (largest + 1) >> WORD_BITS) + 3
        fraction_bits = 2 * self.places + shift - WORD_BITS
        usable = fraction_bits >= 1 and width >> MOST_FRACTION_BITS == 0
        return (factor, width, fraction_bits) if usable else (0, 0, 0)


class Length:
    """b|G'| of one vector, and the products with it, with as many digits as it takes."""

    def __init__(self, scale: Fraction, radius: list[Expansion], places: int, stream: Stream):
        self._scale, self._radius, self._places, self._stream = scale, radius, places, stream
        self._bounds: list[tuple[int, int]] = []

    def rounded_product(self, direction: Expansion) -> int:
        """Return round(b|G'| · direction)."""
        extra = 0
        while True:
            *ends, places = self.product(direction, extra)
            low, high = ((end + (1 << places - 1)) >> places for end in ends)
            if low == high:
                return low
            extra += 1

    def product(self, direction: Expansion, extra: int) -> tuple[int, int, int]:
        """Return whole numbers low <= 2^k b|G'| · direction <= high, and k: from 64 `extra` more digits of either."""
        places = self._places + WORD_BITS * extra
        least, most = self._bounded(extra)
        digits = direction.leading(places, self._stream)
        return least * digits, most * (digits + 1), 2 * places

    def _bounded(self, extra: int) -> tuple[int, int]:
        """A and B of the module with 64 `extra` more digits."""
        while extra >= len(self._bounds):
            places = self._places + WORD_BITS * len(self._bounds)
            digits = [number.leading(places, self._stream) for number in self._radius]
            least, most = sum(y * y for y in digits), sum((y + 1) ** 2 for y in digits)
            self._bounds.append((_scaled_root(self._scale, least, 0), _scaled_root(self._scale, most, 0) + 1))
        return self._bounds[extra]


def _scaled_root(scale: Fraction, squares: int, shift: int) -> int:
    """Return ⌊2^shift · scale · √squares⌋; a shift below zero is a division."""
    above, below = scale.numerator**2 * squares, scale.denominator**2
    return math.isqrt((above << 2 * shift) // below if shift >= 0 else above // (below << -2 * shift))


def expansions(normals: Normals, vector: int, length: int, places: int) -> list[Expansion]:
    """Return the numbers of one vector, of `length` each, with all digits that were tossed so far."""
    start = vector * length
    cells = normals.cells[start : start + length].tolist()
    return [normals.tossed.get(start + i, Expansion(cell, places)) for i, cell in enumerate(cells)]


@njit(nogil=True, cache=True)
def _round(
    cells: Words,
    negative: Truths,
    factors: Words,
    widths: Words,
    fraction_bits: Words,
    values: Integers,
    decided: Truths,
) -> None:
    one = np.uint64(1)
    for vector in range(cells.shape[0]):
        factor, width, bits = factors[vector], widths[vector], fraction_bits[vector]
        for place in range(cells.shape[1]):
            decided[vector, place] = False
            if bits == 0:
                continue
            low = upper_half(factor, np.uint64(cells[vector, place])) + (one << (bits - one))
            size = np.int64(low >> bits)
            decided[vector, place] = (low + width) >> bits == low >> bits
            values[vector, place] = -size if negative[vector, place] else size


class L2Vector:
    """A draw of noise, of which digits are tossed on demand.

    `scale`: b, above 0. `size`: m, the number of entries. `stream`: Where digits come from, now and later. `places`:
    Digits after the point that every normal number starts with.
    """

    def __init__(self, scale: Fraction, size: int, stream: Stream, places: int = PLACES):
        radius, numbers = (standard_normals(count, stream, places) for count in (size + 1, size))
        self._length = Length(Fraction(scale), expansions(radius, 0, size + 1, places), places, stream)
        self._directions = expansions(numbers, 0, size, places)
        self._negative = numbers.negative.tolist()

    def bounds(self, extra: int) -> tuple[list[Fraction], list[Fraction]]:
        """Return least and greatest values of the entries, from 64 `extra` more digits of every number involved.

        Bounds of more digits lie within those of fewer.
        """
        low, high = [], []
        for direction, negative in zip(self._directions, self._negative, strict=True):
            least, most, places = self._length.product(direction, extra)
            if negative:
                least, most = -most, -least
            low.append(Fraction(least, 1 << places))
            high.append(Fraction(most, 1 << places))
        return low, high


class NormalVector:
    """A draw of noise, of which digits are tossed on demand.

    `deviation`: σ, above 0. `size`: The number of entries. `stream`: Where digits come from, now and later.
    """

    def __init__(self, deviation: Fraction, size: int, stream: Stream):
        numbers = standard_normals(size, stream)
        self._deviation, self._stream = Fraction(deviation), stream
        self._sizes = expansions(numbers, 0, size, PLACES)
        self._negative = numbers.negative.tolist()

    def bounds(self, extra: int) -> tuple[list[Fraction], list[Fraction]]:
        """Return least and greatest values of the entries, from 64 `extra` more digits of every number.

        Bounds of more digits lie within those of fewer.
        """
        places = PLACES + WORD_BITS * extra
        low, high = [], []
        for size, negative in zip(self._sizes, self._negative, strict=True):
            digits = size.leading(places, self._stream)
            least, most = (self._deviation * Fraction(end, 1 << places) for end in (digits, digits + 1))
            low.append(-most if negative else least)
            high.append(-least if negative else most)
        return low, high
