"""What the tree mechanisms share: complete binary trees in one row of a table, one row a coordinate."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from ....errors import RequestError
from ....machine.compiled_code import njit
from ....machine.threads import over_ranges
from ....parameters import Whole
from ....privacy.budget import Budget
from ...linear import MAX_COUNTERS, LinearSketch

MAX_LEVELS = 20
LEVELS, HOW_MANY_LEVELS = Whole("The number of levels of a tree", 1, MAX_LEVELS), "how many levels it has"
QUERIES_OF_AN_AVERAGE = 257


class TreeSketch(LinearSketch):
    """A mechanism with a tree for every coordinate, of a number of levels that is given or chosen later."""

    answers: ClassVar[str] = "distance"

    if TYPE_CHECKING:  # a field of each

        @property
        def levels(self) -> int | None:
            """Levels below the root; None until they are chosen."""

    @property
    def metric(self) -> str:
        return "l1"

    @property
    def depth(self) -> int:
        """Levels below the root; RequestError before they are chosen."""
        if self.levels is None:
            raise RequestError("The tree has no number of levels yet; give one, or let `sized_for` choose it.")
        return self.levels

    @property
    def setup_bytes(self) -> int:
        return 0

    @property
    def sized(self) -> bool:
        return self.levels is not None

    def sized_for(self, budget: Budget, records: float) -> Self:
        """With at least one leaf a record, as in the papers."""
        if self.sized:
            return self
        levels = min(max(1, math.ceil(math.log2(max(records, 2.0)))), MAX_LEVELS)
        return replace(self, levels=levels)  # type: ignore[call-arg]  # a field of each

    def exact(self, queries: np.ndarray, records: np.ndarray) -> np.ndarray:
        return exact_l1_sums(queries, records)

    @cached_property
    def _bounds(self) -> tuple[np.ndarray, np.ndarray]:
        return self.domain.bounds(self.metric)


def pour_counts(points: np.ndarray, low: np.ndarray, high: np.ndarray, table: np.ndarray) -> None:
    """Add 1 to every node above each record's leaf, the nearest of an even grid from bound to bound.

    Parameters
    ----------
    points : np.ndarray
        float64 (n, d), inside the bounds.
    low, high : np.ndarray
        Bounds, float64 (d,).
    table : np.ndarray
        int64 (d, 2 · leaves), changed in place; node 1 is the root, leaves are in the second half.
    """

    def trees(first: int, last: int) -> None:
        for j in range(first, last):
            _pour_counts(points[:, j], low[j], high[j] - low[j], table[j])

    over_ranges(len(table), trees)


@njit(nogil=True, cache=True)
def _pour_counts(values, low, length, tree):
    leaves = len(tree) // 2
    for value in values:
        # Clamped, so that memory is safe whatever comes.
        node = leaves + np.int64(min(max((value - low) / length * (leaves - 1) + 0.5, 0.0), leaves - 1.0))
        while node > 0:
            tree[node] += 1
            node >>= 1


def check_counters(counters: int) -> None:
    """RequestError when the trees of all coordinates together are too large."""
    if counters > MAX_COUNTERS:
        raise RequestError(
            f"The trees have {counters:,} counters, and a sketch may have at most {MAX_COUNTERS:,}: take fewer levels."
        )


def exact_l1_sums(queries: np.ndarray, records: np.ndarray) -> np.ndarray:
    """Sums of L1 distances, pair by pair, float64 (n,)."""
    sums = np.zeros(len(queries))
    for asked, kept in zip(queries.T, records.T, strict=True):
        sums += np.abs(asked[:, None] - kept).sum(axis=1)
    return sums


def average_over_queries(sketch: LinearSketch, counter_variance: float) -> float:
    """The mean noise variance over queries spread evenly along the diagonal of the bounds.

    Coordinates have noise of their own, so the average over the whole box is the same.
    """
    low, high = sketch.domain.bounds(sketch.metric)
    along = (np.arange(QUERIES_OF_AN_AVERAGE) + 0.5)[:, None] / QUERIES_OF_AN_AVERAGE
    return float(np.mean(sketch.noise_variance(counter_variance, low + along * (high - low))))
