"""Projections against plain matrix products, their laws, and their independence of what stands beside a record."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import hadamard

from core.errors import RequestError
from core.geometry.kernels import Euclidean, Exponential, Gaussian, Laplacian, Smooth
from core.geometry.projection import (
    PROJECTIONS,
    FastProjection,
    GaussianProjection,
    OrthogonalProjection,
    dimensions_for,
    expected_error,
    projection_from_dict,
)
from core.runtime.environment import over_ranges
from tests.depth import draws

KINDS = list(PROJECTIONS.values())


def points(n: int, d: int, seed: int = 0) -> np.ndarray:
    return np.asfortranarray(np.random.default_rng(seed).normal(size=(n, d)))


@given(st.integers(1, 40), st.integers(1, 70), st.data(), st.integers(0, 2**128 - 1))
@settings(max_examples=draws(16, 40))
def test_dense_maps_are_matrix_products(n, d, data, seed):
    k = data.draw(st.integers(1, d))
    x = points(n, d)
    for kind in (GaussianProjection, OrthogonalProjection):
        projection = kind(d, k, seed)
        assert projection.project(x) == pytest.approx(x @ projection.matrix.T, abs=1e-12)


@pytest.mark.parametrize("d, k", [(1, 1), (2, 1), (5, 3), (8, 8), (33, 20), (100, 64)])
def test_the_fast_map_is_sampled_rows_of_a_signed_hadamard_matrix(d, k):
    projection = FastProjection(d, k, seed=7)
    matrix = projection.project(np.eye(d, order="F")).T * np.sqrt(k)
    signs = projection._signs
    rows = hadamard(projection.padded)[:, :d] if projection.padded > 1 else np.ones((1, 1))
    assert (np.abs(matrix).round(12) == 1).all()
    found = [np.flatnonzero((rows * signs == row.round()).all(axis=1)) for row in matrix]
    assert projection._sample.tolist() == [int(place[np.isin(place, projection._sample)][0]) for place in found]
    assert len(set(projection._sample.tolist())) == k
    x = points(37, d)
    assert projection.project(x) == pytest.approx(x @ matrix.T / np.sqrt(k), abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@given(st.integers(1, 200), st.data())
@settings(max_examples=draws(6, 15))
def test_the_image_of_a_record_does_not_depend_on_its_batch(kind, n, data):
    x = points(n, 53, seed=n)
    projection = kind(53, 21, seed=3)
    whole = projection.project(x)
    start = data.draw(st.integers(0, n - 1))
    stop = data.draw(st.integers(start + 1, n))
    part = projection.project(np.asfortranarray(x[start:stop]))
    assert part.tobytes() == np.asfortranarray(whole[start:stop]).tobytes()


@pytest.mark.parametrize("kind", KINDS)
def test_the_number_of_threads_changes_nothing(kind, monkeypatch):
    x = points(301, 40)
    projection = kind(40, 17, seed=3)
    whole = projection.project(x)
    module = "core.geometry.projection"

    def in_sevenths(count, work, at_least=1):
        edges = [count * part // 7 for part in range(8)]
        for a, b in pairwise(edges):
            over_ranges(b - a, lambda start, stop, a=a: work(a + start, a + stop))

    monkeypatch.setattr(f"{module}.over_ranges", in_sevenths)
    assert projection.project(x).tobytes() == whole.tobytes()


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("vector", ["even", "random", "single"])
def test_squared_lengths_have_the_stated_mean_and_at_most_the_stated_variance(kind, vector):
    """The mean within 6 of its standard errors; the variance within 6 deviations of its bound, 20% for 4000 maps."""
    maps = draws(1000, 4000)
    d, k = 20, 6
    z = {"even": np.ones(d), "random": np.random.default_rng(1).normal(size=d), "single": np.eye(d)[3]}[vector]
    ratios = np.array([(kind(d, k, seed=5, stream=i).project(z[None]) ** 2).sum() / (z**2).sum() for i in range(maps)])
    bound = kind.length_variance(d, k)
    assert abs(ratios.mean() - 1.0) < 6.0 * np.sqrt(bound / maps)
    reach = 0.2 * np.sqrt(4000 / maps)
    assert ratios.var() < (1.0 + reach) * bound
    if kind is not FastProjection:
        assert ratios.var() > (1.0 - reach) * bound
    elif vector == "single":
        assert ratios.var() < 1e-20  # a single coordinate is spread evenly, whatever the signs


def test_the_fast_map_of_a_power_of_two_is_exact_at_full_length():
    x = points(50, 64)
    y = FastProjection(64, 64, seed=1).project(x)
    assert (y**2).sum(axis=1) == pytest.approx((x**2).sum(axis=1))


@pytest.mark.parametrize("kind", KINDS)
def test_images_stay_within_reach(kind):
    projection = kind(300, 100, seed=2)
    x = points(500, 300)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    assert np.abs(projection.project(np.asfortranarray(x))).max() < projection.reach
    if kind is not GaussianProjection:
        few = kind(9, 4, seed=2)
        corners = np.asfortranarray(np.where(np.indices((2,) * 9).reshape(9, -1).T > 0, 1.0, -1.0) / 3.0)
        assert np.abs(few.project(corners)).max() <= few.reach * (1 + 1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_descriptions_rebuild_the_map(kind):
    projection = kind(30, 10, stream=4)
    again = projection_from_dict(30, projection.to_dict())
    assert again == projection
    x = points(5, 30)
    assert again.project(x).tobytes() == projection.project(x).tobytes()
    assert kind(30, 10).seed != kind(30, 10).seed
    assert (projection.of_stream(5).project(x) != projection.project(x)).any()


@pytest.mark.parametrize(
    "change",
    [
        {"name": "best"},
        {"name": None},
        {"target": 0},
        {"target": 31},
        {"target": 2.0},
        {"seed": 5},
        {"seed": "F" * 32},
        {"seed": "0" * 31},
        {"stream": -1},
        {"stream": 10**9},
        {"more": 1},
    ],
)
def test_strange_descriptions_are_refused(change):
    with pytest.raises(RequestError):
        projection_from_dict(30, FastProjection(30, 10).to_dict() | change)
    with pytest.raises(RequestError):
        projection_from_dict(30, "fast")


def test_matrices_beyond_memory_and_points_of_another_length_are_refused():
    with pytest.raises(RequestError, match="fast"):
        GaussianProjection(100_000, 100_000)
    with pytest.raises(RequestError):
        FastProjection(10, 3).project(np.zeros((2, 11)))


@pytest.mark.few(2)
@pytest.mark.parametrize("kernel", [Gaussian(2.0), Exponential(0.5), Smooth(1.0), Euclidean(3.0)], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_the_wanted_error_of_a_density_is_kept(kernel, kind):
    """Mean error over 400 maps, the worst of six distances: below alpha, up to five standard errors of the mean."""
    alpha, d = 0.06, 128
    k = dimensions_for(alpha, d, kernel, kind.name)
    direction = np.random.default_rng(0).normal(size=d)
    direction /= np.linalg.norm(direction)
    distances = np.array([0.3, 0.7, 1.0, 1.4, 2.0, 4.0]) * kernel.bandwidth
    z = np.asfortranarray(distances[:, None] * direction)
    before = kernel.evaluate(np.zeros((1, d)), z)[0]
    errors = np.array(
        [
            np.abs(kernel.evaluate(np.zeros((1, k)), kind(d, k, seed=9, stream=i).project(z))[0] - before)
            for i in range(400)
        ]
    )
    assert (errors.mean(axis=0) < alpha + 5.0 * errors.std(axis=0) / 20.0).all()


def test_dimensions_follow_from_the_error():
    for kind in KINDS:
        few, many = (dimensions_for(alpha, 2048, Gaussian(1.0), kind.name) for alpha in (0.1, 0.05))
        assert few < many <= 2048
        assert expected_error(Gaussian(1.0), kind, 2048, many) <= 0.05
        assert expected_error(Gaussian(1.0), kind, 2048, many - 1) > 0.05
    # 0.17 / alpha^2 for the Gaussian kernel and map: the first-order term is exp(-1) sqrt(2 / k) sqrt(2 / pi).
    assert dimensions_for(0.05, 10**5, Gaussian(1.0), "gaussian") == pytest.approx(0.1723 / 0.05**2, rel=0.05)
    assert dimensions_for(1e-6, 64, Gaussian(1.0), "gaussian") == 64
    for bad in (0.0, 1.0, -1.0):
        with pytest.raises(RequestError):
            dimensions_for(bad, 64, Gaussian(1.0))
    with pytest.raises(RequestError, match="by hand"):
        dimensions_for(0.1, 64, Laplacian(1.0))
    with pytest.raises(RequestError, match="by hand"):
        dimensions_for(0.1, 64, Gaussian((1.0, 2.0)))


def test_rotations_that_take_minutes_are_refused_before_they_are_drawn():
    with pytest.raises(RequestError, match="would take minutes"):
        OrthogonalProjection(8000, 8000, 1)
    assert OrthogonalProjection(8000, 1000, 1).target == 1000


@pytest.mark.parametrize(("target", "most"), [(200, 1.67), (2_000, 1.39), (19_000, 1.3)])
def test_the_bound_of_lengths_of_which_the_variance_is_known_is_no_wider_than_it_has_to_be(target, most):
    """To the first order exp(-v r^2 / 2) falls by exp(-1) a unit of v at most, and v is off by its deviation."""
    fast = PROJECTIONS["fast"]
    steepest = np.exp(-1.0) * np.sqrt(fast.length_variance(20_000, target))
    assert 1.0 < expected_error(Gaussian(1.0), fast, 20_000, target) / steepest < most
