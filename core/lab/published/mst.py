"""MST (McKenna, Miklau, Sheldon: "Winning the NIST contest", Journal of Privacy and Confidentiality 11, 2021).

A third of the budget each: all one-way marginals get noise; a spanning tree is chosen edge by edge, by the exponential
mechanism on how far a pair's counts are, in L1, from what the noisy one-way marginals say of independent attributes;
the tree's two-way marginals get noise. A Markov random field that fits all of them makes the synthetic records.

As the noise of all tables should be equal (the paper's weights come close to it), the two thirds are shared by the
number of tables: d to d - 1. Under pure epsilon the shares are of epsilon and the noise is Laplace's; under (epsilon,
delta) they are of ρ, as in the paper, and it is Gaussian.

One reading of the records suffices, in which all pairs are counted. The paper's merging of rare values (its "compressed
domain") is left out: the cells here are public and few.

A tree of attributes, with noisy counts of each one and of each pair that the tree joins.

The model of McKenna, Miklau and Sheldon ("Winning the NIST contest", Journal of Privacy and Confidentiality 11, 2021):
all one-way marginals and the two-way marginals of a spanning tree are measured with equal noise, a Markov random field
is fitted to them, and synthetic records are drawn from it. `mst` chooses the tree.

What mechanisms share that choose pairs of attributes by how far their counts are from a model: `mst` and `aim`.

Both read the counts of all pairs once. A pair is scored by the L1 distance of its counts from what the model says
(`core.sketches.adaptive`).
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import ClassVar, Self

import numpy as np

from ...domain import Domain
from ...errors import RequestError
from ...formatting.numbers import count
from ...geometry.kernels import KERNEL, Kernel
from ...privacy.budget import Budget, Neighbours
from ...privacy.choosing.selection import select
from ...privacy.noise.noise import add_noise
from ...privacy.noise.randomness import Source as NoiseSource
from ...runtime.parameters import Resolved, Seed, Several, Whole, parameter
from ...sketches.adaptive import (
    LARGEST_TOTAL,
    SCALE,
    Adaptive,
    AdaptivePlan,
    Outcome,
    Read,
    noisy_count,
    pair_score,
    score_sensitivity,
    share_budget,
)
from ...sketches.mechanism_spec import EXPONENTIAL, MechanismSpec, PrivateChoice
from ...sketches.tables.expected_counts import nearest_with_total
from .grid_cells import COUNTS, MAX_AXES, Cells, Marginals, tables_moved
from .markov_model import check_installed, fitted_marginals
from .synthetic_records import A_COORDINATE, Node, SyntheticSketch, drawn_in_order, noise_scale

MOST_COUNTERS = 1 << 20  # So many are fitted within a minute or so; a stranger's file should not keep anyone for hours.

Edge = tuple[int, int]  # Two axes, in increasing order.
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
MAX_COUNTERS = 1 << 24  # Of all pairs together: 128 MiB.


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

    @cached_property
    def counts(self) -> tuple[int, ...]:
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
        return score_sensitivity(neighbours, self.domain.unit.records)


def one_way(pairs: Mapping[tuple[int, ...], np.ndarray], axis: int) -> np.ndarray:
    """The counts of one axis, from those of a pair that it is in."""
    clique = next(clique for clique in pairs if axis in clique)
    return np.asarray(pairs[clique].sum(axis=tuple(at for at, other in enumerate(clique) if other != axis)))


TREE_SHARE = Fraction(1, 3)  # Share of the budget that pays for the choice of the tree, as in the paper.


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
        tables = [(tables_moved(axes, self.domain, relation), measured * axes)]
        if axes > 1:
            tables.append((tables_moved(axes - 1, self.domain, relation), measured * (axes - 1)))
        line = tuple((axis, axis + 1) for axis in range(axes - 1))
        return share_budget(self, budget, [TREE_SHARE / chosen for _ in range(chosen)], tables, self._tree(line))

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
