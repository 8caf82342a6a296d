"""What methods share that release several tables with Gaussian noise, each chosen in view of those before.

Tables are ρ-zCDP by their sensitivities (Canonne, Kamath, Steinke 2020, Theorem 4), and ρ adds up, also where what a
table holds is chosen by what earlier ones said (Bun, Steinke 2016, Lemma 2.3): every sensitivity holds whatever that
was.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar

from ..errors import RequestError
from ..privacy.accounting import Cost
from ..privacy.budget import Budget
from ..privacy.calibration import NoiseScale, calibrate_shares
from ..privacy.neighbours import Sensitivity
from ..privacy.noise.noise import check_drawable
from .records import Task


class GaussianTables(Task, ABC):
    """A method whose price is that of its tables."""

    instead: ClassVar[str] = "objective perturbation"
    """What predicts the same without a delta."""

    @abstractmethod
    def _tables(self, budget: Budget) -> list[tuple[Sensitivity, Fraction]]:
        """How far one person moves every table, in a fixed order, and its share of the budget."""

    def noises(self, budget: Budget) -> tuple[NoiseScale, ...]:
        """The noise of every table, in their order; RequestError under a pure promise."""
        if budget.pure:
            said = self.described[0].upper() + self.described[1:]
            raise RequestError(f"{said} needs a delta above 0, and {self.instead} none.")
        promise = Fraction(budget.epsilon), Fraction(budget.delta)
        return calibrate_shares(self._tables(budget), *promise, gaussian_only=True)

    def cost(self, budget: Budget) -> Cost:
        """What a fit costs; RequestError when the promise is none that the theorem keeps."""
        moved = [sensitivity for sensitivity, _ in self._tables(budget)]
        return Cost.of(zip(moved, self.noises(budget), strict=True), budget.epsilon, budget.delta)

    def _planned(self, budget: Budget) -> tuple[NoiseScale, ...]:
        noises = self.noises(budget)
        check_drawable(*noises)
        return noises

    def _beside(self, plan: tuple[NoiseScale, ...], share: Fraction) -> tuple[NoiseScale, ...]:
        return tuple(replace(noise, parameter=noise.parameter * share**2) for noise in plan)
