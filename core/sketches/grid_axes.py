"""Axes of a grid, in which cell a record lies along them, and the steps that are taken along them one after the other.

Cells are even between bounds, or of whole steps, or one for every category.

Of an axis and the factor of a kernel along it: its coefficients there, and how well they fit. What a grid answers
wrongly is forecast from such profiles, one an axis (`core.sketches.smoothing`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..geometry.kernels import Gaussian, Kernel, Laplacian, Product
from ..runtime.compiled_code import njit
from ..runtime.environment import over_ranges
from .splines import ORDER, POINTS_A_CELL, bspline, coarsened, coefficients, combined, fitting_points, gathered, refined


@dataclass(frozen=True)
class Axis:
    """A coordinate on a grid, the values of a coordinate that has steps, categories, or a circle of values."""

    coordinate: int  # The (first) encoded coordinate.
    # Lower bound, distance of grid points (or values) and number of cells; a grid has cells + 3 counters.
    low: float
    pitch: float
    cells: int
    categories: int  # Number of categories, or of values around a circle, one counter each; 0 for a coordinate.
    # Number of values of a coordinate with steps, one counter each, so that nothing is lost; 0 for a grid.
    values: int = 0
    # Of a circle in the plane of two coordinates, on which the values lie; 0 where they lie on none.
    radius: float = 0.0

    @property
    def coordinates(self) -> int:
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


@dataclass(frozen=True)
class Profile:
    """What an axis does to a kernel in the middle of its bounds."""

    square: float  # Sum of the squared coefficients.
    # With a coarse grid, the sum of their products with those of its fit, and of the latter's squares.
    mixed: float
    refined: float
    coarse: float  # Sum of the squared coefficients on the coarse grid.
    # Pitch times integral of the squared error of the fit, over the square of the integral of the kernel.
    misfit: float
    # Pitch times integral of the squared kernel, likewise: one over the number of cells, or values, that count.
    spread: float
    peak: float  # How much the fit misses the kernel at the query itself.
    share: float  # Pitch over the integral of the kernel: the share of evenly spread records that one cell holds.
    evenly: float  # Average of the kernel over the bounds.


@dataclass(frozen=True)
class AxisFit:
    """A kernel along one axis, everything else being equal."""

    kernel: Kernel  # Of encoded points.
    middle: np.ndarray  # The encoded point whose other coordinates all share, float64 (d,).
    axis: Axis  # Of the grid.
    a_cell: int = POINTS_A_CELL  # Points in a cell at which the kernel is fitted.

    @property
    def nodes(self) -> np.ndarray:
        """The values at which the kernel is evaluated, float64 (nodes, coordinates of the axis)."""
        axis = self.axis
        if axis.radius:
            return axis.turns
        if axis.categories:
            return np.eye(axis.categories) * self.middle[axis.coordinate]
        if axis.values:
            return (axis.low + axis.pitch * np.arange(axis.values))[:, None]
        return (axis.low + axis.pitch * fitting_points(axis.cells, self.a_cell))[:, None]

    def factor(self, points: np.ndarray) -> np.ndarray:
        values = self._values(points, self.nodes)
        return values if self.axis.apart else self.fitted(values)

    def fitted(self, values: np.ndarray) -> np.ndarray:
        """Coefficients that fit values at the nodes, float64 (n, counters)."""
        return coefficients(values, self.axis.cells, self.a_cell)

    def inside(self, points: np.ndarray) -> np.ndarray:
        """The factor of K(q, .) itself, at `POINTS_A_CELL` places a cell or at every value that is kept apart."""
        axis = self.axis
        if axis.apart:
            return self._values(points, self.nodes)
        places = np.arange(axis.cells * POINTS_A_CELL) / POINTS_A_CELL
        return self._values(points, (axis.low + axis.pitch * places)[:, None])

    def at_query(self, points: np.ndarray, factor: np.ndarray) -> np.ndarray:
        """The factor of the fit to K(q, .) at the query itself, float64 (n,); it should be 1."""
        axis = self.axis
        if axis.apart:
            return np.ones(len(points))
        places = (points[:, axis.coordinate] - axis.low) / axis.pitch
        cell = np.clip(np.floor(places), 0, axis.cells - 1).astype(np.int64)
        queries = np.arange(len(points))
        return sum(factor[queries, cell + place] * bspline(places - cell + 1.0 - place) for place in range(ORDER))

    def own_counters(self, points: np.ndarray) -> np.ndarray:
        """1 at both ends of the cell that each query lies in, nowhere outside the bounds, float64 (n, counters)."""
        axis = self.axis
        places = (points[:, axis.coordinate] - axis.low) / axis.pitch
        inside = np.flatnonzero((places >= 0.0) & (places <= axis.cells))
        cell = np.clip(places[inside], 0, axis.cells - 1).astype(np.int64)
        own = np.zeros((len(points), axis.counters))
        own[inside, cell + 1] = own[inside, cell + 2] = 1.0
        return own

    def _values(self, points: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        place = slice(self.axis.coordinate, self.axis.coordinate + nodes.shape[1])
        x, y = (np.tile(self.middle, (len(values), 1)) for values in (points, nodes))
        x[:, place], y[:, place] = points[:, place], nodes
        return self.kernel.evaluate(x, y)

    def profile(self, coarse: AxisFit | None, halvings: int) -> Profile:
        """How well the axis fits the kernel, for queries around the middle of the bounds.

        `coarse`: the same on the coarse grid, where there is one. `halvings`: how often its pitch is halved to give
        this one's.
        """
        queries = self._middle_places(halvings)
        weights = self.factor(queries)
        rough, smooth = weights, weights
        if coarse is not None:
            rough = coarse.factor(queries)
            smooth = self.axis.refined(rough, halvings)
        square, mixed, refined, on_coarse = (
            float((one * other).sum(axis=1).mean())
            for one, other in ((weights, weights), (weights, smooth), (smooth, smooth), (rough, rough))
        )
        if not self.axis.apart:
            queries = self._middle_places(0)
            return Profile(square, mixed, refined, on_coarse, *self._missed(queries, self.factor(queries)))
        spread = 1.0
        if self.axis.values or self.axis.radius:
            spread = square / float(weights.sum(axis=1).mean()) ** 2
        return Profile(square, mixed, refined, on_coarse, 0.0, spread, 0.0, 1.0, float(weights.mean()))

    def _middle_places(self, halvings: int) -> np.ndarray:
        """Queries around the middle: half a cell, which the other half mirrors, or a whole one of a coarser grid.

        What a fine grid adds to a coarse one is little at some places of the coarse cell and much at others.
        """
        axis = self.axis
        if axis.categories:
            return self.middle[None]
        within = (np.arange(8) + 0.5) / 8.0 if halvings else np.array([0.0, 0.25, 0.5])
        ahead, first = 2.0**halvings * within, axis.cells // 2
        if axis.values:
            ahead, first = np.rint(min(1.0, axis.values / 2.0 ** (halvings + 2)) * ahead), axis.values // 2
        queries = np.tile(self.middle, (len(within), 1))
        queries[:, axis.coordinate] = axis.low + axis.pitch * (first + ahead)
        return queries

    def _missed(self, queries: np.ndarray, weights: np.ndarray) -> tuple[float, float, float, float, float]:
        """What the fit misses of the kernel, as the last five entries of `Profile`."""
        axis = self.axis
        places = (np.arange(axis.cells * POINTS_A_CELL) + 0.5) / POINTS_A_CELL
        truth = along(
            self.kernel, self.middle, axis.coordinate, queries[:, axis.coordinate], axis.low + axis.pitch * places
        )
        error = combined(weights, places) - truth
        whole = (truth.sum(axis=1) ** 2).mean() / POINTS_A_CELL
        return (
            float((error**2).sum(axis=1).mean() / whole),
            float((truth**2).sum(axis=1).mean() / whole),
            float(np.abs(self.at_query(queries, weights) - 1.0).mean()),
            POINTS_A_CELL / float(truth.sum(axis=1).mean()),
            float(truth.mean()),
        )


WORTH_A_THREAD = 1 << 14


@dataclass(frozen=True)
class Ruler:
    """How places along one axis become numbers of cells."""

    coordinate: int  # The (first) encoded coordinate.
    low: float
    high: float
    span: float  # How many cells, or steps between values, lie between them.
    most: int  # How many cells there are, or values.
    # Whether a place is that of the nearest value, as where there are steps, or that of the cell around it.
    to_nearest: bool = False
    categories: int = 0  # Of an axis of categories, which have a coordinate each; else 0.
    cells: np.ndarray | None = None  # The cell of each value, where cells hold several.
    nowhere: int = 0  # The cell of whoever has no value, which is NaN.


def find_cells(points: np.ndarray, rulers: Sequence[Ruler], found: np.ndarray) -> None:
    """Write the cell of every point along every axis.

    `points`: encoded, float64 (n, dimensions); what lies outside the bounds is in the outermost cell. The category is
    the one of the largest coordinate, the first of several. `rulers`: one an axis. `found`: of integers, (axes, n).
    Cells hold their lower end, and the last one both.
    """
    by_coordinate = np.ascontiguousarray(points.T)
    whole = np.array([(ruler.coordinate, ruler.most, ruler.categories, ruler.nowhere) for ruler in rulers], np.int64)
    real = np.array([(ruler.low, ruler.high, ruler.span, 0.5 * ruler.to_nearest) for ruler in rulers])
    tables = [np.zeros(0, np.int64) if ruler.cells is None else ruler.cells.astype(np.int64) for ruler in rulers]
    starts = np.cumsum([0, *map(len, tables)])
    cells = np.concatenate(tables)

    def records(first: int, last: int) -> None:
        _find_cells(by_coordinate, whole, real, starts, cells, first, last, found)

    over_ranges(len(points), records, at_least=WORTH_A_THREAD)


@njit(nogil=True, cache=True)
def _find_cells(points, whole, real, starts, cells, first, last, found):
    """found[axis, i] = the cell of point i, of those in the range; points by coordinate."""
    for axis in range(len(whole)):
        place, most, categories, nowhere = whole[axis]
        if categories > 0:
            for i in range(first, last):
                largest = 0
                for category in range(1, categories):
                    if points[place + category, i] > points[place + largest, i]:
                        largest = category
                found[axis, i] = largest
            continue
        low, high, span, shift = real[axis]
        start, width, top = starts[axis], high - low, most - 1.0
        mapped = starts[axis + 1] > start
        for i in range(first, last):
            share = (points[place, i] - low) / width * span + shift
            if share != share:  # NaN
                found[axis, i] = nowhere
                continue
            cell = np.int64(min(max(share, 0.0), top))  # clamped, so that memory is safe whatever comes
            found[axis, i] = cells[start + cell] if mapped else cell
