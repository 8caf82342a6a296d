"""Parts of one release: independent of each other in what noise does, and together the release itself."""

from functools import cache

import numpy as np
import pytest

from core import Budget
from core.engine.exact import Exact
from core.errors import RequestError
from core.geometry import kernels
from core.privacy.noise.randomness import SeededSource
from core.releases.seal import seal
from core.sketches.grids.histogram import Histogram
from core.tasks.density import marginal_grid, marginal_line
from core.tasks.modes import find_modes
from core.tasks.splitting import PARTS, Splitting, like_noise
from core.tasks.uncertainty import possible_releases
from tests.depth import draws
from tests.tasks.poured import box_of, clusters, poured

POINTS = clusters([[0.25, 0.3], [0.7, 0.8]], 3000, deviation=0.06, shares=[0.7, 0.3])
QUERIES = np.asfortranarray([[0.25, 0.3], [0.7, 0.8], [0.5, 0.5], [0.9, 0.1]])


@cache
def filled(delta):
    """A histogram of a size that suits the promise, and its exact table."""
    sketch = Histogram(box_of(2), kernels.Gaussian(0.1)).sized_for(Budget(1, delta), 3000)
    table = sketch.zeros()
    sketch.add(table, np.asfortranarray(POINTS))
    return sketch, table


def histogram(seed=1, delta=0):
    sketch, table = filled(delta)
    return seal(sketch, Exact(table.copy(), len(POINTS)), Budget(1, delta), noise_source=SeededSource(seed))


def test_the_mean_of_all_parts_is_the_release():
    release = histogram()
    splitting = Splitting(release)
    assert np.array_equal(np.mean(splitting._tables, axis=0), release.counters)
    estimates, weights = splitting.estimates(QUERIES)
    assert estimates.shape == (PARTS, 4)
    assert weights @ estimates == pytest.approx(release.answer_points(QUERIES).estimate)
    some = np.arange(PARTS) < 3
    assert splitting.mean(QUERIES, some) == pytest.approx(estimates[some].mean(axis=0), rel=1e-6)


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_parts_are_uncorrelated_and_vary_as_they_should(delta):
    tables = np.array([Splitting(histogram(seed, delta))._tables for seed in range(100, 108)], dtype=float)
    _, exact = filled(delta)
    noise = np.moveaxis(tables - exact, 1, 0).reshape(PARTS, -1)
    variance = PARTS * histogram(1, delta).privacy.counter_variance
    covariance = noise @ noise.T / noise.shape[1] / variance
    # Averages of thousands of products, whose standard deviations are below 0.04.
    assert np.diag(covariance) == pytest.approx(np.ones(PARTS), abs=0.3)
    assert np.abs(covariance - np.diag(np.diag(covariance))).max() < 0.25


def test_rows_in_groups_are_left_as_they_are():
    release = poured(box_of(2), kernels.Euclidean(0.2), POINTS, rows=64)
    estimates, weights = Splitting(release).estimates(QUERIES)
    own, shares = release.sketch.group_estimates(release.counters, release.records, QUERIES)
    assert np.array_equal(estimates, own) and np.array_equal(weights, shares)
    assert not Splitting(release).unseen_variance(QUERIES).any()


def test_fresh_noise_is_of_the_same_law():
    release = histogram()
    noise = like_noise(release, SeededSource(9))
    assert noise.shape == release.counters.shape
    assert noise.var() == pytest.approx(release.privacy.counter_variance, rel=0.5)


def test_pictures_of_a_table_without_groups():
    release = histogram()
    exact = kernels.Gaussian(0.1).evaluate
    curve = marginal_line(release, "a", points=21)
    across = np.linspace(0.0025, 0.9975, 200)
    truth = np.array(
        [exact(np.column_stack([np.full(200, a), across]), POINTS).sum() / 200 for a in np.linspace(0, 1, 21)]
    )
    inside = (curve.low <= truth) & (truth <= curve.high)
    assert inside.sum() >= 16
    heatmap = marginal_grid(release, "a", "b", size=12)
    answers = release.answer_points(
        np.asfortranarray(np.stack(np.meshgrid(heatmap.x_values, heatmap.y_values), axis=-1).reshape(-1, 2))
    )
    assert np.allclose(heatmap.estimate.ravel(), answers.estimate)
    assert np.allclose(heatmap.high.ravel(), answers.high)


def test_modes_of_a_table_without_groups():
    modes = [mode for mode in find_modes(histogram(), starts=32) if mode.significant]
    places = np.array([list(mode.position.values()) for mode in modes])
    assert places == pytest.approx(np.array([[0.25, 0.3], [0.7, 0.8]]), abs=0.04)


@pytest.mark.deep
def test_noise_alone_has_no_modes_without_groups():
    false_alarms = 0
    for seed in range(draws(5, 10)):
        sketch, _ = filled(0)
        release = seal(sketch, Exact(sketch.zeros(), 0), Budget(1), noise_source=SeededSource(seed))
        false_alarms += any(mode.significant for mode in find_modes(release, starts=16))
    # At a chance of 5% each, five of five or seven of ten happen less than once in a million.
    assert false_alarms <= draws(4, 6)


def test_outcomes_of_a_table_without_groups_vary_as_its_errors_say():
    release = histogram()
    answers = release.answer_points(QUERIES)
    spread = np.subtract(*np.quantile(possible_releases(release, QUERIES, 2000), [0.84, 0.16], axis=0)) / 2
    noise = np.sqrt(release.sketch.noise_variance(release.privacy.counter_variance, QUERIES))
    assert (spread / noise > 0.3).all() and (spread / noise < 3).all()
    assert np.isinf(answers.degrees)


def test_levels_are_checked():
    with pytest.raises(RequestError, match="level"):
        marginal_line(histogram(), "a", points=3, level=1.0)
