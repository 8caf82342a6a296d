"""Medians and other quantiles of columns, each chosen by the exponential mechanism among public places.

A column's bounds are cut into cells, which are public; the records are counted by cell. Where no step is said, three
quarters of the cells are equal shares of the bounds, and a quarter are ratios that halve the share beside the number
nearest to 0 24 times: who does not know the values says bounds that span decades, and all incomes lie in one equal
share of 0 to 10^9. No proof depends on where cells end. A cell is cut further into T equal parts, over which its
records are spread evenly, so that a value which half of all records share has room for several quantiles. Candidates
are the M + 1 ends of the parts, each for the part that begins there, and C_i is how many records lie before candidate
i, in T-ths of a record, so that all is whole numbers. Of the candidates from l to h the quantile a/b has scores

    s_i = -max(0, b (C_i - C_l) - a (C_h - C_l), a (C_h - C_l) - b (C_i+1 - C_l)),        C_h+1 = C_h,

b T times the ranks between the part and the quantile: none where it lies in the part. One is chosen with probability
proportional to e^(ε s_i / (2Δ)), exactly (`selection`). Wide gaps between records have many candidates, as they should.

Several quantiles of a column (Kaplan, Schnapp, Stemmer 2022, Algorithm 1): the middle one is chosen first, and those
below and above it among the candidates, and of the records, on its two sides, where a quantile becomes another one. So
k quantiles take the bits of k levels and not k shares of the budget, as the parts of a level share no record.

Sensitivity. One record that is added or removed moves C_i - C_l by x and C_h - C_l by w, 0 <= x <= w <= T, so each of
the two distances by b x - a w, which lies in [-a w, (b - a) w]: by no more than w max(a, b - a), and so the larger of
them and 0. At one level a record's T parts lie in choices of their own, Σ w <= T. So with

    Δ = T max(a, b - a)          under add_remove,
    Δ = T b                      at the first level under replace_one, where w = T and x - x' lies in [-T, T],
    Δ = 2 T max(a, b - a)        below it under replace_one: one record leaves and another enters,

the choices of a level are moved by shares of Δ that add up to 1 at most. A choice that is moved by a share u is
εu-private and (εu)²/8-zCDP (proofs in `selection`, which has Δu for Δ), and Σ εu <= ε, Σ (εu)² <= ε²: a level is one
`events.Selections` of ε. (A record replaced by one that misses a value only leaves, and max(a, b - a) <= b.) Each of a
person's m records moves as much again: Δ is m times as large. Levels and columns compose; that the candidates of a
level depend on earlier choices is what composition allows. ∎

All columns at once. Under a pure promise the first level of all d columns is one choice among their tuples
(`selection.select_jointly`), with d times the ε of one column, whose scores are brought to the same T first: medians
are then off by (d + 1)/2d of what they are otherwise, half for many columns. Under a delta ρ adds up, which favours
choices of their own; whichever is the less noise by this formula is made. Deeper levels are chosen column by column,
as a record may lie in the left half of one column and in the right half of another.

Accuracy. Of M candidates one of a score below the best by (2Δ/ε) log(M/β) is chosen with probability β at most; as
ranks this is added up along the levels, as a child's records are cut off where its parents were chosen (`rank_error`).
These are ranks among records that are spread over their cells. A candidate has C before it, which lies between what
the lower and the upper end of its cell have: so no more ranks lie between the quantile and the cell.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ...errors import RequestError
from ...runtime.parameters import check_number
from ..accounting import Cost
from ..budget import EACH_RECORD, Budget, Neighbours, Number, PrivacyUnit, exact_decimal
from ..calibration import largest_rho
from ..composition import Selections
from ..noise.randomness import Source
from .selection import select, select_jointly

CANDIDATES = 1 << 20  # Parts of a column in all, at most.
CELLS, MOST_CELLS = 1 << 14, 1 << 16  # Cells of a column without a step, and of one with it.
FINE, HALVINGS = CELLS // 4, 24  # Of the cells without a step those of ratios, and how often they halve a share.
MOST_PARTS = 1 << 10  # T at most; with it scores fit 62 bits for 2^38 records.
DECIMALS = 4  # Of a quantile; so b is 10,000 at most, also below the first level.
MOST_QUANTILES = 255
DOUBT = 0.05  # β: what `rank_error` leaves to chance.

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Places:
    """Where a quantile of a column may lie, from public facts alone.

    `low`, `high`: Public bounds, which hold every value. `step`: The column has the values low, low + step, … alone,
    such as whole numbers; None where any number may be.
    """

    low: float
    high: float
    step: float | None = None

    def __post_init__(self) -> None:
        low, high = check_number(self.low, "The low bound"), check_number(self.high, "The high bound")
        if not low < high or not math.isfinite(high - low):
            raise RequestError("The low bound must be below the high one, at a finite distance.")
        if self.step is not None:
            step = check_number(self.step, "The step of a column")
            if step <= 0 or not 1 <= math.floor((high - low) / step + 1e-9) < MOST_CELLS:
                raise RequestError(
                    f"The step of a column must be above zero and give 2 to {MOST_CELLS:,} values between its bounds."
                )

    @property
    def cells(self) -> int:
        """Cells that records are counted by."""
        return CELLS if self.step is None else math.floor((self.high - self.low) / self.step + 1e-9) + 1

    @cached_property
    def edges(self) -> np.ndarray:
        """Where cells without a step begin and end, float64 (cells + 1,)."""
        if not self.low < 0 < self.high:
            shares = _from_nought(CELLS - FINE, FINE) * (self.high - self.low)
            return self.low + shares if self.low >= 0 else (self.high - shares)[::-1]
        equal = CELLS - FINE
        left = min(max(round(equal * -self.low / (self.high - self.low)), 1), equal - 1)
        below, above = _from_nought(left, FINE // 2) * -self.low, _from_nought(equal - left, FINE // 2) * self.high
        return np.concatenate([-below[:0:-1], above])

    @property
    def _nearest(self) -> float:
        """The number between the bounds that is nearest to 0, beside which cells are least."""
        return min(max(self.low, 0.0), self.high)

    @property
    def parts(self) -> int:
        """T, a power of two: equal parts of a cell."""
        return min(MOST_PARTS, 1 << ((CANDIDATES // self.cells).bit_length() - 1))

    def count(self, values: np.ndarray) -> Counts:
        """Number of values in each cell, int64 (cells,); all lie between the bounds."""
        if self.step is None:
            places = np.searchsorted(self.edges, values, side="right") - 1
        else:
            places = np.rint((values - self.low) / self.step).astype(np.int64)
        inside = np.clip(places, 0, self.cells - 1)
        return np.bincount(inside, minlength=self.cells).astype(np.int64, copy=False)

    def before(self, counts: Counts) -> Counts:
        """C, int64 (cells * parts + 1,): records before each candidate, in T-ths."""
        return np.concatenate([[0], np.cumsum(np.repeat(counts, self.parts))]).astype(np.int64, copy=False)

    def value(self, candidate: int) -> float:
        """The number at which a candidate lies."""
        cell, part = divmod(candidate, self.parts)
        if self.step is not None:
            return min(float(f"{self.low + min(cell, self.cells - 1) * self.step:.15g}"), self.high)
        if cell >= self.cells:
            return self.high
        low, high = self.edges[cell : cell + 2].tolist()
        if self._nearest in (low, high):  # a cell so small beside the bounds holds that number alone, if any
            return self._nearest
        return float(low + (high - low) * part / self.parts)

    def cell_around(self, value: float) -> tuple[float, float]:
        """The ends of the cell that a candidate lies in: twice its value where the column has steps."""
        if self.step is not None:
            return value, value
        first = np.searchsorted(self.edges, value, side="left" if value == self._nearest else "right")
        after = np.searchsorted(self.edges, value, side="right")
        low, high = np.clip([first - 1, after], 0, self.cells)
        return float(self.edges[low]), float(self.edges[high])


def _from_nought(equal: int, ratios: int) -> np.ndarray:
    """Ends of cells from 0 to 1, float64 (equal + ratios + 1,): equal shares, the first of which is cut into ratios."""
    fine = np.exp2(np.arange(-ratios, 1) * (HALVINGS / ratios)) / equal
    return np.concatenate([[0.0], fine, np.arange(2, equal + 1) / equal])


@dataclass(frozen=True)
class Choice:
    """One quantile among those of a column, and which are chosen before it."""

    place: int  # Its place in the order of the quantiles.
    # Places of the nearest chosen before it; None is the bound.
    below: int | None
    above: int | None
    share: Fraction  # a/b: which quantile it is of the records between these two.
    level: int  # How many levels come before its own.


@dataclass(frozen=True)
class QuantilesPlan:
    """What is chosen and what it costs, from public facts."""

    columns: int  # Number of columns.
    quantiles: tuple[Fraction, ...]  # Of each column, increasing and strictly between 0 and 1.
    # The promise for all of them together, and to whom.
    budget: Budget
    unit: PrivacyUnit = EACH_RECORD

    @property
    def levels(self) -> int:
        """Choices that a record takes part in, for each column."""
        return len(self.quantiles).bit_length()

    @cached_property
    def choices(self) -> tuple[Choice, ...]:
        """Every choice of a column, parents first."""
        return tuple(_halving(self.quantiles, 0, len(self.quantiles), 0))

    @cached_property
    def jointly(self) -> bool:
        """Whether the first level of all columns is one choice; see *All columns at once*."""
        first = Fraction(self.columns + 1, 2 * self.columns)
        return self.columns > 1 and (first + self.levels - 1) / self._pure_price < self.levels / self._rho_price

    @property
    def price(self) -> Fraction:
        """ε of each level of each column: an equal part of the promise, or of its ρ at ε²/8 each if that is better."""
        return self._pure_price if self.jointly else max(self._pure_price, self._rho_price)

    @property
    def _pure_price(self) -> Fraction:
        return Fraction(self.budget.epsilon) / (self.columns * self.levels)

    @cached_property
    def _rho_price(self) -> Fraction:
        if self.budget.pure:
            return self._pure_price
        rho = Fraction(largest_rho(float(self.budget.epsilon), float(self.budget.delta)))
        return Fraction(math.isqrt(math.floor(8 * rho / (self.columns * self.levels) * 10**40)), 10**20)

    @cached_property
    def cost(self) -> Cost:
        """Of all choices together."""
        apart = self.columns * self.levels
        events: tuple[Selections, ...] = (Selections(self.price, apart),)
        if self.jointly:
            deeper = apart - self.columns
            events = (Selections(self.columns * self.price), *((Selections(self.price, deeper),) if deeper else ()))
        return Cost(events, self.budget.epsilon, self.budget.delta)

    def sensitivity(self, choice: Choice) -> int:
        """Δ/T of a choice: what one person moves its scores by, see the proof at the top."""
        a, b = choice.share.numerator, choice.share.denominator
        one_side = max(a, b - a)
        if self.budget.neighbours is Neighbours.ADD_REMOVE:
            return self.unit.records * one_side
        return self.unit.records * (b if choice.level == 0 else 2 * one_side)

    def rank_error(self, choice: Choice, candidates: int) -> float:
        """Ranks between the quantile and the cell of what is chosen, at most, with 95% probability; see *Accuracy*.

        How many records share a cell is not known from public facts, so they are no part of this: nor are, below the
        first level, half of a T-th of those that share the cell of a quantile chosen before.
        """
        before = [one for one in self.choices if one.place in self._parents(choice)]
        doubt = math.log((len(before) + 1) / DOUBT)
        ranks = 0.0
        for one in (*before, choice):
            together = self.columns if self.jointly and one.level == 0 else 1
            reach = math.log(candidates if together == 1 else CANDIDATES + 1) + doubt / together
            ranks += 2 * float(Fraction(self.sensitivity(one), one.share.denominator) / self.price) * reach
        return ranks

    def _parents(self, choice: Choice) -> set[int]:
        """Places of the choices by which the records of this one were cut off, and of those before them."""
        by_place = {one.place: one for one in self.choices}
        found: set[int] = set()
        open_places = [choice.below, choice.above]
        while open_places:
            place = open_places.pop()
            if place is not None and place not in found:
                found.add(place)
                open_places += [by_place[place].below, by_place[place].above]
        return found


def plan_quantiles(
    columns: int, quantiles: Sequence[Number], budget: Budget, unit: PrivacyUnit = EACH_RECORD
) -> QuantilesPlan:
    """What quantiles of so many columns cost, before any record is read."""
    exact = sorted(Fraction(exact_decimal(one, "A quantile", DECIMALS)) for one in quantiles)
    if not 1 <= len(exact) <= MOST_QUANTILES or len(set(exact)) < len(exact):
        raise RequestError(f"A column has 1 to {MOST_QUANTILES} quantiles, each named once.")
    if not 0 < exact[0] <= exact[-1] < 1:
        raise RequestError("A quantile lies strictly between 0 and 1, such as 0.5 for the median.")
    return QuantilesPlan(columns, tuple(exact), budget, unit)


def release_quantiles(
    places: Sequence[Places],
    counts: Sequence[Counts],
    plan: QuantilesPlan,
    *,
    spend: Callable[[Cost], object],
    noise_source: Source | None = None,
) -> tuple[tuple[float, ...], ...]:
    """Spend the budget and choose; the one function here whose outcome is random.

    `places`, `counts`: One a column; the counts, int64 (cells,), are exact and private. `plan`: What is chosen and for
    how much. `spend`: Writes the cost to the ledger, durably, or raises; called before any choice.

    Returns for each column its quantiles, in increasing order, never decreasing.
    """
    if len(places) != plan.columns or [len(one) for one in counts] != [one.cells for one in places]:
        raise ValueError("Every column needs its places and a count for each cell.")
    spend(plan.cost)
    befores = [where.before(one) for where, one in zip(places, counts, strict=True)]
    firsts = _first_level(places, befores, plan, noise_source) if plan.jointly else [None] * plan.columns
    return tuple(
        _chosen(where, before, plan, first, noise_source)
        for where, before, first in zip(places, befores, firsts, strict=True)
    )


def _first_level(
    places: Sequence[Places], befores: Sequence[Counts], plan: QuantilesPlan, noise_source: Source | None
) -> Sequence[int]:
    """The candidates of all columns at the first level, chosen at once."""
    choice, parts = plan.choices[0], max(where.parts for where in places)
    scores = [
        scores_between(before, 0, len(before) - 1, choice.share) * (parts // where.parts)
        for where, before in zip(places, befores, strict=True)
    ]
    return select_jointly(scores, parts * plan.sensitivity(choice), plan.columns * plan.price, noise_source)


def scores_between(before: Counts, low: int, high: int, share: Fraction) -> Counts:
    """s of the candidates from low to high, both included; see the top."""
    a, b = share.numerator, share.denominator
    past = b * (before[low : high + 1] - before[low]) - a * (before[high] - before[low])
    short = -np.append(past[1:], past[-1])
    scores: Counts = -np.maximum(np.maximum(past, short), 0)
    return scores


def _chosen(
    places: Places, before: Counts, plan: QuantilesPlan, first: int | None, noise_source: Source | None
) -> tuple[float, ...]:
    """The quantiles of one column; that of the first level may be known."""
    found: dict[int | None, int] = {} if first is None else {plan.choices[0].place: first}
    for choice in plan.choices:
        if choice.place in found:
            continue
        low = 0 if choice.below is None else found[choice.below]
        high = len(before) - 1 if choice.above is None else found[choice.above]
        scores = scores_between(before, low, high, choice.share)
        sensitivity = places.parts * plan.sensitivity(choice)
        found[choice.place] = low + select(scores, sensitivity, plan.price, noise_source)
    return tuple(places.value(found[place]) for place in range(len(plan.quantiles)))


def _halving(quantiles: tuple[Fraction, ...], first: int, end: int, level: int) -> list[Choice]:
    """Choices of the quantiles from first to before end, the middle one first."""
    if first == end:
        return []
    middle = (first + end) // 2
    low = quantiles[first - 1] if first else Fraction(0)
    high = quantiles[end] if end < len(quantiles) else Fraction(1)
    share = (quantiles[middle] - low) / (high - low)
    below, above = first - 1 if first else None, end if end < len(quantiles) else None
    parts = _halving(quantiles, first, middle, level + 1) + _halving(quantiles, middle + 1, end, level + 1)
    return [Choice(middle, below, above, share, level), *parts]
