"""Kernels that fall exponentially with a distance: Gaussian, exponential, Laplacian.

Each is the average of cos(w.(x - y)) over random frequencies w (Bochner's theorem; Rahimi, Recht 2007). A power p is
the same kernel with a narrower bandwidth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .kernel import Stationary


@dataclass(frozen=True)
class Gaussian(Stationary):
    """exp(-||x - y||_2^2 / (2 sigma^2)), sigma the bandwidth, to the given power.

    Papers that write exp(-||x - y||_2^2) have sigma = 1/sqrt(2).
    """

    name: ClassVar[str] = "gaussian"

    def evaluate(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.exp(-0.5 * self.power * self.distance(x, y) ** 2)


@dataclass(frozen=True)
class Exponential(Stationary):
    """exp(-||x - y||_2 / sigma), sigma the bandwidth, to the given power."""

    name: ClassVar[str] = "exponential"

    def evaluate(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.exp(-self.power * self.distance(x, y))


@dataclass(frozen=True)
class Laplacian(Stationary):
    """exp(-||x - y||_1 / sigma), sigma the bandwidth: the collision probability of random binning, exactly."""

    name: ClassVar[str] = "laplacian"
    metric: ClassVar[str] = "l1"

    def evaluate(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.exp(-self.power * self.distance(x, y))
