"""Which class a point is like, behind `fit` and `predict`: by private kernel sums of each class, or by private
means."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..domain import Categorical, Domain
from ..domain.domain import evenly_scaled
from ..geometry.kernels import Kernel
from ..geometry.projections.projection import FastProjection
from ..models.contest.prospects import class_kernel
from ..privacy.budget import Budget
from ..releases.bounds_and_centre import CentrePurchase
from ..releases.forecast.scales import by_coordinates
from ..runtime.checks import check_choice
from ..sketches.distances.directions import Directions, dimensions_for
from ..sketches.distances.moments import Moments
from ..sketches.linear import LinearSketch
from .classifier import PrivateClassifier
from .private import CLASS, grid_of, kernel_of, kernel_sketch


@dataclass(kw_only=True, repr=False, eq=False)
class PrivateKernelClassifier(PrivateClassifier):
    """Classes compared by private kernel sums: maximum likelihood or maximum a posteriori (CCS 2021, section 5).

    Parameters
    ----------
    epsilon, delta, neighbours, bounds : float, float, str, object
        See `PrivateKernelDensity`, as for those that follow.
    kernel, bandwidth, mechanism : str | Kernel, float | tuple[float, ...] | None, str | None
        Likewise. The bandwidth of the Gaussian kernel may be left out. With one to three features a grid is released as
        finely as its noise allows, and the bandwidth is the one that suits its noisy counts, which costs nothing. With
        more, 2 to 5% of epsilon buys how far records lie apart, an entry of its own in a ledger (not where it is one of
        several candidates), and it is a quarter, a half or all of that, whichever tells classes of made-up records
        apart best under the same noise (`core.models.contest`).
    rows, records, dataset, ledger, random_state : int | None, int | None, str | None, object, int | None
        Likewise.
    rule : str | None
        "likelihood", the largest average closeness, which counts rare classes as much as frequent ones; "posterior",
        the largest closeness of all records of a class, which at a bandwidth that is not small says the largest class
        nearly everywhere; None for the likelihood.

    Attributes
    ----------
    release_ : Release
        The private `Release`: all that is kept of the data.

    Examples
    --------
    >>> import numpy as np
    >>> random = np.random.default_rng(0)
    >>> X, y = np.vstack((random.normal(-2, 1, (500, 2)), random.normal(2, 1, (500, 2)))), np.repeat([0, 1], 500)
    >>> estimator = PrivateKernelClassifier(bandwidth=2.0, bounds=(-8, 8), classes=[0, 1], random_state=0)
    >>> estimator.fit(X, y).predict([[-2, -2], [2, 2]])
    array([0, 1])
    """

    kernel: str | Kernel = "gaussian"
    bandwidth: float | tuple[float, ...] | None = None
    mechanism: str | None = None
    rows: int | None = None
    records: int | None = None
    random_state: int | None = None

    @property
    def _settled(self) -> bool:
        return self.rows is not None

    @property
    def _open(self) -> bool:
        """Whether the bandwidth is left to the forecast, and after it to what is released."""
        return self.bandwidth is None and self.kernel == "gaussian" and self.mechanism is None and self.rows is None

    def _apart(self, domain: Domain) -> Domain | None:
        features = domain.without(CLASS)
        return features if self._open and by_coordinates(features) is None else None

    def _inner(self, domain: Domain, records: float, budget: Budget, spread: float | None) -> LinearSketch:
        grid = grid_of(domain, records, budget) if self._open else None
        if grid is not None:
            return grid
        if self._open:
            labelled = replace(domain, columns=(*domain.columns, Categorical(CLASS, tuple(map(str, self.classes_)))))
            kernel: Kernel = class_kernel(labelled, CLASS, budget, records * len(self.classes_), spread)
        else:
            kernel = kernel_of(self.kernel, self.bandwidth)
        return kernel_sketch(domain, kernel, self.mechanism, self.rows, records, budget, self._hash_seed())


DEFAULT_SHARE = "0.12"  # Of the budget, for the centre of directions.


@dataclass(kw_only=True, repr=False, eq=False)
class PrivateCentroidClassifier(PrivateClassifier):
    """Nearest mean, from one private release of sums of vectors (ICLR 2024, section 6.1).

    Parameters
    ----------
    epsilon, delta, neighbours, bounds : float, float, str, object
        See `PrivateKernelDensity`, as for those that follow.
    records, dataset, ledger, random_state : int | None, str | None, object, int | None
        Likewise.
    metric : str
        "euclidean", the mean at the least distance, in shares of the bounds where one feature's are ten times as far
        apart as another's and no radius is given; "cosine", the mean direction at the least angle, as embeddings are
        compared.
    radius : float | None
        A public bound of the features' lengths, such as 1 for embeddings; whoever is longer is shortened to it. With
        it, bounds may be left out.
    centre_share : float | str | None
        Part of the budget that buys the middle of everyone, around which vectors are short and need less noise; None
        buys none. "auto" buys it with 12% for "cosine", as embeddings all point much the same way, and for "euclidean"
        where a ``centred_radius`` is stated.
    centred_radius : float | None
        With a bought centre and "euclidean", a public distance from it beyond which records are moved closer; None is
        the radius.
    rule : str | None
        "discriminant" (which counts how frequent a class is, and how well its mean is known), "mean" or "distance"
        (which counts how scattered a class is) for "euclidean"; "direction", "likelihood" or "posterior" for "cosine";
        None for the first.

    Attributes
    ----------
    release_ : Release
        The private `Release`: all that is kept of the data.

    Examples
    --------
    >>> import numpy as np
    >>> random = np.random.default_rng(0)
    >>> X, y = np.vstack((random.normal(-2, 1, (500, 2)), random.normal(2, 1, (500, 2)))), np.repeat([0, 1], 500)
    >>> estimator = PrivateCentroidClassifier(radius=6.0, classes=[0, 1], random_state=0)
    >>> estimator.fit(X, y).predict([[-2, -2], [2, 2]])
    array([0, 1])
    """

    metric: str = "euclidean"
    radius: float | None = None
    centre_share: float | str | None = "auto"
    centred_radius: float | None = None
    records: int | None = None
    random_state: int | None = None

    def _domain(self, bounds: object, classes: tuple[str, ...] = ()) -> Domain:
        """Features much wider than others would drown them: shares of the bounds then, where no length was typed."""
        domain = super()._domain(bounds, classes)
        typed = self.radius is not None or self.centred_radius is not None or self.metric != "euclidean"
        return domain if typed else evenly_scaled(domain)

    @property
    def _settled(self) -> bool:
        return self.metric == "euclidean"

    def _centre(self) -> CentrePurchase | None:
        """The middle of everyone: bought for directions unless it is declined, and for distances where it pays."""
        share = self.centre_share
        if share == "auto":
            share = DEFAULT_SHARE if self.metric == "cosine" or self.centred_radius is not None else None
        return None if share is None else CentrePurchase(share, self.radius)

    def _inner(self, domain: Domain, records: float, budget: Budget, spread: float | None) -> LinearSketch:
        check_choice(self.metric, "The metric of centroids", ("euclidean", "cosine"))
        if self.metric == "euclidean":
            centred = self._centre() is not None and self.centred_radius is not None
            return Moments(domain, self.centred_radius if centred else self.radius).for_classes()
        return Directions(domain, projection=self._projection(domain, records, budget))

    def _projection(self, domain: Domain, records: float, budget: Budget) -> FastProjection | None:
        """To as few dimensions as suit the budget; see `dimensions_for`."""
        centre = self._centre()
        left = 1.0 if centre is None else 1.0 - float(centre.share)
        target = dimensions_for(domain.dimensions, records, budget, left)
        if target == domain.dimensions:
            return None
        seed = self._hash_seed()
        return FastProjection(domain.dimensions, target, *(() if seed is None else (seed,)))
