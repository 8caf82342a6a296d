"""Principal components behind `fit` and `transform`, read off one release of sums of products."""

from __future__ import annotations

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils import Tags

from ..errors import RequestError
from ..privacy.ledger.ledger import Ledger
from ..sketches.products.products import Products
from ..tasks.product_sums import components
from .private import PrivateEstimator


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
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(-1, 1, (5000, 2)) * [1.0, 0.1]
    >>> abs(PrivatePCA(1, epsilon=5, bounds=(-1, 1)).fit(X).components_).round().tolist()
    [[1.0, 0.0]]
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        epsilon: float = 1.0,
        delta: float = 0.0,
        neighbours: str = "add_remove",
        bounds: object = None,
        dataset: str | None = None,
        ledger: Ledger | str | None = None,
    ):
        super().__init__(epsilon, delta, neighbours, bounds, dataset, ledger)
        self.n_components = n_components

    records = None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    def fit(self, X: object, y: object = None) -> PrivatePCA:
        """Spend the budget and make the release.

        Parameters
        ----------
        X : object
            (n, d) features.
        y : object
            Ignored.

        Raises
        ------
        RequestError
            When a public fact is missing or out of range; nothing was spent.
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
