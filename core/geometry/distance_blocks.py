"""One coordinate or one categorical column of a distance sum: its part of the table, and what is read off it."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from ..privacy.budget import Neighbours
from .distance_profiles import (
    Profile,
    inner_products,
    mass_beside,
    mean_square_at_query,
    mean_square_error,
    pour_masses,
    solve_gram,
)
from .distance_strategy import Strategy, mean_variance

PLACES = 1 << 16  # Places that are told apart in a cell of a strategy's coarse grid.
# A record's L1 norm in the block of a categorical column, before its weight: about that of a numeric one.
CATEGORY_UNIT = 1 << 12
SHARES_TRIED = 64


class Reading(NamedTuple):
    """What a block says at n queries; arrays float64 (n,)."""

    estimates: np.ndarray  # Distance sums.
    variances: np.ndarray  # Of the estimates, for noise of variance 1 on every counter.
    # Mean square of what the grid misses, were all records beside the query at the query's own place.
    missed: np.ndarray
    # What the grid misses, root mean square, of as many records as there seem to be in a heap at the query.
    heaped: np.ndarray


class Block(ABC):
    """A part of the table of its own rows. Subclasses are frozen dataclasses with the fields below."""

    place: slice  # The columns of the encoded points that it reads.
    weight: int  # What everything that it adds is multiplied by.

    @property
    @abstractmethod
    def rows(self) -> int:
        """Counters in its part of the table."""

    @property
    @abstractmethod
    def unit(self) -> int:
        """What a record of mass 1 adds to a measurement of weight 1."""

    @property
    @abstractmethod
    def largest_entry(self) -> int:
        """The largest whole number that one record adds to a counter."""

    @abstractmethod
    def add(self, table: np.ndarray, points: np.ndarray) -> None:
        """Add encoded records, float64 (n, all coordinates) in Fortran order, to its counters, int64 (rows,)."""

    @property
    @abstractmethod
    def longest(self) -> float:
        """The longest distance that there is along it."""

    @abstractmethod
    def norms(self, neighbours: Neighbours) -> tuple[int, int]:
        """Largest L1 and squared L2 norm of what one record changes, before ``unit`` and ``weight``."""

    @abstractmethod
    def exact(self, queries: np.ndarray, records: np.ndarray) -> np.ndarray:
        """The exact distance sums, float64 (n,), pair by pair."""

    @abstractmethod
    def read(self, table: np.ndarray, queries: np.ndarray) -> Reading:
        """Distance sums at encoded queries, with their errors."""

    @property
    @abstractmethod
    def mean_variance(self) -> float:
        """The average of the variances over queries spread evenly over the bounds."""

    @property
    @abstractmethod
    def rounding(self) -> float:
        """Mean square of what one record's distance is missed by without noise, over even places of both."""

    @abstractmethod
    def total(self, table: np.ndarray) -> float:
        """The number of records."""

    @property
    @abstractmethod
    def total_variance(self) -> float:
        """Variance of `total` for noise of variance 1 on every counter."""

    @property
    def gain(self) -> float:
        """What the variance of a counter's noise is multiplied by, counting in records."""
        return 1.0 / (float(self.weight) * self.unit) ** 2


@dataclass(frozen=True)
class NumericBlock(Block):
    """A number between bounds, measured by a strategy."""

    place: slice
    # The bounds, in encoded units.
    low: float
    length: float
    # On the interval of length 1; encoded distances are ``factor`` times its values.
    profile: Profile
    factor: float
    strategy: Strategy
    weight: int

    @property
    def rows(self) -> int:
        return len(self.strategy.matrix)

    @property
    def unit(self) -> int:
        return PLACES >> len(self.strategy.hats)

    @property
    def largest_entry(self) -> int:
        return int(np.abs(self.strategy.matrix).max()) * self.unit * self.weight

    def add(self, table: np.ndarray, points: np.ndarray) -> None:
        masses = np.zeros(self.strategy.cells + 1, dtype=np.int64)
        pour_masses(points[:, self.place.start], self.low, self.length, self.strategy.cells, self.unit, masses)
        # Whole numbers: exact in any order, so what a record adds does not depend on the others.
        table += self.weight * (self.strategy.matrix @ masses)

    def norms(self, neighbours: Neighbours) -> tuple[int, int]:
        return self.strategy.norms(neighbours)

    def exact(self, queries: np.ndarray, records: np.ndarray) -> np.ndarray:
        differences = records[:, self.place.start] - queries[:, self.place.start, None]
        unit, factor = self.profile, self.factor
        return factor * unit.value(differences / self.length).sum(axis=1)

    def read(self, table: np.ndarray, queries: np.ndarray) -> Reading:
        return self.read_alike(table[None], queries[:, self.place])

    def read_alike(self, tables: np.ndarray, queries: np.ndarray) -> Reading:
        """The sum of what blocks say that differ from this one in their place alone.

        `tables`, `queries`: Of each block its part of the table, (k, rows), and the queries' coordinates, (n, k).
        """
        places = np.ascontiguousarray((queries.T - self.low) / self.length)
        products = inner_products(self.profile, self.strategy.cells, places.ravel())
        masses = tables @ self.strategy.estimator.T / (self.weight * self.unit)
        variances = np.einsum("ij,ij->i", products @ density_covariance(self.strategy), products)
        estimates = products.reshape(*places.shape, -1) @ solve_gram(masses.T).T[:, :, None]
        rounding = _rounding_at_query(self.profile, self.strategy.cells)
        beside, heaped = mass_beside(masses, places)
        return Reading(
            self.factor * estimates[:, :, 0].sum(axis=0),
            self.factor**2 * self.gain * variances.reshape(places.shape).sum(axis=0),
            self.factor**2 * (beside**2).sum(axis=0) * rounding,
            self.factor * heaped.sum(axis=0) * math.sqrt(rounding),
        )

    @property
    def longest(self) -> float:
        return self.factor * float(self.profile.value(np.array([-1.0, 1.0])).max())

    @cached_property
    def mean_variance(self) -> float:
        return self.factor**2 * self.gain * mean_variance(self.strategy, self.profile)

    @property
    def rounding(self) -> float:
        return self.factor**2 * _rounding(self.profile, self.strategy.cells)

    def total(self, table: np.ndarray) -> float:
        return float((self.strategy.estimator @ table).sum()) / (self.weight * self.unit)

    @property
    def total_variance(self) -> float:
        return self.gain * float(self.strategy.covariance.sum())


@lru_cache(maxsize=64)
def density_covariance(strategy: Strategy) -> np.ndarray:
    """Covariance of the estimated density's node values for noise of variance 1 on each measurement."""
    return solve_gram(solve_gram(strategy.covariance).T)


_rounding = lru_cache(maxsize=256)(mean_square_error)
_rounding_at_query = lru_cache(maxsize=256)(mean_square_at_query)


@dataclass(frozen=True)
class CategoryBlock(Block):
    """One of K categories: their counts b N_k and, from some eight on, the count of all, a N, with a + b = 1.

    Every record that is not in the query's category lies ``distance`` away, so the answer is that times the sum of
    K - 1 counts, whose noise grows with K unless the sum of all is measured too. Least squares combines both.
    """

    place: slice
    distance: float
    weight: int
    unit = PLACES
    rounding = 0.0

    @property
    def categories(self) -> int:
        """K."""
        return self.place.stop - self.place.start

    @property
    def rows(self) -> int:
        return self.categories + 1

    @cached_property
    def shares(self) -> tuple[int, int]:
        """a and b in whole numbers, of the least variance among even steps."""
        step = CATEGORY_UNIT // SHARES_TRIED
        tried = [(step * i, CATEGORY_UNIT - step * i) for i in range(SHARES_TRIED)]
        return min(tried, key=lambda shares: self._unit_variance(*shares))

    @property
    def largest_entry(self) -> int:
        return max(self.shares) * self.unit * self.weight

    def add(self, table: np.ndarray, points: np.ndarray) -> None:
        a, b = self.shares
        counts = np.bincount(self._categories_of(points), minlength=self.categories)
        table[0] += self.weight * self.unit * a * len(points)
        table[1:] += self.weight * self.unit * b * counts

    def norms(self, neighbours: Neighbours) -> tuple[int, int]:
        """A record adds a and one b; replaced, it takes one b away and adds another."""
        a, b = self.shares
        return (a + b, a * a + b * b) if neighbours is Neighbours.ADD_REMOVE else (2 * b, 2 * b * b)

    def exact(self, queries: np.ndarray, records: np.ndarray) -> np.ndarray:
        asked, kept = self._categories_of(queries), self._categories_of(records)
        return self.distance * (asked[:, None] != kept).sum(axis=1)

    def read(self, table: np.ndarray, queries: np.ndarray) -> Reading:
        counts = self._counts(table)
        estimates = self.distance * (counts.sum() - counts[self._categories_of(queries)])
        nothing = np.zeros(len(queries))
        return Reading(estimates, np.full(len(queries), self.mean_variance), nothing, nothing)

    @property
    def longest(self) -> float:
        return self.distance

    @property
    def mean_variance(self) -> float:
        return self.distance**2 * self.gain * self._unit_variance(*self.shares)

    def total(self, table: np.ndarray) -> float:
        return float(self._counts(table).sum())

    @property
    def total_variance(self) -> float:
        a, b = self.shares
        return self.gain * self.categories / (b * b + self.categories * a * a)

    def _categories_of(self, points: np.ndarray) -> np.ndarray:
        return points[:, self.place].argmax(axis=1)

    def _counts(self, table: np.ndarray) -> np.ndarray:
        """Least squares: (b^2 I + a^2 1 1^T)^-1 (b S + a S_0 1), by Sherman and Morrison."""
        a, b = self.shares
        right = b * table[1:].astype(float) + a * float(table[0])
        return (right - self._pull(a, b) * right.sum()) / (b * b) / (self.weight * self.unit)

    def _pull(self, a: int, b: int) -> float:
        return a * a / (b * b + self.categories * a * a)

    def _unit_variance(self, a: int, b: int) -> float:
        others = self.categories - 1
        return (others - self._pull(a, b) * others**2) / (b * b)
