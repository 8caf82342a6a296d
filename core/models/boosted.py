"""Least squares by boosting: AdaSSP again and again on what is left to explain (Tang et al. 2023), with a delta.

AdaSSP (Wang 2018) releases Σ z zᵀ and Σ z y once. Boosting releases the first once, and then the sums of the records
times what is still wrong about them, a few times over, each cut to a length that a single Σ z y could not be cut to
without a bias: cut slopes let less noise in, and what was cut off in one step is made good in the next.
`preconditioned` has the steps, the ridge and the proof. As in the paper the matrix is bought once, and everything is
around a bought centre, in units of a bought length, which the paper leaves to whoever prepares the data.

**Sums of answers** y, whole numbers of at most U in size: Σ (U², U y, y²), from which come the number of records,
their mean t and spread s; the search is for (y - t)/s. One record more or less moves them by L2² <= 3 U⁴ and L1 <= 3
U². Of a replaced one the first does not move, and with d = |y - y'| and |y + y'| <= 2 U - d the others move by L2² =
d² (U² + (y + y')²) <= d² (U² + (2U - d)²), which grows with d and is 4 U⁴ for the largest, 2 U; and by L1 <= 3 U², as
y² lies between 0 and U². One that is left out, or comes in, moves what removing it does, which is less.

After the last step it is bought how far off the model is (`bought_residual`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from ..privacy.budget import Budget
from ..privacy.calibration import NoiseScale
from ..privacy.neighbours import Neighbours, Sensitivity
from ..privacy.noise.randomness import Source as NoiseSource
from .bought_residual import FIT_SENSITIVITY, FIT_SHARE, bought_residual, sum_of_squares
from .method import NumberMethod
from .model_file import BITS
from .number_model import NumberModel
from .preconditioned import THEOREM, UNIT, Preconditioned, Start

CLIP = 1.5
AREA = UNIT**2


@dataclass(frozen=True)
class Boosted(Preconditioned, NumberMethod):
    """Boosted least squares: the number that a column has, from all others.

    Parameters
    ----------
    domain, label, radius, steps, clip : Domain, str, float | None, int, float | None
        As of `Preconditioned`; scores are in spreads of what is predicted.

    Raises
    ------
    RequestError
        When a parameter is out of range.
    """

    name: ClassVar[str] = "boosted"
    described: ClassVar[str] = "boosted least squares"
    theorem: ClassVar[str] = THEOREM
    instead: ClassVar[str] = "sums of products"
    usual_clip: ClassVar[float] = CLIP
    curvature: ClassVar[float] = 1.0

    def answers_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """See the module for the proof."""
        return Sensitivity(3 * AREA, (4 if neighbours is Neighbours.REPLACE_ONE else 3) * AREA**2)

    def _answers(self, answers: np.ndarray) -> np.ndarray:
        return np.array([len(answers) * AREA, int(answers.sum()) * UNIT, int((answers * answers).sum())], np.int64)

    def _start(self, noisy: np.ndarray, variance: float) -> Start:
        said, deviation = noisy.astype(np.float64) / AREA, math.sqrt(variance) / AREA
        records = max(float(said[0]), deviation, 1.0)
        mean = min(1.0, max(-1.0, float(said[1]) / records))
        square = max(float(said[2]) / records - mean**2, deviation / records, UNIT**-2)
        return Start(records, np.array([mean]), min(1.0, math.sqrt(square)))

    def _slopes(self, scores: np.ndarray, answers: np.ndarray, start: Start) -> np.ndarray:
        return scores - (answers[:, None] / UNIT - start.scores) / start.spread

    def judging(self) -> list[tuple[Sensitivity, Fraction]]:
        return [(FIT_SENSITIVITY, FIT_SHARE)]

    def _judged(
        self,
        records: np.ndarray,
        answers: np.ndarray,
        start: Start,
        weights: np.ndarray,
        noise: NoiseScale,
        noise_source: NoiseSource,
    ) -> float | None:
        off = self._slopes(records @ weights.T / float(UNIT << BITS), answers, start)[:, 0]
        found = bought_residual(sum_of_squares(off), start.records, noise, noise_source)
        return None if found is None else min(2.0, found * start.spread)

    def _trained(
        self,
        units: np.ndarray,
        answers: np.ndarray,
        budget: Budget,
        plan: tuple[NoiseScale, ...],
        noise_source: NoiseSource,
    ) -> NumberModel:
        found = self._found(units, answers, plan, noise_source)
        weights = np.ldexp(found.rows[0], -BITS)
        return self._model(weights, budget, found.details, noise_source, residual=found.residual)
