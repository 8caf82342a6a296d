"""Logistic regression under a pure epsilon: objective perturbation on records as other methods take them.

The theorem and its proof are those of `objective_perturbation` with its sharp constants: for records in the unit ball,
noise of density proportional to exp(-r|b|) in the objective and a curvature k = 1/r, one record more or less costs r,
so r = ε/m for m records a person and half of that where records are replaced. What is released is the exact minimiser,
rounded to a grid, whatever floating point does on the way (`certified_logistic`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from ..privacy.accounting import Cost, PureParts
from ..privacy.budget import Budget
from ..privacy.neighbours import Neighbours
from ..privacy.noise.l2_vector import L2Vector
from ..privacy.noise.randomness import Source as NoiseSource
from ..privacy.noise.randomness import SystemSource
from ..sources import Source
from .amp import READ_UNIT, in_unit_ball
from .certified_logistic import rounded_minimiser
from .linear_model import LinearModel
from .logistic_model import THEOREM
from .records import Task


@dataclass(frozen=True)
class PureLogistic(Task):
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

    def _check(self) -> None:
        super()._check()
        self.check_classes()

    def parameters(self) -> dict:
        """All public parameters but the domain, for JSON."""
        return self.written()

    def cost(self, budget: Budget) -> Cost:
        """What a fit costs: an equal share of epsilon a problem, and nothing of delta."""
        return Cost((PureParts(Fraction(budget.epsilon) / self.rows, self.rows),), budget.epsilon, budget.delta)

    def rate(self, budget: Budget) -> Fraction:
        """r of every problem."""
        moves = 1 if budget.neighbours is Neighbours.ADD_REMOVE else 2
        return Fraction(budget.epsilon) / (self.rows * moves * self.domain.unit.records)

    def fit(
        self,
        source: Source,
        budget: Budget,
        *,
        spend: Callable[[Cost], object] | None = None,
        noise_source: NoiseSource | None = None,
    ) -> LinearModel:
        """Read the records, spend the budget, draw the noise once and solve.

        Parameters
        ----------
        source, budget : Source, Budget
            The private records, and the promise.
        spend : Callable[[Cost], object] | None
            Writes the cost to a ledger, durably, or raises; called before any noise exists.
        noise_source : NoiseSource | None
            None in any real fit; a seeded source makes a model that is marked as not private.

        Raises
        ------
        RequestError, BudgetError
            When the request or the data cannot be used, or from ``spend``; nothing was released.
        """
        cost, rate = self.cost(budget), self.rate(budget)
        units, codes = self.gather(source, READ_UNIT)
        vectors, length = in_unit_ball(units, self.longest(READ_UNIT))
        if spend is not None:
            spend(cost)
        noise_source = SystemSource() if noise_source is None else noise_source
        rows = []
        for problem in range(self.rows):
            of_class = codes == (1 if self.rows == 1 else problem)
            noise = L2Vector(1 / rate, vectors.shape[1], noise_source.stream())
            rows.append(rounded_minimiser(np.where(of_class[:, None], vectors, -vectors), 1 / rate, noise.bounds))
        return LinearModel(
            Task(self.domain, self.label, self.radius),
            "logistic" if self.rows == 1 else "one-vs-rest",
            1.0 / length,
            np.array(rows, np.int64),
            budget,
            self.described,
            THEOREM,
            {"rate": str(rate), "curvature": str(1 / rate)},
            noise_source.private,
        )
