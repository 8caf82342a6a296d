"""Training a model in one call: which method, what it costs, and the file that comes out."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..domain import Domain
from ..errors import RequestError
from ..privacy.budget import Budget
from ..privacy.ledger.ledger import Ledger
from ..releases.payment import payer_of, spending
from ..sources import Source, open_source
from .amp import ApproximateMinima
from .descent import NoisyDescent
from .linear_model import LinearModel
from .pure import PureLogistic

Trainer = PureLogistic | ApproximateMinima | NoisyDescent
METHODS = ("objective", "amp", "descent", "svm")
AUTO = "auto"


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
    reason : str
        In one sentence.
    """

    trainer: Trainer
    method: str
    noise: float
    reason: str


def trainer_of(method: str, domain: Domain, label: str, radius: float | None = None) -> Trainer:
    """The trainer of a name; RequestError where there is none of this name or it cannot predict such a column."""
    if method == "objective":
        return PureLogistic(domain, label, radius)
    if method == "amp":
        return ApproximateMinima(domain, label, radius)
    if method in ("descent", "svm"):
        return NoisyDescent(domain, label, radius, loss="svm" if method == "svm" else "logistic")
    raise RequestError(f"There is no method {str(method)!r}; there are {', '.join((AUTO, *METHODS))}.")


def offers(
    domain: Domain, label: str, budget: Budget, radius: float | None = None, *, composable: bool = False
) -> list[Offer]:
    """The logistic methods that keep a promise, the best first, by the noise that each needs.

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

    Raises
    ------
    RequestError
        When no class is predicted.
    """
    pure = PureLogistic(domain, label, radius)
    size = pure.features.dimensions + 1
    length = size / float(pure.rate(budget))
    found = [Offer(pure, "objective", length, f"its noise is {length:,.0f} records long, and it needs no δ")]
    if not budget.pure and not composable:
        amp = ApproximateMinima(domain, label, radius)
        length = float(amp.perturbed(budget).deviation) * math.sqrt(size)
        found.append(Offer(amp, "amp", length, f"its noise is {length:,.0f} records long, and it is alone in a ledger"))
    if not budget.pure:
        descent = NoisyDescent(domain, label, radius)
        of_step = float(descent.noises(budget)[0].variance / descent.sensitivity(budget.neighbours).l2_squared)
        people = descent.domain.unit.records * (2 if str(budget.neighbours) == "replace_one" else 1)
        # The mean of the second half of the steps has the noise of a step divided by the root of their number.
        length = people * math.sqrt(2.0 * of_step * size / descent.steps) * math.sqrt(1.0 if descent.rows == 1 else 2.0)
        told = f"its noise is {length:,.0f} records long in the mean of its steps"
        found.append(Offer(descent, "descent", length, told))
    return sorted(found, key=lambda offer: offer.noise)


def chosen_trainer(
    domain: Domain, label: str, budget: Budget, method: str, radius: float | None = None, *, composable: bool
) -> Trainer:
    """The trainer of a name, or the best of `offers` for "auto"."""
    if method == AUTO:
        return offers(domain, label, budget, radius, composable=composable)[0].trainer
    return trainer_of(method, domain, label, radius)


def train(
    data: object,
    label: str,
    domain: Domain,
    budget: Budget,
    method: str = AUTO,
    *,
    radius: float | None = None,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
) -> LinearModel:
    """Predict a column of classes from all others: read the records, pay, and train.

    Parameters
    ----------
    data : object
        The private records: a `Source`, or whatever one is made of.
    label : str
        The column to predict, of categories.
    domain : Domain
        The public facts about all columns.
    budget : Budget
        The promise.
    method : str
        "objective", "amp", "descent", "svm", or "auto" for the best of `offers`, beside which others can be released
        where a ledger pays.
    radius : float | None
        A public length of coordinates between -1 and 1; longer records are shortened to it.
    ledger, dataset : Ledger | str | None, str | None
        Who pays; nobody where no data set is named.

    Raises
    ------
    RequestError, BudgetError
        When something is refused; nothing was spent.
    """
    payer = payer_of(ledger, dataset, budget, domain.unit)
    trainer = chosen_trainer(domain, label, budget, method, radius, composable=payer is not None)
    source = data if isinstance(data, Source) else open_source(data)
    return trainer.fit(source, budget, spend=spending(payer, trainer.cost(budget), trainer))
