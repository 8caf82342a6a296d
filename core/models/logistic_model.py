"""A private logistic regression as it is released: coefficients on a grid, and the promise that they keep."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Context
from fractions import Fraction
from functools import cached_property

import numpy as np
from scipy.special import expit, softmax

from ..domain import Categorical, Domain
from ..errors import RequestError
from ..privacy.budget import Budget, decimal_text
from ..privacy.calibration import parse_fraction
from ..runtime.parameters import check_choice, check_number, exact_fields
from .certified_logistic import GRID_BITS, UNIT_BITS

FORMAT, FORMAT_VERSION = "frostglass-logistic-regression", 1
# Longest features and the constant beside them, in units: squares that add up to no more than a whole.
FEATURE_SHARE, CONSTANT_SHARE = 4 * (1 << UNIT_BITS) // 5, 3 * (1 << UNIT_BITS) // 5
THEOREM = (
    "The coefficients are those of a logistic loss with a random linear term, of density proportional to "
    "exp(-rate times length), rounded to a grid (Chaudhuri, Monteleoni, Sarwate 2011, Theorem 9)."
)
LARGEST_COEFFICIENT = 1 << 62
LENGTHS = (1 << UNIT_BITS) ** 2  # The largest squared length, in units.
CURVATURE_OF_LOSS = Fraction(1, 4)  # c: the largest second derivative of log(1 + e^-z).
DECIMALS = Context(prec=60)


@dataclass(frozen=True)
class Perturbation:
    """How every problem is perturbed."""

    rate: Fraction  # r; the noise vector's density is proportional to exp(-r|b|).
    curvature: Fraction  # k, of the term k|f|²/2.


@dataclass(frozen=True)
class LogisticModel:
    """Coefficients that anyone may use for ever, under one promise."""

    domain: Domain  # The public facts about the records, the class among them.
    label: str  # The column of classes.
    radius: float  # Of the features.
    # Coefficients in grid units, features first and the constant last; one row for two classes, which speaks for the
    # second, otherwise one a class.
    rows: tuple[tuple[int, ...], ...]
    budget: Budget  # The promise.
    # How it is kept.
    perturbation: Perturbation
    constants: str
    private: bool  # False for what was made with seeded noise.

    @cached_property
    def features(self) -> Domain:
        """The columns that a query has."""
        return self.domain.without(self.label)

    @property
    def categories(self) -> tuple[str, ...]:
        """The classes, in the public order."""
        return self.domain.categories_of(self.label)

    @cached_property
    def coefficients(self) -> np.ndarray:
        """Of encoded features in their own units, float64 (rows, d)."""
        scale = FEATURE_SHARE / (1 << UNIT_BITS) / self.radius
        return np.array([row[:-1] for row in self.rows], np.float64) * (2.0**-GRID_BITS * scale)

    @cached_property
    def intercepts(self) -> np.ndarray:
        """Float64 (rows,)."""
        low, high = self.features.bounds()
        constant = np.array([row[-1] for row in self.rows], np.float64) * 2.0**-GRID_BITS
        return constant * (CONSTANT_SHARE / (1 << UNIT_BITS)) - self.coefficients @ ((low + high) / 2.0)

    def decision(self, queries: object) -> np.ndarray:
        """Log odds at n queries in natural units, float64 (n, rows)."""
        return self.features.encode_queries(queries) @ self.coefficients.T + self.intercepts

    def probabilities(self, queries: object) -> np.ndarray:
        """Of the classes, float64 (n, K); for more than two, each class's odds against the others, made to sum to 1."""
        scores = self.decision(queries)
        if scores.shape[1] == 1:
            return np.column_stack([expit(-scores[:, 0]), expit(scores[:, 0])])
        return softmax(np.log(np.maximum(expit(scores), np.finfo(float).tiny)), axis=1)

    def codes(self, queries: object) -> np.ndarray:
        """The place of the likeliest class in the list, int64 (n,)."""
        scores = self.decision(queries)
        return (scores[:, 0] > 0).astype(np.int64) if scores.shape[1] == 1 else scores.argmax(axis=1)

    def to_dict(self) -> dict:
        """Everything, for JSON: exact numbers as text or whole numbers."""
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "domain": self.domain.to_dict(),
            "label": self.label,
            "radius": self.radius,
            "grid": f"1/{1 << GRID_BITS}",
            "rows": [list(row) for row in self.rows],
            "privacy": {
                "epsilon": decimal_text(self.budget.epsilon),
                "delta": decimal_text(self.budget.delta),
                "neighbours": str(self.budget.neighbours),
                "rate": str(self.perturbation.rate),
                "curvature": str(self.perturbation.curvature),
                "constants": self.constants,
                "theorem": THEOREM,
            },
            "private": self.private,
        }

    @classmethod
    def from_dict(cls, value: object) -> LogisticModel:
        """The model that `to_dict` wrote; RequestError on anything else, as the file may come from a stranger."""
        names = ("format", "format_version", "domain", "label", "radius", "grid", "rows", "privacy", "private")
        facts = exact_fields(value, "logistic regression", names)
        promised = ("epsilon", "delta", "neighbours", "rate", "curvature", "constants", "theorem")
        promise = exact_fields(facts["privacy"], "promise of a logistic regression", promised)
        if (facts["format"], facts["format_version"], facts["grid"]) != (FORMAT, FORMAT_VERSION, f"1/{1 << GRID_BITS}"):
            raise RequestError("This is no logistic regression of a version that can be read here.")
        domain = Domain.from_dict(facts["domain"])
        label, rows = facts["label"], facts["rows"]
        column = next((column for column in domain.columns if column.name == label), None)
        if not isinstance(column, Categorical) or len(domain.columns) < 2 or not isinstance(facts["private"], bool):
            raise RequestError("A logistic regression must name its class column and say whether it is private.")
        try:
            exact = Perturbation(parse_fraction(promise["rate"]), parse_fraction(promise["curvature"]))
        except ValueError:
            raise RequestError("The promise of a logistic regression must be written in exact numbers.") from None
        budget = Budget(promise["epsilon"], promise["delta"], promise["neighbours"])
        check_choice(promise["constants"], "The constants", ("sharp", "published"))
        radius = check_number(facts["radius"], "The radius of the features")
        model = cls(domain, label, radius, _checked_rows(rows), budget, exact, promise["constants"], facts["private"])
        model._check()
        return model

    def _check(self) -> None:
        """RequestError where the parts do not fit each other."""
        width = self.features.dimensions + 1
        problems = 1 if len(self.categories) == 2 else len(self.categories)
        if len(self.rows) != problems or any(len(row) != width for row in self.rows):
            raise RequestError("A logistic regression must have a coefficient for every coordinate of its columns.")
        if not (1e-100 < self.radius < 1e100 and self.budget.pure and self.is_kept()):
            raise RequestError("The promise of this logistic regression is not one that its noise keeps.")

    def is_kept(self) -> bool:
        """Whether noise of the stated rate keeps the stated promise; whether it was drawn so, no record can show."""
        epsilon, records = Fraction(self.budget.epsilon) / len(self.rows), self.domain.unit.records
        rate, curvature = self.perturbation.rate, self.perturbation.curvature
        if rate <= 0 or curvature <= 0:
            return False
        moves = records * (1 if self.budget.neighbours == "add_remove" else 2)
        # Published constants are never below the sharp ones' noise unless the curvature makes up for it.
        lost = 0.0 if rate * curvature >= 1 else moves * math.log1p(float(1 / (4 * curvature)))
        return float(rate * moves) + lost <= float(epsilon) * (1 + 1e-12)


def _checked_rows(rows: object) -> tuple[tuple[int, ...], ...]:
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise RequestError("The coefficients of a logistic regression are rows of whole numbers.")
    if not all(type(value) is int and abs(value) <= LARGEST_COEFFICIENT for row in rows for value in row):
        raise RequestError("The coefficients of a logistic regression are whole numbers of 63 bits at most.")
    return tuple(tuple(row) for row in rows)


def vectors_of(points: np.ndarray, centre: np.ndarray, radius: float) -> np.ndarray:
    """Records as vectors of length 1 at most, in units of 2^-30: int64 (n, d + 1).

    The offset from the centre, no longer than the radius, becomes 0.8 of a unit long at most; a constant 0.6 in the
    last place carries the intercept. Entries are cut toward zero, and as long as the exact sum of squares exceeds what
    is allowed, every entry moves one unit toward zero.

    `points`: float64 (n, d); each record's vector is a function of that record alone, bit for bit.
    """
    offsets = [column - middle for column, middle in zip(points.T, centre, strict=True)]
    # In the order of the coordinates, as sums along an axis may depend on the records beside.
    squares = np.zeros(len(points))
    for offset in offsets:
        with np.errstate(over="ignore"):  # a record that is too far off for a float loses its features
            squares += (offset / radius) ** 2
    factor = FEATURE_SHARE / np.maximum(np.sqrt(squares), 1.0) / radius
    units = np.empty((len(points), len(offsets) + 1), np.int64)
    for place, offset in enumerate(offsets):
        units[:, place] = np.clip(offset * factor, -FEATURE_SHARE, FEATURE_SHARE)
    units[:, -1] = CONSTANT_SHARE
    while (long := np.flatnonzero((units * units).sum(axis=1) > LENGTHS)).size:
        units[long, :-1] -= np.sign(units[long, :-1])
    return units


def published_constants(epsilon: Fraction, curvature: Fraction) -> Perturbation:
    """Noise and curvature by the paper's Algorithm 2, the rate rounded down and the curvature up."""
    ratio = DECIMALS.divide(*(1 + CURVATURE_OF_LOSS / curvature).as_integer_ratio())
    left = epsilon - 2 * Fraction(DECIMALS.ln(ratio)) - Fraction(1, 10**40)
    if left > 0:
        return Perturbation(_down(left / 2), curvature)
    power = Fraction(DECIMALS.exp(DECIMALS.divide(*(epsilon / 4).as_integer_ratio()))) - Fraction(1, 10**40)
    return Perturbation(_down(epsilon / 4), -_down(-CURVATURE_OF_LOSS / (power - 1)))


def _down(value: Fraction) -> Fraction:
    """Rounded down to thirty decimal places."""
    return Fraction(math.floor(value * 10**30), 10**30)
