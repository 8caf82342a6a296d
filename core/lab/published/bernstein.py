"""The Bernstein mechanism: noisy kernel sums on a lattice, and a polynomial through the box (Aldà, Rubinstein, 2017).

f(y), the sum over all records of k(x, y), is evaluated at the points of the lattice {0, 1/K, ..., 1}^d of the box, each
value gets noise, and the answer anywhere else is the iterated Bernstein polynomial of the noisy values,

    B^(h) = I - (I - B)^h,    (B f)(y) = sum over v of f(v/K) times the binomial probability of v in K trials at y,

along one coordinate after the other ("The Bernstein Mechanism: Function Release under Differential Privacy", AAAI
2017). It is B times the sum over j < h of (I - B)^j, of which all but the outermost B acts on the lattice values, with
the probabilities of B at the lattice points: no binomial coefficient is ever written down.

Where this goes beyond the paper, and keeps its promise:

* The paper's noise allows a record to move every one of the (K + 1)^d values by the most it can move any, 1. A kernel
  that falls with distance moves their sum by far less: `record_sensitivity` declares what it does.
* That also gives a squared L2 norm, for Gaussian noise under (epsilon, delta), where the paper has pure epsilon alone,
  and for noise of the whole lattice as one vector under pure epsilon, taken where it is the smaller of the two.

The polynomials are evaluated without binomial coefficients.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import product
from typing import ClassVar

import numpy as np

from ...domain import Domain
from ...errors import RequestError
from ...geometry.kernels import KERNEL, Angular, Gaussian, Kernel, Product
from ...geometry.uniforms import PublicRandom
from ...privacy.budget import Budget, Neighbours, Sensitivity
from ...runtime.parameters import Resolved, Whole, parameter
from ...sketches.answers import Answers
from ...sketches.linear import KernelSketch, least_error
from ...sketches.mechanism_spec import MechanismSpec, sides
from ...sketches.phases import add_up
from .kernel_values import BITS, KernelValues, add_bounded, largest_norms, mean_square

BLOCK = 1 << 22  # Numbers of an intermediate result: 32 MiB.
# Shares of the bounds below this are none: the library's binomial probabilities overflow on the smallest of them.
NO_SHARE = 1e-200


@lru_cache(maxsize=20)
def iterated_operator(degree: int, iterations: int) -> np.ndarray:
    """Sum over j < h of (I - B)^j on the values at the lattice points of a coordinate, float64 (K + 1, K + 1).

    B has eigenvalues in (0, 1], so the powers stay small however many there are. Along a coordinate of 20 bandwidths of
    a Gaussian kernel at K = 40, h = 1, 5, 20, 100 miss it by 37, 16, 8 and 4% (root mean square), and multiply the
    standard deviation of noise by 0.37, 0.50, 0.59 and 0.70.
    """
    one = np.eye(degree + 1)
    rest = one - bernstein_basis(degree, np.arange(degree + 1) / degree)
    total, power = one, rest
    for digit in f"{iterations:b}"[1:]:
        total, power = total + power @ total, power @ power
        if digit == "1":
            total, power = one + rest @ total, rest @ power
    return total


def bernstein_basis(degree: int, shares: np.ndarray) -> np.ndarray:
    """The Bernstein polynomials at places of one coordinate: binomial probabilities, float64 (n, K + 1)."""
    from scipy.stats import binom  # a second to load, and every list of mechanisms has this one

    shares = np.where(shares < NO_SHARE, 0.0, shares)
    return binom.pmf(np.arange(degree + 1), degree, shares[:, None])


def combined(values: np.ndarray, weights: list[np.ndarray]) -> np.ndarray:
    """Sum over the lattice of value times the product of the weights along each coordinate, float64 (n,)."""
    first, *others = weights
    block = max(1, BLOCK * len(values) // values.size)
    sums = []
    for start in range(0, len(first), block):
        part = np.tensordot(first[start : start + block], values, axes=1)
        for along in others:
            part = np.einsum("nk,nk...->n...", along[start : start + block], part)
        sums.append(part)
    return np.concatenate([np.empty(0), *sums])


MAX_DEGREE, MAX_ITERATIONS, MAX_DIMENSIONS = 1_000, 1_000, 8
MAX_POINTS = 1 << 17  # Of a lattice: every record is compared with each of them.
POINTS_OFFERED = 1 << 15  # Sizes that nobody asked for stop here, so that a record takes about a tenth of a millisecond
DEFAULT_ITERATIONS = 20  # Most of what iterating gains in closeness, before noise grows: figures in `iterated_operator`
DEGREES_OFFERED = (2, 3, 4, 6, 8, 10, 14, 20, 28, 40, 56, 80, 110, 160, 220, 320, 450, 640)
TYPICAL_CROWDING = 10.0  # A typical answer is taken to be so many times that of records spread evenly over the bounds.
_BLOCK = 1 << 16  # Numbers of an intermediate result: half a megabyte, which a second-level cache holds.
_PLACES, _REFERENCE = 50, 200  # Label of the stream of public random places, and how many there are.


@dataclass(frozen=True)
class Bernstein(KernelSketch):
    """Kernel sums on a lattice, read through iterated Bernstein polynomials.

    RequestError when a parameter is out of range or the lattice would be too large.
    """

    domain: Domain  # The public facts about the records, all of them numbers, at most 8 coordinates.
    kernel: Kernel = parameter(KERNEL)  # Any kernel of `core.geometry.kernels` but that of sets.
    # K of each coordinate, whose K + 1 lattice points include both bounds; None leaves it to `sized_for`.
    degree: Resolved[int] = parameter(
        Whole("The degree of a Bernstein polynomial", 1, MAX_DEGREE), None, settled="of which degree it is"
    )
    # h; 1 is the plain Bernstein polynomial, and the limit of many is the one through all values.
    iterations: int = parameter(
        Whole("The number of iterations of a Bernstein polynomial", 1, MAX_ITERATIONS), DEFAULT_ITERATIONS
    )
    name: ClassVar[str] = "bernstein"
    described: ClassVar[str] = "Bernstein polynomial"

    def _check(self) -> None:
        super()._check()
        _ = self.point_kernel  # refuses one that is not of these columns
        if not self.domain.numeric_only:
            raise RequestError("The Bernstein mechanism answers by polynomials, so all columns must hold numbers.")
        if self.domain.dimensions > MAX_DIMENSIONS:
            raise RequestError(
                f"A lattice in {self.domain.dimensions:,} dimensions has too many points; the most is {MAX_DIMENSIONS}."
            )
        if self.degree is not None:
            if self._points_at(self.degree) > MAX_POINTS:
                raise RequestError(
                    f"A lattice of {self._points_at(self.degree):,} points is more than {MAX_POINTS:,}, which is the "
                    "most: use a lower degree or fewer columns."
                )

    @property
    def shape(self) -> tuple[int, ...]:
        return (self._degree + 1,) * self.domain.dimensions

    @property
    def setup_bytes(self) -> int:
        """The lattice, twice, what it is compared with at once, and a few square matrices for one coordinate."""
        if self.degree is None:
            return 0
        points = self._points_at(self.degree)
        compared = 3 * max(BLOCK, points)
        return 8 * (2 * points * self.domain.dimensions + compared + 6 * (self.degree + 1) ** 2)

    @property
    def largest_entry(self) -> int:
        return 1 << self.bits

    @property
    def bits(self) -> int:
        """A record's closeness is counted in units of 2^-bits, as many as squares of whole rows have room for."""
        return min(28, (61 - math.ceil(math.log2(self._points_at(self._degree)))) // 2)

    @cached_property
    def lattice(self) -> np.ndarray:
        """The lattice points in the order of the table, encoded, float64 ((K + 1)^d, d)."""
        low, high = self._bounds
        sides = [np.linspace(low[j], high[j], self._degree + 1) for j in range(len(low))]
        return np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, len(low))

    def sized_for(self, budget: Budget, records: float) -> Bernstein:
        """With the degree of the least expected error of a typical answer, from public facts alone.

        Noise is known; the polynomial is taken to miss the kernel along each axis through the middle as it does there
        between evenly spread places, root mean square and relative to the kernel. Of degrees within 5% of the least
        the lowest is taken.
        """
        if self.sized:
            return self
        offered = [degree for degree in DEGREES_OFFERED if self._points_at(degree) <= POINTS_OFFERED] or [1]
        sizes = (replace(self, degree=degree) for degree in offered)
        return least_error(sizes, lambda sized: sized._expected_error(budget, records), 4.0, 1.05**2)

    def add(self, table: np.ndarray, points: np.ndarray) -> None:
        block = max(1, _BLOCK // len(self.lattice))
        l1, l2_squared = self._norms

        def records(start: int, stop: int, sums: np.ndarray) -> None:
            for first in range(start, stop, block):
                add_bounded(self._encoded(points[first : min(first + block, stop)]), l1, l2_squared, sums.reshape(-1))

        add_up(len(points), records, table)

    def record_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """A record adds k(x, v/K) 2^bits, cut toward zero, to every value: numbers that are not negative.

        Add or remove one: the sum of these numbers and the sum of their squares are at most those declared, as `add`
        sees to it record by record in whole numbers. Declared is the most that any of the places tried reaches
        (`_tried`), so that it is reached, and next to no record has to be scaled down. The paper's bound, 2^bits for
        every point of the lattice, is the same for a kernel that is 1 everywhere and larger for all others.

        Replace one: twice the sum, by the triangle inequality, and twice the sum of squares, as the product of two
        tables without negative numbers is not negative: |a - b|^2 <= |a|^2 + |b|^2. Reached by two records that are
        close to different points.
        """
        l1, l2_squared = self._norms
        if neighbours is Neighbours.REPLACE_ONE:
            l1, l2_squared = 2 * l1, 2 * l2_squared
        whole = 1 + math.isqrt(l2_squared - 1)
        points = self._points_at(self._degree)
        return Sensitivity(l1, l2_squared, block=points, blocks_l2=whole) if whole <= l1 else Sensitivity(l1, l1 * l1)

    def answer(
        self, table: np.ndarray, records: float, points: np.ndarray, counter_variance: float, level: float
    ) -> Answers:
        """The polynomial, with an interval for the noise that reaches further by what the polynomial may miss.

        That is `largest_miss` for every record, wherever the records are; the standard error is that of the noise.
        Outside the bounds the polynomial at the nearest place inside is given, and nothing is known of its error.
        """
        places, outside = self._places(points)
        weights = self._weights(places)
        sums = combined(table.astype(np.float64) / 2.0**self.bits, weights)
        error = np.sqrt(self._gains(weights) * counter_variance)
        answers = Answers.of_errors(sums, np.where(outside, math.inf, error), records, level)
        return answers.reaching(self.largest_miss * max(float(records), 0.0))

    def noise_variance(self, counter_variance: float, points: np.ndarray | None = None) -> float | np.ndarray:
        """The sum of the squared coefficients, which is a product over the coordinates, times a value's variance."""
        if points is None:
            places = PublicRandom(0, _PLACES).uniforms(_REFERENCE, self.domain.dimensions)
            return counter_variance * float(self._gains(self._weights(places)).mean())
        return counter_variance * self._gains(self._weights(self._places(points)[0]))

    @cached_property
    def largest_miss(self) -> float:
        """How far the polynomial of k(x, .) is from k(x, q) at most, for public places x and q all over the box.

        The worst is mostly the peak, q = x, so every place is taken for both, and halfway between lattice points in
        the middle.
        """
        places = self._tried_shares()[:_REFERENCE]
        inside, weights = self._inside(places), self._weights(places)
        miss = 0.0
        for x in inside:
            fitted = combined(self.point_kernel.evaluate(x[None], self.lattice).reshape(self.shape), weights)
            miss = max(miss, float(np.abs(fitted - self.point_kernel.evaluate(x[None], inside)).max()))
        return miss

    def _encoded(self, points: np.ndarray) -> np.ndarray:
        """What each record adds if it keeps to the bounds, int64 (n, (K + 1)^d)."""
        return self._values(points) >> (BITS - self.bits)

    @cached_property
    def _values(self) -> KernelValues:
        return KernelValues(self.point_kernel, self.lattice)

    @cached_property
    def _norms(self) -> tuple[int, int]:
        tried = self._inside(self._tried_shares())
        block = max(1, _BLOCK // len(self.lattice))
        norms = [largest_norms(self._encoded(tried[i : i + block])) for i in range(0, len(tried), block)]
        return max(l1 for l1, _ in norms), max(l2 for _, l2 in norms)

    def _tried_shares(self) -> np.ndarray:
        """Places, in shares of the bounds: most of a lattice is near in the middle, on its points or between them.

        The corners, where a narrow kernel on a coarse lattice has its largest sums, and random places besides.
        """
        d = self.domain.dimensions
        steps = (0.0, 0.25, 0.5, 0.75, 1.0) if d <= 2 else (0.0, 0.5, 1.0) if d <= 4 else (0.0, 0.5)
        middle = (self._degree // 2 + np.array(list(product(steps, repeat=d)))) / self._degree
        corners = np.array(list(product((0.0, 1.0), repeat=d)))
        return np.vstack([np.minimum(middle, 1.0), corners, PublicRandom(0, _PLACES).uniforms(_REFERENCE, d)])

    def _inside(self, shares: np.ndarray) -> np.ndarray:
        low, high = self._bounds
        return np.clip(low + shares * (high - low), low, high)

    def _places(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Queries in shares of the bounds, moved inside them, and which of them were outside."""
        low, high = self._bounds
        shares = (np.asarray(points, dtype=np.float64) - low) / (high - low)
        inside = np.clip(shares, 0.0, 1.0)
        return inside, (np.abs(shares - inside) > 1e-12).any(axis=1)

    def _weights(self, places: np.ndarray) -> list[np.ndarray]:
        """What each lattice point of each coordinate counts for, one float64 (n, K + 1) a coordinate."""
        operator = iterated_operator(self._degree, self.iterations)
        return [bernstein_basis(self._degree, column) @ operator for column in places.T]

    def _gains(self, weights: list[np.ndarray]) -> np.ndarray:
        return math.prod((along**2).sum(axis=1) for along in weights) / 4.0**self.bits

    def _expected_error(self, budget: Budget, records: float) -> float:
        """See `sized_for`; squared."""
        noise = self.counter_noise(budget)
        random = PublicRandom(0, _PLACES + 1)
        missed, evenly = 0.0, 1.0
        for axis in range(self.domain.dimensions):
            shares = np.full((2 * _REFERENCE, self.domain.dimensions), 0.5)
            shares[:, axis] = random.uniforms(2 * _REFERENCE)
            nodes = np.full((self._degree + 1, self.domain.dimensions), 0.5)
            nodes[:, axis] = np.arange(self._degree + 1) / self._degree
            x, q = np.split(self._inside(shares), 2)
            truth = self.point_kernel.evaluate(q, x)
            fitted = self._weights(shares[_REFERENCE:])[axis] @ self.point_kernel.evaluate(self._inside(nodes), x)
            missed += float(((fitted - truth) ** 2).mean()) / mean_square(truth, "a Bernstein polynomial")
            evenly *= float(truth.mean())
        typical = records * min(1.0, TYPICAL_CROWDING * evenly)
        return float(self.noise_variance(noise.variance)) + missed * typical**2

    def _points_at(self, degree: int) -> int:
        return (degree + 1) ** self.domain.dimensions

    @property
    def _bounds(self) -> tuple[np.ndarray, np.ndarray]:
        return self.domain.bounds(self.metric)

    @property
    def _degree(self) -> int:
        return int(self.given("degree", "degree"))


CARD = MechanismSpec(
    "bernstein",
    "Bernstein mechanism",
    "Aldà and Rubinstein 2017",
    "The curve's heights are taken on an even lattice, get noise, and a polynomial through the whole box is drawn "
    "close to them.",
    sketch=Bernstein,
    make=lambda facts: Bernstein(facts.domain, facts.closeness, facts.size),
    rank=21,
    size="lattice steps a coordinate",
    sizes=(4, 10, 20, 40, 100, 400, 1000),
    most_dimensions=8,
    holds=lambda sketch: f"a lattice of {sides(sketch.shape)} sums of closeness",
    warm=lambda: (Bernstein(Domain.of(x=(0, 1), y=(0, 1)), Product((Gaussian(1.0), Angular())), 2),),
)
