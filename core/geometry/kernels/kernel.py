"""What a kernel is: how close two points are, and the public parameters that say so."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
from scipy.spatial.distance import cdist

from ...errors import RequestError

Bandwidth = float | tuple[float, ...]

MAX_POWER = 32


class Kernel(ABC):
    """How close two points are. Subclasses are frozen dataclasses of public parameters."""

    name: ClassVar[str]
    metric: ClassVar[str] = "l2"
    """The metric in which two different categories are at the domain's stated distance: "l2" or "l1"."""

    @abstractmethod
    def evaluate(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The exact kernel between every pair, float64 (n, m), for encoded points x (n, d) and y (m, d)."""

    def to_dict(self) -> dict:
        """A value for JSON from which `kernel_from_dict` makes an equal kernel."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"name": self.name} | {key: list(v) if isinstance(v, tuple) else v for key, v in values.items()}


def checked_bandwidth(bandwidth: object) -> Bandwidth:
    """A bandwidth as a float, or a tuple of floats, one a column; refuses what is not above zero and finite."""
    values = bandwidth if isinstance(bandwidth, (list, tuple, np.ndarray)) else [bandwidth]
    try:
        numbers = tuple(float(value) for value in values)
    except (TypeError, ValueError, OverflowError):
        raise RequestError("A bandwidth must be a number, or one number a column.") from None
    if not numbers or not all(math.isfinite(value) and 1e-150 < value < 1e150 for value in numbers):
        raise RequestError("A bandwidth must be finite and above zero, as it is the distance at which closeness fades.")
    return numbers if isinstance(bandwidth, (list, tuple, np.ndarray)) else numbers[0]


def checked_power(power: object) -> int:
    """The power of a kernel as an integer; refuses anything else."""
    if isinstance(power, bool) or not isinstance(power, int) or not 1 <= power <= MAX_POWER:
        raise RequestError(f"The power of a kernel must be a whole number from 1 to {MAX_POWER}.")
    return power


@dataclass(frozen=True)
class Stationary(Kernel):
    """A kernel of the difference x - y measured in bandwidths, raised to a whole power."""

    bandwidth: Bandwidth
    power: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "bandwidth", checked_bandwidth(self.bandwidth))
        object.__setattr__(self, "power", checked_power(self.power))

    def distance(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Pairwise distance in bandwidths, (n, m)."""
        norm = {"l2": "euclidean", "l1": "cityblock"}[self.metric]
        return cdist(np.asarray(x) / self.bandwidth, np.asarray(y) / self.bandwidth, norm)


def coordinate_bandwidths(bandwidth: Bandwidth, widths: tuple[int, ...]) -> np.ndarray:
    """The bandwidth of every encoded coordinate, (d,), from one number or one a column of the given widths."""
    if not isinstance(bandwidth, tuple):
        return np.full(sum(widths), bandwidth)
    if len(bandwidth) != len(widths):
        raise RequestError(f"The kernel has {len(bandwidth)} bandwidths, and the domain has {len(widths)} columns.")
    return np.repeat(np.asarray(bandwidth, dtype=np.float64), widths)
