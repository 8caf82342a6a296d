"""The paper's tree for L1 distance sums (Backurs, Lin, Mahabadi, Silwal, Tarnawski, ICLR 2024, Algorithms 1 to 3).

A complete binary tree over an even grid holds, in every node, how many records lie below it, all with equal noise. The
line on either side of a query is cut into intervals that grow by the factor 1 + alpha; each is counted by a few nodes
and weighted by its far end. The answer lies between the exact sum and 1 + alpha times it, but for the noise and for the
rounding of records to the grid. d coordinates have d trees (section 4.1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import ndtri

from ...domain import Domain
from ...parameters import Number, Resolved, parameter
from ...privacy.neighbours import Neighbours, Sensitivity
from ...runtime.compiled_code import njit
from ...sketches.answers import Answers, check_level
from ...sketches.mechanism_spec import MechanismSpec, only_l1, trees
from .distance_trees import HOW_MANY_LEVELS, LEVELS, TreeSketch, average_over_queries, check_counters, pour_counts


@dataclass(frozen=True)
class IntervalTree(TreeSketch):
    """Noisy counts of all dyadic intervals, and distances rounded up to powers of 1 + alpha."""

    domain: Domain  # The public facts about the records; every coordinate has a tree.
    # By how much intervals grow; a smaller one rounds less and adds up more noisy counts.
    alpha: float = parameter(Number("The growth alpha of the intervals", 1e-3, 10.0), 0.5)
    # Below the root, whose leaves are 2^levels grid places; None for about one place a record, as in the paper.
    levels: Resolved[int] = parameter(LEVELS, None, settled=HOW_MANY_LEVELS)
    name: ClassVar[str] = "interval-tree"
    described: ClassVar[str] = "tree of intervals"

    def _check(self) -> None:
        super()._check()
        if self.levels is not None:
            check_counters(self.domain.dimensions * (2 << self.levels))

    @property
    def shape(self) -> tuple[int, int]:
        """One row a coordinate; node 1 is the root, and the children of node v are 2 v and 2 v + 1."""
        return self.domain.dimensions, 2 << self.depth

    def add(self, table: np.ndarray, points: np.ndarray) -> None:
        pour_counts(points, *self._bounds, table)

    def record_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """A record is in one node a level and tree: L + 1 counters change by 1 in each of d trees (Lemma 4.1).

        Replaced, it leaves a node and enters another on each of L levels, and stays below the root: 2 L counters, no
        fewer than the L + 1 of a record that is left out. The bound is reached by records at opposite ends.
        """
        moved = self.depth + 1 if neighbours is Neighbours.ADD_REMOVE else 2 * self.depth
        levels = self.depth + 1 if neighbours is Neighbours.ADD_REMOVE else self.depth
        trees = self.domain.dimensions
        return Sensitivity(trees * moved, trees * moved, parts=trees * levels, unit_shifts=True)

    def answer(
        self, table: np.ndarray, records: float, points: np.ndarray, counter_variance: float, level: float
    ) -> Answers:
        """The interval allows for the factor 1 + alpha and for rounding to the grid besides the noise."""
        check_level(level)
        sums, squares = self._read(table, points)
        error = np.sqrt(counter_variance * squares)
        reach, number = ndtri(0.5 + level / 2.0) * error, max(float(records), 1.0)
        low, high = self._bounds
        step = float(np.sum((high - low) / ((1 << self.depth) - 1)))
        bottom = (sums - reach) / (1.0 + self.alpha) - 1.5 * step * number
        return Answers(sums, bottom, sums + reach + 0.5 * step * number, sums / number, error, math.inf)

    def noise_variance(self, counter_variance: float, points: np.ndarray | None = None) -> float | np.ndarray:
        if points is None:
            return average_over_queries(self, counter_variance)
        return counter_variance * self._read(self.zeros(), points)[1]

    def total(self, table: np.ndarray) -> float:
        return float(table[:, 1].mean())

    def total_variance(self, counter_variance: float) -> float:
        return counter_variance / self.domain.dimensions

    def _read(self, table: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        sums, squares = np.zeros(len(points)), np.zeros(len(points))
        for tree, column, low, high in zip(table, points.T, *self._bounds, strict=True):
            last = (1 << self.depth) - 1
            _add_distances(tree, (column - low) / (high - low) * last, self.alpha, (high - low) / last, sums, squares)
        return sums, squares


@njit(nogil=True, cache=True)
def _add_distances(tree, queries, alpha, step, sums, squares):
    """Add every query's distances to ``sums``; queries and intervals in grid steps (Algorithm 3)."""
    places = len(tree) // 2
    for i in range(len(queries)):
        inside = min(max(queries[i], 0.0), places - 1.0)
        outside = abs(queries[i] - inside)
        # Moved to the border, plus the distance moved for every record (Remark 4.1).
        total, square = outside * tree[1], outside * outside
        right, left, near, far = 0, 0, -1.0, 1.0
        while near < places:
            # Places at distances in (near, far] on either side; the query's own place counts to the right.
            first, last = math.floor(inside + near) + 1, math.floor(inside + far)
            if near < 0.0:
                first = math.ceil(inside)
            right, weight = _count(tree, max(first, 0), min(last, places - 1))
            total, square = total + far * right, square + far * far * weight
            first, last = math.ceil(inside - far), math.ceil(inside - near) - 1
            if near < 0.0:
                last = math.ceil(inside) - 1
            left, weight = _count(tree, max(first, 0), min(last, places - 1))
            total, square = total + far * left, square + far * far * weight
            near, far = far, far * (1.0 + alpha)
        sums[i] += step * total
        squares[i] += step * step * square


@njit(nogil=True, cache=True)
def _count(tree, first, last):
    """Records at the places first to last, and how many nodes were added up for them (Algorithm 2)."""
    total, nodes = 0, 0
    left, right = first + len(tree) // 2, last + len(tree) // 2 + 1
    while left < right:
        if left & 1:
            total, nodes, left = total + tree[left], nodes + 1, left + 1
        if right & 1:
            right -= 1
            total, nodes = total + tree[right], nodes + 1
        left, right = left >> 1, right >> 1
    return total, nodes


CARD = MechanismSpec(
    "interval-tree",
    "Tree of intervals",
    "Backurs et al. 2024",
    "People are counted with noise in halves, quarters, eighths and so on of every column, and a distance is added up "
    "from rings of such intervals around the place.",
    sketch=IntervalTree,
    make=lambda facts: IntervalTree(facts.domain, levels=facts.size),
    rank=31,
    answers="distance",
    size="levels",
    sizes=(4, 6, 8, 10),
    limit=only_l1("Tree of intervals"),
    holds=lambda sketch: trees(sketch.shape[0], f"{sketch.shape[1]:,} counters"),
    warm=lambda: (IntervalTree(Domain.of(x=(0, 1), y=(0, 1))),),
)
