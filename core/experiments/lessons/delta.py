"""Why a risk δ buys so much here: with it, the noise of an answer does not grow with the number of rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ...domain import Domain
from ...geometry.kernels import Laplacian
from ...privacy.budget import Budget
from ...privacy.calibration import calibrate, calibrate_gaussian
from ...privacy.neighbours import Neighbours
from ...sketches.hashed.race import Race

ROWS = (4, 6, 10, 15, 25, 40, 60, 100, 150, 250, 400, 600, 1000, 1500, 2500, 4000, 6000, 10_000)


@dataclass(frozen=True)
class NoiseOfRows:
    """Noise of the mean of R rows, as standard deviations in people.

    Attributes
    ----------
    pure, with_delta : np.ndarray
        float64 (len(ROWS),), for (ε, 0) and for (ε, δ).
    """

    pure: np.ndarray
    with_delta: np.ndarray

    def gain(self, rows: int) -> float:
        """How many times smaller the noise is with δ."""
        place = ROWS.index(rows)
        return float(self.pure[place] / self.with_delta[place])

    @property
    def pays_from(self) -> int | None:
        """The least number of rows offered with which δ gains anything."""
        return next((rows for rows in ROWS if self.gain(rows) > 1.0), None)


@lru_cache(maxsize=256)
def noise_of_rows(epsilon: str, delta: str) -> NoiseOfRows:
    """Noise by the mechanism's own sensitivity and calibration, for every number of rows.

    With δ it is Gaussian throughout, so that both can be compared; a release takes whichever is smaller.
    """
    return NoiseOfRows(_noise(Budget(epsilon)), _noise(Budget(epsilon, delta)))


def _noise(budget: Budget) -> np.ndarray:
    domain, errors = Domain.of(hour=(0, 24)), []
    epsilon, delta = Fraction(budget.epsilon), Fraction(budget.delta)
    for rows in ROWS:
        sensitivity = Race(domain, Laplacian(1.5), rows, seed=0).sensitivity(Neighbours.ADD_REMOVE)
        noise = calibrate_gaussian(sensitivity, epsilon, delta) if delta else calibrate(sensitivity, epsilon)
        errors.append(math.sqrt(noise.variance / rows))
    return np.array(errors)
