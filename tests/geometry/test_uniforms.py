"""Point sets: every row uniform by itself, and together more even than independent rows."""

import numpy as np
import pytest
from scipy.stats import kstest, qmc

from core.geometry.uniforms import (
    PublicRandom,
    chi_lengths,
    directions,
    generating_vector,
    group_sizes,
    scrambled_sobol,
    shifted_lattice,
)
from tests.depth import deep

ALARM = 1e-9  # of one test of uniformity; fewer than a hundred a run


@pytest.mark.thorough
@pytest.mark.few(2)
@pytest.mark.parametrize("spread", [scrambled_sobol, shifted_lattice])
@pytest.mark.parametrize("points, row", [deep(1, 0), (13, 5), (64, 63)])
def test_every_row_alone_is_uniform(spread, points, row):
    draws = np.array([spread(points, 3, PublicRandom(seed, 1))[row] for seed in range(1500)])
    for coordinate in draws.T:
        assert kstest(coordinate, "uniform").pvalue > ALARM
    # Independent coordinates: products of two uniform numbers average to a quarter.
    assert np.mean(draws[:, 0] * draws[:, 1]) == pytest.approx(0.25, abs=6 * 0.2205 / np.sqrt(1500))


@pytest.mark.parametrize("spread", [scrambled_sobol, shifted_lattice])
@pytest.mark.parametrize("points", [60, 100, 128])
def test_a_group_covers_the_cube_more_evenly_than_chance(spread, points):
    ours = np.median([qmc.discrepancy(spread(points, 4, PublicRandom(seed, 2))) for seed in range(9)])
    chance = np.median([qmc.discrepancy(PublicRandom(seed, 3).uniforms(points, 4)) for seed in range(9)])
    assert ours < 0.5 * chance


def test_uniform_numbers_stay_strictly_inside():
    for points in (scrambled_sobol(257, 5, PublicRandom(3)), shifted_lattice(99, 4, PublicRandom(3))):
        assert points.min() > 0.0 and points.max() < 1.0


def test_generating_vectors_have_a_point_in_every_stratum():
    for points in (1, 2, 62, 100, 125, 1000):
        for z in generating_vector(points, 4):
            assert sorted(np.arange(points) * z % points) == list(range(points))


@pytest.mark.few(1)
@pytest.mark.few(1)
@pytest.mark.parametrize("dimensions", [1, 2, 3, 4, 7])
def test_directions_are_unit_vectors_and_each_is_isotropic(dimensions):
    rows, groups = 3000, 3000
    uniforms = PublicRandom(5, dimensions).uniforms(rows, max(dimensions - 1, 1))
    vectors = directions(uniforms, dimensions, groups, seed=5, family=1)
    assert vectors.shape == (rows, dimensions)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0)
    second_moments = vectors.T @ vectors / rows
    assert second_moments == pytest.approx(np.eye(dimensions) / dimensions, abs=6 * np.sqrt(2 / rows) / dimensions)


def test_blocks_of_directions_are_orthogonal():
    vectors = directions(np.empty((10, 0)), 5, groups=1, seed=9, family=1)
    assert vectors[:5] @ vectors[:5].T == pytest.approx(np.eye(5), abs=1e-12)
    assert vectors[5:] @ vectors[5:].T == pytest.approx(np.eye(5), abs=1e-12)


def test_chi_lengths_make_normal_vectors():
    lengths = chi_lengths(PublicRandom(4).uniforms(4000, 1), 3)[:, 0]
    assert kstest(lengths**2, "chi2", args=(3,)).pvalue > ALARM


def test_streams_differ_by_seed_and_label_and_repeat():
    same, again = (PublicRandom(1, 2).words(4) for _ in range(2))
    assert (same == again).all()
    assert (same != PublicRandom(1, 3).words(4)).any() and (same != PublicRandom(2, 2).words(4)).any()


def test_group_sizes_are_as_equal_as_can_be():
    assert group_sizes(10, 4).tolist() == [3, 3, 2, 2]
    assert group_sizes(8, 8).tolist() == [1] * 8
