"""The same answer for everyone: the largest class, by noisy counts of all, where nothing that is learnt is worth it.

It is a linear model without slopes, so that whatever opens models opens it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from ..analysis.class_scores import non_negative
from ..privacy.accounting import Cost
from ..privacy.budget import Budget, Neighbours, Sensitivity
from ..privacy.calibration import NoiseScale, calibrate
from ..privacy.noise.noise import add_noise, check_drawable
from ..privacy.noise.randomness import Source as NoiseSource
from .linear_models import LinearModel
from .method import Method
from .model_file import BITS
from .training_task import Task

SAME_FOR_ALL = "one class for everyone"  # What people call such an answer among others.


@dataclass(frozen=True)
class LargestClass(Method):
    """Noisy counts of the classes, of which the largest is the answer everywhere.

    A record counts in one class. Add or remove one: one count moves by 1, so L1 = 1 and L2 squared = 1. Replace one: at
    most two counts do, one down and one up, so L1 = 2 and L2 squared = 2, reached where it changes its class; one that
    is left out instead moves less. With m records a person both norms are at most m times that, as norms of sums are at
    most sums of norms; m records of one class reach it. Noise of that sensitivity (`core.privacy.calibration`) keeps
    the promise, and what is made of noisy counts is post-processing.
    """

    name: ClassVar[str] = "largest-class"
    described: ClassVar[str] = "counting the classes"
    theorem: ClassVar[str] = "Each record is in one class, and noise hides it in that count; the coefficients follow."
    unit: ClassVar[int] = 1
    listed: ClassVar[bool] = False  # As it predicts the same for everyone.

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """How far one person moves the counts."""
        moved = 1 if neighbours is Neighbours.ADD_REMOVE else 2
        return Sensitivity(moved, moved, unit_shifts=True).scaled(self.domain.unit.records)

    def cost(self, budget: Budget) -> Cost:
        """What the counts cost."""
        noise = self._planned(budget)
        return Cost.of([(self.sensitivity(budget.neighbours), noise)], budget.epsilon, budget.delta)

    def _planned(self, budget: Budget) -> NoiseScale:
        noise = calibrate(self.sensitivity(budget.neighbours), Fraction(budget.epsilon), Fraction(budget.delta))
        check_drawable(noise)
        return noise

    def _beside(self, plan: NoiseScale, share: Fraction) -> NoiseScale:
        wide = share if plan.distribution == "discrete_laplace" else share**2
        return replace(plan, parameter=plan.parameter * wide)

    def _trained(
        self, units: np.ndarray, codes: np.ndarray, budget: Budget, plan: NoiseScale, noise_source: NoiseSource
    ) -> LinearModel:
        exact = np.bincount(codes, minlength=len(self.categories)).astype(np.int64)
        noisy = add_noise(exact, plan, noise_source).astype(np.float64)
        expected = non_negative(noisy, np.full(len(noisy), math.sqrt(float(plan.variance))))
        details = {"noise": plan.distribution, "parameter": str(plan.parameter)}
        return replace(
            same_for_all(self.task, expected / expected.sum(), budget), details=details, private=noise_source.private
        )


def same_for_all(task: Task, shares: Sequence[float] | np.ndarray, budget: Budget) -> LinearModel:
    """The model that gives everyone the same shares of the classes, which are public by now, float64 (K,)."""
    logs = np.rint(np.log(np.asarray(shares)) * (1 << BITS)).astype(np.int64)
    kind = "logistic" if len(logs) == 2 else "multinomial"
    rows = np.zeros((task.rows, task.width + 1), np.int64)
    rows[:, 0] = logs[1] - logs[0] if len(logs) == 2 else logs
    return LinearModel(task, kind, 1.0, rows, budget, LargestClass.described, LargestClass.theorem)


def largest_of(task: Task, code: int, budget: Budget) -> LinearModel:
    """The model that always says one class of K, of which nothing is known but that it was right most often.

    Its shares are those that are expected of K numbers that add up to 1 and may be any: the largest is
    (1 + 1/2 + ... + 1/K)/K on average, and what is left goes to the others evenly.
    """
    classes = len(task.categories)
    most = sum(1.0 / one for one in range(1, classes + 1)) / classes
    shares = np.full(classes, (1.0 - most) / (classes - 1))
    shares[code] = most
    details = {"probabilities": "what is usual of the largest of so many classes; they were not counted"}
    return replace(same_for_all(task, shares, budget), method="choosing on held-out records", details=details)
