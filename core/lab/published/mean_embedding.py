"""Weights on public synthetic points, by the kernel mean embedding (Balog, Tolstikhin, Schölkopf, ICML 2018).

A record x is the function k(x, .). Projected on the span of M such functions, of public points z, it has coordinates

    b(x) = A k_Z(x),    k_Z(x) = (k(z_1, x), ..., k(z_M, x)),    A = L^-1,    L L' = K + c I,    K = (k(z_i, z_j))

in the orthonormal basis of Gram and Schmidt. Their sum over all records gets noise, and the noisy function is given
back as weights on the synthetic points, w = A' times the noisy sum ("Differentially Private Database Release via Kernel
Mean Embeddings", Algorithm 1). An answer is the sum of w_m k(z_m, q); the part of k(., q) outside the span is lost.

Where this goes beyond the paper, and keeps its promise:

* Sums and not means are released, with exact noise on whole numbers, under either relation and either kind of promise.
  The paper has replaced records, a public number of them and Gaussian noise. For kernels that are never negative, as
  all are here, a replaced record moves the sum by sqrt(2) and not by 2; with the tight calibration of Gaussian noise
  besides, its variance is about a third of the paper's.
* The points are a low-discrepancy sequence, which goes from coarse to fine, and so do the functions of its basis. A
  record moves the many fine ones only near itself, so that its L1 norm, which Laplace noise is for, is far below the
  sqrt(M) that any basis has as a bound; `record_sensitivity` declares what it is. Under pure epsilon the sum may get
  noise as one vector instead, by its Euclidean length, where that has less variance.
* c lets points be as alike as they want; the noise of every answer stays below that of a single coordinate.

L and its inverse are computed in a fixed order, the same on every thread and worker, bit for bit. A library's
factorisation depends on the number of threads in its last digits, which functions that are nearly alike magnify to
1e-7: two workers would then add up different coordinates. Here every number is computed by the same operations in the
same order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from ...domain import Domain
from ...formatting.numbers import count
from ...geometry.kernels import KERNEL, Gaussian, Kernel, atoms
from ...geometry.uniforms import PublicRandom, scrambled_sobol
from ...privacy.budget import Budget, Neighbours, Sensitivity
from ...runtime.compiled_code import njit
from ...runtime.inner_products import DEPTH, inner_products, records_at_once
from ...runtime.parameters import Resolved, Seed, Whole, parameter
from ...sketches.answers import Answers
from ...sketches.linear import KernelSketch, least_error
from ...sketches.mechanism_spec import MechanismSpec
from ...sketches.phases import add_up
from .kernel_values import BITS, KernelValues, add_bounded, largest_norms, mean_square

_ROWS_AT_ONCE = 16  # Rows that are taken off all later ones together, while a cache holds them: 256 kB at most.


@njit(nogil=True, cache=True)
def inverse_root(matrix):
    """L^-1 for the lower triangular L with L L' = matrix, float64 (m, m): Cholesky's method, forward substitution."""
    m = len(matrix)
    upper, inverse = matrix.copy(), np.eye(m)
    for first in range(0, m, _ROWS_AT_ONCE):
        last = min(first + _ROWS_AT_ONCE, m)
        for i in range(first, m):
            row = upper[i, i:]
            for k in range(first, min(i, last)):
                factor, before = upper[k, i], upper[k, i:]
                for j in range(len(row)):
                    row[j] -= factor * before[j]
            if i < last:
                root = np.sqrt(row[0])
                for j in range(len(row)):
                    row[j] /= root
    for first in range(0, m, _ROWS_AT_ONCE):
        last = min(first + _ROWS_AT_ONCE, m)
        for i in range(first, m):
            row = inverse[i]
            for k in range(first, min(i, last)):
                factor, before = upper[k, i], inverse[k]
                for j in range(k + 1):
                    row[j] -= factor * before[j]
            if i < last:
                for j in range(i + 1):
                    row[j] /= upper[i, i]
    return inverse


MAX_POINTS = 2_048  # Every record costs M^2 multiplications, and M^2 numbers are kept.
POINTS_OFFERED = (25, 50, 100, 200, 400, 800)
JITTER = 1e-5  # c, unless rounding may do more to K; see `MeanEmbedding.jitter`.
# By how much closeness in whole numbers is off at most, for each part of a kernel: 1e-10, and cut a few times.
OFF = 3e-9
# Two records' sums are taken to differ by 1 + 2^-10 of what theory says, so that rounding is allowed for.
SLACK_BITS = 10
TYPICAL_CROWDING = 10.0  # A typical answer is taken to be so many times that of records spread evenly over the bounds.
_BLOCK = 1 << 21  # Numbers of an intermediate result of an answer: 16 MiB.
_BAND = 192  # Rows of the basis that are multiplied together: a multiple of a tile's.
# Labels of the streams of public random points, and how many places are tried.
_POINTS, _PLACES, _REFERENCE = 51, 52, 400


@dataclass(frozen=True)
class MeanEmbedding(KernelSketch):
    """Coordinates of the kernel mean embedding in the span of public synthetic points."""

    domain: Domain
    # Any kernel of `core.geometry.kernels` but that of sets: all are positive definite and never negative.
    kernel: Kernel = parameter(KERNEL)
    # M, how many synthetic points there are; None leaves the choice to `sized_for`.
    points: Resolved[int] = parameter(
        Whole("The number of synthetic points", 2, MAX_POINTS), None, settled="how many synthetic points it has"
    )
    # Public seed of the points, which lie evenly inside the bounds; fresh when None.
    seed: Resolved[int] = parameter(Seed("The seed of the synthetic points"), None)
    name: ClassVar[str] = "mean-embedding"
    described: ClassVar[str] = "kernel mean embedding"

    def _check(self) -> None:
        super()._check()
        _ = self.point_kernel  # refuses one that is not of these columns

    @property
    def shape(self) -> tuple[int]:
        return (self._points,)

    @property
    def setup_bytes(self) -> int:
        """K, its factor and their copies, the points, and what is compared with them at once."""
        if self.points is None:
            return 0
        return 8 * (6 * self.points**2 + 3 * self.points * self.domain.dimensions + 4 * _BLOCK)

    @property
    def largest_entry(self) -> int:
        return 1 << self.bits

    @property
    def bits(self) -> int:
        """Coordinates are counted in units of 2^-bits, as many as the squares of a record's have room for."""
        return min(28, (61 - math.ceil(math.log2(self._points))) // 2)

    def reseeded(self, seed: int) -> Self:
        return replace(self, seed=seed)

    @cached_property
    def synthetic(self) -> np.ndarray:
        """The synthetic points, encoded, float64 (M, d): a low-discrepancy set, as nothing but the bounds is public."""
        return self._inside(scrambled_sobol(self._points, self.domain.dimensions, PublicRandom(self.seed, _POINTS)))

    @property
    def jitter(self) -> float:
        """c, which is above all that the rounding of M^2 numbers may do to the eigenvalues of K."""
        return max(JITTER, OFF * self._points * atoms(self.kernel))

    @cached_property
    def basis(self) -> np.ndarray:
        """A, what turns closeness to the synthetic points into coordinates, float64 (M, M), lower triangular.

        The points' closeness to each other is read just as a record's to them. Were it computed in another way, bounds
        far from zero would be rounded otherwise there, and a record could be longer than its closeness says.
        """
        gram = self._values(self.synthetic) * 2.0**-BITS
        return inverse_root(gram + self.jitter * np.eye(self._points))

    def sized_for(self, budget: Budget, records: float) -> MeanEmbedding:
        """With the number of points of the least expected error of a typical answer, from public facts alone.

        Noise is known; what the span misses of the kernel is taken between evenly spread places, root mean square and
        relative to the kernel. Of sizes within 5% of the least the smallest is taken.
        """
        if self.sized:
            return self
        return least_error(self._offered, lambda one: one._expected_error(budget, records), enough=1.05**2)

    @cached_property
    def _offered(self) -> tuple[MeanEmbedding, ...]:
        return tuple(replace(self, points=m) for m in POINTS_OFFERED)

    def add(self, table: np.ndarray, points: np.ndarray) -> None:
        l1, l2_squared = self._l1, 1 << 2 * self.bits

        def records(start: int, stop: int, sums: np.ndarray) -> None:
            for block in self._blocks(points[start:stop]):
                add_bounded(self._encoded(block), l1, l2_squared, sums)

        add_up(len(points), records, table)

    def record_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """A record adds its coordinates b times S = 2^bits, cut toward zero.

        Let T f = A (f(z_1), ..., f(z_M)) for functions f of the kernel's Hilbert space, so that b(x) = T k(x, .). If
        T T' = A K A' has no eigenvalue above 1, T makes nothing longer. It has none: with closeness off by e at most,
        A (K - E + c I) A' = I for an E of norm M e at most, and c is no less (`jitter`).

        Add or remove one: |b|^2 <= k(x, x) = 1, reached at the synthetic points but for c. `add` sees to it in whole
        numbers, record by record. It does the same for the L1 norm, whose bound is the most that any of the public
        places tried reaches; in any case it is at most sqrt(M) S.

        Replace one: |b - b'|^2 <= |k(x, .) - k(x', .)|^2 = 2 - 2 k(x, x') <= 2, and for records that were scaled down
        by s and s', s^2 + s'^2 - 2 s s' k(x, x') <= 2. Reached by records far from each other. This one is not seen to
        pair by pair, so what rounding may do to b is allowed for, `SLACK_BITS`: sqrt(M) e from closeness, times the
        norm of A, 1/sqrt(c), is at most 3e-4 of a record; chains of M fused products, cutting, and A as the inverse of
        a factor come to less than 1e-5.
        """
        unit, l1 = 1 << self.bits, self._l1
        l2_squared = unit * unit
        if neighbours is Neighbours.REPLACE_ONE:
            l2_squared = 2 * (unit + (unit >> SLACK_BITS)) ** 2
            l1 = min(2 * l1, math.isqrt(self._points * l2_squared))
        whole = 1 + math.isqrt(l2_squared - 1)
        if whole > l1:  # no record tried has more than one coordinate
            return Sensitivity(l1, l1 * l1)
        return Sensitivity(l1, l2_squared, block=self._points, blocks_l2=whole)

    def answer(
        self, table: np.ndarray, records: float, points: np.ndarray, counter_variance: float, level: float
    ) -> Answers:
        """Noise as it is known, and an interval that reaches further by what the span may miss.

        At a query q that is at most P(q) times the largest P of public places tried, for every record, by the
        inequality of Cauchy and Schwarz (see `record_sensitivity`); the standard error is that of the noise.
        """
        sums, gains, missed = np.empty(len(points)), np.empty(len(points)), np.empty(len(points))
        start = 0
        for queries in self._read(points):
            part = slice(start, start + len(queries))
            sums[part] = queries @ (table / 2.0**self.bits)
            gains[part] = (queries**2).sum(axis=1)
            missed[part] = np.sqrt(np.maximum(1.0 - gains[part], 0.0))
            start += len(queries)
        error = np.sqrt(gains * counter_variance) / 2.0**self.bits
        answers = Answers.of_errors(sums, error, records, level)
        return answers.reaching(self.largest_miss * missed * max(float(records), 0.0))

    def noise_variance(self, counter_variance: float, points: np.ndarray | None = None) -> float | np.ndarray:
        """|A k_Z(q)|^2 times a coordinate's variance: at most that, whatever the points."""
        if points is None:
            return float(self._noise_variances(counter_variance, self._tried).mean())
        return self._noise_variances(counter_variance, points)

    def _noise_variances(self, counter_variance: float, points: np.ndarray) -> np.ndarray:
        gains = [(queries**2).sum(axis=1) for queries in self._read(points)]
        return np.concatenate([np.empty(0), *gains]) * counter_variance / 4.0**self.bits

    def weights(self, table: np.ndarray) -> np.ndarray:
        """What each synthetic point counts for, float64 (M,): with `synthetic`, the paper's released database."""
        return self.basis.T @ (np.asarray(table, dtype=np.float64) / 2.0**self.bits)

    @cached_property
    def largest_miss(self) -> float:
        """The largest P(x) of all public places tried: the part of a record, in length, that the span misses."""
        gains = self._noise_variances(4.0**self.bits, self._tried)
        return math.sqrt(max(0.0, 1.0 - float(gains.min())))

    def _encoded(self, points: np.ndarray) -> np.ndarray:
        """Coordinates of at most `records_at_once` records before bounds, int64 (n, M), each by its own chain."""
        m, unit = self._points, float(1 << self.bits)
        closeness = np.ascontiguousarray(self._values(points).T, dtype=np.float64)
        width = records_at_once(m)
        sums, panel = np.zeros((m, width)), np.empty((min(m, DEPTH), width))
        for first, last, rows in self._coefficients:
            inner_products(closeness[:last], 0, len(points), rows, 0, last - first, panel, sums[first:last])
        return np.ascontiguousarray(np.clip(sums[:, : len(points)], -unit, unit).T.astype(np.int64))

    @cached_property
    def _coefficients(self) -> list[tuple[int, int, np.ndarray]]:
        """The basis for closeness in whole numbers and coordinates in units: a change by a power of two, exact.

        In bands, (first row, row after the last, coefficients without the zeros to the right of the band).
        """
        scaled, bands = self.basis * 2.0 ** (self.bits - BITS), []
        for first in range(0, self._points, _BAND):
            last = min(first + _BAND, self._points)
            bands.append((first, last, scaled[first:last, :last].ravel()))
        return bands

    @cached_property
    def _values(self) -> KernelValues:
        return KernelValues(self.point_kernel, self.synthetic)

    @cached_property
    def _l1(self) -> int:
        """The largest L1 norm of the coordinates of all public places tried, and what it can be at most."""
        tried = max(largest_norms(self._encoded(block))[0] for block in self._blocks(self._tried))
        return min(tried, math.isqrt(self._points << 2 * self.bits))

    @cached_property
    def _tried(self) -> np.ndarray:
        """Public places: the synthetic points, and random ones between them, encoded."""
        return np.vstack([self.synthetic, self._random_places(_PLACES, max(_REFERENCE, self._points // 2))])

    def _random_places(self, label: int, count: int) -> np.ndarray:
        return self._inside(PublicRandom(self.seed, label).uniforms(count, self.domain.dimensions))

    def _inside(self, shares: np.ndarray) -> np.ndarray:
        """Encoded places inside the bounds, one of the categories each, from shares of the box that holds them."""
        low, high = self._bounds
        natural = self.domain.decode_points(low + shares * (high - low), self.metric)
        return np.clip(self.domain.encode_queries(natural, self.metric), low, high)

    def _blocks(self, points: np.ndarray) -> list[np.ndarray]:
        width = records_at_once(self._points)
        return [points[first : first + width] for first in range(0, len(points), width)]

    def _read(self, points: np.ndarray) -> Iterator[np.ndarray]:
        """Coordinates of queries, A k_Z(q), float64 (n, M), a block after the other."""
        block = max(1, _BLOCK // self._points)
        for first in range(0, len(points), block):
            yield self.point_kernel.evaluate(points[first : first + block], self.synthetic) @ self.basis.T

    def _expected_error(self, budget: Budget, records: float) -> float:
        noise = self.counter_noise(budget)
        x, q = np.split(self._random_places(_PLACES + 1, 2 * _REFERENCE), 2)
        truth = self.point_kernel.evaluate(q, x)
        fitted = np.vstack(list(self._read(q))) @ np.vstack(list(self._read(x))).T
        missed = float(((fitted - truth) ** 2).mean()) / mean_square(truth, "synthetic points")
        typical = records * min(1.0, TYPICAL_CROWDING * float(truth.mean()))
        return float(self.noise_variance(noise.variance)) + missed * typical**2

    @property
    def _bounds(self) -> tuple[np.ndarray, np.ndarray]:
        return self.domain.bounds(self.metric)

    @property
    def _points(self) -> int:
        return int(self.given("points", "number of points"))


CARD = MechanismSpec(
    "mean-embedding",
    "Kernel mean embedding",
    "Balog et al. 2018",
    "Made-up points anyone may know get noisy weights, so that together they look, through the kernel, like the "
    "records.",
    sketch=MeanEmbedding,
    make=lambda facts: MeanEmbedding(facts.domain, facts.closeness, facts.size, seed=facts.seed),
    rank=22,
    size="synthetic points",
    sizes=(50, 100, 200, 400, 800, 1600),
    holds=lambda sketch: f"{count(sketch.shape[0], 'sum')}, which give as many made-up points their weights",
    warm=lambda: (MeanEmbedding(Domain.of(x=(0, 1), y=(0, 1), group=["a", "b"]), Gaussian(1.0), 8, seed=0),),
)
