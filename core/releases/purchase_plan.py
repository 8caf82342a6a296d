"""The plan of a release in stages: what is bought about the records first, one number a stage, and then the table.

A table that is sized for the wrong number of records, or smoothed for records that lie further apart than these, may
lose half of what it could tell. So what nobody says is never guessed: each stage buys one such number with a share of
epsilon, and the table is planned with what is left, in view of the numbers. This is the one place that settles what is
bought, for how much, and what is refused: `PurchasePlan` says it beforehand, from public facts alone, and `Purchasing`
reads, pays and draws. Everyone who makes a release drives these two.

**What is promised.** A stage that is epsilon'-DP, and then anything that is (epsilon'', delta)-DP whatever the stage
said, is (epsilon' + epsilon'', delta)-DP together: basic composition, which holds for mechanisms that are chosen by
earlier outputs (Dwork, Roth 2014, Theorem 3.16 and section 3.5). Every stage is pure, what it costs and what it leaves
are exact fractions that add up, and whatever the plan makes must promise no more than what is left, whichever numbers
came out; both are checked before anything is paid for. By induction over the stages all of it keeps the whole promise.

**How it is paid for.** By an entry in the ledger for each stage and for the table, each written before its noise
exists, so that a release that fails between them has cost no more than what was drawn. A total with slack admits
several entries for a little less than one (`core.privacy.accounting`), and may have room for one release alone. Then
the first entry settles that promises add up in this account (`accounting.added_up`), which leaves exactly the rest.
Where the noise of all that follows a stage is fixed before it, as that of the table is within bounds or around a
centre that are bought, one entry has the noise of both: nothing but the sketch is chosen in view of the stage, and no
sensitivity depends on that.

**What is refused** is refused before the first payment: every later stage and the table are priced for ordinary
records. What they cost a total with slack depends on their sizes too, as fewer rows of pure noise hide less; so what
came out is taken only where the total admits what follows from it, and otherwise something nearer to the ordinary.
Nothing bought is lost to a refusal, unless somebody else spends in between. Where nothing can follow from what was
bought first, as where noise hid everything there was to find out, the rest of one entry for everything is there for
others (`Ledger.give_back`). All of this follows from public prices and from numbers as they were released; the exact
ones decide nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any, Generic, Protocol, TypeVar

from ..errors import RequestError
from ..privacy.accounting import Alone, Cost, PureParts, Reserve, first_entry
from ..privacy.budget import Budget
from ..privacy.noise.randomness import Source as NoiseSource
from ..sources import Source
from .payment import LedgerAccount, Together, saying_spent
from .stages import Known, Offer, Progress, Stage


class Priced(Protocol):
    """Whatever has a price."""

    @property
    def cost(self) -> Cost: ...


Made = TypeVar("Made", bound=Priced)
Result = TypeVar("Result")


@dataclass(frozen=True)
class Settled(Generic[Made]):
    """What is known once everything was bought, and what is made of it, which is not paid for yet."""

    known: Known
    made: Made


class PurchasePlan(Generic[Made]):
    """What a release buys, and what is made of it: a public value, the same for any records.

    `stages`: In the order in which they are bought; none where everything is known. `known`: What is known from public
    knowledge, and the promise of everything together. `made`: What is released in view of all that is known, with what
    is left; RequestError where there is no such thing. `ordinary`: What is priced beforehand, and made where the total
    does not admit the price of the other; None is the same.
    """

    def __init__(
        self,
        stages: Sequence[Stage],
        known: Known,
        made: Callable[[Known], Made],
        ordinary: Callable[[Known], Made] | None = None,
    ) -> None:
        self.stages, self.known = tuple(stages), known
        self._made = cache(made)  # asked before a purchase and after it
        self._ordinary = self._made if ordinary is None else cache(ordinary)
        self._offered: Callable[[int, Known], Offer | None] = cache(
            lambda place, known: self.stages[place].offered(known)
        )

    def offered(self, stage: Stage, known: Known) -> Offer | None:
        """What a stage of this plan asks for, worked out once: prices are asked for again and again."""
        return self._offered(self.stages.index(stage), known)

    def made(self, known: Known) -> Made:
        """What is released in view of what is known; RuntimeError when it promises more than is left."""
        return self._checked(known, self._made)

    def ordinary(self, known: Known) -> Made:
        """What is priced beforehand; RuntimeError when it promises more than is left."""
        return self._checked(known, self._ordinary)

    def _checked(self, known: Known, plan: Callable[[Known], Made]) -> Made:
        if known.reserve is not None:
            return _covered(known, known.reserve, plan)
        made = plan(known)
        left = known.left
        parts = sum((Fraction(cost.epsilon) for cost in known.costs), Fraction(left.epsilon))
        whole = sum((Fraction(cost.epsilon) for cost in self.known.costs), Fraction(self.known.left.epsilon))
        bought = known.costs[len(self.known.costs) :]
        slack = any(cost.delta for cost in bought) or left.delta > self.known.left.delta
        if parts != whole or slack or made.cost.epsilon > left.epsilon or made.cost.delta > left.delta:
            raise RuntimeError("What is bought and what follows from it do not add up to the promise.")
        return made

    def forecast(self, known: Known | None = None, stages: Sequence[Stage] | None = None) -> Settled[Made]:
        """Everything as it would be bought and made of ordinary records: the first one, or what is left of it."""
        known = self.known if known is None else known
        for stage in self.stages if stages is None else stages:
            offer = self.offered(stage, known)
            known = known if offer is None else stage.supposed(known.after(stage, offer))
        return Settled(known, self.ordinary(known))

    @property
    def cost(self) -> Cost:
        """Of everything together, as it would be for ordinary records."""
        whole, settled = self.known.left, self.forecast()
        if settled.known.reserve is not None:
            return _prepaid(settled.known.costs, settled.known.reserve)
        events = (event for cost in self.costs(self.known, self.stages) for event in cost.events)
        return Cost(tuple(events), whole.epsilon, whole.delta)

    def carried_out(
        self, source: Source, payer: LedgerAccount | None, make: Callable[[Settled[Made]], Result]
    ) -> Result:
        """Buy everything, and make what follows from it; a refusal says what was spent before it."""
        with saying_spent(payer):
            return make(Purchasing(self, source, payer).run())

    def costs(self, known: Known, stages: Sequence[Stage]) -> tuple[Cost, ...]:
        """The prices of the same one after the other, that of the table last."""
        settled = self.forecast(known, stages)
        return (*settled.known.costs[len(known.costs) :], settled.made.cost)


class Purchasing(Generic[Made]):
    """One run of a plan, driven as a `Job` is: iterate to read for the first stage, at no cost, then `finish`.

    `plan`: What is bought. `payer`: Who pays; nobody where adding up is left to the caller. `secure`: Finds room for a
    table that is about to be paid for together with what is bought before it.
    """

    def __init__(
        self,
        plan: PurchasePlan[Made],
        source: Source,
        payer: LedgerAccount | None,
        noise_source: NoiseSource | None = None,
        secure: Callable[[Any], object] = lambda table: None,
    ) -> None:
        self._plan, self._source, self._payer, self._noise_source = plan, source, payer, noise_source
        self._secure = secure
        self._known, self._later = plan.known, list(plan.stages)
        self._offer: Offer | None = None
        self._exact: Any = None
        self._finished = False

    def __iter__(self) -> Iterator[int]:
        """Refuse what can be refused, and read for the next stage that is bought, if any."""
        while self._later:
            self._offer = self._plan.offered(self._later[0], self._known)
            if self._offer is not None and self._heeded(self._offer):
                pass
            elif self._offer is not None and self._may_pay(self._offer):
                self._exact = yield from self._later[0].read(self._known, self._source, self._noise_source)
                return
            self._later.pop(0)

    @property
    def buys(self) -> bool:
        """Whether there is something to pay for, as far as is known yet."""
        return bool(self._later)

    def check_read(self) -> None:
        """RuntimeError while not everything was read for the next stage, and once all was bought."""
        if self._finished or (self._later and self._exact is None):
            raise RuntimeError("Not all records are read for what is bought: iterate first, and finish once.")

    def finish(self, progress: Callable[[int], object] = lambda rows: None) -> Settled[Made]:
        """Pay for every stage, draw its noise, and read for the next one, until all is known; once.

        RequestError or BudgetError when something is refused; the payer knows what was spent by then.
        """
        self.check_read()
        self._finished = True
        while self._later:
            self._buy(progress)
            progress(0)  # another reading, if there is one
            for rows in self:
                progress(rows)
        made = self._plan.made(self._known)
        if self._payer is not None and not self._payer.has_room_for(made.cost):
            made = self._plan.ordinary(self._known)
        return Settled(self._known, made)

    def run(self, progress: Callable[[int], object] = lambda rows: None) -> Settled[Made]:
        """Read, then `finish`."""
        for rows in self:
            progress(rows)
        return self.finish(progress)

    def _buy(self, progress: Progress) -> None:
        """Pay for the next stage, draw its noise, and take what is known then."""
        exact, offer, self._exact, self._offer = self._exact, self._offer, None, None
        if exact is None or offer is None:
            raise RuntimeError("Nothing is bought of records that were not read.")
        may, stage = self._may_pay(offer), self._later[0]  # others may have spent while records were read
        if may and offer.table is not None:
            self._secure(offer.table)
            if self._payer is not None:
                self._payer.prepay(_fixed(offer, self._known.left), offer.table.sketch)
        elif may and self._payer is not None and offer.cost is not None:
            if offer.reserve is not None:
                self._payer.prepay(_prepaid([offer.cost], offer.reserve), Together(stage.name, stage.of))
            else:
                self._payer.spend_part(self._entry() or offer.cost, stage, stage.learns)
        self._later.pop(0)
        if may:
            noisy = stage.drawn(exact, self._known, offer, self._source, self._noise_source, progress)
            known = self._known.after(stage, offer, noisy)
            learnt = list(stage.learnt(known, offer, noisy))
            self._known = self._admitted(learnt, learnt[-1] if stage.for_prices else stage.supposed(known))
            if self._payer is not None and offer.reserve is not None:
                self._payer.drawn = self._known.costs[-1], stage, stage.learns

    def _heeded(self, offer: Offer) -> bool:
        """Whether the next stage was bought of this very data set already: what it says is known, and meant."""
        stage = self._later[0]
        if not stage.warns or self._payer is None:
            return False
        bought, just = self._payer.bought_before(stage, offer.cost)
        if just:  # the first part of this promise, whose rest was not spent
            self._known = self._known.after(stage, offer)
        return bought

    def _may_pay(self, offer: Offer) -> bool:
        """Whether the ledger has room for the next stage and what follows; where it has not, what is needed is refused.

        What cannot be made of ordinary records is refused as well.
        """
        (stage, *later), known = self._later, self._known
        self._plan.costs(known, (stage, *_needed(later)))
        if self._payer is not None and offer.table is not None:
            self._payer.check(_fixed(offer, known.left))
            return True
        if self._payer is None or offer.cost is None:
            return True
        if offer.reserve is not None:
            self._payer.check(_prepaid([offer.cost], offer.reserve))
            return True
        if (entry := self._entry()) is not None:
            self._payer.check(entry)
            return True
        if stage.needed:
            # Nothing pure is dearer than in one part: where there is no room for the parts there is none for that.
            self._payer.check(_in_one_part(known.left))  # says what the total has left
            raise RequestError(f"The total has no room for {stage.learns} beside what follows from it; say it instead.")
        return False

    def _entry(self) -> Cost | None:
        """The price of the next stage, where the ledger has room for it and at least what is needed after it.

        As it is, or settling that promises add up where the total has room for no more than the whole.
        """
        (stage, *later), known = self._later, self._known
        for stages in ((stage, *later), (stage, *_needed(later))):
            first, *rest = self._plan.costs(known, stages)
            entry = first if self._payer is None else first_entry(self._payer.has_room_for, first, *rest)
            if entry is not None:
                return entry
        return None

    def _admitted(self, learnt: Iterable[Known], supposed: Known) -> Known:
        """The best that can be made of what was learnt within the total; at the latest that of ordinary records."""
        return next((known for known in learnt if self._has_room(known)), supposed)

    def _has_room(self, known: Known) -> bool:
        """Whether what follows from this can be made, and the ledger has room for it."""
        try:
            costs = self._plan.costs(known, _needed(self._later))
        except RequestError:
            return False
        if known.reserve is not None:
            return True  # paid for by one entry already
        if self._payer is None or (known.left.pure and self._payer.has_room_for(_in_one_part(known.left))):
            return True
        return self._payer.has_room_for(*costs)


def _covered(known: Known, reserve: Reserve, plan: Callable[[Known], Made]) -> Made:
    """What can be planned with what is left, or a little less, such that what is reserved for it covers it."""
    for left in reserve.smaller(known.left):
        made = plan(replace(known, left=left))
        if reserve.covers(made.cost.events):
            return made
    raise RequestError(
        "A release of this kind cannot follow what is found under a delta in one promise, as its noise is not "
        "Gaussian: buy what is to be found by itself, or say it."
    )


def _prepaid(costs: Sequence[Cost], reserve: Reserve) -> Cost:
    """What was bought first and, by what is reserved for it, whatever follows: one entry, fixed before any output."""
    whole, events = reserve.whole, (event for cost in costs for event in cost.events)
    return Cost((*events, reserve.rest), whole.epsilon, whole.delta)


def _fixed(offer: Offer, whole: Budget) -> Cost:
    """A stage and the table after it, the noise of both being fixed."""
    first = () if offer.cost is None else offer.cost.events
    return Cost((*first, *offer.table.cost.events), whole.epsilon, whole.delta)


def _needed(stages: Iterable[Stage]) -> tuple[Stage, ...]:
    return tuple(stage for stage in stages if stage.needed)


def _in_one_part(left: Budget) -> Cost:
    """All of a promise as one event, than which no parts of it are dearer by any rule."""
    event = PureParts(Fraction(left.epsilon), 1) if left.pure else Alone(Fraction(left.epsilon), Fraction(left.delta))
    return Cost((event,), left.epsilon, left.delta)
