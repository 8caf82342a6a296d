"""Random slabs: floor(u.x / pitch + b) for a uniform direction u and a random pitch, the smooth kernel exactly.

Slabs of random pitch across one coordinate share two points at distance s with probability E max(0, 1 - s / pitch),
which can be any convex profile profile(s) that falls from 1 to 0: the pitch then has the survival function
profile(s) - s profile'(s). Across a random direction of D dimensions s = |u.(x - y)|, so the collision probability is
K(c) = E profile(c |u_1|), c the distance. Which profile gives K(c) = 1/(1 + c)? By Mellin's transform, for odd D,

    profile = sum over k of weight_k (1 + s)^-k,    starting from (1 + s)^-1 at D = 1, where a step of two dimensions
    takes (1 + s)^-k to (k / a) (1 + s)^-(k + 1) + (1 - k / a) (1 + s)^-k,    a = 1, 3, 5, ..., D - 2:

E |u_1|^-z = Gamma((1 - z)/2) Gamma(D/2) / (sqrt(pi) Gamma((D - z)/2)), so two dimensions more divide the profile's
transform by a/(a - z); and (1 + s)^-k has the transform Gamma(z) Gamma(k - z) / Gamma(k). As k <= (a + 1)/2 <= a, all
weights are positive and every profile is convex: one interval number a row is enough in any number of dimensions, even
ones being a part of the next odd space. In three dimensions the profile is (1 + s)^-2. (The exponential kernel and
1/(1 + c^2) have no such profile above one dimension; the latter, like the Gaussian, is no collision probability at all:
1 - k, the probability of falling apart, would have to obey the triangle inequality.)
"""

from __future__ import annotations

import numpy as np

from .cells import Hashes
from .coverage import grouped_uniforms
from .directions import directions, uniforms_for_direction

HALVINGS = 60


def smooth_hashes(rows: int, groups: int, dimensions: int, power: int, seed: int, family: int) -> Hashes:
    """Hashes of points measured in bandwidths: ``power`` slabs a row, each of its own pitch and direction."""
    space = dimensions + 1 - dimensions % 2
    weights = profile_weights(space)
    angles = uniforms_for_direction(space)
    each = angles + 2
    uniforms = grouped_uniforms(rows, groups, power * each, seed, family).reshape(rows, power, each)
    a = np.empty((rows, power, dimensions))
    for p in range(power):
        unit = directions(uniforms[:, p, 1:-1], space, groups, seed, family * 1_000 + p)
        a[:, p] = unit[:, :dimensions] / slab_pitches(uniforms[:, p, :1], weights)
    return Hashes.dense(a, uniforms[:, :, -1])


def profile_weights(space: int) -> np.ndarray:
    """Weights of (1 + s)^-1, (1 + s)^-2, ... in the profile, for an odd number of dimensions; they add up to 1."""
    weights = np.ones(1)
    for a in range(1, space, 2):
        k = np.arange(1, len(weights) + 1)
        weights = np.append(weights * (1.0 - k / a), 0.0) + np.append(0.0, weights * k / a)
    return weights


def slab_pitches(uniforms: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Pitches by inverting their survival function, a polynomial in y = 1/(1 + pitch), by halving.

    (1 + s)^-k gives (k + 1) y^k - k y^(k + 1), which rises from 0 to 1.
    """
    k = np.arange(1, len(weights) + 1)
    survival = np.append(0.0, np.append(weights * (k + 1), 0.0)) - np.append([0.0, 0.0], weights * k)
    low, high = np.zeros_like(uniforms), np.ones_like(uniforms)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        above = np.polynomial.polynomial.polyval(middle, survival) > uniforms
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return 1.0 / high - 1.0
