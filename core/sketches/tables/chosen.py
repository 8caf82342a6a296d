"""Pairs of columns that are chosen under the promise: those that hang together most, where not all can be seen.

Where columns are many and people few, `sizing` leaves pairs out by public sizes alone. Here the number of pairs is the
same, and which ones they are is chosen as AIM does (McKenna, Mullins, Sheldon, Miklau, VLDB 2022), in one round, as
what is not counted is guessed from single columns anyhow:

1. Single columns with their halvings are measured: their contrasts get noise.
2. Every pair is scored by the L1 distance of its counts from what the best guess of the single columns says of columns
   that have nothing to do with each other, less what noise would add to its cells. One after the other, pairs are
   chosen by the exponential mechanism (`core.privacy.choosing.selection`), each among those that are left, and first of
   all among those that join what none has joined: a tree says of all its columns how they hang together.
3. The residuals of the chosen pairs are measured, with the same noise in every counter.

**Why it keeps its promise.** Let ρ be the largest for which ρ-zCDP gives (ε, δ). K choices of ε₀ each are
K ε₀²/8-zCDP, a tenth of ρ: a score is a distance from what is the same for all neighbours once step 1 is known, so a
person moves it by `score_sensitivity` at most, and the penalty is public. What is left of ρ pays for noise of variance
σ², ρ = T/(2σ²), T a squared length. For a given pair of neighbours, step 1 moves its counters by some squared length
F₁, and costs F₁/(2σ²); step 3 costs F₂(C)/(2σ²) for the set C that was chosen. Whatever was chosen, weights of pairs
are such that no person moves all counters of the released table together by more than T, F₁ + F₂(C) <= T (`farthest`
has the proof, in whole numbers, under either relation). Rényi divergences of the steps add up, each at its worst over
what came before (Bun, Steinke 2016, Lemma 2.3), so the whole is ρ-zCDP. ∎ As F₁ is that of the same two neighbours in
both terms, nothing is lost by measuring in two steps: it is as if all residuals were one table.

What is released are ordinary `Tables`, and intervals are theirs: noise in a pair is drawn after it was chosen.

**Under pure ε** noise grows with the number of tables, so a few hundredths of it ask the records first how many pairs
are worth counting (`core.sketches.tables.pair_ways`), unless somebody says how many. Where it is none or all, their
cells are counted with what is left. Otherwise 15% of that choose pairs by report noisy max, those of a tree first, too
(`best_guess`). Single columns and the chosen pairs are counted with Laplace noise of scale Δ/ε', Δ the sum of their
weights, which is the same whatever was chosen. Pure promises add up, also where each looks at what came before
(Dwork, Roth 2014, Theorem 3.16 and section 3.5.1): the question how many, the K choices, and w/(Δ/ε') for every table
of weight w. ∎
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from ...domain import Domain
from ...errors import RequestError
from ...formatting.numbers import count
from ...privacy.accounting import Cost
from ...privacy.budget import Budget, Neighbours, Sensitivity
from ...privacy.calibration import NoiseScale, gaussian_scale, largest_rho
from ...privacy.choosing.selection import select
from ...privacy.composition import Gaussian, Selections
from ...privacy.noise.randomness import Source as NoiseSource
from ...runtime.parameters import Resolved, Several, Whole, parameter
from ..adaptive import Adaptive, AdaptivePlan, Outcome, Read, price_of, score_sensitivity
from ..answers import check_points
from ..linear import LinearSketch
from ..mechanism_spec import MechanismSpec, PrivateChoice, PublicInputs
from .best_guess import BestGuess
from .pair_ways import CHOICES_SHARE, LARGEST_PRICE, PureWays, Way, apart, exact_counts, of_one, tree_first, with_noise
from .table_axes import METRIC, number_axes
from .table_filling import Counted, Filling
from .table_layout import Columns
from .table_sizes import MAX_TABLES, all_pairs, cut_for_choice, few_cells_first, with_singles
from .table_weights import added, for_squares, for_sums, replaced, singles_weight
from .tables import MOST_BINS, MOST_HALVINGS, Tables

_WAY = Several("A number of pairs and its noise", Whole("A number of pairs or records", 0, 1 << 40), 3, 3)
FINER = 4  # Times the usual weights, so that those of pairs, which are rounded down, lose half a per cent.


@dataclass(frozen=True)
class ChosenTables(Adaptive):
    """Tables of all single columns, and of pairs that are chosen under noise.

    RequestError when a parameter is out of range or does not fit the domain, or the tables of all pairs would be too
    large.

    Parameters
    ----------
    domain : Domain
        The public facts about the records, of three columns or more.
    bins, halvings : tuple[int, ...] | None, tuple[int, ...] | None
        As of `Tables`; None leaves them to `sized_for`.
    pairs : int | None
        How many pairs; likewise.
    ways : tuple[tuple[int, int, int], ...] | None
        Under a pure promise instead: numbers of pairs that may be counted, each with its noise (`pair_ways.Way`), a
        public guess; likewise.
    price : int
        The percentage of the promise that asks the records which of them it is.
    """

    domain: Domain
    bins: Resolved[tuple[int, ...]] = parameter(
        Several("The numbers of bins", Whole("The number of bins of a column", 2, MOST_BINS)), None
    )
    halvings: Resolved[tuple[int, ...]] = parameter(
        Several("The halvings", Whole("The number of halvings of a column", 0, MOST_HALVINGS)), None
    )
    pairs: Resolved[int] = parameter(Whole("The number of pairs", 1, MAX_TABLES), None)
    ways: Resolved[tuple[tuple[int, int, int], ...]] = parameter(Several("The numbers of pairs", _WAY, 1), None)
    price: int = parameter(Whole("The percentage of a pure promise that asks the records", 1, 50), LARGEST_PRICE)
    name: ClassVar[str] = "tables"
    asked_for: ClassVar[str] = "tables"
    needs_records: ClassVar[bool] = False
    keeps_gaps: ClassVar[bool] = True
    metric = METRIC

    def _check(self) -> None:
        check_points(self.domain)  # circles have cells of their own
        columns = len(self._open.axes)
        if columns < 3:
            raise RequestError("Pairs are chosen among three columns or more; of fewer, there is but one pair.")
        most = math.comb(columns, 2)
        pairs = max([self.pairs or 0, *(pairs for pairs, *_ in self.ways or ())])
        if pairs > most:
            raise RequestError(f"Of {columns:,} columns there are {most:,} pairs, so no {pairs:,} can be chosen.")
        if self.sized:
            _ = self.first  # refuses tables that are too large

    @property
    def sized(self) -> bool:
        return None not in (self.bins, self.halvings) and (self.pairs is not None or self.ways is not None)

    def sized_for(self, budget: Budget, records: float) -> LinearSketch | Adaptive:
        """With as many pairs as can be seen and the cells that suit them; plain tables where that is all or none.

        Then there is nothing to choose, or nothing that would be worth its price. Under a pure promise, with the
        numbers of pairs among which the records decide.
        """
        if self.sized:
            return self
        cut = cut_for_choice(self._open, budget, records)
        seen = self.pairs or len(cut.pairs)
        chosen = replace(self, bins=cut.bins, halvings=cut.halvings)
        if budget.pure and self.pairs is None:
            asked = chosen._purely.priced(budget, records)
            if asked is not None:
                return replace(chosen, ways=asked.ways, price=asked.price)
            seen = 0
        if seen in (0, math.comb(len(cut.axes), 2)):
            return replace(self._open, tables=None).sized_for(budget, records)
        return replace(chosen, pairs=seen)

    @property
    def _purely(self) -> PureWays:
        return PureWays(self._open, tuple(Way(*way) for way in self.ways or ()), self.price, self.pairs)

    @property
    def _open(self) -> Tables:
        return Tables(self.domain, self.bins, self.halvings)

    @cached_property
    def first(self) -> Tables:
        """The counts of all pairs, and of fine cells: everything that is scored and measured follows from them."""
        return replace(self._open, tables=all_pairs(len(self._open.axes))).counting()

    @cached_property
    def _every(self) -> Tables:
        """The contrasts of all single columns, with their weights, and of all pairs."""
        usual = self.alike
        given = {(block.columns, block.level): w for block, w in zip(usual.layout.blocks, usual.weights, strict=True)}
        every = replace(self._open, tables=all_pairs(len(self._open.axes))).measuring_contrasts()
        weights = (given[block.columns, block.level] if of_one(block) else 1 for block in every.layout.blocks)
        return replace(every, weights=tuple(weights))

    @cached_property
    def alike(self) -> Tables:
        """The tables that public sizes would choose, with the best weights: so long may the released table be.

        What is released has as many tables and counters as noisy; forecasts are made with this one.
        """
        sides = [axis.cells for axis in self._open.axes]
        pairs = few_cells_first(all_pairs(len(sides)), sides)[: self.pairs]
        tables = with_singles(pairs, len(sides))
        best = replace(self._open, tables=tables).measuring_contrasts(for_squares, singles_weight(tables, sides))
        return replace(best, weights=tuple(FINER * weight for weight in best.weights))

    def alike_under(self, budget: Budget) -> Tables:
        """Tables as many and as noisy as are released at most, with the last noise of the plan: for forecasts."""
        return self._purely.noisiest if budget.pure else self.alike

    def plan(self, budget: Budget) -> AdaptivePlan:
        """Equal prices for all choices, and the noise of all counters."""
        if budget.pure:
            return self._purely.plan(budget)
        if self.pairs is None:
            raise RequestError(
                "How many pairs are counted is asked of the records under a pure promise alone; say pairs."
            )
        rho = Fraction(largest_rho(float(budget.epsilon), float(budget.delta)))
        price = price_of(rho * CHOICES_SHARE / self.pairs)
        moved = self._capacity(budget.neighbours)
        noise = gaussian_scale(Sensitivity(moved, moved), rho * (1 - CHOICES_SHARE))
        events = (Selections(price, self.pairs), Gaussian(rho * (1 - CHOICES_SHARE)))
        public = self.alike.count_is_public(budget.neighbours)
        prices = (price,) * self.pairs
        return AdaptivePlan(budget, prices, (noise,), None, public, Cost(events, budget.epsilon, budget.delta))

    def _capacity(self, neighbours: Neighbours) -> int:
        """T: the squared length by which a person may move the released table.

        With pairs of weight 1, which is a small part of their usual weight, any tables fit.
        """
        return self.alike.sensitivity(neighbours).l2_squared

    def run(self, read: Read, plan: AdaptivePlan, noise_source: NoiseSource | None = None) -> Outcome:
        counts = exact_counts(self.first, read(self.first))
        if plan.budget.pure:
            return self._purely.run(counts, plan, noise_source)
        exact = self._every.zeros()
        Filling(self._every.layout, self._every.weights).add_counts(exact, counts.counted, counts.fine)
        (noise,) = plan.noises
        alone = {(block.columns, block.level): block.place for block in self._every.layout.blocks if of_one(block)}
        noisy = with_noise({key: exact[place] for key, place in alone.items()}, noise, noise_source)
        chosen = self._chosen(counts.counted, noisy, plan, noise_source)
        sketch = self._released(chosen, plan.budget.neighbours)
        blocks = list(zip(sketch.layout.blocks, sketch.weights, strict=True))
        of_pairs = {block.columns: weight for block, weight in blocks if not of_one(block)}
        places = {block.columns: block.place for block in self._every.layout.blocks if not of_one(block)}
        measured = with_noise(
            {(pair, 0): weight * exact[places[pair]] for pair, weight in of_pairs.items()}, noise, noise_source
        )
        table = np.concatenate([(noisy | measured)[block.columns, block.level] for block, _ in blocks])
        records = int(counts.counted.table(0).sum()) if plan.counts else None
        return Outcome(sketch, table, noise, records)

    def _chosen(
        self,
        counted: Counted,
        noisy: Mapping[tuple[Columns, int], np.ndarray],
        plan: AdaptivePlan,
        noise_source: NoiseSource | None,
    ) -> list[Columns]:
        """The pairs that single columns tell worst, by the exponential mechanism, one after the other, a tree first."""
        scores = self._scores(counted, noisy, plan.noises[0])
        moved = score_sensitivity(plan.budget.neighbours, self.domain.unit.records)
        prices = iter(plan.choices)
        return tree_first(
            self._every.tables, scores, len(plan.choices), lambda some: select(some, moved, next(prices), noise_source)
        )

    def _scores(
        self, counted: Counted, noisy: Mapping[tuple[Columns, int], np.ndarray], noise: NoiseScale
    ) -> np.ndarray:
        """Of every pair, int64; private."""
        table = np.zeros(self._every.shape)
        for block in self._every.layout.blocks:
            if of_one(block):
                table[block.place] = noisy[block.columns, block.level]
        guess = BestGuess(self._every.reading(table, noise.variance, None, math.inf))
        usual = self.alike
        pair, weight = next((b, w) for b, w in zip(usual.layout.blocks, usual.weights, strict=True) if not of_one(b))
        return apart(
            counted, self.first.tables, guess, math.sqrt(noise.variance) / (weight * usual.layout.unit(pair.columns))
        )

    def _released(self, chosen: Sequence[Columns], neighbours: Neighbours) -> Tables:
        """The chosen pairs, with the largest weights with which no person moves the table further than T."""
        plain = replace(self._open, tables=with_singles(chosen, len(self._every.axes))).measuring_contrasts()
        layout = plain.layout
        given = {(b.columns, b.level): w for b, w in zip(self._every.layout.blocks, self._every.weights, strict=True)}
        longest = max(layout.unit(block.columns) for block in layout.blocks if not of_one(block))

        def weights(scale: int) -> tuple[int, ...]:
            """With contrasts of pairs `scale` times as long as the longest, or a little less."""
            return tuple(
                given[block.columns, block.level]
                if of_one(block)
                else max(1, scale * longest // layout.unit(block.columns))
                for block in layout.blocks
            )

        def fits(scale: int) -> bool:
            if neighbours is Neighbours.REPLACE_ONE:
                moved = replaced(layout, weights(scale), self.domain.keeps_every_record)
            else:
                moved = added(layout, weights(scale))
            return moved.scaled(self.domain.unit.records).l2_squared <= self._capacity(neighbours)

        low, high = 1, 2
        while fits(high):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if fits(middle) else (low, middle)
        if not fits(low):
            raise RuntimeError("The chosen tables would move further than was paid for.")
        return replace(plain, weights=weights(low), choosing="privately")

    def exact(self, queries: np.ndarray, records: np.ndarray) -> np.ndarray:
        return self.first.exact(queries, records)


def _chosen(facts: PublicInputs) -> ChosenTables:
    if facts.by:
        raise RequestError(
            "Columns to count the others by already say which pairs are counted, so none are left to choose."
        )
    numbers = number_axes(facts.domain)
    given = (facts.size, 0 if facts.halvings is None and facts.size is not None else facts.halvings)
    bins, halvings = (None if each is None else (each,) * numbers for each in given)
    return ChosenTables(facts.domain, bins, halvings)


def _made(facts: PublicInputs) -> Tables | Adaptive:
    if facts.tables == "chosen":
        return _chosen(facts)
    return Tables.of(facts.domain, facts.size, facts.tables, facts.halvings, facts.by, facts.cut_for)


def _warm() -> tuple[LinearSketch | Adaptive, ...]:
    """Of pairs and of single columns, whose contrasts and whose cells are counted, and of as many pairs as pay."""
    domain = Domain.of(x=(0, 1), y=(0, 1))
    pairs, singles = Tables.of(domain, 4), Tables.of(domain, 4, "singles", 1)
    joined = ChosenTables(Domain.of(x=(0, 1), y=(0, 1), z=(0, 1))).sized_for(Budget(1), 10_000)
    return pairs.measuring_contrasts(for_squares), singles.measuring_contrasts(for_sums), pairs, joined


def _held(sketch: Tables) -> str:
    cells = sum(math.prod(sketch.axes[i].cells for i in table) for table in sketch.tables)
    return f"{count(len(sketch.tables), 'table')} of {count(cells, 'cell')} in all, and their margins"


CHOSEN = (
    "Choices are those of the exponential mechanism (McSherry, Talwar 2007) or, under a pure promise, of report noisy "
    "max (McKenna, Sheldon 2020), with a part of epsilon of their own; the counters have the rest."
)

CARD = MechanismSpec(
    "tables",
    "Tables with optimal noise",
    "Xiao, He, Zhang, Kifer 2023",
    "People are counted in small tables of some columns each, and what a table adds to its margins gets noise of its "
    "own, so that nothing is measured twice.",
    sketch=Tables,
    make=_made,
    answers="tables",
    rank=3,
    called="tables",
    several=True,
    plainly="Counts in tables of all single columns and pairs (tables)",
    options=frozenset({"--size", "--tables", "--halvings", "--by", "--cut-for"}),
    size="bins a number",
    sizes=(5, 10, 20, 50, 100),
    choice=PrivateChoice("Which pairs of columns are counted", CHOSEN, lambda one: one.choosing == "privately"),
    holds=_held,
    measure=lambda sketch: "the share of the tables in which two records are in the same cell",
    warm=_warm,
)
