"""Logistic regression under a pure epsilon: objective perturbation on records as other methods take them.

The theorem and its proof are those of `objective_perturbation` with its sharp constants: for records in the unit ball,
noise of density proportional to exp(-r|b|) in the objective and a curvature k = 1/r, one record more or less costs r,
so r = ε/m for m records a person and half of that where records are replaced. What is released is the exact minimiser,
rounded to a grid, whatever floating point does on the way (`certified_logistic`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from ..privacy.accounting import Cost, PureParts
from ..privacy.budget import Budget
from ..privacy.neighbours import Neighbours
from ..privacy.noise.randomness import Source as NoiseSource
from .amp import READ_UNIT, in_unit_ball
from .linear_model import LinearModel
from .logistic_model import THEOREM
from .method import Method, against_the_rest, signed_problems
from .objective_perturbation import perturbed_minimiser


@dataclass(frozen=True)
class PureLogistic(Method):
    """Objective perturbation with nothing to be tuned.

    Parameters
    ----------
    domain, label, radius : Domain, str, float | None
        As of `Task`.

    Raises
    ------
    RequestError
        When a parameter is out of range.
    """

    name: ClassVar[str] = "objective"
    described: ClassVar[str] = "objective perturbation"
    theorem: ClassVar[str] = THEOREM
    unit: ClassVar[int] = READ_UNIT

    def cost(self, budget: Budget) -> Cost:
        """What a fit costs: an equal share of epsilon a problem, and nothing of delta."""
        return Cost((PureParts(Fraction(budget.epsilon) / self.rows, self.rows),), budget.epsilon, budget.delta)

    def rate(self, budget: Budget) -> Fraction:
        """r of every problem."""
        moves = 1 if budget.neighbours is Neighbours.ADD_REMOVE else 2
        return Fraction(budget.epsilon) / (self.rows * moves * self.domain.unit.records)

    def _planned(self, budget: Budget) -> Fraction:
        return self.rate(budget)

    def _beside(self, plan: Fraction, share: Fraction) -> Fraction:
        return plan / share

    def _trained(
        self, units: np.ndarray, codes: np.ndarray, budget: Budget, plan: Fraction, noise_source: NoiseSource
    ) -> LinearModel:
        vectors, length = in_unit_ball(units, self.longest(READ_UNIT))
        problems = signed_problems(vectors, codes, self.rows)
        rows = [perturbed_minimiser(signed, plan, 1 / plan, noise_source) for signed in problems]
        details = {"rate": str(plan), "curvature": str(1 / plan)}
        kind = against_the_rest(self.rows)
        return self._model(kind, 1.0 / length, np.array(rows, np.int64), budget, details, noise_source)
