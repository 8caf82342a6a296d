"""PrivBayes (Zhang, Cormode, Procopiuc, Srivastava, Xiao: SIGMOD 2014; ACM TODS 42, 2017): a private Bayesian network.

The network (GreedyBayes): the first attribute is any; each further one is chosen together with its k parents among
those already there, by the exponential mechanism on the score R, half the L1 distance between the joint distribution of
attribute and parents and the product of their own. Then the d - k joint tables of the network get noise
(NoisyConditionals). β = 0.3 of the budget pays for the network, the rest for the tables.

Beyond the paper: the domain is public, as a histogram's is; one reading of the records suffices, in which all tables of
k + 1 axes are filled, and what is refused is refused before anything is paid; noise and choices are exact; nothing is
paid for a network that leaves nothing to choose (k = d - 1). The scores (`dependence`) work where the number of records
is private too, with a smaller sensitivity than the paper's. Under (epsilon, delta) shares are of ρ, and tables get
Gaussian noise.

A Bayesian network of noisy tables: each attribute given a few others (Zhang et al., SIGMOD 2014; ACM TODS 42, 2017).

The joint tables of attribute and parents get noise (NoisyConditionals); those of the first k attributes are read
off the first of them. Synthetic records are drawn attribute by attribute. `privbayes` chooses the network.

How far two attributes are from independent, as a score for private choices: PrivBayes' R, in counts.

For a joint table c of n records with row sums r and column sums q,

    f(c) = sum over cells of |c - r q / n|  =  2 n R,

R being the paper's score, half the L1 distance between the joint distribution and the product of its own marginals
(Zhang et al. 2017). The paper scores R itself, whose sensitivity 3/n + 2/n² supposes that n is public. f moves by a
constant, so it serves where n is private too:

* one record more: f moves by at most 4 n / (n + 1) < 4. With e the new record's cell, and r e, q e for its column with
  the old row sums and its row with the old column sums, the table c - r q / n changes by
  e n / (n + 1) + r q / (n (n + 1)) - (r e + q e) / (n + 1), whose four terms have L1 norms n / (n + 1) each. A record
  in a row and a column of its own, next to records that are all in one cell, reaches it.
* one record replaced: f moves by less than 6. f / (2 n) is the distance in total variation of the joint distribution
  and the product; the joint distribution moves by 1/n and the product by 1 - (1 - 1/n)² at most, so f moves by 6 - 2/n.
  That is 2 n times 3/n - 1/n², where the paper has 3/n + 2/n². Tables of three by three come as close to 6 as one likes
  as n grows. Where one of the two records is left out, f moves by less than 4, as above.

Whole numbers: the score is floor(SCALE f). As |a - b| <= D for a whole number D gives |floor a - floor b| <= D,
rounding costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property
from itertools import combinations
from typing import ClassVar

import numpy as np

from ...domain import Domain
from ...errors import RequestError
from ...formatting.numbers import count
from ...geometry.kernels import KERNEL, Kernel
from ...geometry.uniforms import PublicRandom
from ...privacy.budget import Budget, Neighbours
from ...privacy.choosing.selection import select
from ...privacy.noise.noise import add_noise
from ...privacy.noise.randomness import Source as NoiseSource
from ...runtime.parameters import Kind, Resolved, Seed, Several, Whole, check_integer, parameter
from ...sketches.adaptive import Adaptive, AdaptivePlan, Outcome, Read, noisy_count, share_budget
from ...sketches.mechanism_spec import EXPONENTIAL, MechanismSpec, PrivateChoice
from .grid_cells import COUNTS, MAX_AXES, MAX_CLIQUES, Cells, Marginals, tables_moved
from .synthetic_records import A_COORDINATE, Node, SyntheticSketch, drawn_in_order, noise_scale

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

    RequestError when the network is none of this kind, or the tables would be too large.
    """

    domain: Domain
    kernel: Kernel = parameter(KERNEL)  # Any kernel of places, whose sums are estimated.
    counts: tuple[int, ...] = parameter(COUNTS)  # Cells of each axis; see `Cells`.
    # Every axis once, with its parents, which come before it: the first k have all those before them, and the others k
    # each.
    network: tuple[Node, ...] = parameter(Several("The nodes of a Bayesian network", NodeKind()))
    # Of the public random numbers that synthetic records are drawn with.
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


SCALE = 1 << 8  # Parts of a record in which scores are counted.
LARGEST_PRODUCT = 1 << 61


def dependence(joint: np.ndarray) -> int:
    """floor(SCALE f) of a joint table of counts, exact.

    `joint`: int64 (rows, columns), not negative; one axis is an attribute, the other all combinations of its parents.
    """
    records = int(joint.sum())
    if records == 0:
        return 0
    if 2 * records * records >= LARGEST_PRODUCT:
        joint = joint.astype(object)  # Python's whole numbers, which have no end
    products = joint.sum(axis=1)[:, None] * joint.sum(axis=0)[None, :]
    return SCALE * int(np.abs(records * joint - products).sum()) // records


def dependence_sensitivity(neighbours: Neighbours) -> int:
    """How far one record moves `dependence`; the proof is at the top."""
    return SCALE * (4 if neighbours is Neighbours.ADD_REMOVE else 6)


CELLS = 16  # Cells of every coordinate of numbers, as in the paper's experiments.
NETWORK_SHARE = Fraction(3, 10)  # β: share of the budget that pays for the network, as in the paper's experiments.
USEFULNESS = 4  # θ: the least ratio of an average count to its noise's scale, as in the paper's experiments.
MAX_COUNTERS = 1 << 24  # Of all tables of k + 1 axes together: 128 MiB.
_FIRST = 52  # Label of the stream of public randomness that picks the first attribute.


@dataclass(frozen=True)
class PrivBayes(Adaptive):
    """Chooses a Bayesian network of the records, then releases its tables.

    RequestError when a parameter is out of range, or the tables would be too large.
    """

    # As for `BayesianNetwork`.
    domain: Domain
    kernel: Kernel = parameter(KERNEL)
    cells: int = parameter(A_COORDINATE, CELLS)  # Of every coordinate of numbers; categories are cells of their own.
    # k, how many parents an axis has; None leaves the choice to `sized_for`. 0 takes axes to be independent.
    degree: Resolved[int] = parameter(Whole("The degree of a network", 0, MOST_DEGREE), None)
    seed: Resolved[int] = parameter(Seed("The seed of a Bayesian network"), None)  # Public; fresh when None.
    name: ClassVar[str] = "privbayes"

    def _check(self) -> None:
        super()._check()
        _ = self.counts
        if self.degree is not None:
            check_integer(self.degree, "The degree of a network", 0, min(MOST_DEGREE, len(self.counts) - 1))
            self._check_tables()

    def _check_tables(self) -> None:
        tables = math.comb(len(self.counts), self.degree + 1)
        if tables > MAX_CLIQUES or sum(map(self._size, self._families)) > MAX_COUNTERS:
            raise RequestError(
                f"All tables of {self.degree + 1} columns together would be too large: there may be {MAX_CLIQUES:,} of "
                f"them, of {MAX_COUNTERS:,} counts in all; use a lower degree or fewer cells."
            )

    @cached_property
    def counts(self) -> tuple[int, ...]:
        return Cells.of(self.domain, self.metric, self.cells).counts

    @property
    def sized(self) -> bool:
        return self.degree is not None

    def sized_for(self, budget: Budget, records: float) -> PrivBayes:
        """With the largest degree whose tables have counts well above their noise (θ-usefulness)."""
        if self.sized:
            return self
        chosen = replace(self, degree=0)
        for degree in range(1, min(MOST_DEGREE, len(self.counts) - 1) + 1):
            try:
                tried = replace(self, degree=degree)
                noise = tried.plan(budget).noises[0]
            except RequestError:
                break
            largest = math.prod(sorted(self.counts)[-degree - 1 :])
            if records / largest < USEFULNESS * noise_scale(noise):
                break
            chosen = tried
        return chosen

    @cached_property
    def _families(self) -> tuple[tuple[int, ...], ...]:
        if self.degree is None:
            raise RequestError("The network has no degree yet; give one, or let `sized_for` choose it.")
        return tuple(combinations(range(len(self.counts)), self.degree + 1))

    def _size(self, axes: tuple[int, ...]) -> int:
        return math.prod(self.counts[axis] for axis in axes)

    @property
    def first(self) -> Marginals:
        """The tables of all sets of k + 1 axes: whatever is chosen, its tables are among them."""
        return Marginals(self.domain, self.metric, self.counts, self._families)

    @property
    def _rounds(self) -> tuple[int, ...]:
        """Places in the network for which something is chosen."""
        axes = len(self.counts)
        if self.degree in (0, axes - 1):
            return ()  # all networks of this degree are the same distribution
        return tuple(range(1, axes))

    def plan(self, budget: Budget) -> AdaptivePlan:
        rounds = self._rounds
        choices = [NETWORK_SHARE / len(rounds) for _ in rounds]
        moved = tables_moved(len(self.counts) - self.degree, self.domain, budget.neighbours)
        shared = moved, 1 - NETWORK_SHARE if rounds else Fraction(1)
        return share_budget(self, budget, choices, [shared], self._network(self._in_order()))

    def run(self, read: Read, plan: AdaptivePlan, noise_source: NoiseSource | None = None) -> Outcome:
        exact = dict(zip(self._families, self.first.marginals(read(self.first)), strict=True))
        network = self._chosen(exact, plan, noise_source) if self._rounds else self._in_order()
        sketch = self._network(network)
        table = np.concatenate([exact[clique].reshape(-1) for clique in sketch.marginals.cliques])
        count = noisy_count(exact[self._families[0]].sum(), plan, noise_source)
        return Outcome(sketch, add_noise(table, plan.noises[0], noise_source), plan.noises[0], count)

    def _chosen(
        self, exact: Mapping[tuple[int, ...], np.ndarray], plan: AdaptivePlan, noise_source: NoiseSource | None
    ) -> tuple[Node, ...]:
        """The network, axis by axis (GreedyBayes)."""
        axes = len(self.counts)
        root = int(PublicRandom(self.seed, _FIRST).words(1)[0] % np.uint64(axes))
        sensitivity = dependence_sensitivity(plan.budget.neighbours) * self.domain.unit.records
        score = cache(lambda child, parents: dependence(_joint(exact, child, parents)))
        network: list[Node] = [(root, ())]
        for price in plan.choices:
            inside = sorted(child for child, _ in network)
            outside = [axis for axis in range(axes) if axis not in inside]
            sets = list(combinations(inside, min(self.degree, len(inside))))
            candidates = [(child, parents) for child in outside for parents in sets]
            scores = np.array([score(*node) for node in candidates], dtype=np.int64)
            network.append(candidates[select(scores, sensitivity, price, noise_source)])
        return tuple(network)

    def _network(self, network: tuple[Node, ...]) -> BayesianNetwork:
        return BayesianNetwork(self.domain, self.kernel, self.counts, network, self.seed)

    def _in_order(self) -> tuple[Node, ...]:
        """The axes as they stand, each with the k before it."""
        return tuple((axis, tuple(range(max(0, axis - self.degree), axis))) for axis in range(len(self.counts)))


def _joint(exact: Mapping[tuple[int, ...], np.ndarray], child: int, parents: tuple[int, ...]) -> np.ndarray:
    """The table of an axis and its parents, int64 (cells, parents' cells), from one of a set of axes with them all."""
    wanted = tuple(sorted((child, *parents)))
    # The first few axes of a network have fewer parents than k.
    family = wanted if wanted in exact else next(axes for axes in exact if set(wanted) <= set(axes))
    others = tuple(at for at, axis in enumerate(family) if axis not in wanted)
    table = np.moveaxis(exact[family].sum(axis=others), wanted.index(child), 0)
    return table.reshape(len(table), -1)


CARD = MechanismSpec(
    "privbayes",
    "PrivBayes",
    "Zhang et al. 2017",
    "For every column a few others that say most about it are chosen under noise, counts of their combinations get "
    "noise, and made-up people are drawn column by column.",
    sketch=BayesianNetwork,
    make=lambda facts: PrivBayes(
        facts.domain, facts.closeness, CELLS if facts.size is None else facts.size, seed=facts.seed
    ),
    rank=28,
    size="cells a coordinate",
    sizes=(8, 16, 32, 64),
    holds=lambda sketch: (
        f"a network of {count(len(sketch.marginals.cliques), 'table')}, with {count(sketch.shape[0], 'counter')} in all"
    ),
    choice=PrivateChoice("Which columns belong together", EXPONENTIAL),
    example={"bounds": ["x=0:1", "y=0:1", "z=0:1"]},  # two columns leave no choice
)
