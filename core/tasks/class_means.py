"""Deciding by what the classes' records are on average, rather than by how far each of them is: nearest mean.

Sums of vectors (`core.sketches.moments`, `core.sketches.directions`) know the mean of every class up to noise. The
noise moves every mean, and makes it look longer than it is: on average a squared length grows by the variance of the
noise in all coordinates together, which is known and taken off.

mean        squared distance to the mean of a class's records, less is better
direction   cosine between a place and the mean direction of a class's records; how many there are does not matter
"""

from __future__ import annotations

import numpy as np

from ..sketches.directions import Directions
from ..sketches.moments import Moments


def direction_scores(
    sketch: Directions, tables: np.ndarray, counter_variance: float, points: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Cosines with the mean direction of every class, and the variance that noise gives them; float64 (n, K) each.

    Noise e in a sum S of d coordinates, of variance v each, moves the cosine c = <q, S>/|S| by <q - c S/|S|, e>/|S|:
    a variance of v (1 - c^2) / |S|^2. What the squared length with its noise is off by, 2 d v^2 and more, adds
    c^2 d v^2 / (2 |S|^4).

    Parameters
    ----------
    sketch : of one class.
    tables : noisy sums, int64 (K, dimensions).
    counter_variance : of the noise in one counter.
    points : encoded places, float64 (n, d).
    """
    lengths = np.array([max(sketch.length(table, counter_variance), 1e-9) for table in tables])
    sums = np.column_stack([sketch.answer(table, 1.0, points, counter_variance, 0.95).estimate for table in tables])
    cosines = sums / lengths
    noise = np.asarray(sketch.noise_variance(counter_variance, points))[:, None] / lengths**2
    squares = np.minimum(cosines**2, 1.0)
    return cosines, noise * (1.0 - squares) + squares * sketch.dimensions * noise**2 / 2.0


SQUARE_SPREAD = {"discrete_gaussian": 2.0, "rounded_l2": 4.0, "discrete_laplace": 5.0}
"""Variance of the squared length of noise, divided by its dimensions and its squared variance a coordinate.

Independent coordinates with fourth moment k v^2 have k - 1. A vector of d coordinates and density exp(-|z|/b) has
E|z|^2 = d (d+1) b^2 and E|z|^4 = d (d+1) (d+2) (d+3) b^4, so its square varies by 4 d v^2, and a little more.
"""


def mean_scores(
    sketch: Moments,
    tables: np.ndarray,
    numbers: np.ndarray,
    counter_variance: float,
    points: np.ndarray,
    square_spread: float = SQUARE_SPREAD["discrete_gaussian"],
) -> tuple[np.ndarray, np.ndarray]:
    """Squared distances to the mean of every class, with a minus, and the variance that noise gives them.

    With mean m + e and independent errors e of variance v in d coordinates, ||q - m - e||^2 - d v is unbiased and has
    variance 4 v ||q - m||^2 + s d v^2, s the spread of the noise's squares.

    Parameters
    ----------
    sketch, tables, counter_variance, points : as in `direction_scores`.
    numbers : float64 (K,), the number of records of every class as well as it is known.
    square_spread : of the noise's distribution.
    """
    offsets = np.asarray(points, dtype=np.float64) - sketch.origin
    values, variances = [], []
    for table, number in zip(tables, numbers, strict=True):
        _, total, _ = sketch.moments(table)
        noise = sketch.sum_variance(counter_variance) / number**2
        distance = ((offsets - total / number) ** 2).sum(axis=1) - len(total) * noise
        values.append(-distance)
        variances.append(4.0 * noise * np.maximum(distance, 0.0) + square_spread * len(total) * noise**2)
    return np.column_stack(values), np.column_stack(variances)
