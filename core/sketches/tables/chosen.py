"""Pairs of columns that are chosen under the promise: those that hang together most, where not all can be seen.

Where columns are many and people few, `sizing` leaves pairs out by public sizes alone. Here the number of pairs is the
same, and which ones they are is chosen as AIM does (McKenna, Mullins, Sheldon, Miklau, VLDB 2022), in one round, as
what is not counted is guessed from single columns anyhow:

1. Single columns with their halvings are measured: their contrasts get noise.
2. Every pair is scored by the L1 distance of its counts from what the best guess of the single columns says of columns
   that have nothing to do with each other, less what noise would add to its cells. One after the other, pairs are
   chosen by the exponential mechanism (`core.privacy.choosing.selection`), each among those that are left.
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

What is released are ordinary `Tables`, and intervals are theirs: noise in a pair is drawn after it was chosen. Under
pure ε nothing is chosen, as there K choices cost K ε₀.
"""

from __future__ import annotations

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
from ...privacy.budget import Budget
from ...privacy.calibration import NoiseScale, gaussian_scale
from ...privacy.choosing.selection import select
from ...privacy.composition import Gaussian, Selections
from ...privacy.neighbours import Neighbours, Sensitivity
from ...privacy.noise.noise import add_noise
from ...privacy.noise.randomness import Source as NoiseSource
from ...privacy.zcdp import largest_rho
from ...runtime.parameters import Resolved, Several, Whole, parameter
from ..adaptive import (
    LARGEST_TOTAL,
    SCALE,
    Adaptive,
    AdaptivePlan,
    Outcome,
    Read,
    pair_score,
    price_of,
    score_sensitivity,
)
from ..capabilities import check_points
from ..linear import LinearSketch
from ..mechanism_spec import EXPONENTIAL, MechanismSpec, PrivateChoice, PublicInputs
from .best_guess import BestGuess
from .largest_change import added, replaced
from .table_axes import METRIC, number_axes
from .table_filling import Counted, Filling
from .table_layout import Block, Columns
from .table_sizes import MAX_TABLES, all_pairs, cut_for_choice, few_cells_first, with_singles
from .table_weights import for_squares, for_sums, singles_weight
from .tables import MOST_BINS, MOST_HALVINGS, Tables

CHOICES_SHARE = Fraction(1, 10)  # Of the budget, as in the paper.
FINER = 4  # Times the usual weights, so that those of pairs, which are rounded down, lose half a per cent.
HALF_NORMAL = math.sqrt(2.0 / math.pi)  # Mean absolute value of a normal number.


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
    """

    domain: Domain
    bins: Resolved[tuple[int, ...]] = parameter(
        Several("The numbers of bins", Whole("The number of bins of a column", 2, MOST_BINS)), None
    )
    halvings: Resolved[tuple[int, ...]] = parameter(
        Several("The halvings", Whole("The number of halvings of a column", 0, MOST_HALVINGS)), None
    )
    pairs: Resolved[int] = parameter(Whole("The number of pairs", 1, MAX_TABLES), None)
    name: ClassVar[str] = "tables"
    asked_for: ClassVar[str] = "tables"
    needs_records: ClassVar[bool] = False
    metric = METRIC

    def _check(self) -> None:
        check_points(self.domain)  # circles have cells of their own
        columns = len(self._open.axes)
        if columns < 3:
            raise RequestError("Pairs are chosen among three columns or more; of fewer, there is but one pair.")
        most = math.comb(columns, 2)
        if self.pairs is not None and self.pairs > most:
            raise RequestError(f"Of {columns:,} columns there are {most:,} pairs, so no {self.pairs:,} can be chosen.")
        if self.sized:
            _ = self.first  # refuses tables that are too large

    @property
    def sized(self) -> bool:
        return None not in (self.bins, self.halvings, self.pairs)

    def sized_for(self, budget: Budget, records: float) -> LinearSketch | Adaptive:
        """With as many pairs as can be seen and the cells that suit them; plain tables where that is all or none.

        Then there is nothing to choose, or nothing that would be worth its price.
        """
        if self.sized:
            return self
        self.check_budget(budget)
        cut = cut_for_choice(self._open, budget, records)
        seen = self.pairs or len(cut.pairs)
        if seen in (0, math.comb(len(cut.axes), 2)):
            return replace(self._open, tables=None).sized_for(budget, records)
        return replace(self, bins=cut.bins, halvings=cut.halvings, pairs=seen)

    def check_budget(self, budget: Budget) -> None:
        if budget.pure:
            raise RequestError("Pairs are chosen under a promise with a delta alone, as choices add up in zCDP.")

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
        weights = (given[block.columns, block.level] if _alone(block) else 1 for block in every.layout.blocks)
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

    def plan(self, budget: Budget) -> AdaptivePlan:
        """Equal prices for all choices, and the noise of all counters."""
        self.check_budget(budget)
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
        counts = _exact_counts(self.first, read(self.first))
        exact = self._every.zeros()
        Filling(self._every.layout, self._every.weights).add_counts(exact, counts.counted, counts.fine)
        (noise,) = plan.noises
        alone = {(block.columns, block.level): block.place for block in self._every.layout.blocks if _alone(block)}
        noisy = _with_noise({key: exact[place] for key, place in alone.items()}, noise, noise_source)
        chosen = self._chosen(counts.counted, noisy, plan, noise_source)
        sketch = self._released(chosen, plan.budget.neighbours)
        blocks = list(zip(sketch.layout.blocks, sketch.weights, strict=True))
        of_pairs = {block.columns: weight for block, weight in blocks if not _alone(block)}
        places = {block.columns: block.place for block in self._every.layout.blocks if not _alone(block)}
        measured = _with_noise(
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
        """The pairs that single columns tell worst, by the exponential mechanism, one after the other."""
        scores = self._scores(counted, noisy, plan.noises[0])
        moved = score_sensitivity(plan.budget.neighbours, self.domain.unit.records)
        left, chosen = list(range(len(scores))), []
        for price in plan.choices:
            place = left.pop(select(scores[left], moved, price, noise_source))
            chosen.append(self._every.tables[place])
        return chosen

    def _scores(
        self, counted: Counted, noisy: Mapping[tuple[Columns, int], np.ndarray], noise: NoiseScale
    ) -> np.ndarray:
        """Of every pair, int64; private."""
        table = np.zeros(self._every.shape)
        for block in self._every.layout.blocks:
            if _alone(block):
                table[block.place] = noisy[block.columns, block.level]
        guess = BestGuess(self._every.reading(table, noise.variance, None, math.inf))
        singles = [np.asarray(guess.counts((place,))) for place in range(len(self._every.axes))]
        # So that scores fit 64 bits, whatever the noise says.
        shrunk = min(1.0, LARGEST_TOTAL / guess.records)
        added = self._added_by_noise(noise)
        scores = []
        for place, (one, other) in enumerate(self._every.tables):
            expected = np.outer(singles[one], singles[other]) * (shrunk / guess.records)
            off = pair_score(counted.table(place), np.rint(SCALE * expected).astype(np.int64))
            scores.append(off - round(SCALE * min(added[place], LARGEST_TOTAL)))
        return np.array(scores, np.int64)

    def _added_by_noise(self, noise: NoiseScale) -> list[float]:
        """What noise adds on average to the L1 distance of each pair's counts: public."""
        usual = self.alike
        pair, weight = next((b, w) for b, w in zip(usual.layout.blocks, usual.weights, strict=True) if not _alone(b))
        deviation = math.sqrt(noise.variance) / (weight * usual.layout.unit(pair.columns))
        found = []
        for table in self._every.tables:
            sides = [self._every.axes[place].cells for place in table]
            own = math.prod(1.0 - 1.0 / side for side in sides)  # of a cell, what its pair's residual has of noise
            found.append(HALF_NORMAL * deviation * math.sqrt(own) * math.prod(sides))
        return found

    def _released(self, chosen: Sequence[Columns], neighbours: Neighbours) -> Tables:
        """The chosen pairs, with the largest weights with which no person moves the table further than T."""
        plain = replace(self._open, tables=with_singles(chosen, len(self._every.axes))).measuring_contrasts()
        layout = plain.layout
        given = {(b.columns, b.level): w for b, w in zip(self._every.layout.blocks, self._every.weights, strict=True)}
        longest = max(layout.unit(block.columns) for block in layout.blocks if not _alone(block))

        def weights(scale: int) -> tuple[int, ...]:
            """With contrasts of pairs `scale` times as long as the longest, or a little less."""
            return tuple(
                given[block.columns, block.level]
                if _alone(block)
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


@dataclass(frozen=True, eq=False)
class _Counts:
    """Exact counts of all pairs in their order, and of the fine cells of columns that are halved."""

    counted: Counted
    fine: dict[Columns, np.ndarray]


def _exact_counts(first: Tables, table: np.ndarray) -> _Counts:
    pairs = [block for block in first.layout.blocks if not block.level]
    # The last halving of each column is counted in its finest cells.
    fine = {block.columns: table[block.place] for block in first.layout.blocks if block.level}
    starts = np.array([block.place.start for block in pairs], np.int64)
    return _Counts(Counted(table[: pairs[-1].place.stop], starts, tuple(block.shape for block in pairs)), fine)


def _with_noise(
    parts: Mapping[tuple[Columns, int], np.ndarray], noise: NoiseScale, source: NoiseSource | None
) -> dict[tuple[Columns, int], np.ndarray]:
    together = add_noise(np.concatenate(list(parts.values())), noise, source)
    ends = np.cumsum([len(part) for part in parts.values()])[:-1]
    return dict(zip(parts, np.split(together, ends), strict=True))


def _alone(block: Block) -> bool:
    """Whether it is of a single column, or of the number of records."""
    return len(block.columns) < 2


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


def _warm() -> tuple[Tables, ...]:
    """Of pairs and of single columns, whose contrasts and whose cells are counted."""
    domain = Domain.of(x=(0, 1), y=(0, 1))
    pairs, singles = Tables.of(domain, 4), Tables.of(domain, 4, "singles", 1)
    return pairs.measuring_contrasts(for_squares), singles.measuring_contrasts(for_sums), pairs


def _held(sketch: Tables) -> str:
    cells = sum(math.prod(sketch.axes[i].cells for i in table) for table in sketch.tables)
    return f"{count(len(sketch.tables), 'table')} of {count(cells, 'cell')} in all, and their margins"


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
    choice=PrivateChoice("Which pairs of columns are counted", EXPONENTIAL, lambda one: one.choosing == "privately"),
    holds=_held,
    measure=lambda sketch: "the share of the tables in which two records are in the same cell",
    warm=_warm,
)
