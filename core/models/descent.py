"""Noisy gradient descent over all records: a few hundred noisy integer tables, each a release by itself.

Records are whole-number vectors, read once (`records`). In every step, with coefficients θ that are public by then,

    scores <θ, z_i>  →  residuals r_i, whole numbers  →  Σ r_i z_iᵀ  →  discrete Gaussian noise  →  next θ.

**Sensitivity.** A record adds r zᵀ, whose length is |r| |z|. For two classes |r| <= 2^a, as the residual of log loss or
of a hinge lies between -1 and 1; K hinges, each class against the rest, have squares that add up to K. For the log loss
of K > 2 classes the residual is p - e_y, with p the probabilities and e_y its class, and its squares add up to
(1 - p_y)² + Σ p_k² <= 2. Entries are cut toward zero, which shortens. And |z|² <= R² (`Task.longest`). So one record
more or less moves a table by L2² = (1, 2 or K) 4^a R² and by no more in any step, and a replaced one by twice that
length, as the difference of two such. Steps are chosen in view of earlier ones, which zCDP allows (Bun, Steinke 2016):
ρ adds up. The number of records, by which a sum becomes a mean, is public or bought with a hundredth of ρ.

**What a record adds is a function of that record and θ alone, bit for bit.** θ is rounded to whole numbers, so scores
are sums of whole numbers below 2^53, exact in float64 in any order. Residuals follow element by element, by operations
that IEEE 754 fixes. Whole residuals times whole vectors, summed over all records, are below 2^53 again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..errors import RequestError
from ..parameters import Choice, Number, Settled, Whole, parameter
from ..privacy.accounting import Cost
from ..privacy.budget import Budget
from ..privacy.calibration import NoiseScale, calibrate_shares
from ..privacy.neighbours import Neighbours, Sensitivity
from ..privacy.noise.noise import add_noise, check_drawable
from ..privacy.noise.randomness import Source as NoiseSource
from ..sources import Source
from .certified_logistic import LOG2_HIGH, LOG2_LOW, TERMS, logistic_weights
from .linear_model import BITS, LinearModel
from .method import Method

LOSSES = ("logistic", "svm")
UNIT, RESIDUAL_UNIT = 1 << 10, 1 << 12
COUNT_SHARE = Fraction(1, 100)
LARGEST_WEIGHT = 1 << 28
"""Of a coefficient, in multiples of 2^-20: beyond 256 it is cut."""
USUAL_STEPS = 100
RATE = 16.0
"""The step's length times R²: twice what is safe for any data, as real curvature is far below its bound."""
HUBER = 0.1
LOWEST = -40.0
AT_ONCE = 1 << 14
THEOREM = (
    "Sums of whole numbers with discrete Gaussian noise, one in each step of a gradient descent, compose by zCDP (Bun, "
    "Steinke 2016; Canonne, Kamath, Steinke 2020)."
)


@dataclass(frozen=True)
class NoisyDescent(Method):
    """Full-batch gradient descent with noise in every step.

    Parameters
    ----------
    domain, label, radius : Domain, str, float | None
        As of `Task`.
    loss : str
        "logistic" (multinomial for more than two classes), or "svm", Huber's smooth hinge, each class against the rest.
    steps : int
        How many.
    rate : float
        Length of a step times the largest squared length of a record.

    Raises
    ------
    RequestError
        When a parameter is out of range.
    """

    loss: str = parameter(Choice("The loss", LOSSES), "logistic")
    steps: Settled[int] = parameter(Whole("The number of steps", 1, 10_000), USUAL_STEPS)
    rate: Settled[float] = parameter(Number("The rate of steps", 1e-6, 1e6), RATE)
    name: ClassVar[str] = "descent"
    described: ClassVar[str] = "noisy gradient descent"
    theorem: ClassVar[str] = THEOREM

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """How far one person moves the table of a step; see the module."""
        longest = self.rows if self.rows == 1 or self.loss == "svm" else 2
        square = longest * RESIDUAL_UNIT**2 * self.longest(UNIT)
        square *= 4 if neighbours is Neighbours.REPLACE_ONE else 1
        size = self.rows * (self.features.dimensions + 1)
        return Sensitivity(min(square, math.isqrt(square * size) + 1), square).scaled(self.domain.unit.records)

    def counts(self, neighbours: Neighbours) -> bool:
        """Whether the number of records is private, and so bought."""
        return not (neighbours is Neighbours.REPLACE_ONE and self.domain.keeps_every_record)

    def _tables(self, budget: Budget) -> list[tuple[Sensitivity, Fraction]]:
        """Every table with its share of the budget, that of the count first where there is one."""
        moved = self.sensitivity(budget.neighbours)
        share = (1 - COUNT_SHARE) / self.steps
        tables = [(moved, share)] * self.steps
        if not self.counts(budget.neighbours):
            return tables
        return [*tables, (Sensitivity(1, 1, unit_shifts=True).scaled(self.domain.unit.records), COUNT_SHARE)]

    def noises(self, budget: Budget) -> tuple[NoiseScale, ...]:
        """The noise of every step, and of the count where there is one."""
        if budget.pure:
            raise RequestError("Noisy gradient descent needs a delta above 0, and objective perturbation none.")
        tables = self._tables(budget)
        promise = Fraction(budget.epsilon), Fraction(budget.delta)
        return calibrate_shares(tables, *promise, gaussian_only=True)

    def cost(self, budget: Budget) -> Cost:
        """What a fit costs; RequestError when the promise is none that the theorem keeps."""
        moved = [sensitivity for sensitivity, _ in self._tables(budget)]
        return Cost.of(zip(moved, self.noises(budget), strict=True), budget.epsilon, budget.delta)

    def _planned(self, budget: Budget) -> tuple[NoiseScale, ...]:
        noises = self.noises(budget)
        check_drawable(*noises)
        return noises

    def _read(self, source: Source) -> tuple[np.ndarray, np.ndarray]:
        return self.gather(source, UNIT)

    def _trained(
        self,
        units: np.ndarray,
        codes: np.ndarray,
        budget: Budget,
        plan: tuple[NoiseScale, ...],
        noise_source: NoiseSource,
    ) -> LinearModel:
        records = float(len(codes))
        if self.counts(budget.neighbours):
            bought = add_noise(np.array([len(codes)], np.int64), plan[-1], noise_source)
            records = max(float(bought[0]), float(plan[-1].variance) ** 0.5, 1.0)
        rows = self._descended(units.astype(np.float64), codes, records, plan[0], noise_source)
        kind = "svm" if self.loss == "svm" else "logistic" if self.rows == 1 else "multinomial"
        details = {
            "steps": str(self.steps),
            "rate": repr(self.rate),
            "loss": self.loss,
            "sigma_squared": str(plan[0].parameter),
        }
        described = f"{self.described} in {self.steps:,} steps"
        return self._model(kind, 1.0, rows, budget, details, noise_source, described)

    def _descended(
        self, units: np.ndarray, codes: np.ndarray, records: float, noise: NoiseScale, noise_source: NoiseSource
    ) -> np.ndarray:
        """The mean of the second half of all coefficients, in multiples of 2^-20, int64 (rows, d + 1)."""
        weights = np.zeros((self.rows, units.shape[1]))
        total, last = np.zeros_like(weights), self.steps // 2
        length = self.rate / (self.longest(UNIT) / UNIT**2) / records / (UNIT * RESIDUAL_UNIT)
        for step in range(self.steps):
            table = self.slopes(units, codes, weights)
            noisy = add_noise(table, noise, noise_source)
            moved = weights - np.rint(length * (1 << BITS) * noisy)
            weights = np.clip(moved, -LARGEST_WEIGHT, LARGEST_WEIGHT)
            if step >= last:
                total += weights
        return np.rint(total / (self.steps - last)).astype(np.int64)

    def slopes(self, units: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The exact sum of residuals times records, int64 (rows, d + 1), at whole coefficients."""
        table = np.zeros(weights.shape)
        for start in range(0, len(units), AT_ONCE):
            some = units[start : start + AT_ONCE]
            scores = np.ldexp(some @ weights.T, -BITS) / UNIT
            table += self._residuals(scores, codes[start : start + AT_ONCE]).T @ some
        return table.astype(np.int64)

    def _residuals(self, scores: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Of scores (n, rows), whole numbers of `RESIDUAL_UNIT`, cut toward zero."""
        if self.rows == 1:
            sign = np.where(codes == 1, 1.0, -1.0)
            margins = scores[:, 0] * sign
            weights = logistic_weights(margins) if self.loss == "logistic" else _hinge_weights(margins)
            return (-sign * np.trunc(weights * RESIDUAL_UNIT))[:, None]
        if self.loss == "svm":
            signs = np.where(codes[:, None] == np.arange(self.rows), 1.0, -1.0)
            return -signs * np.trunc(_hinge_weights(scores * signs) * RESIDUAL_UNIT)
        shares = _shares(scores)
        shares[np.arange(len(codes)), codes] -= 1.0
        return np.trunc(shares * RESIDUAL_UNIT)

    @cached_property
    def largest_sum(self) -> int:
        """Of scores in whole numbers, which float64 must hold exactly: below 2^53 for every domain that is taken."""
        return (self.features.dimensions + 1) * UNIT * LARGEST_WEIGHT


def _hinge_weights(margins: np.ndarray) -> np.ndarray:
    """Minus the slope of Huber's smooth hinge: 1 below 1 - h, 0 above 1 + h, and straight between."""
    return np.clip((1.0 + HUBER - margins) / (2.0 * HUBER), 0.0, 1.0)


def _shares(scores: np.ndarray) -> np.ndarray:
    """Softmax of (n, K), element by element and class by class, so that no row depends on those beside it."""
    most = scores[:, 0].copy()
    for column in scores.T:
        np.maximum(most, column, out=most)
    powers = np.stack([_power(np.maximum(column - most, LOWEST)) for column in scores.T], axis=1)
    total = np.zeros(len(scores))
    for column in powers.T:
        total += column
    return powers / total[:, None]


def _power(values: np.ndarray) -> np.ndarray:
    """e^x for x between -40 and 0, as `certified_logistic` computes it."""
    whole = np.rint(values / math.log(2))
    rest = (values - whole * LOG2_HIGH) - whole * LOG2_LOW
    power = np.ones_like(rest)
    for term in range(TERMS, 0, -1):
        power = 1.0 + (rest / term) * power
    return np.ldexp(power, whole.astype(np.int64))
