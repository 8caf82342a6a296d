"""A Bayesian network of noisy tables: each attribute given a few others (Zhang et al., SIGMOD 2014; ACM TODS 42, 2017).

The joint tables of attribute and parents get noise (NoisyConditionals); those of the first k attributes are read
off the first of them. Synthetic records are drawn attribute by attribute. `privbayes` chooses the network.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from ....domain import Domain
from ....errors import RequestError
from ....geometry.kernels import KERNEL, Kernel
from ....parameters import Kind, Seed, Several, Whole, parameter
from ..grids.cells import COUNTS, MAX_AXES, Cells
from ..grids.marginals import Marginals
from ..grids.synthetic_records import Node, SyntheticSketch, drawn_in_order

MOST_DEGREE = 8
_AXIS = Whole("An axis of a Bayesian network", 0, MAX_AXES - 1)
_PARENTS = Several("The parents of an axis", _AXIS, 0, MAX_AXES)


class NodeKind(Kind):
    """An axis and its parents."""

    def checked(self, value: object) -> Node:
        if not isinstance(value, (tuple, list)) or len(value) != 2:
            raise RequestError("A node of a Bayesian network must be an axis and the list of its parents.")
        return _AXIS.checked(value[0]), _PARENTS.checked(value[1])

    def written(self, value: Node) -> list:
        return [value[0], list(value[1])]


@dataclass(frozen=True)
class BayesianNetwork(SyntheticSketch):
    """Noisy joint tables of every attribute and its parents in a given network.

    Parameters
    ----------
    domain : Domain
        The public facts about the records.
    kernel : Kernel
        Any kernel of places, whose sums are estimated.
    counts : tuple[int, ...]
        Cells of each axis; see `Cells`.
    network : tuple[Node, ...]
        Every axis once, with its parents, which come before it: the first k have all those before them, and the others
        k each.
    seed : int
        Of the public random numbers that synthetic records are drawn with.

    Raises
    ------
    RequestError
        When the network is none of this kind, or the tables would be too large.
    """

    domain: Domain
    kernel: Kernel = parameter(KERNEL)
    counts: tuple[int, ...] = parameter(COUNTS)
    network: tuple[Node, ...] = parameter(Several("The nodes of a Bayesian network", NodeKind()))
    seed: int = parameter(Seed("The seed of a Bayesian network"))
    name: ClassVar[str] = "privbayes"
    described: ClassVar[str] = "Bayesian network"

    def _check(self) -> None:
        super()._check()
        Cells(self.domain, self.kernel.metric, self.counts)  # refuses counts that are not of the axes
        _check_network(self.network, len(self.counts))
        _ = self.marginals

    @property
    def degree(self) -> int:
        """k, the number of parents of the last axis."""
        return len(self.network[-1][1])

    @cached_property
    def marginals(self) -> Marginals:
        """The joint tables of the k-th axis of the network and of all after it."""
        cliques = (tuple(sorted((child, *parents))) for child, parents in self.network[self.degree :])
        return Marginals(self.domain, self.metric, self.counts, tuple(cliques))

    def conditionals(self, table: np.ndarray) -> list[np.ndarray]:
        """How many records each cell of an axis has given its parents', float64 (parents' cells, cells); not negative.

        Counts below zero are taken to be zero, as in the paper.
        """
        counts = [np.maximum(part, 0.0) for part in self.marginals.marginals(table.astype(np.float64))]
        cliques = self.marginals.cliques
        nodes = []
        for place, (child, parents) in enumerate(self.network):
            known = max(place - self.degree, 0)
            kept = (*parents, child)
            others = tuple(at for at, axis in enumerate(cliques[known]) if axis not in kept)
            joint = np.moveaxis(counts[known].sum(axis=others), sorted(kept).index(child), -1)
            nodes.append(joint.reshape(-1, self.counts[child]))
        return nodes

    def _places(self, table: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
        """Each axis in the order of the network, given its parents' cells."""
        return drawn_in_order(self.network, self.conditionals(table), self.counts, uniforms)


def _check_network(nodes: tuple[Node, ...], axes: int) -> None:
    """RequestError unless the nodes are a network of so many axes."""
    refusal = RequestError(
        "A Bayesian network names every axis once, the first k with all axes before them as parents, and every other "
        f"one with k of them, in increasing order; k is at most {MOST_DEGREE}."
    )
    if len(nodes) != axes or {child for child, _ in nodes} != set(range(axes)):
        raise refusal
    degree = len(nodes[-1][1])
    for place, (_, parents) in enumerate(nodes):
        before = {child for child, _ in nodes[:place]}
        if list(parents) != sorted(before & set(parents)) or len(parents) != min(place, degree):
            raise refusal
    if degree > MOST_DEGREE:
        raise refusal
