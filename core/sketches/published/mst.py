"""MST (McKenna, Miklau, Sheldon: "Winning the NIST contest", Journal of Privacy and Confidentiality 11, 2021).

A third of the budget each: all one-way marginals get noise; a spanning tree is chosen edge by edge, by the exponential
mechanism on how far a pair's counts are, in L1, from what the noisy one-way marginals say of independent attributes;
the tree's two-way marginals get noise. A Markov random field that fits all of them makes the synthetic records.

As the noise of all tables should be equal (the paper's weights come close to it), the two thirds are shared by the
number of tables: d to d - 1. Under pure epsilon the shares are of epsilon and the noise is Laplace's; under (epsilon,
delta) they are of ρ, as in the paper, and it is Gaussian.

One reading of the records suffices, in which all pairs are counted. The paper's merging of rare values (its "compressed
domain") is left out: the cells here are public and few.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from ...errors import RequestError
from ...formatting.phrases import count
from ...geometry.simplex import nearest_with_total
from ...parameters import Resolved, Seed, parameter
from ...privacy.budget import Budget
from ...privacy.neighbours import Neighbours, Sensitivity
from ...privacy.noise.noise import add_noise
from ...privacy.noise.randomness import Source as NoiseSource
from ...privacy.selection import select
from ..adaptive import LARGEST_TOTAL, SCALE, AdaptivePlan, Outcome, Read, noisy_count, pair_score, share_budget
from ..mechanism_spec import EXPONENTIAL, MechanismSpec, PrivateChoice
from .spanning_tree import MOST_COUNTERS, ChoosesPairs, Edge, SpanningTree, joined, one_way
from .synthetic_records import noise_scale

TREE_SHARE = Fraction(1, 3)
"""Share of the budget that pays for the choice of the tree, as in the paper."""


@dataclass(frozen=True)
class MST(ChoosesPairs):
    """Chooses a tree of attributes, then releases counts of each attribute and of each edge.

    Its parameters are those of `ChoosesPairs`.
    """

    seed: Resolved[int] = parameter(Seed("The seed of a tree of marginals"), None)
    name: ClassVar[str] = "mst"

    def _check(self) -> None:
        super()._check()
        if self.cells is not None:
            sizes = sorted(map(self._size, self._pairs))
            if sum(self.counts) + sum(sizes[len(sizes) - len(self.counts) + 1 :]) > MOST_COUNTERS:
                raise RequestError(
                    f"The tables of a tree may have {MOST_COUNTERS:,} counts together; use fewer cells or columns."
                )

    def typical_noise(self, budget: Budget) -> float:
        return noise_scale(self.plan(budget).noises[0])

    def plan(self, budget: Budget) -> AdaptivePlan:
        axes = len(self.counts)
        chosen = axes - 1 if axes > 2 else 0  # one or two axes leave nothing to choose
        measured = (1 - TREE_SHARE if chosen else Fraction(1)) / (2 * axes - 1)
        relation = budget.neighbours
        tables = [(self._sensitivity(axes, relation), measured * axes)]
        if axes > 1:
            tables.append((self._sensitivity(axes - 1, relation), measured * (axes - 1)))
        line = tuple((axis, axis + 1) for axis in range(axes - 1))
        return share_budget(self, budget, [TREE_SHARE / chosen for _ in range(chosen)], tables, self._tree(line))

    def _sensitivity(self, tables: int, neighbours: Neighbours) -> Sensitivity:
        """Of so many marginals, whichever they are: a record is in one cell of each, and leaves it for another."""
        moved = tables if neighbours is Neighbours.ADD_REMOVE else 2 * tables
        return Sensitivity(moved, moved, parts=tables, unit_shifts=True).scaled(self.domain.unit.records)

    def run(self, read: Read, plan: AdaptivePlan, noise_source: NoiseSource | None = None) -> Outcome:
        pairs = dict(zip(self.first.cliques, self.first.marginals(read(self.first)), strict=True))
        exact = [one_way(pairs, axis) for axis in range(len(self.counts))]
        ones = add_noise(np.concatenate(exact), plan.noises[0], noise_source)
        edges = self._chosen(pairs, ones, plan, noise_source) if plan.choices else self._pairs
        sketch, table = self._tree(edges), ones
        if edges:
            joint = np.concatenate([pairs[edge].reshape(-1) for edge in edges])
            table = np.concatenate([ones, add_noise(joint, plan.noises[1], noise_source)])
        return Outcome(sketch, table, plan.noises[0], noisy_count(exact[0].sum(), plan, noise_source))

    def _chosen(
        self,
        pairs: dict[tuple[int, ...], np.ndarray],
        ones: np.ndarray,
        plan: AdaptivePlan,
        noise_source: NoiseSource | None,
    ) -> tuple[Edge, ...]:
        """The edges of the tree, one after the other, each between two parts that are not joined yet."""
        sensitivity = self.score_sensitivity(plan.budget.neighbours)
        expected = self._independent(ones)
        scores = {edge: pair_score(pairs[edge], expected[edge]) for edge in self._pairs}
        part, tree = list(range(len(self.counts))), []
        for price in plan.choices:
            candidates = [edge for edge in self._pairs if part[edge[0]] != part[edge[1]]]
            values = np.array([scores[edge] for edge in candidates], dtype=np.int64)
            tree.append(candidates[select(values, sensitivity, price, noise_source)])
            part = joined(part, tree[-1])
        return tuple(sorted(tree))

    def _independent(self, ones: np.ndarray) -> dict[Edge, np.ndarray]:
        """What the noisy one-way marginals say of all pairs, int64 in SCALEths of a record; a function of them alone.

        The model of separate attributes that fits best (the paper's first estimation) has for each of them the
        distribution nearest to its noisy counts, and products of these for pairs.
        """
        parts = np.split(ones.astype(np.float64), np.cumsum(self.counts)[:-1])
        weights = 1.0 / np.array(self.counts)
        known = float(np.average([part.sum() for part in parts], weights=weights))
        total = min(max(1.0, known), LARGEST_TOTAL)
        nearest = [nearest_with_total(part, total) for part in parts]
        return {
            (one, other): np.rint(SCALE / total * np.outer(nearest[one], nearest[other])).astype(np.int64)
            for one, other in self._pairs
        }

    def _tree(self, edges: tuple[Edge, ...]) -> SpanningTree:
        return SpanningTree(self.domain, self.kernel, self.counts, edges, self.seed)


CARD = MechanismSpec(
    "mst",
    "MST",
    "McKenna et al. 2021",
    "Every column and the most telling pairs of columns, chosen under noise, are counted with noise, and made-up "
    "people are drawn from the most even crowd that fits these counts.",
    sketch=SpanningTree,
    make=lambda facts: MST(facts.domain, facts.closeness, facts.size, seed=facts.seed),
    rank=29,
    size="cells a coordinate",
    sizes=(8, 16, 32, 64),
    holds=lambda sketch: (
        f"{count(len(sketch.counts), 'table')} of single coordinates and {len(sketch.edges):,} of pairs of them, with "
        f"{count(sketch.shape[0], 'counter')} in all"
    ),
    choice=PrivateChoice("Which columns belong together", EXPONENTIAL),
    example={"bounds": ["x=0:1", "y=0:1", "z=0:1"]},  # two columns leave no choice
)
