"""What a kernel is: how close two points are, and the public parameters that say so.

Three fall exponentially with a distance (Gaussian, exponential, Laplacian). Each of them is the average of cos(w.(x -
y)) over random frequencies w (Bochner's theorem; Rahimi, Recht 2007). A power p is the same kernel with a narrower
bandwidth.

Smooth kernels 1/(1 + z) fall polynomially, so that far records count as well. Since (1 + z)^-p is the mean of exp(-t z)
over t of the Gamma(p) law, each is a mixture of exponentially falling kernels with random scales, exactly; for p = 1, t
is a standard exponential variable. Backurs, Lin, Mahabadi, Silwal, Tarnawski (ICLR 2024), section 8, approximate the
same integral by a sum of a few terms.

Three are, by definition, the collision probability of one hash function: Manhattan and Euclidean of a p-stable one
(Datar, Immorlica, Indyk, Mirrokni 2004), angular of a random plane (Charikar 2002).

The kernel of sets: which share of all items of two sets both of them have (Jaccard 1901).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy
from scipy.special import erf

from ..domain.item_sets import Encoded, Sets
from ..errors import RequestError
from ..runtime.compiled_code import njit
from ..runtime.environment import over_ranges
from ..runtime.parameters import Kind, Validated, Whole, parameter

Bandwidth = float | tuple[float, ...]

MAX_POWER = 32
POWER = Whole("The power of a kernel", 1, MAX_POWER)


class Kernel(Validated, ABC):
    """How close two points are. Subclasses are frozen dataclasses of public parameters."""

    name: ClassVar[str]
    described: ClassVar[str] = "kernel"
    # The metric in which two different categories are at the domain's stated distance: "l2" or "l1".
    metric: ClassVar[str] = "l2"
    of_sets: ClassVar[bool] = False  # Whether it compares sets of items, and not points.

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
        return scipy.spatial.distance.cdist(np.asarray(x) / self.bandwidth, np.asarray(y) / self.bandwidth, norm)


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
        apart, opposite = (scipy.spatial.distance.cdist(x_unit, sign * y_unit) for sign in (1.0, -1.0))
        theta = 2.0 * np.arctan2(apart, opposite)
        at_origin = (x_norm == 0)[:, None], (y_norm == 0)[None, :]
        agree = np.where(at_origin[0] | at_origin[1], 0.5, 1.0 - theta / math.pi)
        return np.where(at_origin[0] & at_origin[1], 1.0, agree) ** self.power


def _visible(points: np.ndarray) -> np.ndarray:
    """The points, those near the origin in the same direction further out: their squares would be lost."""
    near = np.abs(points).max(axis=1, initial=0.0, keepdims=True) < 2.0**-400
    return points * np.where(near, 2.0**600, 1.0)


@dataclass(frozen=True)
class Jaccard(Kernel):
    """|A and B| / |A or B|: 1 for the same set, 0 for sets without a common item.

    It is the collision probability of MinHash, the least of random numbers given to the items (Broder 1997). Two empty
    sets are not like each other: an empty set is like nothing.
    """

    name: ClassVar[str] = "jaccard"
    of_sets: ClassVar[bool] = True

    def evaluate(self, x: Sets, y: Sets) -> np.ndarray:
        """The exact kernel between every pair, float64 (n, m), for n and m sets."""
        similarities = np.empty((len(x), len(y)))
        index = _Index.of(y)

        def fill(start: int, stop: int) -> None:
            _similarities(*index.arrays, *index.look_up(x[start:stop]), similarities[start:stop])

        over_ranges(len(x), fill, at_least=8)
        return similarities

    def sums(self, x: Sets, y: Sets) -> np.ndarray:
        """The exact kernel sum of every set of x over all sets of y, float64 (n,), in the memory of y alone."""
        totals = np.empty(len(x))
        index = _Index.of(y)

        def fill(start: int, stop: int) -> None:
            _sums(*index.arrays, *index.look_up(x[start:stop]), totals[start:stop])

        over_ranges(len(x), fill, at_least=8)
        return totals


@dataclass(frozen=True)
class _Index:
    """Which sets hold an element: an inverted index."""

    elements: np.ndarray  # uint64, every element there is, ascending.
    first: np.ndarray  # int64, where the sets that hold each element begin in ``holders``.
    holders: np.ndarray  # int32, numbers of sets.
    sizes: np.ndarray  # int64 (m,), distinct elements of each set.

    @classmethod
    def of(cls, sets: Sets) -> _Index:
        distinct = sets.distinct()
        order = np.argsort(distinct.elements, kind="stable")
        elements, first = np.unique(distinct.elements[order], return_index=True)
        holders = np.repeat(np.arange(len(sets), dtype=np.int32), distinct.sizes)[order]
        return cls(elements, np.append(first, len(order)).astype(np.int64), holders, distinct.sizes)

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.first, self.holders, self.sizes

    def look_up(self, sets: Sets) -> tuple[np.ndarray, np.ndarray]:
        """Where sets begin among their distinct elements, and the place of each element here, -1 where it is absent."""
        distinct = sets.distinct()
        if not len(self.elements):
            return distinct.first, np.full(len(distinct.elements), -1)
        places = np.minimum(np.searchsorted(self.elements, distinct.elements), len(self.elements) - 1)
        return distinct.first, np.where(self.elements[places] == distinct.elements, places, -1)


@njit(nogil=True, cache=True, inline="always")
def _count(first, holders, places, begin, end, shared, touched):
    """Add 1 to ``shared`` for every element of a query that a set holds; return how many sets were touched."""
    count = 0
    for at in range(begin, end):
        place = places[at]
        if place >= 0:
            for k in range(first[place], first[place + 1]):
                holder = holders[k]
                if shared[holder] == 0:
                    touched[count] = holder
                    count += 1
                shared[holder] += 1
    return count


@njit(nogil=True, cache=True)
def _similarities(first, holders, sizes, begins, places, out):
    shared, touched = np.zeros(len(sizes), np.int32), np.empty(len(sizes), np.int32)
    for q in range(len(begins) - 1):
        out[q] = 0.0
        own = begins[q + 1] - begins[q]
        for k in range(_count(first, holders, places, begins[q], begins[q + 1], shared, touched)):
            holder = touched[k]
            both = shared[holder]
            out[q, holder] = both / (own + sizes[holder] - both)
            shared[holder] = 0


@njit(nogil=True, cache=True)
def _sums(first, holders, sizes, begins, places, out):
    shared, touched = np.zeros(len(sizes), np.int32), np.empty(len(sizes), np.int32)
    for q in range(len(begins) - 1):
        total = 0.0
        own = begins[q + 1] - begins[q]
        for k in range(_count(first, holders, places, begins[q], begins[q + 1], shared, touched)):
            holder = touched[k]
            both = shared[holder]
            total += both / (own + sizes[holder] - both)
            shared[holder] = 0
        out[q] = total
