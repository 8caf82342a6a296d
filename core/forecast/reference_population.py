"""A population that forecasts are tried on: public random points whose shape is that of ordinary data.

Nobody may look at the private records to see how they lie. Ordinary data has one long axis, thinner ones across it, and
some stragglers. The thickness was set so that sampling errors on six public data sets of one to eight dimensions come
out right on average. Nothing lies between two categories: each point has the one that its place on the axes speaks for.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri

from ..domain import Categorical, Domain
from ..geometry.hashing.uniforms import PublicRandom
from ..geometry.kernels import Angular, Kernel, Mixture, Product, coordinate_bandwidths, of_coordinates

REFERENCE_POINTS = 1_500
STRAGGLER_DEGREES = 6.0
LEAST_THICKNESS = {True: 0.05, False: 0.2}
"""Thickness across the longest axis, in up to three dimensions and above."""
DEFAULT_SPREAD = 1.0 / 6.0
"""Standard deviation along the longest axis, in shares of the bounds, when no density is stated."""


def reference_population(domain: Domain, metric: str, kernel: Kernel | None, density: float | None) -> np.ndarray:
    """Public random points of ordinary shape, float64 (REFERENCE_POINTS, d), inside the bounds.

    Parameters
    ----------
    domain, metric : Domain, str
        What is encoded, and how.
    kernel, density : Kernel | None, float | None
        The scale is chosen so that the kernel averages ``density`` over pairs, as far as the bounds allow it;
        categories are as they are. Without one of them the longest axis has a standard deviation of a sixth of the
        bounds of every column of numbers, however finely the kernel sees it.
    """
    low, high = domain.bounds(metric)
    shape = _shape(domain.dimensions)
    guided = density is not None and kernel is not None
    unit = _units(domain, kernel, low, high) if guided else high - low
    centre = (low + high) / 2.0
    places, encoded = _categories(domain, metric, shape)

    def possible(points: np.ndarray) -> np.ndarray:
        points[:, places] = encoded
        return np.asfortranarray(points)

    def scaled(log_scale: float) -> np.ndarray:
        return possible(np.clip(centre + math.exp(log_scale) * shape * unit, low, high))

    numbers = ~places if not places.all() else places
    widest = math.log(float(np.min(((high - low) / unit)[numbers])) * DEFAULT_SPREAD)
    if not guided:
        return scaled(widest)

    closeness = of_coordinates(kernel, tuple(column.width for column in domain.columns))

    def excess(points: np.ndarray) -> float:
        few = points[:300]
        pairs = closeness.evaluate(few, few)
        return math.log((pairs.sum() - np.trace(pairs)) / (len(few) * (len(few) - 1.0)) / density)

    # Beyond three times the usual spread most points would lie on the bounds, where they come closer again.
    least, most = -30.0, widest + math.log(3.0)
    if excess(scaled(least)) <= 0.0:
        return scaled(least)
    if excess(scaled(most)) < 0.0:
        return scaled(brentq(lambda log_scale: excess(scaled(log_scale)), least, most, xtol=1e-2))

    # Rarer than a long shape can be: on the way to points that fill the bounds evenly, the rarest there are.
    even = low + (high - low) * PublicRandom(0, 9, domain.dimensions).uniforms(REFERENCE_POINTS, domain.dimensions)

    def blended(share: float) -> np.ndarray:
        return possible((1.0 - share) * scaled(most) + share * even)

    if excess(blended(1.0)) >= 0.0:
        return blended(1.0)
    return blended(brentq(lambda share: excess(blended(share)), 0.0, 1.0, xtol=1e-2))


def _categories(domain: Domain, metric: str, shape: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which coordinates are of categories, bool (d,), and what they are at every point, float64 (n, how many).

    A point has the category along whose coordinate it lies farthest out, so that categories go with numbers as columns
    of numbers go with each other.
    """
    places, encoded, start = np.zeros(domain.dimensions, dtype=bool), [np.empty((len(shape), 0))], 0
    for column in domain.columns:
        block = slice(start, start + column.width)
        if isinstance(column, Categorical):
            places[block] = True
            encoded.append(domain.amplitude(metric) * np.eye(column.width)[shape[:, block].argmax(axis=1)])
        start += column.width
    return places, np.hstack(encoded)


def _shape(dimensions: int) -> np.ndarray:
    """Points with one long axis in a random direction, thinner ones across it, and Student's t tails; a bell in 1-d."""
    random = PublicRandom(0, 7, dimensions)
    normal = ndtri(random.uniforms(REFERENCE_POINTS, dimensions))
    thickness = np.maximum(np.arange(1.0, dimensions + 1.0) ** -3, LEAST_THICKNESS[dimensions <= 3])
    if dimensions == 1:
        return normal
    # A chi-squared variable with an even number of degrees of freedom is a sum of exponentials.
    mixing = -2.0 * np.log(random.uniforms(REFERENCE_POINTS, int(STRAGGLER_DEGREES) // 2)).sum(axis=1)
    axes, _ = np.linalg.qr(ndtri(random.uniforms(dimensions, dimensions)))
    return (normal * thickness / np.sqrt(mixing / STRAGGLER_DEGREES)[:, None]) @ axes


def _units(domain: Domain, kernel: Kernel | None, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The length of each coordinate that the kernel treats alike: its bandwidth, or the bounds for angles and none."""
    while isinstance(kernel, (Product, Mixture)):
        kernel = kernel.parts[0]
    if kernel is None or isinstance(kernel, Angular):
        return high - low
    return coordinate_bandwidths(kernel.bandwidth, tuple(column.width for column in domain.columns))
