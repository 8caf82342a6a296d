"""How many dimensions a kernel sum needs.

For every query and every data set, the average over the draw of the map P of | kernel density before - after | is at
most the largest E| K(r sqrt(V)) - K(r) | over distances r, where V = ||Pz||^2 / ||z||^2 has mean 1: the triangle
inequality over the records (Backurs et al., ICLR 2024, Theorems 7.2 and 9.2, from which additive error alpha follows
with k of order log(1/alpha) / alpha^2, and 1 / alpha^2 for smooth kernels). Here the largest value is computed, with
the law of V itself, instead of bounding it by constants:

* Gaussian map: V is chi-squared with k degrees of freedom, over k. For exp(-||z||^2 / 2 s^2) the maximum is near
  0.42 / sqrt(k), so that k = 0.17 / alpha^2 are enough: there is no logarithm in the expected error.
* orthogonal map: V is d/k times a Beta(k/2, (d - k)/2) variable.
* fast map: only the variance of V is known for every z, and what follows from it by Cantelli's inequality is used. It
  holds for the worst z, without the further logarithm of Corollary 7.3, but asks for a few times as many dimensions as
  the Gaussian map; on ordinary data the fast map's error is the smaller of the two.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import betaincinv, gammaincinv

from ..errors import RequestError
from .kernels import Kernel
from .projection import GaussianProjection, OrthogonalProjection, Projection, projection_kind

DISTANCES = np.geomspace(1e-2, 1e2, 241)  # Distances tried, in bandwidths.
LEVELS = (np.arange(400) + 0.5) / 400
# Thresholds t of Cantelli's inequality: a squared length that falls short by more than a share t is given up on.
SHRINKING = np.linspace(0.01, 0.9, 90)


def dimensions_for(alpha: float, source: int, kernel: Kernel, kind: str = "fast") -> int:
    """The fewest dimensions that keep the expected error of a kernel density below ``alpha``.

    RequestError when a value is out of range or the kernel is not one of distances.

    `alpha`: Wanted bound on the average absolute error of the density, kernel sum over number of records, over the draw
    of one map, for the worst query and the worst data; between 0 and 1. The mean over several independent maps is
    closer. `source`: Dimensions d before the projection. `kernel`: A kernel of the Euclidean distance with one
    bandwidth. `kind`: "fast", "gaussian" or "orthogonal".

    Returns k, or d where even the least smaller k is not enough: then there is nothing to gain from projecting.
    """
    if not 0.0 < alpha < 1.0:
        raise RequestError("The wanted error of a density must lie strictly between 0 and 1, such as 0.02.")
    maps = projection_kind(kind)
    low, high = 0, source
    while high - low > 1:
        middle = (low + high) // 2
        if expected_error(kernel, maps, source, middle) <= alpha:
            high = middle
        else:
            low = middle
    return high


def expected_error(kernel: Kernel, kind: type[Projection], source: int, target: int) -> float:
    """The bound on the expected absolute error of a density that `dimensions_for` keeps below alpha."""
    before = _profile(kernel, DISTANCES)
    if kind is GaussianProjection:
        return _mean_error(kernel, before, 2.0 / target * gammaincinv(target / 2.0, LEVELS))
    if kind is OrthogonalProjection:
        if target == source:
            return 0.0
        return _mean_error(kernel, before, source / target * betaincinv(target / 2.0, (source - target) / 2.0, LEVELS))
    return _error_from_variance(kernel, before, kind.length_variance(source, target))


def _mean_error(kernel: Kernel, before: np.ndarray, squared_lengths: np.ndarray) -> float:
    """The largest mean error, from equally likely values of V."""
    after = _profile(kernel, np.outer(DISTANCES, np.sqrt(squared_lengths)))
    return float(np.abs(after - before[:, None]).mean(axis=1).max())


def _error_from_variance(kernel: Kernel, before: np.ndarray, variance: float) -> float:
    """The largest mean error of any V with mean 1 and the given variance.

    While V >= 1 - t the error is at most the steepest chord of K, as a function of V, times |V - 1|: one that starts at
    1 - t below the mean, and the slope at 1 above it, as kernels of the distance fall ever more slowly in V. Either
    half of |V - 1| has at most half the standard deviation as its mean. V falls below 1 - t with probability at most
    variance / (variance + t^2), and a kernel can rise by 1 - K then.
    """
    closer = _profile(kernel, np.outer(DISTANCES, np.sqrt(1.0 - SHRINKING)))
    chords = (closer - before[:, None]) / SHRINKING
    slope = chords[:, :1]
    lost = variance / (variance + SHRINKING**2)
    errors = 0.5 * (chords + slope) * math.sqrt(variance) + (1.0 - before)[:, None] * lost
    return float(errors.max(axis=0).min())


def _profile(kernel: Kernel, distances: np.ndarray) -> np.ndarray:
    """The kernel of points that far apart, in bandwidths."""
    bandwidth = getattr(kernel, "bandwidth", None)
    if kernel.metric != "l2" or not isinstance(bandwidth, float):
        raise RequestError(
            "Dimensions can be chosen for kernels of the Euclidean distance with one bandwidth, as a projection keeps "
            "no other distance; set their number by hand for others."
        )
    return kernel.evaluate(np.zeros((1, 1)), distances.reshape(-1, 1) * bandwidth)[0].reshape(distances.shape)
