"""Closeness of records to fixed public places as whole numbers: what mechanisms that tabulate a kernel add up.

A record's numbers must depend on that record alone, bit for bit. Exponentials and their like, applied to arrays, do not
promise it: libraries compute the last few entries of an array by other instructions than the rest. So a kernel is read
here from public tables, with sums, products and square roots only, one record after the other, and every one of these
is rounded in the one way that IEEE 754 allows.

A kernel of a distance in bandwidths is kept as a cubic in each 128th of each octave [2^e, 2^(e+1)) of the distance, or
of its square where the distance is Euclidean, found from the leading bits of that as a floating-point number; an angle
is read at s = tan(a/2)/(1 + tan(a/2)). Both are within 1e-10 of the kernel, whatever its peak (a test sees to it).
Products and mixtures are made in whole numbers, exactly.

Adding records' whole numbers to a table, none of which may move it further than declared.

What a record adds is a function of that record alone, so scaling it down is too: where its L1 norm or its squared L2
norm exceeds the declared one, all of its numbers are multiplied by a fraction and cut toward zero, until both norms,
computed exactly, keep to the bounds. The sensitivity then holds whatever went before, and the bounds may be found by
trying public records: one beyond them costs a little bias and no privacy.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, reduce

import numpy as np

from ...errors import RequestError
from ...geometry.kernels import Angular, Kernel, Mixture, Product, Stationary, stationary
from ...runtime.compiled_code import njit

BITS = 30  # Closeness is counted in units of 2^-30.
_PARTS = 7  # An octave has 2^7 parts.
# Octaves: nearer is no distance, and further is that far; 2^-40 and 2^40 bandwidths where squares are taken.
_FIRST, _LAST = -80, 80
_ANGLES = 1024


@dataclass(frozen=True, eq=False)
class KernelValues:
    """A kernel between any records and the same places."""

    kernel: Kernel  # Of encoded points (`core.geometry.kernels.of_coordinates`); any but that of sets.
    places: np.ndarray  # float64 (m, d), public.

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """int64 (n, m), from 0 to 2^30, cut toward zero: how close each record, float64 (n, d), is to each place."""
        return self._values(np.ascontiguousarray(np.asarray(points, dtype=np.float64).T))

    @cached_property
    def _values(self) -> Callable[[np.ndarray], np.ndarray]:
        return _reader(self.kernel, np.ascontiguousarray(self.places.T))


def _reader(kernel: Kernel, places: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """What turns records into their values; coordinates come first in both, float64 (d, n) and (d, m)."""
    if isinstance(kernel, (Product, Mixture)):
        parts = [_reader(part, places) for part in kernel.parts]
        if isinstance(kernel, Product):
            return lambda points: _multiplied(parts, points)
        weights = [int(weight * 2**BITS) for weight in kernel.weights]
        return lambda points: _mixed(parts, weights, points)

    d, m = places.shape
    if isinstance(kernel, Angular):
        return lambda points: _filled(_read_angles, points, m, places, _of_angles(kernel))
    profiled = stationary(kernel)
    inverse = np.broadcast_to(1.0 / np.asarray(profiled.bandwidth, dtype=np.float64), d).copy()
    squared = kernel.metric == "l2"
    profile = _of_distances(replace(profiled, bandwidth=1.0), squared)
    return lambda points: _filled(_read_distances, points, m, places, inverse, squared, profile)


def _mixed(parts: list[Callable[[np.ndarray], np.ndarray]], weights: list[int], points: np.ndarray) -> np.ndarray:
    return reduce(np.add, (weight * part(points) for weight, part in zip(weights, parts, strict=True))) >> BITS


def _multiplied(parts: list[Callable[[np.ndarray], np.ndarray]], points: np.ndarray) -> np.ndarray:
    values = parts[0](points)
    for part in parts[1:]:
        values = values * part(points) >> BITS
    return values


def _filled(loop: Callable, points: np.ndarray, places: int, *facts) -> np.ndarray:
    out = np.empty((points.shape[1], places), dtype=np.int64)
    loop(points, *facts, out)
    return out


@lru_cache(maxsize=16)
def _of_distances(kernel: Stationary, squared: bool) -> np.ndarray:
    """Cubics of a kernel of bandwidth 1, float64 (parts, 4): coefficients of the powers of the share of the part.

    They are cubics in the distance, or in its square.
    """
    edges = np.exp2(np.arange(_FIRST, _LAST)[:, None]) * (1.0 + np.arange(1 << _PARTS) / (1 << _PARTS))
    widths = np.exp2(np.arange(_FIRST, _LAST) - _PARTS)[:, None]
    distances = (edges + widths * (np.arange(4) / 3.0)[:, None, None]).reshape(-1, 1)
    distances = np.sqrt(distances) if squared else distances
    return _cubics(kernel.evaluate(np.zeros((1, 1)), distances).reshape(4, -1))


@lru_cache(maxsize=16)
def _of_angles(kernel: Angular) -> np.ndarray:
    """Cubics of (1 - a/pi)^power in s = tan(a/2)/(1 + tan(a/2)), and beyond them that of a point without angle."""
    s = ((np.arange(_ANGLES) + (np.arange(4) / 3.0)[:, None]) / _ANGLES).ravel()
    agree = (1.0 - 2.0 * np.arctan2(s, 1.0 - s) / np.pi) ** kernel.power
    return np.vstack([_cubics(agree.reshape(4, -1)), [0.5**kernel.power, 0.0, 0.0, 0.0]])


def _cubics(values: np.ndarray) -> np.ndarray:
    """The cubics through four values each, (4, n), at 0, 1/3, 2/3 and 1: float64 (n, 4)."""
    return np.ascontiguousarray(np.linalg.solve(np.vander(np.arange(4) / 3.0, increasing=True), values).T)


@njit(nogil=True, cache=True, inline="always")
def _cut(value):
    return np.int64(min(max(value, 0.0), 1.0) * 2.0**BITS)


@njit(nogil=True, cache=True)
def _read_distances(points, places, inverse, squared, profile, out):
    """out[i, m] = the kernel at the distance of record i and place m, Euclidean if ``squared`` and L1 otherwise."""
    m = places.shape[1]
    far = np.empty(m)
    bits = far.view(np.int64)
    shift, first = 52 - _PARTS, np.int64(_FIRST + 1023) << _PARTS
    for i in range(points.shape[1]):
        far[:] = 0.0
        for j in range(len(points)):
            x, unit, column = points[j, i], inverse[j], places[j]
            if squared:
                for p in range(m):
                    step = (x - column[p]) * unit
                    far[p] += step * step
            else:
                for p in range(m):
                    far[p] += abs((x - column[p]) * unit)
        row = out[i]
        for p in range(m):
            part = (bits[p] >> shift) - first
            share = np.float64(bits[p] & ((1 << shift) - 1)) * 2.0**-shift
            if part < 0:
                row[p] = 1 << BITS
            else:
                if part >= len(profile):
                    part, share = len(profile) - 1, 1.0
                a = profile[part]
                row[p] = _cut(((a[3] * share + a[2]) * share + a[1]) * share + a[0])


@njit(nogil=True, cache=True, inline="always")
def _direction(points, i, direction):
    """direction = where point i is seen from the origin, of length 1; False where it is the origin."""
    largest, length = 0.0, 0.0
    for j in range(len(points)):
        largest = max(largest, abs(points[j, i]))
    # Squares of numbers that small are no longer exact, or zero; a power of two changes nothing else.
    unit = 2.0**600 if largest < 2.0**-400 else 1.0
    for j in range(len(points)):
        direction[j] = points[j, i] * unit
        length += direction[j] * direction[j]
    length = np.sqrt(length)
    for j in range(len(points)):
        direction[j] /= max(length, 1e-300)
    return largest > 0.0


@njit(nogil=True, cache=True)
def _read_angles(points, places, profile, out):
    """out[i, m] = the kernel of the angle between record i and place m."""
    d, m = places.shape
    last = len(profile) - 2
    towards, seen, direction = np.empty((m, d)), np.empty(m, dtype=np.bool_), np.empty(d)
    for p in range(m):
        seen[p] = _direction(places, p, towards[p])
    for i in range(points.shape[1]):
        visible = _direction(points, i, direction)
        for p in range(m):
            if not (visible and seen[p]):
                out[i, p] = 1 << BITS if visible == seen[p] else _cut(profile[last + 1, 0])
                continue
            apart, across = 0.0, 0.0
            for j in range(d):
                x, y = direction[j], towards[p, j]
                apart += (x - y) * (x - y)
                across += (x + y) * (x + y)
            apart, across = np.sqrt(apart), np.sqrt(across)
            place = apart / (apart + across) * (last + 1)
            part = min(np.int64(place), last)
            share = place - part
            a = profile[part]
            out[i, p] = _cut(((a[3] * share + a[2]) * share + a[1]) * share + a[0])


_ONE = 1 << 30


@njit(nogil=True, cache=True)
def add_bounded(values, l1, l2_squared, table):
    """Add every row of ``values`` to a table, scaled down where it exceeds a bound.

    `values`: int64 (n, m), at most 2^30 in absolute value and with sums of squares below 2^62; written over. `l1`,
    `l2_squared`: the largest norms that one row may have. `table`: int64 (m,), changed in place.
    """
    for i in range(len(values)):
        row = values[i]
        length, square = _norms(row)
        while length > l1 or square > l2_squared:
            share = min(l1 / max(length, 1), np.sqrt(l2_squared / max(square, 1)), 1.0)
            # Always below 1, so that every number but 0 shrinks and the loop ends.
            factor = min(np.int64(share * _ONE), np.int64(_ONE - 1))
            for p in range(len(row)):
                size = (abs(row[p]) * factor) >> 30
                row[p] = size if row[p] >= 0 else -size
            length, square = _norms(row)
        for p in range(len(row)):
            table[p] += row[p]


@njit(nogil=True, cache=True)
def _norms(row):
    length, square = np.int64(0), np.int64(0)
    for p in range(len(row)):
        length += abs(row[p])
        square += row[p] * row[p]
    return length, square


def largest_norms(values: np.ndarray) -> tuple[int, int]:
    """The largest L1 norm and the largest squared L2 norm of all rows, int64 (n, m), each at least 1."""
    return max(1, int(np.abs(values).sum(axis=1).max())), max(1, int((values * values).sum(axis=1).max()))


NOTHING = 1e-200  # Squares below this are lost in those of rounding, and so is what is divided by them.


def mean_square(closeness: np.ndarray, what: str) -> float:
    """The mean square of the kernel between public places, which errors are measured by.

    RequestError when next to no two places are close at all, so that no size is better than another.
    """
    square = float((closeness**2).mean())
    if square < NOTHING:
        raise RequestError(
            f"The kernel is too narrow to find a size for {what}: it is zero nearly all over these bounds. Use a wider "
            "kernel, or say the size."
        )
    return square
