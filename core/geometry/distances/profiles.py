"""Distances along one coordinate, as functions of the difference u = x - q of a record and a query.

Each profile knows its first and second antiderivative in u, both zero at u = 0, so that its mean over an interval, or
against a piecewise linear function, is exact.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Self

import numpy as np

from ...errors import RequestError

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

    Raises
    ------
    RequestError
        When p is not above 0 and at most 16.
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

    Raises
    ------
    RequestError
        When the cap is not a number above 0.
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

    Raises
    ------
    RequestError
        When it names none, or its number is out of range.
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
