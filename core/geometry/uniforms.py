"""Public randomness: the uniform numbers from which hash functions are made.

Nothing here is noise. A hash seed is public and stored in the release, and the same seed must give the same hash
functions on every machine for ever. So only two things are taken from libraries, and both are fixed for ever: the raw
words of the PCG64 bit generator (NumPy guarantees its stream) and Sobol's direction numbers (Joe and Kuo 2008).

Rows come in groups. Groups are independent of each other. Inside a group the rows share one randomised low-discrepancy
point set: every row alone is uniform, which keeps every mean over rows unbiased, but together they cover the space
evenly, which makes the mean vary less (Owen 1995; Dick, Kuo, Sloan 2013). The spread of the group means is then an
honest measure of the error that is left.

Rank-1 lattices: even coverage of up to four dimensions with any number of points.

Point i is the fractional part of i z / n + shift. With a uniform random shift every point alone is uniform, so means
stay unbiased. The integers z are found component by component, each minimising the worst-case error P2 of smooth
periodic functions (Sloan, Reztsov 2002; Dick, Kuo, Sloan 2013, section 5). In a few dimensions this beat scrambled
Sobol points by about a tenth here, and it needs no power of two.

Random directions that are each uniform on the sphere and together spread out evenly.

A standard normal vector is a uniform direction times an independent chi-distributed length. Keeping the two apart lets
the length, which moves a hash's cell width and so most of its error, be drawn from a low-discrepancy sequence, and the
directions be spread: over the half circle or half sphere in 2 and 3 dimensions (a hash and its mirror image partition
space alike), in orthogonal blocks above.
"""

from functools import lru_cache

import numpy as np
from scipy.special import gammaincinv, ndtri

from ..runtime.environment import one_thread

BITS = 30
MAX_SOBOL = 21_201  # Dimensions for which SciPy has direction numbers.


class PublicRandom:
    """A stream of public random numbers that depends on a seed and a label alone.

    `seed`: The release's hash seed, 0 <= seed < 2**128. `label`: Whole numbers that tell the streams of one release
    apart (which family, which group).
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


MAX_DIMENSIONS = 4
MAX_CANDIDATES = 500


def shifted_lattice(points: int, dimensions: int, random: PublicRandom) -> np.ndarray:
    """A randomly shifted lattice, float64 (points, dimensions) strictly between 0 and 1."""
    z = np.array(generating_vector(points, dimensions))
    # Whole numbers of 1/n stay exact, so that the points are the same on every platform.
    steps = np.arange(points)[:, None] * z % points
    unit = (steps / points + random.uniforms(dimensions)) % 1.0
    return np.clip(unit, 2.0**-53, 1.0 - 2.0**-53)


@lru_cache(maxsize=512)
def generating_vector(points: int, dimensions: int) -> tuple[int, ...]:
    """Component-by-component choice of z for the given number of points, dimensions at most four.

    The criterion is rounded to ten digits before the least is taken, as mirror images tie exactly and the rounding
    errors of a platform must not decide.
    """
    i = np.arange(points)
    x = i / points
    bernoulli = 2.0 * np.pi**2 * (x * x - x + 1.0 / 6.0)
    candidates = np.array([c for c in range(1, max(2, points // 2 + 1)) if np.gcd(c, points) == 1])
    candidates = candidates[:: -(-len(candidates) // MAX_CANDIDATES)]
    chosen = [1]
    product = 1.0 + bernoulli
    for _ in range(1, dimensions):
        errors = np.array([float(product @ (1.0 + bernoulli[i * c % points])) for c in candidates])
        best = int(candidates[np.argmin(np.round(errors / errors.min(), 10))])
        chosen.append(best)
        product = product * (1.0 + bernoulli[i * best % points])
    return tuple(chosen)


def grouped_uniforms(rows: int, groups: int, dimensions: int, seed: int, family: int) -> np.ndarray:
    """Uniform numbers for every row, float64 (rows, dimensions), independent between groups.

    Mean sampling error of a Euclidean sketch of 3-d colours, R = 1000 in 10 groups: independent rows 3.2%, scrambled
    Sobol points 2.06%, shifted lattices 1.86% (100 draws). Above four dimensions lattices fall behind.
    """
    spread = shifted_lattice if dimensions <= MAX_DIMENSIONS else scrambled_sobol
    return np.concatenate(
        [
            spread(int(size), dimensions, PublicRandom(seed, family, group))
            for group, size in enumerate(group_sizes(rows, groups))
        ]
    )


LOW_DIMENSIONS = 3


def uniforms_for_direction(dimensions: int) -> int:
    """How many uniform numbers `directions` reads for a row: none above three dimensions, where blocks are better."""
    return dimensions - 1 if dimensions <= LOW_DIMENSIONS else 0


def directions(uniforms: np.ndarray, dimensions: int, groups: int, seed: int, family: int) -> np.ndarray:
    """Unit vectors, each uniform on the sphere up to sign, float64 (rows, dimensions).

    In one, two and three dimensions the given uniforms (rows, dimensions - 1) are mapped to the half sphere by
    equal-area coordinates. Above, every group is filled with independent blocks of ``dimensions`` orthonormal vectors:
    the rows of a Haar-distributed matrix, each of which is uniform on the sphere (Gram-Schmidt of independent normal
    vectors; Stewart 1980).
    """
    if dimensions == 1:
        return np.ones((len(uniforms), 1))
    if dimensions == 2:
        angle = np.pi * uniforms[:, 0]
        return np.column_stack([np.cos(angle), np.sin(angle)])
    if dimensions == LOW_DIMENSIONS:
        height, angle = uniforms[:, 0], 2.0 * np.pi * uniforms[:, 1]
        radius = np.sqrt(1.0 - height * height)
        return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), height])
    return np.concatenate(
        [
            _orthogonal_blocks(int(size), dimensions, PublicRandom(seed, family, group, 1))
            for group, size in enumerate(group_sizes(len(uniforms), groups))
        ]
    )


def chi_lengths(uniforms: np.ndarray, dimensions: int) -> np.ndarray:
    """Lengths of standard normal vectors of that many dimensions, by inverting the chi distribution."""
    return np.sqrt(2.0 * gammaincinv(dimensions / 2.0, uniforms))


def _orthogonal_blocks(rows: int, dimensions: int, random: PublicRandom) -> np.ndarray:
    whole, rest = divmod(rows, dimensions)
    blocks = [np.empty((0, dimensions))]
    # One thread: two that wait for each other at every small matrix took 200 times as long where others were at work.
    with one_thread():
        for count, columns in ((whole, dimensions), (1, rest)):
            if count and columns:
                q, r = np.linalg.qr(ndtri(random.uniforms(count, dimensions, columns)))
                # With the diagonal of R made positive, Q is what Gram-Schmidt gives, however LAPACK went about it.
                signs = np.where(np.einsum("bii->bi", r) < 0, -1.0, 1.0)
                blocks.append((q * signs[:, None, :]).swapaxes(1, 2).reshape(-1, dimensions))
    return np.concatenate(blocks)
