"""How dense it is at a point, and how far everyone is from it: private sums over all records behind `fit`."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import DensityMixin

from ..domain import Domain
from ..domain.domain import evenly_scaled
from ..geometry.kernels import Kernel
from ..privacy.budget import Budget
from ..releases.forecast.nearness import kernel_apart
from ..releases.forecast.reference_population import DEFAULT_SPREAD
from ..releases.forecast.scales import by_coordinates
from ..sketches.linear import LinearSketch
from ..sketches.registry import distance
from .private import PrivateEstimator, grid_of, kernel_of, kernel_sketch


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

        Raises
        ------
        RequestError
            When a public fact is missing or out of range; nothing was spent.
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

        Raises
        ------
        RequestError
            When a public fact is missing or out of range; nothing was spent.
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
