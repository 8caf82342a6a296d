"""Reading grids of shared counts through a kernel: estimates, what noise does to them, and what the grid does.

The estimate at q combines the counters with the coefficients of K(q, .) on the grid. When the kernel is a product of
one factor an axis, so are the coefficients, and everything is done axis by axis (`core.sketches.query_axes`).
Kernels of a distance are sums of such products (`core.sketches.query_axes`), and so are their coefficients.
What is left, such as a kernel of the angle, is evaluated on the whole grid for every query.

Two grids share the noise better than one. A coarse grid fits the kernel roughly, with few counters to add up; a fine
one is asked only for what the coarse fit misses, which is little and near the query's own place, so that a small share
of every record is enough for it. Both fits together are the fine grid's own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce

import numpy as np

from ..errors import RequestError
from ..geometry.kernels import Kernel
from .grid_axes import Axis, AxisFit, Profile, along_axis, heaps_of
from .query_axes import Places, product_terms
from .splines import POINTS_A_CELL, combined, fitting_points

# Grid points at which a kernel that is no product of its axes is evaluated for every query, at most if possible.
MAX_FITTED = 1 << 16
# Combinations of values at which a kernel is evaluated in less time than it takes to add up dozens of products.
MOST_WHOLE = 1 << 13
LARGEST_FITTED = 1 << 20  # As many at most: beyond, an answer takes seconds and gigabytes.
BLOCK = 1 << 22  # Numbers that an intermediate result may hold: 32 MiB.
# Numbers that the factors of all terms may have along an axis: 256 MiB. Pictures share them, so they are not split.
BLOCK_OF_FACTORS = 1 << 25
AT_ONCE = 1 << 16  # Queries that are looked at together, to find out what they share.
OVERLAP = 2.0  # Counters of an axis that are added up for the records of one cell, as the splines share them.


@dataclass(frozen=True)
class Factors:
    """Coefficients of a product of the axes, one array an axis, float64 (distinct values of the queries, counters)."""

    fine: list[np.ndarray]  # On the (fine) grid.
    coarse: list[np.ndarray] | None = None  # On the coarse one, where there is one.
    refined: list[np.ndarray] | None = None  # What the coarse fit is on the fine grid.


@dataclass(frozen=True)
class Smoothing:
    """How one grid, or a fine and a coarse one, are read through a kernel."""

    kernel: Kernel  # Of encoded points.
    axes: tuple[Axis, ...]  # Of the (fine) grid.
    middle: np.ndarray  # An encoded point in the middle of the bounds, of the first of all categories, float64 (d,).
    scales: tuple[int, ...]  # What one record adds to each grid in all, the fine one first.
    halvings: int = 0  # How often the coarse grid's pitch is halved to give the fine one's.

    @cached_property
    def coarse(self) -> Smoothing | None:
        if len(self.scales) == 1:
            return None
        return Smoothing(
            self.kernel, tuple(axis.coarser(self.halvings) for axis in self.axes), self.middle, self.scales[1:]
        )

    @cached_property
    def _points_a_cell(self) -> int:
        """Points in a cell of each axis at which the kernel is fitted."""
        if self.fast:
            return POINTS_A_CELL
        for a_cell in range(POINTS_A_CELL, 1, -1):
            if self._size_at(a_cell) <= MAX_FITTED:
                return a_cell
        return 1

    def _size_at(self, a_cell: int) -> int:
        """Points of the whole grid with so many points a cell and axis."""
        return math.prod(axis.counters if axis.apart else len(fitting_points(axis.cells, a_cell)) for axis in self.axes)

    @cached_property
    def _fits(self) -> tuple[AxisFit, ...]:
        return tuple(AxisFit(self.kernel, self.middle, axis, self._points_a_cell) for axis in self.axes)

    @cached_property
    def _grid(self) -> np.ndarray:
        """All nodes of all axes together, float64 (nodes, d)."""
        nodes = [fit.nodes for fit in self._fits]
        size = math.prod(len(values) for values in nodes)
        if size > LARGEST_FITTED:
            raise RequestError(
                f"The kernel is no product of its columns, so it would be fitted at {size:,} places for every answer, "
                f"and {LARGEST_FITTED:,} is the most: use a Gaussian or Laplacian kernel, fewer columns or a wider "
                "bandwidth."
            )
        choice = np.indices([len(values) for values in nodes]).reshape(len(nodes), -1)
        return np.hstack([values[chosen] for values, chosen in zip(nodes, choice, strict=True)])

    @cached_property
    def _terms(self) -> tuple[tuple[float, Smoothing], ...] | None:
        """Weights and readings whose sum is this one, each through a product of the axes; None where there are none."""
        if len(self.axes) == 1:
            return ((1.0, self),)
        terms = product_terms(self.kernel)
        if terms is None or (len(terms) > 1 and self.whole):
            return None
        return tuple((weight, replace(self, kernel=kernel)) for weight, kernel in terms)

    @property
    def whole(self) -> bool:
        """Whether the table holds every combination of values, and so few of them that asking for all is quickest."""
        return all(axis.apart for axis in self.axes) and math.prod(axis.counters for axis in self.axes) <= MOST_WHOLE

    @property
    def _products(self) -> tuple[tuple[float, Smoothing], ...]:
        if self._terms is None:
            raise ValueError("The kernel is no sum of products.")
        return self._terms

    @property
    def kernels(self) -> tuple[tuple[float, Kernel], ...] | None:
        """Weights and kernels whose sum the grid is read through, axis by axis; None where it is read as a whole."""
        return None if self._terms is None else tuple((weight, term.kernel) for weight, term in self._terms)

    @property
    def fast(self) -> bool:
        """Whether nothing has to be evaluated on the whole grid."""
        return self._terms is not None

    def _blocks(self, points: np.ndarray) -> Iterator[np.ndarray]:
        size = max(1, min(4096, BLOCK // len(self._grid)))
        for start in range(0, len(points), size):
            yield points[start : start + size]

    def _places(self, points: np.ndarray) -> Iterator[Places]:
        """The same, where the kernel is a sum of products of the axes."""
        terms = len(self._products) * len(self.scales)
        pairs = terms * (terms + 1) // 2
        widest = max(len(fit.nodes) + terms * fit.axis.counters for fit in self._fits) + pairs
        counters = tuple(axis.counters for axis in self.axes)

        def fits(places: Places) -> bool:
            return max(places.distinct) * widest <= BLOCK_OF_FACTORS and places.numbers(counters, pairs) <= BLOCK

        return Places.pieces(points, self.axes, AT_ONCE, fits)

    def _fitted(self, places: Places) -> list[Factors]:
        return [term._factors(places) for _, term in self._products]

    @property
    def _weights_of_terms(self) -> np.ndarray:
        return np.array([weight for weight, _ in self._products])

    def _read(self, counts: list[np.ndarray], heaps: np.ndarray, places: Places) -> tuple[np.ndarray, ...]:
        """Estimates, noise gains, and squared errors of the grid, (n,) each, in records.

        The coarse counts are given less what the fine ones say of them.
        """
        fitted = self._fitted(places)
        estimate = self._estimate(counts, places, fitted)
        gains = self._gains_of_factors(places, fitted)
        if len(fitted) > 1:
            return estimate, gains, (self.discretisation * np.maximum(estimate, 0.0)) ** 2
        ((_, term),) = self._products
        return estimate, gains, term._misfit(counts[0], heaps, places, fitted[0].fine)

    def _estimate(self, counts: list[np.ndarray], places: Places, fitted: list[Factors]) -> np.ndarray:
        estimate = np.zeros(places.count)
        for weight, factors in zip(self._weights_of_terms, fitted, strict=True):
            estimate += weight * places.sums(counts[0], factors.fine)
            if factors.coarse is not None:
                estimate += weight * places.sums(counts[1], factors.coarse)
        return estimate

    def _gains_of_factors(self, places: Places, fitted: list[Factors]) -> np.ndarray:
        """Variance of the estimates when every counter's noise has variance 1, float64 (n,)."""
        weights = self._weights_of_terms
        fine = [factors.fine for factors in fitted]
        smooth = [factors.refined for factors in fitted if factors.refined is not None]
        coarse = [factors.coarse for factors in fitted if factors.coarse is not None]
        if not coarse:
            return places.squares(weights, fine) / self.scales[0] ** 2
        details = places.squares(np.append(weights, -weights), [*fine, *smooth])
        rough = places.squares(weights, coarse)
        return details / self.scales[0] ** 2 + rough / self.scales[1] ** 2

    def _gains_of(self, weights: np.ndarray, rough: np.ndarray | None) -> np.ndarray:
        gains = (weights**2).sum(axis=1) / self.scales[0] ** 2
        return gains if rough is None else gains + (rough**2).sum(axis=1) / self.scales[1] ** 2

    def _factors(self, places: Places) -> Factors:
        fine = [fit.factor(points) for fit, points in zip(self._fits, places.values, strict=True)]
        if self.coarse is None:
            return Factors(fine)
        rough = [fit.factor(points) for fit, points in zip(self.coarse._fits, places.values, strict=True)]
        smooth = [axis.refined(factor, self.halvings) for axis, factor in zip(self.axes, rough, strict=True)]
        return Factors(fine, rough, smooth)

    def _details(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """What each grid is combined with, for a kernel that is no product, float64 (n, counters)."""
        weights = self._weights(points)
        if self.coarse is None:
            return weights, None
        rough = self.coarse._weights(points)
        smooth = rough.reshape(len(points), *(axis.counters for axis in self.coarse.axes))
        for place, axis in enumerate(self.axes, start=1):
            smooth = along_axis(partial(axis.refined, halvings=self.halvings), smooth, place)
        return weights - smooth.reshape(len(points), -1), rough

    def _weights(self, points: np.ndarray) -> np.ndarray:
        """Coefficients of K(q, .) for a kernel that is no product, float64 (n, counters)."""
        sides = [len(fit.nodes) for fit in self._fits]
        weights = self.kernel.evaluate(points, self._grid).reshape(len(points), *sides)
        for place, fit in enumerate(self._fits, start=1):
            if not fit.axis.apart:
                weights = along_axis(fit.fitted, weights, place)
        return weights.reshape(len(points), -1)

    def _misfit(self, counts: np.ndarray, heaps: np.ndarray, places: Places, factors: list[np.ndarray]) -> np.ndarray:
        """Squared error that the grid gives the answers of a product kernel, (n,), from the heaps around each query.

        Two parts. Records of a cell taken as one heap at an unknown place x: the sum over cells of (records in it)^2
        times the mean of e(q, x)^2, where e is the difference of two products, fit and kernel, so that the mean of its
        square is made of three products of means along the axes. And records that share a coordinate with the query, as
        whole numbers do: for each axis, those of the query's own layer of cells, read through the fit along the other
        axes, are all taken to miss what the fit misses at the query. (Means of the kernel over cells, in place of the
        fit, saw a tenth of a crowd at one value of four columns.) The noise in the counts hardly matters, as e is small
        beside the coefficients.
        """
        squares: list[np.ndarray] = []
        mixed: list[np.ndarray] = []
        truths: list[np.ndarray] = []
        for fit, factor, points in zip(self._fits, factors, places.values, strict=True):
            axis, truth = fit.axis, fit.inside(points)
            fitted = truth
            if not axis.apart:
                fitted = combined(factor, np.arange(axis.cells * POINTS_A_CELL) / POINTS_A_CELL)
            products = (fitted**2, fitted * truth, truth**2)
            for found, product in zip((squares, mixed, truths), products, strict=True):
                found.append(product if axis.apart else product.reshape(len(points), axis.cells, -1).mean(axis=2))
        signed = ((1.0, squares), (-2.0, mixed), (1.0, truths))
        scattered = reduce(np.add, (sign * places.sums(heaps**2, found) for sign, found in signed))
        aligned = np.zeros(places.count)
        for place, (fit, factor, points) in enumerate(zip(self._fits, factors, places.values, strict=True)):
            if not fit.axis.apart:
                layer = [*factors[:place], fit.own_counters(points), *factors[place + 1 :]]
                missed = np.abs(fit.at_query(points, factor) - 1.0)[places.which[place]]
                aligned += missed * np.maximum(places.sums(counts, layer), 0.0)
        return np.maximum(scattered, 0.0) + aligned**2

    def noise_gains(self, points: np.ndarray) -> np.ndarray:
        """The variance of an estimate whose counters' noise has variance 1, float64 (n,)."""
        points = np.asarray(points, dtype=np.float64)
        if self.fast:
            parts = [self._gains_of_factors(places, self._fitted(places)) for places in self._places(points)]
        else:
            parts = [self._gains_of(*self._details(block)) for block in self._blocks(points)]
        return np.concatenate([np.empty(0), *parts])

    def read(self, tables: list[np.ndarray], points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Estimates, noise gains, and squared errors of the grid, float64 (n,) each, in records.

        `tables`: one a grid, as `scales`, in the shape of its axes. `points`: encoded queries, float64 (n, d).
        """
        points = np.asarray(points, dtype=np.float64)
        counts = self._counts(tables)
        if self.fast:
            heaps = heaps_of(counts[0], self.axes)
            parts = [self._read(counts, heaps, places) for places in self._places(points)]
        else:
            parts = [self._read_whole(counts, block) for block in self._blocks(points)]
        if not parts:
            return np.empty(0), np.empty(0), np.empty(0)
        estimate, gains, missed = (np.concatenate([np.empty(0), *part]) for part in zip(*parts, strict=True))
        return estimate, gains, missed

    def estimates(self, several: Sequence[list[np.ndarray]], points: np.ndarray) -> np.ndarray:
        """What `read` estimates from each of several tables, float64 (tables, n), without errors, which take longest.

        `several`: tables as `read` takes them. `points`: encoded queries, float64 (n, d).
        """
        points = np.asarray(points, dtype=np.float64)
        every = [self._counts(tables) for tables in several]
        parts = [np.empty((len(several), 0))]
        if self.fast:
            for places in self._places(points):
                fitted = self._fitted(places)
                parts.append(np.array([self._estimate(counts, places, fitted) for counts in every]))
        else:
            for block in self._blocks(points):
                details = self._details(block)
                parts.append(np.array([_combined(counts, *details) for counts in every]))
        return np.concatenate(parts, axis=1)

    def _counts(self, tables: list[np.ndarray]) -> list[np.ndarray]:
        """Tables in records; where both fits are products, the coarse one less what the fine one says of it."""
        counts = [table / scale for table, scale in zip(tables, self.scales, strict=True)]
        if self.fast and self.coarse is not None:
            counts[1] -= self._coarsened(counts[0])
        return counts

    def _coarsened(self, counts: np.ndarray) -> np.ndarray:
        """The coarse grid's counts that fit the same answers as fine ones do through a coarse fit."""
        for place, axis in enumerate(self.axes):
            counts = along_axis(partial(axis.coarsened, halvings=self.halvings), counts, place)
        return counts

    def _read_whole(self, counts: list[np.ndarray], points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        weights, rough = self._details(points)
        estimate = _combined(counts, weights, rough)
        return estimate, self._gains_of(weights, rough), (self.discretisation * np.maximum(estimate, 0.0)) ** 2

    @cached_property
    def discretisation(self) -> float:
        """Standard error that the grid gives an answer among evenly spread records, relative to it.

        What a record at x is answered wrongly, e(q, x), has mean 0 over places of the record. The records of a cell are
        taken to lie in one heap at an unknown place, the worst there is; heaps in different cells are independent. With
        h the pitch and integrals along each axis, the axis contributes h * (integral of e^2) / (integral of K)^2, times
        h * (integral of K^2) / (integral of K)^2 for every other axis. The records of the query's own layer of cells
        are taken to share its coordinate, as whole numbers do, and there a kernel with a peak is missed most. `OVERLAP`
        is as in `heaps_of`.
        """
        numeric = [profile for axis, profile in zip(self.axes, self._profiles, strict=True) if not axis.apart]
        spread = math.prod(profile.spread for profile in self._profiles)
        scattered = sum(profile.misfit / profile.spread for profile in numeric) * spread * OVERLAP ** (2 * len(numeric))
        aligned = OVERLAP * sum(profile.peak * profile.share for profile in numeric)
        return math.sqrt(scattered + aligned**2)

    def crowded(self, share: float) -> float:
        """What an answer misses, relative to the number of records, at a value that such a share of them has.

        Every column has such a value, each its own way: a whole number, a round sum of money, a zero. A kernel with a
        peak is missed there by the peak's own misfit, however small the grid's error is everywhere else.
        """
        near = [max(share, profile.evenly) for profile in self._profiles]
        missed = [profile.peak / one for profile, one in zip(self._profiles, near, strict=True)]
        return share * sum(missed) * math.prod(near)

    @cached_property
    def _profiles(self) -> tuple[Profile, ...]:
        coarse: tuple[AxisFit | None, ...] = (None,) * len(self.axes) if self.coarse is None else self.coarse._fits
        return tuple(fit.profile(rough, self.halvings) for fit, rough in zip(self._fits, coarse, strict=True))

    @property
    def evenly(self) -> float:
        """Average closeness to the middle of records that are spread evenly over the bounds."""
        return math.prod(profile.evenly for profile in self._profiles)

    @property
    def gains_along_axes(self) -> tuple[float, ...]:
        """Sums of squared coefficients of each grid, in the middle, if the kernel were the product of its profiles."""
        square, mixed, smooth, rough = (
            math.prod(getattr(profile, name) for profile in self._profiles)
            for name in ("square", "mixed", "refined", "coarse")
        )
        return (square,) if self.coarse is None else (max(square - 2.0 * mixed + smooth, 0.0), rough)


def _combined(counts: list[np.ndarray], weights: np.ndarray, rough: np.ndarray | None) -> np.ndarray:
    estimate = weights @ counts[0].ravel()
    return estimate if rough is None else estimate + rough @ counts[1].ravel()
