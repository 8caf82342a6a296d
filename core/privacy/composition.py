"""What happens to privacy, as frozen facts, and what events cost together: the tight sum.

The tight sum composes privacy loss distributions. A pure event loses at worst what randomised response does (Kairouz,
Oh, Viswanath 2015), and a Gaussian event what the continuous mechanism does and the slack of `integer_shifts`. Loss
distributions of the worst pairs compose by convolution, also when an output steers what is asked next (Zhu, Dong, Wang
2022, Theorem 10). What may fail with some probability takes that off delta first, as divergences are convex in
mixtures.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from .budget import DELTA_PLACES, Sensitivity, exact_decimal
from .calibration import NoiseScale, largest_rho, parse_fraction, pure_epsilon, zcdp_epsilon
from .integer_shifts import Continuous, GaussianTable, continuous_noises, gaussian_delta, gaussian_tables_delta

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

NO_ZCDP = Fraction(10**12)  # Stands for a ρ that is infinite; no total is large enough for it.


@dataclass(frozen=True)
class PureParts:
    """`count` mechanisms that are each (epsilon, 0)-private, such as the rows of a sketch with Laplace noise."""

    epsilon: Fraction
    count: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", Fraction(self.epsilon))
        if self.epsilon <= 0 or self.count < 1:
            raise ValueError("Pure parts have an epsilon above zero and a count of at least one.")

    @property
    def rho(self) -> Fraction:
        """ε-DP is ε²/2-zCDP (Bun, Steinke 2016, Proposition 1.4)."""
        return self.epsilon**2 * self.count / 2

    def to_dict(self) -> dict[str, object]:
        """Return an exact record, for JSON."""
        return {"kind": "pure_parts", "epsilon": str(self.epsilon), "count": self.count}


@dataclass(frozen=True)
class Selections(PureParts):
    """`count` choices by the exponential mechanism, each (epsilon, 0)-private; `selection` has the proofs.

    Their privacy loss lies in an interval of length ε, and not of 2ε, which zCDP shows and a pure promise does not.
    """

    @property
    def rho(self) -> Fraction:
        """ε²/8 each (Cesar, Rogers 2021; proven in `selection`)."""
        return self.epsilon**2 * self.count / 8

    def to_dict(self) -> dict[str, object]:
        """Return an exact record, for JSON."""
        return {**super().to_dict(), "kind": "selections"}


@dataclass(frozen=True)
class Gaussian:
    """One table with discrete Gaussian noise."""

    rho: Fraction  # Its zCDP, Δ2²/(2σ²).
    # Δ2² where one person moves every counter by -1, 0 or 1 only, as the sharper bound of `integer_shifts` asks.
    l2_squared: int | None = None
    # Δ2² where counters may move by any whole numbers, so that those of whole shifts do. Neither claims zCDP and no
    # more, as ledgers of earlier versions did.
    moved: int | None = None
    unspent: bool = False  # Whether it was paid for and never drawn, so that later tables may have it instead.

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", Fraction(self.rho))
        if self.rho <= 0 or any(square is not None and square < 1 for square in (self.l2_squared, self.moved)):
            raise ValueError("A Gaussian event has a rho above zero and, where given, an l2_squared of at least one.")
        if self.l2_squared is not None and self.moved is not None:
            raise ValueError("A Gaussian event is of unit shifts or of any whole ones.")

    @property
    def table(self) -> GaussianTable | None:
        """Δ2² and σ² for the sharper bounds, or None where they do not apply."""
        square = self.moved if self.l2_squared is None else self.l2_squared
        return None if square is None else GaussianTable(square, float(square / (2 * self.rho)), self.moved is None)

    def to_dict(self) -> dict[str, object]:
        """Return an exact record, for JSON; with any whole shifts only where there are such."""
        record: dict[str, object] = {"kind": "gaussian", "rho": str(self.rho), "l2_squared": self.l2_squared}
        record |= {} if self.moved is None else {"moved": self.moved}
        return record | ({"unspent": True} if self.unspent else {})


@dataclass(frozen=True)
class Alone:
    """One mechanism of which nothing is known but that it is (epsilon, delta)-private.

    Its loss may be anything with probability delta, so no bound of Rényi or zCDP holds. No filter admits it after other
    releases, and as the first of an account it settles that promises add up in that (`accounting`).
    """

    # Above zero, and at least zero.
    epsilon: Fraction
    delta: Fraction
    rho = NO_ZCDP

    def __post_init__(self) -> None:
        for name in ("epsilon", "delta"):
            object.__setattr__(self, name, Fraction(getattr(self, name)))
        if self.epsilon <= 0 or not 0 <= self.delta < 1:
            raise ValueError("A mechanism of its own has an epsilon above zero and a delta from 0 to less than 1.")

    def to_dict(self) -> dict[str, object]:
        """Return an exact record, for JSON."""
        return {"kind": "alone", "epsilon": str(self.epsilon), "delta": str(self.delta)}


@dataclass(frozen=True)
class Failure:
    """Anything at all comes out with this probability, beside what the other events of the same mechanism say.

    For neighbours, the mechanism is a mixture: with probability 1 - δ it does what the other events bound, and with
    probability δ, the same for both, whatever it likes (`partition_selection`).
    """

    delta: Fraction  # Between 0 and 1.
    rho = Fraction(0)  # None beside its probability.

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", Fraction(self.delta))
        if not 0 < self.delta < 1:
            raise ValueError("A failure has a probability between 0 and 1.")

    def to_dict(self) -> dict[str, object]:
        """Return an exact record, for JSON."""
        return {"kind": "failure", "delta": str(self.delta)}


Event = PureParts | Gaussian | Alone | Failure


def event_of(sensitivity: Sensitivity, scale: NoiseScale) -> Event:
    """Return what noise of this scale does to a table of this sensitivity.

    ValueError when the noise is for blocks of which the sensitivity says nothing.
    """
    if not scale.fits(sensitivity):
        raise ValueError(f"The sensitivity says nothing of blocks of {scale.block} counters.")
    if scale.epsilon is not None:
        # A report is all that a person gives away, and ε-private by itself, whatever is made of all of them later.
        return PureParts(scale.epsilon)
    if scale.distribution == "rounded_l2":
        if sensitivity.blocks_l2 is None:
            raise ValueError("The sensitivity says nothing of blocks.")
        return PureParts(sensitivity.blocks_l2 / scale.parameter)
    if scale.distribution == "discrete_gaussian":
        rho = sensitivity.l2_squared / (2 * scale.parameter)
        unit = sensitivity.unit_shifts
        return Gaussian(rho, *((sensitivity.l2_squared, None) if unit else (None, sensitivity.l2_squared)))
    # For any one pair of neighbours the touched counters are separate mechanisms; with unit shifts there are at most Δ1
    # of them and each loses 1/b, wherever they lie.
    parts = sensitivity.l1 if sensitivity.unit_shifts else sensitivity.parts
    return PureParts(sensitivity.l1 / scale.parameter / parts, parts)


def event_from_dict(record: Mapping[str, Any]) -> Event:
    """Rebuild what an event's `to_dict` wrote; ValueError, TypeError or KeyError for anything else."""
    if record["kind"] in ("pure_parts", "selections"):
        kind = PureParts if record["kind"] == "pure_parts" else Selections
        return kind(parse_fraction(record["epsilon"]), _whole(record["count"]))
    if record["kind"] == "gaussian":
        squares = (record["l2_squared"], record.get("moved"))
        shifts, moved = (None if square is None else _whole(square) for square in squares)
        return Gaussian(parse_fraction(record["rho"]), shifts, moved, record.get("unspent") is True)
    if record["kind"] == "alone":
        return Alone(parse_fraction(record["epsilon"]), parse_fraction(record["delta"]))
    if record["kind"] == "failure":
        return Failure(parse_fraction(record["delta"]))
    raise ValueError("An event is pure_parts, selections, gaussian, alone or failure.")


def pure_sum(events: Iterable[Event]) -> Fraction | None:
    """Exact sum of the epsilons when every event is pure, else None.

    Fractions of one denominator are added as whole numbers, which takes a tenth of the time and is as exact.
    """
    tops: dict[int, int] = {}
    for event in events:
        if not isinstance(event, PureParts):
            return None
        top, bottom = event.epsilon.as_integer_ratio()
        tops[bottom] = tops.get(bottom, 0) + top * event.count
    return sum((Fraction(top, bottom) for bottom, top in tops.items()), Fraction(0))


def failing(events: Iterable[Event]) -> Fraction:
    """The probability that any of them fails, at most."""
    return sum((event.delta for event in events if isinstance(event, Failure)), Fraction(0))


def total_rho(events: Iterable[Event]) -> Fraction:
    """Exact zCDP of all events together."""
    return sum((event.rho for event in events), Fraction(0))


def _whole(value: object) -> int:
    if type(value) is not int:
        raise TypeError("A count is a whole number.")
    return value


# The convolutions of privacy loss distributions are exact to about 1e-14 in delta; below this they are not used.
SMALLEST_PLD_DELTA = 1e-10


def epsilon_spent(events: Sequence[Event], delta: float) -> float:
    """Return an epsilon with which all events together are (epsilon, delta)-private: an upper bound, and a tight one.

    The smallest of the plain sum (pure events), the zCDP conversion, and, unless a Gaussian event claims zCDP alone,
    the composition of privacy loss distributions.

    `events`: In any order; none cost 0. `delta`: 0 asks for the pure sum, which is infinite when any event is Gaussian.
    """
    events = [event for event in events if not (isinstance(event, Gaussian) and event.unspent)]
    if not events:
        return 0.0
    if (lost := failing(events)) > 0:
        left = Fraction(delta) - lost
        sound = [event for event in events if not isinstance(event, Failure)]
        return epsilon_spent(sound, float(left)) if left >= 0 else math.inf
    if any(isinstance(event, Alone) for event in events):
        return _with_lone_ones(events, delta)
    pure = pure_sum(events)
    plain_sum = math.inf if pure is None else float(pure)
    if delta == 0:
        return plain_sum
    counts: Counter[Fraction] = Counter()
    for event in events:
        if isinstance(event, PureParts):
            counts[event.epsilon] += event.count
    tables = Counter(event.table for event in events if isinstance(event, Gaussian))
    best = min(plain_sum, zcdp_epsilon(float(total_rho(events)), float(delta)))
    if delta >= SMALLEST_PLD_DELTA and None not in tables:
        best = min(best, composed_epsilon(frozenset(counts.items()), frozenset(tables.items()), float(delta), best))
    return best


def _with_lone_ones(events: Sequence[Event], delta: float) -> float:
    """Basic composition (Dwork, Roth 2014, Theorem 3.16), where nothing else is known of some of the events."""
    alone = [event for event in events if isinstance(event, Alone)]
    left = delta - float(sum((event.delta for event in alone), Fraction(0)))
    if left < 0:
        return math.inf
    others = [event for event in events if not isinstance(event, Alone)]
    return float(sum((event.epsilon for event in alone), Fraction(0))) + epsilon_spent(others, left)


# Set aside for the errors of the convolutions, which are exact to about 1e-14 in delta.
PLD_DELTA_ERROR = 1e-12
# Losses are rounded up to a grid this much finer than the answer, once for each kind of event.
GRID_POINTS = 2_000
# Epsilons of tables that differ by less of themselves are one.
CLOSE = 1e-9


@lru_cache(maxsize=4096)
def composed_epsilon(
    pure: frozenset[tuple[Fraction, int]], tables: frozenset[tuple[GaussianTable, int]], delta: float, rough: float
) -> float:
    """Compose privacy loss distributions; `rough` is an upper bound that sets the grid of losses.

    Every way to go over to continuous noise is a bound; the one is taken that is best for the tables alone. Tables
    alone are together one continuous mechanism, whose delta is known without any grid.
    """
    if not pure:
        return _tables_epsilon(list(Counter(dict(tables)).elements()), delta, rough)
    if not tables and sum(count for _, count in pure) == 1:
        return pure_epsilon(float(next(iter(pure))[0]), delta)
    from dp_accounting.pld import privacy_loss_distribution as pld  # a second to load, and few ask

    ways = [way for way in continuous_noises(list(Counter(dict(tables)).elements())) if way.slack.log_factor <= 1]
    if not ways:
        return math.inf
    mu, slack = min(ways, key=lambda way: _delta(rough, way))
    within = delta * math.exp(-slack.log_factor) - math.expm1(slack.log_mass) - PLD_DELTA_ERROR
    if within <= 0:
        return math.inf
    kinds = len(pure) + bool(tables)
    grid = rough / min(GRID_POINTS * kinds, 50 * GRID_POINTS)
    losses = [_randomised_response_losses(float(epsilon), count, grid) for epsilon, count in sorted(pure)]
    if tables:
        losses.append(pld.from_gaussian_mechanism(1 / mu, value_discretization_interval=grid))
    total = reduce(lambda one, other: one.compose(other), losses)
    return float(total.get_epsilon_for_delta(within)) + slack.epsilon


def _tables_epsilon(tables: Sequence[GaussianTable], delta: float, rough: float) -> float:
    """The least epsilon up to `rough` at which Gaussian tables keep this delta, rounded up; infinite where none is."""
    if gaussian_tables_delta(rough, tables) > delta:
        return math.inf
    low, high = 0.0, rough
    while high - low > CLOSE * high:
        middle = (low + high) / 2.0
        low, high = (low, middle) if gaussian_tables_delta(middle, tables) <= delta else (middle, high)
    return high


def _delta(epsilon: float, way: Continuous) -> float:
    """Of the tables alone."""
    mu, slack = way
    if mu == 0.0:
        return 0.0
    return math.exp(slack.log_factor) * gaussian_delta(epsilon - slack.epsilon, mu) + math.expm1(slack.log_mass)


def _randomised_response_losses(epsilon: float, count: int, grid: float) -> PrivacyLossDistribution:
    """Return the loss of `count` pure mechanisms, rounded up to the grid once.

    The worst of them is randomised response, which loses ±ε (Kairouz, Oh, Viswanath 2015); `count` of them lose
    ε(2J - count) with J binomial. Rounding each of them up, as a library's self-composition of one does, would add up.
    """
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

    truthful = 1 / (1 + math.exp(-epsilon))
    law = scipy.stats.binom(count, truthful)
    least, most = int(law.ppf(1e-15)), int(law.isf(1e-15))
    successes = np.arange(least, most + 1)
    probabilities = law.pmf(successes)
    probabilities[0] = law.cdf(least)
    points = np.ceil(epsilon * (2 * successes - count) / grid).astype(np.int64)
    occupied, position = np.unique(points, return_inverse=True)
    masses = np.bincount(position, probabilities)
    return PrivacyLossDistribution.create_from_rounded_probability(
        dict(zip(occupied.tolist(), masses.tolist(), strict=True)), float(law.sf(most)), grid
    )


def keeps_promise(events: Sequence[Event], epsilon: Decimal, delta: Decimal) -> bool:
    """Whether the events, fixed beforehand, are (epsilon, delta)-private together by any proven bound."""
    if (lost := failing(events)) > 0:
        sound = [event for event in events if not isinstance(event, Failure)]
        kept = Fraction(delta) - lost
        return kept >= 0 and (not sound or keeps_promise(sound, epsilon, _decimal_below(kept)))
    pure = pure_sum(events)
    if pure is not None and pure <= Fraction(epsilon):
        return True
    if any(isinstance(event, Alone) for event in events):
        return _lone_ones_keep(events, Fraction(epsilon), Fraction(delta))
    if delta == 0:
        return False
    if gaussian_keeps(events, Fraction(epsilon), delta):
        return True
    # Basic composition: pure events of ε' and others that are (ε - ε', δ)-private, such as bought bounds and a table.
    others = [event for event in events if isinstance(event, Gaussian)]
    left = Fraction(epsilon) - sum(
        (event.epsilon * event.count for event in events if isinstance(event, PureParts)), Fraction(0)
    )
    if 0 < len(others) < len(events) and left > 0 and gaussian_keeps(others, left, delta):
        return True
    return epsilon_spent(events, float(delta)) <= float(epsilon)


def _lone_ones_keep(events: Sequence[Event], epsilon: Fraction, delta: Fraction) -> bool:
    """Basic composition of pure events and of those of which only a promise is known, fixed beforehand."""
    alone = [event for event in events if isinstance(event, Alone)]
    pure = pure_sum(event for event in events if not isinstance(event, Alone))
    whole = None if pure is None else pure + sum((event.epsilon for event in alone), Fraction(0))
    return whole is not None and whole <= epsilon and sum((e.delta for e in alone), Fraction(0)) <= delta


def gaussian_keeps(events: Sequence[Event], epsilon: Fraction, delta: Decimal) -> bool:
    """Whether Gaussian events keep (epsilon, delta) by one of the two bounds that `calibration` uses."""
    if total_rho(events) <= Fraction(largest_rho(float(epsilon), float(delta))):
        return True
    tables = [event.table for event in events if isinstance(event, Gaussian) and event.table is not None]
    return len(tables) == len(events) and gaussian_tables_delta(float(epsilon), tables) <= float(delta)


def _decimal_below(delta: Fraction) -> Decimal:
    """A delta rounded down to the places that one may have."""
    return exact_decimal(Fraction(math.floor(delta * 10**DELTA_PLACES), 10**DELTA_PLACES), "A delta")
