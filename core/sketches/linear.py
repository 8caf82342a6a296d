"""What every mechanism is: a public integer map of one record, summed over all records.

    records --encode--> integers --sum--> table --noise--> release --decode--> answers, for ever

A linear sketch never sees more than a batch of encoded points, never draws noise, and never knows the budget. What it
must prove is its sensitivity; streaming, threads, noise, ledger, files and intervals are written once, elsewhere.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from scipy.stats import t as student

from ..domain import Domain
from ..errors import RequestError
from ..privacy.neighbours import Neighbours, Sensitivity


@dataclass(frozen=True)
class Answers:
    """What a release says at n queries; arrays float64 (n,).

    Attributes
    ----------
    estimate : the kernel sum: how many records' worth of closeness there is at the query. Unbiased, so it may fall
        below zero where there is little.
    low, high : an interval that holds the exact kernel sum with the stated probability.
    density : estimate divided by the number of records: the average closeness, between 0 and 1 but for the noise.
    standard_error : standard deviation of the estimate, from sampling and noise together.
    degrees : degrees of freedom that the standard error has: one fewer than there are independent estimates.
    """

    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    density: np.ndarray
    standard_error: np.ndarray
    degrees: int

    @classmethod
    def of_groups(cls, estimates: np.ndarray, weights: np.ndarray, records: float, level: float) -> Self:
        """Answers from independent, equally distributed estimates.

        Each group of rows is unbiased and independent of the others, so the spread of their estimates measures
        sampling error and noise together, whatever the data: mean +- t * s / sqrt(G), Student's t with G - 1 degrees
        of freedom.

        Parameters
        ----------
        estimates : float64 (G, n), one estimate a group.
        weights : float64 (G,), the groups' shares of the rows, which add up to 1.
        records : the number of records, for densities.
        level : probability with which the interval holds the exact kernel sum.

        Raises
        ------
        RequestError
            When the level is not strictly between 0 and 1.
        """
        if not 0.0 < level < 1.0:
            raise RequestError("The level of an interval must lie strictly between 0 and 1, such as 0.95.")
        degrees = len(weights) - 1
        mean = weights @ estimates
        if degrees:
            error = np.sqrt(weights @ (estimates - mean) ** 2 / degrees)
            reach = student.ppf(0.5 + level / 2.0, degrees) * error
        else:
            error = reach = np.full(len(mean), math.inf)
        return cls(mean, mean - reach, mean + reach, mean / max(records, 1.0), error, degrees)


class LinearSketch(ABC):
    """A public, data-independent map from a record to a table of integers. Subclasses are frozen dataclasses."""

    name: ClassVar[str]
    domain: Domain

    @property
    @abstractmethod
    def metric(self) -> str:
        """The metric, "l1" or "l2", in which the domain encodes categories for this sketch."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """Shape of the table."""

    @property
    @abstractmethod
    def setup_bytes(self) -> int:
        """Memory that the public objects take, the table apart: an upper bound from the parameters alone.

        Known before anything is drawn, so that a stranger's file can be refused first.
        """

    @abstractmethod
    def add(self, table: np.ndarray, points: np.ndarray) -> None:
        """Add encoded records, float64 (n, d) in Fortran order and inside the bounds, to an int64 table in place."""

    @abstractmethod
    def record_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """How far one record moves the table, with its proof in the docstring."""

    @abstractmethod
    def group_estimates(self, table: np.ndarray, records: float, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Independent, equally distributed estimates of the kernel sum at encoded queries (n, d).

        Returns
        -------
        tuple of arrays
            float64 (G, n), one estimate a group, and the groups' weights (G,), which add up to 1.
        """

    @abstractmethod
    def total(self, table: np.ndarray) -> float:
        """The number of records, read off a noisy table without bias."""

    @abstractmethod
    def total_variance(self, counter_variance: float) -> float:
        """Variance of `total` when every counter's noise has the given variance."""

    @abstractmethod
    def noise_variance(self, counter_variance: float) -> float:
        """Variance of an estimate that comes from noise alone, when every counter's noise has the given variance."""

    @abstractmethod
    def parameters(self) -> dict:
        """All public parameters but the domain, for JSON; with the domain they rebuild the sketch."""

    @classmethod
    @abstractmethod
    def from_parameters(cls, domain: Domain, parameters: dict) -> Self:
        """The sketch that `parameters` describes; RequestError on anything else."""

    def zeros(self) -> np.ndarray:
        """An empty table, int64.

        A counter never exceeds the number of records times the largest integer a record adds, which is 1 in every
        one-hot sketch; no stream of records reaches 2**63.
        """
        return np.zeros(self.shape, dtype=np.int64)

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """How far one person moves the table: m records a person, in the same cells at worst."""
        return self.record_sensitivity(neighbours).scaled(self.domain.unit.records)

    def answer(self, table: np.ndarray, records: float, points: np.ndarray, level: float) -> Answers:
        """Estimates with intervals at encoded queries (n, d); RequestError when the level is not between 0 and 1."""
        estimates, weights = self.group_estimates(table, records, points)
        return Answers.of_groups(estimates, weights, records, level)
