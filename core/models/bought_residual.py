"""How far off a model of numbers is, bought after it was trained: the sum of all squared residuals, each cut first.

Residuals are whole numbers of 2^-12 standard deviations of what is predicted, cut where they pass two of them, and
each is a function of its record and of what was released before alone. One record more or less moves the sum by no
more than that square, and so does a replaced one, as squares are at least 0.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ..privacy.calibration import NoiseScale
from ..privacy.neighbours import Sensitivity
from ..privacy.noise.noise import add_noise
from ..privacy.noise.randomness import Source as NoiseSource
from .residuals import RESIDUAL_UNIT

FIT_SHARE = Fraction(2, 100)
FARTHEST_OFF = 2 * RESIDUAL_UNIT
"""Where residuals are cut before they are squared: two standard deviations of what is predicted."""
FIT_SENSITIVITY = Sensitivity(FARTHEST_OFF**2, FARTHEST_OFF**4)
DOUBT = 0.5
"""Of a sum of squares, the share that noise may be for the model to say how far off it is."""


def sum_of_squares(off: np.ndarray) -> int:
    """Of residuals (n,) in standard deviations, exact and private."""
    cut = np.clip(off * RESIDUAL_UNIT, -FARTHEST_OFF, FARTHEST_OFF).astype(np.int64)
    return int((cut * cut).sum())


def bought_residual(exact: int, records: float, noise: NoiseScale, noise_source: NoiseSource) -> float | None:
    """Root of the mean squared residual in standard deviations, as bought; None where noise hides it.

    Parameters
    ----------
    exact : int
        Of `sum_of_squares`.
    records : float
        How many there are, as far as is known.
    noise : NoiseScale
        Of the sum.
    noise_source : NoiseSource
        Where the noise comes from.
    """
    square = float(add_noise(np.array([exact], np.int64), noise, noise_source)[0])
    return None if square <= math.sqrt(noise.variance) / DOUBT else math.sqrt(square / records) / RESIDUAL_UNIT
