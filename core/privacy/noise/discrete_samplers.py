"""Exact discrete Laplace noise, P(z) ∝ exp(-|z|/b), hundreds of draws at a time.

Let q = exp(-1/b) and let X have the geometric distribution P(X = k) = (1-q) q^k.

1.  *Size.* P(Z = 0) = (1-q)/(1+q), so Z is not zero with probability 2q/(1+q) = 2/(1 + exp(1/b)); and then |Z| >= 1 has
    P(|Z| = k) ∝ q^k, which is the law of 1 + X, and its sign is a fair coin, independent of it. So three independent
    draws are the noise: whether it is zero, a sign, and X.

2.  *Digits.* Write X = 2^L H + Σ_{i<L} 2^i D_i with binary digits D_i. As q^X = q^(2^L H) Π q^(2^i D_i) factorises, so
    does the probability: the D_i and H are independent, D_i is one with odds q^(2^i), that is with probability
    1/(1 + exp(2^i/b)), and P(H = h) ∝ exp(-2^L/b)^h: H counts how often a coin of probability exp(-2^L/b) shows one
    before its first zero. No tail is cut off.

3.  *Coins.* Each is tossed by comparing uniform digits with those of its probability, as in `randomness`, for a batch
    of draws at once: bit l of a random word is the next uniform digit of draw l. Draws that are still tied keep their
    bit in `tied`; 64 of them need 7 digits on average. The coin that says whether Z is zero has twice the probability p
    of D_0, which is below 1/2: as U < 2p is U/2 < p, its digits are those of p after the first one, 0. The first 24 of
    every probability are in a table. A draw that ties with all of them, and a draw whose H is not zero (L is such that
    this has probability at most e^-16), is finished in Python with as many digits as it takes.

4.  *Words.* A coin is tossed only where there are as many words as it can use at most; those that are left in the end
    are thrown away, and nothing has looked at them.

Every step holds for the exact distribution, so the result does: the only assumption is that the words are random. The
time that a draw takes shows next to nothing of its value, since all walk through the same loop.

Exact discrete Gaussian noise, P(z) ∝ exp(-z²/(2σ²)), by rejection from discrete Laplace noise.

Canonne, Kamath, Steinke 2020, Algorithm 3. Draw a candidate Y from the discrete Laplace of scale t = ⌊σ⌋ + 1 and keep
it with probability exp(-γ), γ = (|Y| - σ²/t)²/(2σ²). As |y|/t + γ = y²/(2σ²) + σ²/(2t²), what is kept has
P(y) ∝ exp(-|y|/t) exp(-γ) ∝ exp(-y²/(2σ²)): exactly the noise, for any rational σ². About three candidates in four are
kept.

The decision. A candidate is kept when a uniform U lies below exp(-γ). The compiled loop draws the first 64 binary
digits of U as a whole number u and decides with whole numbers `low` <= 2^64 exp(-γ) <= `high` + 1:

    u < low    keep:   U < (u+1)/2^64 <= exp(-γ)
    u > high   reject: U >= u/2^64 >= exp(-γ)
    otherwise  (probability about 2^-20) compare u, and then as many further digits as it takes, with those of exp(-γ)
               for the exact rational γ, in Python.

All three give the same answer as the comparison with unlimited digits, so no rounding has any effect.

The bounds. With y = |Y|, α = 1/(σ√2) and β = σ/(t√2) < 1, γ = x² for x = |αy - β|.

1.  K = ⌊α 2^(92-s)⌋ with the least s >= 0 for which K < 2^64, and B = ⌊β 2^28⌋, by integer square roots. When αy <= 16,
    X' = ⌊y 2^s K / 2^64⌋ lies in (αy 2^28 - 2, αy 2^28]: the error of K counts y 2^s / 2^64 < 1 (for s > 0 by
    2^s <= α 2^29), the floor counts less than 1. So |X' - B| is within 2 of x 2^28, and X = max(|X' - B| - 2, 0)
    satisfies X <= x 2^28 < X + 4 and X < 2^32.
2.  G = ⌊X²/2^32⌋ <= γ 2^24 < (X+4)²/2^32 < G + 10.
3.  The four bytes of G pick four table entries ⌊2^64 exp(-v 256^j / 2^24)⌋ (2^64 - 1 for v = 0). Each is short by 1 at
    most, and so is each of three products of upper halves: P <= 2^64 exp(-G/2^24) <= P + 7.
4.  So high = min(P + 6, 2^64 - 1) and, as exp(-10/2^24) > 1 - 2^-20, low = P - ⌊P/2^20⌋ - 1 (0 if that is negative).
5.  When αy > 16, exp(-γ) < exp(-(16-1)²) < 2^-64: low = high = 0.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import NamedTuple

import numpy as np

from ...runtime.compiled_code import njit
from ...runtime.counter_tables import Integers, Words
from ...runtime.inner_products import upper_half
from .randomness import WORD_BITS, Coin, Stream

# Draws are made in batches: a random word has a digit of each of 64, and so many words lie side by side.
SIDE_BY_SIDE = 16
BATCH = WORD_BITS * SIDE_BY_SIDE
TABLE_DIGITS = 24
AT_ONCE = 8  # Digits that are compared before any draw is asked whether it is tied still.
# 2^L >= 16 b makes H = 0 all but certain.
TAIL_EXPONENT = 16
LARGEST_SCALE = 1 << 56
BUFFER_LINES = 1024  # Words that are asked for at once, side by side.
UNSETTLED_ROOM = 256
DIGITS_A_TOSS = 9  # For all draws of a batch, on average a little less.
ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
SIGN, NOT_ZERO, SIZE = 0, 1, 2  # Binary digits of what is drawn before it is given its sign, and where X begins.


class Draws(NamedTuple):
    """Whole numbers drawn at random."""

    values: np.ndarray  # int64 (n,).
    # The draws that were finished in Python, by index, as unbounded whole numbers: these take precedence over `values`,
    # whose 64 bits they may not fit.
    exact: dict[int, int]


@dataclass(frozen=True)
class LaplaceSampler:
    """The discrete Laplace distribution of one scale, or the geometric one, with the digits of its coins."""

    scale: Fraction  # b.
    # One for each binary digit that is drawn, lowest first, and last the coin of the tail H.
    coins: tuple[Coin, ...]
    # What uniform digits are compared with, as masks, 0 or all ones: uint64 (coins, digits).
    digits: np.ndarray
    signed: bool  # Whether it is the noise, rather than X alone.

    @classmethod
    def of(cls, scale: Fraction, tail_exponent: int = TAIL_EXPONENT, signed: bool = True) -> "LaplaceSampler":
        """Prepare a scale, 0 < b <= 2^56."""
        lowest = 0
        while (1 << lowest) < tail_exponent * scale:
            lowest += 1
        size = (*(Coin((1 << i) / scale, logistic=True) for i in range(lowest)), Coin((1 << lowest) / scale))
        first = (Coin(Fraction(0), logistic=True), Coin(1 / scale, logistic=True)) if signed else ()
        coins = (*first, *size)
        leading = [coin.leading(TABLE_DIGITS + (signed and i == NOT_ZERO)) for i, coin in enumerate(coins)]
        bits = [[digits >> (TABLE_DIGITS - 1 - i) & 1 for i in range(TABLE_DIGITS)] for digits in leading]
        masks = np.where(np.array(bits, bool), ALL, np.uint64(0))
        masks.flags.writeable = False
        return cls(scale, coins, masks, signed)

    def draw(self, count: int, stream: Stream) -> Draws:
        """Return `count` independent draws."""
        values = np.empty(-(-count // BATCH) * BATCH, np.int64)
        planes = np.zeros((-(-len(self.coins) // DIGITS_AT_ONCE) * DIGITS_AT_ONCE, SIDE_BY_SIDE), np.uint64)
        unsettled = np.empty((UNSETTLED_ROOM, 4), np.uint64)
        left: list[list[int]] = []
        begin, coin = 0, 0
        while begin < len(values):
            tosses = (len(values) - begin) // BATCH * len(self.coins) - coin
            lines = min(self.digits.shape[1] + DIGITS_A_TOSS * tosses, BUFFER_LINES)
            words = stream.words(lines * SIDE_BY_SIDE).reshape(lines, SIDE_BY_SIDE)
            begin, coin, rows = _draw_batches(values, begin, coin, planes, self.digits, words, unsettled, self.signed)
            left += unsettled[:rows].tolist()
        exact: dict[int, int] = {}
        for row in left:
            self._settle(row, values, exact, stream)
        if self.signed:
            exact = {index: _with_sign(drawn) for index, drawn in exact.items()}
            _give_signs(values)
        return Draws(values[:count], {index: value for index, value in exact.items() if index < count})

    def _settle(self, row: list[int], values: np.ndarray, exact: dict[int, int], stream: Stream) -> None:
        """Toss on where the table of digits ended, and count the tail."""
        begin, position, ones, tied = row
        coin, known = self.coins[position], self.digits.shape[1] + (self.signed and position == NOT_ZERO)
        for lane in range(WORD_BITS):
            shown = bool(ones >> lane & 1) or (bool(tied >> lane & 1) and coin.toss(stream, known))
            if not shown:
                continue
            times = 1
            while position == len(self.coins) - 1 and coin.toss(stream):
                times += 1
            index = begin + lane * SIDE_BY_SIDE
            exact[index] = exact.get(index, int(values[index])) + (times << position)


@lru_cache(maxsize=64)
def laplace_sampler(scale: Fraction) -> LaplaceSampler:
    """Return the sampler of a scale; preparing one takes about a millisecond."""
    return LaplaceSampler.of(scale)


def _with_sign(drawn: int) -> int:
    """Z from its digits: whether it is above or below zero, whether it is zero, and X."""
    size = (drawn >> SIZE) + 1 if drawn >> NOT_ZERO & 1 else 0
    return -size if drawn >> SIGN & 1 else size


@njit(nogil=True, cache=True)
def _give_signs(values: Integers) -> None:
    """The same for many, in place, without a branch."""
    for i in range(values.size):
        drawn = values[i]
        negative = -(drawn >> SIGN & 1)
        values[i] = (((drawn >> SIZE) + 1) & -(drawn >> NOT_ZERO & 1) ^ negative) - negative


DIGITS_AT_ONCE = 16
_FIELD = np.uint64((1 << DIGITS_AT_ONCE) - 1)
_HALVES = (0x00FF_00FF_00FF_00FF, 0x0F0F_0F0F_0F0F_0F0F, 0x3333_3333_3333_3333, 0x5555_5555_5555_5555)


@njit(nogil=True, cache=True, inline="always")
def _toss(digits: Words, coin: int, words: Words, line: int, planes: Words, tied: Words) -> int:
    """Compare the uniform numbers of a batch with the probability of a coin, digit by digit.

    Writes which are below it to `planes[coin]` and which agree with all of its digits to `tied`, and returns the first
    line of words that is not used. Where some draws of a word are tied after the first digits, it goes on by itself.
    """
    for v in range(SIDE_BY_SIDE):
        ones, same = np.uint64(0), ALL
        for place in range(AT_ONCE):
            digit, word = digits[coin, place], words[line + place, v]
            ones |= same & digit & ~word
            same &= ~(digit ^ word)
        planes[coin, v], tied[v] = ones, same
    line += AT_ONCE
    column = 0
    for v in range(SIDE_BY_SIDE):
        ones, same, place = planes[coin, v], tied[v], AT_ONCE
        while same != np.uint64(0) and place < digits.shape[1]:
            digit, word = digits[coin, place], words[line, column]
            ones |= same & digit & ~word
            same &= ~(digit ^ word)
            place += 1
            column += 1
            if column == SIDE_BY_SIDE:
                line, column = line + 1, 0
        planes[coin, v], tied[v] = ones, same
    return line + (column > 0)


@njit(nogil=True, cache=True)
def _put_digits(planes: Words, shift: int, drawn: Integers) -> None:
    """Put sixteen digits of a batch, which lie digit by digit in `planes`, into its numbers, from bit `shift` on.

    Each word of a column has four squares of 16 × 16 digits beside each other, which are turned over by exchanging
    halves, quarters and so on (Warren, Hacker's Delight, 7-3).
    """
    for step in range(4):
        distance, mask = 8 >> step, np.uint64(_HALVES[step])
        by = np.uint64(distance)
        for k in range(DIGITS_AT_ONCE):
            if not k & distance:
                for v in range(SIDE_BY_SIDE):
                    low, high = planes[k, v], planes[k + distance, v]
                    changed = ((low >> by) ^ high) & mask
                    planes[k, v], planes[k + distance, v] = low ^ (changed << by), high ^ changed
    flat, many = planes.reshape(-1), DIGITS_AT_ONCE * SIDE_BY_SIDE
    for field in range(WORD_BITS // DIGITS_AT_ONCE):
        part, right = drawn[field * many : (field + 1) * many], np.uint64(field * DIGITS_AT_ONCE)
        for i in range(many):
            part[i] |= np.int64((flat[i] >> right & _FIELD) << np.uint64(shift))


@njit(nogil=True, cache=True)
def _draw_batches(
    values: Integers, begin: int, coin: int, planes: Words, digits: Words, words: Words, unsettled: Words, signed: bool
) -> tuple[int, int, int]:
    """Toss coin after coin for batches of draws until values, words or room for unsettled tosses run out.

    Returns begin, coin, rows: where it goes on, and how many rows of `unsettled` are filled: where the numbers of a
    word begin, coin, lanes that showed one and were not counted, lanes that tied.
    """
    coins, most = digits.shape
    line, rows = 0, 0
    tied = np.empty(SIDE_BY_SIDE, np.uint64)
    while begin < values.size and len(words) - line >= most and len(unsettled) - rows >= SIDE_BY_SIDE:
        if signed and coin == SIGN:
            for v in range(SIDE_BY_SIDE):
                planes[coin, v] = words[line, v]
            line += 1
        else:
            line = _toss(digits, coin, words, line, planes, tied)
            for v in range(SIDE_BY_SIDE):
                shown = np.uint64(0)
                if coin == coins - 1:
                    shown, planes[coin, v] = planes[coin, v], np.uint64(0)
                if shown | tied[v]:
                    unsettled[rows, 0], unsettled[rows, 1] = begin + v, coin
                    unsettled[rows, 2], unsettled[rows, 3] = shown, tied[v]
                    rows += 1
        coin += 1
        if coin == coins:
            drawn = values[begin : begin + BATCH]
            drawn[:] = 0
            for first in range(0, coins - 1, DIGITS_AT_ONCE):
                _put_digits(planes[first : first + DIGITS_AT_ONCE], first, drawn)
            planes[:] = 0
            begin, coin = begin + BATCH, 0
    return begin, coin, rows


LARGEST_SIGMA2 = (LARGEST_SCALE - 1) ** 2
# More candidates than draws by the share that is rejected, and a little more.
CANDIDATES_A_DRAW = 1.33
SPARE_CANDIDATES = 32
REJECTED, KEPT, UNDECIDED = 0, 1, 2


@dataclass(frozen=True)
class GaussianSampler:
    """The discrete Gaussian distribution of one σ²."""

    sigma2: Fraction  # σ².
    t: int  # Scale of the candidates.
    proposal: LaplaceSampler  # Their distribution.
    constants: np.ndarray  # s, K, B and the largest y with αy <= 16, as the module defines them: uint64 (4,).

    @classmethod
    def of(cls, sigma2: Fraction) -> "GaussianSampler":
        """Prepare a variance parameter, 0 < σ² < 2^112."""
        t = isqrt(sigma2.numerator // sigma2.denominator) + 1
        largest_y = isqrt(int(512 * sigma2))
        shift, factor = 0, 0
        if largest_y:  # otherwise only y = 0 is ever compared
            while (factor := isqrt(int((1 << 2 * (92 - shift)) / (2 * sigma2)))) >> WORD_BITS:
                shift += 1
        offset = isqrt(int(sigma2 * (1 << 55) / t**2))
        constants = np.array([shift, factor, offset, largest_y], np.uint64)
        constants.flags.writeable = False
        return cls(sigma2, t, laplace_sampler(Fraction(t)), constants)

    def draw(self, count: int, stream: Stream) -> Draws:
        """Return `count` independent draws: the first candidates that are kept."""
        values = np.empty(count, np.int64)
        exact: dict[int, int] = {}
        filled = 0
        while filled < count:
            candidates = self.proposal.draw(int((count - filled) * CANDIDATES_A_DRAW) + SPARE_CANDIDATES, stream)
            uniform = stream.words(len(candidates.values))
            fate = np.empty(len(candidates.values), np.uint8)
            undecided = _decide(candidates.values, uniform, self.constants, exponential_bytes(), fate)
            doubtful = np.flatnonzero(fate == UNDECIDED).tolist() if undecided else []
            for index in sorted({*doubtful, *candidates.exact}):
                value = candidates.exact.get(index, int(candidates.values[index]))
                fate[index] = KEPT if self._keep(value, int(uniform[index]), stream) else REJECTED
            last = _take_kept(candidates.values, fate, values, filled)
            for index, value in candidates.exact.items():
                place = filled + int(np.count_nonzero(fate[:index] == KEPT))
                if fate[index] == KEPT and place < count:
                    exact[place] = value
            filled = last
        return Draws(values, exact)

    def _keep(self, candidate: int, first_word: int, stream: Stream) -> bool:
        """Compare U, which starts with `first_word`, with exp(-γ) of the exact rational γ."""
        coin = Coin((abs(candidate) - self.sigma2 / self.t) ** 2 / (2 * self.sigma2))
        digits = coin.leading(WORD_BITS)
        return first_word < digits if first_word != digits else coin.toss(stream, WORD_BITS)


@lru_cache(maxsize=64)
def gaussian_sampler(sigma2: Fraction) -> GaussianSampler:
    """Return the sampler of a σ²."""
    return GaussianSampler.of(sigma2)


@lru_cache(maxsize=1)
def exponential_bytes() -> np.ndarray:
    """Return ⌊2^64 exp(-v 256^j / 2^24)⌋ for byte j of an exponent with value v: uint64 (4, 256)."""
    table = np.full((4, 256), (1 << WORD_BITS) - 1, np.uint64)
    for j in range(4):
        for v in range(1, 256):
            table[j, v] = Coin(Fraction(v << 8 * j, 1 << 24)).leading(WORD_BITS)
    table.flags.writeable = False
    return table


@njit(nogil=True, cache=True)
def _bounds(
    candidate: np.int64,
    shift: np.uint64,
    factor: np.uint64,
    offset: np.uint64,
    largest_y: np.uint64,
    exponentials: Words,
) -> tuple[np.uint64, np.uint64]:
    """Return `low` and `high` of the module for one candidate, uint64."""
    one, two, byte = np.uint64(1), np.uint64(2), np.uint64(0xFF)
    y = np.uint64(abs(candidate))
    scaled = upper_half(y << shift, factor)
    distance = scaled - offset if scaled > offset else offset - scaled
    x = distance - two if distance > two else np.uint64(0)
    exponent = x * x >> np.uint64(32)
    lower = upper_half(exponentials[0, exponent & byte], exponentials[1, exponent >> np.uint64(8) & byte])
    upper = upper_half(exponentials[2, exponent >> np.uint64(16) & byte], exponentials[3, exponent >> np.uint64(24)])
    product = upper_half(lower, upper)
    shortfall = (product >> np.uint64(20)) + one
    low = product - shortfall if product > shortfall else np.uint64(0)
    high = product + np.uint64(6)
    high = high if high > product else ~np.uint64(0)
    # A candidate beyond the reach of steps 1 to 4 overflows above, harmlessly: step 5 takes its place.
    return (low, high) if y <= largest_y else (np.uint64(0), np.uint64(0))


@njit(nogil=True, cache=True)
def _decide(candidates: Integers, uniform: Words, constants: Words, exponentials: Words, fate: np.ndarray) -> int:
    """Keep or reject each candidate by the first 64 digits of its uniform number, or leave it undecided.

    Nothing branches on a candidate: which way it goes is what no processor can predict. Returns how many are undecided.
    """
    shift, factor, offset, largest_y = constants
    undecided = 0
    for i in range(candidates.size):
        low, high = _bounds(candidates[i], shift, factor, offset, largest_y, exponentials)
        open_yet = (uniform[i] >= low) & (uniform[i] <= high)
        fate[i] = KEPT * (uniform[i] < low) + UNDECIDED * open_yet
        undecided += open_yet
    return undecided


@njit(nogil=True, cache=True)
def _take_kept(candidates: Integers, fate: np.ndarray, values: Integers, filled: int) -> int:
    """Write candidates that are kept behind what is filled already, and return how far it is filled then."""
    for i in range(candidates.size):
        if filled == values.size:
            break
        values[filled] = candidates[i]
        filled += fate[i] == KEPT
    return filled
