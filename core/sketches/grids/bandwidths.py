"""Which bandwidth suits a released grid: chosen from the noisy counts and public facts, so it costs no privacy.

A wide bandwidth smooths noise away and detail with it. For every bandwidth h on offer the expected integrated squared
error of the density that it gives is estimated without bias (penalized comparison to overfitting: Lacour, Massart,
Rivoirard 2017): with g the narrowest, what h and g differ by is what h smooths away, plus noise of known variance,

    risk(h) = integral of (f_h - f_g)^2  -  integral of Var(f_h - f_g)  +  integral of Var(f_h).

The variance is that of the privacy noise, which is exact, and that of the records as a draw from a population: detail
that so few records may have by chance is not taken for the population's. What the choice is made of is in the release
already. An interval holds at a bandwidth that was fixed beforehand; after this choice it hardly errs more often, as
some twenty bandwidths are chosen from by one number that the whole picture decides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.signal import fftconvolve

from ...geometry.kernels import Kernel
from .grid_axes import Axis, along
from .splines import ORDER, POINTS_A_CELL, coefficients, fitting_points

STEP = math.sqrt(2.0)  # Between two bandwidths on offer.
WIDEST = 0.25  # The widest on offer, in shares of the longest axis.


def around(narrowest: float, widest: float) -> tuple[float, ...]:
    """Shares of a bandwidth in equal steps through 1, between the two."""
    least, most = (math.log(end, STEP) for end in (min(narrowest, 1.0), max(widest, 1.0)))
    return tuple(STEP**step for step in range(math.ceil(least - 1e-3), math.floor(most + 1e-3) + 1))


def ladder(narrowest: float, widest: float) -> tuple[float, ...]:
    """Bandwidths from the narrowest in equal steps, the widest not passed."""
    steps = max(0, math.floor(math.log(widest / narrowest, STEP) + 1e-9))
    return tuple(narrowest * STEP**step for step in range(steps + 1))


@dataclass(frozen=True)
class _Along:
    """A kernel along one axis, at a grid point in the middle."""

    taps: np.ndarray  # What counts around the place are multiplied by, over the kernel's integral.
    profile: np.ndarray  # The kernel over its integral, at evenly spaced places that are alike for all bandwidths.
    spacing: float  # Their distance.


def estimated_risks(
    counts: np.ndarray,
    axes: tuple[Axis, ...],
    kernels: tuple[Kernel, ...],
    middle: np.ndarray,
    records: float,
    count_variance: float,
) -> np.ndarray:
    """The estimated integrated squared error of the density for each of several kernels, float64 (kernels,).

    Parameters
    ----------
    counts : np.ndarray
        Noisy records of every grid point, one axis each.
    axes : tuple[Axis, ...]
        Theirs; densities of different categories are compared one by one.
    kernels : tuple[Kernel, ...]
        Of encoded points, each a product of its columns, the narrowest first.
    middle : np.ndarray
        An encoded point in the middle of the bounds.
    records, count_variance : float, float
        How many there are, and the variance of the noise in one of the counts.
    """
    numeric = [place for place, axis in enumerate(axes) if axis.radius or not axis.categories]
    parts = [[_along(kernel, middle, axes[place]) for place in numeric] for kernel in kernels]
    volume = math.prod(axes[place].pitch for place in numeric)
    densities = [_smoothed(counts, axes, numeric, part) / records for part in parts]
    cells = math.prod(axis.categories or axis.values or axis.cells for axis in axes)
    noise = volume * cells * count_variance / records**2
    narrow = parts[0]
    own = [_variance(part, part, noise, records) for part in parts]
    shared = [_variance(part, narrow, noise, records) for part in parts]
    missed = [volume * float(((density - densities[0]) ** 2).sum()) for density in densities]
    return np.array(
        [seen - (mine + own[0] - 2.0 * both) + mine for seen, mine, both in zip(missed, own, shared, strict=True)]
    )


def _along(kernel: Kernel, middle: np.ndarray, axis: Axis) -> _Along:
    if axis.radius:
        around = np.tile(middle, (axis.categories, 1))
        around[:, axis.coordinate : axis.coordinate + 2] = axis.turns
        values = kernel.evaluate(around[:1], around)[0]
        taps = np.roll(values, axis.categories // 2) / float(values.sum())
        return _Along(taps, taps, axis.pitch)
    if axis.values:
        centre, spacing = axis.values // 2, axis.pitch
        nodes = axis.low + axis.pitch * np.arange(axis.values)
    else:
        centre, spacing = axis.cells // 2, axis.pitch / POINTS_A_CELL
        nodes = axis.low + axis.pitch * fitting_points(axis.cells, POINTS_A_CELL)
    values = along(kernel, middle, axis.coordinate, np.array([axis.low + axis.pitch * centre]), nodes)
    whole = float(values.sum()) * spacing
    if axis.values:
        return _Along(_around_middle(values[0], centre) / whole, values[0] / whole, spacing)
    taps = coefficients(values, axis.cells, POINTS_A_CELL)[0]
    # The grid point of a spline lies one pitch after the first counter.
    return _Along(_around_middle(taps, centre + 1) / whole, values[0] / whole, spacing)


def _around_middle(taps: np.ndarray, middle: int) -> np.ndarray:
    """The same as many to either side of the middle, without those that are next to nothing."""
    reach = np.flatnonzero(np.abs(taps) > 1e-9 * np.abs(taps).max())
    half = int(min(np.abs(reach - middle).max(), middle, len(taps) - 1 - middle))
    return taps[middle - half : middle + half + 1]


def _smoothed(counts: np.ndarray, axes: tuple[Axis, ...], numeric: list[int], parts: list[_Along]) -> np.ndarray:
    """Sums over counts at all grid points inside the bounds."""
    for place, part in zip(numeric, parts, strict=True):
        shape = [1] * counts.ndim
        shape[place] = -1
        taps = part.taps
        if axes[place].radius:
            first = np.arange(len(taps))
            closeness = np.roll(taps, -(len(taps) // 2))[(first[:, None] - first) % len(taps)]
            counts = np.moveaxis(np.tensordot(closeness, counts, (1, place)), 0, place)
            continue
        counts = fftconvolve(counts, taps.reshape(shape), mode="same", axes=place) if len(taps) > 1 else counts * taps
        if not axes[place].values:
            counts = counts.take(range(1, counts.shape[place] - (ORDER - 2)), axis=place)
    return counts


def _variance(one: list[_Along], other: list[_Along], noise: float, records: float) -> float:
    """The integral of the covariance of two readings, from noise and from the records as a draw."""
    gains = math.prod(_overlap(a.taps, b.taps) for a, b in zip(one, other, strict=True))
    drawn = math.prod(a.spacing * float(a.profile @ b.profile) for a, b in zip(one, other, strict=True))
    return noise * gains + drawn / records


def _overlap(one: np.ndarray, other: np.ndarray) -> float:
    half = min(len(one), len(other)) // 2
    first, second = (taps[len(taps) // 2 - half : len(taps) // 2 + half + 1] for taps in (one, other))
    return float(first @ second)
