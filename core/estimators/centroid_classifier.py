"""Which class a point is like by the classes' means: private sums of vectors behind `fit` and `predict`."""

from __future__ import annotations

import numpy as np

from ..checks import check_choice
from ..domain import Domain
from ..geometry.projections.fast import FastProjection
from ..releases.centred import CentrePurchase
from ..releases.release import Release
from ..sketches.distances.directions import Directions, dimensions_for
from ..sketches.distances.moments import Moments
from ..sketches.linear import LinearSketch
from .classifier import PrivateClassifier

DEFAULT_RECORDS = 10_000


class PrivateCentroidClassifier(PrivateClassifier):
    """Nearest mean, from one private release of sums of vectors (ICLR 2024, section 6.1).

    Parameters
    ----------
    epsilon, delta, neighbours, bounds, records, dataset, ledger, random_state : see `core.estimators.private`
        See `PrivateKernelDensity`.
    classes : object
        The public list of labels.
    metric : str
        "euclidean", the mean at the least distance; "cosine", the mean direction at the least angle, as embeddings are
        compared.
    radius : float | None
        A public bound of the features' lengths, such as 1 for embeddings; whoever is longer is shortened to it. With
        it, bounds may be left out.
    centre_share : float | str | None
        Part of the budget that buys the middle of everyone, around which vectors are short and need less noise; None
        buys none. It pays for embeddings, which all point much the same way.
    centred_radius : float | None
        With a bought centre and "euclidean", a public distance from it beyond which records are moved closer; None is
        the radius.
    rule : str | None
        "mean" or "distance" (which counts how scattered a class is) for "euclidean"; "direction", "posterior" or
        "likelihood" for "cosine"; None for the first.

    Attributes
    ----------
    release_ : the private `Release`: all that is kept of the data.
    classes_ : the public list of labels.
    n_features_in_ : number of features.

    Examples
    --------
    >>> import numpy as np
    >>> random = np.random.default_rng(0)
    >>> X, y = np.vstack((random.normal(-2, 1, (500, 2)), random.normal(2, 1, (500, 2)))), np.repeat([0, 1], 500)
    >>> estimator = PrivateCentroidClassifier(radius=6.0, classes=[0, 1], random_state=0)
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
        metric: str = "euclidean",
        rule: str | None = None,
        bounds: object = None,
        radius: float | None = None,
        centre_share: float | str | None = None,
        centred_radius: float | None = None,
        records: int | None = None,
        dataset: str | None = None,
        ledger: object = None,
        random_state: int | None = None,
    ):
        self.epsilon = epsilon
        self.delta = delta
        self.neighbours = neighbours
        self.classes = classes
        self.metric = metric
        self.rule = rule
        self.bounds = bounds
        self.radius = radius
        self.centre_share = centre_share
        self.centred_radius = centred_radius
        self.records = records
        self.dataset = dataset
        self.ledger = ledger
        self.random_state = random_state

    def _feature_bounds(self) -> object:
        if self.bounds is None and self.radius is not None:
            return (-self.radius, self.radius)
        return self.bounds

    def _inner(self, domain: Domain) -> LinearSketch:
        check_choice(self.metric, "The metric of centroids", ("euclidean", "cosine"))
        if self.metric == "euclidean":
            centred = self.centre_share is not None and self.centred_radius is not None
            return Moments(domain, self.centred_radius if centred else self.radius).for_mean()
        return Directions(domain, projection=self._projection(domain))

    def _projection(self, domain: Domain) -> FastProjection | None:
        """To as few dimensions as suit the budget; see `dimensions_for`."""
        left = 1.0 - float(self.centre_share or 0.0)
        records = (self.records or DEFAULT_RECORDS) / len(self.classes_)
        target = dimensions_for(domain.dimensions, records, self._budget(), left)
        if target == domain.dimensions:
            return None
        seed = self._hash_seed()
        return FastProjection(domain.dimensions, target, *(() if seed is None else (seed,)))

    def _release(
        self,
        sketch: LinearSketch,
        X: np.ndarray,
        labels: np.ndarray | None = None,
        centre: CentrePurchase | None = None,
    ) -> Release:
        if self.centre_share is not None:
            centre = CentrePurchase(self.centre_share, self.radius)
        return super()._release(sketch, X, labels, centre)
