"""Axes of a grid, and the steps that are taken along them one after the other."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...geometry.kernels import Gaussian, Kernel, Laplacian, Product
from .splines import ORDER, coarsened, combined, gathered, refined


@dataclass(frozen=True)
class Axis:
    """One axis: a coordinate on a grid, the values of a coordinate that has steps, categories, or a circle of values.

    Attributes
    ----------
    coordinate : int
        The (first) encoded coordinate.
    low, pitch, cells : float, float, int
        Lower bound, distance of grid points (or values) and number of cells; a grid has cells + 3 counters.
    categories : int
        Number of categories, or of values around a circle, one counter each; 0 for a coordinate.
    values : int
        Number of values of a coordinate with steps, one counter each, so that nothing is lost; 0 for a grid.
    radius : float
        Of a circle in the plane of two coordinates, on which the values lie; 0 where they lie on none.
    """

    coordinate: int
    low: float
    pitch: float
    cells: int
    categories: int
    values: int = 0
    radius: float = 0.0

    @property
    def coordinates(self) -> int:
        """How many of the encoded coordinates it takes."""
        return 2 if self.radius else max(1, self.categories)

    @property
    def turns(self) -> np.ndarray:
        """The places of all values around the circle, float64 (values, 2)."""
        angles = 2.0 * math.pi * np.arange(self.categories) / self.categories
        return self.radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)

    def nearest(self, points: np.ndarray) -> np.ndarray:
        """The numbers of the values that encoded points (n, d) are nearest to around the circle, float64 (n,)."""
        x, y = points[:, self.coordinate], points[:, self.coordinate + 1]
        return np.mod(np.rint(np.arctan2(y, x) * (self.categories / (2.0 * math.pi))), self.categories)

    def unrolled(self, coordinate: int) -> Axis:
        """The values of the circle as numbers from 0 on in a coordinate of their own."""
        return Axis(coordinate, 0.0, 1.0, 0, 0, self.categories)

    @property
    def apart(self) -> bool:
        """Whether every value has a counter of its own, which no other value shares."""
        return self.categories > 0 or self.values > 0

    @property
    def counters(self) -> int:
        return self.categories or self.values or self.cells + ORDER - 1

    def refined(self, rough: np.ndarray, halvings: int) -> np.ndarray:
        """Coefficients on the axis itself of what has these (n, counters) on the coarser one."""
        if self.coarser(halvings).apart:
            return rough
        if self.values:
            return combined(rough, np.arange(self.values) / 2.0**halvings)
        return refined(rough, halvings)

    def coarsened(self, counts: np.ndarray, halvings: int) -> np.ndarray:
        """The transpose of `refined`: counts on the coarser axis with the same sums of products."""
        if self.coarser(halvings).apart:
            return counts
        if self.values:
            return gathered(counts, np.arange(self.values) / 2.0**halvings, self.coarser(halvings).counters)
        return coarsened(counts, halvings)

    def coarser(self, halvings: int) -> Axis:
        """The axis of which this one is the finer version; categories, and values where they are few, stay apart."""
        if self.values:
            cells = -(-(self.values - 1) >> halvings)
            grid = replace(self, pitch=self.pitch * 2**halvings, cells=cells, values=0)
            return grid if 0 < 2 * grid.counters <= self.values else self
        if self.categories:
            return self
        return replace(self, pitch=self.pitch * 2**halvings, cells=self.cells >> halvings)


def along(kernel: Kernel, middle: np.ndarray, coordinate: int, places: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The kernel between copies of the middle that are moved along one coordinate, float64 (places, values)."""
    x, y = (np.tile(middle, (len(moved), 1)) for moved in (places, values))
    x[:, coordinate], y[:, coordinate] = places, values
    return kernel.evaluate(x, y)


def is_product_of_columns(kernel: Kernel) -> bool:
    """Whether a kernel is the product of one factor a coordinate, in any number of dimensions."""
    if isinstance(kernel, Product):
        return all(is_product_of_columns(part) for part in kernel.parts)
    return isinstance(kernel, (Gaussian, Laplacian))


def along_axis(change: Callable[[np.ndarray], np.ndarray], values: np.ndarray, place: int) -> np.ndarray:
    """Change the rows of an array along one of its axes, of which they may become shorter or longer."""
    moved = np.moveaxis(values, place, -1)
    changed = change(moved.reshape(-1, moved.shape[-1]))
    return np.moveaxis(changed.reshape(*moved.shape[:-1], -1), -1, place)


def heaps_of(counts: np.ndarray, axes: tuple[Axis, ...]) -> np.ndarray:
    """About how many records each cell holds: the counters at its ends, which get most of what lies in it."""
    for place, axis in enumerate(axes):
        if not axis.apart:
            counts = np.moveaxis(counts, place, 0)
            counts = np.moveaxis(counts[1:-2] + counts[2:-1], 0, place)
    return counts
