"""Choosing among candidates, such as models, by what each gets right on records that none of them was made of.

A contest makes several classifiers, say, under one promise, and keeps the one that predicts best, at one price. Ways
that are made of nothing, such as one class for everyone, compete at no price at all. One contestant with none of these
beside it is made of all records, and nothing is held out.

Every record is held out by coins of its own, with probability 1/8, or less where it is public that there are more than
16,384 records: about 2,000 then. Candidates are made of the records that are left, under a promise, and scored on those
held out: a score counts the records that a candidate gets right, and `selection.noisy_max` takes the best.

**Sensitivity.** A record held out adds 0 or 1 to every score, so one more moves all of them by 0 or 1 upwards: Δ = 1,
one way. Of a replaced record the scores move by -1, 0 or 1: Δ = 1, either way. With all records of a person on one
side, m of them move each score by m. What a candidate says of a record must follow from the two alone, bit for bit:
whoever counts has to ask for one record at a time, as sums of floating-point numbers may be added up in another order
where more are asked for together, and a tie then falls another way.

**What both cost together** is what the costlier costs. Fix the coins, those of a record that is replaced too: then
two neighbouring data sets differ on one side alone, whichever it is. On the side of the candidates: the scores'
records are the same, and to choose is to post-process, so the loss is that of making candidates. On the other:
candidates are alike, and what is left is the choice. (This is parallel composition, for a choice that depends on the
candidates; McSherry 2009, Theorem 4.) Coins do not depend on the data; an output is a mixture over them, with the
same weights for both neighbours, and no divergence that a promise or a ledger is about grows by mixing (joint
convexity). So the events of making the candidates stand for both wherever a choice of ε' is dominated by them, in the
sense that all it tells could be worked out from what they tell (Blackwell's order, which composition keeps):

* pure events of ε in all, written down as one part: by ε' = ε, as no loss within ε exceeds that of randomised
  response;
* noise of Gaussian tables of ρ in all, μ = √(2ρ): by ε' with Φ(-μ/2) = 1/(1 + e^ε'). The trade-off curve of ε'-DP is
  two straight lines that meet at (1/(1 + e^ε'), 1/(1 + e^ε')), where that of the Gaussian mechanism passes; a convex
  curve through the lines' three ends lies nowhere above them (Dong, Roth, Su 2022, Proposition 2.4 and equation 5).
  Bounds of discrete noise are those of continuous noise and something on top (`integer_shifts`), so they
  cover it too;
* an event of which only (ε, δ) is known: by ε' = ε, as ε-DP is (ε, δ)-DP.  ∎

**When this does not hold.** Where a person's records may fall on both sides, the costs add up; so they must not, and
who has records by person gives the persons. Where records are held out by their place in a file (removing one moves
all that follow), or by what is in them (a replaced record may change sides, and both sides move), it holds for
neither.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.special import log_ndtr

from ...errors import RequestError
from ..accounting import Cost
from ..budget import EACH_RECORD, Budget, Neighbours, PrivacyUnit
from ..calibration import largest_rho
from ..composition import Alone, Event, Gaussian, PureParts
from ..noise.randomness import Source, SystemSource
from ..replay.tape import rolling, tossed
from ..shared_promise import shared_equally
from .selection import noisy_max

HALVINGS = 3  # A record is held out with probability 2^-3, three fair bits, or less:
ENOUGH = 2_048  # records that decide between candidates whose shares of right answers are some points apart.
MARGIN = 1e-9  # Of an ε' from a normal distribution function, far above what rounds.
EXACT = 1 << 40


@dataclass(frozen=True)
class ChoicePlan:
    """What a choice on held-out records costs, together with making what is chosen from."""

    cost: Cost  # Of candidates and choice: one entry in a ledger.
    epsilon: Fraction  # ε' of the choice.
    sensitivity: int  # How far one person moves a score.
    one_way: bool  # Whether all scores move the same way.


def plan_choice(candidates: Cost, neighbours: Neighbours, unit: PrivacyUnit = EACH_RECORD) -> ChoicePlan:
    """The price of candidates and a choice among them; see the proof at the top.

    RequestError when the promise is too small for any choice.

    `candidates`: Of making all of them together, by whom they are made of. `neighbours`, `unit`: Who is hidden; all
    records of one person must be on one side.
    """
    events, epsilon = _covering(candidates.events)
    if epsilon <= 0:
        raise RequestError("This promise is too small to choose anything by; take one candidate.")
    one_way = neighbours is Neighbours.ADD_REMOVE
    return ChoicePlan(Cost(events, candidates.epsilon, candidates.delta), epsilon, unit.records, one_way)


def _covering(events: tuple[Event, ...]) -> tuple[tuple[Event, ...], Fraction]:
    """Events that cover a choice of ε' beside these, and ε'."""
    alone = [event.epsilon for event in events if isinstance(event, Alone)]
    if alone:
        return events, max(alone)
    rho = sum((event.rho for event in events if isinstance(event, Gaussian)), Fraction(0))
    if rho:
        half = math.sqrt(2.0 * float(rho)) / 2.0
        log_odds = float(log_ndtr(half) - log_ndtr(-half))
        return events, Fraction(math.floor((log_odds - MARGIN) * EXACT), EXACT)
    pure = sum((event.epsilon * event.count for event in events if isinstance(event, PureParts)), Fraction(0))
    return (PureParts(pure),), pure


def choice_epsilon(budget: Budget) -> float:
    """About what a choice has beside candidates that use up a promise, for forecasts; the plan of all of them tells."""
    if budget.pure:
        return float(budget.epsilon)
    return float(_covering((Gaussian(Fraction(largest_rho(float(budget.epsilon), float(budget.delta)))),))[1])


def halvings_for(records: float) -> int:
    """How many fair bits decide whether a record is held out, from a public number of records."""
    return max(HALVINGS, math.ceil(math.log2(max(records, 1.0) / ENOUGH)))


def held_out(
    records: int | np.ndarray,
    source: Source | None = None,
    persons: np.ndarray | None = None,
    halvings: int = HALVINGS,
    *,
    sampling: bool = False,
) -> npt.NDArray[np.bool_]:
    """Which records are held out, bool (n,): by fair coins for each, of nothing else; never released.

    `records`: How many there are; or themselves, (n, ...), by which an audit that replays a release finds equal ones.
    `persons`: Whose each record is, (n,), where a person may have several: all of them go to one side. `halvings`: From
    public facts: a record is held out with probability 2^-halvings. `sampling`: Whether what is held out is a sample
    whose size the promise counts on (Poisson sampling).
    """
    rate = 2.0**-halvings if sampling else 1.0
    lemma = "samples of coins of each record's own" if sampling else "each record on one side, by coins of its own"
    whose = np.arange(records) if isinstance(records, int) else records
    places = np.arange(len(whose))
    if persons is not None:
        whose, places = np.unique(persons, return_inverse=True)
        whose = np.array([str(person).encode() for person in whose], dtype=bytes)

    def toss(count: int) -> np.ndarray:
        stream = (SystemSource() if source is None else source).stream()
        return np.asarray(stream.words(count) >> np.uint64(64 - halvings) == 0)

    private = source is None or source.private
    coins = tossed(lemma, whose, toss, private=private, forced=True if sampling else None, rate=rate)
    return np.asarray(coins)[places]


def choose(right: np.ndarray, plan: ChoicePlan, source: Source | None = None) -> int:
    """The place of the candidate that gets most records right, as far as the price lets anyone tell.

    `right`: Records held out that each candidate gets right, int64 (K,), exact and private. `plan`: Paid for already.
    """
    return noisy_max(right, plan.sensitivity, plan.epsilon, source, one_way=plan.one_way)


Kept = TypeVar("Kept")


@dataclass(frozen=True)
class Way(Generic[Kept]):
    """One way to decide, of a contestant that was made; rules of decision share what was made, and are ways apart."""

    title: str  # What people call it.
    # Whether it predicts the record at a place right: by a function of that record and the way alone, bit for bit.
    right: Callable[[int], bool]
    kept: Kept  # What is kept where it wins.


# From which records it is made, bool (n,), to its ways, the usual one first.
Maker = Callable[[np.ndarray], Sequence[Way[Kept]]]


class Contestant(ABC, Generic[Kept]):
    """What can be made under a promise, of records that it knows where to find."""

    @abstractmethod
    def priced(self, budget: Budget, records: float) -> tuple[Cost, Maker[Kept]]:
        """Price and maker, for about so many records; RequestError where it cannot be made so."""


@dataclass(frozen=True)
class Contest(Generic[Kept]):
    """All that is settled before anything is read or spent."""

    cost: Cost  # Of everything together, one entry in a ledger.
    makers: tuple[Maker[Kept], ...]  # Of the contestants.
    plan: ChoicePlan | None  # Of the choice; None where there is nothing to choose.
    halvings: int  # A record is held out with probability 2^-halvings.
    beside: tuple[Way[Kept], ...] = ()  # Ways that are made of no record.

    def run(
        self, records: int, noise_source: Source | None = None, contents: Callable[[], Sequence[object]] | None = None
    ) -> tuple[Way[Kept], list[str]]:
        """Make everything and keep the winner; whoever calls it has paid.

        `records`: How many there are, each of another person. `noise_source`: Of coins and choice; None in any real
        run. `contents`: What is in each record; asked for by an audit alone, which finds the equal record of a
        neighbour by it. Returns the winner, and the titles of all ways.
        """
        if self.plan is None:
            ways = self.makers[0](np.ones(records, bool))
            return ways[0], [ways[0].title]
        whose: int | np.ndarray = records
        if contents is not None and rolling() is not None:
            whose = np.array([repr(one).encode() for one in contents()], dtype=bytes)
        out = held_out(whose, noise_source, halvings=self.halvings)
        found = [*(way for maker in self.makers for way in maker(~out)), *self.beside]
        right = [sum(way.right(place) for place in np.flatnonzero(out).tolist()) for way in found]
        return found[choose(np.array(right, np.int64), self.plan, noise_source)], [way.title for way in found]


def contest(
    contestants: Sequence[Contestant[Kept]],
    budget: Budget,
    records: float,
    unit: PrivacyUnit = EACH_RECORD,
    *,
    apart: bool = False,
    beside: Sequence[Way[Kept]] = (),
) -> Contest[Kept]:
    """Share a promise among contestants, and price the choice with them.

    `budget`: The promise of everything together. `records`: About how many there are, from public knowledge. `unit`:
    Who is hidden, with one record each. `apart`: Whether one contestant alone is chosen among its rules of decision
    too, on records held out. `beside`: Ways that are made of no record, functions of public facts alone; with any of
    them records are held out. RequestError when there is no such contest.
    """
    if not contestants:
        raise RequestError("There is nothing to choose from; name one classifier at least.")
    if unit.records > 1:
        raise RequestError(
            f"To choose among classifiers each person must have one record, not up to {unit.records:,}: all that "
            "somebody has must be on one side, what is learnt from or what is asked; say one record a person."
        )
    halvings = halvings_for(records)
    if len(contestants) == 1 and not (apart or beside):
        cost, maker = contestants[0].priced(budget, records)
        return Contest(cost, (maker,), None, halvings)
    kept = records * (1.0 - 2.0**-halvings)
    together, makers = shared_equally(
        budget, len(contestants), lambda own: [one.priced(own, kept) for one in contestants]
    )
    plan = plan_choice(together, budget.neighbours, unit)
    return Contest(plan.cost, tuple(makers), plan, halvings, tuple(beside))
