"""Exact discrete Gaussian noise, P(z) ∝ exp(-z²/(2σ²)), by rejection from discrete Laplace noise.

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

import numpy as np

from ...runtime.array_types import Integers, Words
from ...runtime.compiled_code import njit
from .laplace import LARGEST_SCALE, Draws, LaplaceSampler, laplace_sampler
from .randomness import WORD_BITS, Coin, Stream

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
