"""A Bayesian network of noisy tables: each attribute given a few others (Zhang et al., SIGMOD 2014; ACM TODS 42, 2017).

The joint tables of attribute and parents get noise (NoisyConditionals); those of the first k attributes are read
off the first of them. Synthetic records are drawn attribute by attribute. `privbayes` chooses the network.
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

MOST_DEGREE = 8


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
    kernel: Kernel
    counts: tuple[int, ...]
    network: tuple[Node, ...]
    seed: int
    name: ClassVar[str] = "privbayes"

    def __post_init__(self) -> None:
        check_imitation(self.domain, self.kernel, "A Bayesian network")
        object.__setattr__(self, "counts", Cells(self.domain, self.kernel.metric, self.counts).counts)
        object.__setattr__(self, "network", _checked_network(self.network, len(self.counts)))
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

    def parameters(self) -> dict:
        return {
            "kernel": self.kernel.to_dict(),
            "counts": list(self.counts),
            "network": [[child, list(parents)] for child, parents in self.network],
            "seed": f"{self.seed:032x}",
        }

    @classmethod
    def from_parameters(cls, domain: Domain, parameters: dict) -> Self:
        facts = exact_fields(parameters, "Bayesian network", ("kernel", "counts", "network", "seed"))
        seed = seed_from_digits(facts.pop("seed"), "The seed of a Bayesian network")
        return cls(domain, kernel_from_dict(facts.pop("kernel")), seed=seed, **facts)


def _checked_network(network: object, axes: int) -> tuple[Node, ...]:
    """The nodes of a network, which may come from a stranger's file."""
    refusal = RequestError(
        "A Bayesian network names every axis once, the first k with all axes before them as parents, and every other "
        f"one with k of them, in increasing order; k is at most {MOST_DEGREE}."
    )
    if not isinstance(network, (tuple, list)) or len(network) != axes:
        raise refusal
    nodes: list[Node] = []
    for node in network:
        if not isinstance(node, (tuple, list)) or len(node) != 2 or not isinstance(node[1], (tuple, list)):
            raise refusal
        if not all(type(axis) is int and 0 <= axis < axes for axis in (node[0], *node[1])):
            raise refusal
        nodes.append((node[0], tuple(node[1])))
    degree = len(nodes[-1][1])
    for place, (_, parents) in enumerate(nodes):
        before = {child for child, _ in nodes[:place]}
        if list(parents) != sorted(before & set(parents)) or len(parents) != min(place, degree):
            raise refusal
    if len({child for child, _ in nodes}) < axes or degree > MOST_DEGREE:
        raise refusal
    return tuple(nodes)
