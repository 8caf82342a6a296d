"""A linear support vector machine behind `fit` and `predict`, private by noisy gradient descent."""

from __future__ import annotations

from typing import cast

from ..domain import Domain
from ..models.linear_model import LinearModel
from ..models.opening import Model
from ..models.training import train, trainer_of
from ..privacy.budget import Budget
from ..privacy.ledger.ledger import Ledger
from .classifier import Fitting
from .linear_classifier import LinearClassifier
from .private import CLASS, as_table


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
    classes_ : np.ndarray
        The public list of labels.
    coef_, intercept_ : np.ndarray
        As of scikit-learn's `LinearSVC`, float64 (1 or K, d) and (1 or K,).
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> import numpy as np
    >>> random = np.random.default_rng(0)
    >>> X, y = np.vstack((random.normal(-2, 1, (500, 2)), random.normal(2, 1, (500, 2)))), np.repeat([0, 1], 500)
    >>> PrivateLinearSVC(delta=1e-6, bounds=(-6, 6), classes=[0, 1]).fit(X, y).predict([[-2, -2], [2, 2]])
    array([0, 1])
    """

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        neighbours: str = "add_remove",
        classes: object = None,
        bounds: object = None,
        dataset: str | None = None,
        ledger: Ledger | str | None = None,
    ):
        super().__init__(epsilon, delta, neighbours, bounds, dataset, ledger)
        self.classes = classes

    def fit(self, X: object, y: object) -> PrivateLinearSVC:
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
        domain, X, labels = self._labelled(X, y)
        records = as_table(domain, X, labels)
        self._take(train(records, CLASS, domain, self._budget(), "svm", ledger=self.ledger, dataset=self.dataset))
        return self

    def _feature_bounds(self) -> object:
        return self.bounds

    def _fitting(self, domain: Domain, budget: Budget, records: float) -> Fitting:
        trainer = trainer_of("svm", domain, CLASS)
        return Fitting(trainer.cost(budget), lambda source: self._take(trainer.fit(source, budget)))

    def _take(self, made: Model) -> None:
        model = self.model_ = cast(LinearModel, made)  # as classes are predicted
        self.coef_, self.intercept_ = model.slopes, model.intercepts
