"""What linear classifiers share: scores of a trained model, and the classes that they speak for."""

from __future__ import annotations

import numpy as np

from ..models.linear_model import LinearModel
from ..models.logistic_model import LogisticModel
from .classifier import LabelledEstimator


class LinearClassifier(LabelledEstimator):
    """A classifier whose `fit` trains one private model, ``model_``."""

    model_: LinearModel | LogisticModel

    def decision_function(self, X: object) -> np.ndarray:
        """Log odds: of the second class, float64 (n,), or of each against the others, (n, K)."""
        queries = self._queries(X)
        scores = self.model_.decision(queries)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: object) -> np.ndarray:
        """The likeliest class at each point, (n,)."""
        queries = self._queries(X)
        return self.classes_[self.model_.codes(queries)]
