"""Synthetic points against the density they claim to come from, and against the people they stand for."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare, ks_2samp, kstest

from core.analysis.answerable import Box, half_widths
from core.analysis.density import grid, line
from core.analysis.population import explaining_population
from core.analysis.sampling import CATEGORY_CHANGES, _diagnostics, _proposals, not_meant_for, run_chains, sample
from core.domain import Domain
from core.errors import RequestError
from core.geometry.kernels import Euclidean, Laplacian
from core.lab.published.privbayes import PrivBayes
from core.privacy.budget import Budget
from core.releases.job import release
from tests.analysis.poured import box_of, clusters, exact_sums, poured
from tests.depth import deep, draws

FALSE_ALARM = 1e-8
"""Of each of the tests below, were the seeds others; they are fixed, so nothing fails by chance."""


def fits(observed: np.ndarray, weights: np.ndarray) -> bool:
    """Whether counts could come from the weights: chi-square, sparse cells put together."""
    order = np.argsort(weights.ravel())
    expected = weights.ravel()[order] / weights.sum() * observed.sum()
    sparse = np.cumsum(expected) < 20
    pool = np.where(sparse, 0, np.arange(len(expected)))
    expected, counts = (np.bincount(pool, values) for values in (expected, observed.ravel()[order]))
    kept = expected > 0
    assert counts[~kept].sum() == 0
    return chisquare(counts[kept], expected[kept]).pvalue > FALSE_ALARM


@pytest.mark.thorough
def test_one_column_is_drawn_from_the_clipped_estimate():
    release = poured(
        Domain.of(x=(-5, 20)), Euclidean(1.0), clusters([[0.2], [0.7]], 3000) * 25 - 5, epsilon=0.2, rows=200
    )
    drawn = sample(release, 50_000, seed=1, sharpen=False)
    assert drawn.method == "grid" and drawn.points.x.between(-5, 20).all()
    # Inside its cell a point may be anywhere.
    assert kstest(np.mod((drawn.points.x + 5) / 25 * 2**18, 1), "uniform").pvalue > FALSE_ALARM
    # Midpoints of 2**18 cells, the grid that is drawn from, and 64 bins of 2**12 cells each.
    centres = -5 + 25 * (np.arange(2**18) + 0.5) / 2**18
    weights = np.maximum(release.answer(centres[:, None]).estimate, 0).reshape(64, -1).sum(axis=1)
    assert fits(np.histogram(drawn.points.x, 64, (-5, 20))[0], weights)


@pytest.mark.thorough
@pytest.mark.parametrize("epsilon", [0.05, deep(1)])
def test_two_columns_are_drawn_from_the_clipped_estimate(epsilon):
    release = poured(box_of(2), Laplacian(0.1), clusters([[0.2, 0.3], [0.7, 0.6]], 3000), epsilon=epsilon, rows=200)
    drawn = sample(release, 40_000, seed=2, sharpen=False)
    fine = np.maximum(grid(release, "a", "b", size=512).estimate, 0)
    weights = fine.reshape(16, 32, 16, 32).sum(axis=(1, 3))
    counts = np.histogram2d(drawn.points.b, drawn.points.a, 16, [(0, 1), (0, 1)])[0]
    assert fits(counts, weights)


@pytest.mark.deep
def test_categories_are_drawn_with_the_numbers():
    domain = Domain.of(age=(0, 100), city=["Bern", "Basel", "Chur"], category_distance=20.0)
    frame = pd.DataFrame({"age": [30.0] * 2000 + [70.0] * 1000, "city": ["Basel"] * 2000 + ["Chur"] * 1000})
    release = poured(domain, Laplacian(10.0), domain.encode_queries(frame, "l1"), rows=200)
    drawn = sample(release, 30_000, seed=3, sharpen=False)
    cities = ["Bern", "Basel", "Chur"]
    weights = [np.maximum(line(release, "age", {"city": city}, points=20_001).estimate, 0)[1:] for city in cities]
    weights = np.array(weights).reshape(3, 20, 1000).sum(axis=2)
    counts = [np.histogram(drawn.points.age[drawn.points.city == city], 20, (0, 100))[0] for city in cities]
    assert fits(np.array(counts), weights)


@pytest.mark.deep
def test_chains_draw_from_the_same_density_as_the_grid():
    domain = Domain.of(x=(0, 1), y=(0, 2), city=["Bern", "Basel"])
    frame = pd.DataFrame(clusters([[0.3, 0.2], [0.7, 0.8]], 4000, deviation=0.1) * [1, 2], columns=["x", "y"]).assign(
        city=["Bern"] * 3000 + ["Basel"] * 1000
    )
    release = poured(domain, Laplacian(0.4), domain.encode_queries(frame, "l1"), rows=200)
    box, random = Box.of(release.sketch), np.random.default_rng(0)
    chains = run_chains(
        box, lambda points: release.answer_points(points).estimate, half_widths(release.sketch), draws(200, 400), random
    )
    assert chains.r_hat < 1.05 and chains.effective > 5000
    # Every 20th state, a hundred steps apart: as good as independent.
    states = box.decode(chains.states[::20].reshape(-1, domain.dimensions))
    observed, weights = [], []
    for city in ("Bern", "Basel"):
        here = states[states.city == city]
        observed.append(np.histogram2d(here.y, here.x, 8, [(0, 2), (0, 1)])[0])
        fine = np.maximum(grid(release, "x", "y", {"city": city}, size=128).estimate, 0)
        weights.append(fine.reshape(8, 16, 8, 16).sum(axis=(1, 3)))
    assert fits(np.array(observed), np.array(weights))


@pytest.mark.deep
def test_many_columns_are_drawn_by_chains_inside_the_bounds():
    points = clusters([[0.3] * 5, [0.7] * 5], 20_000)
    release = poured(box_of(5), Euclidean(0.5, power=4), points, epsilon=2, rows=draws(100, 300))
    drawn = sample(release, 4000, seed=5, sharpen=False)
    assert drawn.method == "chain" and drawn.r_hat < 1.1 and drawn.effective > 500
    assert drawn.points.shape == (4000, 5) and ((drawn.points >= 0) & (drawn.points <= 1)).all(axis=None)
    # Average of a coordinate under the estimate, by a plain average over the box.
    even = np.random.default_rng(0).random((draws(40_000, 200_000), 5))
    weights = np.maximum(release.answer(even).estimate, 0)
    expected, error = weights @ even / weights.sum(), 0.3 / drawn.effective**0.5
    assert np.allclose(drawn.points.mean(), expected, atol=6 * error + 0.005)


def test_steps_change_categories_and_numbers_both_ways_alike():
    domain = Domain.of(x=(0, 1), y=(0, 1), city=["Bern", "Basel"])
    box = Box(domain, "l2")
    points = box.uniform(np.tile([0.9, 0.5, 0.1], (100_000, 1)))
    others = box.uniform(np.random.default_rng(0).random((500, 3)))
    steps = _proposals(box, points, others, np.array([0.1, 0.1]), np.random.default_rng(1))
    assert ((steps[:, :2] >= 0) & (steps[:, :2] <= 1)).all()
    # Half of the changes pick the category that was there.
    assert np.mean(steps[:, 3] > 0) == pytest.approx(CATEGORY_CHANGES / 2, abs=0.01)
    up, down = np.mean(steps[:, 1] > 0.5), np.mean(steps[:, 1] < 0.5)
    assert up == pytest.approx(down, abs=0.01) and up + down < 1


def test_diagnostics_know_independent_stuck_and_slow_chains():
    random = np.random.default_rng(0)
    independent = random.standard_normal((200, 64, 2))
    r_hat, effective = _diagnostics(independent)
    assert r_hat < 1.01 and effective > 0.8 * 200 * 64
    stuck = independent + 3 * random.standard_normal((1, 64, 2))
    assert _diagnostics(stuck)[0] > 1.5 and _diagnostics(stuck)[1] < 1000
    slow = np.empty((1000, 64, 1))
    slow[0] = random.standard_normal((64, 1))
    for step in range(1, 1000):
        slow[step] = 0.9 * slow[step - 1] + (1 - 0.81) ** 0.5 * random.standard_normal((64, 1))
    assert _diagnostics(slow)[1] == pytest.approx(64_000 * 0.1 / 1.9, rel=0.25)
    assert _diagnostics(np.ones((10, 4, 1))) == (1.0, 40.0)


@pytest.fixture(scope="module")
def crowd():
    points = clusters([[0.2, 0.3, 0.5], [0.7, 0.6, 0.4]], 20_000, deviation=0.04, shares=[0.7, 0.3])
    return poured(box_of(3), Euclidean(0.1), points), points


@pytest.mark.deep
def test_a_sharpened_sample_lies_where_people_are(crowd):
    release, points = crowd
    people = points[:5000]
    sharp = sample(release, 5000, seed=1)
    smooth = sample(release, 5000, seed=1, sharpen=False)
    assert sharp.method == "population" and sharp.misfit <= 1.05
    for column, values in zip("abc", people.T, strict=True):
        far = ks_2samp(smooth.points[column], values).statistic
        near = ks_2samp(sharp.points[column], values).statistic
        assert near < 0.06 < 0.15 < far
    assert np.mean(sharp.points.a > 0.45) == pytest.approx(0.3, abs=0.03)


@pytest.mark.deep
def test_the_kernel_sums_of_a_sharpened_sample_are_the_released_ones(crowd):
    release, points = crowd
    drawn = Box.of(release.sketch).domain.encode_queries(sample(release, 10_000, seed=2).points)
    places = np.random.default_rng(0).random((300, 3))
    exact = exact_sums(release, points, places) / len(points)
    synthetic = exact_sums(release, drawn, places) / len(drawn)
    assert np.sqrt(np.mean((synthetic - exact) ** 2)) < 0.03 * np.sqrt(np.mean(exact**2))


@pytest.mark.deep
def test_a_population_keeps_the_shares_of_categories():
    domain = Domain.of(age=(0, 100), city=["Bern", "Basel", "Chur"], category_distance=30.0)
    city = np.repeat(["Bern", "Basel", "Chur"], [6000, 3000, 1000])
    age = np.repeat([30.0, 70.0, 50.0], [6000, 3000, 1000]) + np.random.default_rng(0).normal(0, 5, 10_000)
    frame = pd.DataFrame({"age": age, "city": city})
    release = poured(domain, Laplacian(10.0), domain.encode_queries(frame, "l1"))
    drawn = sample(release, 10_000, seed=4).points
    shares = drawn.city.value_counts(normalize=True)
    assert shares["Bern"] == pytest.approx(0.6, abs=0.05) and shares["Chur"] == pytest.approx(0.1, abs=0.05)
    assert drawn.groupby("city", observed=True).age.median()[["Bern", "Basel", "Chur"]].tolist() == pytest.approx(
        [30, 70, 50], abs=4
    )


@pytest.mark.thorough
def test_a_population_is_a_distribution_inside_the_bounds(crowd, few_places):
    release, _ = crowd
    found = explaining_population(release, np.random.default_rng(0))
    assert found.weights.sum() == pytest.approx(1) and (found.weights >= 0).all()
    assert ((found.places >= 0) & (found.places <= 1)).all()


def test_releases_of_synthetic_records_give_away_those():
    people = clusters([[0.2, 0.3], [0.7, 0.6]], 1000)
    made = release(PrivBayes(box_of(2), Laplacian(0.1), 8, 1, seed=1), people, Budget(50))
    drawn = sample(made, 400, seed=3)
    assert drawn.method == "records"
    known = {tuple(record) for record in made.sketch.synthetic(made.counters).tolist()}
    assert set(drawn.points.itertuples(index=False, name=None)) <= known


@pytest.mark.thorough
def test_the_same_seed_gives_the_same_points(few_places):
    release = poured(box_of(2), Euclidean(0.1), clusters([[0.2, 0.3], [0.7, 0.6]], 3000), rows=50)
    for sharpen in (True, False):
        one, same, other = (sample(release, 50, seed=seed, sharpen=sharpen).points for seed in (7, 7, 8))
        pd.testing.assert_frame_equal(one, same)
        assert not one.equals(other)


def test_impossible_samples_get_a_sentence(crowd):
    release, _ = crowd
    with pytest.raises(RequestError, match="number of points"):
        sample(release, 0)
    with pytest.raises(RequestError, match="The seed"):
        sample(release, 5, seed=-1)


def test_in_many_dimensions_it_is_said_what_the_points_are_not_meant_for(few_places):
    two, four = (poured(box_of(d), Laplacian(0.3), clusters([[0.5] * d], 500), rows=50) for d in (2, 4))
    assert "down to its bandwidth" in not_meant_for(two, sample(two, 10))
    assert "in 4 dimensions" in not_meant_for(four, sample(four, 10))
    assert not_meant_for(four, replace(sample(four, 10), method="records")) is None
