"""Populations as close together as the kernel that is asked with suggests, by which mechanisms are chosen as well.

A bandwidth is public, and says on which scale records lie: whoever asks with it expects it to tell some of them from
others, neither all nor none. Bounds say the same only where records fill them. Pay, prices, counts and durations lie in
a small corner of bounds that hold everybody, and there a grid that is fine enough for the whole of the bounds may be
too coarse for everyone in it. Two shapes, each so close that two records average SEEN where the bounds leave room:

* *gathered*: log-normal columns at the lower bound, and many of the records exactly there in every column, as with
  gains, visits and other things that most people have none of; fewer where records of the usual spread are about as
  close already, as then the bandwidth fits the bounds and a corner of them is less likely;
* *heap*: one bell at a public random place.

On 68 settings of three to six columns (log-normal, exponential, beta, normal and public ones; Gaussian and Laplacian
kernels of .3 to 1.5 times the median distance), with two of five records at the bound always, the first choice was
within 1.3 times the best one's error in 97%, and at worst 2.5 times it; without the two in 90%, and at worst 5.2 times;
with one alone in 93% and 90%.
"""

from __future__ import annotations

import math
from functools import lru_cache, partial

import numpy as np
from scipy.special import ndtri

from ...domain import Domain
from ...geometry.hashing.uniforms import PublicRandom
from ...geometry.kernels import Kernel, of_coordinates
from ...privacy.budget import Budget
from ...sketches.linear import LinearSketch
from ...sketches.plan import plan
from .one_trial import Trial
from .reference_population import DEFAULT_SPREAD, REFERENCE_POINTS, mean_closeness, placed_close, reference_population
from .trial import SKEWED_POINTS, SKEWED_QUERIES, kernel_of, tried_on

SEEN = 0.3  # Average closeness of two records, where bounds leave room for as little.
# Share of the gathered records that lie at the lower bound in every column, and where the bandwidth fits the bounds.
# The more there are, the less often a histogram is put first that a kernel with a peak would make wrong there, and the
# more ordinary records pay for it.
NONE, FEWER = 0.4, 0.25
FITTING = 0.2  # Average closeness of two records of the usual spread from which on the bandwidth fits the bounds.
WIDEST_MEDIAN = 0.1  # Median of the others, in shares of the bounds, at most.
ROOM = 0.15  # Share of the bounds at either end that the middle of a heap keeps away from.


def close_errors(sketch: LinearSketch, budget: Budget, records: float) -> tuple[float, ...]:
    """Errors of a sum, root mean square, on both populations; none where closeness of points is not what is asked.

    `sketch`: of a settled size. `records`: how many there are, in all classes.
    """
    one, share = sketch.one_answer
    if one.domain.holds_sets or one.answers != "closeness" or not one.linear_decode:
        return ()
    variance, summed = plan(sketch, budget).noise.variance, records * share
    tried = [trial.of(summed) for trial in _trials(one.reseeded(0))]
    noises = [variance * float(np.mean(trial.gains)) for trial in tried]
    return tuple(
        math.hypot(trial.absolute * summed, math.sqrt(noise)) for trial, noise in zip(tried, noises, strict=True)
    )


@lru_cache(maxsize=64)
def _trials(sketch: LinearSketch) -> tuple[Trial, ...]:
    """Cached, as the app asks again at every move of a slider; arguments are public, and so is the answer."""
    kernel = kernel_of(sketch)
    if kernel is None:
        return ()
    populations = _populations(sketch.domain, sketch.metric, kernel)
    return tried_on(sketch, tuple(points[:SKEWED_POINTS] for points in populations), SKEWED_QUERIES)


@lru_cache(maxsize=4)
def _populations(domain: Domain, metric: str, kernel: Kernel) -> tuple[np.ndarray, ...]:
    """Public random points of both shapes, float64 (REFERENCE_POINTS, d) each, inside the bounds."""
    dimensions = domain.dimensions
    closeness = of_coordinates(kernel, domain.widths)
    usual = reference_population(domain, metric, kernel, None)
    none = FEWER if mean_closeness(closeness, usual) >= FITTING else NONE
    middle = ROOM + (1.0 - 2.0 * ROOM) * PublicRandom(0, 42, dimensions).uniforms(dimensions)
    return (
        placed_close(domain, metric, kernel, SEEN, partial(_gathered, none), np.zeros(dimensions)),
        placed_close(domain, metric, kernel, SEEN, _heap, middle),
    )


def _gathered(none: float, dimensions: int) -> np.ndarray:
    """In standard deviations of the usual spread from the lower bound."""
    random = PublicRandom(0, 41, dimensions)
    some = np.exp(ndtri(random.uniforms(REFERENCE_POINTS, dimensions))) * WIDEST_MEDIAN / DEFAULT_SPREAD
    return np.where(random.uniforms(REFERENCE_POINTS)[:, None] < none, 0.0, some)


def _heap(dimensions: int) -> np.ndarray:
    """In standard deviations of the usual spread from its middle."""
    return ndtri(PublicRandom(0, 43, dimensions).uniforms(REFERENCE_POINTS, dimensions))
