"""Kernels that are, by definition, the collision probability of one hash function.

Sources: Datar, Immorlica, Indyk, Mirrokni 2004 (p-stable); Charikar 2002 (angular).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import erf

from ...parameters import parameter
from .kernel import POWER, Kernel, Stationary


@dataclass(frozen=True)
class Euclidean(Stationary):
    """Collision probability of the 2-stable hash floor((a.x + b)/w), a standard normal, w the bandwidth.

    With c = ||x - y||_2 / w: k = 1 - 2 Phi(-1/c) - c sqrt(2/pi) (1 - exp(-1/(2 c^2))), to the given power.
    It falls slowly, like 1/c, so far records count a little too.
    """

    name: ClassVar[str] = "euclidean"

    def evaluate(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        c = np.maximum(self.distance(x, y), 1e-100)
        u = 1.0 / c
        k = erf(math.sqrt(0.5) * u) + math.sqrt(2.0 / math.pi) * c * np.expm1(-0.5 * u * u)
        # Far away the two terms cancel; the series there is u (1 - u^2/12 + ...) / sqrt(2 pi).
        far = u < 1e-2
        if far.any():
            k[far] = u[far] / math.sqrt(2.0 * math.pi) * (1.0 - u[far] ** 2 / 12.0)
        return k if self.power == 1 else k**self.power


@dataclass(frozen=True)
class Manhattan(Stationary):
    """Collision probability of the 1-stable hash, a standard Cauchy.

    With c = ||x - y||_1 / w: k = (2/pi) arctan(1/c) - (c/pi) ln(1 + 1/c^2), to the given power.
    """

    name: ClassVar[str] = "manhattan"
    metric: ClassVar[str] = "l1"

    def evaluate(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        c = np.maximum(self.distance(x, y), 1e-90)
        near = 2.0 / math.pi * np.arctan(1.0 / c) - c / math.pi * np.log1p(1.0 / (c * c))
        far = (1.0 / c) / math.pi * (1.0 - 1.0 / (6.0 * c * c))  # the two terms cancel far away
        return np.where(c > 1e4, far, near) ** self.power


@dataclass(frozen=True)
class Angular(Kernel):
    """1 - theta/pi for the angle between two points seen from the origin, to the given power: signed projections.

    A point at the origin has no angle: it agrees with any other point with probability 1/2, and with itself always.
    """

    power: int = parameter(POWER, 1)
    name: ClassVar[str] = "angular"

    def evaluate(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        x, y = _visible(np.atleast_2d(x).astype(float)), _visible(np.atleast_2d(y).astype(float))
        x_norm, y_norm = np.linalg.norm(x, axis=1), np.linalg.norm(y, axis=1)
        x_unit, y_unit = (v / np.where(n > 0, n, 1.0)[:, None] for v, n in ((x, x_norm), (y, y_norm)))
        # The half-angle form keeps its digits for nearly parallel points, where arccos loses them.
        theta = 2.0 * np.arctan2(cdist(x_unit, y_unit), cdist(x_unit, -y_unit))
        at_origin = (x_norm == 0)[:, None], (y_norm == 0)[None, :]
        agree = np.where(at_origin[0] | at_origin[1], 0.5, 1.0 - theta / math.pi)
        return np.where(at_origin[0] & at_origin[1], 1.0, agree) ** self.power


def _visible(points: np.ndarray) -> np.ndarray:
    """The points, those near the origin in the same direction further out: their squares would be lost."""
    near = np.abs(points).max(axis=1, initial=0.0, keepdims=True) < 2.0**-400
    return points * np.where(near, 2.0**600, 1.0)
