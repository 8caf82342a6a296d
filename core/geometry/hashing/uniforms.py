"""Public randomness: the uniform numbers from which hash functions are made.

Nothing here is noise. A hash seed is public and stored in the release, and the same seed must give the same hash
functions on every machine for ever. So only two things are taken from libraries, and both are fixed for ever: the raw
words of the PCG64 bit generator (NumPy guarantees its stream) and Sobol's direction numbers (Joe and Kuo 2008).

Rows come in groups. Groups are independent of each other. Inside a group the rows share one randomised low-discrepancy
point set: every row alone is uniform, which keeps every mean over rows unbiased, but together they cover the space
evenly, which makes the mean vary less (Owen 1995; Dick, Kuo, Sloan 2013). The spread of the group means is then an
honest measure of the error that is left.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

BITS = 30
MAX_SOBOL = 21_201
"""Dimensions for which SciPy has direction numbers."""


class PublicRandom:
    """A stream of public random numbers that depends on a seed and a label alone.

    Parameters
    ----------
    seed : int
        The release's hash seed, 0 <= seed < 2**128.
    label : int
        Whole numbers that tell the streams of one release apart (which family, which group).
    """

    def __init__(self, seed: int, *label: int):
        self._words = np.random.PCG64(np.random.SeedSequence([seed, *label]))

    def words(self, *shape: int) -> np.ndarray:
        """Uniform 64-bit words."""
        return self._words.random_raw(int(np.prod(shape))).astype(np.uint64, copy=False).reshape(shape)

    def uniforms(self, *shape: int) -> np.ndarray:
        """Uniform numbers strictly between 0 and 1, on the centres of 2**52 equal cells."""
        return ((self.words(*shape) >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


def group_sizes(rows: int, groups: int) -> np.ndarray:
    """How many rows each group has: as equal as can be, the first ones one larger."""
    return np.full(groups, rows // groups) + (np.arange(groups) < rows % groups)


def scrambled_sobol(points: int, dimensions: int, random: PublicRandom) -> np.ndarray:
    """Points of a Sobol sequence under a random linear scramble and a random digital shift.

    Each point by itself is uniform on (0, 1)^dimensions, as the digital shift alone makes it so; the scramble (Matousek
    1998) breaks the sequence's own regularities. Bits below the sequence's 30 are independent. Returns float64 (points,
    dimensions), strictly between 0 and 1.
    """
    if dimensions > MAX_SOBOL:
        return random.uniforms(points, dimensions)
    digits = _sobol_digits(max(points - 1, 0).bit_length(), dimensions)[:points]
    # Column j of the scramble matrix: bit j (from the top) stays, the bits below it are random.
    columns = random.words(BITS, dimensions) >> np.uint64(64 - BITS)
    scrambled = random.words(dimensions) >> np.uint64(64 - BITS) | np.zeros((points, 1), np.uint64)
    for j in range(BITS):
        kept = np.uint64(1 << (BITS - 1 - j))
        column = kept | (columns[j] & (kept - np.uint64(1)))
        scrambled ^= column * ((digits >> np.uint64(BITS - 1 - j)) & np.uint64(1))
    return (scrambled.astype(np.float64) + random.uniforms(points, dimensions)) * 2.0**-BITS


@lru_cache(maxsize=1)
def _sobol_digits(doublings: int, dimensions: int) -> np.ndarray:
    """The first 2^doublings points of the sequence as whole numbers, uint64; kept for the groups of one sketch."""
    from scipy.stats import qmc  # takes a second to load, and not every mechanism has low-discrepancy rows

    sequence = qmc.Sobol(dimensions, scramble=False, bits=BITS).random_base2(doublings)
    return (sequence * 2.0**BITS).astype(np.uint64)
