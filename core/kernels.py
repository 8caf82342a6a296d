"""Kernels, each with its exact closed form: the truth that sketches estimate.

A kernel here is a value: it says how close two points are, from 1 (the same) down to 0 (far apart), and knows nothing
of hashing or privacy. Every one of them is the collision probability of a locality-sensitive hash family (see
`core.hashing`), which is what lets a table of counts stand for a kernel sum.

Sources: Datar, Immorlica, Indyk, Mirrokni 2004 (p-stable); Charikar 2002 (angular); Rahimi, Recht 2007 (random
binning); Coleman, Shrivastava, CCS 2021, sections 2.3 and 7.1 (powers, products and mixtures).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import ClassVar

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import ndtr

from .errors import RequestError

Bandwidth = float | tuple[float, ...]

MAX_POWER = 32
MAX_PARTS = 16


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


def _positive(bandwidth: object) -> Bandwidth:
    """A bandwidth as a float, or a tuple of floats, one a column; refuses what is not above zero and finite."""
    values = bandwidth if isinstance(bandwidth, (list, tuple, np.ndarray)) else [bandwidth]
    try:
        numbers = tuple(float(value) for value in values)
    except (TypeError, ValueError):
        raise RequestError("A bandwidth must be a number, or one number a column.") from None
    if not numbers or not all(math.isfinite(value) and 1e-150 < value < 1e150 for value in numbers):
        raise RequestError("A bandwidth must be finite and above zero, as it is the distance at which closeness fades.")
    return numbers if isinstance(bandwidth, (list, tuple, np.ndarray)) else numbers[0]


def _power(power: object) -> int:
    if isinstance(power, bool) or not isinstance(power, int) or not 1 <= power <= MAX_POWER:
        raise RequestError(f"The power of a kernel must be a whole number from 1 to {MAX_POWER}.")
    return power


@dataclass(frozen=True)
class _Stationary(Kernel):
    """A kernel of the difference x - y measured in bandwidths, raised to a whole power."""

    bandwidth: Bandwidth
    power: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "bandwidth", _positive(self.bandwidth))
        object.__setattr__(self, "power", _power(self.power))

    def distance(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Pairwise distance in bandwidths, (n, m)."""
        norm = {"l2": "euclidean", "l1": "cityblock"}[self.metric]
        return cdist(np.asarray(x) / self.bandwidth, np.asarray(y) / self.bandwidth, norm)


@dataclass(frozen=True)
class Euclidean(_Stationary):
    """Collision probability of the 2-stable hash floor((a.x + b)/w), a standard normal, w the bandwidth.

    With c = ||x - y||_2 / w: k = 1 - 2 Phi(-1/c) - c sqrt(2/pi) (1 - exp(-1/(2 c^2))), to the given power.
    It falls slowly, like 1/c, so far records count a little too.
    """

    name: ClassVar[str] = "euclidean"

    def evaluate(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        c = np.maximum(self.distance(x, y), 1e-100)
        u = 1.0 / c
        near = 1.0 - 2.0 * ndtr(-u) + math.sqrt(2.0 / math.pi) * c * np.expm1(-0.5 * u * u)
        # Far away the two terms cancel; the series there is u (1 - u^2/12 + ...) / sqrt(2 pi).
        far = u / math.sqrt(2.0 * math.pi)
        return np.where(u < 1e-2, far * (1.0 - np.minimum(u, 1.0) ** 2 / 12.0), near) ** self.power


@dataclass(frozen=True)
class Manhattan(_Stationary):
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
class Laplacian(_Stationary):
    """exp(-||x - y||_1 / sigma), sigma the bandwidth: the collision probability of random binning, exactly."""

    name: ClassVar[str] = "laplacian"
    metric: ClassVar[str] = "l1"

    def evaluate(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.exp(-self.power * self.distance(x, y))


@dataclass(frozen=True)
class Angular(Kernel):
    """1 - theta/pi for the angle between two points seen from the origin, to the given power: signed projections.

    A point at the origin has no angle: it agrees with any other point with probability 1/2, and with itself always.
    """

    power: int = 1
    name: ClassVar[str] = "angular"

    def __post_init__(self) -> None:
        object.__setattr__(self, "power", _power(self.power))

    def evaluate(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        x, y = np.atleast_2d(x).astype(float), np.atleast_2d(y).astype(float)
        x_norm, y_norm = np.linalg.norm(x, axis=1), np.linalg.norm(y, axis=1)
        x_unit, y_unit = (v / np.where(n > 0, n, 1.0)[:, None] for v, n in ((x, x_norm), (y, y_norm)))
        # The half-angle form keeps its digits for nearly parallel points, where arccos loses them.
        theta = 2.0 * np.arctan2(cdist(x_unit, y_unit), cdist(x_unit, -y_unit))
        at_origin = (x_norm == 0)[:, None], (y_norm == 0)[None, :]
        agree = np.where(at_origin[0] | at_origin[1], 0.5, 1.0 - theta / math.pi)
        return np.where(at_origin[0] & at_origin[1], 1.0, agree) ** self.power


@dataclass(frozen=True)
class Product(Kernel):
    """The product of kernels: their hashes concatenated (CCS 2021, section 7.1)."""

    parts: tuple[Kernel, ...]
    name: ClassVar[str] = "product"

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", _parts(self.parts))

    @property
    def metric(self) -> str:  # type: ignore[override]
        return _common_metric(self.parts)

    def evaluate(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return math.prod((part.evaluate(x, y) for part in self.parts), start=np.ones(1))

    def to_dict(self) -> dict:
        return {"name": self.name, "parts": [part.to_dict() for part in self.parts]}


@dataclass(frozen=True)
class Mixture(Kernel):
    """Sum of kernels with public weights that add up to 1: each row is given one of the families at random.

    It costs nothing in privacy, as a person still touches one cell a row.
    """

    parts: tuple[Kernel, ...]
    weights: tuple[float, ...]
    name: ClassVar[str] = "mixture"

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", _parts(self.parts))
        try:
            weights = tuple(float(weight) for weight in self.weights)
        except (TypeError, ValueError):
            raise RequestError("The weights of a mixture must be numbers.") from None
        if len(weights) != len(self.parts) or not all(0 < weight <= 1 for weight in weights):
            raise RequestError("A mixture needs one weight above zero for each of its kernels.")
        if abs(sum(weights) - 1.0) > 1e-9:
            raise RequestError("The weights of a mixture must add up to 1.")
        object.__setattr__(self, "weights", weights)

    @property
    def metric(self) -> str:  # type: ignore[override]
        return _common_metric(self.parts)

    def evaluate(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return sum(weight * part.evaluate(x, y) for weight, part in zip(self.weights, self.parts, strict=True))

    def to_dict(self) -> dict:
        return {
            "name": self.name,
            "parts": [part.to_dict() for part in self.parts],
            "weights": list(self.weights),
        }


def _parts(parts: object) -> tuple[Kernel, ...]:
    if not isinstance(parts, (list, tuple)) or not all(isinstance(part, Kernel) for part in parts):
        raise RequestError("A product or mixture is made of kernels.")
    if not 1 <= sum(_atoms(part) for part in parts) <= MAX_PARTS:
        raise RequestError(f"A product or mixture has from 1 to {MAX_PARTS} kernels, those of its own parts counted.")
    return tuple(parts)


def _atoms(kernel: Kernel) -> int:
    """How many kernels that are not themselves made of kernels there are in one."""
    return sum(_atoms(part) for part in kernel.parts) if isinstance(kernel, (Product, Mixture)) else 1


def _common_metric(parts: tuple[Kernel, ...]) -> str:
    return "l1" if all(part.metric == "l1" for part in parts) else "l2"


KERNELS: dict[str, type[Kernel]] = {
    kernel.name: kernel for kernel in (Euclidean, Manhattan, Laplacian, Angular, Product, Mixture)
}


def kernel_from_dict(value: object, depth: int = 0) -> Kernel:
    """The kernel that `Kernel.to_dict` wrote down.

    Raises
    ------
    RequestError
        On anything else, as the value may come from a stranger's file; nesting is limited to four levels.
    """
    name = value.get("name") if isinstance(value, Mapping) else None
    if not isinstance(name, str) or name not in KERNELS or depth > 4:
        raise RequestError(f"A kernel must be one of {', '.join(KERNELS)}.")
    facts = {key: entry for key, entry in value.items() if key != "name"}
    kernel = KERNELS[name]
    if set(facts) != {field.name for field in fields(kernel)}:
        raise RequestError(f"The parameters of the kernel {kernel.name!r} are not the ones it has.")
    if "parts" in facts:
        if not isinstance(facts["parts"], list) or len(facts["parts"]) > MAX_PARTS:
            raise RequestError(f"A product or mixture has from 1 to {MAX_PARTS} kernels.")
        facts["parts"] = tuple(kernel_from_dict(part, depth + 1) for part in facts["parts"])
    return kernel(**{key: tuple(v) if isinstance(v, list) else v for key, v in facts.items()})


def of_coordinates(kernel: Kernel, widths: tuple[int, ...]) -> Kernel:
    """The same kernel for encoded points, with one bandwidth a coordinate where there was one a column.

    Parameters
    ----------
    kernel : as a person states it.
    widths : number of coordinates of each column; a column of categories or vectors has several.
    """
    if isinstance(kernel, (Product, Mixture)):
        return replace(kernel, parts=tuple(of_coordinates(part, widths) for part in kernel.parts))
    if not isinstance(kernel, _Stationary) or not isinstance(kernel.bandwidth, tuple):
        return kernel
    return replace(kernel, bandwidth=tuple(coordinate_bandwidths(kernel.bandwidth, widths).tolist()))


def coordinate_bandwidths(bandwidth: Bandwidth, widths: tuple[int, ...]) -> np.ndarray:
    """The bandwidth of every encoded coordinate, (d,), from one number or one a column of the given widths."""
    if not isinstance(bandwidth, tuple):
        return np.full(sum(widths), bandwidth)
    if len(bandwidth) != len(widths):
        raise RequestError(f"The kernel has {len(bandwidth)} bandwidths, and the domain has {len(widths)} columns.")
    return np.repeat(np.asarray(bandwidth, dtype=np.float64), widths)
