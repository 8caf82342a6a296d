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

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import ClassVar

import numpy as np

from ....domain import Domain
from ....errors import RequestError
from ....geometry.kernels import KERNEL, Kernel, of_coordinates
from ....geometry.simplex import nearest_with_total
from ....parameters import Seed, Settled, parameter
from ....privacy.budget import Budget
from ....privacy.neighbours import Neighbours, Sensitivity
from ....privacy.noise.noise import add_noise
from ....privacy.noise.randomness import Source as NoiseSource
from ....privacy.selection import select
from ....words.phrases import count
from ...adaptive import Adaptive, AdaptivePlan, Outcome, Read, noisy_count, share_budget
from ...card import EXPONENTIAL, Card, PrivateChoice
from ..grids.cells import Cells
from ..grids.marginals import Marginals
from ..grids.synthetic_records import A_COORDINATE, noise_scale
from .markov_model import check_installed
from .spanning_tree import MOST_COUNTERS, Edge, SpanningTree, joined

TREE_SHARE = Fraction(1, 3)
"""Share of the budget that pays for the choice of the tree, as in the paper."""
CELLS_TRIED = (4, 8, 16, 32, 64, 128)
MAX_COUNTERS = 1 << 24
"""Of all pairs together: 128 MiB."""
SCALE = 1 << 8
"""Parts of a record in which scores are counted."""
LARGEST_TOTAL = float(1 << 50)
"""Records that are expected at most, whatever the noise says, so that scores fit 64 bits."""


@dataclass(frozen=True)
class MST(Adaptive):
    """Chooses a tree of attributes, then releases counts of each attribute and of each edge.

    Parameters
    ----------
    domain, kernel : Domain, Kernel
        As for `SpanningTree`.
    cells : int | None
        Of every coordinate of numbers; categories are cells of their own. None leaves the choice to `sized_for`.
    seed : int | None
        Public; fresh when None.

    Raises
    ------
    RequestError
        When a parameter is out of range, or the tables would be too large.
    """

    domain: Domain
    kernel: Kernel = parameter(KERNEL)
    cells: Settled[int] = parameter(A_COORDINATE, None)
    seed: Settled[int] = parameter(Seed("The seed of a tree of marginals"), None)
    name: ClassVar[str] = "mst"

    def _check(self) -> None:
        super()._check()
        if self.cells is not None:
            sizes = sorted(self.counts[one] * self.counts[other] for one, other in self._pairs)
            largest_tree = sum(self.counts) + sum(sizes[len(sizes) - len(self.counts) + 1 :])
            if sum(sizes) > MAX_COUNTERS or largest_tree > MOST_COUNTERS:
                raise RequestError(
                    f"The tables of all pairs of columns may have {MAX_COUNTERS:,} counts together, and those of a "
                    f"tree {MOST_COUNTERS:,}; use fewer cells or columns."
                )

    @property
    def metric(self) -> str:
        return self.kernel.metric

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """Cells of each axis; RequestError before they are chosen."""
        if self.cells is None:
            raise RequestError("The tree has no number of cells yet; give one, or let `sized_for` choose it.")
        return Cells.of(self.domain, self.metric, self.cells).counts

    @property
    def sized(self) -> bool:
        return self.cells is not None

    def sized_for(self, budget: Budget, records: float) -> MST:
        """With the most cells for which the average count of a pair is above its noise's scale."""
        if self.sized:
            return self
        chosen = replace(self, cells=CELLS_TRIED[0])
        for cells in CELLS_TRIED[1:]:
            try:
                tried = replace(self, cells=cells)
                noise = tried.plan(budget).noises[0]
            except RequestError:
                break
            if records / cells ** min(len(tried.counts), 2) < noise_scale(noise):
                break
            chosen = tried
        return chosen

    def check_budget(self, budget: Budget) -> None:
        """Before anything is paid for, as no one could ask such a release anything here."""
        check_installed()

    @cached_property
    def _pairs(self) -> tuple[Edge, ...]:
        return tuple(combinations(range(len(self.counts)), 2))

    @property
    def first(self) -> Marginals:
        """The counts of all pairs: whatever tree is chosen, its tables are among them."""
        return Marginals(self.domain, self.metric, self.counts, self._pairs or ((0,),))

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

    def score_sensitivity(self, neighbours: Neighbours) -> int:
        """A record more moves one count of a pair by 1, and so its L1 distance from anything; replaced, two counts."""
        return SCALE * (1 if neighbours is Neighbours.ADD_REMOVE else 2) * self.domain.unit.records

    def run(self, read: Read, plan: AdaptivePlan, noise_source: NoiseSource | None = None) -> Outcome:
        pairs = dict(zip(self.first.cliques, self.first.marginals(read(self.first)), strict=True))
        exact = [self._one_way(pairs, axis) for axis in range(len(self.counts))]
        ones = add_noise(np.concatenate(exact), plan.noises[0], noise_source)
        edges = self._chosen(pairs, ones, plan, noise_source) if plan.choices else self._pairs
        sketch, table = self._tree(edges), ones
        if edges:
            joint = np.concatenate([pairs[edge].reshape(-1) for edge in edges])
            table = np.concatenate([ones, add_noise(joint, plan.noises[1], noise_source)])
        return Outcome(sketch, table, plan.noises[0], noisy_count(exact[0].sum(), plan, noise_source))

    def _one_way(self, pairs: dict[tuple[int, ...], np.ndarray], axis: int) -> np.ndarray:
        clique = next(clique for clique in pairs if axis in clique)
        return pairs[clique].sum(axis=tuple(at for at, other in enumerate(clique) if other != axis))

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

    def exact(self, queries: np.ndarray, records: np.ndarray) -> np.ndarray:
        kernel = of_coordinates(self.kernel, tuple(column.width for column in self.domain.columns))
        return kernel.evaluate(queries, records).sum(axis=1)


def pair_score(counts: np.ndarray, expected: np.ndarray) -> int:
    """L1 distance of a pair's counts from what is expected of it, in SCALEths of a record.

    Parameters
    ----------
    counts : np.ndarray
        Exact, int64.
    expected : np.ndarray
        int64 of the same shape, in SCALEths of a record; the same for all neighbours.
    """
    return int(np.abs(SCALE * counts - expected).sum())


CARD = Card(
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
