"""How far everyone is from a point: private distance sums behind `fit` and `mean_distance`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..domain import Domain
from ..domain.widths import evenly_scaled
from ..privacy.ledger.ledger import Ledger
from ..sketches.making import distance
from .private import PrivateEstimator


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
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> import numpy as np
    >>> people = np.random.default_rng(0).normal(size=(2000, 1))
    >>> estimator = PrivateDistanceSum(epsilon=1, bounds=(-5, 5), random_state=0).fit(people)
    >>> near, far = estimator.mean_distance([[0.0], [3.0]])
    >>> bool(0.7 < near < 0.9 and 2.9 < far < 3.1)
    True
    """

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        delta: float = 0.0,
        neighbours: str = "add_remove",
        norm: str = "l1",
        scale: str | None = None,
        bounds: object = None,
        radius: float | None = None,
        records: int | None = None,
        dataset: str | None = None,
        ledger: Ledger | str | None = None,
        random_state: int | None = None,
    ):
        super().__init__(epsilon, delta, neighbours, bounds, dataset, ledger)
        self.norm = norm
        self.scale = scale
        self.radius = radius
        self.records = records
        self.random_state = random_state

    def fit(self, X: object, y: object = None) -> PrivateDistanceSum:
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
