"""Training a model in one call: which method, what it costs, and the file that comes out.

Methods are compared by what they get right of public reference populations (`rehearsal`), under their real noise. A
method that needs no δ keeps every promise with one, so it stands beside those that do: a δ only adds to the choice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ..domain import Domain, Numeric
from ..errors import RequestError
from ..formatting.numbers import percent
from ..privacy.budget import Budget
from ..privacy.ledger.ledger import Ledger
from ..releases.payment import payer_of, spending
from ..sources import Source, open_source
from .amp import ApproximateMinima, TunedMinima
from .descent import Descent, NoisyDescent
from .frank_wolfe import FrankWolfe
from .least_squares import Boosted, FromProducts
from .linear_models import LinearModel, NumberModel
from .number_descent import CountDescent, NumberDescent
from .objective_perturbation import PureLogistic
from .permutation_sgd import PermutationSGD
from .posterior import AdaptivePosteriorSample, PosteriorSample
from .preconditioned import MOST_COORDINATES, SecondOrder
from .rehearsal import USUAL_RECORDS, Rehearsal, rehearse_training
from .sampled_descent import SampledDescent
from .training_task import Task
from .tukey import MOST_DEEP, DeepFit

Trainer = (
    PureLogistic
    | ApproximateMinima
    | TunedMinima
    | NoisyDescent
    | SecondOrder
    | FrankWolfe
    | PermutationSGD
    | SampledDescent
    | FromProducts
    | NumberDescent
    | CountDescent
    | Boosted
    | PosteriorSample
    | DeepFit
)
OF_CLASSES: dict[str, Callable[..., Trainer]] = {
    "objective": PureLogistic,
    "amp": ApproximateMinima,
    "tuned-amp": TunedMinima,
    "descent": NoisyDescent,
    "newton": SecondOrder,
    "svm": partial(NoisyDescent, loss="svm"),
    "frank-wolfe": FrankWolfe,
    "sgd": PermutationSGD,
    "dp-sgd": SampledDescent,
}
OF_NUMBERS: dict[str, Callable[..., Trainer]] = {
    "products": FromProducts,
    "descent": NumberDescent,
    "poisson": CountDescent,
    "boosted": Boosted,
    "ops": PosteriorSample,
    "ada-ops": AdaptivePosteriorSample,
    "tukey": DeepFit,
}
METHODS, NUMBER_METHODS = tuple(OF_CLASSES), tuple(OF_NUMBERS)
"""That predict classes, and that predict numbers and dates."""
AUTO = "auto"
ALIKE, LITTLE = 0.01, 0.001
"""Shares right that a rehearsal cannot tell apart, and of how many records noise is so little that solving pays."""
WORTH_OF_BANDS = 0.05
"""Of what is explained: how much more a deep fit must explain than sums, which say how far they may be off."""

NEEDS = {
    "objective": "it needs no δ",
    "amp": "it is alone in a ledger",
    "products": "it says how far its coefficients may be off",
    "tukey": "it needs no δ",
}


@dataclass(frozen=True)
class Offer:
    """A method that can be taken under a promise.

    Attributes
    ----------
    trainer : Trainer
        The method with its parameters.
    method : str
        Its name in `METHODS`.
    noise : float
        How long the noise is that it adds to the sum of all records' slopes, in lengths of one record: what it would
        take as many records to say. From public facts.
    rehearsal : Rehearsal | None
        What it got right of the reference populations; None where that would take too long, or there is no other.
    """

    trainer: Trainer
    method: str
    noise: float
    rehearsal: Rehearsal | None = None

    @property
    def reason(self) -> str:
        """Why it stands where it does, in a part of a sentence."""
        needs = NEEDS.get(self.method, "")
        if self.rehearsal is None:
            said = f"its noise is {self.noise:,.0f} records long"
        elif self.trainer.categories:
            said = f"it got {percent(self.rehearsal.right, 3)} right of public reference records"
        else:
            share = percent(max(0.0, self.rehearsal.right), 3)
            said = f"it explained {share} of how public reference records differ"
        return ", and ".join(part for part in (said, needs) if part)


def trainer_of(method: str, domain: Domain, label: str, radius: float | None = None) -> Trainer:
    """The trainer of a name; RequestError where there is none of this name or it cannot predict such a column."""
    known = OF_CLASSES if Task(domain, label).categories else OF_NUMBERS
    if method not in known:
        goal = "classes" if known is OF_CLASSES else "numbers"
        raise RequestError(f"There is no method {str(method)!r} for {goal}; there are {', '.join((AUTO, *known))}.")
    return known[method](domain, label, radius)


def offers(
    domain: Domain,
    label: str,
    budget: Budget,
    radius: float | None = None,
    *,
    composable: bool = False,
    records: int = USUAL_RECORDS,
) -> list[Offer]:
    """The methods that keep a promise, the best first, by what each gets right of reference populations.

    Those within a hundredth of the best count as alike, as a rehearsal cannot tell them apart: of them, first comes
    what solves its problem where its noise is below a thousandth of the records, otherwise what has the least noise.
    Where a rehearsal would take too long a method is behind the others. Of methods that predict numbers the best is
    what explains most of how reference records differ.

    The slopes of one record are no longer than the record, and their sum over all of them is what noise hides. Pure
    noise on m coordinates is m/r long, Gaussian noise s √m; where several problems share the promise each has that
    much. A descent spreads its noise over its steps, which average it again, and over all classes at once.

    Parameters
    ----------
    domain, label : Domain, str
        What is predicted from what.
    budget : Budget
        The promise.
    radius : float | None
        As of `Task`.
    composable : bool
        Leave out "amp", beside which a ledger admits no other release.
    records : int
        How many there are, from public knowledge.

    Raises
    ------
    RequestError
        When the column cannot be predicted.
    """
    if not Task(domain, label).categories:
        return _number_offers(domain, label, budget, radius, records)
    found = [_pure(PureLogistic(domain, label, radius), budget)]
    if budget.pure:
        return found
    found.append(_descent(NoisyDescent(domain, label, radius).for_records(budget, records), budget))
    if not composable:
        found.append(_amp(ApproximateMinima(domain, label, radius), budget))
    tried = [replace(one, rehearsal=rehearse_training(one.trainer, budget, records)) for one in found]
    best = max((one.rehearsal.right for one in tried if one.rehearsal is not None), default=0.0)

    def rank(offer: Offer) -> tuple[int, float]:
        right = -1.0 if offer.rehearsal is None else offer.rehearsal.right
        if right < best - ALIKE:
            return 2, -right
        solved = not isinstance(offer.trainer, Descent) and offer.noise < LITTLE * records
        return 0 if solved else 1, offer.noise

    return sorted(tried, key=rank)


def _number_offers(domain: Domain, label: str, budget: Budget, radius: float | None, records: int) -> list[Offer]:
    """The methods that predict a number under a promise, the best first."""
    found: list[Offer] = []
    if radius is None or radius >= Task(domain, label).radius:
        sums = FromProducts(domain, label)
        found.append(Offer(sums, "products", sums.noise(budget)))
    if budget.pure and Task(domain, label).features.dimensions < MOST_DEEP:
        deep = DeepFit(domain, label, radius)
        found.append(Offer(deep, "tukey", deep.noise(budget)))
    if not budget.pure:
        found.append(_descent(NumberDescent(domain, label, radius), budget))
        if _counted(Task(domain, label)):
            found.append(replace(_descent(CountDescent(domain, label, radius), budget), method="poisson"))
        if Task(domain, label).features.dimensions < MOST_COORDINATES:
            boosted = Boosted(domain, label, radius)
            found.append(Offer(boosted, "boosted", boosted.noise(budget)))
    if not found:
        raise RequestError("Without a delta numbers are predicted from records of any length: leave the radius out.")
    tried = [replace(one, rehearsal=rehearse_training(one.trainer, budget, records)) for one in found]

    def rank(offer: Offer) -> float:
        bands = WORTH_OF_BANDS if budget.pure and isinstance(offer.trainer, FromProducts) else 0.0
        return -2.0 if offer.rehearsal is None else offer.rehearsal.right + bands

    return sorted(tried, key=rank, reverse=True)


def _counted(task: Task) -> bool:
    """Whether whole numbers from 0 on are predicted, as the domain says."""
    return task.is_count and isinstance(task.target, Numeric) and task.target.step >= 1.0 and task.target.step % 1 == 0


def _pure(trainer: PureLogistic, budget: Budget) -> Offer:
    return Offer(trainer, "objective", (trainer.features.dimensions + 1) / float(trainer.rate(budget)))


def _amp(trainer: ApproximateMinima, budget: Budget) -> Offer:
    size = trainer.features.dimensions + 1
    return Offer(trainer, "amp", float(trainer.perturbed(budget).deviation) * math.sqrt(size))


def _descent(trainer: NoisyDescent | NumberDescent, budget: Budget) -> Offer:
    return Offer(trainer, "descent", trainer.noise(budget))


def forecast_curve(
    domain: Domain, label: str, budgets: Sequence[Budget], radius: float | None = None, records: int = USUAL_RECORDS
) -> list[tuple[Budget, Offer]]:
    """The best method at each of several promises, beside which a ledger admits others, with its rehearsal."""
    best = []
    for budget in budgets:
        first = offers(domain, label, budget, radius, composable=True, records=records)[0]
        if first.rehearsal is None:
            first = replace(first, rehearsal=rehearse_training(first.trainer, budget, records))
        best.append((budget, first))
    return best


def chosen_trainer(
    domain: Domain,
    label: str,
    budget: Budget,
    method: str,
    radius: float | None = None,
    *,
    composable: bool,
    records: int = USUAL_RECORDS,
) -> Trainer:
    """The trainer of a name, or the best of `offers` for "auto"."""
    if method == AUTO:
        return offers(domain, label, budget, radius, composable=composable, records=records)[0].trainer
    trainer = trainer_of(method, domain, label, radius)
    if isinstance(trainer, NoisyDescent) and not isinstance(trainer, SampledDescent) and not budget.pure:
        return trainer.for_records(budget, records)
    return trainer


def train(
    data: object,
    label: str,
    domain: Domain,
    budget: Budget,
    method: str = AUTO,
    *,
    radius: float | None = None,
    records: int = USUAL_RECORDS,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
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
    budget : Budget
        The promise.
    method : str
        One of `METHODS` for classes, of `NUMBER_METHODS` for numbers and dates, or "auto" for the best of `offers`,
        beside which others can be released where a ledger pays.
    radius : float | None
        A public length of coordinates between -1 and 1; longer records are shortened to it.
    records : int
        How many there are, from public knowledge; "auto" reckons with it. On sets of 300 to 30,000 records what is
        supposed without it seldom mattered much, and then in either direction, so no count is bought for it.
    ledger, dataset : Ledger | str | None, str | None
        Who pays; nobody where no data set is named.

    Raises
    ------
    RequestError, BudgetError
        When something is refused; nothing was spent.
    """
    payer = payer_of(ledger, dataset, budget, domain.unit)
    composable = payer is not None
    trainer = chosen_trainer(domain, label, budget, method, radius, composable=composable, records=records)
    source = data if isinstance(data, Source) else open_source(data)
    return trainer.fit(source, budget, spend=spending(payer, trainer.cost(budget), trainer))
