"""Standard normal numbers, each known to as many binary digits as anyone asks for, exactly.

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

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from .gaussian import GaussianSampler, gaussian_sampler
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
