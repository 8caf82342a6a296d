"""The minimiser of a regularised logistic loss with a linear term, rounded to a grid: certainly what rounds exactly.

For vectors u_i (a record times its label, 1 or -1) with |u_i| <= 1, a curvature k > 0 and a real vector b,

    J(f) = Σ log(1 + exp(o_i - <f, u_i>)) + k|f|²/2 + <b, f>      has one minimiser f*,

where the offsets o_i are 0 but for what predicts numbers (`number_objective`).

Objective perturbation proves its promise for f*, so what is released has to be a function of f* alone: here f* rounded
to multiples of 2^-`GRID_BITS`. Neither f* nor b is ever known exactly; both are enclosed.

*Certificate.* J is k-strongly convex, so |f - f*| <= |∇J(f)|/k for every f. A gradient g that is computed within e of
the true one, for some b within r of the real one, gives |f - f*| <= (|g| + e + r)/k. Where f plus and minus that round
to the same grid point in every coordinate, it is the rounded f*. Otherwise more digits of b are asked for, and the
gradient is computed with more. As f* lies half-way between two grid points with probability zero, this ends.

*Gradient in double precision* (level 0), u = 2^-53: ∇J(f) = b + kf - Σ w_i u_i with w_i = 1/(1 + exp(<f, u_i>)).
Entries of u_i are whole multiples of 2^-30 below 2^30 and have no error.

1.  <f, u_i> is a sum of m products in any order: within 1.01 m u |f| of the truth (Higham 2002, section 3.1, with
    Σ|f_j u_ij| <= |f|), an offset taken off it adds a rounding of 1.01 u (|f| + |o_i|), and w_i changes by a quarter of
    that at most.
2.  exp(x) for |x| <= 40 is 2^c exp(r), r = x - c log 2, |r| < 0.36, with log 2 in two parts of which the first has 40
    bits, so that c times it is exact: r is within 0.8u. Σ r^j/j! up to j = 14 by Horner's rule, q = 1 + (r/j) q: the
    rest of the series is below 0.01u, and rounding adds (r/j)(e + 3u) + 1.5u a step to the error e so far, 3.6u in the
    end. The result is at least 0.69, so it is within 6.1u of itself; 1/(1 + exp) is then within
    6.1u w(1-w) + 2u <= 3.6u. Beyond 40 it is that of 40, within 0.04u. In all less than 2^-50.
3.  Σ w_i u_i, in blocks of 256 records in any order, and the blocks' sums without error but for one rounding
    (`math.fsum`): within 1.01 · 258 u Σ w_i, as |u_i| <= 1.
4.  The rest, b + kf minus the sum, is in fractions.

Only operations take part whose rounding IEEE 754 fixes: no library's exponential, no compiled matrix product.

*Gradient in words* (level 1), at whole multiples of 2^-64: a score <f, u_i> is a sum of products of whole numbers in
four parts, exact, and cut to units of 2^-64. The share of one of K scores is its exponential over the sum of all, each
taken off the largest one; w_i is that of 0 beside <f, u_i>.

1.  How far a score lies below the largest, d, is off by a unit at most. exp(-d) is the product of four entries of a
    table, up to 7 units too small (`discrete_samplers`), and of 1 - r + r²/2 for the r < 2^-24 that is left of d, which
    rounded down is too small by less than 2.1, as r³ < 2^-72: with one more rounding and what d is off within 12.
2.  Exponentials lose s digits, 3 more than K has, so that their sum is below 2^61: each is then within 2 of the truth,
    their sum within 2K. It is at least 2^(64-s) - 2K, so quotients p are off by 1.01 (2 + 2Kp) 2^(s-64), and 2^-61 for
    31 digits of them and 31 of what these leave over, which is known exactly: for a record 5K 2^(s-64) in all.
3.  Sums of shares times u_i are exact: of 21 digits of a share at a time, and of so few records that words hold them.

*Gradient with more digits* (levels from 2), in whole multiples of 2^-q, q = 64 level: <f, u_i> is exact; w_i is
computed with `Decimal`, whose exponential is correctly rounded, and cut: within 2^(1-q). Σ w_i u_i is exact, so the
gradient is within n 2^(1-q). So it is at level 1 where a place is billions away.

*The search* for f needs no proof. It is Newton's: a whole step where that brings J down, otherwise a half, a quarter
and so on, but never less than log(1 + d)/d for a step that moves scores by d at most, which always brings it down (Sun,
Tran-Dinh 2019: the loss is generalised self-concordant, of order 2 with constant 1). Where records leave J nearly flat
and k is small, f* is billions away, and steps of that least length alone would never arrive. The time that it takes
depends on the records, as every fit's does; the promise is about what is released.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from itertools import count

import numpy as np

from ..privacy.noise.discrete_samplers import exponential_bytes
from ..runtime.compiled_code import njit
from ..runtime.counter_tables import Integers, Words
from ..runtime.inner_products import upper_half
from .record_vectors import block_by_block

UNIT_BITS = 30
# Coefficients are whole multiples of 2^-20: of vectors of length 1, so that a score is off by a millionth or so.
GRID_BITS = 20
UNIT_ROUNDOFF = 2.0**-53
WEIGHT_ERROR = 2.0**-50
SLACK = 1.01
BLOCK = 256
FARTHEST = 40.0
TERMS = 14
LOG2_HIGH = math.floor(math.log(2) * 2**40) / 2**40
LOG2_LOW = float(Fraction("0.69314718055994530941723212145817656807550013436") - Fraction(LOG2_HIGH))
WORD_BITS = 64
ROWS_AT_ONCE = 1 << 12
# Digits of a part of a place and of a share, and records whose products with them add up in a word.
PART_BITS, SHARE_BITS, RECORDS_OF_A_WORD = 24, 21, 1 << 10
MOST_STEPS = 500

# Least and greatest values of the entries of b, at a level of precision.
Bounds = Callable[[int], tuple[Sequence[Fraction], Sequence[Fraction]]]


def rounded_minimiser(
    vectors: np.ndarray, curvature: Fraction, linear: Bounds, offsets: np.ndarray | None = None
) -> list[int]:
    """Return the minimiser of J in multiples of 2^-`GRID_BITS`, rounded to nearest.

    `vectors`: int64 (n, m), u_i in units of 2^-`UNIT_BITS`, each of length 1 at most. `linear`: Bounds of b, which get
    narrower from level to level without end. `offsets`: int64 (n,), o_i in units of 2^-`UNIT_BITS`, below 2^53 of them;
    None where all are 0.
    """
    return rounded_by(_Logistic(vectors, curvature, offsets), curvature, linear)


def rounded_by(objective: Objective, curvature: Fraction, linear: Bounds) -> list[int]:
    """The minimiser of an objective that is strongly convex with this curvature, rounded to the grid."""
    for place, length in _approaching(objective, linear):
        rounded = rounded_within(place, length / curvature)
        if rounded is not None:
            return rounded
    raise RuntimeError("Levels never end.")


def approximate_minimiser(
    vectors: np.ndarray, curvature: Fraction, linear: Bounds, largest_gradient: Fraction
) -> list[Fraction]:
    """Return a place where the gradient of J is certainly no longer than `largest_gradient`, for the real b.

    `largest_gradient`: Above 0; what is reached is checked, whatever the search did.
    """
    for place, length in _approaching(_Logistic(vectors, curvature), linear):
        if length <= largest_gradient:
            return place
    raise RuntimeError("Levels never end.")


def _approaching(objective: Objective, linear: Bounds) -> Iterator[tuple[list[Fraction], Fraction]]:
    """Places closer and closer to the minimiser, each with a length that its gradient certainly does not pass."""
    low, high = linear(0)
    place = [Fraction(value) for value in objective.start([float(a + b) / 2 for a, b in zip(low, high, strict=True)])]
    for level in count():
        if level:  # a double next to zero has digits behind those that the level computes with
            place = [_cut(value, level) for value in place]
        low, high = linear(level)
        middle = [(a + b) / 2 for a, b in zip(low, high, strict=True)]
        spread = length_above([(b - a) / 2 for a, b in zip(low, high, strict=True)])
        last = None
        while True:
            gradient, error = objective.gradient(place, middle, level)
            size = length_above(gradient)
            yield place, size + error + spread
            if size <= error + spread or (last is not None and 2 * size > last):
                break
            last = size
            place = objective.step(place, gradient, level)


class Objective(ABC):
    """What is minimised, without its linear term: gradients that are known to be right, and steps that need not be."""

    _curvature: Fraction

    @abstractmethod
    def start(self, linear: list[float]) -> np.ndarray:
        """A place near the minimiser, found in double precision."""

    @abstractmethod
    def step(self, place: list[Fraction], gradient: list[Fraction], level: int) -> list[Fraction]:
        """Newton's step, to a place with as many digits as the level computes with."""

    @abstractmethod
    def _in_double_precision(self, place: list[Fraction]) -> tuple[list[Fraction], Fraction]:
        """What records pull at a place, and how far that is off at most, in length."""

    @abstractmethod
    def _in_whole_numbers(self, place: list[Fraction], level: int) -> tuple[list[Fraction], Fraction]:
        """The same with the digits of a level."""

    def gradient(self, place: list[Fraction], linear: list[Fraction], level: int) -> tuple[list[Fraction], Fraction]:
        """The gradient at a place, and how far it is from the true one at most, in length."""
        sums, error = self._in_double_precision(place) if level == 0 else self._in_whole_numbers(place, level)
        terms = zip(place, linear, sums, strict=True)
        return [self._curvature * value + slope - total for value, slope, total in terms], error

    def _moved(self, place: list[Fraction], move: list[Fraction], level: int) -> list[Fraction]:
        """A place moved back, with as many digits as the level computes with."""
        moved = [value - change for value, change in zip(place, move, strict=True)]
        return [Fraction(float(value)) if level == 0 else _cut(value, level) for value in moved]

    def _whole(self, place: list[Fraction], digits: int) -> np.ndarray:
        """A place in whole multiples of 2^-digits, which it must be, object (m,)."""
        whole = np.array([int(value * (1 << digits)) for value in place], object)
        if any(Fraction(number, 1 << digits) != value for number, value in zip(whole, place, strict=True)):
            raise ValueError("A place has more digits than its level.")
        return whole


class _Logistic(Objective):
    """J without its linear term."""

    def __init__(self, vectors: np.ndarray, curvature: Fraction, offsets: np.ndarray | None = None):
        self._units = vectors
        self._vectors = vectors / float(1 << UNIT_BITS)
        self._curvature = curvature
        self._whole_offsets = np.zeros(len(vectors), np.int64) if offsets is None else offsets
        self._offsets = self._whole_offsets / float(1 << UNIT_BITS)

    def start(self, linear: list[float]) -> np.ndarray:
        place = np.zeros(self._vectors.shape[1])
        for _ in range(MOST_STEPS):
            weights = logistic_weights(self._margins(place))
            gradient = np.array(linear) + float(self._curvature) * place - block_sums(self._vectors, weights)
            move = np.linalg.solve(self._hessian(weights), gradient)
            value, slope = self._value(place, linear), float(gradient @ move)
            moved = float(np.max(np.abs(self._products(move)), initial=0.0))
            share, least = 1.0, math.log1p(moved) / moved if moved > 0.0 else 1.0
            while share > least and not self._value(place - share * move, linear) <= value - share * slope / 4:
                share /= 2
            place = place - max(share, least) * move
            if np.linalg.norm(move) < 1e-6 * max(1.0, float(np.linalg.norm(place))):
                break
        return place

    def _value(self, place: np.ndarray, linear: list[float]) -> float:
        """J at a place, near enough to compare steps."""
        losses = np.logaddexp(0.0, -self._margins(place)).sum()
        return float(losses + float(self._curvature) * (place @ place) / 2 + place @ np.array(linear))

    def step(self, place: list[Fraction], gradient: list[Fraction], level: int) -> list[Fraction]:
        weights = logistic_weights(self._margins(np.array([float(value) for value in place])))
        scale = max(abs(value) for value in gradient)
        move = np.linalg.solve(self._hessian(weights), [float(value / scale) for value in gradient])
        return self._moved(place, [Fraction(change) * scale for change in move.tolist()], level)

    def _products(self, place: np.ndarray) -> np.ndarray:
        return np.einsum("ij,j->i", self._vectors, place, optimize=False)

    def _margins(self, place: np.ndarray) -> np.ndarray:
        return self._products(place) - self._offsets

    def _hessian(self, weights: np.ndarray) -> np.ndarray:
        curved, bent = float(self._curvature) * np.eye(self._vectors.shape[1]), weights * (1.0 - weights)
        for start in range(0, len(bent), ROWS_AT_ONCE):
            rows = self._vectors[start : start + ROWS_AT_ONCE]
            curved += (rows * bent[start : start + ROWS_AT_ONCE, None]).T @ rows
        return curved

    def _in_double_precision(self, place: list[Fraction]) -> tuple[list[Fraction], Fraction]:
        values = np.array([float(value) for value in place])  # of a place with a float's digits, so nothing is lost
        records, size = self._vectors.shape
        weights = logistic_weights(self._margins(values))
        farthest = float(np.max(np.abs(self._offsets), initial=0.0))
        margin_error = UNIT_ROUNDOFF * ((size + 1) * float(np.linalg.norm(values)) + farthest) / 4
        sum_error = (BLOCK + 2) * UNIT_ROUNDOFF * math.fsum(weights)
        # The slack also covers the rounding of these few numbers themselves.
        error = Fraction(SLACK**2 * (records * (WEIGHT_ERROR + margin_error) + sum_error))
        return [Fraction(total) for total in block_sums(self._vectors, weights)], error

    def _in_whole_numbers(self, place: list[Fraction], level: int) -> tuple[list[Fraction], Fraction]:
        digits = digits_of(level)
        whole, total = self._whole(place, digits), np.zeros(len(place), object)
        if level == 1 and (found := shares_in_words(self._units, whole[None, :], self._whole_offsets)):
            return found
        for start in range(0, len(self._units), ROWS_AT_ONCE):
            units = self._units[start : start + ROWS_AT_ONCE].astype(object)
            offsets = self._whole_offsets[start : start + ROWS_AT_ONCE].astype(object)
            weights = [_weight(margin, digits) for margin in units @ whole - offsets * (1 << digits)]
            total = total + np.array(weights, object) @ units
        sums = [Fraction(number, 1 << digits + UNIT_BITS) for number in total.tolist()]
        return sums, Fraction(2 * len(self._units), 1 << digits)


def logistic_weights(margins: np.ndarray) -> np.ndarray:
    """1/(1 + e^x), within 2^-50 of it: step 2 of the module. Float64, (n, ...)."""
    return block_by_block(lambda part: 1.0 / (1.0 + exponential(np.clip(part, -FARTHEST, FARTHEST))), margins)


def exponential(bounded: np.ndarray) -> np.ndarray:
    """e^x for |x| <= 40, within 6.1 u of itself: step 2 of the module."""
    whole = np.rint(bounded / math.log(2))
    rest = (bounded - whole * LOG2_HIGH) - whole * LOG2_LOW
    power = np.ones_like(rest)
    for term in range(TERMS, 0, -1):
        power = 1.0 + (rest / term) * power
    return np.ldexp(power, whole.astype(np.int64))


def block_sums(vectors: np.ndarray, weights: np.ndarray) -> list[float]:
    """Sums of weights (n,) times vectors (n, m), m of them: step 3 of the module."""
    blocks = [np.zeros((0, vectors.shape[1]))]
    for start in range(0, len(vectors), ROWS_AT_ONCE):
        weighted = vectors[start : start + ROWS_AT_ONCE] * weights[start : start + ROWS_AT_ONCE, None]
        blocks.append(np.add.reduceat(weighted, np.arange(0, len(weighted), BLOCK), axis=0))
    return [math.fsum(column) for column in np.concatenate(blocks).T]


def _weight(margin: int, digits: int) -> int:
    """1/(1 + e^x) in multiples of 2^-digits, within two of them, for x in multiples of 2^-(digits + `UNIT_BITS`)."""
    scale = digits + UNIT_BITS
    if abs(margin) >> scale >= digits:
        return 0 if margin > 0 else 1 << digits  # e^-digits < 2^-digits
    context = Context(prec=digits * 302 // 1000 + 15, Emin=-(10**9), Emax=10**9)
    power = context.exp(context.divide(Decimal(margin), Decimal(1 << scale)))
    return int(context.divide(Decimal(1 << digits), context.add(power, Decimal(1))))


def shares_in_words(
    units: np.ndarray, places: np.ndarray, offsets: np.ndarray
) -> tuple[list[Fraction], Fraction] | None:
    """Sums of shares times vectors, row by row, and how far they are off at most, in length: level 1 of the module.

    `units`: int64 (n, m). `places`: In multiples of 2^-64, object (K, m); of one row the share of 0 beside its score is
    meant. `offsets`: int64 (n,), taken off the scores. None where places are too far off.
    """
    if any(abs(value) >> 4 * PART_BITS - 1 for value in places.flat):
        return None
    parts = [places >> PART_BITS * i & (1 << PART_BITS) - 1 for i in range(3)]
    split = np.stack([*parts, places >> 3 * PART_BITS], axis=1).astype(np.int64)
    lost = ((classes := max(len(places), 2)) - 1).bit_length() + 3
    total = np.zeros(split[:, :3].shape, object)
    for start in range(0, len(units), RECORDS_OF_A_WORD):
        found, rows = np.zeros(total.shape, np.int64), slice(start, start + RECORDS_OF_A_WORD)
        _add_shares(units[rows], split, offsets[rows], exponential_bytes(), lost, found)
        total += found
    sums = [int(a + (b << SHARE_BITS) + (c << 2 * SHARE_BITS)) for row in total for a, b, c in row.T]
    known = [Fraction(number, 1 << 62 + UNIT_BITS) for number in sums]
    return known, Fraction(5 * classes * len(units), 1 << WORD_BITS - lost)


@njit(nogil=True, cache=True)
def _add_shares(
    units: Integers, split: Integers, offsets: Integers, exponentials: Words, lost: int, sums: Integers
) -> None:
    """Add shares times vectors to `sums`, int64 (K, 3, m), in units of 2^-62, 2^-41 and 2^-20."""
    rows, _, size = split.shape
    classes = max(rows, 2)
    whole, rest = np.zeros(classes, np.int64), np.zeros(classes, np.uint64)
    powers, low = np.zeros(classes, np.int64), np.int64((1 << PART_BITS) - 1)
    for i in range(len(units)):
        for row in range(rows):
            a, b, c, d = np.int64(0), np.int64(0), -((offsets[i] & 255) << 16), -(offsets[i] >> 8)
            for j in range(size):
                a += units[i, j] * split[row, 0, j]
                b += units[i, j] * split[row, 1, j]
                c += units[i, j] * split[row, 2, j]
                d += units[i, j] * split[row, 3, j]
            b += a >> PART_BITS
            c += b >> PART_BITS
            d += c >> PART_BITS
            whole[row] = d >> 22  # a score has 94 digits after the point, of which the last 30 are cut
            rest[row] = np.uint64(d << 42) | np.uint64((c & low) << 18) | np.uint64((b & low) >> 6)
        largest = 0
        for row in range(1, classes):
            if whole[row] > whole[largest] or (whole[row] == whole[largest] and rest[row] > rest[largest]):
                largest = row
        total = np.int64(0)
        for row in range(classes):
            below = rest[largest] - rest[row]
            times = whole[largest] - whole[row] - np.int64(rest[largest] < rest[row])
            powers[row] = np.int64(_decay(times, below, exponentials) >> np.uint64(lost))
            total += powers[row]
        for row in range(rows):
            power = powers[classes - rows + row]
            first = np.int64(math.floor(np.float64(power) / np.float64(total) * 2.0**31))
            left = (power << 31) - first * total
            share = (first << 31) + np.int64(math.floor(np.float64(left) / np.float64(total) * 2.0**31))
            one = np.int64((1 << SHARE_BITS) - 1)
            for j in range(size):
                sums[row, 0, j] += units[i, j] * (share & one)
                sums[row, 1, j] += units[i, j] * (share >> SHARE_BITS & one)
                sums[row, 2, j] += units[i, j] * (share >> 2 * SHARE_BITS)


@njit(nogil=True, cache=True)
def _decay(whole: np.int64, rest: np.uint64, exponentials: Words) -> np.uint64:
    """2^64 e^-d in a word for d = whole + rest / 2^64: step 1 of level 1."""
    if whole > 255:
        return np.uint64(0)
    byte, eight, r = np.uint64(255), np.uint64(8), rest & np.uint64((1 << 40) - 1)
    first = upper_half(exponentials[3, whole], exponentials[2, rest >> np.uint64(56)])
    second = upper_half(exponentials[1, rest >> np.uint64(48) & byte], exponentials[0, rest >> np.uint64(40) & byte])
    return upper_half(upper_half(first, second), ~r + ((r >> eight) * (r >> eight) >> np.uint64(49)))


def digits_of(level: int) -> int:
    return WORD_BITS * level


def _cut(value: Fraction, level: int) -> Fraction:
    """The nearest number with as many digits as the level computes with."""
    return Fraction(round(value * (1 << digits_of(level))), 1 << digits_of(level))


def rounded_within(place: list[Fraction], radius: Fraction) -> list[int] | None:
    """What every number within the radius rounds to, in grid units; None where they differ."""
    half, unit = Fraction(1, 2), 1 << GRID_BITS
    low = [math.floor((value - radius) * unit + half) for value in place]
    high = [math.floor((value + radius) * unit + half) for value in place]
    return low if low == high else None


def length_above(values: Sequence[Fraction]) -> Fraction:
    """The Euclidean length, rounded up in its 32nd binary digit or beyond."""
    squares = sum((value * value for value in values), Fraction(0))
    if not squares:
        return Fraction(0)
    shift = max(0, squares.denominator.bit_length() - squares.numerator.bit_length() + 65) // 2
    return Fraction(math.isqrt((squares.numerator << 2 * shift) // squares.denominator) + 1, 1 << shift)
