"""Outcomes against Student's t, and against releases that were really made again."""

import numpy as np
import pytest
from scipy.stats import t as student

from core.errors import RequestError
from core.geometry.kernels import Euclidean
from core.sketches.answers import Answers
from core.tasks.uncertainty import possible_releases, quantile_dots
from tests.tasks.poured import box_of, clusters, poured

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


def test_possible_releases_vary_as_the_standard_errors_say():
    release = poured(box_of(2), Euclidean(0.2), POINTS, rows=64)
    answers = release.answer(QUERIES)
    outcomes = possible_releases(release, QUERIES, count=10_000, seed=1)
    scores = (outcomes - answers.estimate) / answers.standard_error
    # Quartiles of 10,000 draws are off by 0.07 or more less than once in a million.
    for quantile in (0.25, 0.5, 0.75):
        assert np.quantile(scores, quantile, axis=0) == pytest.approx(student.ppf(quantile, 7), abs=0.07)
    # Student's t reaches 2.52 where a normal distribution reaches 2.05; five standard deviations of this are 0.35.
    assert np.quantile(scores, 0.98, axis=0) == pytest.approx(student.ppf(0.98, 7), abs=0.35)
    correlation = np.corrcoef(outcomes.T)
    assert correlation[0, 1] > 0.8


def test_possible_releases_vary_as_releases_made_again_do():
    spreads, estimates = [], []
    for seed in range(200):
        release = poured(box_of(2), Euclidean(0.2), POINTS, rows=64, seed=seed)
        outcomes = possible_releases(release, QUERIES, count=200, seed=seed)
        spreads.append(np.diff(np.quantile(outcomes, [0.25, 0.75], axis=0), axis=0)[0])
        estimates.append(release.estimate(QUERIES))
    made_again = np.diff(np.quantile(estimates, [0.25, 0.75], axis=0), axis=0)[0]
    assert np.allclose(np.mean(spreads, axis=0), made_again, rtol=0.5)


def test_the_same_seed_gives_the_same_outcomes():
    release = poured(box_of(2), Euclidean(0.2), POINTS, rows=64)
    one, same, other = (possible_releases(release, QUERIES, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(one, same) and not np.array_equal(one, other) and one.shape == (50, 3)


def test_impossible_outcomes_get_a_sentence():
    release = poured(box_of(2), Euclidean(0.2), POINTS, rows=64)
    answers = release.answer(QUERIES)
    with pytest.raises(RequestError, match="The query must be a whole number from 0 to 2"):
        quantile_dots(answers, 3)
    with pytest.raises(RequestError, match="number of outcomes"):
        quantile_dots(answers, 0, count=0)
    with pytest.raises(RequestError, match="number of outcomes"):
        possible_releases(release, QUERIES, count=0)
    alone = Answers.of_groups(np.ones((1, 2)), np.ones(1), 10.0, 0.95)
    with pytest.raises(RequestError, match="does not know its own error"):
        quantile_dots(alone, 0)
