"""Random slabs: the smooth kernel in any number of dimensions, from one interval number a row."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import gamma

from core.geometry.hashing.families import draw_hashes
from core.geometry.hashing.random_slabs import profile_weights, slab_pitches
from core.geometry.kernels import Smooth
from tests.depth import crossed, draws

SIGMAS, ROWS = 6.0, draws(1_500, 4_000)
"""A collision rate is off by more than 6 standard deviations for 2e-9 of all draws; fewer than 50 are compared."""


@pytest.mark.parametrize("space", [1, 3, 5, 7, 21, 513])
def test_profiles_are_mixtures(space):
    weights = profile_weights(space)
    assert (weights >= 0).all() and weights.sum() == pytest.approx(1.0) and len(weights) == (space + 1) // 2


@pytest.mark.parametrize("space", [3, 5, 9])
@pytest.mark.parametrize("distance", [0.1, 1.0, 7.0])
def test_the_profile_averages_to_the_kernel_over_directions(space, distance):
    """E profile(c |u_1|), with the density of one coordinate of a uniform direction."""
    weights = profile_weights(space)
    norm = 2.0 * gamma(space / 2.0) / (np.sqrt(np.pi) * gamma((space - 1) / 2.0))

    def integrand(u: float) -> float:
        profile = sum(w * (1.0 + distance * u) ** -k for k, w in enumerate(weights, 1))
        return norm * (1.0 - u * u) ** ((space - 3) / 2.0) * profile

    assert quad(integrand, 0.0, 1.0)[0] == pytest.approx(1.0 / (1.0 + distance))


def test_pitches_share_a_slab_as_often_as_the_profile_says():
    weights = profile_weights(7)
    pitches = slab_pitches((np.arange(200_000) + 0.5) / 200_000, weights)
    for s in (0.05, 0.5, 3.0):
        expected = sum(w * (1.0 + s) ** -k for k, w in enumerate(weights, 1))
        assert np.maximum(1.0 - s / pitches, 0.0).mean() == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(("power", "dimensions"), crossed([1, 2], [4, 1, 2, 3, 9]))
def test_collisions_are_the_kernel(dimensions, power):
    """Rows in groups of their own, so that they are independent."""
    kernel = Smooth(1.5, power)
    hashes = draw_hashes(kernel, (1,) * dimensions, ROWS, ROWS, 3)
    unit = np.random.default_rng(dimensions).normal(size=dimensions)
    for distance in (0.1, 1.0, 10.0):
        point = distance * unit / np.linalg.norm(unit)
        value = np.add.reduceat(hashes.coefficient * point[hashes.coordinate], hashes.first_term[:-1]) + hashes.offset
        shared = np.floor(value) == np.floor(hashes.offset)
        observed = np.mean(np.bincount(hashes.row, weights=~shared, minlength=ROWS) == 0)
        expected = kernel.evaluate(np.zeros((1, dimensions)), point[None])[0, 0]
        assert abs(observed - expected) < SIGMAS * np.sqrt(expected * (1.0 - expected) / ROWS)
