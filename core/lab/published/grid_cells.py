"""A public grid: numbers cut into equal cells between their bounds, every category a cell of its own.

Mechanisms that count, or that imitate the counts, need a finite set of possible records. The grid is that set. It is
made of public facts alone, and a record's cell is a function of that record alone.

Counts of several small tables at once: which cells of some axes the records fall in.

A clique is a set of axes, and its marginal says how many records there are in each combination of their cells. Methods
that make synthetic data measure a few marginals and imitate them (McKenna, Miklau, Sheldon 2021); noise is drawn for
the marginals of all cliques together.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import ClassVar, Self

import numpy as np

from ...domain import Categorical, Domain
from ...errors import RequestError
from ...formatting.numbers import count
from ...privacy.budget import Neighbours, Sensitivity
from ...runtime.compiled_code import njit
from ...runtime.parameters import Choice, Several, Validated, Whole, parameter
from ...sketches.answers import Answers
from ...sketches.grid_axes import Ruler, find_cells
from ...sketches.linear import LinearSketch
from ...sketches.mechanism_spec import MechanismSpec

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
        return self.categories or 1

    @property
    def width(self) -> float:
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
        return tuple(place for place, axis in enumerate(self.axes) if not axis.categories)

    def index(self, points: np.ndarray) -> np.ndarray:
        """The cell of every point along every axis.

        Returns int64 (n, axes) in Fortran order. Cells hold their lower end, and the last one both. `points`: encoded,
        float64 (n, dimensions); what lies outside the bounds is in the outermost cell. The category is the one of the
        largest coordinate, the first of several.
        """
        found = np.empty((len(self.axes), len(points)), np.int64)
        rulers = [
            Ruler(axis.coordinate, axis.low, axis.high, axis.count, axis.count, categories=axis.categories)
            for axis in self.axes
        ]
        find_cells(points, rulers, found)
        return found.T

    def centres(self, axis: int) -> np.ndarray:
        return self.axes[axis].positions(np.arange(self.counts[axis]) + 0.5)

    def points(self, indices: np.ndarray) -> np.ndarray:
        """The centres of cells as encoded points.

        Returns float64 (m, dimensions) in Fortran order. `indices`: int64 (m, axes), as `index` gives them.
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


MAX_COUNTERS = 1 << 26
MAX_CLIQUES = 10_000
_CLIQUE = Several("The axes of a marginal", Whole("The axis of a marginal", 0, MAX_AXES - 1), 1, MAX_AXES)
BLOCK = 1 << 16  # Records whose cells are held in memory at once.


@dataclass(frozen=True)
class Marginals(LinearSketch):
    """How many records there are in each cell of several marginals of one public grid.

    It answers how alike the records are to a query: the share of cliques in which both are in the same cell.
    RequestError when the counts do not fit the domain, a clique is no set of axes, or the tables would be too large.
    """

    domain: Domain
    norm: str = parameter(METRIC)  # "l1" or "l2", the metric in which the domain encodes categories.
    counts: tuple[int, ...] = parameter(COUNTS)  # Numbers of cells, one an axis; see `Cells`.
    # The axes of each marginal, in increasing order.
    cliques: tuple[tuple[int, ...], ...] = parameter(Several("The marginals", _CLIQUE, 1, MAX_CLIQUES))
    name: ClassVar[str] = "marginals"
    described: ClassVar[str] = "set of marginals"

    def _check(self) -> None:
        super()._check()
        _ = self.cells  # refuses counts that are not of the axes
        for clique in self.cliques:
            if clique[-1] >= len(self.counts) or any(later <= axis for axis, later in pairwise(clique)):
                raise RequestError("The axes of a marginal must be different, in increasing order, and ones there are.")
        if self.shape[0] > MAX_COUNTERS:
            raise RequestError(
                f"The marginals have {self.shape[0]:,} cells, and the most is {MAX_COUNTERS:,}: take fewer axes at a "
                "time, or fewer cells."
            )

    @cached_property
    def cells(self) -> Cells:
        return Cells(self.domain, self.norm, self.counts)

    @property
    def metric(self) -> str:
        return self.norm

    @cached_property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(self.counts[axis] for axis in clique) for clique in self.cliques)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        return tuple(map(math.prod, self.shapes))

    @cached_property
    def shape(self) -> tuple[int]:
        """One marginal after the other, the last axis of each moving fastest."""
        return (sum(self.sizes),)

    def marginals(self, table: np.ndarray) -> list[np.ndarray]:
        """The parts of a table that are each clique's, in its shape: no copies."""
        ends = np.cumsum(self.sizes).tolist()
        return [
            table[end - size : end].reshape(shape)
            for end, size, shape in zip(ends, self.sizes, self.shapes, strict=True)
        ]

    @property
    def setup_bytes(self) -> int:
        return 8 * (BLOCK + 1) * len(self.counts)

    def add(self, table: np.ndarray, points: np.ndarray) -> None:
        for start in range(0, len(points), BLOCK):
            found = self.cells.index(points[start : start + BLOCK])
            for marginal, clique in zip(self.marginals(table), self.cliques, strict=True):
                strides = [math.prod(marginal.shape[place + 1 :]) for place in range(len(clique))]
                _count(found.T, np.array(clique), np.array(strides), marginal.reshape(-1))

    def record_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """A record adds 1 to a single counter of each of K marginals, which are disjoint parts of the table.

        Added or removed, it changes K counters by 1. Replaced, it leaves a cell of a marginal and enters another: 2 K
        counters, or fewer by 2 for each marginal of a single cell, where nobody moves; but all K of them notice a
        record that is left out. Records in opposite corners reach the bound.
        """
        cliques, movable = len(self.cliques), sum(size > 1 for size in self.sizes)
        if neighbours is Neighbours.ADD_REMOVE:
            return Sensitivity(cliques, cliques, parts=cliques, unit_shifts=True)
        moved = max(2 * movable, cliques)
        return Sensitivity(moved, moved, parts=cliques if movable == cliques else 1, unit_shifts=True)

    def exact(self, queries: np.ndarray, records: np.ndarray) -> np.ndarray:
        asked, kept = self.cells.index(queries), self.cells.index(records)
        sums = np.zeros(len(queries))
        for clique in self.cliques:
            sums += (asked[:, None, clique] == kept[None, :, clique]).all(axis=2).sum(axis=1)
        return sums / len(self.cliques)

    def answer(
        self, table: np.ndarray, records: float, points: np.ndarray, counter_variance: float, level: float
    ) -> Answers:
        found = self.cells.index(points)
        sums = np.zeros(len(points))
        for marginal, clique in zip(self.marginals(table), self.cliques, strict=True):
            sums += marginal[tuple(found[:, axis] for axis in clique)]
        error = np.sqrt(self.noise_variance(counter_variance, points))
        return Answers.of_errors(sums / len(self.cliques), error, records, level)

    def noise_variance(self, counter_variance: float, points: np.ndarray | None = None) -> float | np.ndarray:
        variance = counter_variance / len(self.cliques)
        return variance if points is None else np.full(len(points), variance)

    def total(self, table: np.ndarray) -> float:
        """The mean of the marginals' sums, weighted by one over how many counters each adds up, which is best."""
        weights = 1.0 / np.array(self.sizes)
        sums = [marginal.sum(dtype=np.float64) for marginal in self.marginals(table)]
        return float(np.average(sums, weights=weights))

    def total_variance(self, counter_variance: float) -> float:
        return counter_variance / sum(1.0 / size for size in self.sizes)


def tables_moved(tables: int, domain: Domain, neighbours: Neighbours) -> Sensitivity:
    """How far a person moves so many marginals, whichever they are: a record is in one cell of each, and leaves it."""
    moved = tables if neighbours is Neighbours.ADD_REMOVE else 2 * tables
    return Sensitivity(moved, moved, parts=tables, unit_shifts=True).scaled(domain.unit.records)


@njit(nogil=True, cache=True)
def _count(found, clique, stride, counters):
    """Add 1 to the counter of every record's cell; found by axis, int64 (axes, n)."""
    for i in range(found.shape[1]):
        place = 0
        for a in range(len(clique)):
            place += found[clique[a], i] * stride[a]
        counters[place] += 1


CARD = MechanismSpec(
    "marginals",
    "Marginal tables",
    "Barak et al. 2007",
    "People are counted with noise in the cells of a few small tables, each of some of the columns.",
    sketch=Marginals,
    command=False,
    holds=lambda sketch: f"{count(len(sketch.cliques), 'table')} of {count(sketch.shape[0], 'counter')} in all",
    measure=lambda sketch: "the share of the counted tables in which two records are in the same cell",
    warm=lambda: (Marginals(Domain.of(x=(0, 1), y=(0, 1)), "l2", (2, 2), ((0, 1),)),),
)
