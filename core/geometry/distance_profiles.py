"""Distances along one coordinate, as functions of the difference u = x - q of a record and a query.

Each profile knows its first and second antiderivative in u, both zero at u = 0, so that its mean over an interval, or
against a piecewise linear function, is exact.

Linear splines on an even grid over [0, 1]: how records become masses at its nodes, and how masses answer.

A record between two nodes is shared between them so that its place is kept: the node masses of all records are the
sums of hat functions over them, which every piecewise linear function of the records can be read off without error. A
profile has a kink at the query, inside a cell. It is replaced by the linear spline closest to it in the mean square
over [0, 1] (not by the one through its values at the nodes, which would always lie above a convex profile): its error
averages to zero over every hat, so records that lie evenly across a few cells are summed without bias.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import solveh_banded

from ..errors import RequestError
from ..runtime.compiled_code import njit

LARGEST_POWER = 16.0


class Profile(ABC):
    """How far a record is from a query along one coordinate. Subclasses are frozen dataclasses."""

    @property
    @abstractmethod
    def notation(self) -> str:
        """The text that `profile_named` reads."""

    @abstractmethod
    def value(self, u: np.ndarray) -> np.ndarray:
        """The profile at the differences u, float64 of the same shape."""

    @abstractmethod
    def first(self, u: np.ndarray) -> np.ndarray:
        """The integral of the profile from 0 to u."""

    @abstractmethod
    def second(self, u: np.ndarray) -> np.ndarray:
        """The integral of `first` from 0 to u."""

    @abstractmethod
    def stretched(self, length: float) -> tuple[Self, float]:
        """A profile g and a factor with value(length * u) = factor * g.value(u), for an interval of length 1."""

    @abstractmethod
    def between_categories(self, distance: float) -> float:
        """What two records in different categories, ``distance`` apart, count; RequestError where that has no sense."""


@dataclass(frozen=True)
class Power(Profile):
    """|x - q|^p, p > 0: the L1 distance for p = 1, and p-th powers of Lp distances (Corollaries 6.3 and 6.4).

    RequestError when p is not above 0 and at most 16.
    """

    p: float = 1.0

    def __post_init__(self) -> None:
        if not 0.0 < self.p <= LARGEST_POWER:
            raise RequestError(f"The power p of a distance must be above 0 and at most {LARGEST_POWER:g}.")

    @property
    def notation(self) -> str:
        return "l1" if self.p == 1.0 else f"lp:{self.p!r}"

    def value(self, u: np.ndarray) -> np.ndarray:
        return np.abs(u) if self.p == 1.0 else np.abs(u) ** self.p

    def first(self, u: np.ndarray) -> np.ndarray:
        return u * self.value(u) / (self.p + 1.0)

    def second(self, u: np.ndarray) -> np.ndarray:
        return u * self.first(u) / (self.p + 2.0)

    def stretched(self, length: float) -> tuple[Power, float]:
        return self, length**self.p

    def between_categories(self, distance: float) -> float:
        return distance**self.p


@dataclass(frozen=True)
class Capped(Profile):
    """min(|x - q|, cap): nobody counts more than the cap, however far away.

    RequestError when the cap is not a number above 0.
    """

    cap: float

    def __post_init__(self) -> None:
        if not 0.0 < self.cap < math.inf:
            raise RequestError("The cap of a distance must be a number above 0, in the columns' own units.")

    @property
    def notation(self) -> str:
        return f"capped:{self.cap!r}"

    def value(self, u: np.ndarray) -> np.ndarray:
        return np.minimum(np.abs(u), self.cap)

    def first(self, u: np.ndarray) -> np.ndarray:
        near, beyond = self._split(u)
        return np.sign(u) * (near**2 / 2.0 + self.cap * beyond)

    def second(self, u: np.ndarray) -> np.ndarray:
        near, beyond = self._split(u)
        return near**3 / 6.0 + self.cap * beyond * (self.cap + beyond) / 2.0

    def stretched(self, length: float) -> tuple[Capped, float]:
        return Capped(self.cap / length), length

    def between_categories(self, distance: float) -> float:
        return min(distance, self.cap)

    def _split(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        near = self.value(u)
        return near, np.abs(u) - near


@dataclass(frozen=True)
class OneSided(Profile):
    """How far records lie above the query, max(0, x - q), or below it, max(0, q - x); the other side counts nothing."""

    above: bool

    @property
    def notation(self) -> str:
        return "above" if self.above else "below"

    def value(self, u: np.ndarray) -> np.ndarray:
        return np.maximum(u if self.above else -u, 0.0)

    def first(self, u: np.ndarray) -> np.ndarray:
        return u * self.value(u) / 2.0

    def second(self, u: np.ndarray) -> np.ndarray:
        return u * self.first(u) / 3.0

    def stretched(self, length: float) -> tuple[OneSided, float]:
        return self, length

    def between_categories(self, distance: float) -> float:
        raise RequestError(
            "Categories have no order, so nothing lies above or below one: a one-sided distance needs numbers."
        )


def profile_named(norm: object) -> Profile:
    """The profile that a text names: "l1", "lp:P", "capped:C" (C in the columns' own units), "above" or "below".

    RequestError when it names none, or its number is out of range.
    """
    choices = "'l1', 'lp:P' (such as 'lp:1.5'), 'capped:C' (such as 'capped:10'), 'above' or 'below'"
    refusal = RequestError(f"The norm of a distance sum must be {choices}.")
    if not isinstance(norm, str) or len(norm) > 50:
        raise refusal
    kind, colon, number = norm.partition(":")
    if not colon and norm in ("l1", "above", "below"):
        return Power(1.0) if norm == "l1" else OneSided(norm == "above")
    if kind not in ("lp", "capped"):
        raise refusal
    try:
        value = float(number)
    except ValueError:
        raise refusal from None
    return Power(value) if kind == "lp" else Capped(value)


# Queries beyond the interval by more than its length: differences of antiderivatives would lose their digits there.
FAR = 1.0
QUERIES_PER_CELL = 8  # In averages over queries: several, as what is missed depends on where in its cell a query is.
GAUSS_POINTS, GAUSS_WEIGHTS = np.polynomial.legendre.leggauss(6)


@njit(nogil=True, cache=True)
def pour_masses(values, low, length, cells, steps, masses):
    """Add each record's share of ``steps`` units to the two nodes beside it, in whole numbers.

    `values`: float64 (n,), inside [low, low + length]. `cells`, `steps`: Of the grid, and places that are told apart in
    a cell, a power of two. `masses`: int64 (cells + 1,), changed in place; a record adds ``steps`` to it altogether.
    """
    last = cells * steps
    for value in values:
        # To the nearest place. Clamped, so that memory is safe whatever comes.
        place = np.int64(min(max((value - low) / length * last + 0.5, 0.0), np.float64(last)))
        node, right = place // steps, place % steps
        masses[node] += steps - right
        if right:
            masses[node + 1] += right


def inner_products(profile: Profile, cells: int, queries: np.ndarray) -> np.ndarray:
    """Integrals over [0, 1] of profile(x - q) times each hat, float64 (n, cells + 1), for queries (n,)."""
    far = (queries < -FAR) | (queries > 1.0 + FAR)
    if not far.any():
        return _by_antiderivatives(profile, cells, queries)
    products = np.empty((len(queries), cells + 1))
    products[~far] = _by_antiderivatives(profile, cells, queries[~far])
    products[far] = _by_quadrature(profile, cells, queries[far])
    return products


def _by_antiderivatives(profile: Profile, cells: int, queries: np.ndarray) -> np.ndarray:
    """By parts: over a cell, the integral of f times a hat that rises from 0 to 1 is F(right) - (mean of F there)."""
    u = np.arange(cells + 1) / cells - queries[:, None]
    first, mean = profile.first(u), np.diff(profile.second(u), axis=1) * cells
    products = np.zeros_like(u)
    products[:, 1:] += first[:, 1:] - mean
    products[:, :-1] += mean - first[:, :-1]
    return products


def _by_quadrature(profile: Profile, cells: int, queries: np.ndarray) -> np.ndarray:
    products = np.zeros((len(queries), cells + 1))
    left = np.arange(cells) / cells - queries[:, None]
    for point, weight in zip((GAUSS_POINTS + 1.0) / 2.0, GAUSS_WEIGHTS / 2.0 / cells, strict=True):
        values = weight * profile.value(left + point / cells)
        products[:, 1:] += point * values
        products[:, :-1] += (1.0 - point) * values
    return products


def solve_gram(values: np.ndarray) -> np.ndarray:
    """Solve G y = values along the first axis, G the integrals over [0, 1] of products of two hats.

    Of node masses it makes the node values of the piecewise linear density that has these integrals against the hats;
    of inner products of a profile, the node values of the linear spline closest to it.
    """
    cells = len(values) - 1
    bands = np.full((2, cells + 1), 1.0 / (6.0 * cells))
    bands[1] = 2.0 / (3.0 * cells)
    bands[1, [0, -1]] = 1.0 / (3.0 * cells)
    return solveh_banded(bands, values)


def coefficients(profile: Profile, cells: int, queries: np.ndarray) -> np.ndarray:
    """Node values of the linear spline closest to profile(x - q) on [0, 1], float64 (n, cells + 1)."""
    return solve_gram(inner_products(profile, cells, queries).T).T


def gram_of_queries(profile: Profile, cells: int) -> np.ndarray:
    """The average over queries in [0, 1] of c(q) c(q)^T, c the coefficients, float64 (cells + 1, cells + 1)."""
    queries = (np.arange(QUERIES_PER_CELL * cells) + 0.5) / (QUERIES_PER_CELL * cells)
    spline = coefficients(profile, cells, queries)
    return spline.T @ spline / len(queries)


def mean_square_at_query(profile: Profile, cells: int) -> float:
    """Mean square, over queries spread evenly over [0, 1], of what the spline misses of a record at the query itself.

    There it misses most, at the profile's kink: records of whole years, asked at whole years, are all missed that way.
    """
    tried = QUERIES_PER_CELL * cells
    queries = (np.arange(tried) + 0.5) / tried
    spline = coefficients(profile, cells, queries)
    own = np.arange(tried) // QUERIES_PER_CELL
    part = queries * cells - own
    rows = np.arange(tried)
    at_query = (1.0 - part) * spline[rows, own] + part * spline[rows, own + 1]
    return float(np.mean((at_query - profile.value(np.zeros(1))) ** 2))


def mass_beside(masses: np.ndarray, queries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What lies beside each query, float64 (..., n), of masses (..., cells + 1) and queries (..., n).

    That is the masses of the two nodes beside it, none beside one outside [0, 1]; and how much of them is beyond what
    lies one node further out: records in a heap at the query are in it, and spread ones hardly, as there are as many of
    them further out.
    """
    cells = masses.shape[-1] - 1
    inside = (queries >= 0.0) & (queries <= 1.0)
    node = np.where(inside, queries * cells, 0.0).astype(np.int64).clip(0, cells - 1)
    padded = np.pad(masses, [(0, 0)] * (masses.ndim - 1) + [(1, 1)])
    out, left, right, beyond = (np.take_along_axis(padded, node + step, -1) for step in range(4))
    return np.where(inside, left + right, 0.0), np.where(inside, left + right - (out + beyond), 0.0)


def mean_square_error(profile: Profile, cells: int) -> float:
    """Mean square, over records and queries spread evenly over [0, 1], of what the spline misses of the profile.

    One record's share; when all records lie at one place the errors add up, and N^2 times this is their mean square.
    """
    tried = QUERIES_PER_CELL * min(cells, 32)
    queries = (np.arange(tried) + 0.5) / tried
    spline = coefficients(profile, cells, queries)
    total = 0.0
    for part in (np.arange(8) + 0.5) / 8.0:
        u = (np.arange(cells) + part) / cells - queries[:, None]
        total += np.mean(((1.0 - part) * spline[:, :-1] + part * spline[:, 1:] - profile.value(u)) ** 2)
    return float(total / 8.0)
