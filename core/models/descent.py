"""Noisy gradient descent over all records: a hundred noisy integer tables, each a release by itself.

Records are whole-number vectors, read once (`training_task`), and taken from a bought centre in units of a bought
length (`standard_scale`). In every step, with coefficients θ that are public by then,

    scores <θ, z_i>  →  residuals r_i, whole numbers  →  Σ r_i z_iᵀ  →  discrete Gaussian noise  →  next θ.

**Sensitivity.** A record adds r zᵀ, whose length is |r| |z|. Residuals are shortened (`standard_scale`) until the whole
number |r|² is at most floor(C²/|z|²), so |r|²|z|² <= C² for every record and at all θ, which integers say and no
rounding. One record more or less moves a table by L2² = C², and a replaced one by 4C² at most, the squared length of a
difference of two.
Steps are chosen in view of earlier ones and of what was bought, which zCDP allows (Bun, Steinke 2016): ρ adds up. The
number of records, by which a sum becomes a mean, is public or bought.

C, in lengths m of the records, is a public constant far below the longest that r zᵀ could be, so the noise is that much
smaller. What it costs is that records far on the wrong side of the border count no more than those beyond C, as in a
loss that grows less steeply there.

**What a record adds is a function of that record and θ alone, bit for bit.** θ is rounded to whole numbers, so scores
are sums of whole numbers below 2^53, exact in float64 in any order: a record's entries add up to √(d + 1) times its
length at most. Residuals follow element by element. Whole residuals times whole vectors, summed over all records, are
below 2^53 again.
"""

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from ..privacy.budget import Budget, Neighbours, Sensitivity
from ..privacy.calibration import NoiseScale
from ..privacy.noise.noise import add_noise
from ..privacy.noise.randomness import Source as NoiseSource
from ..runtime.parameters import Choice, Number, Resolved, Whole, parameter
from .centred import evenly
from .linear_models import LinearModel
from .method import GaussianTables, Method, Model, Trained
from .model_file import BITS
from .noise_bands import Trace
from .standard_scale import (
    FARTHEST,
    LOSSES,
    RESIDUAL_UNIT,
    bought_scale,
    centre_sensitivity,
    in_units_of_records,
    ladder_sensitivity,
    residuals,
    standardised,
    sums_of_slopes,
)
from .training_task import Task

UNIT = 1 << 13
COUNT_SHARE, CENTRE_SHARE, LENGTH_SHARE = Fraction(1, 100), Fraction(2, 100), Fraction(1, 100)
LARGEST_WEIGHT = 1 << 28  # Of a coefficient, in multiples of 2^-20: beyond 256 it is cut.
USUAL_STEPS = 100
# A step's length times m²: far beyond what is safe for any data, as real curvature is far below its bound; and as long
# as the noise of one step moves the score of a record of length m by no more than this.
LONGEST_RATE, SCORE_NOISE = 512.0, 0.2
# Steps up to which more of them are taken, for as long as the noise leaves room for a rate that is not shorter.
MOST_STEPS, SHORT_RATE = 300, 64.0
# Steps times records, coordinates and rows, beyond which no more are taken than usual: some seconds of one core.
MOST_WORK = 5 * 10**9
# In bought lengths: larger ones let more noise in, smaller ones let records far beyond the border count less.
CLIP = 0.3
THEOREM = (
    "Sums of whole numbers with discrete Gaussian noise, one in each step of a gradient descent, compose by zCDP (Bun, "
    "Steinke 2016; Canonne, Kamath, Steinke 2020)."
)


@dataclass(frozen=True)
class Descent(GaussianTables, Trained[Model]):
    """Full-batch gradient descent with noise in every step, for any loss whose slopes are whole numbers.

    `rate`: Length of a step times the square of the bought length; None for the longest that the noise leaves room for.
    `clip`: C, in bought lengths.
    """

    steps: Resolved[int] = parameter(Whole("The number of steps", 1, 10_000), USUAL_STEPS)
    rate: float | None = parameter(Number("The rate of steps", 1e-6, 1e6), None)
    clip: Resolved[float] = parameter(Number("The largest slope", 1e-2, 10.0), CLIP)
    theorem: ClassVar[str] = THEOREM
    unit: ClassVar[int] = UNIT
    solves: ClassVar[bool] = False
    longest_rate: ClassVar[float]
    # The longest step, and how far the noise of one step may move the score of a record of the bought length.
    score_noise: ClassVar[float]
    farthest: ClassVar[float] = FARTHEST
    seen: ClassVar[float] = 1.0  # The share of the records that a step is about.
    # The share of a step that the next one goes on with, so that its noise counts 1/(1 - momentum) times.
    momentum: ClassVar[float] = 0.0

    @abstractmethod
    def residuals(self, scores: np.ndarray, goals: Any, most: np.ndarray) -> np.ndarray:
        """Slopes of the loss at scores (n, rows), whole numbers no longer than most; see `residuals`."""

    @abstractmethod
    def _goals(
        self, codes: np.ndarray, records: float, of_step: NoiseScale, bought: Sequence[NoiseScale], noise: NoiseSource
    ) -> tuple[Any, Any]:
        """What residuals are reckoned from, which slices like an array (n,), and what `_made` needs."""

    @abstractmethod
    def _made(
        self, weights: np.ndarray, known: Any, budget: Budget, details: dict[str, str], noise_source: NoiseSource
    ) -> Model:
        """The model of coefficients of (1, z), in multiples of 2^-20, int64 (rows, d + 1)."""

    def _judged(
        self,
        whole: np.ndarray,
        goals: Any,
        weights: np.ndarray,
        known: Any,
        bought: Sequence[NoiseScale],
        noise: NoiseSource,
    ) -> Any:
        """What is known, with what was bought about how well the weights fit."""
        return known

    def _bought(self, neighbours: Neighbours) -> list[tuple[Sensitivity, Fraction]]:
        """Further tables that `_goals` buys, with their shares of the budget."""
        return []

    @property
    def largest(self) -> int:
        """C², in whole units."""
        return math.floor((self.clip * UNIT * RESIDUAL_UNIT) ** 2)

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """How far one person moves the table of a step; see the module."""
        square = self.largest * (4 if neighbours is Neighbours.REPLACE_ONE else 1)
        size = self.rows * (self.width + 1)
        return Sensitivity(min(square, math.isqrt(square * size) + 1), square).scaled(self.domain.unit.records)

    def counts(self, neighbours: Neighbours) -> bool:
        """Whether the number of records is private, and so bought."""
        return not (neighbours is Neighbours.REPLACE_ONE and self.domain.keeps_every_record)

    def _tables(self, budget: Budget) -> list[tuple[Sensitivity, Fraction]]:
        """Every table with its share of the budget: the steps', the centre, the lengths, others, and a count if any."""
        moved, records = self.sensitivity(budget.neighbours), self.domain.unit.records
        bought = [
            (centre_sensitivity(budget.neighbours, self.reach, UNIT, self.width), CENTRE_SHARE),
            (ladder_sensitivity(budget.neighbours), LENGTH_SHARE),
        ]
        bought += self._bought(budget.neighbours)
        if self.counts(budget.neighbours):
            bought.append((Sensitivity(1, 1, unit_shifts=True), COUNT_SHARE))
        share = (1 - sum((part for _, part in bought), Fraction(0))) / self.steps
        return [(moved, share)] * self.steps + [(one.scaled(records), part) for one, part in bought]

    def noise(self, budget: Budget) -> float:
        """How long the noise is that all steps leave, in records.

        The mean of the second half of the steps has the noise of a step divided by the root of their number.
        """
        of_step = math.sqrt(self.noises(budget)[0].variance) / (UNIT * RESIDUAL_UNIT)
        return of_step * math.sqrt(2.0 * self.rows * (self.width + 1) / self.steps)

    def _trained(
        self,
        units: np.ndarray,
        codes: np.ndarray,
        budget: Budget,
        plan: tuple[NoiseScale, ...],
        noise_source: NoiseSource,
    ) -> Model:
        of_step, (of_centre, of_lengths) = plan[0], plan[self.steps : self.steps + 2]
        records = float(len(codes))
        if self.counts(budget.neighbours):
            bought = add_noise(np.array([len(codes)], np.int64), plan[-1], noise_source)
            records = max(float(bought[0]), float(plan[-1].variance) ** 0.5, 1.0)
        scale = bought_scale(units, records, (of_centre, of_lengths), self.reach, UNIT, noise_source)
        goals, known = self._goals(codes, records, of_step, plan[self.steps + 2 :], noise_source)
        whole = standardised(units, scale, UNIT, self.farthest)
        trace = self._descended(whole, goals, records, of_step, noise_source)
        weights = trace.mean
        known = self._judged(whole, goals, weights, known, plan[self.steps + 2 :], noise_source)
        details = {
            "steps": str(self.steps),
            "rate": repr(self.longest_step(of_step, records)),
            "clip": repr(self.clip),
            "length": repr(scale.length / UNIT),
            "sigma_squared": str(of_step.parameter),
        }
        made = self._made(in_units_of_records(weights, scale, UNIT), known, budget, details, noise_source)
        if self.seen < 1.0:  # who is in a sample moves coefficients too
            return made
        moved = self.longest_step(of_step, records) / records / (UNIT * RESIDUAL_UNIT) * math.sqrt(of_step.variance)
        natural = self._natural(known) * UNIT / scale.length
        errors = trace.term_errors(self, natural, np.full(self.width, moved), evenly(self), self.momentum)
        return replace(made, term_errors=errors)  # type: ignore[type-var]

    def _natural(self, known: Any) -> float:
        """What a score of 1 is to the model that is made."""
        return 1.0

    def _descended(
        self, units: np.ndarray, goals: Any, records: float, noise: NoiseScale, noise_source: NoiseSource
    ) -> Trace:
        """The second half of all coefficients, in multiples of 2^-20."""
        weights = np.zeros((self.rows, units.shape[1]))
        trace, pace = Trace(self.steps, weights.shape), np.zeros_like(weights)
        most = self.most(units)
        records *= self.seen
        length = self.longest_step(noise, records) / records / (UNIT * RESIDUAL_UNIT)
        for _ in range(self.steps):
            table = self._step_table(units, goals, weights, most, noise_source)
            pace = self.momentum * pace - length * (1 << BITS) * add_noise(table, noise, noise_source)
            weights = np.clip(weights + np.rint(pace), -LARGEST_WEIGHT, LARGEST_WEIGHT)
            trace.add(weights)
        return trace

    def _step_table(
        self, units: np.ndarray, goals: Any, weights: np.ndarray, most: np.ndarray, noise_source: NoiseSource
    ) -> np.ndarray:
        """The exact table of a step; private."""
        return self.slopes(units, goals, weights, most)

    def longest_step(self, noise: NoiseScale, records: float, longest: float | None = None) -> float:
        """The rate that steps have for so many records, which are public or bought, and no more than the longest."""
        if self.rate is not None:
            return self.rate
        room = self.score_noise * records * UNIT * RESIDUAL_UNIT / math.sqrt(noise.variance)
        return min(self.longest_rate if longest is None else longest, room * (1.0 - self.momentum))

    def for_records(self, budget: Budget, records: float) -> Self:
        """The same in as many steps as pay for so many records, from public facts alone; as it is without a delta.

        The noise of each step grows with the root of their number, and shortens all of them by as much; where they
        would be long all the same, more of them get further.

        `records`: About how many there are.
        """
        if budget.pure:
            return self
        room = self.longest_step(self.noises(budget)[0], float(records), math.inf)
        paid = min(MOST_STEPS, math.floor(self.steps * (room / SHORT_RATE) ** 2))
        afforded = int(MOST_WORK // max(1, records * (self.width + 1) * self.rows))
        return replace(self, steps=max(self.steps, min(paid, afforded)))

    def most(self, units: np.ndarray) -> np.ndarray:
        """The largest squared length of each record's residuals: floor(C²/|z|²), int64 (n,)."""
        squares = np.einsum("ij,ij->i", units, units).astype(np.int64)
        return np.asarray(self.largest // np.maximum(squares, 1))

    def slopes(self, units: np.ndarray, goals: Any, weights: np.ndarray, most: np.ndarray) -> np.ndarray:
        """The exact sum of residuals times standardised records, int64 (rows, d + 1), at whole coefficients."""
        return sums_of_slopes(
            units, weights, float(UNIT << BITS), lambda scores, here: self.residuals(scores, goals[here], most[here])
        )


def scores_of(whole: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Scores of standardised records at whole coefficients, float64 (n, rows), exact."""
    return np.asarray(np.ldexp(whole @ weights.T, -BITS) / UNIT)


@dataclass(frozen=True)
class NoisyDescent(Descent[LinearModel], Method):
    """Classes by full-batch gradient descent with noise in every step.

    `loss`: "logistic" (multinomial for more than two classes), or "svm", Huber's smooth hinge, each class against the
    rest.
    """

    loss: str = parameter(Choice("The loss", LOSSES), "logistic")
    name: ClassVar[str] = "descent"
    rank: ClassVar[int] = 3
    described: ClassVar[str] = "noisy gradient descent"
    longest_rate: ClassVar[float] = LONGEST_RATE
    score_noise: ClassVar[float] = SCORE_NOISE

    @classmethod
    def suits(cls, task: Task, budget: Budget) -> bool:
        return bool(task.categories) and not budget.pure

    def residuals(self, scores: np.ndarray, goals: Any, most: np.ndarray) -> np.ndarray:
        return residuals(scores, goals, self.loss, most)

    def _goals(
        self, codes: np.ndarray, records: float, of_step: NoiseScale, bought: Sequence[NoiseScale], noise: NoiseSource
    ) -> tuple[np.ndarray, None]:
        return codes, None

    def _made(
        self, weights: np.ndarray, known: None, budget: Budget, details: dict[str, str], noise_source: NoiseSource
    ) -> LinearModel:
        kind = "svm" if self.loss == "svm" else "logistic" if self.rows == 1 else "multinomial"
        said = f"{self.described} in {self.steps:,} steps"
        return self._model(kind, 1.0, weights, budget, details | {"loss": self.loss}, noise_source, said)


@dataclass(frozen=True)
class SupportVectors(NoisyDescent):
    """A linear support vector machine: the same descent on Huber's smooth hinge, each class against the rest."""

    loss: str = parameter(Choice("The loss", LOSSES), "svm")
    name: ClassVar[str] = "svm"
    rank: ClassVar[int] = 5

    @classmethod
    def suits(cls, task: Task, budget: Budget) -> bool:
        return False
