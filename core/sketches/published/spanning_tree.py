"""A tree of attributes, with noisy counts of each one and of each pair that the tree joins.

The model of McKenna, Miklau and Sheldon ("Winning the NIST contest", Journal of Privacy and Confidentiality 11, 2021):
all one-way marginals and the two-way marginals of a spanning tree are measured with equal noise, a Markov random field
is fitted to them, and synthetic records are drawn from it. `mst` chooses the tree.

What mechanisms share that choose pairs of attributes by how far their counts are from a model: `mst` and `aim`.

Both read the counts of all pairs once. A pair is scored by the L1 distance of its counts from what the model says
(`core.sketches.adaptive`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import ClassVar, Self

import numpy as np

from ...domain import Domain
from ...errors import RequestError
from ...geometry.kernels import KERNEL, Kernel, of_coordinates
from ...parameters import Resolved, Seed, Several, Whole, parameter
from ...privacy.budget import Budget
from ...privacy.neighbours import Neighbours
from ..adaptive import Adaptive, score_sensitivity
from .grid_cells import COUNTS, MAX_AXES, Cells
from .marginals import Marginals
from .markov_model import check_installed, fitted_marginals
from .synthetic_records import A_COORDINATE, Node, SyntheticSketch, drawn_in_order

MOST_COUNTERS = 1 << 20
"""So many are fitted within a minute or so; a stranger's file should not keep anyone for hours."""

Edge = tuple[int, int]
"""Two axes, in increasing order."""
_EDGE = Several("An edge of a tree", Whole("An end of an edge", 0, MAX_AXES - 1), 2, 2)


@dataclass(frozen=True)
class SpanningTree(SyntheticSketch):
    """Noisy marginals of all axes, and of all edges of a given tree.

    RequestError when the edges are no tree of all axes, or the tables would be too large.
    """

    domain: Domain
    kernel: Kernel = parameter(KERNEL)  # Any kernel of places, whose sums are estimated.
    counts: tuple[int, ...] = parameter(COUNTS)  # Cells of each axis; see `Cells`.
    # Pairs of axes that form a tree, in increasing order.
    edges: tuple[Edge, ...] = parameter(Several("The edges of a tree", _EDGE))
    # Of the public random numbers that synthetic records are drawn with.
    seed: int = parameter(Seed("The seed of a tree of marginals"))
    name: ClassVar[str] = "mst"
    described: ClassVar[str] = "tree of marginals"

    def _check(self) -> None:
        super()._check()
        Cells(self.domain, self.kernel.metric, self.counts)  # refuses counts that are not of the axes
        _check_tree(self.edges, len(self.counts))
        if self.shape[0] > MOST_COUNTERS:
            raise RequestError(
                f"The tables of a tree would have {self.shape[0]:,} counters, and a model can be fitted to "
                f"{MOST_COUNTERS:,}: use fewer cells or columns."
            )

    @cached_property
    def marginals(self) -> Marginals:
        """Those of all axes, then those of all edges."""
        ones = tuple((axis,) for axis in range(len(self.counts)))
        return Marginals(self.domain, self.metric, self.counts, (*ones, *self.edges))

    @cached_property
    def order(self) -> tuple[Node, ...]:
        """The axes from the first one outward, each with the neighbour that comes before it."""
        nodes: list[Node] = [(0, ())]
        for axis, _ in nodes:  # grows on the way
            known = {child for child, _ in nodes}
            beside = sorted({end for edge in self.edges if axis in edge for end in edge} - known)
            nodes.extend((child, (axis,)) for child in beside)
        return tuple(nodes)

    def _places(self, table: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
        total = max(1.0, self.total(table))
        cliques = self.marginals.cliques
        fitted = fitted_marginals(self.counts, cliques, self.marginals.marginals(table), total)
        known = dict(zip(cliques, fitted, strict=True))
        weights = []
        for child, parents in self.order:
            joint = known[tuple(sorted((child, *parents)))]
            weights.append(joint.T if parents and parents[0] > child else joint.reshape(-1, self.counts[child]))
        return drawn_in_order(self.order, weights, self.counts, uniforms)


def _check_tree(edges: tuple[Edge, ...], axes: int) -> None:
    """RequestError unless the edges are those of a tree."""
    refusal = RequestError(
        "A tree of marginals names one pair of axes fewer than there are axes, each in increasing order, and they join "
        "all of them."
    )
    if len(edges) != axes - 1:
        raise refusal
    part = list(range(axes))
    for one, other in edges:
        if not 0 <= one < other < axes or part[one] == part[other]:
            raise refusal
        part = joined(part, (one, other))
    if list(edges) != sorted(edges):
        raise refusal


def joined(part: list[int], edge: Edge) -> list[int]:
    """Of which connected part each axis is, when an edge is added to a forest."""
    one, other = part[edge[0]], part[edge[1]]
    return [one if name == other else name for name in part]


CELLS_TRIED = (4, 8, 16, 32, 64, 128)
MAX_COUNTERS = 1 << 24
"""Of all pairs together: 128 MiB."""


@dataclass(frozen=True)
class ChoosesPairs(Adaptive):
    """Chooses pairs of attributes under noise, to release their counts.

    RequestError when a parameter is out of range, or the tables would be too large.
    """

    # The public facts about the records, and any kernel of places, whose sums are estimated.
    domain: Domain
    kernel: Kernel = parameter(KERNEL)
    # Of every coordinate of numbers; categories are cells of their own. None leaves the choice to `sized_for`.
    cells: Resolved[int] = parameter(A_COORDINATE, None)
    seed: Resolved[int] = parameter(Seed("The seed of chosen marginals"), None)  # Public; fresh when None.

    def _check(self) -> None:
        super()._check()
        if self.cells is not None and sum(self._size(pair) for pair in self._pairs) > MAX_COUNTERS:
            raise RequestError(
                f"The tables of all pairs of columns may have {MAX_COUNTERS:,} counts together; use fewer cells or "
                "columns."
            )

    @property
    def metric(self) -> str:
        return self.kernel.metric

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """Cells of each axis; RequestError before they are chosen."""
        if self.cells is None:
            raise RequestError("The mechanism has no number of cells yet; give one, or let `sized_for` choose it.")
        return Cells.of(self.domain, self.metric, self.cells).counts

    @property
    def sized(self) -> bool:
        return self.cells is not None

    def sized_for(self, budget: Budget, records: float) -> Self:
        """With the most cells for which the average count of a pair is above its noise's scale."""
        if self.sized:
            return self
        chosen = replace(self, cells=CELLS_TRIED[0])
        for cells in CELLS_TRIED[1:]:
            try:
                tried = replace(self, cells=cells)
                noise = tried.typical_noise(budget)
            except RequestError:
                break
            if records / cells ** min(len(tried.counts), 2) < noise:
                break
            chosen = tried
        return chosen

    @abstractmethod
    def typical_noise(self, budget: Budget) -> float:
        """By how much noise typically moves a count of a table that is measured."""

    def check_budget(self, budget: Budget) -> None:
        """Before anything is paid for, as no one could ask such a release anything here."""
        check_installed()

    @cached_property
    def _pairs(self) -> tuple[Edge, ...]:
        return tuple(combinations(range(len(self.counts)), 2))

    def _size(self, clique: tuple[int, ...]) -> int:
        return int(np.prod([self.counts[axis] for axis in clique], dtype=object))

    @property
    def first(self) -> Marginals:
        """The counts of all pairs: whatever is chosen, its tables are among them."""
        return Marginals(self.domain, self.metric, self.counts, self._pairs or ((0,),))

    def score_sensitivity(self, neighbours: Neighbours) -> int:
        """How far one person moves any score."""
        return score_sensitivity(neighbours, self.domain.unit.records)

    def exact(self, queries: np.ndarray, records: np.ndarray) -> np.ndarray:
        kernel = of_coordinates(self.kernel, tuple(column.width for column in self.domain.columns))
        return kernel.evaluate(queries, records).sum(axis=1)


def one_way(pairs: Mapping[tuple[int, ...], np.ndarray], axis: int) -> np.ndarray:
    """The counts of one axis, from those of a pair that it is in."""
    clique = next(clique for clique in pairs if axis in clique)
    return np.asarray(pairs[clique].sum(axis=tuple(at for at, other in enumerate(clique) if other != axis)))
