"""The classifier that suits the records, chosen among several at one price."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ..domain import Domain
from ..errors import RequestError
from ..forecast.scales import MOST_NUMBERS
from ..privacy.accounting import Cost
from ..privacy.budget import Budget
from ..privacy.held_out import ChoicePlan, choose, halvings_for, held_out, plan_choice
from ..privacy.ledger.ledger import Ledger
from ..privacy.shares import shared_equally
from ..releases.bounds_paid import promising
from ..releases.counted import Counted, count_first
from ..releases.payment import payer_of
from ..sources import open_source
from ..tasks.classes.scores import checked_rule, class_scores, classes_of, rules_of
from .centroid_classifier import PrivateCentroidClassifier
from .classifier import Fitting, LabelledEstimator, PrivateClassifier
from .kernel_classifier import PrivateKernelClassifier
from .logistic_regression import PrivateLogisticRegression
from .private import CLASS, as_table

TYPICAL_SPREAD = 1.0 / 6.0
"""Standard deviation of a column that nothing is known of, in shares of its bounds."""
NARROW, WIDE = 0.25, 0.5
"""Bandwidths, in shares of how far two records are typically apart."""


class PrivateChosenClassifier(LabelledEstimator):
    """Several classifiers made under one promise, of which the one that predicts best is kept.

    An eighth of the records (of more than 16,384 about 2,000), by coins for each, is left out of making them; what each
    gets right of those decides, by report noisy max. This costs nothing beside making them (`core.privacy.held_out` has
    the proof), so what a choice costs is that the classifiers share the budget: name few. Rules of decision of one
    classifier share a release, and are all tried.

    Parameters
    ----------
    epsilon, delta, neighbours, bounds : float, float, str, object
        See `PrivateKernelDensity`, as for those that follow. The promise of everything together.
    records, dataset, ledger, random_state : int | None, str | None, object, int | None
        Likewise. One entry in the ledger, and one for the number of records where that is not said and has a price.
    classes : object
        The public list of labels.
    candidates : Sequence[LabelledEstimator] | None
        Private classifiers, such as `PrivateKernelClassifier(bandwidth=0.5)`, which take promise, classes and, where
        they have none, bounds from here; None for kernels (of a narrow and a wide bandwidth with more than three
        features), nearest means and logistic regression.

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

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        delta: float = 0.0,
        neighbours: str = "add_remove",
        classes: object = None,
        candidates: Sequence[LabelledEstimator] | None = None,
        bounds: object = None,
        records: int | None = None,
        dataset: str | None = None,
        ledger: Ledger | str | None = None,
        random_state: int | None = None,
    ):
        super().__init__(epsilon, delta, neighbours, bounds, dataset, ledger)
        self.classes = classes
        self.candidates = candidates
        self.records = records
        self.random_state = random_state

    def fit(self, X: object, y: object) -> PrivateChosenClassifier:
        """Spend the budget, make every candidate, and keep one.

        Parameters
        ----------
        X : object
            (n, d) features.
        y : object
            (n,) labels, each one of ``classes``.

        Raises
        ------
        RequestError
            When a public fact is missing or out of range, or a label is not on the list; nothing was spent.
        """
        domain, X, labels = self._labelled(X, y)
        made = self._candidates(X, y)
        budget = self._budget()
        payer = payer_of(self.ledger, self.dataset, budget, domain.unit)

        def planned(left: Budget, records: float) -> tuple[Cost, list[Fitting]]:
            kept = records * (1.0 - 2.0 ** -halvings_for(records))
            return shared_equally(left, len(made), lambda own: [_priced(one, own, kept) for one in made])

        if self.records is None:
            source = open_source(as_table(domain, X, labels))
            counted = count_first(domain, source, budget, payer, lambda *guess: planned(*guess)[0])
        else:
            counted = Counted(self.records, budget)
        together, fittings = planned(counted.left, counted.records)
        plan = plan_choice(together, counted.left.neighbours)
        if payer is not None:
            payer.check(plan.cost)
            payer.spend(plan.cost, Choosing([repr(one.estimator) for one in made]))
        out = held_out(len(X), halvings=halvings_for(counted.records))
        for one, fitting in zip(made, fittings, strict=True):
            fitting.run(open_source(as_table(one.domain, one.points[~out], one.labels[~out])))
        ways = [(one, rule) for one in made for rule in one.rules]
        right = np.array([one.right(np.flatnonzero(out), rule) for one, rule in ways], np.int64)
        best, self.rule_ = ways[choose(right, plan)]
        self.candidates_ = [_named(one, rule) for one, rule in ways]
        self.chosen_ = _promising(best.ruled_by(self.rule_), budget, plan)
        return self

    def predict(self, X: object) -> np.ndarray:
        """The likeliest class at each point, (n,)."""
        return self.classes_[self._codes_of(X)]

    def predict_proba(self, X: object) -> np.ndarray:
        """Probabilities of the classes, float64 (n, K), as far as the noisy release can tell them."""
        queries = self._queries(X)
        return self.chosen_.predict_proba(queries)

    def _feature_bounds(self) -> object:
        return self.bounds

    def _fitting(self, domain: Domain, budget: Budget, records: float) -> Fitting:
        raise RequestError("A classifier that is chosen among several is not one of several itself.")

    def _codes_of(self, X: object) -> np.ndarray:
        queries = self._queries(X)
        return self.chosen_._codes(self.chosen_.predict(queries))

    def _candidates(self, X: np.ndarray, y: object) -> list[Candidate]:
        """What there is to choose from, with all public facts; RequestError where one cannot be made."""
        given = self._usual() if self.candidates is None else list(self.candidates)
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

    def _usual(self) -> list[LabelledEstimator]:
        """Kernels, of one released grid or of two bandwidths, nearest means and logistic regression."""
        others = [PrivateCentroidClassifier(), PrivateLogisticRegression()]
        if self.n_features_in_ <= MOST_NUMBERS:
            return [PrivateKernelClassifier(), *others]
        bounds = np.asarray(self.bounds, np.float64)
        apart = math.sqrt(self.n_features_in_) * TYPICAL_SPREAD * (bounds[..., 1] - bounds[..., 0])
        kernels = [PrivateKernelClassifier(bandwidth=_plain(share * apart)) for share in (NARROW, WIDE)]
        return [*kernels, *others]


@dataclass(frozen=True)
class Candidate:
    """A classifier that is to be made, and the records as it reads them."""

    estimator: LabelledEstimator
    domain: Domain
    points: np.ndarray
    labels: np.ndarray

    @property
    def rules(self) -> list[str | None]:
        """Its rules of decision, once it is fitted; None where it has but one way."""
        if not isinstance(self.estimator, PrivateClassifier) or self.estimator.rule is not None:
            return [None]
        return list(rules_of(classes_of(self.estimator.release_)))

    def right(self, chosen: np.ndarray, rule: str | None) -> int:
        """How many of the chosen records it predicts right.

        Each is asked by itself, so that what it adds is a function of it alone (`core.privacy.held_out`).
        """
        names = self.domain.categories_of(CLASS)
        return sum(names[self._code(self.points[place : place + 1], rule)] == self.labels[place] for place in chosen)

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


@dataclass(frozen=True)
class Choosing:
    """Only a name for the ledger's note, and the names of what is chosen from."""

    names: list[str]
    name: str = "chosen classifier"

    def parameters(self) -> dict[str, Any]:
        """What is chosen from."""
        return {"candidates": self.names}


def _priced(one: Candidate, budget: Budget, records: float) -> tuple[Cost, Fitting]:
    fitting = one.estimator._fitting(one.domain, budget, records)
    return fitting.cost, fitting


def _named(one: Candidate, rule: str | None) -> str:
    kind = type(one.estimator).__name__
    return kind if rule is None else f"{kind}, rule {rule}"


def _promising(estimator: LabelledEstimator, budget: Budget, plan: ChoicePlan) -> LabelledEstimator:
    """The same, whose release or model promises what all of it does: that it was chosen says something too."""
    if isinstance(estimator, PrivateClassifier):
        estimator.release_ = promising(estimator.release_, budget, plan.cost.rho)
    else:
        estimator.model_ = replace(estimator.model_, budget=budget)
    return estimator


def _plain(bandwidth: np.ndarray) -> float | tuple[float, ...]:
    return float(bandwidth) if bandwidth.ndim == 0 else tuple(float(one) for one in bandwidth)
