"""How surely the class in front is in front, against linear algebra done the long way and against its own promise."""

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import multivariate_normal

from core.analysis.winning_class import LEADS, Scatter, chance_of_winning, learned_scatter
from tests.depth import deep, draws


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


@pytest.mark.parametrize("classes", [2, deep(3), 10])
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
