"""What every projection is: a linear map R^d -> R^k, drawn from a public seed, that keeps squared lengths on average.

A kernel of the distance changes little under such a map once k is large, whatever d is (Johnson, Lindenstrauss 1984;
for kernel sums see below). The map is public and knows no record, so it costs no privacy. The image of a record
depends on that record and the seed alone, bit for bit: one fixed order of additions, whatever stands beside it.

There are projections by a matrix, of independent Gaussian entries or orthonormal rows, and the fast one.

The fast projection: random signs, a Walsh-Hadamard transform, and some of its coordinates.

Ailon, Chazelle 2009, in the form of Tropp 2011: coordinates are sampled without replacement, which keeps the rows
orthogonal. It takes D log2 D additions a record, D the power of two from d up, and no matrix.

With v = H (s z) for random signs s, every v_i^2 has mean ||z||^2 and variance 2 (||z||^4 - sum of z_j^4), and all D of
them add up to D ||z||^2 exactly; so the mean of k of them, drawn without replacement, has the variance
2 (1 - sum z_j^4 / ||z||^4) / k * (D - k) / (D - 1) relative to ||z||^4: never above the Gaussian map's 2 / k.

**How many dimensions a kernel sum needs.** For every query and every data set, the average over the draw of the map P
of | kernel density before - after | is at most the largest E| K(r sqrt(V)) - K(r) | over distances r, where V =
||Pz||^2 / ||z||^2 has mean 1: the triangle inequality over the records (Backurs et al., ICLR 2024, Theorems 7.2 and
9.2, from which additive error alpha follows with k of order log(1/alpha) / alpha^2, and 1 / alpha^2 for smooth
kernels). Here the largest value is computed, with the law of V itself, instead of bounding it by constants:

* Gaussian map: V is chi-squared with k degrees of freedom, over k. For exp(-||z||^2 / 2 s^2) the maximum is near
  0.42 / sqrt(k), so that k = 0.17 / alpha^2 are enough: there is no logarithm in the expected error.
* orthogonal map: V is d/k times a Beta(k/2, (d - k)/2) variable.
* fast map: only the variance of V is known for every z, and what follows from it by Cantelli's inequality is used. It
  holds for the worst z, without the further logarithm of Corollary 7.3, but asks for a few times as many dimensions as
  the Gaussian map; on ordinary data the fast map's error is the smaller of the two.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from scipy.special import betaincinv, gammaincinv, ndtri

from ..domain.numeric import MAX_VECTOR
from ..errors import RequestError
from ..runtime.compiled_code import njit
from ..runtime.environment import over_ranges
from ..runtime.inner_products import images
from ..runtime.parameters import Resolved, Seed, Validated, Whole, check_integer, parameter
from .hash_cells import GRID
from .kernels import Kernel
from .uniforms import PublicRandom

MAX_STREAM = 1_000_000
TAIL = 8.0  # Standard deviations that no coordinate of an image exceeds, in practice.


@dataclass(frozen=True)
class Projection(Validated, ABC):
    """A random linear map from ``source`` to ``target`` dimensions; RequestError when a parameter is out of range."""

    # d and k, 1 <= k <= d.
    source: int
    target: int = parameter(Whole("The dimensions after a projection", 1, MAX_VECTOR))
    seed: Resolved[int] = parameter(Seed("The seed of a projection"), None)  # Public seed; fresh when None.
    # Which of the seed's independent maps this is.
    stream: int = parameter(Whole("The stream of a projection", 0, MAX_STREAM), 0)
    name: ClassVar[str]
    described: ClassVar[str] = "projection"

    def _check(self) -> None:
        check_integer(self.source, "The dimensions before a projection", 1, MAX_VECTOR)
        check_integer(self.target, "The dimensions after a projection", 1, self.source)

    def _random(self, label: int) -> PublicRandom:
        """The public randomness of this map, apart from that of other kinds."""
        return PublicRandom(self.seed, label, self.stream)

    @abstractmethod
    def project(self, points: np.ndarray) -> np.ndarray:
        """The images of points, float64 (n, d), as float64 (n, k) in Fortran order."""

    @property
    def reach(self) -> float:
        """Bound on the coordinates that a vector of length 1 is mapped to: 8 / sqrt(k), or the certain one if smaller.

        A coordinate is beyond it for fewer than one map in 10^13, whatever the vector is: sqrt(k) times the coordinate
        is normal (Gaussian map), sub-Gaussian with the same variance (rotations) or a sum of independent signs
        (Hoeffding 1963, Theorem 2).
        """
        return TAIL / math.sqrt(self.target)

    @property
    @abstractmethod
    def setup_bytes(self) -> int:
        """Memory that drawing the map takes, from above."""

    @classmethod
    @abstractmethod
    def length_variance(cls, source: int, target: int) -> float:
        """Variance of ||Pz||^2 / ||z||^2 over the draw of the map, for the worst z; its mean is 1."""

    def of_stream(self, stream: int) -> Self:
        """An independent map of the same law."""
        return replace(self, stream=stream)

    def to_dict(self) -> dict:
        """A value for JSON from which `projection_from_dict` makes an equal projection."""
        return {"name": self.name} | self.written()

    def _coordinates(self, points: np.ndarray) -> np.ndarray:
        """Points with one row a coordinate, float64 (d, n) in C order."""
        points = np.asarray(points, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != self.source:
            raise RequestError(f"This projection takes points of {self.source:,} coordinates.")
        return np.ascontiguousarray(points.T)


MAX_ENTRIES = 1 << 26  # Entries of one matrix: half a gigabyte.
# Of making rows orthonormal, d k^2: a square matrix of 4096 rows, several seconds. A file must not ask for more.
MAX_STEPS = 1 << 36
_GAUSSIAN, _ORTHOGONAL = 31, 32  # Labels of the streams of public randomness.


@dataclass(frozen=True)
class _Dense(Projection):
    def _check(self) -> None:
        super()._check()
        if self.source * self.target > MAX_ENTRIES:
            raise RequestError(
                f"A matrix of {self.target:,} x {self.source:,} has more than {MAX_ENTRIES:,} entries, which is the "
                "most that is kept in memory; use the fast projection or fewer dimensions."
            )

    @cached_property
    def matrix(self) -> np.ndarray:
        """float64 (k, d), rounded so that the last bits of a platform's libraries do not matter."""
        return np.ascontiguousarray(np.round(self._entries() * GRID) / GRID)

    @abstractmethod
    def _entries(self) -> np.ndarray:
        """The entries of the matrix, float64 (k, d), before they are rounded."""

    def project(self, points: np.ndarray) -> np.ndarray:
        return images(self.matrix, self._coordinates(points))

    @property
    def setup_bytes(self) -> int:
        return 32 * self.source * self.target


@dataclass(frozen=True)
class GaussianProjection(_Dense):
    """Independent entries N(0, 1/k): ||Pz||^2 / ||z||^2 is a chi-squared variable over its k degrees of freedom.

    The map of Theorem 7.2 of "Efficiently Computing Similarities to Private Datasets" (Backurs et al., ICLR 2024).
    Costs d k multiplications a record.
    """

    name: ClassVar[str] = "gaussian"

    def _entries(self) -> np.ndarray:
        uniforms = self._random(_GAUSSIAN).uniforms(self.target, self.source)
        return ndtri(uniforms) / np.sqrt(self.target)

    @classmethod
    def length_variance(cls, source: int, target: int) -> float:
        return 2.0 / target


@dataclass(frozen=True)
class OrthogonalProjection(_Dense):
    """The first k rows of a uniformly random rotation, times sqrt(d/k).

    ||Pz||^2 / ||z||^2 is d/k times a Beta(k/2, (d - k)/2) variable, whose variance is (d - k)/(d + 2) of the Gaussian
    map's: nothing is left to chance at k = d.
    """

    name: ClassVar[str] = "orthogonal"

    def _check(self) -> None:
        super()._check()
        if self.source * self.target**2 > MAX_STEPS:
            raise RequestError(
                f"Making {self.target:,} rows of {self.source:,} numbers orthogonal would take minutes; use the fast "
                "projection or fewer dimensions."
            )

    @property
    def reach(self) -> float:
        return min(super().reach, math.sqrt(self.source / self.target))

    def _entries(self) -> np.ndarray:
        uniforms = self._random(_ORTHOGONAL).uniforms(self.source, self.target)
        q, r = np.linalg.qr(ndtri(uniforms))
        # With the diagonal of R made positive, Q is what Gram-Schmidt gives, whichever way LAPACK went about it.
        return (q * np.where(np.diag(r) < 0, -1.0, 1.0)).T * np.sqrt(self.source / self.target)

    @classmethod
    def length_variance(cls, source: int, target: int) -> float:
        return 2.0 / target * (source - target) / (source + 2.0)


# Records transformed together; 2048 coordinates of them are half a megabyte, which a second-level cache holds.
LANES = 32
_SIGNS, _SAMPLE = 33, 34  # Labels of the streams of public randomness.


@njit(nogil=True, cache=True)
def walsh_hadamard(buffer):
    """Walsh-Hadamard transform of every lane of ``buffer`` (D, LANES), in place: two layers of butterflies a pass."""
    size = buffer.shape[0]
    half = 1
    while half * 4 <= size:
        for block in range(0, size, 4 * half):
            for j in range(block, block + half):
                a, b, c, d = buffer[j], buffer[j + half], buffer[j + 2 * half], buffer[j + 3 * half]
                for i in range(LANES):
                    p, q = a[i] + b[i], a[i] - b[i]
                    u, v = c[i] + d[i], c[i] - d[i]
                    a[i], b[i], c[i], d[i] = p + u, q + v, p - u, q - v
        half *= 4
    if half < size:
        for j in range(half):
            a, b = buffer[j], buffer[j + half]
            for i in range(LANES):
                p, q = a[i], b[i]
                a[i], b[i] = p + q, p - q


@njit(nogil=True, cache=True)
def _project(points, sign, sample, scale, size, first, last, out):
    """out[:, first:last] from points[:, first:last]; lanes beyond the last record are zero."""
    buffer = np.zeros((size, LANES))
    for start in range(first, last, LANES):
        length = min(LANES, last - start)
        for j in range(len(sign)):
            lanes = buffer[j]
            s = sign[j]
            for i in range(length):
                lanes[i] = s * points[j, start + i]
        buffer[len(sign) :] = 0.0
        walsh_hadamard(buffer)
        for r in range(len(sample)):
            lanes = buffer[sample[r]]
            for i in range(length):
                out[r, start + i] = scale * lanes[i]


@dataclass(frozen=True)
class FastProjection(Projection):
    """Signs, Walsh-Hadamard, sampled coordinates: the map of Corollary 7.3, in O(d log d + k) a record.

    Its variance is never above the Gaussian map's (see the module), and it needs no matrix: 2048 dimensions take a
    half a megabyte of scratch memory.
    """

    name: ClassVar[str] = "fast"

    @property
    def padded(self) -> int:
        """D, the power of two from d up."""
        return 1 << (self.source - 1).bit_length()

    @cached_property
    def _signs(self) -> np.ndarray:
        return np.where(self._random(_SIGNS).words(self.source) >> np.uint64(63), 1.0, -1.0)

    @cached_property
    def _sample(self) -> np.ndarray:
        """k of the D coordinates, every set of k equally likely (but for ties of 64-bit words)."""
        words = self._random(_SAMPLE).words(self.padded)
        return np.sort(np.argsort(words, kind="stable")[: self.target])

    def project(self, points: np.ndarray) -> np.ndarray:
        coordinates = self._coordinates(points)
        out = np.empty((self.target, coordinates.shape[1]))
        scale = 1.0 / np.sqrt(self.target)
        signs, sample = self._signs, self._sample

        def records(start: int, stop: int) -> None:
            _project(coordinates, signs, sample, scale, self.padded, start, stop, out)

        over_ranges(coordinates.shape[1], records, at_least=LANES)
        return out.T

    @property
    def reach(self) -> float:
        """|sum of +-z_j| / sqrt(k) <= sqrt(d / k) ||z||, where that is smaller."""
        return min(super().reach, math.sqrt(self.source / self.target))

    @property
    def setup_bytes(self) -> int:
        return 64 * self.padded

    @classmethod
    def length_variance(cls, source: int, target: int) -> float:
        padded = 1 << (source - 1).bit_length()
        return 2.0 / target * (padded - target) / max(padded - 1.0, 1.0)


PROJECTIONS: dict[str, type[Projection]] = {
    kind.name: kind for kind in (FastProjection, GaussianProjection, OrthogonalProjection)
}


def projection_kind(name: object) -> type[Projection]:
    """The class of that name; RequestError when there is none."""
    if not isinstance(name, str) or name not in PROJECTIONS:
        raise RequestError(f"A projection must be one of {', '.join(PROJECTIONS)}.")
    return PROJECTIONS[name]


def projection_from_dict(source: int, value: object) -> Projection:
    """The projection from ``source`` dimensions that `Projection.to_dict` wrote down; RequestError on anything else."""
    facts = value if isinstance(value, Mapping) else {}
    kind = projection_kind(facts.get("name"))
    return kind(source, **kind.read({key: entry for key, entry in facts.items() if key != "name"}))


DISTANCES = np.geomspace(1e-2, 1e2, 241)  # Distances tried, in bandwidths.
LEVELS = (np.arange(400) + 0.5) / 400
# Thresholds t of Cantelli's inequality: a squared length that falls short by more than a share t is given up on.
SHRINKING = np.linspace(0.01, 0.9, 90)


def dimensions_for(alpha: float, source: int, kernel: Kernel, kind: str = "fast") -> int:
    """The fewest dimensions that keep the expected error of a kernel density below ``alpha``.

    RequestError when a value is out of range or the kernel is not one of distances.

    `alpha`: Wanted bound on the average absolute error of the density, kernel sum over number of records, over the draw
    of one map, for the worst query and the worst data; between 0 and 1. The mean over several independent maps is
    closer. `source`: Dimensions d before the projection. `kernel`: A kernel of the Euclidean distance with one
    bandwidth. `kind`: "fast", "gaussian" or "orthogonal".

    Returns k, or d where even the least smaller k is not enough: then there is nothing to gain from projecting.
    """
    if not 0.0 < alpha < 1.0:
        raise RequestError("The wanted error of a density must lie strictly between 0 and 1, such as 0.02.")
    maps = projection_kind(kind)
    low, high = 0, source
    while high - low > 1:
        middle = (low + high) // 2
        if expected_error(kernel, maps, source, middle) <= alpha:
            high = middle
        else:
            low = middle
    return high


def expected_error(kernel: Kernel, kind: type[Projection], source: int, target: int) -> float:
    """The bound on the expected absolute error of a density that `dimensions_for` keeps below alpha."""
    before = _profile(kernel, DISTANCES)
    if kind is GaussianProjection:
        return _mean_error(kernel, before, 2.0 / target * gammaincinv(target / 2.0, LEVELS))
    if kind is OrthogonalProjection:
        if target == source:
            return 0.0
        return _mean_error(kernel, before, source / target * betaincinv(target / 2.0, (source - target) / 2.0, LEVELS))
    return _error_from_variance(kernel, before, kind.length_variance(source, target))


def _mean_error(kernel: Kernel, before: np.ndarray, squared_lengths: np.ndarray) -> float:
    """The largest mean error, from equally likely values of V."""
    after = _profile(kernel, np.outer(DISTANCES, np.sqrt(squared_lengths)))
    return float(np.abs(after - before[:, None]).mean(axis=1).max())


def _error_from_variance(kernel: Kernel, before: np.ndarray, variance: float) -> float:
    """The largest mean error of any V with mean 1 and the given variance.

    While V >= 1 - t the error is at most the steepest chord of K, as a function of V, times |V - 1|: one that starts at
    1 - t below the mean, and the slope at 1 above it, as kernels of the distance fall ever more slowly in V. Either
    half of |V - 1| has at most half the standard deviation as its mean. V falls below 1 - t with probability at most
    variance / (variance + t^2), and a kernel can rise by 1 - K then.
    """
    closer = _profile(kernel, np.outer(DISTANCES, np.sqrt(1.0 - SHRINKING)))
    chords = (closer - before[:, None]) / SHRINKING
    slope = chords[:, :1]
    lost = variance / (variance + SHRINKING**2)
    errors = 0.5 * (chords + slope) * math.sqrt(variance) + (1.0 - before)[:, None] * lost
    return float(errors.max(axis=0).min())


def _profile(kernel: Kernel, distances: np.ndarray) -> np.ndarray:
    """The kernel of points that far apart, in bandwidths."""
    bandwidth = getattr(kernel, "bandwidth", None)
    if kernel.metric != "l2" or not isinstance(bandwidth, float):
        raise RequestError(
            "Dimensions can be chosen for kernels of the Euclidean distance with one bandwidth, as a projection keeps "
            "no other distance; set their number by hand for others."
        )
    return kernel.evaluate(np.zeros((1, 1)), distances.reshape(-1, 1) * bandwidth)[0].reshape(distances.shape)
