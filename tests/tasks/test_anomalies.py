"""Scores of points that are ordinary, unusual, and in between."""

import numpy as np
import pytest
from scipy.stats import kstest

from core import Budget, Domain, MinHash
from core.domain import Items
from core.domain.sets import Sets
from core.engine.exact import Exact
from core.errors import RequestError
from core.geometry.kernels import Euclidean
from core.releases.seal import seal
from core.tasks.anomalies import score
from tests.tasks.poured import box_of, clusters, poured


@pytest.fixture(scope="module")
def crowd():
    points = clusters([[0.25, 0.3], [0.7, 0.6]], 20_000, deviation=0.06)
    return poured(box_of(2), Euclidean(0.05), points), points


def test_scores_rise_with_the_density_and_are_shares(crowd):
    release, _ = crowd
    scores = score(release, np.random.default_rng(0).random((2000, 2)))
    order = np.argsort(scores.density)
    assert (np.diff(scores.score[order]) >= 0).all()
    assert scores.score.min() >= 0 and scores.score.max() <= 1


def test_a_score_is_the_share_of_people_in_places_as_empty(crowd):
    release, points = crowd
    scores = score(release, points[:3000])
    assert kstest(scores.score, "uniform").statistic < 0.1


def test_far_points_are_anomalous_and_people_are_not(crowd):
    release, points = crowd
    scores = score(release, [[0.02, 0.98], [0.98, 0.02], [0.25, 0.3], [0.7, 0.6]])
    assert scores.anomalous.tolist() == [True, True, False, False]
    assert (scores.score[:2] < 0.01).all() and (scores.score[2:] > 0.5).all()
    assert score(release, points[:5000]).anomalous.mean() < 0.02


def test_a_point_is_anomalous_only_when_its_whole_interval_is_below_the_threshold(crowd):
    release, _ = crowd
    queries = np.random.default_rng(1).random((500, 2))
    answers = release.answer(queries, 0.8)
    scores = score(release, queries, level=0.8, threshold=0.1)
    assert scores.threshold == 0.1
    assert np.array_equal(scores.density, answers.density)
    assert np.allclose(scores.low * release.records, answers.low)
    assert np.array_equal(scores.anomalous, answers.high / release.records < 0.1)


@pytest.mark.deep
def test_a_hundred_thousand_points_are_scored_at_once(crowd):
    scores = score(crowd[0], np.random.default_rng(2).random((100_000, 2)))
    assert scores.score.shape == scores.anomalous.shape == (100_000,)


@pytest.mark.parametrize("threshold", [0, -1.0, float("nan"), "low"])
def test_an_impossible_threshold_gets_a_sentence(crowd, threshold):
    with pytest.raises(RequestError, match="density threshold"):
        score(crowd[0], [[0.5, 0.5]], threshold=threshold)


def test_sets_are_compared_with_the_others_that_are_asked_about():
    domain = Domain((Items("tags"),))
    sketch = MinHash(domain, rows=50, width=200, seed=3)
    table = sketch.zeros()
    sketch.add(table, Sets.of([["a", "b"]] * 500))
    release = seal(sketch, Exact(table, 500), Budget(epsilon=100))
    asked = [["a", "b"]] * 99 + [["x"]]
    scores = score(release, asked, threshold=0.2)
    assert scores.anomalous.tolist() == [False] * 99 + [True]
    assert scores.score[-1] == 0.01 and scores.score[0] == 1.0
    assert score(release, asked).threshold == scores.density[-1]
