"""What mechanisms share that end in counts of the cells of a public grid: reading kernel sums off them.

The estimate at q is the sum over cells of count times k(centre, q), as if every record lay at its cell's centre: the
weighted synthetic data of the RACE paper's baseline (CCS 2021, section 5.1). Noise makes some counts negative. They
stay as they are, as that keeps the noise without bias and its variance known; drawing points sets them to zero.

How many cells a grid should have: those with the least expected error of a typical answer, from public facts alone.

Fewer cells add up less noise, and move records further to their centres. A typical answer is taken to be ten
times that of records spread evenly over the bounds, and the records of a cell to lie in one heap at an unknown place in
it.

Kernel sums over the centres of all cells of a grid, and what the noise of the cells' counts makes of them.

A small grid is read cell by cell. On a larger one the kernel is taken as a sum of products of one factor an axis, which
`core.sketches.query_axes` finds to within 0.00003 of a record, and the grid is summed over one axis after
another.
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import takewhile
from typing import ClassVar, TypeVar

import numpy as np

from ...domain import Domain
from ...errors import RequestError
from ...geometry.kernels import Kernel
from ...geometry.uniforms import PublicRandom
from ...privacy.budget import Budget
from ...sketches.answers import Answers
from ...sketches.grid_axes import along, is_product_of_columns
from ...sketches.histogram_sizes import reach
from ...sketches.linear import KernelSketch, least_error
from ...sketches.query_axes import Places, Terms, product_terms
from .grid_cells import Cells

DIRECT = 1 << 14  # Cells of the largest grid that is read cell by cell for every query, where there is another way.
LARGEST_DIRECT = 1 << 20  # Cells of the largest one at all: beyond, an answer takes seconds and gigabytes.
PAIRS = 1 << 21  # Pairs of a query and a cell whose kernel is held in memory at once.
BLOCK = 1 << 22  # Numbers that an intermediate result may hold otherwise: 32 MiB.
AT_ONCE = 1 << 14  # Queries that are looked at together, to find out what they share.
TYPICAL_CROWDING = 10.0  # A typical answer is taken to be so many times that of records spread evenly over the bounds.


@dataclass(frozen=True)
class GridSums:
    """Sums of a kernel over the cells of a grid.

    RequestError when the grid is too large to be read, as the kernel is no sum of products of its axes.
    """

    cells: Cells
    kernel: Kernel  # Of encoded points.

    def __post_init__(self) -> None:
        if len(self.cells.axes) > 1 and self.cells.size > LARGEST_DIRECT and self._terms is None:
            raise RequestError(
                f"The kernel is no product of its columns, so it would be evaluated at {self.cells.size:,} cells for "
                f"every answer, and {LARGEST_DIRECT:,} is the most: use a Gaussian or Laplacian kernel, or fewer cells."
            )

    @property
    def most_bytes(self) -> int:
        """Memory that an answer takes at most, besides the counts: known without looking at the kernel."""
        together = self.cells.size if len(self.cells.axes) == 1 or self.cells.size <= LARGEST_DIRECT else 0
        return 8 * (together * self.cells.domain.dimensions + 8 * max(PAIRS, together, BLOCK))

    @cached_property
    def _terms(self) -> Terms | None:
        return product_terms(self.kernel)

    @property
    def _products(self) -> Terms:
        if self._terms is None:
            raise ValueError("The kernel is no sum of products.")
        return self._terms

    @property
    def _direct(self) -> bool:
        return len(self.cells.axes) == 1 or self.cells.size <= DIRECT or self._terms is None

    @cached_property
    def _centres(self) -> np.ndarray:
        return self.cells.centre_points()

    def sums(self, weights: np.ndarray, queries: np.ndarray) -> np.ndarray:
        """Sums over cells of weight times the kernel between centre and query, float64 (n,).

        `weights`: float64, in the shape of the grid. `queries`: float64 (n, dimensions), encoded.
        """
        if self._direct:
            flat = weights.reshape(-1)
            return self._concatenated(self._closeness(some) @ flat for some in self._blocks(queries))
        return self._concatenated(
            reduce(
                np.add,
                (weight * places.sums(weights, self._factors(kernel, places)) for weight, kernel in self._products),
            )
            for places in self._places(queries)
        )

    def squares(self, queries: np.ndarray, sides: tuple[int, ...] = (1,)) -> np.ndarray:
        """Sums over blocks of cells of the square of the kernel's sum in the block.

        Returns float64 (sides, n). `queries`: float64 (n, dimensions), encoded. `sides`: cells that blocks have along
        every axis of numbers, each divides their numbers of cells. Categories are kept apart.
        """
        if self._direct:
            blocks = map(self._closeness, self._blocks(queries))
            parts = [[self._squared(closeness, side) for side in sides] for closeness in blocks]
        else:
            parts = [self._squares_of_products(places, sides) for places in self._places(queries)]
        return np.concatenate([np.empty((len(sides), 0)), *parts], axis=1)

    def _squared(self, closeness: np.ndarray, side: int) -> np.ndarray:
        sums = closeness.reshape(len(closeness), *self.cells.counts)
        for place, axis in enumerate(self.cells.axes, start=1):
            if not axis.categories and side > 1:
                sums = np.moveaxis(_summed(np.moveaxis(sums, place, -1), side), -1, place)
        flat = sums.reshape(len(sums), -1)
        return np.einsum("nm,nm->n", flat, flat)

    def _squares_of_products(self, places: Places, sides: tuple[int, ...]) -> list[np.ndarray]:
        weights = np.array([weight for weight, _ in self._products])
        factors = [self._factors(kernel, places) for _, kernel in self._products]
        axes = self.cells.axes
        return [
            places.squares(
                weights,
                [
                    [f if axis.categories else _summed(f, side) for f, axis in zip(term, axes, strict=True)]
                    for term in factors
                ],
            )
            for side in sides
        ]

    def _closeness(self, queries: np.ndarray) -> np.ndarray:
        return self.kernel.evaluate(queries, self._centres)

    def _factors(self, kernel: Kernel, places: Places) -> list[np.ndarray]:
        """One factor an axis of a product, float64 (distinct values of the queries, cells)."""
        factors = []
        for place, (axis, values) in enumerate(zip(self.cells.axes, places.values, strict=True)):
            mine = slice(axis.coordinate, axis.coordinate + (axis.categories or 1))
            along = np.zeros((axis.count, len(self.cells.counts)), np.int64)
            along[:, place] = np.arange(axis.count)
            # All coordinates but the axis' own are the same, so the other factors are 1.
            asked = np.tile(self.cells.middle, (len(values), 1))
            kept = asked[:1].repeat(axis.count, axis=0)
            asked[:, mine], kept[:, mine] = values[:, mine], self.cells.points(along)[:, mine]
            factors.append(kernel.evaluate(asked, kept))
        return factors

    def _blocks(self, queries: np.ndarray) -> Iterator[np.ndarray]:
        size = max(1, PAIRS // self.cells.size)
        for start in range(0, len(queries), size):
            yield queries[start : start + size]

    def _places(self, queries: np.ndarray) -> Iterator[Places]:
        terms, counts = len(self._products), self.cells.counts

        def fits(places: Places) -> bool:
            factors = terms * max(places.distinct) * max(counts)
            return max(factors, places.numbers(counts, terms * (terms + 1) // 2)) <= BLOCK

        return Places.pieces(queries, self.cells.axes, AT_ONCE, fits)

    @staticmethod
    def _concatenated(parts: Iterator[np.ndarray]) -> np.ndarray:
        return np.concatenate([np.empty(0), *parts])


def _summed(values: np.ndarray, side: int) -> np.ndarray:
    """Sums of so many neighbours along the last axis."""
    return values.reshape(*values.shape[:-1], values.shape[-1] // side, side).sum(axis=-1)


MAX_COUNTERS = 1 << 26
MAX_AXES = 16
PLACES = 64  # Public random places inside the bounds at which average noise is computed.
_PLACES = 41  # Label of their stream of public randomness.


class GridSketch(KernelSketch):
    """A sketch that tells how many records each cell of a grid has. Subclasses are frozen dataclasses with a kernel."""

    drawn_from: ClassVar[str] = "cells"

    def _check(self) -> None:
        super()._check()
        check_axes(self.domain, self.kernel, self.described)

    @property
    @abstractmethod
    def grid(self) -> Cells:
        """The cells; RequestError before their number is chosen."""

    @abstractmethod
    def cell_counts(self, table: np.ndarray, records: float, counter_variance: float) -> np.ndarray:
        """How many records each cell has, as far as a release knows it; float64 in the shape of the grid.

        `table`, `records`, `counter_variance`: as for `answer`.
        """

    def drawn(
        self, table: np.ndarray, records: float, counter_variance: float, n: int, random: np.random.Generator
    ) -> np.ndarray:
        """Encoded points (n, dimensions): a cell by its count, zero where noise made it negative, then any place in it.

        RequestError where no count is above zero.
        """
        weights = np.maximum(self.cell_counts(table, records, counter_variance), 0.0).reshape(-1)
        if not weights.any():
            raise RequestError("No released count is above zero, as noise drowns them, so nothing can be drawn.")
        cells = random.choice(self.grid.size, n, p=weights / weights.sum())
        return self.grid.scattered(np.column_stack(np.unravel_index(cells, self.grid.counts)), random)

    @cached_property
    def reading(self) -> GridSums:
        return GridSums(self.grid, self.point_kernel)


class CountedGrid(GridSketch):
    """A sketch whose counts of cells are linear in its table, so that their noise is known exactly."""

    @abstractmethod
    def _gains(self, queries: np.ndarray) -> np.ndarray:
        """Variance of the estimates when every counter's noise has variance 1, float64 (n,)."""

    def answer(
        self, table: np.ndarray, records: float, points: np.ndarray, counter_variance: float, level: float
    ) -> Answers:
        """The noise part of the error is exact; that of moving records to centres is read off the counts."""
        points = np.asarray(points, dtype=np.float64)
        estimate, moved = self._read(self.cell_counts(table, records, counter_variance), points)
        error = np.sqrt(self.noise_variance(counter_variance, points) + moved)
        return Answers.of_errors(estimate, error, records, level)

    def _read(self, counts: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Estimates, and squared errors from moving records to the centres of their cells.

        All records of the grid moved by half a cell one way or the other give the same answers as a query moved the
        other way. The differences say how much it matters where in its cell a record lies: with first and second
        differences D and S along an axis, a common offset that is uniform in the cell has a standard deviation of
        D / sqrt(12), and one that is uniform for each record a mean of S / 6.
        """
        axes = [self.grid.axes[place] for place in self.grid.numeric]
        shifts = np.zeros((2 * len(axes) + 1, points.shape[1]))
        for place, axis in enumerate(axes):
            shifts[2 * place + 1, axis.coordinate] = axis.width / 2.0
            shifts[2 * place + 2, axis.coordinate] = -axis.width / 2.0
        queries = (points + shifts[:, None]).reshape(-1, points.shape[1])
        estimate, *sides = self.reading.sums(counts, queries).reshape(len(shifts), -1)
        squares = np.zeros(len(points))
        for up, down in zip(sides[::2], sides[1::2], strict=True):
            squares += (up - down) ** 2 / 12.0 + ((up + down - 2.0 * estimate) / 6.0) ** 2
        return estimate, squares

    def noise_variance(self, counter_variance: float, points: np.ndarray | None = None) -> float | np.ndarray:
        if points is None:
            uniforms = PublicRandom(0, _PLACES).uniforms(PLACES, len(self.grid.axes))
            return float(self._gains(self.grid.places(uniforms)).mean()) * counter_variance
        return self._gains(points) * counter_variance


def check_axes(domain: Domain, kernel: Kernel, what: str) -> None:
    if len(Cells.of(domain, kernel.metric, 1).axes) > MAX_AXES:
        raise RequestError(f"A {what} may have at most {MAX_AXES} coordinates, as its cells are all combinations.")


Sized = TypeVar("Sized", bound=GridSketch)
MOST_CELLS = 1 << 22
# Cells of the largest grid that is chosen, and of one whose kernel is no single product of its columns.
MOST_CELLS_OF_TERMS = 1 << 18
# Widths of cells that are tried, in reaches of the kernel.
PITCHES = tuple(2.0 ** (-step / 2) for step in range(-4, 13))
TOO_FAR = 4.0  # Finer grids are not tried when the squared error of one is so many times the least.
STEPS = 8  # Places in a cell at which the kernel is compared with its centre's.
OFFSETS = (0.5, 0.25, 0.0)  # Places of a query in its cell, from its lower end.


def best_cells(sketch: Sized, sized: Callable[[tuple[int, ...]], Sized], budget: Budget, records: float) -> Sized:
    """The sketch with the numbers of cells, one a coordinate of numbers, that suit the budget.

    RequestError when even the coarsest grid is too large. `sketch`: whose cells are not looked at. `sized`: the sketch
    with given numbers of cells. `records`: A public guess of their number.
    """
    coarsest = Cells.of(sketch.domain, sketch.metric, 1)
    most = MOST_CELLS if is_product_of_columns(sketch.kernel) else MOST_CELLS_OF_TERMS
    reaches = reaches_of(sketch.point_kernel, coarsest)
    spans = [coarsest.axes[place].high - coarsest.axes[place].low for place in coarsest.numeric]

    def counts(pitch: float) -> tuple[int, ...]:
        return tuple(max(1, math.ceil(span / (pitch * length))) for span, length in zip(spans, reaches, strict=True))

    first, *finer = dict.fromkeys(map(counts, PITCHES))
    offered = (first, *takewhile(lambda cells: math.prod(cells) * coarsest.size <= most, finer))
    return least_error(map(sized, offered), lambda one: expected_error(one, budget, records), TOO_FAR)


def reaches_of(kernel: Kernel, cells: Cells) -> tuple[float, ...]:
    """How far the kernel reaches along each axis of numbers; see `reach`. RequestError where that is too short."""
    axes = [cells.axes[place] for place in cells.numeric]
    return tuple(reach(kernel, cells.middle, axis.coordinate, axis.low, axis.high) for axis in axes)


def expected_error(sketch: GridSketch, budget: Budget, records: float) -> float:
    """Expected squared error of a typical answer, from noise and from moving records to the centres of their cells."""
    moved, evenly = discretisation(sketch.point_kernel, sketch.grid)
    typical = records * min(1.0, TYPICAL_CROWDING * evenly)
    gain = float(np.asarray(sketch.noise_variance(1.0, sketch.grid.middle[None]))[0])
    return sketch.counter_noise(budget).variance * gain + (moved * typical) ** 2


def discretisation(kernel: Kernel, cells: Cells) -> tuple[float, float]:
    """Standard error that cells give an answer among evenly spread records, relative to it; and their closeness.

    Returns the relative error, and the average of the kernel over the bounds.

    With the width h of the cells along an axis and e the difference between the kernel and its value at the centre, an
    axis contributes h (integral of e^2) / (integral of K)^2, times h (integral of K^2) / (integral of K)^2 for every
    other axis: heaps in different cells are independent, and K is taken to be the product of its profiles.
    """
    ratios, spread, evenly = [], 1.0, 1.0
    for axis in cells.axes:
        if axis.categories:
            evenly /= axis.count  # what other categories add is little, and a guess is all there is
            continue
        places = (np.arange(axis.count * STEPS) + 0.5) / STEPS
        queries = axis.positions(axis.count // 2 + np.array(OFFSETS))
        truth = along(kernel, cells.middle, axis.coordinate, queries, axis.positions(places))
        centre = along(kernel, cells.middle, axis.coordinate, queries, axis.positions(np.floor(places) + 0.5))
        whole = (truth.sum(axis=1) ** 2).mean() / STEPS
        here = (truth**2).sum(axis=1).mean() / whole
        ratios.append(((centre - truth) ** 2).sum(axis=1).mean() / whole / here)
        spread *= here
        evenly *= truth.mean()
    return math.sqrt(sum(ratios) * spread), evenly
