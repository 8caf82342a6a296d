"""Counts and sums in the nodes of a tree (Liu, Hu, Reneau, Song, Liu: arXiv 2409.01688): L1 distance sums, ratio 1.

Every node holds how many records lie below it and the sum of their coordinates. On the way from the root to the leaf of
a query, each node that is passed by lies wholly on one side of it, and the sum of distances to its records is the
difference of q times the count and the sum. Only the records in the query's own leaf are missed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import ndtri

from ...domain import Domain
from ...parameters import Resolved, parameter
from ...privacy.neighbours import Neighbours, Sensitivity
from ...runtime.compiled_code import njit
from ...runtime.threads import over_ranges
from ...sketches.answers import Answers, check_level
from ...sketches.mechanism_spec import MechanismSpec, only_l1, trees
from .distance_trees import HOW_MANY_LEVELS, LEVELS, TreeSketch, average_over_queries, check_counters

# Places are whole numbers of 2^-24ths of the range, and a record counts 2^24: counts and sums share one noise.
PLACE_BITS = 24


@dataclass(frozen=True)
class CountsAndSums(TreeSketch):
    """Noisy counts and sums of all dyadic intervals, with half of the budget each."""

    domain: Domain  # The public facts about the records; every coordinate has a tree.
    # Below the root; None for about one leaf a record, as in the paper.
    levels: Resolved[int] = parameter(LEVELS, None, settled=HOW_MANY_LEVELS)
    name: ClassVar[str] = "counts-and-sums"
    described: ClassVar[str] = "tree of counts and sums"

    def _check(self) -> None:
        super()._check()
        if self.levels is not None:
            check_counters(self.domain.dimensions * (4 << self.levels))

    @property
    def shape(self) -> tuple[int, int, int]:
        """Coordinates; counts and sums; nodes, of which 1 is the root and 2 v and 2 v + 1 are the children of v."""
        return self.domain.dimensions, 2, 2 << self.depth

    @property
    def largest_entry(self) -> int:
        return 1 << PLACE_BITS

    def add(self, table: np.ndarray, points: np.ndarray) -> None:
        low, high = self._bounds

        def trees(first: int, last: int) -> None:
            for j in range(first, last):
                _pour(points[:, j], low[j], high[j] - low[j], self.depth, *table[j])

        over_ranges(len(table), trees)

    def record_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """A record at the place x of 2^24 =: s changes a count by s and a sum by x, at most s - 1, on L + 1 levels.

        Replaced, two records x > y share the nodes of the first k levels, where only the sums change, by x - y, and are
        apart on the L + 1 - k levels below, where two counts change by s, a sum by x and another by y. Both norms grow
        with x, and with a shift of both records to the right, so x is at the last place s - 1. They are convex in y,
        which lies in the left half of the node that is shared on level k: both of its ends are tried, for each k. A
        replaced record may also be left out.
        """
        trees, levels, unit = self.domain.dimensions, self.depth + 1, 1 << PLACE_BITS
        x = unit - 1
        tried = [(levels * (unit + x), levels * (unit**2 + x**2))]
        if neighbours is Neighbours.REPLACE_ONE:
            for shared in range(1, levels):
                apart = levels - shared
                for y in (unit - (unit >> (shared - 1)), unit - (unit >> shared) - 1):
                    l1 = shared * (x - y) + apart * (2 * unit + x + y)
                    l2_squared = shared * (x - y) ** 2 + apart * (2 * unit**2 + x**2 + y**2)
                    tried.append((l1, l2_squared))
        return Sensitivity(trees * max(l1 for l1, _ in tried), trees * max(squared for _, squared in tried))

    def answer(
        self, table: np.ndarray, records: float, points: np.ndarray, counter_variance: float, level: float
    ) -> Answers:
        """The interval allows for the records in the query's own leaf besides the noise."""
        check_level(level)
        sums, squares = self._read(table, points)
        error = np.sqrt(counter_variance * squares)
        reach, number = ndtri(0.5 + level / 2.0) * error, max(float(records), 1.0)
        low, high = self._bounds
        missed = number * float(np.sum(high - low)) / (1 << self.depth)
        return Answers(sums, sums - reach, sums + reach + missed, sums / number, error, math.inf)

    def noise_variance(self, counter_variance: float, points: np.ndarray | None = None) -> float | np.ndarray:
        if points is None:
            return average_over_queries(self, counter_variance)
        return counter_variance * self._read(self.zeros(), points)[1]

    def total(self, table: np.ndarray) -> float:
        return float(table[:, 0, 1].mean()) / (1 << PLACE_BITS)

    def total_variance(self, counter_variance: float) -> float:
        return counter_variance / self.domain.dimensions / (1 << PLACE_BITS) ** 2

    def _read(self, table: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        sums, squares = np.zeros(len(points)), np.zeros(len(points))
        for tree, column, low, high in zip(table, points.T, *self._bounds, strict=True):
            counts, places = tree
            _add_distances(
                counts, places, (column - low) / (high - low), (high - low) / (1 << PLACE_BITS), sums, squares
            )
        return sums, squares


@njit(nogil=True, cache=True)
def _pour(values, low, length, levels, counts, sums):
    unit = np.int64(1) << PLACE_BITS
    for value in values:
        # Toward zero, and clamped: the last place stays below the unit, as its sensitivity says.
        place = np.int64(min(max((value - low) / length * unit, 0.0), np.float64(unit - 1)))
        node = (np.int64(1) << levels) + (place >> (PLACE_BITS - levels))
        while node > 0:
            counts[node] += unit
            sums[node] += place
            node >>= 1


@njit(nogil=True, cache=True)
def _add_distances(counts, sums, queries, scale, distances, squares):
    """Add every query's distances, in shares of the range times ``scale``, to ``distances``."""
    leaves = len(counts) // 2
    for i in range(len(queries)):
        q = queries[i]
        if not 0.0 <= q < 1.0:
            # All records lie on one side, the root's.
            side = 1.0 if q >= 1.0 else -1.0
            distances[i] += scale * side * (q * counts[1] - sums[1])
            squares[i] += scale * scale * (q * q + 1.0)
            continue
        node = leaves + np.int64(q * leaves)
        while node > 1:
            side = 1.0 if node & 1 else -1.0  # a right child passes its sibling by on the left
            distances[i] += scale * side * (q * counts[node ^ 1] - sums[node ^ 1])
            squares[i] += scale * scale * (q * q + 1.0)
            node >>= 1


CARD = MechanismSpec(
    "counts-and-sums",
    "Tree of counts and sums",
    "Liu et al. 2024",
    "Noisy counts and noisy sums of values in halves, quarters, eighths and so on of every column, from which the part "
    "of the distance on either side of the place follows.",
    sketch=CountsAndSums,
    make=lambda facts: CountsAndSums(facts.domain, facts.size),
    rank=32,
    answers="distance",
    size="levels",
    sizes=(4, 6, 8, 10),
    limit=only_l1("Tree of counts and sums"),
    holds=lambda sketch: trees(sketch.shape[0], f"{sketch.shape[2]:,} counters and as many sums"),
    warm=lambda: (CountsAndSums(Domain.of(x=(0, 1), y=(0, 1))),),
)
