"""What smoothing loses of a population and what noise it leaves, for every bandwidth, along straight axes and circles.

Populations are heaps of a few spreads, and kernels Gaussian, so everything is a product over the axes: along a line in
closed form, as a product of Gaussians of variances a and b integrates to (2 pi (a + b))^(-1/2); around a circle of k
values, each with a counter of its own, as sums over the values, with the kernel of their distance through the plane.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..geometry.kernels import Gaussian
from ..machine.array_types import Floats
from ..sketches.grids.axes import Axis
from ..sketches.grids.smoothing import Smoothing


@dataclass(frozen=True)
class Way:
    """One axis.

    Attributes
    ----------
    length : float
        From bound to bound, or once around.
    values : int
        Of a circle, how many lie around it; 0 of a straight axis.
    """

    length: float
    values: int = 0


@dataclass(frozen=True)
class _Factors:
    """What an axis contributes to each integral.

    Attributes
    ----------
    squared : Floats
        Of the squared population, float64 (populations,).
    crossed, smoothed : Floats
        Of the population times the smoothed one, and of the squared smoothed one, float64 (bandwidths, populations).
    gain : Floats
        Variance of an answer when every counter's is 1, float64 (bandwidths, 1).
    mass, narrowness : Floats
        Integrals of the kernel, and of its square when its own is 1, float64 (bandwidths, 1).
    """

    squared: Floats
    crossed: Floats
    smoothed: Floats
    gain: Floats
    mass: Floats
    narrowness: Floats


def risks(
    ways: Sequence[Way],
    pitch: float,
    tried: Sequence[float],
    heaps: Sequence[tuple[float, float]],
    variance: float,
    records: float,
) -> Floats:
    """Integrated squared errors over the integrated squared density: smoothing, and noise with chance.

    Parameters
    ----------
    ways : Sequence[Way]
        The axes.
    pitch : float
        Cells of the straight ones.
    tried : Sequence[float]
        Bandwidths.
    heaps : Sequence[tuple[float, float]]
        Of each population the spread of a heap, and the sum of the heaps' squared shares.
    variance, records : float, float
        Of the noise in a counter, and how many records there are.

    Returns
    -------
    Floats
        float64 (2, bandwidths, populations).
    """
    bandwidths = np.array(tried)[:, None]
    spread, weight = np.array(heaps).T
    axes = [_around(way, bandwidths, spread) if way.values else _along(pitch, bandwidths, spread) for way in ways]

    def product(name: str) -> Floats:
        whole: Floats = np.prod([getattr(axis, name) for axis in axes], axis=0)
        return whole

    squared = product("squared")
    density = weight * squared
    lost = weight * (squared - 2.0 * product("crossed") + product("smoothed"))
    noise = math.prod(way.length for way in ways) * variance * product("gain") / (records * product("mass")) ** 2
    chance = product("narrowness") / records
    return np.stack([lost / density, (noise + chance) / density])


def _along(pitch: float, tried: Floats, spread: Floats) -> _Factors:
    def meeting(squares: Floats) -> Floats:
        return np.asarray((2.0 * np.pi * squares) ** -0.5)

    own = 2.0 * spread**2
    gain = np.array([_gain(round(float(one) / pitch, 6)) for one in tried[:, 0]])[:, None]
    mass, narrowness = meeting(tried**2) ** -1.0, meeting(2.0 * tried**2)
    return _Factors(meeting(own), meeting(own + tried**2), meeting(own + 2.0 * tried**2), gain, mass, narrowness)


def _around(way: Way, tried: Floats, spread: Floats) -> _Factors:
    step, turns = way.length / way.values, np.arange(way.values) / way.values
    through = way.length / np.pi * np.sin(np.pi * turns)
    arcs = way.length * np.minimum(turns, 1.0 - turns)
    kernels = np.exp(-((through / tried) ** 2) / 2.0)
    heaps = np.exp(-((arcs / spread[:, None]) ** 2) / 2.0)
    heaps /= step * heaps.sum(axis=1, keepdims=True)
    mass = step * kernels.sum(axis=1, keepdims=True)
    evened = kernels / mass
    smoothed = step * np.fft.irfft(np.fft.rfft(evened)[:, None] * np.fft.rfft(heaps)[None], way.values)
    return _Factors(
        step * (heaps**2).sum(axis=1),
        step * (smoothed * heaps).sum(axis=2),
        step * (smoothed**2).sum(axis=2),
        (kernels**2).sum(axis=1, keepdims=True),
        mass,
        step * (evened**2).sum(axis=1, keepdims=True),
    )


@lru_cache(maxsize=64)
def _gain(ratio: float) -> float:
    """Variance of an answer along one axis when every counter's is 1, for a bandwidth of so many cells."""
    cells = 2 * math.ceil(5.0 * ratio) + 8
    axis = Axis(0, 0.0, 1.0, cells, 0)
    middle = np.array([cells // 2 + 0.25])
    return float(Smoothing(Gaussian(ratio), (axis,), middle, (1,)).noise_gains(middle[None])[0])
