"""Ridge regression and principal components behind `fit`, both read off one release of sums of products."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from sklearn.base import RegressorMixin, TransformerMixin
from sklearn.utils import Tags

from ..analysis.product_sums import components
from ..analysis.regression import Regression, regression
from ..domain import Domain, Numeric, Vector
from ..errors import RequestError
from ..sketches.sums_of_products import Products
from .private import CLASS, FEATURES, PrivateEstimator, without_values


@dataclass(kw_only=True, repr=False, eq=False)
class PrivateRidge(RegressorMixin, PrivateEstimator):
    """Linear regression whose `fit` releases sums of products, which answer every other regression as well.

    Parameters
    ----------
    epsilon, delta, neighbours, bounds, dataset, ledger : float, float, str, object, str | None, Ledger | str | None
        See `PrivateKernelDensity`.
    target_bounds : object
        The public bounds (low, high) of what is predicted.
    ridge : float | str
        The ridge as a number of records, or the rule that chooses it from what was released: "least-error", "adassp".

    Attributes
    ----------
    release_ : Release
        The private release: all that is kept of the data.
    regression_ : Regression
        What it says of the target, with intervals.
    coef_, intercept_ : np.ndarray, float
        As of scikit-learn's `Ridge`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(-1, 1, (5000, 2))
    >>> fitted = PrivateRidge(epsilon=5, bounds=(-1, 1), target_bounds=(-4, 4)).fit(X, X @ [2.0, -1.0])
    >>> fitted.coef_.round().tolist()
    [2.0, -1.0]
    """

    target_bounds: object = None
    ridge: float | str = "least-error"

    records = None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.regressor_tags.poor_score = True  # a few dozen records of unknown scale say little under a promise
        return tags

    def fit(self, X: object, y: object) -> PrivateRidge:
        """Spend the budget and make the release.

        RequestError when a public fact is missing or out of range; nothing was spent.
        """
        X, y = self._read(X, y)
        features = self._domain(self.bounds)
        if self.target_bounds is None:
            raise RequestError(
                "PrivateRidge needs the public bounds of what is predicted, as target_bounds=(low, high)."
            )
        low, high = np.asarray(self.target_bounds, dtype=np.float64)
        domain = Domain((*features.columns, Numeric(CLASS, low, high)), outside="clamp", missing="refuse")
        with without_values():
            labels = np.asarray(y, dtype=np.float64)
        self.release_ = self._release(domain, X, labels, lambda *known: Products(domain), settled=True)
        found: Regression = regression(self.release_, CLASS, ridge=self.ridge)
        self.regression_ = found
        self.coef_, self.intercept_ = found.coefficients().estimate.to_numpy(), found.intercept
        return self

    def predict(self, X: object) -> np.ndarray:
        """The predicted number at each point, float64 (n,), inside the bounds of the target."""
        queries = self._queries(X)
        columns = self.regression_.domain.columns
        if isinstance(columns[0], Vector):
            return self.regression_.predict({FEATURES: list(queries)}).estimate.to_numpy()
        named = pd.DataFrame(queries, columns=[column.name for column in columns])
        return self.regression_.predict(named).estimate.to_numpy()


@dataclass(kw_only=True, repr=False, eq=False)
class PrivatePCA(TransformerMixin, PrivateEstimator):
    """The axes along which records differ most, of features that their public bounds map to [-1, 1].

    Parameters
    ----------
    n_components : int | None
        How many axes; None for all.
    epsilon, delta, neighbours, bounds, dataset, ledger : float, float, str, object, str | None, Ledger | str | None
        See `PrivateKernelDensity`.

    Attributes
    ----------
    release_ : Release
        The private release: all that is kept of the data.
    components_, explained_variance_, explained_variance_ratio_, mean_ : np.ndarray
        As of scikit-learn's `PCA`, of the mapped features.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(-1, 1, (5000, 2)) * [1.0, 0.1]
    >>> abs(PrivatePCA(1, epsilon=5, bounds=(-1, 1)).fit(X).components_).round().tolist()
    [[1.0, 0.0]]
    """

    n_components: int | None = field(default=None, kw_only=False)

    records = None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    def fit(self, X: object, y: object = None) -> PrivatePCA:
        """Spend the budget and make the release.

        RequestError when a public fact is missing or out of range; nothing was spent.
        """
        X, _ = self._read(X)
        domain = self._domain(self.bounds)
        if self.n_components is not None and not 1 <= self.n_components <= X.shape[1]:
            raise RequestError(f"There are between 1 and {X.shape[1]:,} components of {X.shape[1]:,} features.")
        sketch = Products(domain)
        self.release_ = self._release(domain, X, None, lambda *known: sketch, settled=True)
        self._scaling = sketch.scaling
        found = components(self.release_, number=self.n_components)
        self.components_, self.explained_variance_, self.mean_ = found.axes, found.variances, found.means
        self.explained_variance_ratio_ = found.variances / max(found.total, 1e-300)
        return self

    def transform(self, X: object) -> np.ndarray:
        """Places along the axes, float64 (n, k)."""
        queries = self._queries(X)
        middle, half = self._scaling
        return ((queries - middle) / half - self.mean_) @ self.components_.T

    def inverse_transform(self, X: object) -> np.ndarray:
        """Features (n, d) in their own units of places along the axes."""
        middle, half = self._scaling
        return (np.asarray(X) @ self.components_ + self.mean_) * half + middle
