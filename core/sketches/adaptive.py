"""Mechanisms that choose what to measure by looking at private data, and pay for each look.

    records --> exact sums --choices and noise, all paid for beforehand--> a linear sketch and its noisy table

What is released in the end is a linear sketch like any other, whose parameters hold what was privately chosen; so
files, answers and merging know nothing of the choices. Their price is part of the release's one promise.

A mechanism is composed of two things alone, both from `core.privacy`: choices by the exponential mechanism
(`selection.select`) and noisy tables. It says beforehand, from public facts, how many of each there are and what each
costs, so that everything is in the ledger before the first look.

How far the counts of a pair of columns are from what is expected of them, in whole numbers, for private choices.

One record adds 1 to one cell of a pair's counts, so it moves their L1 distance from anything that does not depend on
records by 1 at most; a replaced one, which leaves a cell for another, by 2.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from ..geometry.kernels import Kernel, of_coordinates
from ..privacy.accounting import Cost
from ..privacy.budget import Budget, Neighbours, Sensitivity
from ..privacy.calibration import NoiseScale, calibrate, gaussian_scale, largest_rho
from ..privacy.composition import Event, Selections, event_of
from ..privacy.noise.noise import add_noise
from ..privacy.noise.randomness import Source as NoiseSource
from .answers import Capabilities, check_circles, check_points
from .linear import LinearSketch, kernel_sums

# Fills any linear sketch of the private records: its exact table, int64, in one more reading of the source.
Read = Callable[[LinearSketch], np.ndarray]


@dataclass(frozen=True)
class AdaptivePlan:
    """How a budget is used, decided from public facts before any record is read."""

    budget: Budget  # The promise of everything together.
    choices: tuple[Fraction, ...]  # Epsilon of every choice, in the order of the shares that were asked for.
    noises: tuple[NoiseScale, ...]  # Of every table that is measured, in that order.
    # Of a number of records released apart; None when there is none, or when it is public.
    count_noise: NoiseScale | None
    counts: bool  # Whether the number of records goes into the release by itself, noisy or public.
    cost: Cost  # Of everything; what is written to the ledger.

    @property
    def count_noises(self) -> tuple[NoiseScale | None, ...]:
        """Of the one number of records, where it goes into the release."""
        return (self.count_noise,) if self.counts else ()


@dataclass(frozen=True)
class Outcome:
    """What a mechanism gives away."""

    sketch: LinearSketch  # With all that was chosen among its parameters.
    table: np.ndarray  # Noisy counters of its shape.
    noise: NoiseScale  # Of every counter of the table; one of the plan's.
    # The number of records where the plan says that it is released apart, as `noisy_count` gives it; else None.
    count: int | None = None


@dataclass(frozen=True)
class Adaptive(Capabilities, ABC):
    """A mechanism that chooses before it measures. Subclasses are frozen dataclasses of public parameters.

    Its name and its capabilities are those of the sketch that is released.
    """

    chooses: ClassVar[Literal[True]] = True
    count_share: ClassVar[Fraction] = Fraction(1, 50)
    parts: ClassVar[tuple[()]] = ()

    def _check(self) -> None:
        """Refuse fields that do not go together; here, a domain and a kernel that are not of points."""
        check_points(self.domain, getattr(self, "kernel", None))
        check_circles(self.domain, self.name, takes=False)

    if TYPE_CHECKING:  # a field of those that choose for sums of a kernel

        @property
        def kernel(self) -> Kernel:
            """Whose sums are estimated."""

    @property
    def metric(self) -> str:
        """The metric, "l1" or "l2", in which the domain encodes categories; its kernel's, unless one says another."""
        return self.kernel.metric

    @property
    @abstractmethod
    def first(self) -> LinearSketch:
        """What is read before anything is paid for, to the source's end.

        Whatever has to be refused comes out in this reading. `run` gets its exact table without another one.
        """

    @property
    def one_answer(self) -> tuple[Adaptive, float]:
        """What one answer is read off, and the share of the records in it: all of them."""
        return self, 1.0

    def sized_for(self, budget: Budget, records: float) -> LinearSketch | Adaptive:
        """The same mechanism with the sizes that suit the budget and a public guess of the number of records.

        Or one that chooses nothing, where those make a choice pointless.
        """
        return self

    def check_budget(self, budget: Budget) -> None:
        """RequestError in one sentence when the mechanism does not exist under this promise."""
        return

    @abstractmethod
    def plan(self, budget: Budget) -> AdaptivePlan:
        """The price of every choice and table, from public facts alone; see `share_budget`."""

    @abstractmethod
    def run(self, read: Read, plan: AdaptivePlan, noise_source: NoiseSource | None = None) -> Outcome:
        """Choose and measure. Called once, after all of `plan.cost` was written to the ledger.

        Nothing may be refused here, and every look at what `read` returns must be a choice or a noisy table of the
        plan. Choices and noise take their randomness from `noise_source`.
        """

    def exact(self, queries: np.ndarray, records: np.ndarray) -> np.ndarray:
        """The exact sums that a release estimates, float64 (n,), at encoded queries over encoded records."""
        return kernel_sums(of_coordinates(self.kernel, self.domain.widths), queries, records)

    def parameters(self) -> dict[str, Any]:
        """All public parameters but the domain, for the ledger's note."""
        return self.written()


def share_budget(
    mechanism: Adaptive,
    budget: Budget,
    choices: Sequence[Fraction],
    tables: Sequence[tuple[Sensitivity, Fraction]],
    released: LinearSketch,
) -> AdaptivePlan:
    """Share a budget between choices, tables and, where it is worth it, a count of records.

    Under pure epsilon the shares are of epsilon, which adds up. Under (epsilon, delta) they are of ρ, which does too: a
    choice of ε costs ε²/8 of it, and a table with Gaussian noise Δ2²/(2σ²). What keeps ε keeps (ε, δ) as well, so that
    few looks are shared by epsilon there too where that is better; see `less_noisy`. RequestError when the mechanism
    does not exist under this promise.

    `mechanism`, `budget`: For whom, and the promise of everything together. `choices`: The share of each choice.
    `tables`: How far one person moves each table that is measured, and its share. `released`: A sketch of the shape of
    the released one, which says how well it tells the number of records, when its counters have the noise of the last
    table, and how far a person moves that number.
    """
    mechanism.check_budget(budget)
    whole = sum(choices, Fraction(0)) + sum((share for _, share in tables), Fraction(0))
    public = released.count_is_public(budget.neighbours)
    prices, noises, events = _shared(budget, choices, tables, whole)
    if not public:
        count, left = released.count_sensitivity(budget.neighbours), 1 - mechanism.count_share
        asked = [*((own, share * left) for own, share in tables), (count, whole * mechanism.count_share)]
        others = _shared(budget, [share * left for share in choices], asked, whole)
        if others[1][-1].variance < released.total_variance(noises[-1].variance):
            prices, (*of_tables, count_noise), events = others
            cost = Cost(events, budget.epsilon, budget.delta)
            return AdaptivePlan(budget, prices, tuple(of_tables), count_noise, True, cost)
    return AdaptivePlan(budget, prices, noises, None, public, Cost(events, budget.epsilon, budget.delta))


def noisy_count(records: int, plan: AdaptivePlan, noise_source: NoiseSource | None) -> int | None:
    """The number of records as the plan releases it: exact where it is public, and None where it is in the table."""
    if not plan.counts:
        return None
    if plan.count_noise is None:
        return int(records)
    return int(add_noise(np.array([records], dtype=np.int64), plan.count_noise, noise_source)[0])


def _shared(
    budget: Budget, choices: Sequence[Fraction], tables: Sequence[tuple[Sensitivity, Fraction]], whole: Fraction
) -> tuple[tuple[Fraction, ...], tuple[NoiseScale, ...], tuple[Event, ...]]:
    """Prices of the choices, noise of the tables, and the events that they are."""
    epsilon = Fraction(budget.epsilon)
    prices = tuple(epsilon * share / whole for share in choices)
    noises = tuple(calibrate(sensitivity, epsilon * share / whole) for sensitivity, share in tables)
    if not budget.pure:
        rho = Fraction(largest_rho(float(budget.epsilon), float(budget.delta)))
        gaussian = tuple(gaussian_scale(sensitivity, rho * share / whole) for sensitivity, share in tables)
        by_rho = tuple(price_of(rho * share / whole) for share in choices)
        prices, noises = less_noisy((prices, noises), (by_rho, gaussian))
    chosen = (Selections(price, len(list(equal))) for price, equal in groupby(prices))
    measured = (event_of(sensitivity, noise) for (sensitivity, _), noise in zip(tables, noises, strict=True))
    return prices, noises, (*chosen, *measured)


Shared = tuple[tuple[Fraction, ...], tuple[NoiseScale, ...]]  # Prices of choices and noise of tables.


def less_noisy(one: Shared, other: Shared) -> Shared:
    """Which of two ways to share a budget is less regretted: the worst of its deviations beside the other's counts.

    A choice errs by as much as 1/ε of it, and a table by the deviation of its noise. Both ways keep the promise and are
    public, so taking one of them costs nothing.
    """
    return one if _regret(one, other) <= _regret(other, one) else other


def _regret(one: Shared, other: Shared) -> float:
    of_choices = [float(better / price) for price, better in zip(one[0], other[0], strict=True)]
    pairs = zip(one[1], other[1], strict=True)
    return max(*of_choices, *(math.sqrt(mine.variance / max(its.variance, 1e-300)) for mine, its in pairs), 1.0)


def price_of(rho: Fraction) -> Fraction:
    """The epsilon of a choice that costs ρ = ε²/8, rounded down to thirty places or so."""
    return Fraction(math.isqrt(math.floor(8 * rho * 10**80)), 10**40)


SCALE = 1 << 8  # Parts of a record in which scores are counted.
LARGEST_TOTAL = float(1 << 50)  # Records that are expected at most, whatever the noise says, so that scores fit 64 bits


def pair_score(counts: np.ndarray, expected: np.ndarray) -> int:
    """L1 distance of a pair's counts from what is expected of it, in SCALEths of a record.

    `counts`: exact, int64. `expected`: int64 of the same shape, in SCALEths of a record; the same for all neighbours.
    """
    return int(np.abs(SCALE * counts - expected).sum())


def score_sensitivity(neighbours: Neighbours, records: int) -> int:
    """How far a person of so many records moves the score of any pair."""
    return SCALE * (1 if neighbours is Neighbours.ADD_REMOVE else 2) * records
