"""Sums of products of cosines, and kernels as trigonometric polynomials of the angles of their coordinates.

Wang, Fan, Zhang, Wang ("Efficient algorithm for privately releasing smooth queries", NIPS 2013), Algorithms 1 and 2.
The bounds become [-1, 1], x_j = cos t_j, and the table holds the sum over records of cos(r_1 t_1) ... cos(r_d t_d) for
all orders r_j < t, with noise. A query's function of the record, here k(., q), is an even function of the angles; its
trigonometric polynomial of those orders has public coefficients, and the answer is their inner product with the table.

In x the polynomials are Chebyshev's, which meet a function at the bounds as well as in the middle: nothing wraps around
as in a Fourier series, queries may lie outside, and any kernel will do. Where records are, in the middle, the
resolution is pi/2 times coarser than that of a cosine series of as many terms.

The coefficients come from a discrete cosine transform of the kernel at Chebyshev nodes. Cut off there ("none"), the
polynomial is the best in the mean square; damped by Jackson's kernel ("jackson"), with which the paper proves its
rates, it has no ripples and less noise, and is blurred. Noise is the paper's problem: one record moves the table by t^d
in L1, and the paper adds Laplace noise of scale t^d / epsilon. One noise vector for the whole table does with 0.71 of
its standard deviation (`Trigonometric.record_sensitivity`).
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from ...domain import Categorical, Domain
from ...errors import RequestError
from ...formatting.numbers import count
from ...geometry.kernels import KERNEL, Gaussian, Kernel
from ...geometry.uniforms import PublicRandom
from ...privacy.budget import Budget, Neighbours, Sensitivity
from ...runtime.parameters import Choice, Resolved, Whole, check_integer, parameter
from ...sketches.answers import Answers
from ...sketches.linear import KernelSketch
from ...sketches.mechanism_spec import MechanismSpec
from .chebyshev_series import (
    AT_ONCE,
    BYTES_A_NODE,
    DAMPINGS,
    NODES,
    ChebyshevFit,
    largest_l1_shift,
    largest_l2_shift,
    pour_products,
)

AMPLITUDE = 1 << 24  # A product of cosines is cut to a multiple of 2^-24.
MOST_ORDERS = {1: 2048, 2: 64, 3: 20}
PLACES_TRIED = 12  # Queries at which a size is judged.
GROWTH = 1.25
TYPICAL_CROWDING = 10.0  # A typical answer is taken to be so many times that of records spread evenly over the bounds.
_PLACES = 38  # Label of the stream of public randomness for places at which noise is averaged.


@dataclass(frozen=True)
class Trigonometric(KernelSketch):
    """Kernel sums from noisy sums of products of cosines.

    RequestError when a parameter is out of range, or the columns are too many or not numbers.
    """

    domain: Domain  # The public facts about the records: one to three numbers each.
    kernel: Kernel = parameter(KERNEL)  # Any but that of sets.
    # t of each coordinate, the orders 0 to t - 1; None leaves the choice to `sized_for`.
    orders: Resolved[int] = parameter(
        Whole("The number of orders", 1, max(MOST_ORDERS.values())), None, settled="its orders"
    )
    # "jackson" or "none", how the kernel's polynomial is made; None leaves that to `sized_for` too. The table is the
    # same.
    damping: Resolved[str] = parameter(
        Choice("The damping of a trigonometric polynomial", DAMPINGS), None, settled="its damping"
    )
    name: ClassVar[str] = "trigonometric"
    described: ClassVar[str] = "release of trigonometric polynomials"
    largest_entry = AMPLITUDE

    def _check(self) -> None:
        super()._check()
        if self.domain.dimensions not in NODES or any(isinstance(one, Categorical) for one in self.domain.columns):
            raise RequestError(
                f"Trigonometric polynomials need from 1 to {max(NODES)} coordinates, all of them numbers: their orders "
                "multiply with every further one, and categories lie on no line."
            )
        if self.orders is not None:
            check_integer(self.orders, "The number of orders", 1, MOST_ORDERS[self.domain.dimensions])
        # One bandwidth a column, or one for all: said here and not with the first answer.
        _ = self.point_kernel

    @property
    def side(self) -> int:
        return int(self.given("orders", "number of orders"))

    @property
    def shape(self) -> tuple[int]:
        """All t^d products, the order of the last coordinate running fastest."""
        return (self.side**self.domain.dimensions,)

    @property
    def setup_bytes(self) -> int:
        return BYTES_A_NODE * (AT_ONCE + NODES[self.domain.dimensions] ** self.domain.dimensions)

    def add(self, table: np.ndarray, points: np.ndarray) -> None:
        low, high = self.domain.bounds(self.metric)
        scaled = np.ascontiguousarray((2.0 * ((points - low) / (high - low)) - 1.0).T)
        pour_products(scaled, self.side, AMPLITUDE, table)

    def record_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """One record adds t^d whole numbers of at most A each.

        Add or remove one: A t^d in L1 and A^2 t^d in L2 squared, both reached by a record at the upper bounds, where
        every cosine is 1.

        Replace one: `chebyshev_shifts` has the largest differences of two products of cosines, reached by a corner and
        another record; cutting toward zero adds less than 1 to each of the numbers, and floating point less than 2^-30
        of the whole. A replaced record may also be left out, which moves what removing it does.

        Noise drawn as one vector has variance (D + 1) L2^2 / epsilon^2 for a table of D numbers, here D (D + 1) A^2 /
        epsilon^2, about half of the 2 D^2 A^2 / epsilon^2 of Laplace noise.
        """
        counters = self.shape[0]
        l1, l2_squared = AMPLITUDE * counters, AMPLITUDE**2 * counters
        if neighbours is Neighbours.REPLACE_ONE:
            sides = self.side, self.domain.dimensions
            moved = AMPLITUDE * math.sqrt(largest_l2_shift(*sides)) * (1.0 + 2.0**-30) + math.sqrt(counters)
            farther = math.ceil(AMPLITUDE * largest_l1_shift(*sides) * (1.0 + 2.0**-30)) + counters
            l1, l2_squared = max(l1, min(2 * l1, farther)), max(l2_squared, min(4 * l2_squared, math.ceil(moved**2)))
        return Sensitivity(l1, l2_squared, block=counters, blocks_l2=math.isqrt(l2_squared - 1) + 1)

    def answer(
        self, table: np.ndarray, records: float, points: np.ndarray, counter_variance: float, level: float
    ) -> Answers:
        """Estimates with the standard error of the noise; intervals reach further by the polynomial's largest error.

        That error is looked for at many records, and where the record is the query itself.
        """
        flat = np.asarray(table, np.float64) / AMPLITUDE
        parts = [(weights @ flat, (weights**2).sum(axis=1), worst) for weights, worst in self.fit.blocks(points)]
        estimate, gains, worst = np.concatenate([np.zeros((3, 0)), *(np.stack(part) for part in parts)], axis=1)
        error = np.sqrt(gains * counter_variance) / AMPLITUDE
        return Answers.of_errors(estimate, error, records, level).reaching(worst * max(float(records), 1.0))

    def noise_variance(self, counter_variance: float, points: np.ndarray | None = None) -> float | np.ndarray:
        places = self._places_inside() if points is None else points
        gains = [(weights**2).sum(axis=1) for weights, _ in self.fit.blocks(places)]
        variances = np.concatenate([np.zeros(0), *gains]) * counter_variance / AMPLITUDE**2
        return float(variances.mean()) if points is None else variances

    def total(self, table: np.ndarray) -> float:
        """The sum of the products of order 0, which are all 1."""
        return float(table[0]) / AMPLITUDE

    def total_variance(self, counter_variance: float) -> float:
        return counter_variance / AMPLITUDE**2

    def sized_for(self, budget: Budget, records: float) -> Self:
        """With the orders and the damping of the least expected squared error of a typical answer, from public facts.

        A typical answer is taken to be ten times that of records spread evenly, and to miss a share of itself that is
        the polynomial's mean squared error over the kernel's mean square, at records spread evenly.
        """
        if self.sized:
            return self
        grid = ChebyshevFit(self.domain, self.kernel, 1, "none")
        kernel, evenly = grid.at_nodes(self._places_inside()[:PLACES_TRIED]), grid.evenly
        square = float((kernel**2 * evenly).sum())
        if square == 0.0:
            raise RequestError("The kernel is too narrow for polynomials: it is zero nearly all over these bounds.")
        typical = records * min(1.0, TYPICAL_CROWDING * float((kernel * evenly).sum()) / len(kernel))

        def expected_error(sized: Trigonometric) -> float:
            weights, made = sized.fit.fitted(kernel)
            missed = min(1.0, float(((made - kernel) ** 2 * evenly).sum()) / square)
            gain = float((weights**2).sum()) / len(weights) / AMPLITUDE**2
            return gain * sized.counter_noise(budget).variance + (typical * missed) ** 2

        best, least = self, math.inf
        for orders in [self.orders] if self.orders else _orders(self.domain.dimensions):
            for damping in DAMPINGS if self.damping is None else (self.damping,):
                sized = replace(self, orders=orders, damping=damping)
                error = expected_error(sized)
                if error < least:
                    best, least = sized, error
            if error > 4.0 * least:
                break
        return best

    @cached_property
    def fit(self) -> ChebyshevFit:
        """How kernels become polynomials; RequestError before orders and damping are chosen."""
        return ChebyshevFit(self.domain, self.kernel, self.side, self.given("damping", "damping"))

    def _places_inside(self) -> np.ndarray:
        low, high = self.domain.bounds(self.metric)
        return low + (high - low) * PublicRandom(0, _PLACES).uniforms(64, len(low))


def _orders(dimensions: int) -> Iterator[int]:
    sizes = itertools.accumulate(itertools.repeat(None), lambda size, _: max(size + 1, int(size * GROWTH)), initial=1)
    return itertools.takewhile(lambda size: size <= MOST_ORDERS[dimensions], sizes)


CARD = MechanismSpec(
    "trigonometric",
    "Trigonometric polynomials",
    "Wang et al. 2013",
    "The people are described by polynomials, flat ones to wiggly ones; each one's strength gets noise, and the curve "
    "is put together from them.",
    sketch=Trigonometric,
    make=lambda facts: Trigonometric(facts.domain, facts.closeness, facts.size),
    rank=24,
    size="orders a coordinate",
    sizes=(2, 4, 8, 16, 32, 64, 128, 256, 512, 1024),
    most_dimensions=3,
    holds=lambda sketch: f"{count(sketch.shape[0], 'sum')} of polynomials",
    warm=lambda: (Trigonometric(Domain.of(x=(0, 1), y=(0, 1)), Gaussian(1.0), 2, "none"),),
)
