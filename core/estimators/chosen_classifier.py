"""The classifier that suits the records, chosen among several at one price."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np
from sklearn.base import clone

from ..analysis.class_scores import checked_rule, class_scores, classes_of, rules_of
from ..domain import Domain
from ..errors import RequestError
from ..models.class_counts import SAME_FOR_ALL, largest_of
from ..models.classifier_choice import Choice, choose_classifier, chosen_among
from ..models.entrants import File
from ..models.training_task import MAX_COORDINATES, Task
from ..privacy.accounting import Cost
from ..privacy.budget import Budget
from ..privacy.choosing.held_out import Contest, Contestant, Maker, Way, contest
from ..releases.payment import LedgerAccount, payer_of
from ..releases.purchase_plan import PurchasePlan, Settled
from ..releases.release import Release
from ..releases.seal import promising
from ..releases.stages import Count, Known
from ..sketches.classes import Classes
from ..sources import Source, open_source
from .linear_classifiers import Fitting, LabelledEstimator, PrivateClassifier, PrivateLogisticRegression
from .private import CLASS, as_table
from .sketch_estimators import PrivateCentroidClassifier, PrivateKernelClassifier


@dataclass(kw_only=True, repr=False, eq=False)
class PrivateChosenClassifier(LabelledEstimator):
    """Several classifiers made under one promise, of which the one that predicts best is kept.

    An eighth of the records (of more than 16,384 about 2,000), by coins for each, is left out of making them; what each
    gets right of those decides, by report noisy max. This costs nothing beside making them
    (`core.privacy.choosing.held_out` has the proof), so what a choice costs is that the classifiers share the budget.
    Where candidates are not named, those that cannot pay for themselves are left out by forecast
    (`core.models.classifier_choice`), and where one alone promises most, all of the budget goes to it. Rules of
    decision of one classifier share a release, and are all tried. One class for everyone, whichever, always competes at
    no price, so that nothing is kept that is right less often than the largest class, as far as noise lets one tell;
    where nothing
    else is worth making, the classes are only counted. Either is a linear model without slopes.

    Parameters
    ----------
    epsilon, delta, neighbours, bounds : float, float, str, object
        See `PrivateKernelDensity`, as for those that follow. The promise of everything together.
    records, dataset, ledger, random_state : int | None, str | None, object, int | None
        Likewise. One entry in the ledger, one for the number of records where that is not said and has a price, and
        one for how far records lie apart where candidates are not named and features are more than three.
    classes : object
        The public list of labels.
    candidates : Sequence[LabelledEstimator] | None
        Private classifiers, such as `PrivateKernelClassifier(bandwidth=0.5)`, which take promise, classes and, where
        they have none, bounds from here, and are all made: name few. None for what is worth making of kernel sums (of
        three bandwidths with more than three features), nearest means and logistic regression.

    Attributes
    ----------
    chosen_ : LabelledEstimator
        The classifier that was chosen, with its release or model.
    rule_ : str | None
        Its rule of decision, where it has one.
    candidates_ : list[str]
        What there was to choose from.
    classes_ : np.ndarray
        The public list of labels.
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> import numpy as np
    >>> random = np.random.default_rng(0)
    >>> X, y = np.vstack((random.normal(-2, 1, (900, 2)), random.normal(2, 1, (900, 2)))), np.repeat([0, 1], 900)
    >>> two = [PrivateCentroidClassifier(), PrivateLogisticRegression()]
    >>> estimator = PrivateChosenClassifier(epsilon=2, bounds=(-6, 6), classes=[0, 1], candidates=two, records=1800)
    >>> estimator.fit(X, y).predict([[-2, -2], [2, 2]])
    array([0, 1])
    """

    candidates: Sequence[LabelledEstimator] | None = None
    records: int | None = None
    random_state: int | None = None

    def _learn(self, domain: Domain, points: np.ndarray, labels: np.ndarray) -> None:
        """Make every candidate, and keep one."""
        budget = self._budget()
        payer = payer_of(self.ledger, self.dataset, budget, domain.unit)
        if self.candidates is None:
            self._keep_usual(domain, open_source(as_table(domain, points, labels)), budget, payer)
        else:
            self._keep_given(domain, points, labels, budget, payer)

    def _keep_usual(self, domain: Domain, source: Source, budget: Budget, payer: LedgerAccount | None) -> None:
        """Of those that may suit, the ones that are worth making by forecast."""
        made = choose_classifier(source, domain, CLASS, budget, payer, self.records)
        self.chosen_ = self._around(made)
        self.rule_ = cast(Classes, made.sketch).rule if isinstance(made, Release) else None
        self.candidates_ = list(chosen_among(made)) or [type(self.chosen_).__name__]

    def _around(self, made: File) -> LabelledEstimator:
        """The estimator that answers from a file."""
        facts: dict[str, Any] = {"classes": self.classes, "bounds": self.bounds, "neighbours": self.neighbours}
        facts |= {"epsilon": self.epsilon, "delta": self.delta}
        if isinstance(made, Release):
            means = cast(Classes, made.sketch).inner.has_means
            one: Any = (PrivateCentroidClassifier if means else PrivateKernelClassifier)(**facts)
        else:
            one = PrivateLogisticRegression(**facts)
        for name in ("classes_", "n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(one, name, getattr(self, name))
        one._take(made)
        return one

    def _keep_given(
        self, domain: Domain, points: np.ndarray, labels: np.ndarray, budget: Budget, payer: LedgerAccount | None
    ) -> None:
        """All of those that were named, whatever a forecast would say."""
        places = {name: place for place, name in enumerate(domain.categories_of(CLASS))}
        made = self._candidates(points, self.classes_[[places[label] for label in labels]])
        beside = self._one_class_for_everyone(domain, points, labels, budget)

        def settled(known: Known) -> Contest:
            return contest(made, known.left, known.records, domain.unit, apart=True, beside=beside)

        plan = PurchasePlan(
            [Count(domain)] if self.records is None else [], Known(budget, self.records or 1.0), settled
        )

        def paid(bought: Settled[Contest]) -> Contest:
            if payer is not None:
                payer.check(bought.made.cost)
                payer.spend(bought.made.cost, Choosing([repr(one.estimator) for one in made]))
            return bought.made

        planned = plan.carried_out(open_source(as_table(domain, points, labels)), payer, paid)
        won, among = planned.run(len(points), contents=lambda: list(zip(points.tolist(), labels, strict=True)))
        self.candidates_ = list(dict.fromkeys(among))
        best, self.rule_ = won.kept
        self.chosen_ = _promising(best.ruled_by(self.rule_), budget, planned.cost)

    def predict(self, X: object) -> np.ndarray:
        """The likeliest class at each point, (n,)."""
        return self.classes_[self._codes_of(X)]

    def predict_proba(self, X: object) -> np.ndarray:
        """Probabilities of the classes, float64 (n, K), as far as the noisy release can tell them."""
        queries = self._queries(X)
        return self.chosen_.predict_proba(queries)

    def _fitting(self, domain: Domain, budget: Budget, records: float) -> Fitting:
        raise RequestError("A classifier that is chosen among several is not one of several itself.")

    def _codes_of(self, X: object) -> np.ndarray:
        queries = self._queries(X)
        return self.chosen_._codes(self.chosen_.predict(queries))

    def _candidates(self, X: np.ndarray, y: object) -> list[Candidate]:
        """What there is to choose from, with all public facts; RequestError where one cannot be made."""
        given = list(self.candidates or ())
        if not given or not all(isinstance(one, LabelledEstimator) for one in given):
            raise RequestError("Candidates are private classifiers, such as PrivateKernelClassifier(bandwidth=0.5).")
        made = []
        for one in given:
            mine = clone(one)
            facts = {"classes": self.classes, "neighbours": self.neighbours}
            if "random_state" in mine.get_params():
                facts["random_state"] = self.random_state
            if mine.bounds is None and getattr(mine, "radius", None) is None:
                facts["bounds"] = self.bounds
            mine.set_params(**facts)
            made.append(Candidate(mine, *mine._labelled(X, y)))
        return made

    def _one_class_for_everyone(
        self, domain: Domain, points: np.ndarray, labels: np.ndarray, budget: Budget
    ) -> list[Way[Kept]]:
        """Every class as the answer for everyone; nothing beside features that are too many for a linear model."""
        if domain.without(CLASS).dimensions >= MAX_COORDINATES:
            return []
        task = Task(domain, CLASS)
        ways: list[Way[Kept]] = []
        for code, name in enumerate(domain.categories_of(CLASS)):
            same = Candidate(self._around(largest_of(task, code, budget)), domain, points, labels)
            ways.append(Way(SAME_FOR_ALL, partial(_is_named, labels, name), (same, None)))
        return ways


def _is_named(labels: np.ndarray, name: str, place: int) -> bool:
    """Whether the record at a place is of that class."""
    return bool(labels[place] == name)


Kept = tuple["Candidate", str | None]
"""A candidate and its rule of decision; None where it has but one way."""


@dataclass(frozen=True)
class Candidate(Contestant[Kept]):
    """A classifier that is to be made, and the records as it reads them."""

    estimator: LabelledEstimator
    domain: Domain
    points: np.ndarray
    labels: np.ndarray

    def priced(self, budget: Budget, records: float) -> tuple[Cost, Maker[Kept]]:
        fitting = self.estimator._fitting(self.domain, budget, records)

        def make(kept: np.ndarray) -> list[Way[Kept]]:
            fitting.run(open_source(as_table(self.domain, self.points[kept], self.labels[kept])))
            return [Way(self.named(rule), partial(self.right, rule=rule), (self, rule)) for rule in self.rules]

        return fitting.cost, make

    @property
    def rules(self) -> list[str | None]:
        """Its rules of decision, once it is fitted; None where it has but one way."""
        if not isinstance(self.estimator, PrivateClassifier) or self.estimator.rule is not None:
            return [None]
        return list(rules_of(classes_of(self.estimator.release_)))

    def right(self, place: int, rule: str | None) -> bool:
        """Whether it predicts a record right, which it is asked about by itself; see
        `core.privacy.choosing.held_out`."""
        names = self.domain.categories_of(CLASS)
        return bool(names[self._code(self.points[place : place + 1], rule)] == self.labels[place])

    def _code(self, point: np.ndarray, rule: str | None) -> int:
        """The place of the class that is predicted for one point, (1, d)."""
        if not isinstance(self.estimator, PrivateClassifier):
            return int(self.estimator.model_.codes(point)[0])
        release = self.estimator.release_
        sketch = classes_of(release)
        encoded = sketch.query_domain.encode_queries(point, sketch.metric)
        return int(class_scores(release, encoded, checked_rule(release, rule or self.estimator.rule)).value.argmax())

    def ruled_by(self, rule: str | None) -> LabelledEstimator:
        """The classifier, with that rule."""
        return self.estimator if rule is None else self.estimator.set_params(rule=rule)

    def named(self, rule: str | None) -> str:
        """It with its rule, as people tell them apart."""
        kind = type(self.estimator).__name__
        return kind if rule is None else f"{kind}, rule {rule}"


@dataclass(frozen=True)
class Choosing:
    """Only a name for the ledger's note, and the names of what is chosen from."""

    names: list[str]
    name: str = Choice.name

    def parameters(self) -> dict[str, Any]:
        """What is chosen from."""
        return {"candidates": self.names}


def _promising(estimator: LabelledEstimator, budget: Budget, cost: Cost) -> LabelledEstimator:
    """The same, whose release or model promises what all of it does: that it was chosen says something too."""
    if isinstance(estimator, PrivateClassifier):
        estimator.release_ = promising(estimator.release_, budget, cost.rho)
    else:
        estimator.model_ = replace(estimator.model_, budget=budget)
    return estimator
