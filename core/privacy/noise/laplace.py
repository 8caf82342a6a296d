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
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ...runtime.array_types import Integers, Words
from ...runtime.compiled_code import njit
from .randomness import Coin, Stream

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

    @classmethod
    def of(cls, scale: Fraction, tail_exponent: int = TAIL_EXPONENT) -> "LaplaceSampler":
        """Prepare a scale, 0 < b <= 2^56."""
        lowest = 0
        while (1 << lowest) < tail_exponent * scale:
            lowest += 1
        coins = (*(Coin((1 << i) / scale, logistic=True) for i in range(lowest)), Coin((1 << lowest) / scale))
        leading = [coin.leading(TABLE_DIGITS) for coin in coins]
        bits = [[digits >> (TABLE_DIGITS - 1 - i) & 1 for i in range(TABLE_DIGITS)] for digits in leading]
        masks = np.where(np.array(bits, bool), ALL, np.uint64(0))
        masks.flags.writeable = False
        return cls(scale, coins, masks)

    def draw(self, count: int, stream: Stream) -> Draws:
        """Return `count` independent draws."""
        blocks = -(-count // LANES)
        values = np.empty(blocks * LANES, np.int64)
        # A block starts only when there are words and room for its worst case.
        longest_block = 2 * self.digits.size
        unsettled = np.empty((max(UNSETTLED_ROOM, 2 * len(self.coins)), 5), np.uint64)
        words = np.empty(0, np.uint64)
        exact: dict[int, int] = {}
        block = 0
        while block < blocks:
            expected = 2 * len(self.coins) * WORDS_A_PLANE * (blocks - block)
            wanted = max(min(longest_block + expected, BUFFER_WORDS), longest_block)
            words = np.concatenate((words, stream.words(max(wanted - len(words), 0))))
            block, used, rows = _draw_blocks(values, block, self.digits, words, unsettled)
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

    Returns
    -------
    ones, tied, position
        Lanes below the probability, lanes that agree with all of its digits, and the first word not used.
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
def _draw_blocks(values: Integers, block: int, digits: Words, words: Words, unsettled: Words) -> tuple[int, int, int]:
    """Fill blocks of 64 draws until values, words or room for unsettled tosses run out.

    Returns
    -------
    block, position, rows
        The next block to fill, the first word not used, and how many rows of `unsettled` are filled: block, whether
        the geometric draw is subtracted, coin, lanes that showed one and were not counted, lanes that tied.
    """
    tail = digits.shape[0] - 1
    position, rows = 0, 0
    lanes = np.arange(LANES).astype(np.uint64)
    while (
        (block + 1) * LANES <= values.size
        and words.size - position >= 2 * digits.size
        and unsettled.shape[0] - rows >= 2 * digits.shape[0]
    ):
        out = values[block * LANES : (block + 1) * LANES]
        out[:] = 0
        for negative in range(2):
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
