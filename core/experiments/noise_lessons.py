"""Lessons on noise: why averaging breaks noise drawn for every question, and why a risk δ buys so much here.

With δ, the noise of an answer does not grow with the number of rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ..domain import Domain
from ..geometry.kernels import Laplacian
from ..privacy.budget import Budget
from ..privacy.calibration import NoiseScale, calibrate, calibrate_gaussian
from ..privacy.neighbours import Neighbours
from ..privacy.noise.noise import discrete_laplace
from ..privacy.noise.randomness import SeededSource
from ..sketches.hashed.race import Race

MOST = 5000  # Questions that may be asked.


@dataclass(frozen=True)
class Asked:
    """The same question, asked again and again."""

    secret: int
    epsilon: Fraction
    answers: np.ndarray

    @property
    def averages(self) -> np.ndarray:
        """The average of the first k answers for k = 1 … times, float64 (times,)."""
        return np.cumsum(self.answers) / np.arange(1, len(self.answers) + 1)

    @property
    def released(self) -> int:
        """What a release says however often it is asked: its noise was drawn once, as for the first answer."""
        return int(self.answers[0])

    @property
    def spent(self) -> Fraction:
        """What all the answers cost together: privacy losses add up."""
        return self.epsilon * len(self.answers)

    @property
    def error(self) -> float:
        """Standard deviation of the average of all answers: one answer's, divided by the root of their number."""
        one = NoiseScale("discrete_laplace", 1 / self.epsilon)
        return (one.variance / len(self.answers)) ** 0.5

    @property
    def found_from(self) -> int | None:
        """From which question on the average, rounded, is the secret; None where it is not at the end."""
        wrong = np.flatnonzero(np.rint(self.averages) != self.secret)
        first = 1 if not len(wrong) else int(wrong[-1]) + 2
        return first if first <= len(self.answers) else None


# A draw whose averages stay in their usual range, as most do: a class should see the rule before an exception.
TYPICAL = 41


def ask(secret: int, epsilon: str, times: int, draw: int = TYPICAL) -> Asked:
    """Ask ``times`` times; whoever asks more often gets the same first answers and more."""
    loss = Fraction(epsilon)
    noise = discrete_laplace(MOST, 1 / loss, SeededSource(draw))[:times]
    return Asked(secret, loss, secret + noise)


ROWS = (4, 6, 10, 15, 25, 40, 60, 100, 150, 250, 400, 600, 1000, 1500, 2500, 4000, 6000, 10_000)


@dataclass(frozen=True)
class NoiseOfRows:
    """Noise of the mean of R rows, as standard deviations in people."""

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
