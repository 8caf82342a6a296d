"""Exact discrete Laplace noise, P(z) ∝ exp(-|z|/b), sixty-four draws at a time.

Let q = exp(-1/b) and let X have the geometric distribution P(X = k) = (1-q) q^k.

1.  *Difference.* For independent X, Y, P(X - Y = z) = Σ_k (1-q)² q^(k + |z| + k) = (1-q)/(1+q) · q^|z|: the noise.

2.  *Digits.* Write X = 2^L H + Σ_{i<L} 2^i D_i with binary digits D_i. As q^X = q^(2^L H) Π q^(2^i D_i) factorises, so
    does the probability: the D_i and H are independent, D_i is one with odds q^(2^i), that is with probability
    1/(1 + exp(2^i/b)), and P(H = h) ∝ exp(-2^L/b)^h: H counts how often a coin of probability exp(-2^L/b) shows one
    before its first zero. No tail is cut off.

3.  *Coins.* Each is tossed by comparing uniform digits with those of its probability, as in `randomness`, for 64 draws
    at once: bit l of a random word is the next uniform digit of draw l. Draws that are still tied keep their bit in
    `tied`; about 7 words settle all 64. The first 128 digits of every probability are in a table. A draw that ties with
    all of them, and a draw whose H is not zero (L is such that this has probability at most e^-16), is finished in
    Python with as many digits as it takes.

Every step holds for the exact distribution, so the result does: the only assumption is that the words are random. The
time that a draw takes shows next to nothing of its value, since all 64 walk through the same loop.

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
from .randomness import WORD_BITS, Coin, Stream

LANES = 64
TABLE_DIGITS = 128
# 2^L >= 16 b makes H = 0 all but certain.
TAIL_EXPONENT = 16
LARGEST_SCALE = 1 << 56
BUFFER_WORDS = 1 << 15
UNSETTLED_ROOM = 256
# What 64 tosses of one coin use up, on average 7.3.
WORDS_A_PLANE = 8
ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


class Draws(NamedTuple):
    """Whole numbers drawn at random."""

    values: np.ndarray  # int64 (n,).
    # The draws that were finished in Python, by index, as unbounded whole numbers: these take precedence over `values`,
    # whose 64 bits they may not fit.
    exact: dict[int, int]


@dataclass(frozen=True)
class LaplaceSampler:
    """The discrete Laplace distribution of one scale, with the digits of its coins."""

    scale: Fraction  # b.
    # One for each binary digit of a geometric draw, lowest first, and last the coin of the tail H.
    coins: tuple[Coin, ...]
    digits: np.ndarray  # The first digits of each coin's probability as masks, 0 or all ones: uint64 (coins, digits).
    signs: int = 2  # 2 for the difference of two geometric draws, which is the noise; 1 for the first of them alone.

    @classmethod
    def of(cls, scale: Fraction, tail_exponent: int = TAIL_EXPONENT, signs: int = 2) -> "LaplaceSampler":
        """Prepare a scale, 0 < b <= 2^56."""
        lowest = 0
        while (1 << lowest) < tail_exponent * scale:
            lowest += 1
        coins = (*(Coin((1 << i) / scale, logistic=True) for i in range(lowest)), Coin((1 << lowest) / scale))
        leading = [coin.leading(TABLE_DIGITS) for coin in coins]
        bits = [[digits >> (TABLE_DIGITS - 1 - i) & 1 for i in range(TABLE_DIGITS)] for digits in leading]
        masks = np.where(np.array(bits, bool), ALL, np.uint64(0))
        masks.flags.writeable = False
        return cls(scale, coins, masks, signs)

    def draw(self, count: int, stream: Stream) -> Draws:
        """Return `count` independent draws."""
        blocks = -(-count // LANES)
        values = np.empty(blocks * LANES, np.int64)
        # A block starts only when there are words and room for its worst case.
        longest_block = self.signs * self.digits.size
        unsettled = np.empty((max(UNSETTLED_ROOM, 2 * len(self.coins)), 5), np.uint64)
        words = np.empty(0, np.uint64)
        exact: dict[int, int] = {}
        block = 0
        while block < blocks:
            expected = self.signs * len(self.coins) * WORDS_A_PLANE * (blocks - block)
            wanted = max(min(longest_block + expected, BUFFER_WORDS), longest_block)
            words = np.concatenate((words, stream.words(max(wanted - len(words), 0))))
            block, used, rows = _draw_blocks(values, block, self.digits, words, unsettled, self.signs)
            words = words[used:]
            for row in unsettled[:rows].tolist():
                self._settle(row, values, exact, stream)
        return Draws(values[:count], {index: value for index, value in exact.items() if index < count})

    def _settle(self, row: list[int], values: np.ndarray, exact: dict[int, int], stream: Stream) -> None:
        """Toss on where the table of digits ended, and count the tail."""
        block, negative, position, ones, tied = row
        coin, weight = self.coins[position], -(1 << position) if negative else 1 << position
        for lane in range(LANES):
            shown = bool(ones >> lane & 1) or (bool(tied >> lane & 1) and coin.toss(stream, self.digits.shape[1]))
            if not shown:
                continue
            times = 1
            while position == len(self.coins) - 1 and coin.toss(stream):
                times += 1
            index = block * LANES + lane
            exact[index] = exact.get(index, int(values[index])) + times * weight


@lru_cache(maxsize=64)
def laplace_sampler(scale: Fraction) -> LaplaceSampler:
    """Return the sampler of a scale; preparing one takes about a millisecond."""
    return LaplaceSampler.of(scale)


@njit(nogil=True, cache=True)
def _toss_lanes(digits: Words, words: Words, position: int) -> tuple[np.uint64, np.uint64, int]:
    """Compare 64 uniform numbers with a probability, digit by digit.

    Returns ones, tied, position: lanes below the probability, lanes that agree with all of its digits, and the first
    word not used.
    """
    ones, tied = np.uint64(0), ALL
    place = 0
    while tied != np.uint64(0) and place < digits.size:
        digit, word = digits[place], words[position + place]
        ones |= tied & digit & ~word
        tied &= ~(digit ^ word)
        place += 1
    return ones, tied, position + place


@njit(nogil=True, cache=True)
def _draw_blocks(
    values: Integers, block: int, digits: Words, words: Words, unsettled: Words, signs: int
) -> tuple[int, int, int]:
    """Fill blocks of 64 draws until values, words or room for unsettled tosses run out.

    Returns block, position, rows: the next block to fill, the first word not used, and how many rows of `unsettled` are
    filled: block, whether the geometric draw is subtracted, coin, lanes that showed one and were not counted, lanes
    that tied.
    """
    tail = digits.shape[0] - 1
    position, rows = 0, 0
    lanes = np.arange(LANES).astype(np.uint64)
    while (
        (block + 1) * LANES <= values.size
        and words.size - position >= signs * digits.size
        and unsettled.shape[0] - rows >= 2 * digits.shape[0]
    ):
        out = values[block * LANES : (block + 1) * LANES]
        out[:] = 0
        for negative in range(signs):
            for coin in range(tail + 1):
                ones, tied, position = _toss_lanes(digits[coin], words, position)
                if coin < tail:
                    weight = -(1 << coin) if negative else 1 << coin
                    for lane in range(LANES):
                        out[lane] += np.int64(ones >> lanes[lane] & np.uint64(1)) * weight
                    ones = np.uint64(0)
                if ones | tied:
                    unsettled[rows, 0], unsettled[rows, 1], unsettled[rows, 2] = block, negative, coin
                    unsettled[rows, 3], unsettled[rows, 4] = ones, tied
                    rows += 1
        block += 1
    return block, position, rows


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
            _decide(candidates.values, uniform, self.constants, exponential_bytes(), fate)
            for index in sorted({*np.flatnonzero(fate == UNDECIDED).tolist(), *candidates.exact}):
                value = candidates.exact.get(index, int(candidates.values[index]))
                fate[index] = KEPT if self._keep(value, int(uniform[index]), stream) else REJECTED
            kept = np.flatnonzero(fate == KEPT)[: count - filled]
            values[filled : filled + len(kept)] = candidates.values[kept]
            for index, value in candidates.exact.items():
                rank = int(np.searchsorted(kept, index))
                if rank < len(kept) and kept[rank] == index:
                    exact[filled + rank] = value
            filled += len(kept)
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
def upper_half(a: np.uint64, b: np.uint64) -> np.uint64:
    """Return ⌊ab / 2^64⌋ for uint64 a and b, by the schoolbook in 32-bit digits."""
    half, mask = np.uint64(32), np.uint64(0xFFFF_FFFF)
    a_low, a_high, b_low, b_high = a & mask, a >> half, b & mask, b >> half
    middle = a_high * b_low + (a_low * b_low >> half)
    other = a_low * b_high + (middle & mask)
    return a_high * b_high + (middle >> half) + (other >> half)


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
def _decide(candidates: Integers, uniform: Words, constants: Words, exponentials: Words, fate: np.ndarray) -> None:
    """Keep or reject each candidate by the first 64 digits of its uniform number, or leave it undecided.

    Nothing branches on a candidate: which way it goes is what no processor can predict.
    """
    shift, factor, offset, largest_y = constants
    for i in range(candidates.size):
        low, high = _bounds(candidates[i], shift, factor, offset, largest_y, exponentials)
        fate[i] = KEPT * (uniform[i] < low) + UNDECIDED * ((uniform[i] >= low) & (uniform[i] <= high))
