"""Training a model in one call: which method, what it costs, and the file that comes out.

Methods are compared by what they get right of public reference populations under their real noise. A method that needs
no δ keeps every promise with one, so it stands beside those that do: a δ only adds to the choice.

Nobody may look at the private records to see which method suits them. Each method is rehearsed: trained, with its real
noise but a seeded source, on two thirds of the points of every shape and asked about the rest. Points stand for more
records than there are of them: noise that is shorter by as much is to them what the real one is to all
(`Method.rehearsed`). What comes out is no forecast of how predictable a column is, which only the records know; it is
how much of what could be had a promise leaves, method by method, beside the most common answer and beside hardly any
noise. Shapes of classes have straight lines, so that is what is rehearsed; how often a line may bend there is
`Trained.bent_for`. What predicts numbers is tried with its knots, on lines that bend, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
from ..releases.forecast.reference_population import (
    REFERENCE_POINTS,
    following,
    gathered_population,
    reference_populations,
    tied_together,
)
from ..releases.found import paid_before
from ..releases.payment import LedgerAccount, payer_of, spending
from ..releases.purchase_plan import PurchasePlan, Settled
from ..releases.seal import promised_with
from ..releases.stages import ORDINARY, Count, Known
from ..runtime.parameters import Registry
from ..sources import FileReading, Source, open_source
from .linear_models import LinearModel, NumberModel
from .method import MOST_HELD, OUTWEIGHED, Method, NumberMethod
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
# Of what predicts numbers: how many of the best are tried with curves, and how many coordinates they have at most for
# that; how near to the best is asked again, with other noise; and of the populations how many have straight lines.
MOST_BENT, WIDE, NEAR, STRAIGHT = 2, 60, 0.03, 3
WEIGHTS = (1.0, 1.0, 1.0, 1.0, 0.5)  # Of populations of numbers: columns that hang together closely are seldom.
TRAINED_ON = 2 * REFERENCE_POINTS // 3
USUAL_RECORDS = int(ORDINARY)  # Records that a forecast reckons with before anybody says or buys how many there are.
# Squared coordinates times classes, beyond which methods that solve systems of equations are not tried out.
MOST_WORK = 5 * 10**6
PLENTY = Budget(10, "1e-6"), 1_000_000  # A promise and a number of records under which noise hardly matters.


@dataclass(frozen=True)
class Rehearsal:
    """How much a method got right."""

    right: float  # Share of the points, or of the variance of a number that was explained: mean over the shapes.
    by_shape: tuple[float, ...]  # For each shape of `reference_populations`, or of `_numbers`.


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
    what explains most of how reference records differ, with as many knots as explain most of them (`_numbers_first`).

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
            if curves is None and (task.categories or not _thorough(bent, budget)):
                bent = bent.bent_for(budget, records, [name for name, many in said.items() if many is not None])
            found.append((straight, Offer(bent, bent.noise(budget))))
    if not found:
        raise RequestError("Without a delta numbers are predicted from records of any length: leave the radius out.")
    if not task.categories:
        return _numbers_first(found, budget, round(records), curves is None)
    if len(found) == 1:
        return [found[0][1]]
    tried = [replace(offer, rehearsal=rehearse_training(one, budget, round(records))) for one, offer in found]
    best = max((one.rehearsal.right for one in tried if one.rehearsal is not None), default=0.0)

    def rank(offer: Offer) -> tuple[float, ...]:
        right = -2.0 if offer.rehearsal is None else offer.rehearsal.right
        if right < best - ALIKE:
            return 2.0, -right
        little = offer.trainer.solves and offer.noise < LITTLE * records
        return 0.0, -offer.trainer.waves, -offer.trainer.curves, 0.0 if little else 1.0, offer.noise

    return sorted(tried, key=rank)


def _numbers_first(found: list[tuple[Trainer, Offer]], budget: Budget, records: int, free: bool) -> list[Offer]:
    """What predicts numbers, the best first; where knots are free, with as many as explain most.

    Records are not like reference ones, whose columns go each its own way: many columns that say nearly the same are
    learnt with more noise, and lines that bend say more. So where knots are free methods are tried on straight lines,
    bent ones and columns that hang together (`_numbers`), and the best of them with more knots than cost little: what
    is known of their noise (`Trained.bent_for`) is too much for descents, which stop before they have learnt it.
    """
    thorough = free and all(_thorough(offer.trainer, budget) for _, offer in found)

    def offered(trainer: Trainer, offer: Offer, draws: int = 1) -> Offer:
        return replace(offer, rehearsal=rehearse_training(trainer, budget, records, draws if thorough else 0))

    def worth(offer: Offer) -> float:
        right = -2.0 if offer.rehearsal is None else offer.rehearsal.right
        return right - cast(NumberMethod, offer.trainer).flattered

    tried = sorted((offered(*one) for one in found), key=worth, reverse=True)
    if not thorough:
        return tried
    first = tried[:MOST_BENT]
    every = [
        offered(one, Offer(one, one.noise(budget))) for offer in first for one in _bent(offer.trainer, budget, records)
    ]
    nearly = max(map(worth, every)) - NEAR
    again = [offered(one.trainer, one, 2) for one in every if worth(one) >= nearly]
    for place, offer in enumerate(first):
        own = [one for one in again if one.method == offer.method]
        most = max(map(worth, own), default=0.0) - ALIKE
        tried[place] = next((one for one in own if worth(one) >= most), offer)  # with the fewest knots
    return sorted(tried, key=worth, reverse=True)


def _thorough(trainer: Trainer, budget: Budget) -> bool:
    """Whether knots for a number are tried, and not told by a law of their noise, which is true where none is cut."""
    return not budget.pure and not trainer.categories and trainer.width <= WIDE


def _bent(trainer: Trainer, budget: Budget, records: int) -> Iterator[Trainer]:
    """One with as many knots as cost little wherever lines are straight, and with more and more of them."""
    trainer = trainer.bent_for(budget, records)
    yield trainer
    for halvings in range(trainer.curves + 1, trainer.most_halvings + 1 if trainer.bends else 0):
        bent = replace(trainer, curves=halvings).for_records(budget, records)
        held = bent.width > trainer.width and bent.width * records <= MOST_HELD
        if not held or bent.noise(budget) > OUTWEIGHED * records:
            return
        yield bent


def _with(trainer: Trainer, budget: Budget, records: float, **bends: Any) -> Trainer:
    return replace(trainer, **bends).for_records(budget, records) if bends else trainer


def rehearse_training(
    method: Trainer, budget: Budget, records: int = USUAL_RECORDS, draws: int = 0
) -> Rehearsal | None:
    """Train a method on reference populations that stand for so many records; None where that would take too long.

    `draws`: Of a number, how many draws of noise are tried on all of `_numbers`; 0 for one on straight lines alone.
    """
    if method.solves and (method.width + 1) ** 2 * method.rows > MOST_WORK:
        return None
    whole = draws > 0 or bool(method.categories)
    found = np.mean([_explained(method, budget, records, draw, whole) for draw in range(max(1, draws))], axis=0)
    weights = None if method.categories else WEIGHTS[: len(found)]
    return Rehearsal(float(np.average(found, weights=weights)), tuple(found.tolist()))


@lru_cache(maxsize=512)
def _explained(method: Trainer, budget: Budget, records: int, draw: int, whole: bool) -> tuple[float, ...]:
    """How good a method is on each population, or on straight ones alone.

    What is explained of a number is asked of the records that were trained on and of others alike, as who they are
    flatters the ones as much as it blames the others, and there are fewer of them here than they stand for.
    """
    share, found = Fraction(TRAINED_ON, max(1, records)), []
    populations = _populations(method.domain) if method.categories else _numbers(method.domain, method.label)
    for place, points in enumerate(populations if whole else populations[:STRAIGHT]):
        trained, rest = points[:TRAINED_ON], points[TRAINED_ON:]
        source = SeededSource(place + 100 * draw)
        model = method.rehearsed(*method.encoded(trained, method.unit), budget, share, source)
        asked = (rest,) if method.categories else (trained, rest)
        found.append(float(np.mean([method.score(model, one) for one in asked])))  # type: ignore[arg-type]
    return tuple(found)


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
def _populations(domain: Domain) -> tuple[np.ndarray, ...]:
    return reference_populations(domain, "l2", None, None)


@lru_cache(maxsize=4)
def _numbers(domain: Domain, label: str) -> tuple[np.ndarray, ...]:
    """Where a number follows from the other columns: along straight lines first, then bent, then hanging together."""
    long, _, few = _populations(domain)
    goal = _place(domain, label)
    straight = [following(points, goal) for points in (long, few, gathered_population(domain, "l2"))]
    return *straight, following(few, goal, bent=True), tied_together(long, goal)


def _place(domain: Domain, label: str) -> int:
    """The first coordinate of a column."""
    return sum(column.width for column in domain.columns[: domain.names.index(label)])


def forecast_curve(
    domain: Domain, label: str, budgets: Sequence[Budget], radius: float | None = None, records: int = USUAL_RECORDS
) -> list[tuple[Budget, Offer]]:
    """The best method at each of several promises, beside which a ledger admits others, with its rehearsal."""
    best = []
    for budget in budgets:
        lines = None if Task(domain, label).categories else 0  # whose forecast is drawn while somebody waits
        first = offers(domain, label, budget, radius, composable=True, records=records, curves=lines)[0]
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
