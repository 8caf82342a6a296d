"""A tree of attributes, with noisy counts of each one and of each pair that the tree joins.

The model of McKenna, Miklau and Sheldon ("Winning the NIST contest", Journal of Privacy and Confidentiality 11, 2021):
all one-way marginals and the two-way marginals of a spanning tree are measured with equal noise, a Markov random field
is fitted to them, and synthetic records are drawn from it. `mst` chooses the tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from ....checks import exact_fields, seed_from_digits
from ....domain import Domain
from ....errors import RequestError
from ....geometry.kernels import Kernel, kernel_from_dict
from ..grids.cells import Cells
from ..grids.marginals import Marginals
from ..grids.synthetic_records import Node, SyntheticSketch, check_imitation, drawn_in_order
from .markov_model import fitted_marginals

MOST_COUNTERS = 1 << 20
"""So many are fitted within a minute or so; a stranger's file should not keep anyone for hours."""

Edge = tuple[int, int]
"""Two axes, in increasing order."""


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
    kernel: Kernel
    counts: tuple[int, ...]
    edges: tuple[Edge, ...]
    seed: int
    name: ClassVar[str] = "mst"

    def __post_init__(self) -> None:
        check_imitation(self.domain, self.kernel, "A tree of marginals")
        object.__setattr__(self, "counts", Cells(self.domain, self.kernel.metric, self.counts).counts)
        object.__setattr__(self, "edges", _checked_tree(self.edges, len(self.counts)))
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

    def parameters(self) -> dict:
        return {
            "kernel": self.kernel.to_dict(),
            "counts": list(self.counts),
            "edges": [list(edge) for edge in self.edges],
            "seed": f"{self.seed:032x}",
        }

    @classmethod
    def from_parameters(cls, domain: Domain, parameters: dict) -> Self:
        facts = exact_fields(parameters, "tree of marginals", ("kernel", "counts", "edges", "seed"))
        seed = seed_from_digits(facts.pop("seed"), "The seed of a tree of marginals")
        return cls(domain, kernel_from_dict(facts.pop("kernel")), seed=seed, **facts)


def _checked_tree(edges: object, axes: int) -> tuple[Edge, ...]:
    """The edges of a tree, which may come from a stranger's file."""
    refusal = RequestError(
        "A tree of marginals names one pair of axes fewer than there are axes, each in increasing order, and they join "
        "all of them."
    )
    if not isinstance(edges, (tuple, list)) or len(edges) != axes - 1:
        raise refusal
    part = list(range(axes))
    for edge in edges:
        if not isinstance(edge, (tuple, list)) or len(edge) != 2 or not all(type(end) is int for end in edge):
            raise refusal
        one, other = edge
        if not 0 <= one < other < axes or part[one] == part[other]:
            raise refusal
        part = joined(part, (one, other))
    pairs = tuple((edge[0], edge[1]) for edge in edges)
    if list(pairs) != sorted(pairs):
        raise refusal
    return pairs


def joined(part: list[int], edge: Edge) -> list[int]:
    """Of which connected part each axis is, when an edge is added to a forest."""
    one, other = part[edge[0]], part[edge[1]]
    return [one if name == other else name for name in part]
