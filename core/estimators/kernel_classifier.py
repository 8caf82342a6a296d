"""Which class a point is like by closeness: per-class private kernel sums behind `fit` and `predict`."""

from __future__ import annotations

from dataclasses import replace

from ..domain import Categorical, Domain
from ..forecast.scales import by_coordinates
from ..geometry.kernels import Kernel
from ..models.contest.prospects import class_kernel
from ..privacy.budget import Budget
from ..privacy.ledger.ledger import Ledger
from ..sketches.linear import LinearSketch
from .classifier import PrivateClassifier
from .kernel_names import grid_of, kernel_of, kernel_sketch
from .private import CLASS


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
    classes : object
        The public list of labels.
    rule : str | None
        "likelihood", the largest average closeness, which counts rare classes as much as frequent ones; "posterior",
        the largest closeness of all records of a class, which at a bandwidth that is not small says the largest class
        nearly everywhere; None for the likelihood.

    Attributes
    ----------
    release_ : Release
        The private `Release`: all that is kept of the data.
    classes_ : np.ndarray
        The public list of labels.
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> import numpy as np
    >>> random = np.random.default_rng(0)
    >>> X, y = np.vstack((random.normal(-2, 1, (500, 2)), random.normal(2, 1, (500, 2)))), np.repeat([0, 1], 500)
    >>> estimator = PrivateKernelClassifier(bandwidth=2.0, bounds=(-8, 8), classes=[0, 1], random_state=0)
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
        rule: str | None = None,
        kernel: str | Kernel = "gaussian",
        bandwidth: float | tuple[float, ...] | None = None,
        mechanism: str | None = None,
        bounds: object = None,
        rows: int | None = None,
        records: int | None = None,
        dataset: str | None = None,
        ledger: Ledger | str | None = None,
        random_state: int | None = None,
    ):
        super().__init__(epsilon, delta, neighbours, bounds, dataset, ledger)
        self.classes = classes
        self.rule = rule
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.mechanism = mechanism
        self.rows = rows
        self.records = records
        self.random_state = random_state

    def _feature_bounds(self) -> object:
        return self.bounds

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
