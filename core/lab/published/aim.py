"""AIM (McKenna, Mullins, Sheldon, Miklau: "AIM: An Adaptive and Iterative Mechanism", VLDB 2022).

All single attributes get noise first. Then, round by round, a Markov random field is fitted to all that was measured;
the table that it tells worst is chosen by the exponential mechanism, and gets noise. A table counts by how many of the
asked ones, here all pairs, it says something of; what its noise would add anyway is taken off; and no model may grow
larger than the share of the budget that is spent allows. Where a measurement hardly changed the model, the next rounds
have half the noise and twice the price of a choice ("annealing"). The last round takes all that is left.

**Why it keeps its promise although prices depend on what was seen.** Each round is a choice that is ε²/8-zCDP
(`core.privacy.choosing.selection`) and a table with discrete Gaussian noise that is Δ²/(2σ²)-zCDP, whatever came
before; how much either costs is decided from what was released in earlier rounds alone, and no round begins that would
bring the sum of all these ρ above the total, which is fixed before the first. Under such a filter the whole is ρ-zCDP
(fully adaptive composition: Feldman, Zrnic 2021, for each order of Rényi's divergence; Whitehouse, Ramdas, Rogers, Wu
2023). So the ledger gets one entry of this ρ, and claims zCDP of it and nothing sharper.

**In whole numbers.** A table of weight w is released as w times its counts with noise of one and the same σ², so it
costs w² Δ²/(2σ²), and a choice beside it w² times what one of weight 1 does. Of a capacity K, the sum of all w², with
σ² = K Δ²/(2 ρ₁) and ε₁² = 8 ρ₂ / K, ρ₁ + ρ₂ = ρ, tables cost ρ₁ Σw²/K and choices no more than ρ₂ Σw²/K. So the filter
compares whole numbers: the sum of all w² against K. Rounds begin with `FIRST`, and annealing doubles it.

One reading of the records suffices, in which all pairs are counted. Under pure ε there is no AIM.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from ...errors import RequestError
from ...formatting.numbers import count
from ...privacy.accounting import Cost
from ...privacy.budget import Budget, Neighbours, Sensitivity
from ...privacy.calibration import gaussian_scale, largest_rho
from ...privacy.choosing.selection import select
from ...privacy.composition import Gaussian
from ...privacy.noise.noise import add_noise
from ...privacy.noise.randomness import Source as NoiseSource
from ...runtime.parameters import Resolved, Seed, parameter
from ...sketches.adaptive import LARGEST_TOTAL, SCALE, AdaptivePlan, Outcome, Read, pair_score, price_of
from ...sketches.mechanism_spec import EXPONENTIAL, MechanismSpec, PrivateChoice
from .markov_model import MOST_IN_MODEL, MeasuredCliques, drawing_order, model_size
from .mst import ChoosesPairs, one_way

CHOICES_SHARE = Fraction(1, 10)  # Share of the budget that pays for choices, as in the paper.
ROUNDS_AN_AXIS = 16  # Rounds at most, by which the first noise is set, as in the paper.
FIRST = 16  # Weight of the first tables; any would do, and the last round's is rounded down to a whole number.
ITERATIONS = 500  # Steps of a fit between rounds, whose model only guides the next choice.
HALF_NORMAL = math.sqrt(2.0 / math.pi)  # Mean absolute value of a normal number.
PAIR = 2  # What a pair counts where a single attribute counts 1: the asked pairs share 2 (d - 1) of its axes, and d - 1


@dataclass(frozen=True)
class AIM(ChoosesPairs):
    """Chooses tables round by round by what the model so far tells worst.

    Its parameters are those of `ChoosesPairs`.
    """

    seed: Resolved[int] = parameter(Seed("The seed of chosen marginals"), None)
    name: ClassVar[str] = "aim"
    largest_model: ClassVar[int] = MOST_IN_MODEL  # Cells that the model may hold when all is spent.
    iterations: ClassVar[int] = ITERATIONS  # Steps of a fit between rounds at most.

    def _check(self) -> None:
        super()._check()
        if self.cells is not None and sum(self.counts) > MOST_IN_MODEL:
            raise RequestError(f"The columns may have {MOST_IN_MODEL:,} cells in all; use fewer cells or columns.")

    def check_budget(self, budget: Budget) -> None:
        if budget.pure:
            raise RequestError("The mechanism aim keeps a promise with a delta alone, as its rounds add up in zCDP.")
        super().check_budget(budget)

    def typical_noise(self, budget: Budget) -> float:
        return math.sqrt(self.plan(budget).noises[0].variance) / FIRST

    @property
    def capacity(self) -> int:
        """K: what the squares of all weights may add up to."""
        return ROUNDS_AN_AXIS * len(self.counts) * FIRST**2

    def plan(self, budget: Budget) -> AdaptivePlan:
        """The noise of all tables, and as the only choice the price of one beside a table of weight 1."""
        self.check_budget(budget)
        relation = budget.neighbours
        moved = self.capacity if relation is Neighbours.ADD_REMOVE else 2 * self.capacity
        sensitivity = Sensitivity(moved, moved).scaled(self.domain.unit.records)
        rho = Fraction(largest_rho(float(budget.epsilon), float(budget.delta)))
        noise = gaussian_scale(sensitivity, rho * (1 - CHOICES_SHARE))
        price = price_of(rho * CHOICES_SHARE / self.capacity)
        public = self._released(((0,),), (1,)).count_is_public(relation)
        return AdaptivePlan(
            budget, (price,), (noise,), None, public, Cost((Gaussian(rho),), budget.epsilon, budget.delta)
        )

    def run(self, read: Read, plan: AdaptivePlan, noise_source: NoiseSource | None = None) -> Outcome:
        pairs = dict(zip(self.first.cliques, self.first.marginals(read(self.first)), strict=True))
        exact = {(axis,): one_way(pairs, axis) for axis in range(len(self.counts))} | pairs
        rounds = _Rounds(self, plan, exact, noise_source)
        for axis in range(len(self.counts)):
            rounds.measure((axis,), FIRST)
        if len(self.counts) > 1:
            rounds.go_on()
        sketch, table = rounds.released
        return Outcome(sketch, table, plan.noises[0], int(exact[0,].sum()) if plan.counts else None)

    def _released(self, cliques: tuple[tuple[int, ...], ...], weights: tuple[int, ...]) -> MeasuredCliques:
        return MeasuredCliques(self.domain, self.kernel, self.counts, cliques, weights, self.seed)


class _Rounds:
    """What was measured so far, and what is left of the budget.

    `mechanism`, `plan`: With what it was paid for. `exact`: Private counts of all candidates. `noise_source`: As for
    `Adaptive.run`.
    """

    def __init__(
        self,
        mechanism: AIM,
        plan: AdaptivePlan,
        exact: dict[tuple[int, ...], np.ndarray],
        noise_source: NoiseSource | None,
    ) -> None:
        self.mechanism, self.plan, self.noise_source = mechanism, plan, noise_source
        self._exact = exact
        self.candidates = tuple(exact)
        self.cliques: list[tuple[int, ...]] = []
        self.weights: list[int] = []
        self.tables: list[np.ndarray] = []

    @property
    def left(self) -> int:
        return self.mechanism.capacity - sum(weight**2 for weight in self.weights)

    @property
    def released(self) -> tuple[MeasuredCliques, np.ndarray]:
        return self.mechanism._released(tuple(self.cliques), tuple(self.weights)), np.concatenate(self.tables)

    def measure(self, clique: tuple[int, ...], weight: int) -> None:
        """Release a table; RuntimeError where the budget has no room for it, which is the filter."""
        if weight**2 > self.left:
            raise RuntimeError("A round of aim would cost more than is left of what was paid for.")
        counters = weight * self._exact[clique].reshape(-1)
        self.cliques.append(clique)
        self.weights.append(weight)
        self.tables.append(add_noise(counters, self.plan.noises[0], self.noise_source))

    def go_on(self) -> None:
        """Round after round, until nothing is left."""
        weight, model = FIRST, self._model()
        while self.left:
            if self.left < 2 * weight**2:
                weight = math.isqrt(self.left)  # the last one
            clique = self._chosen(model, weight)
            before = model[clique]
            last = self.left - weight**2 < FIRST**2
            self.measure(clique, weight)
            if last:
                break
            model = self._model()
            if np.abs(model[clique] - before).sum() <= self._noise(clique, weight):
                weight *= 2

    def _model(self) -> dict[tuple[int, ...], np.ndarray]:
        """What the model says of all candidates: a function of what was released alone."""
        sketch, table = self.released
        found = sketch.fitted(table, self.candidates, self.mechanism.iterations)
        # So that scores fit 64 bits, whatever the noise says.
        bounded = (told * min(1.0, LARGEST_TOTAL / max(told.sum(), 1.0)) for told in found)
        return dict(zip(self.candidates, bounded, strict=True))

    def _noise(self, clique: tuple[int, ...], weight: int) -> float:
        """What noise adds on average to the L1 distance of a table's counts."""
        deviation = math.sqrt(self.plan.noises[0].variance) / weight
        return HALF_NORMAL * deviation * self.mechanism._size(clique)

    def _chosen(self, model: dict[tuple[int, ...], np.ndarray], weight: int) -> tuple[int, ...]:
        """The candidate that the model tells worst, by the exponential mechanism: weight times the least price.

        A score is a pair's distance times `PAIR`, so it moves by as much more; what is taken off for noise is public.
        """
        allowed = self._allowed(weight)
        scores = np.array([self._score(clique, model[clique], weight) for clique in allowed], dtype=np.int64)
        sensitivity = PAIR * self.mechanism.score_sensitivity(self.plan.budget.neighbours)
        return allowed[select(scores, sensitivity, self.plan.choices[0] * weight, self.noise_source)]

    def _score(self, clique: tuple[int, ...], told: np.ndarray, weight: int) -> int:
        expected = np.rint(SCALE * told).astype(np.int64)
        noise = round(SCALE * min(self._noise(clique, weight), LARGEST_TOTAL))
        off = pair_score(self._exact[clique], expected) - noise
        return len(clique) * off  # `PAIR` for a pair

    def _allowed(self, weight: int) -> list[tuple[int, ...]]:
        """Candidates with which the model keeps below the share of the largest one that is spent by then."""
        capacity, counts = self.mechanism.capacity, self.mechanism.counts
        largest = self.mechanism.largest_model * (capacity - self.left + weight**2) // capacity
        found = []
        for clique in self.candidates:
            known = clique in self.cliques
            if known or model_size(counts, drawing_order(counts, [*self.cliques, clique])) <= largest:
                found.append(clique)
        return found


CARD = MechanismSpec(
    "aim",
    "AIM",
    "McKenna et al. 2022",
    "Round by round, the columns or pairs of columns that a model tells worst are chosen under noise and counted with "
    "noise, and made-up people are drawn from the model that fits all counts.",
    sketch=MeasuredCliques,
    make=lambda facts: AIM(facts.domain, facts.closeness, facts.size, seed=facts.seed),
    rank=30,
    size="cells a coordinate",
    sizes=(8, 16, 32, 64),
    holds=lambda sketch: (
        f"{count(len(sketch.cliques), 'chosen table')} with {count(sketch.shape[0], 'counter')} in all"
    ),
    needs_delta=True,
    choice=PrivateChoice("Which columns and pairs are counted, and how exactly", EXPONENTIAL),
    example={"bounds": ["x=0:1", "y=0:1", "z=0:1"]},
)
