"""Complete binary trees of noisy counts, one a coordinate, from which sums of L1 distances are read.

*The paper's tree* (Backurs, Lin, Mahabadi, Silwal, Tarnawski, ICLR 2024, Algorithms 1 to 3) holds, in every node over
an even grid, how many records lie below it, all with equal noise. The line on either side of a query is cut into
intervals that grow by the factor 1 + alpha; each is counted by a few nodes and weighted by its far end. The answer lies
between the exact sum and 1 + alpha times it, but for the noise and for the rounding of records to the grid. d
coordinates have d trees (section 4.1).

*Counts and sums* (Liu, Hu, Reneau, Song, Liu: arXiv 2409.01688), ratio 1: every node holds how many records lie below
it and the sum of their coordinates. On the way from the root to the leaf of a query, each node that is passed by lies
wholly on one side of it, and the sum of distances to its records is the difference of q times the count and the sum.
Only the records in the query's own leaf are missed.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from scipy.special import ndtri

from ...domain import Domain
from ...errors import RequestError
from ...privacy.budget import Budget, Neighbours, Sensitivity
from ...runtime.compiled_code import njit
from ...runtime.environment import over_ranges
from ...runtime.parameters import Number, Resolved, Whole, parameter
from ...sketches.answers import Answers, check_level
from ...sketches.linear import MAX_COUNTERS, LinearSketch
from ...sketches.mechanism_spec import MechanismSpec, only_l1, trees

MAX_LEVELS = 20
LEVELS, HOW_MANY_LEVELS = Whole("The number of levels of a tree", 1, MAX_LEVELS), "how many levels it has"
QUERIES_OF_AN_AVERAGE = 257
# Places are whole numbers of 2^-24ths of the range, and a record counts 2^24: counts and sums share one noise.
PLACE_BITS = 24


class TreeSketch(LinearSketch):
    """A mechanism with a tree for every coordinate, of a number of levels that is given or chosen later."""

    answers: ClassVar[str] = "distance"
    metric = "l1"
    setup_bytes = 0
    unit: ClassVar[int] = 1  # What a record counts.
    nodes: ClassVar[int]  # Counters a leaf of every tree.

    if TYPE_CHECKING:  # a field of each

        @property
        def levels(self) -> int | None:
            """Levels below the root; None until they are chosen."""

    def _check(self) -> None:
        super()._check()
        counters = 0 if self.levels is None else self.domain.dimensions * self.nodes << self.levels
        if counters > MAX_COUNTERS:
            raise RequestError(
                f"The trees have {counters:,} counters, and a sketch may have at most {MAX_COUNTERS:,}: take fewer "
                "levels."
            )

    @property
    def largest_entry(self) -> int:
        return self.unit

    @property
    def depth(self) -> int:
        return int(self.given("levels", "number of levels"))

    def sized_for(self, budget: Budget, records: float) -> Self:
        """With at least one leaf a record, as in the papers."""
        if self.sized:
            return self
        levels = min(max(1, math.ceil(math.log2(max(records, 2.0)))), MAX_LEVELS)
        return replace(self, levels=levels)  # type: ignore[call-arg]  # a field of each

    @abstractmethod
    def _pour(self, tree: np.ndarray, values: np.ndarray, low: float, length: float) -> None:
        """Add a coordinate of all records, inside its bounds, to its tree."""

    @abstractmethod
    def _add_distances(
        self, tree: np.ndarray, queries: np.ndarray, length: float, sums: np.ndarray, squares: np.ndarray
    ) -> None:
        """Add what a tree says at queries, in shares of the bounds, and the squares of what its counters are times."""

    @abstractmethod
    def _off(self, number: float) -> tuple[float, float, float]:
        """By which factor a sum may be too large, and how far it may be too large and too small besides the noise."""

    def add(self, table: np.ndarray, points: np.ndarray) -> None:
        low, high = self._bounds

        def pour(first: int, last: int) -> None:
            for j in range(first, last):
                self._pour(table[j], points[:, j], low[j], high[j] - low[j])

        over_ranges(len(table), pour)

    def exact(self, queries: np.ndarray, records: np.ndarray) -> np.ndarray:
        return exact_l1_sums(queries, records)

    def answer(
        self, table: np.ndarray, records: float, points: np.ndarray, counter_variance: float, level: float
    ) -> Answers:
        """The interval allows for what the tree itself misses besides the noise."""
        check_level(level)
        sums, squares = self._read(table, points)
        error, number = np.sqrt(counter_variance * squares), max(float(records), 1.0)
        reach, (factor, above, below) = ndtri(0.5 + level / 2.0) * error, self._off(number)
        low, high = (sums - reach) / factor - above, sums + reach + below
        return Answers(sums, low, high, sums / number, error, math.inf)

    def noise_variance(self, counter_variance: float, points: np.ndarray | None = None) -> float | np.ndarray:
        """Without queries, over ones along the diagonal of the bounds: coordinates have noise of their own."""
        if points is not None:
            return counter_variance * self._read(self.zeros(), points)[1]
        low, high = self._bounds
        along = (np.arange(QUERIES_OF_AN_AVERAGE) + 0.5)[:, None] / QUERIES_OF_AN_AVERAGE
        return counter_variance * float(np.mean(self._read(self.zeros(), low + along * (high - low))[1]))

    def total(self, table: np.ndarray) -> float:
        """The mean of the roots."""
        return float(table.reshape(len(table), -1)[:, 1].mean()) / self.unit

    def total_variance(self, counter_variance: float) -> float:
        return counter_variance / self.domain.dimensions / self.unit**2

    def _read(self, table: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        sums, squares = np.zeros(len(points)), np.zeros(len(points))
        for tree, column, low, high in zip(table, points.T, *self._bounds, strict=True):
            self._add_distances(tree, (column - low) / (high - low), high - low, sums, squares)
        return sums, squares

    @cached_property
    def _bounds(self) -> tuple[np.ndarray, np.ndarray]:
        return self.domain.bounds(self.metric)


def exact_l1_sums(queries: np.ndarray, records: np.ndarray) -> np.ndarray:
    sums = np.zeros(len(queries))
    for asked, kept in zip(queries.T, records.T, strict=True):
        sums += np.abs(asked[:, None] - kept).sum(axis=1)
    return sums


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
    nodes: ClassVar[int] = 2

    @property
    def shape(self) -> tuple[int, int]:
        """One row a coordinate; node 1 is the root, and the children of node v are 2 v and 2 v + 1."""
        return self.domain.dimensions, 2 << self.depth

    def _pour(self, tree: np.ndarray, values: np.ndarray, low: float, length: float) -> None:
        _pour_counts(values, low, length, tree)

    def record_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """A record is in one node a level and tree: L + 1 counters change by 1 in each of d trees (Lemma 4.1).

        Replaced, it leaves a node and enters another on each of L levels, and stays below the root: 2 L counters, no
        fewer than the L + 1 of a record that is left out. The bound is reached by records at opposite ends.
        """
        moved = self.depth + 1 if neighbours is Neighbours.ADD_REMOVE else 2 * self.depth
        levels = self.depth + 1 if neighbours is Neighbours.ADD_REMOVE else self.depth
        trees = self.domain.dimensions
        return Sensitivity(trees * moved, trees * moved, parts=trees * levels, unit_shifts=True)

    def _off(self, number: float) -> tuple[float, float, float]:
        """The factor 1 + alpha, and for rounding to the grid."""
        low, high = self._bounds
        step = float(np.sum((high - low) / ((1 << self.depth) - 1)))
        return 1.0 + self.alpha, 1.5 * step * number, 0.5 * step * number

    def _add_distances(
        self, tree: np.ndarray, queries: np.ndarray, length: float, sums: np.ndarray, squares: np.ndarray
    ) -> None:
        last = (1 << self.depth) - 1
        _add_intervals(tree, queries * last, self.alpha, length / last, sums, squares)


@njit(nogil=True, cache=True)
def _pour_counts(values, low, length, tree):
    """Add 1 to every node above each record's leaf, the nearest of an even grid from bound to bound."""
    leaves = len(tree) // 2
    for value in values:
        # Clamped, so that memory is safe whatever comes.
        node = leaves + np.int64(min(max((value - low) / length * (leaves - 1) + 0.5, 0.0), leaves - 1.0))
        while node > 0:
            tree[node] += 1
            node >>= 1


@njit(nogil=True, cache=True)
def _add_intervals(tree, queries, alpha, step, sums, squares):
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


INTERVAL_TREE_CARD = MechanismSpec(
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


@dataclass(frozen=True)
class CountsAndSums(TreeSketch):
    """Noisy counts and sums of all dyadic intervals, with half of the budget each."""

    domain: Domain  # The public facts about the records; every coordinate has a tree.
    # Below the root; None for about one leaf a record, as in the paper.
    levels: Resolved[int] = parameter(LEVELS, None, settled=HOW_MANY_LEVELS)
    name: ClassVar[str] = "counts-and-sums"
    described: ClassVar[str] = "tree of counts and sums"
    unit: ClassVar[int] = 1 << PLACE_BITS
    nodes: ClassVar[int] = 4

    @property
    def shape(self) -> tuple[int, int, int]:
        """Coordinates; counts and sums; nodes, of which 1 is the root and 2 v and 2 v + 1 are the children of v."""
        return self.domain.dimensions, 2, 2 << self.depth

    def _pour(self, tree: np.ndarray, values: np.ndarray, low: float, length: float) -> None:
        counts, sums = tree
        _pour_places(values, low, length, self.depth, counts, sums)

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

    def _off(self, number: float) -> tuple[float, float, float]:
        """The records in the query's own leaf are missed."""
        low, high = self._bounds
        return 1.0, 0.0, number * float(np.sum(high - low)) / (1 << self.depth)

    def _add_distances(
        self, tree: np.ndarray, queries: np.ndarray, length: float, sums: np.ndarray, squares: np.ndarray
    ) -> None:
        counts, places = tree
        _add_passed(counts, places, queries, length / (1 << PLACE_BITS), sums, squares)


@njit(nogil=True, cache=True)
def _pour_places(values, low, length, levels, counts, sums):
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
def _add_passed(counts, sums, queries, scale, distances, squares):
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


COUNTS_AND_SUMS_CARD = MechanismSpec(
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
