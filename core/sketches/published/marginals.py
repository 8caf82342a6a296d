"""Counts of several small tables at once: which cells of some axes the records fall in.

A clique is a set of axes, and its marginal says how many records there are in each combination of their cells. Methods
that make synthetic data measure a few marginals and imitate them (McKenna, Miklau, Sheldon 2021); noise is drawn for
the marginals of all cliques together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import ClassVar

import numpy as np

from ...domain import Domain
from ...errors import RequestError
from ...formatting.phrases import count
from ...parameters import Several, Whole, parameter
from ...privacy.neighbours import Neighbours, Sensitivity
from ...runtime.compiled_code import njit
from ..answers import Answers
from ..linear import LinearSketch
from ..mechanism_spec import MechanismSpec
from .grid_cells import COUNTS, MAX_AXES, METRIC, Cells

MAX_COUNTERS = 1 << 26
MAX_CLIQUES = 10_000
_CLIQUE = Several("The axes of a marginal", Whole("The axis of a marginal", 0, MAX_AXES - 1), 1, MAX_AXES)
BLOCK = 1 << 16
"""Records whose cells are held in memory at once."""


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
        """The grid."""
        return Cells(self.domain, self.norm, self.counts)

    @property
    def metric(self) -> str:
        return self.norm

    @cached_property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shape of each marginal."""
        return tuple(tuple(self.counts[axis] for axis in clique) for clique in self.cliques)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of cells of each marginal."""
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
        """Of a mean of as many counters as there are cliques."""
        variance = counter_variance / len(self.cliques)
        return variance if points is None else np.full(len(points), variance)

    def total(self, table: np.ndarray) -> float:
        """The mean of the marginals' sums, weighted by one over how many counters each adds up, which is best."""
        weights = 1.0 / np.array(self.sizes)
        sums = [marginal.sum(dtype=np.float64) for marginal in self.marginals(table)]
        return float(np.average(sums, weights=weights))

    def total_variance(self, counter_variance: float) -> float:
        return counter_variance / sum(1.0 / size for size in self.sizes)


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
