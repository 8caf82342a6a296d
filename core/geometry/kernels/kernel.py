"""What a kernel is: how close two points are, and the public parameters that say so."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy.spatial.distance import cdist

from ...domain.item_sets import Encoded
from ...errors import RequestError
from ...parameters import Declared, Kind, Whole, parameter

Bandwidth = float | tuple[float, ...]

MAX_POWER = 32
POWER = Whole("The power of a kernel", 1, MAX_POWER)


class Kernel(Declared, ABC):
    """How close two points are. Subclasses are frozen dataclasses of public parameters."""

    name: ClassVar[str]
    described: ClassVar[str] = "kernel"
    metric: ClassVar[str] = "l2"
    """The metric in which two different categories are at the domain's stated distance: "l2" or "l1"."""
    of_sets: ClassVar[bool] = False
    """Whether it compares sets of items, and not points."""

    @abstractmethod
    def evaluate(self, x: Encoded, y: Encoded) -> np.ndarray:
        """The exact kernel between every pair, float64 (n, m), for encoded points x (n, d) and y (m, d)."""

    def to_dict(self) -> dict[str, Any]:
        """A value for JSON from which `kernel_from_dict` makes an equal kernel."""
        return {"name": self.name} | self.written()


class BandwidthKind(Kind):
    """A number above zero, or a list of them, one a column."""

    def checked(self, value: object) -> Bandwidth:
        if isinstance(value, np.ndarray):
            value = value.tolist()
        if isinstance(value, (list, tuple)) and value:
            return tuple(_checked_length(one) for one in value)
        return _checked_length(value)

    def written(self, value: Bandwidth) -> float | list[float]:
        return list(value) if isinstance(value, tuple) else value


def _checked_length(value: object) -> float:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise RequestError("A bandwidth must be a number, or one number a column.")
    try:
        length = float(value)
    except OverflowError:  # a whole number beyond floating point
        length = np.inf
    if not 1e-150 < length < 1e150:
        raise RequestError("A bandwidth must be finite and above zero, as it is the distance at which closeness fades.")
    return length


@dataclass(frozen=True)
class Stationary(Kernel):
    """A kernel of the difference x - y measured in bandwidths, raised to a whole power."""

    bandwidth: Bandwidth = parameter(BandwidthKind())
    power: int = parameter(POWER, 1)

    def distance(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Pairwise distance in bandwidths, (n, m)."""
        norm = {"l2": "euclidean", "l1": "cityblock"}[self.metric]
        return cdist(np.asarray(x) / self.bandwidth, np.asarray(y) / self.bandwidth, norm)


def stationary(kernel: Kernel) -> Stationary:
    """The kernel, for what only knows kernels of the difference; RequestError where it is another."""
    if not isinstance(kernel, Stationary):
        raise RequestError(f"The kernel {kernel.name!r} has no bandwidth.")
    return kernel


def stretched(kernel: Stationary, factor: float) -> Stationary:
    """The kernel with every bandwidth so many times as long."""
    own = kernel.bandwidth
    return replace(kernel, bandwidth=tuple(one * factor for one in own) if isinstance(own, tuple) else own * factor)


def coordinate_bandwidths(bandwidth: Bandwidth, widths: tuple[int, ...]) -> np.ndarray:
    """The bandwidth of every encoded coordinate, (d,), from one number or one a column of the given widths."""
    if not isinstance(bandwidth, tuple):
        return np.full(sum(widths), bandwidth)
    if len(bandwidth) != len(widths):
        raise RequestError(f"The kernel has {len(bandwidth)} bandwidths, and the domain has {len(widths)} columns.")
    return np.repeat(np.asarray(bandwidth, dtype=np.float64), widths)
