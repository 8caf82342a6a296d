"""A tree of attributes, with noisy counts of each one and of each pair that the tree joins.

The model of McKenna, Miklau and Sheldon ("Winning the NIST contest", Journal of Privacy and Confidentiality 11, 2021):
all one-way marginals and the two-way marginals of a spanning tree are measured with equal noise, a Markov random field
is fitted to them, and synthetic records are drawn from it. `mst` chooses the tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from ....domain import Domain
from ....errors import RequestError
from ....geometry.kernels import KERNEL, Kernel
from ....parameters import Seed, Several, Whole, parameter
from ..grids.cells import COUNTS, MAX_AXES, Cells
from ..grids.marginals import Marginals
from ..grids.synthetic_records import Node, SyntheticSketch, drawn_in_order
from .markov_model import fitted_marginals

MOST_COUNTERS = 1 << 20
"""So many are fitted within a minute or so; a stranger's file should not keep anyone for hours."""

Edge = tuple[int, int]
"""Two axes, in increasing order."""
_EDGE = Several("An edge of a tree", Whole("An end of an edge", 0, MAX_AXES - 1), 2, 2)


@dataclass(frozen=True)
class SpanningTree(SyntheticSketch):
    """Noisy marginals of all axes, and of all edges of a given tree.

    Parameters
    ----------
    domain : Domain
        The public facts about the records.
    kernel : Kernel
        Any kernel of places, whose sums are estimated.
    counts : tuple[int, ...]
        Cells of each axis; see `Cells`.
    edges : tuple[Edge, ...]
        Pairs of axes that form a tree, in increasing order.
    seed : int
        Of the public random numbers that synthetic records are drawn with.

    Raises
    ------
    RequestError
        When the edges are no tree of all axes, or the tables would be too large.
    """

    domain: Domain
    kernel: Kernel = parameter(KERNEL)
    counts: tuple[int, ...] = parameter(COUNTS)
    edges: tuple[Edge, ...] = parameter(Several("The edges of a tree", _EDGE))
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
