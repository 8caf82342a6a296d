"""A kernel as a polynomial of each coordinate: Chebyshev's polynomials up to an order, from values at their nodes.

With the bounds moved to [-1, 1] and x = cos t along each coordinate, k(x, q) as a function of the record is an even
function of the angles, whose cosine coefficients are a discrete cosine transform of its values at even angles.

How far a replaced record moves sums of products of cosines: the largest differences, with proofs.

Let u_r = cos(r_1 a_1) ... cos(r_d a_d) for r in {0, ..., t-1}^d, v_r the same for angles b, and
K(s) = 1 + cos s + ... + cos (t-1) s. A product of cosines is the mean, over signs e of the coordinates, of cos(r.ea).
With A = (a + b)/2 and B = (a - b)/2,

    |u_r - v_r| <= mean over e of 2 |sin(r.eA) sin(r.eB)|.

*L1.* By Cauchy and Schwarz, over r and e together, the sum over r is at most 2 sqrt(S(A) S(B)) for
S(A) = mean over e of the sum over r of sin^2(r.eA) = (t^d - K(2 A_1) ... K(2 A_d)) / 2. So it is at most
max over s of t^d - K(s_1) ... K(s_d) = t^d - t^(d-1) min K, as |K| <= t. Angles a = s, b = 0 reach it, where every
v_r is 1.

*L2.* The mean of squares is no less than the square of the mean, so likewise the sum of (u_r - v_r)^2 is at most
max over s of the mean over e of the sum over r of (1 - cos(r.es))^2, which is

    (3/2) t^d - 2 K(s_1) ... K(s_d) + (1/2) K(2 s_1) ... K(2 s_d).

It is linear in each pair (K(s_j), K(2 s_j)) by itself, so its maximum lies at extreme points of the curve of these
pairs: few, which are all tried together. Where only one s_j differs from 0 the bound is the sum itself with b = 0, so
it is reached whenever the maximum lies there.

Both are computed on a grid of 64 t steps. At the best place the gradient is zero, so the nearest grid place falls short
of it by at most half the largest second derivative times the square of half a step.

In the two compiled loops: with x = cos t along each coordinate, cos(r t) = T_r(x), which the recurrence T_(r+1) = 2 x
T_r - T_(r-1) gives without any library function, in a fixed order: a record adds the same integers on any machine that
keeps IEEE 754.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.fft import dctn, idctn
from scipy.spatial import ConvexHull

from ...domain import Domain
from ...geometry.kernels import Kernel, of_coordinates
from ...runtime.compiled_code import njit
from ...sketches.phases import add_up

NODES = {1: 4096, 2: 128, 3: 40}  # Chebyshev nodes a coordinate at which a kernel is taken, for so many coordinates.
BYTES_A_NODE = 64
AT_ONCE = 1 << 20  # Nodes times queries that are worked on together.
DAMPINGS = ("jackson", "none")


@dataclass(frozen=True)
class ChebyshevFit:
    """Polynomials for kernels at queries; see the module."""

    domain: Domain  # One to three numbers a record.
    kernel: Kernel
    orders: int  # t of each coordinate.
    damping: str  # "jackson" multiplies the coefficients by Jackson's factors, "none" by 1.

    @cached_property
    def point_kernel(self) -> Kernel:
        return of_coordinates(self.kernel, self.domain.widths)

    @property
    def _steps(self) -> int:
        return NODES[self.domain.dimensions]

    @property
    def _angles(self) -> np.ndarray:
        """Of the nodes of one coordinate, float64 (nodes,)."""
        return (np.arange(self._steps) + 0.5) * math.pi / self._steps

    @cached_property
    def nodes(self) -> np.ndarray:
        """Encoded nodes, float64 (nodes^d, d)."""
        low, high = self.domain.bounds(self.kernel.metric)
        grid = np.stack(np.meshgrid(*[np.cos(self._angles)] * len(low), indexing="ij"), axis=-1)
        return low + (high - low) * (grid.reshape(-1, len(low)) + 1.0) / 2.0

    @cached_property
    def evenly(self) -> np.ndarray:
        """Shares of the nodes in records spread evenly over the bounds, float64 (nodes,) * d: dx = sin t dt."""
        line, shares = np.sin(self._angles) / np.sin(self._angles).sum(), np.ones(())
        for _ in range(self.domain.dimensions):
            shares = np.multiply.outer(shares, line)
        return shares

    def at_nodes(self, points: np.ndarray) -> np.ndarray:
        values = self.point_kernel.evaluate(points, self.nodes)
        return values.reshape(-1, *[self._steps] * self.domain.dimensions)

    def fitted(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients (n, t, ..., t) of polynomials for values at the nodes, and the polynomials' values there."""
        axes = tuple(range(1, values.ndim))
        transformed = dctn(values, type=2, axes=axes)
        kept = np.zeros_like(transformed)
        corner = (slice(None), *[slice(self.orders)] * len(axes))
        kept[corner] = transformed[corner]
        if self.damping == "jackson":
            for axis in axes:
                lined_up = [-1 if place == axis else 1 for place in range(values.ndim)]
                kept[corner] *= jackson(self.orders).reshape(lined_up)
        weights = kept[corner] / float(self._steps) ** len(axes)
        for axis in axes:  # the mean of cos^2 is a half, but for order 0
            weights[(*[slice(None)] * axis, 0)] /= 2.0
        return weights, idctn(kept, type=2, axes=axes)

    def blocks(self, points: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """For blocks of queries: coefficients float64 (n, t^d), and the largest error of each polynomial (n,).

        The error is looked for at all nodes, and where the record is the query itself.
        """
        step = max(1, AT_ONCE // self._steps**self.domain.dimensions)
        for start in range(0, len(points), step):
            block = np.asarray(points[start : start + step], np.float64)
            values = self.at_nodes(block)
            weights, made = self.fitted(values)
            worst = np.abs(made - values).reshape(len(block), -1).max(axis=1)
            yield weights.reshape(len(block), -1), np.maximum(worst, self._error_at_itself(block, weights))

    def _error_at_itself(self, points: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Of each polynomial, where the record is the query; queries outside the bounds have no such record."""
        low, high = self.domain.bounds(self.kernel.metric)
        inside = ((points >= low) & (points <= high)).all(axis=1)
        angles = np.arccos(np.clip(2.0 * (points - low) / (high - low) - 1.0, -1.0, 1.0))
        for angle in angles.T:  # one coordinate after the other, from the first
            cosines = np.cos(angle[:, None] * np.arange(self.orders))
            weights = np.einsum("nr,nr...->n...", cosines, weights)
        itself = np.array([self.point_kernel.evaluate(point[None], point[None])[0, 0] for point in points])
        return np.where(inside, np.abs(weights - itself), 0.0)


def jackson(orders: int) -> np.ndarray:
    """Jackson's factors of the orders 0 to t - 1, from 1 down to nearly 0: the least blur without ripples."""
    r, n = np.arange(orders), orders + 1
    return ((n - r) * np.cos(math.pi * r / n) + np.sin(math.pi * r / n) / math.tan(math.pi / n)) / n


STEPS_AN_ORDER = 64


def largest_l1_shift(orders: int, dimensions: int) -> float:
    """The largest sum over r of |u_r - v_r|, from above; 0 for a single order."""
    least = float(_kernel(_grid(orders), orders).min())
    slack = 0.5 * float((np.arange(orders) ** 2).sum()) * _half_step(orders) ** 2
    return float(orders ** (dimensions - 1)) * (orders - least + slack)


def largest_l2_shift(orders: int, dimensions: int) -> float:
    """The largest sum over r of (u_r - v_r)^2, from above; 0 for a single order."""
    if orders == 1:
        return 0.0
    grid = _grid(orders)
    curve = np.stack([_kernel(grid, orders), _kernel(2.0 * grid, orders)], axis=1)
    products = extreme = _extreme(curve)
    for _ in range(dimensions - 1):
        products = _extreme((products[:, None] * extreme).reshape(-1, 2))
    largest = float((-2.0 * products[:, 0] + 0.5 * products[:, 1]).max())
    # The second derivative of (1 - cos s)^2 lies between -4 and 2.25.
    lengths = np.indices((orders,) * dimensions).sum(axis=0).astype(np.float64)
    slack = 0.5 * 4.0 * float((lengths**2).sum()) * _half_step(orders) ** 2
    return 1.5 * float(orders**dimensions) + largest + slack


def _extreme(points: np.ndarray) -> np.ndarray:
    return points[ConvexHull(points).vertices]


def _grid(orders: int) -> np.ndarray:
    return np.linspace(0.0, math.pi, STEPS_AN_ORDER * orders + 1)


def _half_step(orders: int) -> float:
    return 0.5 * math.pi / (STEPS_AN_ORDER * orders)


def _kernel(angles: np.ndarray, orders: int) -> np.ndarray:
    """K at angles, by Dirichlet's formula; t at whole turns."""
    sines = np.sin(0.5 * angles)
    whole = np.abs(sines) < 1e-9
    return np.where(whole, orders, 0.5 + np.sin((orders - 0.5) * angles) / (2.0 * np.where(whole, 1.0, sines)))


@njit(nogil=True, cache=True, inline="always")
def _products(points, i, factors, products):
    """products = T_r1(x_1) ... T_rd(x_d) of point i, the last coordinate's order running fastest; in [-1, 1]."""
    d, t = factors.shape
    for j in range(d):
        x = min(max(points[j, i], -1.0), 1.0)
        before, now = 1.0, x
        for r in range(t):
            # |T_r| <= 1, which rounding may miss by a hair.
            factors[j, r] = min(max(before, -1.0), 1.0)
            before, now = now, 2.0 * x * now - before
    products[0] = 1.0
    filled = 1
    for j in range(d):
        # From the back, as the first products are still to be multiplied.
        for p in range(filled - 1, -1, -1):
            value = products[p]
            for r in range(t - 1, -1, -1):
                products[p * t + r] = value * factors[j, r]
        filled *= t


@njit(nogil=True, cache=True)
def _pour(points, first, last, orders, amplitude, table):
    factors, products = np.empty((len(points), orders)), np.empty(len(table))
    for i in range(first, last):
        _products(points, i, factors, products)
        for p in range(len(table)):
            # Toward zero, so at most the amplitude.
            table[p] += np.int64(amplitude * products[p])


def pour_products(points: np.ndarray, orders: int, amplitude: int, table: np.ndarray) -> None:
    """Add every record's products of T_0, ..., T_(t-1) to a table, as whole numbers of at most ``amplitude``.

    `points`: float64 (d, n), from -1 to 1. `table`: int64 (t^d,), changed in place.
    """

    def records(start: int, stop: int, sums: np.ndarray) -> None:
        _pour(points, start, stop, orders, amplitude, sums)

    add_up(points.shape[1], records, table)
