"""What releases cost, what they have cost together, and the rule that decides whether another may follow.

Two questions, two answers. *How much has been spent?* `epsilon_spent` composes all events as tightly as is proven for
releases whose noise was fixed beforehand. *May this release happen?* `admits` must stay right when the owner chooses
every release after seeing the earlier ones, so it is a privacy filter, and says no a little before the figure shown as
spent reaches the total.

Why `admits` keeps (ε, δ). Let L be the privacy loss of all outputs together; the promise is E[(1 - e^(ε-L))₊] <= δ. A
release is admitted when, it and all before it counted,

    (i)    all are pure and their epsilons sum to at most ε, or
    (ii)   what they cost at order α sums to at most αρ_max, where ρ_max is the largest ρ for which ρ-zCDP gives
           (ε, δ), α is the order that shows it, and an event of ρ costs αρ, or its pure ε where that is less, or
    (iii)  nothing came before, and what it promises by itself is within (ε, δ).

(iii) is settled before any output exists. If it alone admits the first release, that release is not pure within ε and
costs more than αρ_max, so (i) and (ii) can never hold again: there is one release, and it is (ε, δ)-private. Otherwise
(i) or (ii) holds at every step. Outcomes that end with (i) have L <= ε for certain and add nothing to the expectation.
All others end with (ii), and as costs only grow it held at every step of theirs: they are outcomes of the process that
stops before (ii) breaks. In that process exp((α-1)(L - ΣC)) is a supermartingale for the costs C at order α, which
bound the Rényi divergence of every event (αρ by the definition of zCDP, ε as no loss exceeds it), whatever the owner
asks next in view of earlier outputs, so E[e^((α-1)L)] <= e^((α-1)αρ_max); this is all that the conversion from zCDP
uses at order α (the Rényi filter of Feldman and Zrnic 2021; Whitehouse, Ramdas, Rogers, Wu 2023). Its expectation, at
least ours, is at most δ. ∎

Basic composition (Σε_i <= ε and Σδ_i <= δ) is deliberately not a fourth way in: one could steer the unlucky outcomes to
one rule and the lucky ones to the other, and the two δ would add up.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from .budget import Budget, decimal_below, decimal_text
from .calibration import NoiseScale
from .composition import epsilon_spent
from .events import Alone, Event, Gaussian, PureParts, event_from_dict, event_of, pure_sum, total_rho
from .integer_shifts import gaussian_tables_delta
from .neighbours import Sensitivity
from .zcdp import best_order, largest_rho

__all__ = [
    "Alone",
    "Cost",
    "Event",
    "Gaussian",
    "PureParts",
    "admits",
    "epsilon_spent",
    "gaussian_keeps",
    "keeps_promise",
    "largest_pure_admitted",
    "spent",
]


@dataclass(frozen=True)
class Cost:
    """What one release does to privacy, and what it promises by itself.

    Raises
    ------
    ValueError
        When the events do not keep the promise.
    """

    events: tuple[Event, ...]  # Every mechanism in it.
    # Its own promise, as the owner typed it; checked against the events.
    epsilon: Decimal
    delta: Decimal = Decimal(0)

    def __post_init__(self) -> None:
        promise = Budget(self.epsilon, self.delta)
        object.__setattr__(self, "events", tuple(self.events))
        object.__setattr__(self, "epsilon", promise.epsilon)
        object.__setattr__(self, "delta", promise.delta)
        if not self.events:
            raise ValueError("A release has at least one event.")
        if not keeps_promise(self.events, self.epsilon, self.delta):
            raise ValueError(f"These events do not add up to {self.describe()}.")

    @classmethod
    def of(
        cls, tables: Iterable[tuple[Sensitivity, NoiseScale]], epsilon: Decimal, delta: Decimal = Decimal(0)
    ) -> "Cost":
        """Return the cost of releasing tables of these sensitivities with this noise."""
        return cls(tuple(event_of(sensitivity, scale) for sensitivity, scale in tables), epsilon, delta)

    @property
    def rho(self) -> Fraction:
        """zCDP of all events together, exact."""
        return total_rho(self.events)

    @property
    def pure_epsilon(self) -> Fraction | None:
        """Exact sum of the epsilons when every event is pure, else None."""
        return pure_sum(self.events)

    def describe(self) -> str:
        """The promise in short: ε = 1, or ε = 1 with δ = 0.000001."""
        words = f"ε = {decimal_text(self.epsilon)}"
        return words if not self.delta else f"{words} with δ = {decimal_text(self.delta)}"

    def to_dict(self) -> dict[str, object]:
        """Return an exact record, for JSON."""
        return {
            "epsilon": decimal_text(self.epsilon),
            "delta": decimal_text(self.delta),
            "events": [event.to_dict() for event in self.events],
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "Cost":
        """Rebuild what `to_dict` wrote; ValueError, TypeError or KeyError for anything else."""
        events = tuple(event_from_dict(event) for event in record["events"])
        return cls(events, Decimal(record["epsilon"]), Decimal(record["delta"]))


def keeps_promise(events: Sequence[Event], epsilon: Decimal, delta: Decimal) -> bool:
    """Whether the events, fixed beforehand, are (epsilon, delta)-private together by any proven bound."""
    pure = pure_sum(events)
    if pure is not None and pure <= Fraction(epsilon):
        return True
    if delta == 0:
        return False
    if any(isinstance(event, Alone) for event in events):
        return _lone_ones_keep(events, Fraction(epsilon), Fraction(delta))
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


def spent(costs: Sequence[Cost], delta: Decimal) -> float:
    """Return `epsilon_spent` of all events of `costs`, or the sum of their promises where that is less."""
    promised = math.inf
    if sum(Fraction(cost.delta) for cost in costs) <= Fraction(delta):
        promised = float(sum(Fraction(cost.epsilon) for cost in costs))
    return min(promised, epsilon_spent([event for cost in costs for event in cost.events], float(delta)))


def admits(previous: Sequence[Cost], new: Cost, epsilon: Decimal, delta: Decimal) -> bool:
    """Whether `new` may follow the releases `previous` within a total of (epsilon, delta), whoever chose it and why.

    Exact in pure epsilon: 0.1 and 0.2 fill 0.3 to the last cent. See the module for the rule and its proof.
    """
    events = [event for cost in (*previous, new) for event in cost.events]
    pure = pure_sum(events)
    if pure is not None and pure <= Fraction(epsilon):
        return True
    if delta == 0:
        return False
    if not previous and new.epsilon <= epsilon and new.delta <= delta:
        return True
    if any(isinstance(event, Alone) for event in events):
        return False
    order, most = _filter(epsilon, delta)
    return _renyi_cost(events, order) <= most


def admits_each(previous: Sequence[Cost], costs: Sequence[Cost], epsilon: Decimal, delta: Decimal) -> bool:
    """Whether a total admits these costs one after the other, each an entry of its own."""
    return all(admits([*previous, *costs[:place]], cost, epsilon, delta) for place, cost in enumerate(costs))


def _filter(epsilon: Decimal, delta: Decimal) -> tuple[Fraction, Fraction]:
    """The order α of rule (ii), and αρ_max."""
    rho = largest_rho(float(epsilon), float(delta))
    order = Fraction(best_order(float(epsilon), rho))
    return order, order * Fraction(rho)


def _renyi_cost(events: Iterable[Event], order: Fraction) -> Fraction:
    """A bound on the Rényi divergences of that order, summed over the events."""
    return sum(
        (
            min(order * event.rho, event.epsilon * event.count) if isinstance(event, PureParts) else order * event.rho
            for event in events
        ),
        Fraction(0),
    )


def largest_pure_admitted(previous: Sequence[Cost], epsilon: Decimal, delta: Decimal) -> Decimal:
    """Return the largest epsilon of one further pure release in one part; exact by the plain sum, else rounded down."""
    events = [event for cost in previous for event in cost.events]
    pure = pure_sum(events)
    left = Decimal(0)
    if pure is not None:
        left = decimal_below(max(Fraction(epsilon) - pure, Fraction(0)))
    if delta > 0:
        order, most = _filter(epsilon, delta)
        cost_left = most - _renyi_cost(events, order)
        if cost_left > 0:
            # floor(10⁶ √(2ρ)) in whole numbers, so that what is shown as left is always admitted.
            millionths = math.isqrt(math.floor(2 * cost_left / order * 10**12))
            left = max(left, decimal_below(Fraction(millionths, 10**6)), decimal_below(cost_left))
    return left
