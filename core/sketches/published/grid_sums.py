"""Kernel sums over the centres of all cells of a grid, and what the noise of the cells' counts makes of them.

A small grid is read cell by cell. On a larger one the kernel is taken as a sum of products of one factor an axis, which
`core.sketches.grids.query_axes` finds to within 0.00003 of a record, and the grid is summed over one axis after
another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np

from ...errors import RequestError
from ...geometry.kernels import Kernel
from ..grids.query_axes import Places, Terms, product_terms
from .grid_cells import Cells

DIRECT = 1 << 14
"""Cells of the largest grid that is read cell by cell for every query, where there is another way."""
LARGEST_DIRECT = 1 << 20
"""Cells of the largest one at all: beyond, an answer takes seconds and gigabytes."""
PAIRS = 1 << 21
"""Pairs of a query and a cell whose kernel is held in memory at once."""
BLOCK = 1 << 22
"""Numbers that an intermediate result may hold otherwise: 32 MiB."""
AT_ONCE = 1 << 14
"""Queries that are looked at together, to find out what they share."""


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
        """Weights and products of the axes whose sum is the kernel, where it is such a sum."""
        return product_terms(self.kernel)

    @property
    def _products(self) -> Terms:
        """The same where it is one, for what is only asked then."""
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

        Parameters
        ----------
        weights : np.ndarray
            float64, in the shape of the grid.
        queries : np.ndarray
            float64 (n, dimensions), encoded.
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

        Returns float64 (sides, n).

        Parameters
        ----------
        queries : np.ndarray
            float64 (n, dimensions), encoded.
        sides : tuple[int, ...]
            Cells that blocks have along every axis of numbers, each divides their numbers of cells. Categories are kept
            apart.
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
        for start in range(0, len(queries), AT_ONCE):
            yield from self._halved(queries[start : start + AT_ONCE])

    def _halved(self, queries: np.ndarray) -> Iterator[Places]:
        places = Places.of(queries, self.cells.axes)
        terms = len(self._products)
        factors = terms * max(places.distinct) * max(self.cells.counts)
        largest = max(factors, places.numbers(self.cells.counts, terms * (terms + 1) // 2))
        if largest <= BLOCK or len(queries) == 1:
            yield places
            return
        half = len(queries) // 2
        yield from self._halved(queries[:half])
        yield from self._halved(queries[half:])

    @staticmethod
    def _concatenated(parts: Iterator[np.ndarray]) -> np.ndarray:
        return np.concatenate([np.empty(0), *parts])


def _summed(values: np.ndarray, side: int) -> np.ndarray:
    """Sums of so many neighbours along the last axis."""
    return values.reshape(*values.shape[:-1], values.shape[-1] // side, side).sum(axis=-1)
