"""Why averaging breaks noise that is drawn for every question, and gains nothing from a release."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...privacy.calibration import NoiseScale
from ...privacy.noise.noise import discrete_laplace
from ...privacy.noise.randomness import SeededSource

MOST = 5000
"""Questions that may be asked."""


@dataclass(frozen=True)
class Asked:
    """The same question, asked again and again.

    Attributes
    ----------
    secret : int
        The exact count.
    epsilon : Fraction
        The privacy loss of one answer.
    answers : np.ndarray
        int64 (times,), each with fresh noise.
    """

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


TYPICAL = 41
"""A draw whose averages stay in their usual range, as most do: a class should see the rule before an exception."""


def ask(secret: int, epsilon: str, times: int, draw: int = TYPICAL) -> Asked:
    """Ask ``times`` times; whoever asks more often gets the same first answers and more."""
    loss = Fraction(epsilon)
    noise = discrete_laplace(MOST, 1 / loss, SeededSource(draw))[:times]
    return Asked(secret, loss, secret + noise)
