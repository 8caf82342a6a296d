"""Logistic regression behind `fit` and `predict`, private by objective perturbation."""

from __future__ import annotations

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from ..models.logistic_model import LogisticModel
from ..models.objective_perturbation import ObjectivePerturbation
from ..privacy.ledger.ledger import Ledger
from ..releases.payment import payer_of, spending
from ..sources import open_source
from .classifier import LabelledEstimator
from .private import CLASS, as_table


class PrivateLogisticRegression(LabelledEstimator):
    """Coefficients of a logistic regression, fitted once under a pure promise (Chaudhuri, Monteleoni, Sarwate 2011).

    Parameters
    ----------
    epsilon, delta, neighbours, bounds, dataset, ledger : float, float, str, object, str | None, Ledger | str | None
        See `PrivateKernelDensity`; delta must be 0.
    classes : object
        The public list of labels. More than two share epsilon.
    radius : float | None
        A public distance from the middle of the bounds beyond which features are moved closer; None is that of the
        farthest corner. A smaller one needs less noise for the same coefficients. Without bounds it is a length, such
        as 1 for embeddings.
    regularisation : float | None
        Strength per record; None is the least that the promise allows, which is seldom too little.
    records : int | None
        A public guess of the number of records, which the regularisation is multiplied by.

    Attributes
    ----------
    model_ : LogisticModel
        The private `LogisticModel`, with its promise: all that is kept of the data.
    classes_ : np.ndarray
        The public list of labels.
    coef_, intercept_ : np.ndarray
        As of scikit-learn's `LogisticRegression`, float64 (1 or K, d) and (1 or K,).
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> import numpy as np
    >>> random = np.random.default_rng(0)
    >>> X, y = np.vstack((random.normal(-2, 1, (500, 2)), random.normal(2, 1, (500, 2)))), np.repeat([0, 1], 500)
    >>> estimator = PrivateLogisticRegression(bounds=(-6, 6), classes=[0, 1])
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
        bounds: object = None,
        radius: float | None = None,
        regularisation: float | None = None,
        records: int | None = None,
        dataset: str | None = None,
        ledger: Ledger | str | None = None,
    ):
        self.epsilon = epsilon
        self.delta = delta
        self.neighbours = neighbours
        self.classes = classes
        self.bounds = bounds
        self.radius = radius
        self.regularisation = regularisation
        self.records = records
        self.dataset = dataset
        self.ledger = ledger

    def fit(self, X: object, y: object) -> PrivateLogisticRegression:
        """Spend the budget and fit.

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
        X, y = self._read(X, y)
        check_classification_targets(y)
        self.classes_ = self._public_classes()
        codes = self._codes(y)
        names = tuple(str(label) for label in self.classes_)
        bounds = (-self.radius, self.radius) if self.bounds is None and self.radius is not None else self.bounds
        regression = ObjectivePerturbation(
            self._domain(bounds, names), CLASS, self.regularisation, self.records, self.radius
        )
        budget = self._budget()
        payer = payer_of(self.ledger, self.dataset, budget, regression.domain.unit)
        spend = spending(payer, regression.cost(budget), regression)
        source = open_source(as_table(regression.domain, X, np.array(names, dtype=object)[codes]))
        self.model_: LogisticModel = regression.fit(source, budget, spend=spend)
        self.coef_, self.intercept_ = self.model_.coefficients, self.model_.intercepts
        return self

    def decision_function(self, X: object) -> np.ndarray:
        """Log odds: of the second class, float64 (n,), or of each against the others, (n, K)."""
        queries = self._queries(X)
        scores = self.model_.decision(queries)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: object) -> np.ndarray:
        """The likeliest class at each point, (n,)."""
        queries = self._queries(X)
        return self.classes_[self.model_.codes(queries)]

    def predict_proba(self, X: object) -> np.ndarray:
        """Probabilities of the classes, float64 (n, K)."""
        queries = self._queries(X)
        return self.model_.probabilities(queries)
