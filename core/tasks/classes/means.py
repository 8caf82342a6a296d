"""Deciding by what the classes' records are on average, rather than by how far each of them is: nearest mean.

Sums of vectors (`core.sketches.distances.moments`, `core.sketches.distances.directions`) know the mean of every class
up to noise. The noise moves every mean, and makes it look longer than it is: on average a squared length grows by the
variance of the noise in all coordinates together, which is known and taken off.

mean        squared distance to the mean of a class's records, less is better
direction   cosine between a place and the mean direction of a class's records; how many there are does not matter
"""

from __future__ import annotations

import numpy as np

from ...sketches.distances.directions import Directions
from ...sketches.distances.moments import Moments
from ...sketches.distances.row_products import row_products


def direction_scores(
    sketch: Directions, tables: np.ndarray, counter_variance: float, points: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Cosines with the mean direction of every class, and the variance that noise gives them; float64 (n, K) each.

    Noise e in a sum S of d coordinates, of variance v each, moves the cosine c = <q, S>/|S| by <q - c S/|S|, e>/|S|:
    a variance of v (1 - c^2) / |S|^2. What the squared length with its noise is off by, 2 d v^2 and more, adds
    c^2 d v^2 / (2 |S|^4).

    Parameters
    ----------
    sketch : Directions
        Of one class.
    tables : np.ndarray
        Noisy sums, int64 (K, dimensions).
    counter_variance : float
        Of the noise in one counter.
    points : np.ndarray
        Encoded places, float32 or float64 (n, d); scores are not finite where they are not.
    """
    lengths = np.array([max(sketch.length(table, counter_variance), 1e-9) for table in tables])
    cosines = sketch.cosine_sums(tables, points) / lengths
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
    sketch, tables, counter_variance, points : Moments, np.ndarray, float, np.ndarray
        As in `direction_scores`.
    numbers : np.ndarray
        float64 (K,), the number of records of every class as well as it is known.
    square_spread : float
        Of the noise's distribution.
    """
    means = np.array([sketch.moments(table)[1] / number for table, number in zip(tables, numbers, strict=True)])
    noise, d = sketch.sum_variance(counter_variance) / np.asarray(numbers) ** 2, means.shape[1]
    # |q - m|^2 as |q|^2 - 2 <q, m> + |m|^2: the places are read once for all classes.
    products, squares = row_products(points, sketch.origin, means)
    distance = squares[:, None] - 2.0 * products + np.einsum("kj,kj->k", means, means) - d * noise
    return -distance, 4.0 * noise * np.maximum(distance, 0.0) + square_spread * d * noise**2
