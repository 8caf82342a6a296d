"""A number predicted by noisy gradient descent on the squared error: as `descent`, with two more tables bought.

**Where the numbers lie.** With y between -1 and 1 in whole units u, the sums of y and of floor(y²/u) are bought. One
record more or less moves them by L2² = 2u², a replaced one by 5u² at most, as y differs by 2u and the squares by u.
They say a middle and a length: a record's goal is its distance from that middle in those lengths, a whole number that
is a function of the record and of what was bought alone. Its slope is the score less the goal, cut as in `descent`.

The length is one standard deviation, and up to four of them where so many records outweigh the noise: slopes beyond it
are cut, which moves what is learnt from a mean toward a median. Steps go on with nine tenths of the last one (heavy
ball; Polyak 1964), as squares curve the same everywhere: what lies along thin directions is learnt ten times as fast.

**How well it fits.** After the last step the sum of the squared residuals, each cut at two standard deviations, is
bought, so that the model can say how far off it is. One record moves it by that square at most, under both relations.

All tables are of whole numbers with discrete Gaussian noise under one zCDP account; each is chosen in view of earlier
ones, which zCDP allows (Bun, Steinke 2016).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ..parameters import Number, Resolved, parameter
from ..privacy.budget import Budget
from ..privacy.calibration import NoiseScale
from ..privacy.neighbours import Neighbours, Sensitivity
from ..privacy.noise.noise import add_noise
from ..privacy.noise.randomness import Source as NoiseSource
from .bought_residual import FIT_SENSITIVITY, FIT_SHARE, bought_residual, sum_of_squares
from .descent import UNIT, Descent, scores_of
from .method import NumberMethod
from .model_file import BITS
from .number_model import NumberModel
from .residuals import RESIDUAL_BITS, offsets

GOALS_SHARE = Fraction(1, 100)
SHORTEST, LONGEST = 1.0 / 64.0, 4.0
"""The least length of goals between -1 and 1, and the most standard deviations that a length is."""


@dataclass(frozen=True)
class Goals:
    """Where what is predicted lies, between -1 and 1, and how well it was learnt.

    Attributes
    ----------
    middle, length : float
        A goal of 1 is middle + length.
    deviation : float
        The standard deviation, as far as is known.
    records : float
        How many there are, as far as is known.
    residual : float | None
        Root of the mean squared residual; None where noise hides it.
    """

    middle: float
    length: float
    deviation: float
    records: float
    residual: float | None = None


@dataclass(frozen=True)
class NumberDescent(Descent[NumberModel], NumberMethod):
    """A number by full-batch gradient descent with noise in every step.

    Parameters
    ----------
    domain, label, radius, steps, rate, clip : Domain, str, float | None, int, float | None, float
        As of `Descent`.

    Raises
    ------
    RequestError
        When a parameter is out of range.
    """

    clip: Resolved[float] = parameter(Number("The largest slope", 1e-2, 10.0), 1.0)
    name: ClassVar[str] = "descent"
    described: ClassVar[str] = "noisy gradient descent"
    instead: ClassVar[str] = "sums of products"
    longest_rate: ClassVar[float] = 1.0
    score_noise: ClassVar[float] = 0.1
    farthest: ClassVar[float] = 8.0
    momentum: ClassVar[float] = 0.9

    def residuals(self, scores: np.ndarray, goals: Any, most: np.ndarray) -> np.ndarray:
        return offsets(scores, goals, most)

    def _bought(self, neighbours: Neighbours) -> list[tuple[Sensitivity, Fraction]]:
        return [
            (goals_sensitivity(neighbours), GOALS_SHARE),
            (FIT_SENSITIVITY, FIT_SHARE),
        ]

    def _goals(
        self, codes: np.ndarray, records: float, of_step: NoiseScale, bought: Sequence[NoiseScale], noise: NoiseSource
    ) -> tuple[Any, Goals]:
        noisy = add_noise(goals_table(codes), bought[0], noise) / UNIT
        doubt = math.sqrt(bought[0].variance) / UNIT / records
        middle = float(np.clip(noisy[0] / records, -1.0, 1.0))
        variance = max(float(noisy[1] / records) - middle**2, doubt, SHORTEST**2)
        outweighed = self.longest_step(of_step, records, math.inf)
        deviation = math.sqrt(min(variance, 1.0))
        length = deviation * min(LONGEST, max(1.0, outweighed))
        return whole_goals(codes, middle, length), Goals(middle, length, deviation, records)

    def _judged(
        self,
        whole: np.ndarray,
        goals: Any,
        weights: np.ndarray,
        known: Goals,
        bought: Sequence[NoiseScale],
        noise: NoiseSource,
    ) -> Goals:
        exact = self.squares(whole, goals, np.rint(weights), known.length / known.deviation)
        off = bought_residual(exact, known.records, bought[1], noise)
        return known if off is None else replace(known, residual=known.deviation * off)

    def squares(self, whole: np.ndarray, goals: Any, weights: np.ndarray, lengths: float) -> int:
        """The sum of squared residuals at whole coefficients, in units of deviations, exact and private.

        Parameters
        ----------
        whole, goals, weights : np.ndarray, Any, np.ndarray
            Standardised records, their goals, and whole coefficients.
        lengths : float
            How many standard deviations a length is.
        """
        scores = scores_of(whole, weights)[:, 0]
        return sum_of_squares((scores - np.ldexp(goals.astype(np.float64), -RESIDUAL_BITS)) * lengths)

    def _made(
        self, weights: np.ndarray, known: Goals, budget: Budget, details: dict[str, str], noise_source: NoiseSource
    ) -> NumberModel:
        found = weights[0] * (known.length / (1 << BITS))
        found[0] += known.middle
        details |= {"spread": repr(known.length)}
        return self._model(found, budget, details, noise_source, residual=known.residual)


def goals_sensitivity(neighbours: Neighbours) -> Sensitivity:
    """How far one record moves `goals_table`; see the module."""
    if neighbours is Neighbours.REPLACE_ONE:
        return Sensitivity(3 * UNIT, 5 * UNIT**2)
    return Sensitivity(2 * UNIT, 2 * UNIT**2)


def goals_table(numbers: np.ndarray) -> np.ndarray:
    """The sums of numbers in units, and of their squares in units: int64 (2,), exact and private."""
    return np.array([numbers.sum(), (numbers * numbers // UNIT).sum()], np.int64)


def whole_goals(numbers: np.ndarray, middle: float, length: float) -> np.ndarray:
    """How far numbers in units are from the middle, in 2^-12 of the length, cut toward zero, int64 (n,)."""
    return np.asarray((numbers - round(middle * UNIT)) * (2.0**RESIDUAL_BITS / (length * UNIT)), np.int64)
