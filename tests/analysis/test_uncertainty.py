"""Outcomes against Student's t, and against releases that were really made again."""

from functools import cache

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import multivariate_normal
from scipy.stats import t as student

from core import Budget
from core.analysis.density import marginal_grid, marginal_line
from core.analysis.modes import find_modes
from core.analysis.uncertainty import (
    LEADS,
    PARTS,
    Scatter,
    Splitting,
    chance_of_winning,
    learned_scatter,
    like_noise,
    quantile_dots,
)
from core.errors import RequestError
from core.geometry import kernels
from core.geometry.kernels import Euclidean
from core.privacy.noise.randomness import SeededSource
from core.releases.engine.building import ExactTable
from core.releases.seal import seal
from core.sketches.answers import Answers
from core.sketches.histogram import Histogram
from tests.analysis.poured import box_of, clusters, poured
from tests.depth import deep, draws

POINTS = clusters([[0.3, 0.4]], 500, deviation=0.1)
QUERIES = np.array([[0.3, 0.4], [0.32, 0.41], [0.9, 0.9]])


def test_dots_are_quantiles_of_students_t():
    release = poured(box_of(2), Euclidean(0.2), POINTS, rows=64)
    answers = release.answer(QUERIES, level=0.9)
    dots = quantile_dots(answers, 1, 50)
    assert dots.shape == (50,) and (np.diff(dots) > 0).all()
    chances = student.cdf((dots - answers.estimate[1]) / answers.standard_error[1], 7)
    assert np.allclose(chances, (np.arange(50) + 0.5) / 50)
    many = quantile_dots(answers, 1, 10_000)
    assert np.mean((many >= answers.low[1]) & (many <= answers.high[1])) == pytest.approx(0.9, abs=1e-3)


def test_impossible_outcomes_get_a_sentence():
    release = poured(box_of(2), Euclidean(0.2), POINTS, rows=64)
    answers = release.answer(QUERIES)
    with pytest.raises(RequestError, match="The query must be a whole number from 0 to 2"):
        quantile_dots(answers, 3)
    with pytest.raises(RequestError, match="number of outcomes"):
        quantile_dots(answers, 0, count=0)
    alone = Answers.of_groups(np.ones((1, 2)), np.ones(1), 10.0, 0.95)
    with pytest.raises(RequestError, match="does not know its own error"):
        quantile_dots(alone, 0)


SPLITTING_POINTS = clusters([[0.25, 0.3], [0.7, 0.8]], 3000, deviation=0.06, shares=[0.7, 0.3])
SPLITTING_QUERIES = np.asfortranarray([[0.25, 0.3], [0.7, 0.8], [0.5, 0.5], [0.9, 0.1]])


@cache
def filled(delta):
    """A histogram of a size that suits the promise, and its exact table."""
    sketch = Histogram(box_of(2), kernels.Gaussian(0.1)).sized_for(Budget(1, delta), 3000)
    table = sketch.zeros()
    sketch.add(table, np.asfortranarray(SPLITTING_POINTS))
    return sketch, table


def histogram(seed=1, delta=0):
    sketch, table = filled(delta)
    return seal(
        sketch, ExactTable(table.copy(), len(SPLITTING_POINTS)), Budget(1, delta), noise_source=SeededSource(seed)
    )


def test_the_mean_of_all_parts_is_the_release():
    release = histogram()
    splitting = Splitting(release)
    assert np.array_equal(np.mean(splitting._tables, axis=0), release.counters)
    estimates, weights = splitting.estimates(SPLITTING_QUERIES)
    assert estimates.shape == (PARTS, 4)
    assert weights @ estimates == pytest.approx(release.answer_points(SPLITTING_QUERIES).estimate)
    some = np.arange(PARTS) < 3
    assert splitting.mean(SPLITTING_QUERIES, some) == pytest.approx(estimates[some].mean(axis=0), rel=1e-6)


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
    release = poured(box_of(2), kernels.Euclidean(0.2), SPLITTING_POINTS, rows=64)
    estimates, weights = Splitting(release).estimates(SPLITTING_QUERIES)
    own, shares = release.sketch.group_estimates(release.counters, release.records, SPLITTING_QUERIES)
    assert np.array_equal(estimates, own) and np.array_equal(weights, shares)
    assert not Splitting(release).unseen_variance(SPLITTING_QUERIES).any()


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
        [exact(np.column_stack([np.full(200, a), across]), SPLITTING_POINTS).sum() / 200 for a in np.linspace(0, 1, 21)]
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
        release = seal(sketch, ExactTable(sketch.zeros(), 0), Budget(1), noise_source=SeededSource(seed))
        false_alarms += any(mode.significant for mode in find_modes(release, starts=16))
    # At a chance of 5% each, five of five or seven of ten happen less than once in a million.
    assert false_alarms <= draws(4, 6)


def test_levels_are_checked():
    with pytest.raises(RequestError, match="level"):
        marginal_line(histogram(), "a", points=3, level=1.0)


def slow_chance(value, variance, scatter, draws=400_000, middle=300.0):
    """By Bayes' rule on whole covariance matrices and by counting draws; the middle has a very wide prior."""
    size, random = len(value), np.random.default_rng(0)
    shares, wins = [], []
    for tau, weight in zip(scatter.deviation, scatter.weight, strict=True):
        prior = tau**2 * np.eye(size) + middle**2
        whole = prior + np.diag(variance)
        gain = prior @ np.linalg.inv(whole)
        spread = np.linalg.cholesky(prior - gain @ prior + 1e-9 * np.eye(size))
        leads = [
            (0.0, 0, weight[0]),
            *((x, k, w / size) for x, w in zip(LEADS, weight[1:], strict=True) for k in range(size)),
        ]
        for lead, leader, share in leads:
            mean = np.where(np.arange(size) == leader, lead * tau, 0.0)
            shares.append(share * multivariate_normal.pdf(value, mean, whole))
            truth = mean + gain @ (value - mean) + random.standard_normal((draws, size)) @ spread.T
            wins.append(np.mean(truth.argmax(axis=1) == np.argmax(value)))
    return np.average(wins, weights=shares)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("value", "variance"),
    [
        ([1.0, 0.0], [1.0, 1.0]),
        ([2.5, -0.5], [0.3, 2.0]),
        ([0.1, 0.0, 3.0], [1.0, 1.0, 1.0]),
        ([0.1, 0.0, 0.05, 0.02], [0.5, 1.0, 1.5, 1.0]),
    ],
)
def test_chances_are_those_of_bayes_rule(value, variance):
    """Draws leave a standard error below 0.0008, or 0.002; the rest is quadrature, and the middle that is not known."""
    scatter = Scatter(np.array([0.3, 1.5]), np.array([[0.4, 0.05, 0.05], [0.2, 0.2, 0.1]]))
    found = chance_of_winning(np.array([value]), np.array([variance]), scatter)
    exact = slow_chance(np.array(value), np.array(variance), scatter, draws(60_000, 400_000))
    assert found == pytest.approx(exact, abs=0.01)


def test_scores_that_scatter_far_beyond_the_noise_win_by_their_lead_alone():
    scatter = Scatter(np.array([1e4]), np.array([[1.0, 1e-12, 1e-12]]))
    lead = np.linspace(0, 4, 9)
    value = np.column_stack([lead, np.zeros(9)])
    expected = ndtr(lead / np.sqrt(2.0))
    assert chance_of_winning(value, np.ones((9, 2)), scatter) == pytest.approx(expected, abs=1e-3)


@pytest.mark.few(1)
@pytest.mark.parametrize("classes", [2, deep(3), deep(10)])
@pytest.mark.parametrize("shape", ["peaked", deep("two peaks"), "one stands out", "nothing"])
def test_chances_come_true(classes, shape):
    """20,000 places, or 8,000, with unit noise and a fixed seed: of each tenth of the chances, as many win as was said.

    What was said is off by up to 0.04 of 1 where the truth has no shape that the scatter may have, and a share of 400
    by 0.025 at random.
    """
    random, n = np.random.default_rng(3), draws(8_000, 20_000)
    truth = random.standard_normal((n, classes))
    if shape == "peaked":
        truth *= 5.0 * random.random((n, 1)) ** 2
    elif shape == "two peaks":
        truth = 0.3 * truth + 3.0 * random.choice([0, 1], (n, 1)) * np.eye(classes)[random.integers(0, 2, n)]
    elif shape == "one stands out":
        truth = 0.5 * truth + 4.0 * random.random((n, 1)) * np.eye(classes)[random.integers(0, classes, n)]
    else:
        truth *= 1e-3
    value = truth + random.standard_normal(truth.shape)
    chance = chance_of_winning(value, np.ones(value.shape), learned_scatter(value, np.ones(value.shape)))
    won = truth.argmax(axis=1) == value.argmax(axis=1)
    assert chance.min() > 0 and chance.max() < 1 + 1e-9
    assert chance.mean() == pytest.approx(won.mean(), abs=0.06)
    if shape == "nothing":
        assert chance.max() < 0.95
        return
    for tenth in range(10):
        here = (chance >= tenth / 10) & (chance < (tenth + 1) / 10)
        if here.sum() >= 400:
            assert chance[here].mean() == pytest.approx(won[here].mean(), abs=0.1)


def test_one_place_alone_is_doubted_more_than_its_lead_says():
    value, variance = np.array([[2.0, 0.0]]), np.ones((1, 2))
    chance = chance_of_winning(value, variance, learned_scatter(value, variance))[0]
    assert 0.7 < chance < ndtr(2.0 / np.sqrt(2.0))
    surely = np.array([[60.0, 0.0]])
    assert chance_of_winning(surely, variance, learned_scatter(surely, variance))[0] > 0.999


def test_scores_without_noise_and_equal_scores_are_no_trouble():
    value = np.array([[1.0, 2.0], [3.0, 1.0], [0.0, 0.0]])
    chance = chance_of_winning(value, np.zeros((3, 2)), learned_scatter(value, np.zeros((3, 2))))
    assert chance[:2] == pytest.approx([1.0, 1.0]) and 0.4 < chance[2] < 0.6
    level = np.zeros((5, 3))
    assert chance_of_winning(level, np.ones((5, 3)), learned_scatter(level, np.ones((5, 3)))) == pytest.approx(
        1 / 3, abs=0.02
    )


@pytest.mark.parametrize("unit", [1e-60, 1e-20, 1e20, 1e60])
def test_the_unit_of_the_scores_changes_no_confidence(unit):
    """The logarithm of a product of weights is one of numbers, however small or large they are."""
    random = np.random.default_rng(9)
    value, variance = random.normal(size=(30, 8)), random.uniform(0.1, 1.0, (30, 8))
    value[:10, 3] += 4.0

    def confidence(unit: float) -> np.ndarray:
        known = value * unit, variance * unit**2
        return chance_of_winning(*known, learned_scatter(*known))

    assert confidence(unit) == pytest.approx(confidence(1.0), rel=1e-9)
