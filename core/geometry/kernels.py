"""Kernels, each with its exact closed form: the truth that sketches estimate. Here those that are made of others.

A kernel is a value: it says how close two points are, from 1 (the same) down to 0 (far apart), and knows nothing of
hashing or privacy. A kernel that is the collision probability of a hash family lets a table of counts stand for its
sums (`core.geometry.hash_families`, RACE); one that is an average of cosines lets sums of cosines and sines do so
(`core.geometry.frequencies`, random features). Several are both. Products and mixtures of them (Coleman, Shrivastava,
CCS 2021, section 7.1) follow, and all kernels by their names, as the command line and release files write them.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import ClassVar

import numpy as np

from ..errors import RequestError
from ..runtime.parameters import Described, Number, Several, parameter
from .kernel import MAX_POWER as MAX_POWER
from .kernel import (
    Angular,
    Euclidean,
    Exponential,
    Gaussian,
    Jaccard,
    Kernel,
    Laplacian,
    Manhattan,
    Smooth,
    SmoothL1,
    SmoothSquared,
    Stationary,
    coordinate_bandwidths,
)
from .kernel import Bandwidth as Bandwidth
from .kernel import stationary as stationary
from .kernel import stretched as stretched

MAX_PARTS = 16
PARTS = Several(
    "The kernels of a product or mixture", Described("A part of a product or mixture", Kernel), 1, MAX_PARTS
)


@dataclass(frozen=True)
class Product(Kernel):
    """The product of kernels: their hashes concatenated (CCS 2021, section 7.1)."""

    parts: tuple[Kernel, ...] = parameter(PARTS)
    name: ClassVar[str] = "product"

    def _check(self) -> None:
        _check_parts(self.parts)

    @property
    def metric(self) -> str:  # type: ignore[override]
        return _common_metric(self.parts)

    def evaluate(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return math.prod((part.evaluate(x, y) for part in self.parts), start=np.ones(1))


@dataclass(frozen=True)
class Mixture(Kernel):
    """Sum of kernels with public weights that add up to 1: each row is given one of the families at random.

    It costs nothing in privacy, as a person still touches one cell a row.
    """

    parts: tuple[Kernel, ...] = parameter(PARTS)
    weights: tuple[float, ...] = parameter(Several("The weights of a mixture", Number("A weight of a mixture")))
    name: ClassVar[str] = "mixture"

    def _check(self) -> None:
        _check_parts(self.parts)
        if len(self.weights) != len(self.parts) or not all(0 < weight <= 1 for weight in self.weights):
            raise RequestError("A mixture needs one weight above zero for each of its kernels.")
        if abs(sum(self.weights) - 1.0) > 1e-9:
            raise RequestError("The weights of a mixture must add up to 1.")

    @property
    def metric(self) -> str:  # type: ignore[override]
        return _common_metric(self.parts)

    def evaluate(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        values = (weight * part.evaluate(x, y) for weight, part in zip(self.weights, self.parts, strict=True))
        return reduce(np.add, values)


def _check_parts(parts: tuple[Kernel, ...]) -> None:
    if any(isinstance(part, Jaccard) for part in parts):
        raise RequestError("The kernel 'jaccard' compares whole records that are sets, so it is no part of another.")
    if sum(atoms(part) for part in parts) > MAX_PARTS:
        raise RequestError(f"A product or mixture has from 1 to {MAX_PARTS} kernels, those of its own parts counted.")


def atoms(kernel: Kernel) -> int:
    """How many kernels that are not themselves made of kernels there are in one."""
    return sum(atoms(part) for part in kernel.parts) if isinstance(kernel, (Product, Mixture)) else 1


def of_straight_lines(kernel: Kernel) -> bool:
    """Whether closeness depends on straight-line distances alone, so that turning the coordinates changes nothing."""
    if isinstance(kernel, (Product, Mixture)):
        return all(of_straight_lines(part) for part in kernel.parts)
    return isinstance(kernel, Stationary) and kernel.metric == "l2"


def _common_metric(parts: tuple[Kernel, ...]) -> str:
    return "l1" if all(part.metric == "l1" for part in parts) else "l2"


def of_coordinates(kernel: Kernel, widths: tuple[int, ...]) -> Kernel:
    """The same kernel for encoded points, with one bandwidth a coordinate where there was one a column.

    `kernel`: As a person states it. `widths`: Number of coordinates of each column; a column of categories or vectors
    has several.
    """
    if isinstance(kernel, (Product, Mixture)):
        return replace(kernel, parts=tuple(of_coordinates(part, widths) for part in kernel.parts))
    if not isinstance(kernel, Stationary) or not isinstance(kernel.bandwidth, tuple):
        return kernel
    return replace(kernel, bandwidth=tuple(coordinate_bandwidths(kernel.bandwidth, widths).tolist()))


KERNELS: dict[str, type[Kernel]] = {
    kernel.name: kernel
    for kernel in (
        Euclidean,
        Manhattan,
        Laplacian,
        Angular,
        Gaussian,
        Exponential,
        Smooth,
        SmoothSquared,
        SmoothL1,
        Jaccard,
        Product,
        Mixture,
    )
}


def kernel_from_dict(value: object, depth: int = 0) -> Kernel:
    """The kernel that `Kernel.to_dict` wrote down."""
    name = value.get("name") if isinstance(value, Mapping) else None
    if not isinstance(value, Mapping) or not isinstance(name, str) or name not in KERNELS or depth > 4:
        raise RequestError(f"A kernel must be one of {', '.join(KERNELS)}.")
    kernel = KERNELS[name]
    facts = kernel.read({key: entry for key, entry in value.items() if key != "name"})
    if "parts" in facts:
        facts["parts"] = [kernel_from_dict(part, depth + 1) for part in facts["parts"]]
    return kernel(**facts)


class KernelKind(Described):
    """A kernel, with all that it is made of."""

    def read(self, value: object) -> Kernel:
        return kernel_from_dict(value)


KERNEL = KernelKind("The kernel", Kernel)  # What the field of a sketch may be that holds one.
