"""Logistic regression by a second-order descent (Ganesh, Haghifam, Steinke, Thakurta 2023), for (epsilon, delta).

Newton's steps need the curvature of the loss, Σ p(1 - p) a aᵀ, in every step. It is never more than Σ a aᵀ / 4
(Böhning, Lindsay 1988: the quadratic upper bound), and a step by the bound needs that matrix once, for all steps and
classes: their quadratic-upper-bound variant, with the matrix bought first. `preconditioned` has the steps and the
proof.

The bound is reached by records of which nothing can be told; most are told well, and the real curvature is a third of
it or so. Steps are longer by as much (`CURVATURE`), which a mean over the second half of them calms; whatever their
length is, what is released was paid for.

**Sums of answers**: how many records each class has. One record more or less moves one count by 1, a replaced one
two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..privacy.budget import Budget
from ..privacy.calibration import NoiseScale
from ..privacy.neighbours import Neighbours, Sensitivity
from ..privacy.noise.randomness import Source as NoiseSource
from .linear_model import LinearModel
from .method import Method
from .preconditioned import THEOREM, Preconditioned, Start
from .residuals import slopes_of

CURVATURE = 0.1
"""Of the logistic loss, as reckoned with; its bound is 1/4."""
CLIP = 0.5


@dataclass(frozen=True)
class SecondOrder(Preconditioned, Method):
    """Logistic regression, multinomial for more than two classes, in steps that one bought matrix shapes.

    Parameters
    ----------
    domain, label, radius, steps, clip : Domain, str, float | None, int, float | None
        As of `Preconditioned`.

    Raises
    ------
    RequestError
        When a parameter is out of range.
    """

    name: ClassVar[str] = "newton"
    described: ClassVar[str] = "noisy Newton steps"
    theorem: ClassVar[str] = THEOREM
    usual_clip: ClassVar[float] = CLIP
    curvature: ClassVar[float] = CURVATURE

    def answers_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        moved = 2 if neighbours is Neighbours.REPLACE_ONE else 1
        return Sensitivity(moved, moved, unit_shifts=True)

    def _answers(self, answers: np.ndarray) -> np.ndarray:
        return np.bincount(answers, minlength=len(self.categories)).astype(np.int64)

    def _start(self, noisy: np.ndarray, variance: float) -> Start:
        counts = np.maximum(noisy.astype(np.float64), max(1.0, float(variance) ** 0.5))
        levels = np.log(counts / counts.sum())
        return Start(float(counts.sum()), levels[1:] - levels[:1] if self.rows == 1 else levels)

    def _slopes(self, scores: np.ndarray, answers: np.ndarray, start: Start) -> np.ndarray:
        return slopes_of(scores + start.scores, answers, "logistic")

    def _trained(
        self,
        units: np.ndarray,
        codes: np.ndarray,
        budget: Budget,
        plan: tuple[NoiseScale, ...],
        noise_source: NoiseSource,
    ) -> LinearModel:
        found = self._found(units, codes, plan, noise_source)
        kind = "logistic" if self.rows == 1 else "multinomial"
        return self._model(
            kind, 1.0, found.rows, budget, found.details, noise_source, f"{self.described}, {self.steps:,} of them"
        )
