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

*What may fail.* The first release may have events that fail with probability δ_f (`events.Failure`): with probability
1 - δ_f it does what its other events say, for both of two neighbours, and so does all that follows it, whoever chose
it. Then δ - δ_f stands for δ in (ii), which is settled before any output exists, as everything else in the rule is, and
the total is (ε, δ)-private, as divergences are convex in mixtures. Whether to have a later release that may fail is
decided in view of outputs, and such probabilities could add up to more than was settled. So later ones are admitted as
long as all of theirs together stay within `RARE` of δ - δ_f. Along every path they then add up to at most that, so any
of them fails with at most that probability, for both neighbours; and paths on which none fails have, for both, their
probability times the same factor of at most one, so what bounds E[(1 - e^(ε-L))₊] above bounds it for them. (ii) is met
with the margin of `zcdp`, ten times as large as `RARE`, so that there is room for it.

Basic composition (Σε_i <= ε and Σδ_i <= δ) is no way in beside these: one could steer the unlucky outcomes to one rule
and the lucky ones to the other, and the two δ would add up. It is the only way in where the first entry says so by an
`events.Alone`, which is settled before any output exists: (i) and (ii) never hold there, on any path. It may be chosen
anew at every step, as the rest of a process that has (ε - ε_1, δ - δ_1) left is that private, by induction, whatever
the first mechanism said (Dwork, Roth 2014, Theorem 3.16; Rogers, Roth, Ullman, Vadhan 2016). So a pure number may be
bought first, and all that is left of ε be spent with δ in view of it, which (ii) has no room for.

*What is given back.* An entry for several things of which, in view of the first, the others are never drawn costs what
the first does where (i) or (ii) admits it: they hold of what was drawn on every path. Where (iii) alone did, (ii) would
be a second way in, taken by what came out, and both δ add up (at (1, 0.001), ρ / 4 first, to 1.001 δ by choices alone).
So the rest stays paid for, unspent (`events.Gaussian`), and admits Gaussian tables alone that are within it: like those
in whose place they are, they are a function of the one Brownian motion of the whole entry (`Reserve`).
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_UP, Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

from .budget import Budget, Sensitivity, decimal_below, decimal_text, exact_decimal
from .calibration import NoiseScale, best_order, largest_rho
from .composition import (
    Alone,
    Event,
    Failure,
    Gaussian,
    PureParts,
    _decimal_below,
    epsilon_spent,
    event_from_dict,
    event_of,
    failing,
    keeps_promise,
    pure_sum,
    total_rho,
)
from .integer_shifts import gaussian_delta, least_mu

__all__ = [
    "Alone",
    "Cost",
    "Event",
    "Gaussian",
    "PureParts",
    "added_up",
    "admits",
    "epsilon_spent",
    "keeps_promise",
    "largest_pure_admitted",
    "left_unspent",
    "spent",
]


@dataclass(frozen=True)
class Cost:
    """What one release does to privacy, and what it promises by itself; ValueError when its events do not keep that."""

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


def spent(costs: Sequence[Cost], delta: Decimal) -> float:
    """Return `epsilon_spent` of all events of `costs`, or the sum of their promises where that is less."""
    promised = math.inf
    if sum(Fraction(cost.delta) for cost in costs) <= Fraction(delta):
        promised = float(sum(Fraction(cost.epsilon) for cost in costs))
    return min(promised, epsilon_spent([event for cost in costs for event in cost.events], float(delta)))


RARE = Fraction(1, 10**8)
"""Of a delta, what may fail in all releases after the first together."""


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
    if rest := _unspent(previous):
        later = [event for cost in (*previous[1:], new) for event in cost.events]
        return _mu(later, previous[0].epsilon) <= math.sqrt(2.0 * float(total_rho(rest)))
    return _filtered(previous, new, epsilon, delta)


def _unspent(costs: Sequence[Cost]) -> list[Gaussian]:
    """What the first entry has paid for and never drawn."""
    return [one for cost in costs[:1] for one in cost.events if isinstance(one, Gaussian) and one.unspent]


def left_unspent(costs: Sequence[Cost]) -> Decimal:
    """The ε of one more release, at the δ of the first of these, that is paid for already; 0 where none is.

    The μ² of Gaussian tables add up, and `admits` leaves a later one what those before it do not have.
    """
    if not (rest := _unspent(costs)):
        return Decimal(0)
    first, later = costs[0], [event for cost in costs[1:] for event in cost.events]
    left = 2.0 * float(total_rho(rest)) - (_mu(later, first.epsilon) ** 2 if later else 0.0)
    return _calibrating(math.sqrt(left), first.delta, first.epsilon) if left > 0.0 else Decimal(0)


def _calibrating(mu: float, delta: Decimal, most: Decimal) -> Decimal:
    """The ε, at most so much, such that Gaussian noise which is calibrated for it and δ has this μ at most."""
    low, high = 0.0, float(most)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(middle, mu) >= float(delta) else (low, middle)
    return decimal_below(Fraction(low))


def _filtered(previous: Sequence[Cost], new: Cost, epsilon: Decimal, delta: Decimal) -> bool:
    """Whether rule (ii), or that of promises that add up where these are settled, admits one more."""
    if any(isinstance(event, Alone) for cost in (*previous, new) for event in cost.events):
        return _settled_to_add_up(previous) and min(_unpromised((*previous, new), epsilon, delta)) >= 0
    first, *later = (*previous, new)
    left = Fraction(delta) - failing(first.events)
    if left <= 0 or sum(failing(cost.events) for cost in later) > RARE * left:
        return False
    order, most = _filter(epsilon, _decimal_below(left))
    return _renyi_cost((event for cost in (first, *later) for event in cost.events), order) <= most


def given_back(previous: Sequence[Cost], whole: Cost, first: Cost, epsilon: Decimal, delta: Decimal) -> Cost | None:
    """The price of an entry of which the first part alone was drawn; None where all of it stays. See the top.

    It stays where a part that was not drawn may fail: of a first entry that is settled before any output exists.
    """
    if failing(first.events) != failing(whole.events):
        return None
    pure = pure_sum(event for cost in (*previous, whole) for event in cost.events)
    settled = any(isinstance(event, Alone) for cost in (*previous, whole) for event in cost.events)
    if not settled and ((pure is not None and pure <= Fraction(epsilon)) or _filtered(previous, whole, epsilon, delta)):
        return first
    rho, tables = total_rho(whole.events), [event for event in whole.events if not isinstance(event, Failure)]
    kept = float(Fraction(whole.delta) - failing(whole.events)) * math.exp(-FACTOR)
    moved = gaussian_delta(float(whole.epsilon) * (1 - SLACK), _mu(tables, whole.epsilon))
    if previous or rho <= total_rho(first.events) or moved > kept:
        return None
    rest = Gaussian(rho - total_rho(first.events), moved=REFERENCE, unspent=True)
    return Cost((*first.events, rest), whole.epsilon, whole.delta)


def _mu(events: Sequence[Event], epsilon: Decimal) -> float:
    """Of continuous noise no better than these in a promise of this ε; infinite where not all are Gaussian tables."""
    tables = [event.table for event in events if isinstance(event, Gaussian) and event.table is not None]
    return least_mu(tables, SLACK / 2 * float(epsilon), FACTOR / 2) if len(tables) == len(events) else math.inf


def _settled_to_add_up(previous: Sequence[Cost]) -> bool:
    """Whether the first entry settled that promises add up and no other rule counts."""
    return bool(previous) and any(isinstance(event, Alone) for event in previous[0].events)


def _unpromised(costs: Sequence[Cost], epsilon: Decimal, delta: Decimal) -> tuple[Fraction, Fraction]:
    """What promises leave of a total where they add up; below zero where they pass it."""
    left = Fraction(epsilon), Fraction(delta)
    for cost in costs:
        left = left[0] - Fraction(cost.epsilon), left[1] - Fraction(cost.delta)
    return left


def added_up(cost: Cost) -> Cost:
    """The same promise as a first entry that settles that promises add up; see the top."""
    return Cost((Alone(Fraction(cost.epsilon), Fraction(cost.delta)),), cost.epsilon, cost.delta)


def first_entry(has_room: Callable[..., bool], first: Cost, *rest: Cost) -> Cost | None:
    """How a price is written down that others follow: as it is, or adding up where only that has room; None where
    nothing has."""
    return next((entry for entry in (first, added_up(first)) if has_room(entry, *rest)), None)


def admits_each(previous: Sequence[Cost], costs: Sequence[Cost], epsilon: Decimal, delta: Decimal) -> bool:
    """Whether a total admits these costs one after the other, each an entry of its own."""
    return all(admits([*previous, *costs[:place]], cost, epsilon, delta) for place, cost in enumerate(costs))


def rounded_up(epsilon: Decimal) -> Decimal:
    """To four digits after the first one that is not zero."""
    return epsilon.quantize(Decimal((0, (1,), epsilon.adjusted() - 3)), rounding=ROUND_UP).normalize()


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
    if _settled_to_add_up(previous):
        return decimal_below(max(_unpromised(previous, epsilon, delta)[0], Fraction(0)))
    events = [event for cost in previous for event in cost.events]
    pure = pure_sum(events)
    left = Decimal(0)
    if pure is not None:
        left = decimal_below(max(Fraction(epsilon) - pure, Fraction(0)))
    kept = Fraction(delta) - (failing(previous[0].events) if previous else 0)
    if kept > 0:
        order, most = _filter(epsilon, _decimal_below(kept))
        cost_left = most - _renyi_cost(events, order)
        if cost_left > 0:
            # floor(10⁶ √(2ρ)) in whole numbers, so that what is shown as left is always admitted.
            millionths = math.isqrt(math.floor(2 * cost_left / order * 10**12))
            left = max(left, decimal_below(Fraction(millionths, 10**6)), decimal_below(cost_left))
    return left


FAILING = Fraction(1, 4)
"""Of a delta, for what may fail in the purchase that comes first."""
SLACK, FACTOR = 1e-3, 1e-3
"""Of ε, and as a logarithm: what discrete noise may lose beside continuous one in all that is bought and released."""
REFERENCE = 10**9
"""Squared length by which a person moves the table that stands for whatever follows: so long that its noise is as good
as continuous."""
TRIED = tuple(Fraction(part, 1000) for part in (999, 995, 980, 950, 900, 800, 600, 400))
"""Shares of what is reserved, one after the other, with which a release is planned until it fits."""


@dataclass(frozen=True)
class Reserve:
    """A promise with a delta shared between Gaussian tables that come first, and may fail, and whatever follows them.

    What follows depends on what came first, so it is not enough that every release which might be made keeps the
    promise together with it. Let μ1² be the share of the first tables in the μ² of a continuous Gaussian mechanism that
    is (ε - s, δ - δ_f)-private up to a factor e^f, and μ2² the rest, all settled beforehand (s, f are `SLACK` and
    `FACTOR`). Whatever follows must have Gaussian tables alone, and continuous noise of μ <= μ2 must be as good as
    theirs but for a slack of at most s and f (`integer_shifts`). Then, whatever came first, the losses of what follows
    are those of one continuous mechanism of μ2, at worst, which composes with the first as if it had been fixed
    beforehand. The share itself may follow from outputs, too: a Gaussian table of μ_k is what a Brownian motion,
    without drift or with drift 1, shows over a stretch of time of μ_k², as its increment there (along the person's
    move; across it there is noise alone). Stretches follow each other, and what is chosen in view of earlier ones
    decides only how long the next is. So tables whose μ_k² add up to μ² at most, whatever comes out, are a function of
    one such motion watched for μ², whose loss is that of one continuous mechanism of μ. Releases of several kinds, some
    with pure noise say, would not do: which of them is made could follow the luck of what came first, and each of them
    would add a delta of its own.
    """

    whole: Budget  # The promise of everything together, with a delta.
    share: Fraction  # Of ρ, for what comes first.

    @property
    def failure(self) -> Fraction:
        """δ_f."""
        return Fraction(_decimal_below(Fraction(self.whole.delta) * FAILING))

    @property
    def delta(self) -> Decimal:
        """δ - δ_f, for all noise together."""
        return _decimal_below(Fraction(self.whole.delta) - self.failure)

    @cached_property
    def mu(self) -> float:
        """Of everything together, rounded down."""
        epsilon, limit = float(self.whole.epsilon) * (1.0 - SLACK), float(self.delta) * math.exp(-FACTOR) * (1 - 1e-6)
        low, high = 1e-9, 1e3
        while high / low > 1 + 1e-12:
            middle = math.sqrt(low * high)
            low, high = (middle, high) if gaussian_delta(epsilon, middle) <= limit else (low, middle)
        return low

    @property
    def first_rho(self) -> Fraction:
        """ρ of what comes first, for calibrating its noise."""
        return Fraction(self.mu**2 / 2.0) * self.share

    @property
    def later_mu(self) -> float:
        """μ2."""
        return self.mu * math.sqrt(float(1 - self.share))

    @cached_property
    def left(self) -> Budget:
        """A promise such that Gaussian noise which is calibrated for it has a μ of about μ2, and no more."""
        return self._calibrating(self.later_mu)

    @property
    def rest(self) -> Gaussian:
        """What stands in a ledger for all that follows."""
        return Gaussian(Fraction(self.later_mu**2 / 2.0), moved=REFERENCE)

    def covers(self, events: Sequence[Event], first: bool = False) -> bool:
        """Whether tables may come first, or may follow."""
        gaussian = [event for event in events if not isinstance(event, Failure)]
        if failing(events) > (self.failure if first else 0):
            return False
        return _mu(gaussian, self.whole.epsilon) <= self.mu * math.sqrt(float(self.share if first else 1 - self.share))

    @cached_property
    def first_cost(self) -> Cost:
        """What comes first by itself: events, and the least promise that it keeps with twice the delta that may
        fail."""
        events: tuple[Event, ...] = (Gaussian(self.first_rho, moved=REFERENCE), Failure(self.failure))
        delta = exact_decimal(2 * self.failure, "A delta")
        low, high = Decimal(0), self.whole.epsilon
        for _ in range(20):
            middle = decimal_below(Fraction(low + high) / 2)
            low, high = (low, middle) if middle and keeps_promise(events, middle, delta) else (middle, high)
        return Cost(events, rounded_up(high), delta)

    @cached_property
    def later(self) -> Budget:
        """What a total of exactly the whole promise admits afterwards, of Gaussian noise in an entry of its own.

        Pure noise of the same promise is refused by the ledger there, as it adds up by other rules; `Job` plans
        Gaussian noise where only that has room.
        """
        order, most = _filter(self.whole.epsilon, self.delta)
        mu = math.sqrt(2.0 * float(most / order - self.first_rho)) * (1.0 - 1e-6)
        return self._calibrating(mu)

    def _calibrating(self, mu: float) -> Budget:
        """The promise such that Gaussian noise which is calibrated for it has this μ at most."""
        return Budget(_calibrating(mu, self.delta, self.whole.epsilon), self.delta, self.whole.neighbours)

    def smaller(self, budget: Budget) -> Iterator[Budget]:
        """The same promise and ever smaller ones, with which something is planned until it is covered."""
        yield budget
        for share in TRIED:
            yield replace(budget, epsilon=decimal_below(Fraction(budget.epsilon) * share))
