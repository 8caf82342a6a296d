"""Estimators that fit one sketch: how dense it is at a point, how far everyone is from it, and which class it is like.

Classes are told by private kernel sums of each, or by private means.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import DensityMixin

from ..domain import Categorical, Domain
from ..domain.domain import evenly_scaled
from ..geometry.kernels import Kernel
from ..geometry.projection import FastProjection
from ..models.prospects import class_kernel
from ..privacy.budget import Budget
from ..releases.bounds_and_centre import CentrePurchase
from ..releases.forecast.kernel_choice import kernel_apart
from ..releases.forecast.reference_population import DEFAULT_SPREAD
from ..releases.forecast.scales import by_coordinates
from ..runtime.parameters import check_choice
from ..sketches.directions import Directions, dimensions_for
from ..sketches.linear import LinearSketch
from ..sketches.moments import Moments
from ..sketches.registry import distance
from .linear_classifiers import PrivateClassifier
from .private import CLASS, PrivateEstimator, grid_of, kernel_of, kernel_sketch


@dataclass(kw_only=True, repr=False, eq=False)
class PrivateKernelDensity(DensityMixin, PrivateEstimator):
    """Average closeness of everyone to a point, from a private sketch of kernel sums (CCS 2021; ICLR 2024).

    Parameters
    ----------
    epsilon : float
        Privacy loss of each call of `fit`, above 0.
    delta : float
        Probability that the promise fails; 0.0 for a pure one.
    neighbours : str
        "add_remove" hides whether someone is in the data, "replace_one" what their record says.
    kernel : str | Kernel
        A name ("euclidean", "gaussian", "laplacian", "angular", ...) or a kernel of `core.geometry.kernels`.
    bandwidth : float | tuple[float, ...] | None
        Distance at which closeness fades, in the features' units. That of the Gaussian kernel may be left out: with one
        to three features a grid is released as finely as its noise allows, and read with the bandwidth that suits its
        noisy counts, which costs nothing; with more, 2 to 5% of epsilon buys how far records lie apart, an entry of its
        own in a ledger, and it is half of that (of records so few that it would say nothing, of what lies between
        records spread over a sixth of the bounds). Other kernels given by name, but for "angular", need it.
    bounds : object
        Public bounds, one pair (low, high) for all features or a pair a feature. Values outside are moved to them.
    mechanism : str | None
        "race", "features" or "histogram"; None takes what promises most by forecast.
    rows : int | None
        Size of a sketch of rows; None has the forecast choose it.
    records : int | None
        A public guess of the number of records, for that choice.
    dataset, ledger : str | None, object
        The data set's name in a ledger, which then records the price of every `fit` and refuses when the budget is
        spent. Without a name adding up is left to the caller.
    random_state : int | None
        Public seed of the hash functions, for one that is to be the same again; None draws one. It never chooses noise,
        which is drawn anew by every `fit`: two releases of the same data differ.

    Attributes
    ----------
    release_ : Release
        The private `Release`: all that is kept of the data.

    Examples
    --------
    >>> import numpy as np
    >>> estimator = PrivateKernelDensity(epsilon=1, bandwidth=1.0, bounds=(-5, 5), random_state=0)
    >>> scores = estimator.fit(np.random.default_rng(0).normal(size=(1000, 2))).score_samples([[0, 0], [4, 4]])
    >>> bool(scores[0] > scores[1])
    True
    """

    kernel: str | Kernel = "gaussian"
    bandwidth: float | tuple[float, ...] | None = None
    mechanism: str | None = None
    rows: int | None = None
    records: int | None = None
    random_state: int | None = None

    def fit(self, X: object, y: object = None) -> PrivateKernelDensity:
        """Spend the budget and make the release.

        RequestError when a public fact is missing or out of range; nothing was spent.
        """
        X, _ = self._read(X)
        domain, seed = self._domain(self.bounds), self._hash_seed()
        left_open = self.bandwidth is None and self.kernel == "gaussian" and self.mechanism is None and not self.rows
        kernel = None if left_open else kernel_of(self.kernel, self.bandwidth)

        def make(records: float, budget: Budget, spread: float | None) -> LinearSketch:
            grid = grid_of(domain, records, budget) if kernel is None else None
            if grid is not None:
                return grid
            chosen = kernel_apart(domain, spread or DEFAULT_SPREAD) if kernel is None else kernel
            return kernel_sketch(domain, chosen, self.mechanism, self.rows, records, budget, seed)

        many = left_open and by_coordinates(domain) is None
        made = self._release(domain, X, None, make, settled=self.rows is not None, apart=domain if many else None)
        self.release_ = made.smoothed() if made.sketch.open_bandwidth else made
        return self

    def score_samples(self, X: object) -> np.ndarray:
        """Logarithm of the average closeness at each point, float64 (n,).

        Where the noise leaves no closeness above zero, that of the least one could see: half a record's worth.
        """
        queries = self._queries(X)
        densities = self.release_.density(queries)
        return np.log(np.maximum(densities, 0.5 / self.release_.records))

    def score(self, X: object, y: object = None) -> float:
        """Sum of `score_samples` over the points."""
        return float(self.score_samples(X).sum())

    def kernel_sum(self, X: object, level: float = 0.95) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Kernel sums at each point with intervals: estimates, lower and upper ends, float64 (n,) each."""
        queries = self._queries(X)
        answers = self.release_.answer(queries, level)
        return answers.estimate, answers.low, answers.high


@dataclass(kw_only=True, repr=False, eq=False)
class PrivateDistanceSum(PrivateEstimator):
    """Sums of distances from everyone to a point, from one private release (ICLR 2024, sections 4 and 6).

    Parameters
    ----------
    epsilon, delta, neighbours, bounds : float, float, str, object
        See `PrivateKernelDensity`, as for those that follow.
    records, dataset, ledger, random_state : int | None, str | None, object, int | None
        Likewise.
    norm : str
        "l1", the differences of all features added up; "l2", the straight line; "squared", its square; "lp:P", the P-th
        powers of the differences added up; "capped:C", differences that count C at most; "above" and "below",
        differences in one direction only.
    scale : str | None
        "none" keeps the features' own units; "box" compares each as a share of its bounds, and distances are in such
        shares; None is "box" where one feature's bounds are ten times as far apart as another's and no radius or cap
        is given, as noise that suits the one would drown the other.
    radius : float | None
        Of "l2" and "squared": a public distance from the middle of the bounds; whoever is farther is moved to it. None
        moves nobody.

    Attributes
    ----------
    release_ : Release
        The private `Release`: all that is kept of the data.

    Examples
    --------
    >>> import numpy as np
    >>> people = np.random.default_rng(0).normal(size=(2000, 1))
    >>> estimator = PrivateDistanceSum(epsilon=1, bounds=(-5, 5), random_state=0).fit(people)
    >>> near, far = estimator.mean_distance([[0.0], [3.0]])
    >>> bool(0.7 < near < 0.9 and 2.9 < far < 3.1)
    True
    """

    norm: str = "l1"
    scale: str | None = None
    radius: float | None = None
    records: int | None = None
    random_state: int | None = None

    def fit(self, X: object, y: object = None) -> PrivateDistanceSum:
        """Spend the budget and make the release.

        RequestError when a public fact is missing or out of range; nothing was spent.
        """
        X, _ = self._read(X)
        domain = self._scaled(self._domain(self.bounds))
        sketch = distance(domain, self.norm, radius=self.radius, seed=self._hash_seed())
        self.release_ = self._release(domain, X, None, lambda *known: sketch, settled=sketch.sized)
        return self

    def _scaled(self, domain: Domain) -> Domain:
        """With the scale that was asked for, or the one that suits."""
        if self.scale is not None:
            return replace(domain, scale=self.scale)
        return domain if self.radius is not None or self.norm.startswith("capped") else evenly_scaled(domain)

    def distance_sum(self, X: object, level: float = 0.95) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sums of distances at each point with intervals: estimates, lower and upper ends, float64 (n,) each."""
        queries = self._queries(X)
        answers = self.release_.answer(queries, level)
        return answers.estimate, answers.low, answers.high

    def mean_distance(self, X: object) -> np.ndarray:
        """Average distance of everyone to each point, float64 (n,)."""
        queries = self._queries(X)
        return self.release_.density(queries)

    def score_samples(self, X: object) -> np.ndarray:
        """The average distance with a minus, so that more is more central, float64 (n,)."""
        return -self.mean_distance(X)


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
        apart best under the same noise (`core.models.classifier_choice`).
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
