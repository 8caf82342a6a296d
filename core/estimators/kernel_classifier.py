"""Which class a point is like by closeness: per-class private kernel sums behind `fit` and `predict`."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np

from ..domain import Categorical, Domain
from ..forecast.scales import by_coordinates, chosen_scales
from ..geometry.kernels import Kernel
from ..models.contest.entrants import KernelSums, kernels_of
from ..models.contest.prospects import likeliest
from ..privacy.budget import Budget
from ..privacy.ledger.ledger import Ledger
from ..sketches.grids.histogram import Histogram
from ..sketches.linear import LinearSketch
from .classifier import PrivateClassifier
from .kernel_names import kernel_of, kernel_sketch
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
        more it is a quarter, a half or all of how far records are typically apart, whichever tells classes of made-up
        records apart best under the same noise (`core.models.contest`).
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

    def _inner(self, domain: Domain, records: float, budget: Budget) -> LinearSketch:
        columns = by_coordinates(domain) if self._open else None
        if columns is not None:
            scales = chosen_scales(columns, budget, records)
            return Histogram(domain, scales.kernel, finest=scales.finest)
        bandwidth = self._bandwidth(domain, records, budget) if self._open else self.bandwidth
        kernel = kernel_of(self.kernel, bandwidth)
        return kernel_sketch(domain, kernel, self.mechanism, self.rows, records, budget, self._hash_seed())

    def _bandwidth(self, domain: Domain, records: float, budget: Budget) -> tuple[float, ...]:
        """That of every column which tells made-up classes apart best, in shares of its bounds."""
        labelled = replace(domain, columns=(*domain.columns, Categorical(CLASS, tuple(map(str, self.classes_)))))
        share = cast(KernelSums, likeliest(kernels_of(labelled, CLASS), budget, records * len(self.classes_))).bandwidth
        spans = np.subtract(*domain.bounds("l2")[::-1])
        ends = np.cumsum([column.width for column in domain.columns])[:-1]
        return tuple(float(share * each.max()) for each in np.split(spans, ends))
