"""A tree of noisy counts made consistent by least squares (Hay, Rastogi, Miklau, Suciu, VLDB 2010, section 4).

Every node of a complete tree over the cells counts the records below it, all with equal noise. A count below many cells
is then known much better than the sum of theirs, and the tree of consistent counts that is closest to the noisy ones,
where every node is the sum of its children, is the best linear unbiased estimate of all of them (Theorem 4). Its leaves
are read like the cells of a flat histogram.

With several columns the tree is the quadtree's generalisation: a node is a box, and its children are its b^d parts. The
cells of every coordinate are b^L, L levels below the root; categories are kept apart, each combination with a tree.

Answers are linear in the table. Let T be the 0/1 matrix of nodes by leaves, and P_j the projection that averages over
the B_j = b^(dj) leaves below a node j levels above them. The columns of T sum up boxes, so T'T = sum_l B_l P_l, and as
P_l = D_l + ... + D_L for the details D_j = P_j - P_(j+1) (with D_L = P_L), which are projections orthogonal to each
other, T'T = sum_j S_j D_j with S_j = B_0 + ... + B_j. An answer k'x of least squares has variance k'(T'T)^-1 k times
that of a counter, which is sum_j |D_j k|^2 / S_j, known from the kernel's sums over boxes alone.

A noisy histogram, whose bin centres are the data: the RACE paper's baseline (CCS 2021, section 5.1).

Every cell of a public grid counts its records and gets noise of its own (Dwork, McSherry, Nissim, Smith 2006, example
3: disjoint cells share one budget). Noise grows with the number of cells that the kernel reaches, and the error of the
cells' width with their size, so there is a best number of cells; in more than a few dimensions there are none left.

`core.sketches.histogram` is what becomes of it when records are shared between cells and the kernel is undone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile
from typing import ClassVar

import numpy as np

from ...domain import Categorical, Domain
from ...errors import RequestError
from ...formatting.numbers import count
from ...geometry.kernels import KERNEL, Kernel
from ...privacy.budget import Budget, Neighbours, Sensitivity
from ...runtime.parameters import Resolved, Whole, parameter
from ...sketches.linear import least_error
from ...sketches.mechanism_spec import MechanismSpec, sides
from .grid_cells import COUNTS, Cells, Marginals, cells_of
from .grid_sketch import MAX_COUNTERS, MOST_CELLS_OF_TERMS, TOO_FAR, CountedGrid, best_cells, expected_error

MAX_LEVELS, MAX_BRANCHES = 24, 64


@dataclass(frozen=True)
class HierarchicalHistogram(CountedGrid):
    """Noisy counts of all nodes of a tree over a grid, read through consistent leaves.

    RequestError when a parameter is out of range or the table would be too large.
    """

    domain: Domain
    kernel: Kernel = parameter(KERNEL)  # Any kernel of places.
    # Below the root; a coordinate of numbers has branches^levels cells. None leaves the choice to `sized_for`.
    levels: Resolved[int] = parameter(
        Whole("The number of levels of a tree", 1, MAX_LEVELS), None, settled="how many levels it has"
    )
    # Parts that a level cuts every coordinate into, two as in the paper's experiments.
    branches: int = parameter(Whole("The number of branches", 2, MAX_BRANCHES), 2)
    name: ClassVar[str] = "hierarchical-histogram"
    described: ClassVar[str] = "hierarchical histogram"

    def _check(self) -> None:
        super()._check()
        if all(isinstance(column, Categorical) for column in self.domain.columns):
            raise RequestError("A tree needs a column of numbers to cut into parts; a flat histogram needs none.")
        if self.levels is None:
            return
        if self.branches**self.levels > MAX_COUNTERS or self.shape[0] > MAX_COUNTERS:
            raise RequestError(
                f"The tree has more than {MAX_COUNTERS:,} nodes, which is the most that a hierarchical histogram may "
                "have: use fewer levels or columns."
            )
        _ = self.reading  # refuses kernels that cannot be read on so many cells

    @property
    def depth(self) -> int:
        return int(self.given("levels", "number of levels"))

    def sized_for(self, budget: Budget, records: float) -> HierarchicalHistogram:
        """With the levels of the least expected error of a typical answer; see `cell_sizes`."""
        if self.sized:
            return self

        def fits(levels: int) -> bool:
            return Cells.of(self.domain, self.metric, self.branches**levels).size <= MOST_CELLS_OF_TERMS

        offered = (1, *takewhile(fits, range(2, MAX_LEVELS + 1)))
        sizes = (replace(self, levels=levels) for levels in offered)
        return least_error(sizes, lambda one: expected_error(one, budget, records), TOO_FAR)

    @cached_property
    def grid(self) -> Cells:
        return self._grids[0]

    @cached_property
    def _grids(self) -> tuple[Cells, ...]:
        """The nodes of each level, the leaves first."""
        return tuple(Cells.of(self.domain, self.metric, self.branches**height) for height in range(self.depth, -1, -1))

    @property
    def shape(self) -> tuple[int]:
        """The nodes of one level after the other, the leaves first."""
        return (sum(nodes.size for nodes in self._grids),)

    @cached_property
    def _leaves(self) -> Marginals:
        """The marginal of all axes, which is how a record is counted in the leaves."""
        return Marginals(self.domain, self.metric, self.grid.counts, (tuple(range(len(self.grid.counts))),))

    @property
    def setup_bytes(self) -> int:
        return self._leaves.setup_bytes + self.reading.most_bytes + 3 * 8 * self.shape[0]

    def add(self, table: np.ndarray, points: np.ndarray) -> None:
        """Whole numbers add up to the same in any order, so the leaves of a batch are counted before their parents."""
        counts = self._leaves.zeros()
        self._leaves.add(counts, points)
        level = counts.reshape(self.grid.counts)
        leaves, *above = self.levels_of(table)
        leaves += level
        for nodes in above:
            level = self._gathered(level)
            nodes += level

    def levels_of(self, table: np.ndarray) -> list[np.ndarray]:
        """The parts of a table that are each level's, in the shape of its boxes, the leaves first: no copies."""
        ends = np.cumsum([nodes.size for nodes in self._grids]).tolist()
        return [
            table[end - nodes.size : end].reshape(nodes.counts) for end, nodes in zip(ends, self._grids, strict=True)
        ]

    def record_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """A record is in one node a level: L + 1 counters change by 1 when it is added or removed (Proposition 4).

        Replaced, it leaves a node and enters another on each of L levels, and stays below its root unless the category
        changes: 2 L counters, or 2 (L + 1) where there are categories; no fewer than the L + 1 of a record that is left
        out. Records in opposite corners, of different categories, reach the bound.
        """
        movable = sum(nodes.size > 1 for nodes in self._grids)
        levels = len(self._grids)
        if neighbours is Neighbours.ADD_REMOVE:
            return Sensitivity(levels, levels, parts=levels, unit_shifts=True)
        moved = max(2 * movable, levels)
        return Sensitivity(moved, moved, parts=movable if moved == 2 * movable else 1, unit_shifts=True)

    def cell_counts(self, table: np.ndarray, records: float, counter_variance: float) -> np.ndarray:
        return self._consistent(table)

    def _consistent(self, table: np.ndarray) -> np.ndarray:
        """The leaves of the closest consistent tree, in two passes (Theorem 3).

        Upwards, z of a node is the best estimate from its own subtree: of its count, and of the sum of its children's
        z, weighted by one over their variances. Downwards, what a parent knows better is shared out evenly.
        """
        levels = [counts.astype(np.float64) for counts in self.levels_of(table)]
        best = [levels[0]]
        for height, counts in enumerate(levels[1:], start=2):
            own = self._share_of_own(height)
            best.append(own * counts + (1.0 - own) * self._gathered(best[-1]))
        consistent = best.pop()
        while best:
            below = best.pop()
            consistent = below + self._spread(consistent - self._gathered(below)) / self._children
        return consistent

    @property
    def _children(self) -> int:
        return self.branches ** len(self.grid.numeric)

    def _share_of_own(self, height: int) -> float:
        """Weight of a node's own count in z, at a height of 1 for leaves: (k^l - k^(l-1)) / (k^l - 1)."""
        k = float(self._children)
        return (1.0 - 1.0 / k) / (1.0 - k**-height)

    def _gathered(self, counts: np.ndarray) -> np.ndarray:
        """Sums over the children of every node, which lie side by side along each axis of numbers."""
        for axis in self.grid.numeric:
            shape = counts.shape
            split = (*shape[:axis], shape[axis] // self.branches, self.branches, *shape[axis + 1 :])
            counts = counts.reshape(split).sum(axis=axis + 1)
        return counts

    def _spread(self, counts: np.ndarray) -> np.ndarray:
        for axis in self.grid.numeric:
            counts = np.repeat(counts, self.branches, axis=axis)
        return counts

    def _gains(self, queries: np.ndarray) -> np.ndarray:
        """Sum over levels of the squared length of the kernel's details over S_j; see the module."""
        heights = np.arange(self.depth + 1)
        leaves = float(self._children) ** heights
        squares = self.reading.squares(queries, tuple((self.branches**heights).tolist()))
        projected = np.vstack([squares / leaves[:, None], np.zeros(len(queries))])
        details = np.maximum(projected[:-1] - projected[1:], 0.0)
        return (details / np.cumsum(leaves)[:, None]).sum(axis=0)

    def total(self, table: np.ndarray) -> float:
        return float(self._consistent(table).sum())

    def total_variance(self, counter_variance: float) -> float:
        """Of the roots' z: a root's own count has the weight of its z and no more noise than any other counter."""
        return counter_variance * self._grids[-1].size * self._share_of_own(self.depth + 1)


CARD = MechanismSpec(
    "hierarchical-histogram",
    "Hierarchical histogram",
    "Hay et al. 2010",
    "People are counted with noise in the cells of a grid and in larger and larger boxes of them, and the counts are "
    "then moved as little as possible until every box holds the sum of its parts.",
    sketch=HierarchicalHistogram,
    make=lambda facts: HierarchicalHistogram(facts.domain, facts.closeness, facts.size),
    rank=27,
    size="levels",
    sizes=(2, 3, 4, 5, 6, 7, 8, 10),
    most_dimensions=6,
    holds=lambda sketch: (
        f"{count(sketch.shape[0], 'counter')}, of the cells of a grid and of larger and larger boxes of them"
    ),
)


@dataclass(frozen=True)
class FlatHistogram(CountedGrid):
    """Noisy counts of the cells of a grid, read as weighted points.

    RequestError when a parameter is out of range or the table would be too large.
    """

    domain: Domain
    kernel: Kernel = parameter(KERNEL)  # Any kernel of places.
    # Numbers of cells, one a coordinate of numbers; None leaves the choice to `sized_for`. Every category is a cell of
    # its own.
    cells: Resolved[tuple[int, ...]] = parameter(COUNTS, None, settled="how many cells it has")
    name: ClassVar[str] = "flat-histogram"
    described: ClassVar[str] = "flat histogram"

    def _check(self) -> None:
        super()._check()
        if self.cells is not None:
            if self.grid.size > MAX_COUNTERS:
                raise RequestError(
                    f"{self.grid.size:,} cells are more than {MAX_COUNTERS:,}, which is the most that a flat histogram "
                    "may have: use fewer cells or columns."
                )
            _ = self.reading  # refuses kernels that cannot be read on so many cells

    def sized_for(self, budget: Budget, records: float) -> FlatHistogram:
        """With cells between which noise and width are balanced for a typical answer."""
        if self.sized:
            return self
        return best_cells(self, lambda cells: replace(self, cells=cells), budget, records)

    @cached_property
    def grid(self) -> Cells:
        return Cells.of(self.domain, self.metric, self.given("cells", "number of cells"))

    @cached_property
    def _counting(self) -> Marginals:
        return Marginals(self.domain, self.metric, self.grid.counts, (tuple(range(len(self.grid.counts))),))

    @property
    def shape(self) -> tuple[int]:
        return (self.grid.size,)

    @property
    def setup_bytes(self) -> int:
        return self._counting.setup_bytes + self.reading.most_bytes + 8 * self.grid.size

    def add(self, table: np.ndarray, points: np.ndarray) -> None:
        self._counting.add(table, points)

    def record_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """A record is in one cell: 1 counter changes by 1, or 2 when it is replaced (`Marginals`, one clique)."""
        return self._counting.record_sensitivity(neighbours)

    def cell_counts(self, table: np.ndarray, records: float, counter_variance: float) -> np.ndarray:
        return table.reshape(self.grid.counts).astype(np.float64)

    def _gains(self, queries: np.ndarray) -> np.ndarray:
        return self.reading.squares(queries)[0]

    def total(self, table: np.ndarray) -> float:
        return float(table.sum(dtype=np.float64))

    def total_variance(self, counter_variance: float) -> float:
        return counter_variance * self.grid.size


FLAT_HISTOGRAM_CARD = MechanismSpec(
    "flat-histogram",
    "Flat histogram",
    "Dwork et al. 2006",
    "People are counted with noise in the cells of a grid, and everyone in a cell is put in the middle of it.",
    sketch=FlatHistogram,
    make=lambda facts: FlatHistogram(facts.domain, facts.closeness, cells_of(facts.domain, facts.size)),
    rank=26,
    size="cells a coordinate",
    sizes=(8, 16, 32, 64, 128, 256),
    most_dimensions=6,
    holds=lambda sketch: f"a grid of {sides(sketch.grid.counts)} counters",
)
