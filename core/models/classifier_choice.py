"""The classifier that suits a column of classes, for whoever has records in a file or a database: one call, one file.

What is worth making is forecast from public facts (`prospects`), all of it is made under one promise, and the best on
held-out records is kept (`contest`). One class for everyone, whichever, always competes, as it costs nothing: nothing
is kept that is right less often than the largest class, as far as noise lets one tell. Where nothing is worth making,
classes are counted with all of the promise (`core.models.class_counts`). What comes out is a release with a table a
class, or a linear model; either says what it was chosen among, and promises what making all of them and choosing have
cost together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any, TypeVar, cast

import numpy as np

from ..domain import Domain
from ..privacy.accounting import Cost
from ..privacy.budget import Budget
from ..privacy.choosing.held_out import ChoicePlan, Contest, Contestant, Maker, Way, contest
from ..privacy.noise.randomness import Source as NoiseSource
from ..releases.forecast.scales import by_coordinates
from ..releases.payment import LedgerAccount
from ..releases.purchase_plan import PurchasePlan, Settled
from ..releases.release import Release
from ..releases.seal import covering_bounds, promising, showing
from ..releases.stages import ORDINARY, Count, Known, Spread, Stage
from ..sketches.classes import Classes
from ..sources import Source
from ..sources.frames_and_arrays import Drawn
from .class_counts import SAME_FOR_ALL, largest_of
from .entrants import Counts, Entrant, File, Logistic, NearestMeans, domain_of, rules_for, said, usual_entrants
from .linear_models import LinearModel, NumberModel
from .prospects import Prospect, prospect
from .record_vectors import MAX_NUMBERS
from .training_task import Task

AMONG = "chosen among"  # Of the details of a model: the titles of what it was chosen from, with semicolons between.
Shown = TypeVar("Shown", bound=Release | LinearModel | NumberModel)


@dataclass(frozen=True)
class Choice:
    """What is predicted from what, under which promise, for how many records; all else follows from these.

    RequestError when no class is predicted, or nothing can be made.
    """

    domain: Domain  # The public facts about the records, the class among them.
    label: str  # The column of classes.
    budget: Budget  # The promise of everything together.
    records: float  # About how many there are, from public knowledge or from a count that was bought.
    spread: float | None = None  # How far columns are spread, in shares of their bounds, where that was bought.
    as_priced: bool = False  # Whether the entrants are those that were priced before it was known what is worth making.

    name = "chosen classifier"

    def __post_init__(self) -> None:
        Task(self.domain, self.label).check_classes()

    @cached_property
    def prospect(self) -> Prospect:
        """What is worth making."""
        entrants = usual_entrants(self.domain, self.label, self.spread)
        found = prospect(entrants, self.budget, self.records, self.spread)
        return replace(found, entrants=self.entrants, compared=True) if self.as_priced else found

    @cached_property
    def entrants(self) -> tuple[Entrant, ...]:
        """What is made."""
        return priced_pair(self.domain, self.label) if self.as_priced else tuple(self.prospect.entrants)

    @property
    def buys_spread(self) -> bool:
        """Whether how far records lie apart is bought first; a grid's readers choose the bandwidth of few columns."""
        return by_coordinates(self.domain.without(self.label)) is None

    @cached_property
    def _held(self) -> Held:
        return Held()

    @cached_property
    def _contest(self) -> Contest[File]:
        contestants = [Competing(one, self._held) for one in self.entrants]
        compared = self.prospect.compared and not self.counts_alone
        beside = self._one_class_for_everyone() if compared else ()
        return contest(contestants, self.budget, self.records, self.domain.unit, beside=beside)

    @property
    def counts_alone(self) -> bool:
        """Whether nothing that is learnt of the columns is worth its price, and so classes are only counted."""
        return all(isinstance(one, Counts) for one in self.entrants)

    def _one_class_for_everyone(self) -> list[Way[File]]:
        """Every class as the answer for everyone."""
        same, held = Counts(self.domain, self.label), self._held
        task = Task(self.domain, self.label)
        return [
            Way(SAME_FOR_ALL, partial(held.is_of, same, code), largest_of(task, code, self.budget))
            for code in range(len(task.categories))
        ]

    @property
    def cost(self) -> Cost:
        """Of everything: one entry in a ledger."""
        return self._contest.cost

    def parameters(self) -> dict[str, Any]:
        """What the ledger notes."""
        return {"label": self.label, "candidates": [one.title for one in self.entrants]}

    def fit(
        self, source: Source, *, spend: Callable[[Cost], object] | None = None, noise_source: NoiseSource | None = None
    ) -> File:
        """Read the records once, spend the budget, make everything and keep the best.

        `spend`: Writes the cost to a ledger, durably, or raises; called before any noise exists. RequestError or
        BudgetError when the data cannot be used, or from ``spend``; nothing was released.
        """
        settled, held = self._contest, self._held
        held.drawn = source if isinstance(source, Drawn) else readable(source, self.domain)
        held.noise_source = noise_source
        try:
            if spend is not None:
                spend(self.cost)
            won, among = settled.run(len(held.drawn), noise_source, lambda: held.drawn.table.to_pylist())
        finally:
            held.forget()
        return _signed(won, among, self.budget, settled.plan)


class Held:
    """The records of one contest while it lasts."""

    noise_source: NoiseSource | None = None

    drawn: Drawn

    def __init__(self) -> None:
        self._codes: dict[int, int] = {}

    def is_of(self, same: Counts, code: int, place: int) -> bool:
        """Whether the record at a place is of a class; one that the domain leaves out is of none."""
        if place not in self._codes:
            point = self.one(place, same.domain)
            self._codes[place] = int(same.codes(point)[0]) if len(point) else -1
        return self._codes[place] == code

    def one(self, place: int, domain: Domain) -> np.ndarray:
        """A record, encoded by itself, float64 (1, d); (0, d) where the domain leaves it out."""
        (batch,) = self.drawn.table.slice(place, 1).to_batches()
        return np.asarray(domain.encode(batch))

    def forget(self) -> None:
        """Let go of them."""
        self._codes.clear()
        del self.drawn


@dataclass(frozen=True)
class Competing(Contestant[File]):
    """An entrant, and where the records will be."""

    entrant: Entrant
    held: Held

    def priced(self, budget: Budget, records: float) -> tuple[Cost, Maker[File]]:
        ready = self.entrant.settled(budget, records)

        def make(kept: np.ndarray) -> list[Way[File]]:
            file = ready.made(self.held.drawn.where(kept), self.held.noise_source)
            said_right = cache(lambda place: self._right(file, place))

            def way(number: int, rule: str | None) -> Way[File]:
                title = self.entrant.title if number == 0 else f"{self.entrant.title} by {rule}"
                return Way(title, lambda place: said_right(place)[number], _ruled(file, rule))

            return [way(number, rule) for number, rule in enumerate(rules_for(file))]

        return ready.cost, make

    def _right(self, file: File, place: int) -> tuple[bool, ...]:
        """Whether each way to read a file is right of the record at a place, asked by itself."""
        point = self.held.one(place, domain_of(file))
        if not len(point):
            return (False,) * len(rules_for(file))
        return tuple(bool(codes[0] == self.entrant.codes(point)[0]) for codes in said(file, point))


def _ruled(file: File, rule: str | None) -> File:
    """The file, that is read by a rule where nobody says another."""
    if isinstance(file, LinearModel) or rule == rules_for(file)[0]:
        return file
    return replace(file, sketch=replace(cast(Classes, file.sketch), rule=rule))


def _signed(won: Way[File], among: Sequence[str], budget: Budget, plan: ChoicePlan | None) -> File:
    """The winner, which says what it was chosen among and promises what everything has cost."""
    file, among = won.kept, list(dict.fromkeys(among))
    if plan is None:
        return file
    if isinstance(file, LinearModel):
        details = {**file.details, AMONG: "; ".join(among), "promise of its own": str(file.budget.epsilon)}
        return replace(file, budget=budget, method=f"{file.method}, chosen among {len(among)} ways", details=details)
    named = replace(file, sketch=replace(cast(Classes, file.sketch), among=tuple(among)))
    return promising(named, budget, plan.cost.rho)


def covering(made: Shown, costs: Sequence[Cost], promised: Budget) -> Shown:
    """The file with a promise that covers what it shows of its columns, too: `releases.seal.covering_bounds`."""
    if not costs:
        return made
    shown = covering_bounds(made, costs, promised) if isinstance(made, Release) else replace(made, budget=promised)
    return cast(Shown, shown)


def choose_classifier(
    source: Source,
    domain: Domain,
    label: str,
    budget: Budget,
    payer: LedgerAccount | None = None,
    records: float | None = None,
    say: Callable[[Choice], object] = lambda choice: None,
) -> File:
    """Find what suits a column of classes: count, plan, read, pay, make, and keep the best.

    `source`, `domain`, `label`, `budget`: The private records, the public facts about them, the column of classes, and
    the promise of everything. `payer`: Who pays; nobody where adding up is left to the caller. `records`: How many
    there are at least, as anybody may know; a count is bought first where nobody says it. `say`: Told what will be
    made, before anything is spent on it.
    """
    Task(domain, label).check_classes()
    stages: list[Stage] = [Count(domain)] if records is None else []
    if Choice(domain, label, budget, records or ORDINARY).buys_spread:
        stages.append(Spread(domain.without(label)))

    def made(known: Known, as_priced: bool = False) -> Choice:
        return Choice(domain, label, known.left, known.records, known.spread, as_priced)

    plan = PurchasePlan(stages, Known(budget, records or ORDINARY), made, partial(made, as_priced=True))
    if payer is not None:
        payer.check(plan.ordinary(plan.known).cost)
    records_of = readable(source, domain)  # whatever cannot be held is refused before anything is paid for

    def fitted(settled: Settled[Choice]) -> File:
        choice = settled.made
        say(choice)
        file = choice.fit(records_of, spend=None if payer is None else lambda cost: payer.spend(cost, choice))
        return replace(file, budget=budget) if isinstance(file, LinearModel) else showing(file, settled.known)

    return plan.carried_out(records_of, payer, fitted)


def readable(source: Source, domain: Domain) -> Drawn:
    """The records, in memory; whatever the domain refuses about one of them comes out here, before anything is paid."""
    drawn = Drawn.of(source, domain, MAX_NUMBERS)
    for batch in drawn.batches(domain):
        domain.encode(batch)
    return drawn


def priced_pair(domain: Domain, label: str) -> tuple[Entrant, ...]:
    """The two that are priced, which can be made of any columns."""
    return NearestMeans(domain, label), Logistic(domain, label)


def chosen_among(file: File) -> tuple[str, ...]:
    """What a file was chosen among; nothing where it was made alone."""
    if isinstance(file, LinearModel):
        return tuple(one for one in file.details.get(AMONG, "").split("; ") if one)
    return cast(Classes, file.sketch).among
