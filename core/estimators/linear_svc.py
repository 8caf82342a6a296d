"""A linear support vector machine behind `fit` and `predict`, private by noisy gradient descent."""

from __future__ import annotations

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from ..models.linear_model import LinearModel
from ..models.training import train
from ..privacy.ledger.ledger import Ledger
from .classifier import LabelledEstimator
from .private import CLASS, as_table


class PrivateLinearSVC(LabelledEstimator):
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
        self.epsilon = epsilon
        self.delta = delta
        self.neighbours = neighbours
        self.classes = classes
        self.bounds = bounds
        self.dataset = dataset
        self.ledger = ledger

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
        X, y = self._read(X, y)
        check_classification_targets(y)
        self.classes_ = self._public_classes()
        names = tuple(str(label) for label in self.classes_)
        labels = np.array(names, dtype=object)[self._codes(y)]
        domain = self._domain(self.bounds, names)
        model = train(
            as_table(domain, X, labels), CLASS, domain, self._budget(), "svm", ledger=self.ledger, dataset=self.dataset
        )
        self.model_: LinearModel = model
        self.coef_, self.intercept_ = model.slopes, model.intercepts
        return self

    def decision_function(self, X: object) -> np.ndarray:
        """How far each point is on the side of the second class, float64 (n,), or of each one, (n, K)."""
        queries = self._queries(X)
        scores = self.model_.decision(queries)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: object) -> np.ndarray:
        """The likelier class at each point, (n,)."""
        queries = self._queries(X)
        return self.classes_[self.model_.codes(queries)]
