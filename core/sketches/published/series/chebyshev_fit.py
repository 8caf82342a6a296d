"""A kernel as a polynomial of each coordinate: Chebyshev's polynomials up to an order, from values at their nodes.

With the bounds moved to [-1, 1] and x = cos t along each coordinate, k(x, q) as a function of the record is an even
function of the angles, whose cosine coefficients are a discrete cosine transform of its values at even angles.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.fft import dctn, idctn

from ....domain import Domain
from ....geometry.kernels import Kernel, of_coordinates

NODES = {1: 4096, 2: 128, 3: 40}
"""Chebyshev nodes a coordinate at which a kernel is taken, for so many coordinates."""
BYTES_A_NODE = 64
AT_ONCE = 1 << 20
"""Nodes times queries that are worked on together."""
DAMPINGS = ("jackson", "none")


@dataclass(frozen=True)
class ChebyshevFit:
    """Polynomials for kernels at queries; see the module.

    Parameters
    ----------
    domain : Domain
        One to three numbers a record.
    kernel : Kernel
        Any.
    orders : int
        t of each coordinate.
    damping : str
        "jackson" multiplies the coefficients by Jackson's factors, "none" by 1.
    """

    domain: Domain
    kernel: Kernel
    orders: int
    damping: str

    @cached_property
    def point_kernel(self) -> Kernel:
        """The kernel of encoded points."""
        return of_coordinates(self.kernel, tuple(column.width for column in self.domain.columns))

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
        """The kernel between points and nodes, float64 (n, nodes, ..., nodes)."""
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
