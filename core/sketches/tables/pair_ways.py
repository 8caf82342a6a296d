"""How many pairs of columns are worth counting under a pure promise: none, a tree of them, some more, or all.

Laplace noise grows with how many tables are counted, so it matters more than with a delta which of these it is, and
public sizes do not tell: of columns that hang together along a tree, 15 pairs of 16 columns say everything; where one
cause moves all columns, nothing but all 120 pairs does; and unrelated columns are best off alone. So a small part of
the promise asks the records. For every way to go, the error of a pair is made of what counting leaves out, on average
over all pairs, and of what its noise adds (`errors`); the way of the least is taken by report noisy max
(`core.privacy.choosing.selection`).

What is left out of a pair (a, c) where it is not counted is the L1 distance of its counts n_ac from what some other
column b says, the best of them, or none: the sum over the cells of b of n_ab n_bc / n_b. Of K pairs that are counted
these are the K of the largest distances, in which nothing is left out.

**How far a record moves that.** It is in one cell of b; let u = n_ab, v = n_bc there, with sum m. With the record
u_a, v_c and m are larger by 1, and

    (u + e_a)(v + e_c) / (m + 1) - u v / m  =  (m e_a v + m u e_c + m e_a e_c - u v) / (m (m + 1)),

whose absolute values have a sum of at most (m² + m² + m + m²) / (m (m + 1)) = (3 m + 1) / (m + 1) < 3; from m = 0 it is
1. It moves n_ac by 1, so a distance by less than 4; and so the least of several, each of the smallest ones, and the
mean of these and of zeros, by 4 at most. Distances are in whole `SCALE`ths of a record: quotients are rounded down, and
as only those of one cell of b change, in a x c places, that adds one unit each, and the mean's own another one. Several
records of a person add up; one that is replaced is one removed and one added.

An error is √(x² + y²) of x, twice what is left out at most, and y, which rises with what no pair leaves out by 1 at
most: it moves by √(4 + 1) < 9/4 times as much, and by 4 units more for what is rounded down on the way. ∎
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...privacy.accounting import Cost
from ...privacy.budget import Budget, Neighbours
from ...privacy.calibration import NoiseScale, calibrate
from ...privacy.choosing.selection import noisy_max
from ...privacy.composition import Event, PureParts, event_of
from ...privacy.noise.noise import add_noise
from ...privacy.noise.randomness import Source as NoiseSource
from ...runtime.compiled_code import njit
from ..adaptive import LARGEST_TOTAL, AdaptivePlan, Outcome, pair_score, score_sensitivity
from ..adaptive import SCALE as OF_SCORES
from .best_guess import BestGuess
from .reading import Noise
from .table_filling import Counted, Filling
from .table_layout import Block, Columns
from .table_sizes import all_pairs, with_singles
from .tables import Tables

CHOICES_SHARE = Fraction(1, 10)  # Of the budget, as in the paper.
OF_PURE = Fraction(3, 20)  # Of a pure promise, where choices cost more.
# Share of the records by which the answer how many pairs are worth it is off, on average, and may be off at most: more
# where a tree would be seen, its noise moving no more than `SEEN` of them, and all pairs have `FAR` times the noise.
TELLING, TELLING_LITTLE, TELLING_NOTHING, SEEN, FAR = 0.015, 0.035, 0.1, 0.6, 4
# Percentages of a pure promise that such an answer may cost.
LEAST_PRICE, LARGEST_PRICE = 2, 10
FEWEST_ASKED = 8  # Columns from which on that is usual: of fewer, nearly all pairs are counted anyhow.
OF_PAIR, OF_SINGLE = 8, 2  # Weights of counted cells under a pure promise; where a column is halved, 1 for each level.
HALF_NORMAL = math.sqrt(2.0 / math.pi)  # Mean absolute value of a normal number.
SCALE = 1 << 8
TIMES = (1, 3)  # As many pairs as a tree has, and more, that may be counted.
MOST = 1 << 40  # Records that noise is said to move at most, so that sums fit 64 bits.
MOST_WORK = 1 << 31  # Products that are taken to ask the records; of wider tables columns are only looked at alone.


@dataclass(frozen=True, eq=False)
class ExactCounts:
    """Exact counts of all pairs in their order, and of the fine cells of columns that are halved."""

    counted: Counted
    fine: dict[Columns, np.ndarray]


def exact_counts(first: Tables, table: np.ndarray) -> ExactCounts:
    pairs = [block for block in first.layout.blocks if not block.level]
    # The last halving of each column is counted in its finest cells.
    fine = {block.columns: table[block.place] for block in first.layout.blocks if block.level}
    starts = np.array([block.place.start for block in pairs], np.int64)
    return ExactCounts(Counted(table[: pairs[-1].place.stop], starts, tuple(block.shape for block in pairs)), fine)


def with_noise(
    parts: Mapping[tuple[Columns, int], np.ndarray], noise: NoiseScale, source: NoiseSource | None
) -> dict[tuple[Columns, int], np.ndarray]:
    together = add_noise(np.concatenate(list(parts.values())), noise, source)
    ends = np.cumsum([len(part) for part in parts.values()])[:-1]
    return dict(zip(parts, np.split(together, ends), strict=True))


def of_one(block: Block) -> bool:
    """Whether it is of a single column, or of the number of records."""
    return len(block.columns) < 2


def apart(counted: Counted, tables: Sequence[Columns], guess: BestGuess, deviation: float) -> np.ndarray:
    """How far every pair is from what single columns say, int64, less what noise of this deviation would add."""
    singles = [np.asarray(guess.counts((place,))) for place in range(max(map(max, tables)) + 1)]
    # So that scores fit 64 bits, whatever the noise says.
    shrunk = min(1.0, LARGEST_TOTAL / guess.records)
    scores = []
    for place, (one, other) in enumerate(tables):
        expected = np.outer(singles[one], singles[other]) * (shrunk / guess.records)
        off = pair_score(counted.table(place), np.rint(OF_SCORES * expected).astype(np.int64))
        sides = [len(singles[one]), len(singles[other])]
        own = math.prod(1.0 - 1.0 / side for side in sides)  # of a cell, what its pair's residual has of noise
        added = HALF_NORMAL * deviation * math.sqrt(own) * math.prod(sides)
        scores.append(off - round(OF_SCORES * min(added, LARGEST_TOTAL)))
    return np.array(scores, np.int64)


def numbers_of_pairs(columns: int) -> tuple[int, ...]:
    """How many pairs may be counted: none, of a tree, some more, or all."""
    every = math.comb(columns, 2)
    return (0, *(times * (columns - 1) for times in TIMES if times * (columns - 1) < every), every)


class Way(NamedTuple):
    """A number of pairs, and what is public of its noise, in records that differ: the L1 distance of a pair's cells."""

    pairs: int
    single: int  # By noise in what single columns say.
    several: int  # In its own cells, where it is counted.


def way_of(sketch: Tables, variance: float, cells: float) -> Way:
    """Of tables with as many pairs as are counted, and the variance of the noise in a counter.

    `cells`: of a pair, on average, whether it is counted or not.
    """
    noise = Noise(sketch.layout, sketch.weights, variance)
    blocks = zip(sketch.layout.blocks, sketch.weights, strict=True)
    alone = []
    for place, axis in enumerate(sketch.axes):
        one = noise.products((place,), [np.asarray(1.0 / axis.cells)], [noise.axis_spread(place).mean()])
        alone.append(axis.cells * math.sqrt(float(one) / 2.0))
    of_pairs = [weight for block, weight in blocks if len(block.columns) > 1]
    several = cells * math.sqrt(variance / 2.0) / of_pairs[0] if of_pairs else 0.0
    # Two columns, of which each is moved towards what can be.
    return Way(len(of_pairs), *(min(MOST, round(one)) for one in (float(np.mean(alone)), several)))


def errors(ways: Sequence[Way], lost: Sequence[int], every: int) -> np.ndarray:
    """How far a pair is expected to be from the truth on every way, on average, in `SCALE`ths of a record, int64.

    `lost`: what each way leaves out, beginning with that of no pair; private. Noise of r moves a pair that is a from
    what single columns say by a' r / (a' + r) with a' = a + r/10, as the best guess moves it the more the noisier it
    is, and by a third less as it looks at all of its cells. What is left out is said of the best columns to say it,
    and a tree has but some of them: it counts twice. Both go by the root of the sum of squares.
    """
    apart, found = int(lost[0]), []
    for way, left in zip(ways, lost, strict=True):
        noise = way.several * SCALE
        seen = apart + noise // 10
        added = way.single * SCALE * 3 // 4 + noise * seen // max(1, noise + seen) * 2 // 3
        found.append(math.isqrt((int(left) * (2 if 0 < way.pairs < every else 1)) ** 2 + added**2))
    return np.array(found, np.int64)


def moved_by_a_person(neighbours: Neighbours, records: int, sides: Sequence[int]) -> int:
    """How far a person of so many records moves the error of any way, in `SCALE`ths of a record."""
    widest, next_widest = sorted(sides)[-1:-3:-1]
    times = records * (1 if neighbours is Neighbours.ADD_REMOVE else 2)
    return (times * (4 * SCALE + widest * next_widest) + 1) * 9 // 4 + 5


def left_out(counted: Counted, tables: Sequence[Columns], sides: Sequence[int], pairs: Sequence[int]) -> np.ndarray:
    """What each way leaves out of a pair, on average, in `SCALE`ths of a record, int64; private.

    `counted`: exact counts of all pairs, `tables` in their order. `pairs`: how many are counted, of every way.
    """
    of_axes, places = np.array(tables, np.int64), np.full((len(sides), len(sides)), -1, np.int64)
    places[of_axes[:, 0], of_axes[:, 1]] = np.arange(len(tables))
    lengths = np.array(sides, np.int64)
    work = len(tables) * (len(sides) - 2) * float(np.mean(lengths)) ** 3
    found = _distances(counted.counters, counted.starts, of_axes, places, lengths, work <= MOST_WORK)
    # Where no pair is counted, no other column says anything of one.
    said = {number: np.sort(found[1])[: len(tables) - number].sum() for number in pairs if number}
    return np.array([said.get(number, found[0].sum()) // len(tables) for number in pairs], np.int64)


@dataclass(frozen=True)
class PureWays:
    """Tables of columns under a pure promise, of which the records say how many pairs, or somebody did.

    `open`: With bins and halvings. `ways`: Among which the records decide; none where `pairs` are settled. `price`: The
    percentage of the promise that this costs. `pairs`: How many.
    """

    open: Tables
    ways: tuple[Way, ...] = ()
    price: int = LARGEST_PRICE
    pairs: int | None = None

    @cached_property
    def first(self) -> Tables:
        """The counts of all pairs, and of fine cells: everything that is scored and measured follows from them."""
        return replace(self.open, tables=all_pairs(len(self.open.axes))).counting()

    @property
    def offered(self) -> tuple[int, ...]:
        """Numbers of pairs among which the records decide."""
        return tuple(way.pairs for way in self.ways) or (self.pairs or 0,)

    def priced(self, budget: Budget, records: float) -> PureWays | None:
        """With numbers of pairs that may be counted, and a price; None where so few records could not tell."""
        sides, found = [axis.cells for axis in self.open.axes], list[Way]()
        moved = moved_by_a_person(budget.neighbours, self.open.domain.unit.records, sides)
        off = moved / SCALE / float(budget.epsilon) / records  # with all of the promise, and below with its price
        price = min(LARGEST_PRICE, max(LEAST_PRICE, math.ceil(100 * off / TELLING)))
        off *= 100 / price
        if off > TELLING_NOTHING:
            return None
        cells = float(np.mean([math.prod(block.shape) for block in self.first.layout.blocks if not block.level]))
        for pairs in numbers_of_pairs(len(self.open.axes)):
            sketch = self._counted(self.first.tables[:pairs])
            noise = self._noise(sketch, Fraction(budget.epsilon) * (100 - price) / 100, budget.neighbours)
            found.append(way_of(sketch, noise.variance, cells))
        at_stake = found[1].several <= SEEN * records and found[-1].several >= FAR * off * records
        return replace(self, ways=tuple(found), price=price) if at_stake or off <= TELLING_LITTLE else None

    def plan(self, budget: Budget) -> AdaptivePlan:
        """The price of the question how many pairs, or that of each choice, and the noise of every way."""
        epsilon, relation = Fraction(budget.epsilon), budget.neighbours
        asked = epsilon * self.price / 100 if len(self.offered) > 1 else Fraction(0)
        left = epsilon - asked
        sketches = [self._counted(self.first.tables[:pairs]) for pairs in self.offered]
        noises = tuple(self._noise(sketch, left, relation) for sketch in sketches)
        public = sketches[0].count_is_public(relation)
        events: tuple[Event, ...] = ()
        prices: tuple[Fraction, ...] = ()
        if asked:
            events, prices = (PureParts(asked), PureParts(left)), (asked,)
        else:
            (sketch,), (noise,) = sketches, noises
            prices = (left * OF_PURE / self.offered[0],) * self.offered[0] if self._chooses(sketch) else ()
            chosen = (PureParts(prices[0], len(prices)),) if prices else ()
            events = (*chosen, event_of(sketch.sensitivity(relation), noise))
        return AdaptivePlan(budget, prices, noises, None, public, Cost(events, budget.epsilon, budget.delta))

    def _chooses(self, sketch: Tables) -> bool:
        """Whether its pairs are some of all."""
        return 0 < len(sketch.pairs) < len(self.first.tables)

    def _counted(self, pairs: Sequence[Columns]) -> Tables:
        """Under a pure promise: the cells of these pairs and, where they are some of all, of single columns too."""
        tables = with_singles(pairs, len(self.open.axes))
        cut = replace(self.open, tables=tables, choosing="privately")
        if not self._chooses(cut):
            return cut.counting()
        made = cut.counting("margins")
        return replace(made, weights=tuple(self._weight(block) for block in made.layout.blocks))

    def _weight(self, block: Block) -> int:
        """Of counted cells, beside those of other tables."""
        halved = not of_one(block) or self.open.axes[block.columns[0]].halvings
        return OF_PAIR if not of_one(block) else 1 if halved else OF_SINGLE

    def _noise(self, sketch: Tables, epsilon: Fraction, neighbours: Neighbours) -> NoiseScale:
        """Of counted cells, where choices have their part of so much."""
        left = 1 - OF_PURE if self._chooses(sketch) else 1
        return calibrate(sketch.sensitivity(neighbours), epsilon * left)

    @property
    def noisiest(self) -> Tables:
        """What is released at most, by which forecasts are made."""
        return self._counted(self.first.tables[: self.offered[-1]])

    def run(self, counts: ExactCounts, plan: AdaptivePlan, noise_source: NoiseSource | None) -> Outcome:
        every = replace(self.first, measured=None, weights=None).counting("margins")
        exact = every.zeros()
        Filling(every.layout, every.weights).add_counts(exact, counts.counted, counts.fine)
        places = {(block.columns, block.level): block.place for block in every.layout.blocks}
        way, left = self._way(counts.counted, plan, noise_source)
        pairs, noise = self.offered[way], plan.noises[way]
        sketch = self._counted(self.first.tables[:pairs])
        parts: dict[tuple[Columns, int], np.ndarray] = {}

        def measure(wanted: Callable[[Block], bool]) -> None:
            blocks = zip(sketch.layout.blocks, sketch.weights, strict=True)
            asked = {
                (one.columns, one.level): w * exact[places[one.columns, one.level]] for one, w in blocks if wanted(one)
            }
            parts.update(with_noise(asked, noise, noise_source))

        if self._chooses(sketch):
            measure(of_one)
            scores = self._pure_scores(counts.counted, parts, noise)
            moved = score_sensitivity(plan.budget.neighbours, self.open.domain.unit.records)
            price = left * OF_PURE / pairs
            tables = self.first.tables
            chosen = tree_first(tables, scores, pairs, lambda some: noisy_max(some, moved, price, noise_source))
            sketch = self._counted(sorted(chosen))
            measure(lambda block: not of_one(block))
        else:
            measure(lambda block: True)
        table = np.concatenate([parts[block.columns, block.level] for block in sketch.layout.blocks])
        return Outcome(sketch, table, noise, int(counts.counted.table(0).sum()) if plan.counts else None)

    def _way(self, counted: Counted, plan: AdaptivePlan, source: NoiseSource | None) -> tuple[int, Fraction]:
        """Which number of pairs the records ask for, and what is left of the promise."""
        epsilon = Fraction(plan.budget.epsilon)
        if len(self.ways) < 2:
            return 0, epsilon
        (asked,), sides = plan.choices, [axis.cells for axis in self.open.axes]
        lost = left_out(counted, self.first.tables, sides, self.offered)
        expected = errors(self.ways, lost.tolist(), len(self.first.tables))
        moved = moved_by_a_person(plan.budget.neighbours, self.open.domain.unit.records, sides)
        return noisy_max(-expected, moved, asked, source), epsilon - asked

    def _pure_scores(
        self, counted: Counted, noisy: Mapping[tuple[Columns, int], np.ndarray], noise: NoiseScale
    ) -> np.ndarray:
        """Of every pair, int64; private."""
        singles = replace(self.open, tables=with_singles((), len(self.open.axes))).counting("margins")
        singles = replace(singles, weights=tuple(self._weight(block) for block in singles.layout.blocks))
        table = np.concatenate([noisy[block.columns, block.level] for block in singles.layout.blocks])
        guess = BestGuess(singles.reading(table, noise.variance, None, math.inf))
        return apart(counted, self.first.tables, guess, math.sqrt(noise.variance) / OF_PAIR)


def tree_first(
    tables: Sequence[Columns], scores: np.ndarray, pairs: int, pick: Callable[[np.ndarray], int]
) -> list[Columns]:
    """So many pairs, one after the other: while they are any, of those that join what none has joined.

    `scores`: Of every pair. `pick`: The place of one among scores, chosen under noise.
    """
    part = list(range(max(map(max, tables)) + 1))
    left, chosen = list(range(len(tables))), []
    for _ in range(pairs):
        free = [place for place in left if part[tables[place][0]] != part[tables[place][1]]] or left
        place = free[pick(scores[free])]
        left.remove(place)
        one, other = tables[place]
        part = [part[one] if name == part[other] else name for name in part]
        chosen.append(tables[place])
    return chosen


@njit(nogil=True, cache=True)
def _distances(counters, starts, tables, places, sides, through_others):
    """Of every pair, the distance from two columns that have nothing to do with each other, and the least of all."""
    found = np.zeros((2, len(tables)), np.int64)
    for pair in range(len(tables)):
        a, c = tables[pair, 0], tables[pair, 1]
        rows, columns, start = sides[a], sides[c], starts[pair]
        u, v, m = np.zeros(rows, np.int64), np.zeros(columns, np.int64), np.int64(0)
        for i in range(rows):
            for k in range(columns):
                one = counters[start + i * columns + k]
                u[i] += one
                v[k] += one
                m += one
        said = np.zeros(rows * columns, np.int64)
        _add_product(said, u, v, m)
        least = _apart(said, counters, start)
        found[0, pair] = least
        for b in range(len(sides) if through_others else 0):
            if b in (a, c):
                continue
            said[:] = 0
            first = starts[places[min(a, b), max(a, b)]]
            second = starts[places[min(b, c), max(b, c)]]
            for j in range(sides[b]):
                m = np.int64(0)
                for i in range(rows):
                    u[i] = counters[first + (i * sides[b] + j if a < b else j * rows + i)]
                    m += u[i]
                for k in range(columns):
                    v[k] = counters[second + (j * columns + k if b < c else k * sides[b] + j)]
                _add_product(said, u, v, m)
            least = min(least, _apart(said, counters, start))
        found[1, pair] = least
    return found


@njit(nogil=True, cache=True)
def _add_product(said, u, v, m):
    """Add u v / m, in `SCALE`ths and rounded down; in two steps, so that 2^31 records fit 64 bits."""
    if m > 0:
        for i in range(len(u)):
            if u[i] > 0:
                for k in range(len(v)):
                    whole = u[i] * v[k]
                    said[i * len(v) + k] += whole // m * SCALE + whole % m * SCALE // m


@njit(nogil=True, cache=True)
def _apart(said, counters, start):
    distance = np.int64(0)
    for cell in range(len(said)):
        distance += abs(SCALE * counters[start + cell] - said[cell])
    return distance
