"""A public grid: numbers cut into equal cells between their bounds, every category a cell of its own.

Mechanisms that count, or that imitate the counts, need a finite set of possible records. The grid is that set. It is
made of public facts alone, and a record's cell is a function of that record alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from ...domain import Categorical, Domain
from ...errors import RequestError
from ...parameters import Choice, Several, Validated, Whole, parameter
from ..cell_finding import Ruler, find_cells

MAX_AXES = 64
MAX_CELLS_OF_AN_AXIS = 1 << 24
METRIC = Choice("The metric", ("l2", "l1"))
COUNT = Whole("The number of cells of an axis", 1, MAX_CELLS_OF_AN_AXIS)
COUNTS = Several("The numbers of cells", COUNT)


@dataclass(frozen=True)
class CellAxis:
    """One axis of a grid: a coordinate of numbers, or the categories of a column."""

    coordinate: int  # The (first) encoded coordinate.
    # Bounds of the coordinate; of categories, those of each of their coordinates.
    low: float
    high: float
    count: int
    categories: int  # Number of categories, each a cell; 0 for numbers.

    @property
    def coordinates(self) -> int:
        """How many of the encoded coordinates it takes."""
        return self.categories or 1

    @property
    def width(self) -> float:
        """Width of a cell of numbers, in the coordinate's unit."""
        return (self.high - self.low) / self.count

    def positions(self, places: np.ndarray) -> np.ndarray:
        """Coordinates of places along the axis, in cells from its lower end; float64 of their shape."""
        return self.low + (self.high - self.low) * (np.asarray(places, dtype=np.float64) / self.count)


@dataclass(frozen=True)
class Cells(Validated):
    """The cells of a domain; RequestError when the counts do not fit the domain, or its records are sets."""

    domain: Domain
    metric: str = parameter(METRIC)  # "l1" or "l2", in which the domain encodes categories.
    # Numbers of cells, one an axis: each coordinate of numbers, and each column of categories, in order. That of
    # categories is how many there are.
    counts: tuple[int, ...] = parameter(COUNTS)

    def _check(self) -> None:
        if not isinstance(self.domain, Domain):
            raise RequestError("Cells are made of a domain.")
        self.domain.check_coordinates()
        places = _axes(self.domain)
        if len(self.counts) != len(places):
            raise RequestError(f"The grid needs {len(places):,} numbers of cells, one an axis.")
        if any(categories and count != categories for count, (_, categories) in zip(self.counts, places, strict=True)):
            raise RequestError("Every category is a cell of its own, so a column has as many cells as categories.")

    @classmethod
    def of(cls, domain: Domain, metric: str, counts: int | Sequence[int]) -> Self:
        """The grid with so many cells a coordinate of numbers, or as many as are named; categories are added."""
        places = _axes(domain)
        numbers = sum(not categories for _, categories in places)
        if isinstance(counts, (tuple, list)):
            if len(counts) != numbers:
                raise RequestError(f"The grid needs {numbers:,} numbers of cells, one a coordinate of numbers.")
            chosen = iter(counts)
        else:
            chosen = iter([counts] * numbers)
        return cls(domain, metric, tuple(categories or next(chosen) for _, categories in places))

    @cached_property
    def axes(self) -> tuple[CellAxis, ...]:
        """The axes, in the order of the coordinates."""
        low, high = self.domain.bounds(self.metric)
        return tuple(
            CellAxis(place, float(low[place]), float(high[place]), count, categories)
            for count, (place, categories) in zip(self.counts, _axes(self.domain), strict=True)
        )

    @property
    def size(self) -> int:
        """Number of cells of the whole grid: an exact integer, however large."""
        return math.prod(self.counts)

    @cached_property
    def numeric(self) -> tuple[int, ...]:
        """The axes that are coordinates of numbers."""
        return tuple(place for place, axis in enumerate(self.axes) if not axis.categories)

    def index(self, points: np.ndarray) -> np.ndarray:
        """The cell of every point along every axis.

        Returns int64 (n, axes) in Fortran order. Cells hold their lower end, and the last one both.

        Parameters
        ----------
        points : np.ndarray
            Encoded, float64 (n, dimensions); what lies outside the bounds is in the outermost cell. The category is the
            one of the largest coordinate, the first of several.
        """
        found = np.empty((len(self.axes), len(points)), np.int64)
        rulers = [
            Ruler(axis.coordinate, axis.low, axis.high, axis.count, axis.count, categories=axis.categories)
            for axis in self.axes
        ]
        find_cells(points, rulers, found)
        return found.T

    def centres(self, axis: int) -> np.ndarray:
        """Centres of the cells of an axis of numbers, float64 (count,)."""
        return self.axes[axis].positions(np.arange(self.counts[axis]) + 0.5)

    def points(self, indices: np.ndarray) -> np.ndarray:
        """The centres of cells as encoded points.

        Returns float64 (m, dimensions) in Fortran order.

        Parameters
        ----------
        indices : np.ndarray
            int64 (m, axes), as `index` gives them.
        """
        return self._points(indices, 0.5)

    def centre_points(self) -> np.ndarray:
        """The centres of all cells as encoded points, float64 (size, dimensions); the last axis moves fastest."""
        return self.points(np.indices(self.counts).reshape(len(self.counts), -1).T)

    @cached_property
    def middle(self) -> np.ndarray:
        """The middle of the bounds, with the first of all categories, encoded, float64 (dimensions,)."""
        return self.places(np.where([axis.categories for axis in self.axes], 0.0, 0.5)[None])[0]

    def places(self, uniforms: np.ndarray) -> np.ndarray:
        """Encoded points at these shares of every axis' length, float64 (n, axes) in [0, 1).

        A category is the one whose part of the axis the share falls in.
        """
        moved = uniforms * np.array(self.counts)
        indices = np.minimum(moved.astype(np.int64), np.array(self.counts) - 1)
        return self._points(indices, moved - indices)

    def scattered(self, indices: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """Encoded points that lie anywhere in the given cells, evenly; as `points`, but for the places in the cells."""
        return self._points(indices, random.random((len(indices), len(self.axes))))

    def _points(self, indices: np.ndarray, inside: float | np.ndarray) -> np.ndarray:
        indices = np.asarray(indices)
        places = np.broadcast_to(inside, indices.shape)
        points = np.zeros((len(indices), self.domain.dimensions), order="F")
        for place, axis in enumerate(self.axes):
            if axis.categories:
                raised = axis.coordinate + indices[:, place]
                points[np.arange(len(indices)), raised] = self.domain.amplitude(self.metric)
            else:
                moved = axis.positions(indices[:, place] + places[:, place])
                points[:, axis.coordinate] = np.clip(moved, axis.low, axis.high)
        return points


def cells_of(domain: Domain, size: int | None) -> tuple[int, ...] | None:
    """The same number of cells for every coordinate of numbers; None where that is left open."""
    return None if size is None else (size,) * sum(not categories for _, categories in _axes(domain))


def _axes(domain: Domain) -> list[tuple[int, int]]:
    """The first coordinate and the number of categories of each axis, 0 for numbers.

    RequestError when there are too many axes for any grid.
    """
    if sum(1 if isinstance(column, Categorical) else column.width for column in domain.columns) > MAX_AXES:
        raise RequestError(f"A grid may have at most {MAX_AXES} axes: use fewer columns.")
    axes: list[tuple[int, int]] = []
    coordinate = 0
    for column in domain.columns:
        if isinstance(column, Categorical):
            axes.append((coordinate, column.width))
        else:
            axes += [(coordinate + place, 0) for place in range(column.width)]
        coordinate += column.width
    return axes
