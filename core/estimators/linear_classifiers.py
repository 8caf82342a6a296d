"""Linear classifiers behind `fit` and `predict`: trained models that give each class a score.

Logistic regression is private by objective perturbation or another method, a support vector machine by noisy gradient
descent. All private classifiers share a public list of labels, and mostly one release with a table a class.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Self, cast

import numpy as np
from sklearn.base import ClassifierMixin

from ..analysis.class_scores import rules_of
from ..analysis.classification import Classification, classify
from ..domain import Domain, Vector
from ..errors import RequestError
from ..models.linear_models import LinearModel, Model
from ..models.monotone import Declared
from ..models.objective_perturbation import ObjectivePerturbation
from ..models.training import AUTO, Chosen, train, train_by, trainer_of, training_plan
from ..privacy.accounting import Cost
from ..privacy.budget import Budget
from ..releases.bounds_and_centre import CentrePurchase
from ..releases.job import Job
from ..releases.kind import kind_of
from ..releases.payment import payer_of, spending
from ..releases.purchase_plan import PurchasePlan
from ..releases.release import Release
from ..runtime.parameters import check_choice
from ..sketches.classes import Classes
from ..sketches.linear import LinearSketch
from ..sources import Source, open_source
from .private import CLASS, PrivateEstimator, as_table


@dataclass(frozen=True)
class Fitting:
    """A fit that is all settled but for the records."""

    cost: Cost  # What it costs.
    # Draws the noise and sets what is fitted, once that is paid; whoever calls it has paid.
    run: Callable[[Source], object]


@dataclass(kw_only=True, repr=False, eq=False)
class LabelledEstimator(ClassifierMixin, PrivateEstimator):
    """A private estimator whose labels are a public list."""

    classes: object = None

    def _feature_bounds(self) -> object:
        """Bounds of the features, or those that a radius gives; None when neither was given."""
        radius = getattr(self, "radius", None)
        return (-radius, radius) if self.bounds is None and radius is not None else self.bounds

    @abstractmethod
    def _fitting(self, domain: Domain, budget: Budget, records: float) -> Fitting:
        """A fit under a budget to so many records, of the features and the column of classes."""

    @abstractmethod
    def _learn(self, domain: Domain, points: np.ndarray, labels: np.ndarray) -> None:
        """Spend the budget on these features, float64 (n, d), and names of classes, (n,), and set what is fitted."""

    def fit(self, X: object, y: object) -> Self:
        """Spend the budget and fit.

        `y`: (n,) labels, each one of ``classes``.

        RequestError when a public fact is missing or out of range, or a label is not on the list; nothing was spent.
        """
        self._learn(*self._labelled(X, y))
        return self

    def _public_classes(self) -> np.ndarray:
        if self.classes is None:
            raise RequestError(
                f"{type(self).__name__} needs the public list of classes; reading it off the data would tell that "
                "someone of a rare class is in it."
            )
        classes = np.asarray(self.classes)
        if classes.ndim != 1 or len({str(label) for label in classes}) < max(len(classes), 2):
            raise RequestError("The classes must be a list of two different labels or more.")
        return classes

    def _labelled(self, X: object, y: object) -> tuple[Domain, np.ndarray, np.ndarray]:
        """The public facts, the features, float64 (n, d), and the name of each one's class, (n,)."""
        X, y = self._read(X, y)
        self.classes_ = self._public_classes()
        codes = self._codes(y)
        names = tuple(str(label) for label in self.classes_)
        return self._domain(self._feature_bounds(), names), X, np.array(names, dtype=object)[codes]

    def _codes(self, y: object) -> np.ndarray:
        """The place of each label in the list, int64 (n,); RequestError when one is not on it."""
        matches = np.asarray(y)[:, None] == self.classes_[None, :]
        if not np.all(np.any(matches, axis=1)):
            raise RequestError("Unknown label type: a label is not on the public list of classes.")
        return matches.argmax(axis=1)


@dataclass(kw_only=True, repr=False, eq=False)
class PrivateClassifier(LabelledEstimator):
    """A classifier whose `fit` makes one private release with a table a class."""

    rule: str | None = None

    @abstractmethod
    def _inner(self, domain: Domain, records: float, budget: Budget, spread: float | None) -> LinearSketch:
        """The sketch of one class with so many records, on the features' domain; they may be known to be so spread."""

    def _apart(self, domain: Domain) -> Domain | None:
        """The features, where how far records lie apart is bought first; None as a rule."""
        return None

    @property
    @abstractmethod
    def _settled(self) -> bool:
        """Whether the sketch is the same for any number of records."""

    def _centre(self) -> CentrePurchase | None:
        """What is bought besides; nothing as a rule."""
        return None

    def _classed(self, domain: Domain, records: float, budget: Budget, spread: float | None = None) -> Classes:
        """The sketch with a table a class; RequestError where the rule does not suit it, before anything is spent."""
        inner = domain.without(CLASS)
        each = records / len(domain.categories_of(CLASS))
        sketch = Classes.of(domain, CLASS, self._inner(inner, each, budget, spread))
        if self.rule is not None:
            check_choice(self.rule, "The rule", rules_of(sketch))
        return sketch

    def _fitting(self, domain: Domain, budget: Budget, records: float) -> Fitting:
        kind = kind_of(self._classed(domain, records, budget), budget, records, centre=self._centre())

        def run(source: Source) -> None:
            self._take(Job(kind, source).run())

        return Fitting(kind.cost, run)

    def _learn(self, domain: Domain, points: np.ndarray, labels: np.ndarray) -> None:
        self._take(
            self._release(
                domain,
                points,
                labels,
                partial(self._classed, domain),
                settled=self._settled,
                apart=self._apart(domain),
                centre=self._centre(),
            )
        )

    def _take(self, made: Release) -> None:
        """Keep the release, read with the bandwidth that suits its noisy counts where its owner fixed none."""
        self.release_ = made.smoothed() if made.sketch.open_bandwidth else made

    def predict(self, X: object) -> np.ndarray:
        """The class that each point is like, (n,)."""
        said = self.classification(X)
        return self.classes_[said.codes]

    def predict_proba(self, X: object) -> np.ndarray:
        """Probabilities of the classes, float64 (n, K), as far as the noisy release can tell them."""
        return self.classification(X).probabilities

    def confidence(self, X: object) -> np.ndarray:
        """Probability that the release without its noise would say the same class, float64 (n,)."""
        return self.classification(X).confidence

    def classification(self, X: object, level: float = 0.95) -> Classification:
        """All that the release says about each point, "don't know" included: `core.analysis.classification`."""
        queries = self._queries(X)
        return classify(self.release_, queries, self.rule, level)


class LinearClassifier(LabelledEstimator):
    """A classifier whose `fit` trains one private model, ``model_``."""

    model_: LinearModel

    def decision_function(self, X: object) -> np.ndarray:
        """Log odds: of the second class, float64 (n,), or of each against the others, (n, K)."""
        queries = self._queries(X)
        scores = self.model_.decision(queries)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _take(self, made: Model) -> None:
        model = self.model_ = cast(LinearModel, made)  # as classes are predicted
        self.coef_, self.intercept_ = model.slopes, model.intercepts

    def predict(self, X: object) -> np.ndarray:
        """The likeliest class at each point, (n,)."""
        queries = self._queries(X)
        return self.classes_[self.model_.codes(queries)]


@dataclass(kw_only=True, repr=False, eq=False)
class PrivateLinearSVC(LinearClassifier):
    """Coefficients of a linear classifier with Huber's smooth hinge, fitted once under (epsilon, delta).

    Parameters
    ----------
    epsilon, delta, neighbours, bounds, dataset, ledger : float, float, str, object, str | None, Ledger | str | None
        See `PrivateKernelDensity`; delta must be above 0.
    classes : object
        The public list of labels; of more than two, each is told from the rest.

    Attributes
    ----------
    model_ : LinearModel
        The private model, with its promise: all that is kept of the data.
    coef_, intercept_ : np.ndarray
        As of scikit-learn's `LinearSVC`, float64 (1 or K, d) and (1 or K,).

    Examples
    --------
    >>> import numpy as np
    >>> random = np.random.default_rng(0)
    >>> X, y = np.vstack((random.normal(-2, 1, (500, 2)), random.normal(2, 1, (500, 2)))), np.repeat([0, 1], 500)
    >>> PrivateLinearSVC(delta=1e-6, bounds=(-6, 6), classes=[0, 1]).fit(X, y).predict([[-2, -2], [2, 2]])
    array([0, 1])
    """

    delta: float = 1e-6

    def _learn(self, domain: Domain, points: np.ndarray, labels: np.ndarray) -> None:
        records = as_table(domain, points, labels)
        self._take(train(records, CLASS, domain, self._budget(), "svm", ledger=self.ledger, dataset=self.dataset))

    def _fitting(self, domain: Domain, budget: Budget, records: float) -> Fitting:
        trainer = trainer_of("svm", domain, CLASS)
        return Fitting(trainer.cost(budget), lambda source: self._take(trainer.fit(source, budget)))


@dataclass(kw_only=True, repr=False, eq=False)
class PrivateLogisticRegression(LinearClassifier):
    """Coefficients of a logistic regression, fitted once under a promise.

    Parameters
    ----------
    epsilon, delta, neighbours, bounds, dataset, ledger : float, float, str, object, str | None, Ledger | str | None
        See `PrivateKernelDensity`.
    classes : object
        The public list of labels. More than two share epsilon with "amp", and with a regularisation or a radius that
        is not in halves of the bounds; all other methods fit one multinomial model.
    radius : float | None
        A public distance from the middle of the bounds beyond which features are moved closer, when it is fitted and
        when it predicts; None is that of the farthest corner, or what is usual within the bounds where the method's
        noise grows with it and no delta is spent. A smaller one needs less noise for the same coefficients. Without
        bounds it is a length, such as 1 for embeddings.
    regularisation : float | None
        Strength per record; None is the least that the promise allows, which is seldom too little.
    records : int | None
        A public number of records: with a delta, for the choice of a method and of its steps, for which a count is
        bought with 2% of epsilon without it; without one, what the regularisation is multiplied by.
    method : str
        "objective" perturbation (Chaudhuri, Monteleoni, Sarwate 2011), which needs no delta, and keeps the features'
        own units without one; "amp", approximate minima perturbation (Iyengar et al. 2019), "descent", noisy gradient
        descent, or "newton", noisy second-order steps, which need one and take no regularisation; "auto" for the best
        by forecast, with features as shares of their bounds. Of more than two classes "objective" has these as well.
    monotonic_cst : Mapping[str, int] | Sequence[int] | None
        As scikit-learn's `HistGradientBoostingClassifier` has it, of two classes: 1 for a feature that only raises the
        odds of the second one, -1 for one that only lowers them, 0 for others; by name or in their order. Features are
        compared as shares of their bounds then.

    Attributes
    ----------
    model_ : LinearModel
        The private model, with its promise: all that is kept of the data.
    coef_, intercept_ : np.ndarray
        As of scikit-learn's `LogisticRegression`, float64 (1 or K, d) and (1 or K,).

    Examples
    --------
    >>> import numpy as np
    >>> random = np.random.default_rng(0)
    >>> X, y = np.vstack((random.normal(-2, 1, (500, 2)), random.normal(2, 1, (500, 2)))), np.repeat([0, 1], 500)
    >>> estimator = PrivateLogisticRegression(bounds=(-6, 6), classes=[0, 1])
    >>> estimator.fit(X, y).predict([[-2, -2], [2, 2]])
    array([0, 1])
    """

    radius: float | None = None
    regularisation: float | None = None
    records: int | None = None
    method: str = AUTO
    monotonic_cst: Declared = None

    def _learn(self, domain: Domain, points: np.ndarray, labels: np.ndarray) -> None:
        budget, source = self._budget(), open_source(as_table(domain, points, labels))
        payer = payer_of(self.ledger, self.dataset, budget, domain.unit)
        if (solver := self._solver(domain, budget)) is not None:
            self._take(solver.fit(source, budget, spend=spending(payer, solver.cost(budget), solver)))
        else:
            self._take(train_by(self._plan(domain, budget, self.records, composable=payer is not None), source, payer))

    def _solver(self, domain: Domain, budget: Budget) -> ObjectivePerturbation | None:
        """Objective perturbation in the features' own units, where a regularisation or a radius asks for these.

        Features are compared as shares of their bounds otherwise, and this is None.
        """
        length = self._length(domain)
        own_units = self.regularisation is not None or (self.radius is not None and length is None)
        shares = self.monotonic_cst is not None or len(domain.categories_of(CLASS)) > 2
        if budget.pure and (own_units or not shares) and self.method in ("objective", *([AUTO] if own_units else [])):
            if self.monotonic_cst is not None:
                raise RequestError("A direction is of features as shares of their bounds: leave what needs units out.")
            return ObjectivePerturbation(domain, CLASS, self.regularisation, self.records, self.radius)
        check_choice(self.method, "The method", (AUTO, "objective", "amp", "descent", "newton"))
        if self.regularisation is not None:
            raise RequestError("A regularisation is of objective perturbation under a pure promise alone.")
        return None

    def _plan(self, domain: Domain, budget: Budget, records: float | None, *, composable: bool) -> PurchasePlan[Chosen]:
        """What is bought and trained; coefficients are of straight lines, as scikit-learn's are."""
        length = self._length(domain)
        return training_plan(
            domain,
            CLASS,
            budget,
            self.method,
            radius=length,
            records=records,
            curves=0,
            monotonic_cst=self.monotonic_cst,
            composable=composable,
        )

    def _length(self, domain: Domain) -> float | None:
        """The radius in halves of the one pair of bounds that all features have; None where either is missing."""
        column = domain.columns[0]
        if self.radius is None or not isinstance(column, Vector):
            return None
        return 2.0 * self.radius / (column.high - column.low)

    def _fitting(self, domain: Domain, budget: Budget, records: float) -> Fitting:
        solver = self._solver(domain, budget)
        if solver is not None:
            return Fitting(solver.cost(budget), lambda source: self._take(solver.fit(source, budget)))
        plan = self._plan(domain, budget, self.records or records, composable=True)
        chosen = plan.ordinary(plan.known)
        return Fitting(chosen.cost, lambda source: self._take(chosen.fit(source)))

    def predict_proba(self, X: object) -> np.ndarray:
        """Probabilities of the classes, float64 (n, K)."""
        queries = self._queries(X)
        return self.model_.probabilities(queries)
