"""Records as vectors of length 1 at most, and how the loss that is minimised over them is perturbed."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from .certified_logistic import UNIT_BITS

# Longest features and the constant beside them, in units: squares that add up to no more than a whole.
FEATURE_SHARE, CONSTANT_SHARE = 4 * (1 << UNIT_BITS) // 5, 3 * (1 << UNIT_BITS) // 5
THEOREM = (
    "The coefficients are those of a logistic loss with a random linear term, of density proportional to "
    "exp(-rate times length), rounded to a grid (Chaudhuri, Monteleoni, Sarwate 2011, Theorem 9)."
)
LENGTHS = (1 << UNIT_BITS) ** 2  # The largest squared length, in units.


@dataclass(frozen=True)
class Perturbation:
    """How every problem is perturbed."""

    rate: Fraction  # r; the noise vector's density is proportional to exp(-r|b|).
    curvature: Fraction  # k, of the term k|f|²/2.


def vectors_of(points: np.ndarray, centre: np.ndarray, radius: float) -> np.ndarray:
    """Records as vectors of length 1 at most, in units of 2^-30: int64 (n, d + 1).

    The offset from the centre, no longer than the radius, becomes 0.8 of a unit long at most; a constant 0.6 in the
    last place carries the intercept. Entries are cut toward zero, and as long as the exact sum of squares exceeds what
    is allowed, every entry moves one unit toward zero.

    `points`: float64 (n, d); each record's vector is a function of that record alone, bit for bit.
    """
    offsets = [column - middle for column, middle in zip(points.T, centre, strict=True)]
    # In the order of the coordinates, as sums along an axis may depend on the records beside.
    squares = np.zeros(len(points))
    for offset in offsets:
        with np.errstate(over="ignore"):  # a record that is too far off for a float loses its features
            squares += (offset / radius) ** 2
    factor = FEATURE_SHARE / np.maximum(np.sqrt(squares), 1.0) / radius
    units = np.empty((len(points), len(offsets) + 1), np.int64)
    for place, offset in enumerate(offsets):
        units[:, place] = np.clip(offset * factor, -FEATURE_SHARE, FEATURE_SHARE)
    units[:, -1] = CONSTANT_SHARE
    while (long := np.flatnonzero((units * units).sum(axis=1) > LENGTHS)).size:
        units[long, :-1] -= np.sign(units[long, :-1])
    return units
