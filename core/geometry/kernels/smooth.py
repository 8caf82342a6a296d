"""Smooth kernels 1/(1 + z): they fall polynomially, so that far records count as well.

Since (1 + z)^-p is the mean of exp(-t z) over t of the Gamma(p) law, each is a mixture of exponentially falling kernels
with random scales, exactly; for p = 1, t is a standard exponential variable. Backurs, Lin, Mahabadi, Silwal, Tarnawski
(ICLR 2024), section 8, approximate the same integral by a sum of a few terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .kernel import Stationary


@dataclass(frozen=True)
class Smooth(Stationary):
    """1 / (1 + ||x - y||_2 / sigma), sigma the bandwidth, to the given power."""

    name: ClassVar[str] = "smooth"

    def evaluate(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return (1.0 + self.distance(x, y)) ** -self.power


@dataclass(frozen=True)
class SmoothSquared(Stationary):
    """1 / (1 + ||x - y||_2^2 / sigma^2), sigma the bandwidth, to the given power."""

    name: ClassVar[str] = "smooth-squared"

    def evaluate(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return (1.0 + self.distance(x, y) ** 2) ** -self.power


@dataclass(frozen=True)
class SmoothL1(Stationary):
    """1 / (1 + ||x - y||_1 / sigma), sigma the bandwidth, to the given power."""

    name: ClassVar[str] = "smooth-l1"
    metric: ClassVar[str] = "l1"

    def evaluate(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return (1.0 + self.distance(x, y)) ** -self.power
