"""Approximate minima perturbation with its length tuned, under the same promise.

Records that are shortened to a smaller radius ask for less noise and say less; which radius serves best depends on
the records. A model for each of several radii is trained on most of the records, each with an equal share of epsilon
and delta; the one that gets most of the held-out records right, as far as report-noisy-max tells, is the one that is
released. `core.privacy.held_out` has the proof that choosing costs nothing beside training, as each record is on one
side only, whichever its coins say: what both cost together is what the models cost, and those add up to (ε, δ) (basic
composition). The records that a person has would have to be on one side, so there may be one each.

**What is right** is counted record by record: a score is added up coordinate by coordinate, each product and sum of
two numbers rounded as IEEE 754 says, so it follows from that record and the coefficients alone, bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..errors import RequestError
from ..parameters import Whole, parameter
from ..privacy.accounting import Cost
from ..privacy.budget import Budget
from ..privacy.held_out import choose, held_out, plan_choice
from ..privacy.noise.randomness import Source as NoiseSource
from .amp import READ_UNIT, THEOREM, ApproximateMinima, Perturbed
from .linear_model import LinearModel
from .method import Method
from .records import whole_vectors


@dataclass(frozen=True)
class TunedMinima(Method):
    """The best of several models by approximate minima perturbation, each of records half as long as the last.

    Parameters
    ----------
    domain, label, radius : Domain, str, float | None
        As of `Task`; the radius is the longest that is tried.
    radii : int
        How many radii.

    Raises
    ------
    RequestError
        When a parameter is out of range, or a person may have several records.
    """

    radii: int = parameter(Whole("The number of radii that are tried", 2, 8), 2)
    name: ClassVar[str] = "tuned-amp"
    described: ClassVar[str] = "tuned approximate minima perturbation"
    theorem: ClassVar[str] = THEOREM
    unit: ClassVar[int] = READ_UNIT

    def _check(self) -> None:
        super()._check()
        if self.domain.unit.records > 1:
            raise RequestError("Tuning holds some records out, so each person may have one record only.")

    @cached_property
    def candidates(self) -> tuple[ApproximateMinima, ...]:
        """A method for every radius, the longest first."""
        return tuple(ApproximateMinima(self.domain, self.label, self.reach / 2.0**place) for place in range(self.radii))

    def cost(self, budget: Budget) -> Cost:
        """What all models and the choice cost together; RequestError when the promise is none that they keep."""
        return plan_choice(self.candidates[0].cost(budget), budget.neighbours, self.domain.unit).cost

    def _planned(self, budget: Budget) -> tuple[Perturbed, ...]:
        return tuple(one.perturbed(budget, self.radii) for one in self.candidates)

    def _beside(self, plan: tuple[Perturbed, ...], share: Fraction) -> tuple[Perturbed, ...]:
        return tuple(one._beside(part, share) for one, part in zip(self.candidates, plan, strict=True))

    def _trained(
        self,
        units: np.ndarray,
        codes: np.ndarray,
        budget: Budget,
        plan: tuple[Perturbed, ...],
        noise_source: NoiseSource,
    ) -> LinearModel:
        out = held_out(np.column_stack([units, codes]), noise_source)
        made, right = [], []
        for one, part in zip(self.candidates, plan, strict=True):
            shorter = whole_vectors(units / READ_UNIT, one.reach, READ_UNIT)
            made.append(one._trained(shorter[~out], codes[~out], budget, part, noise_source))
            right.append(int((said(made[-1], shorter[out]) == codes[out]).sum()))
        choice = plan_choice(self.candidates[0].cost(budget), budget.neighbours, self.domain.unit)
        best = made[choose(np.array(right, np.int64), choice, noise_source)]
        details = {**best.details, "radii": str(self.radii)}
        return LinearModel(
            best.task,
            best.kind,
            best.scale,
            best.rows,
            budget,
            f"{self.described} of {self.radii} radii",
            self.theorem,
            details,
            noise_source.private,
        )


def said(model: LinearModel, units: np.ndarray) -> np.ndarray:
    """The place of the likeliest class of each record, int64 (n,), a function of that record and the model alone."""
    scores = np.zeros((len(model.rows), len(units)))
    for row, score in zip(model.rows, scores, strict=True):
        for weight, column in zip(row.tolist(), units.T, strict=True):
            score += column * float(weight)
    return (scores[0] > 0).astype(np.int64) if len(scores) == 1 else scores.argmax(axis=0)
