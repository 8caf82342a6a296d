"""Training a model in one call: which method, what it costs, and the file that comes out.

Methods are compared by what they get right of public reference populations under their real noise. A method that needs
no δ keeps every promise with one, so it stands beside those that do: a δ only adds to the choice.

Nobody may look at the private records to see which method suits them. Each method is rehearsed: trained, with its real
noise but a seeded source, on two thirds of the points of every shape and asked about the rest. Points stand for more
records than there are of them: noise that is shorter by as much is to them what the real one is to all
(`Method.rehearsed`). What comes out is no forecast of how predictable a column is, which only the records know; it is
how much of what could be had a promise leaves, method by method, beside the most common answer and beside hardly any
noise. Shapes have straight lines, so that is what is rehearsed; how often a line may bend is `Trained.bent_for`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Unpack, cast

import numpy as np

from ..domain import Domain
from ..errors import RequestError
from ..formatting.numbers import percent
from ..privacy.accounting import Cost
from ..privacy.budget import Budget
from ..privacy.ledger.ledger import Ledger
from ..privacy.noise.randomness import SeededSource
from ..releases.forecast.reference_population import REFERENCE_POINTS, following, reference_populations, tied_together
from ..releases.found import paid_before
from ..releases.payment import LedgerAccount, payer_of, spending
from ..releases.purchase_plan import PurchasePlan, Settled
from ..releases.seal import promised_with
from ..releases.stages import ORDINARY, Count, Known
from ..runtime.parameters import Registry
from ..sources import FileReading, Source, open_source
from .linear_models import LinearModel, NumberModel
from .method import LITTLE_LOST, Method, NumberMethod
from .monotone import Declared, directions_of, monotone
from .training_task import Task

Trainer = Method | NumberMethod
METHODS: Registry[Method] = Registry("core.models", Method, "The method")  # type: ignore[type-abstract]
# That predict classes, and that predict numbers and dates: a new one is a class in a file of this folder.
NUMBER_METHODS: Registry[NumberMethod] = Registry(
    "core.models",
    NumberMethod,  # type: ignore[type-abstract]
    "The method",
)
AUTO = "auto"
# Shares right that a rehearsal cannot tell apart, and of how many records noise is so little that solving pays.
ALIKE, LITTLE = 0.01, 0.001
LESS = 1, 4, 16  # Parts of epsilon at which methods for numbers that are alike are tried on columns that hang together.
# Of what is explained: how much more sums of products must explain than others without a delta. Their noise is in
# shares of the bounds, which made-up records fill and others do not: on five public tables the other was nearer.
FLATTERED = 0.02
TRAINED_ON = 2 * REFERENCE_POINTS // 3
USUAL_RECORDS = int(ORDINARY)  # Records that a forecast reckons with before anybody says or buys how many there are.
# Squared coordinates times classes, beyond which methods that solve systems of equations are not tried out.
MOST_WORK = 5 * 10**6
PLENTY = Budget(10, "1e-6"), 1_000_000  # A promise and a number of records under which noise hardly matters.


@dataclass(frozen=True)
class Rehearsal:
    """How much a method got right."""

    right: float  # Share of the points, or of the variance of a number that was explained: mean over the shapes.
    by_shape: tuple[float, ...]  # For each shape of `reference_populations`.


@dataclass(frozen=True)
class Offer:
    """A method that can be taken under a promise."""

    trainer: Trainer
    noise: float  # Of `Trained.noise`: what it would take as many records to say.
    # What it got right of the reference populations; None where that would take too long, or there is no other.
    rehearsal: Rehearsal | None = None

    @property
    def method(self) -> str:
        """Its name in `METHODS` or `NUMBER_METHODS`."""
        return self.trainer.name

    @property
    def bent(self) -> str:
        """What its curves and waves are, as a clause; "" of straight lines."""
        curves = f"numbers have curves of {(1 << self.trainer.curves) + 1} knots" if self.trainer.bent.any() else ""
        waves = f"{self.trainer.waves} waves look at all columns together" if self.trainer.waves else ""
        products = "each two numbers have their product" if self.trainer.products else ""
        return ", and ".join(part for part in (curves, waves, products) if part)

    @property
    def reason(self) -> str:
        """Why it stands where it does, in a part of a sentence."""
        if self.rehearsal is None:
            said = f"its noise is {self.noise:,.0f} records long"
        elif self.trainer.categories:
            said = f"it got {percent(self.rehearsal.right, 3)} right of public reference records"
        else:
            share = percent(max(0.0, self.rehearsal.right), 3)
            said = f"it explained {share} of how public reference records differ"
        return ", and ".join(part for part in (said, self.bent, self.trainer.advantage) if part)


@dataclass(frozen=True)
class Chosen:
    """What is trained once it is known how many records there are: its price is that of the plan's last stage."""

    trainer: Trainer
    budget: Budget
    offers: tuple[Offer, ...] = ()
    directions: tuple[int, ...] = ()  # Of its curves, that were declared: `monotone.directions_of`.

    @property
    def cost(self) -> Cost:
        return self.trainer.cost(self.budget)

    def fit(self, source: Source, spend: Callable[[Cost], object] | None = None) -> LinearModel | NumberModel:
        """Pay, train, and bend curves the way that was declared."""
        return monotone(self.trainer.fit(source, self.budget, spend=spend), self.directions)


def trainer_of(
    method: str,
    domain: Domain,
    label: str,
    radius: float | None = None,
    curves: int = 0,
    waves: int = 0,
    products: int = 0,
) -> Trainer:
    """The trainer of a name; RequestError where there is none of this name or it cannot predict such a column."""
    known = _methods(Task(domain, label))
    if method not in known:
        goal = "classes" if Task(domain, label).categories else "numbers"
        raise RequestError(f"There is no method {str(method)!r} for {goal}; there are {', '.join((AUTO, *known))}.")
    return cast(Trainer, known.named(method)(domain, label, radius, curves=curves, waves=waves, products=products))


def _methods(task: Task) -> Registry[Any]:
    return METHODS if task.categories else NUMBER_METHODS


def offers(
    domain: Domain,
    label: str,
    budget: Budget,
    radius: float | None = None,
    *,
    composable: bool = False,
    records: float = USUAL_RECORDS,
    curves: int | None = None,
    waves: int | None = None,
    products: int | None = None,
) -> list[Offer]:
    """The methods that keep a promise, the best first, by what each gets right of reference populations.

    Those within a hundredth of the best count as alike, as a rehearsal cannot tell them apart. Of them first comes what
    bends most, as that costs little where lines are straight and brings much where they are not; of those that bend
    alike what solves its problem where its noise is below a thousandth of the records, otherwise what has the least.
    Where a rehearsal would take too long a method is behind the others. Of methods that predict numbers the best is
    what explains most of how reference records differ, and of those alike what learns most of columns that hang
    together closely; what bends may explain a little less of straight shapes.

    The slopes of one record are no longer than the record, and their sum over all of them is what noise hides. A
    descent spreads its noise over its steps, which average it again, and over all classes at once.

    `composable`: Leave out what is alone in its ledger. `records`: About how many there are. RequestError when the
    column cannot be predicted.
    """
    said = {"curves": curves, "waves": waves, "products": products}
    asked = {name: many for name, many in said.items() if many}
    task = Task(domain, label, radius, **asked)
    found = []
    for kind in _methods(task).values():
        if kind.suits(task, budget) and (kind.composable or not composable) and (kind.bends or not asked):
            straight = kind(domain, label, radius).for_records(budget, records)
            bent = _with(straight, budget, records, **asked)
            if curves is None:
                bent = bent.bent_for(budget, records, [name for name, many in said.items() if many is not None])
            found.append((straight, Offer(bent, bent.noise(budget))))
    if not found:
        raise RequestError("Without a delta numbers are predicted from records of any length: leave the radius out.")
    if task.categories and len(found) == 1:
        return [found[0][1]]
    tried = [replace(offer, rehearsal=rehearse_training(one, budget, round(records))) for one, offer in found]
    best = max((one.rehearsal.right for one in tried if one.rehearsal is not None), default=0.0)

    def worth(offer: Offer) -> float:
        """What an offer explains, and what else speaks for it."""
        right = -2.0 if offer.rehearsal is None else offer.rehearsal.right
        flattered = FLATTERED if budget.pure and offer.method == "products" else 0.0
        return right - flattered + LITTLE_LOST * bool(offer.bent) + 2.0 * LITTLE_LOST * bool(offer.trainer.waves)

    if not task.categories:
        return _numbers_first(dict(zip([one for one, _ in found], tried, strict=True)), worth, budget, round(records))

    def rank(offer: Offer) -> tuple[float, ...]:
        right = -2.0 if offer.rehearsal is None else offer.rehearsal.right
        if right < best - ALIKE:
            return 2.0, -right
        little = offer.trainer.solves and offer.noise < LITTLE * records
        return 0.0, -offer.trainer.waves, -offer.trainer.curves, 0.0 if little else 1.0, offer.noise

    return sorted(tried, key=rank)


def _numbers_first(
    tried: dict[Trainer, Offer], worth: Callable[[Offer], float], budget: Budget, records: int
) -> list[Offer]:
    """What predicts numbers, the best first; of those alike what learns most of columns that hang together closely.

    Reference populations hardly tell apart what noise no longer hides, and records are not like them: many columns that
    say nearly the same are learnt with more noise than theirs. So a larger budget takes another method only where its
    forecast is better for certain, or where it is better on such columns, with less epsilon too (`tied_together`).
    """
    best = max(map(worth, tried.values()))
    alike = [straight for straight, offer in tried.items() if worth(offer) >= best - ALIKE]
    less = [Budget(budget.epsilon / part, budget.delta, budget.neighbours) for part in LESS]
    learnt: dict[Trainer, Rehearsal] = {}
    for straight in alike if len(alike) > 1 else ():
        trainer = tried[straight].trainer
        points, share = _tied(trainer.domain, trainer.label), Fraction(TRAINED_ON, max(1, records))
        right = [trainer.tried(points[:TRAINED_ON], points[TRAINED_ON:], one, share, SeededSource(0)) for one in less]
        learnt[straight] = Rehearsal(float(np.mean(right)), tuple(right))

    def rank(straight: Trainer) -> tuple[bool, float]:
        offer = tried[straight]
        return straight not in alike, -worth(replace(offer, rehearsal=learnt.get(straight, offer.rehearsal)))

    return [tried[straight] for straight in sorted(tried, key=rank)]


def _with(trainer: Trainer, budget: Budget, records: float, **bends: Any) -> Trainer:
    return replace(trainer, **bends).for_records(budget, records) if bends else trainer


@lru_cache(maxsize=256)
def rehearse_training(method: Trainer, budget: Budget, records: int = USUAL_RECORDS) -> Rehearsal | None:
    """Train a method on reference populations that stand for so many records; None where that would take too long."""
    if method.solves and (method.width + 1) ** 2 * method.rows > MOST_WORK:
        return None
    share, found = Fraction(TRAINED_ON, max(1, records)), []
    for place, points in enumerate(_populations(method.domain, None if method.categories else method.label)):
        found.append(method.tried(points[:TRAINED_ON], points[TRAINED_ON:], budget, share, SeededSource(place)))
    return Rehearsal(float(np.mean(found)), tuple(found))


@lru_cache(maxsize=16)
def yardsticks(domain: Domain, label: str) -> tuple[float, float]:
    """Shares right on the reference populations of the most common answer, and of a model with hardly any noise.

    Where a number is predicted, shares of its variance that the mean explains, which is none, and such a model.
    """
    task, common = Task(domain, label), 0.0
    if task.categories:
        codes = [task.encoded(points, 1 << 10)[1] for points in _populations(domain)]
        most = [np.bincount(one[:TRAINED_ON]).argmax() for one in codes]
        common = float(np.mean([np.mean(one[TRAINED_ON:] == code) for one, code in zip(codes, most, strict=True)]))
    usual = ("descent", "objective") if task.categories else ("descent", "products")
    free = [rehearse_training(trainer_of(method, domain, label), *PLENTY) for method in usual]
    return common, max(common, *(one.right for one in free if one is not None))


@lru_cache(maxsize=4)
def _populations(domain: Domain, number: str | None = None) -> tuple[np.ndarray, ...]:
    """As they are, or with a number that follows from the other columns."""
    populations = reference_populations(domain, "l2", None, None)
    return populations if number is None else tuple(following(one, _place(domain, number)) for one in populations)


@lru_cache(maxsize=4)
def _tied(domain: Domain, label: str) -> np.ndarray:
    return tied_together(_populations(domain)[0], _place(domain, label))


def _place(domain: Domain, label: str) -> int:
    """The first coordinate of a column."""
    return sum(column.width for column in domain.columns[: domain.names.index(label)])


def forecast_curve(
    domain: Domain, label: str, budgets: Sequence[Budget], radius: float | None = None, records: int = USUAL_RECORDS
) -> list[tuple[Budget, Offer]]:
    """The best method at each of several promises, beside which a ledger admits others, with its rehearsal."""
    best = []
    for budget in budgets:
        first = offers(domain, label, budget, radius, composable=True, records=records)[0]
        if first.rehearsal is None:
            straight = replace(first.trainer, curves=0, waves=0, products=0)
            first = replace(first, rehearsal=rehearse_training(straight, budget, records))
        best.append((budget, first))
    return best


def training_plan(
    domain: Domain,
    label: str,
    budget: Budget,
    method: str = AUTO,
    *,
    radius: float | None = None,
    records: float | None = None,
    curves: int | None = None,
    waves: int | None = None,
    products: int | None = None,
    monotonic_cst: Declared = None,
    composable: bool = True,
    paid: Sequence[Cost] = (),
    within: Budget | None = None,
) -> PurchasePlan[Chosen]:
    """What is bought first, and what is trained: a count where the method follows from how many records there are.

    A method that is named takes its usual steps, and straight lines, where neither records nor curves are said. `paid`:
    What finding out the columns has cost before, of which a promise of everything was `within`: the model covers it.
    """
    directions = directions_of(Task(domain, label, radius, waves=waves or 0, products=products or 0), monotonic_cst)
    waves, products = (0, 0) if directions else (waves, products)

    def made(known: Known) -> Chosen:
        if method == AUTO:
            found = tuple(
                offers(
                    domain,
                    label,
                    known.left,
                    radius,
                    composable=composable,
                    records=known.records,
                    curves=curves,
                    waves=waves,
                    products=products,
                )
            )
            return Chosen(found[0].trainer, known.left, found, directions)
        trainer = trainer_of(method, domain, label, radius, curves or 0, waves or 0, products or 0)
        settled = trainer if records is None else trainer.for_records(known.left, records)
        return Chosen(settled, known.left, directions=directions)

    stages = [Count(domain)] if method == AUTO and records is None else []
    return PurchasePlan(stages, Known.having_paid(budget, paid, records or ORDINARY, within), made)


def train_by(
    plan: PurchasePlan[Chosen],
    source: Source,
    payer: LedgerAccount | None = None,
    say: Callable[[Chosen], object] = lambda chosen: None,
) -> LinearModel | NumberModel:
    """Refuse what can be refused, buy what the plan buys, train, and promise what all of it cost together.

    `payer`: Who pays; nobody where adding up is left to the caller. `say`: Told what will be trained, before anything
    is spent on it. RequestError or BudgetError when something is refused; nothing was spent, or it is said what was.
    """
    expected = plan.ordinary(plan.known)
    if payer is not None:
        payer.check(expected.cost)

    def trained(settled: Settled[Chosen]) -> LinearModel | NumberModel:
        chosen, known = settled.made, settled.known
        say(chosen)
        promised = promised_with(known.left, known.costs, known.within, chosen.cost)
        return replace(chosen.fit(source, spending(payer, chosen.cost, chosen.trainer)), budget=promised)

    return plan.carried_out(source, payer, trained)


def train(
    data: object,
    label: str,
    domain: Domain,
    budget: Budget,
    method: str = AUTO,
    *,
    radius: float | None = None,
    records: int | None = None,
    curves: int | None = None,
    waves: int | None = None,
    products: int | None = None,
    monotonic_cst: Declared = None,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    paid: str = "",
    **reading: Unpack[FileReading],
) -> LinearModel | NumberModel:
    """Predict a column from all others: read the records, pay, and train.

    Parameters
    ----------
    data : object
        The private records: a `Source`, or whatever one is made of.
    label : str
        The column to predict: of categories, numbers or dates.
    domain : Domain
        The public facts about all columns.
    method : str
        One of `METHODS` for classes, of `NUMBER_METHODS` for numbers and dates, or "auto" for the best of `offers`,
        beside which others can be released where a ledger pays.
    radius : float | None
        A public length of coordinates between -1 and 1; longer records are shortened to it.
    records : int | None
        How many there are, from public knowledge; "auto" buys a count with 2% of epsilon where nobody says it.
    curves : int | None
        How often the bounds of a number are halved by the knots of its curve, 0 for straight lines. None leaves it to
        the forecast of "auto"; a method that is named has straight lines then.
    waves : int | None
        How many waves of all columns together stand beside them, for what columns say only together; None leaves it to
        the forecast of "auto" where that chooses curves too.
    products : int | None
        1 for the product of each two numbers beside them, 0 for none; None as for waves.
    monotonic_cst : Mapping[str, int] | Sequence[int] | None
        As scikit-learn has it: 1 for a column that only raises what is predicted (of classes the second one's odds), -1
        for one that only lowers it, 0 for others; by name, or one for each in the order of the domain. There are no
        waves and products then.
    ledger, dataset : Ledger | str | None, str | None
        Who pays; nobody where no data set is named.
    paid : str
        What finding out the columns has cost, as `Declaration.paid` says it; the model promises that, too.
    **reading : FileReading
        How a file is read that does not say it itself: ``encoding``, ``sep``, ``header``, ``names``, ``sheet``.
    """
    payer, (costs, within) = payer_of(ledger, dataset, budget, domain.unit), paid_before(paid)
    plan = training_plan(
        domain,
        label,
        budget,
        method,
        radius=radius,
        records=records,
        curves=curves,
        waves=waves,
        products=products,
        monotonic_cst=monotonic_cst,
        composable=payer is not None,
        paid=costs,
        within=within,
    )
    return train_by(plan, open_source(data, **reading), payer)
