"""Scores of points that are ordinary, unusual, and in between."""

import numpy as np
import pytest
from scipy.stats import kstest

from core import Budget, Domain, Features, MinHash, Race
from core.analysis import anomalies
from core.analysis.anomalies import score
from core.domain import Items
from core.domain.item_sets import Sets
from core.errors import RequestError
from core.geometry.kernels import Euclidean, Gaussian, Laplacian
from core.privacy.noise.randomness import SeededSource
from core.releases.engine.building import ExactTable
from core.releases.release import Release
from core.releases.seal import seal
from core.sketches.histogram import Histogram
from core.sketches.projected import Projected
from tests.analysis.poured import box_of, clusters, poured
from tests.depth import deep, draws

ROWS = draws(250, 1000)
"""Of a release: a population that explains it takes as much longer to make up as it has more."""


@pytest.fixture(scope="module")
def crowd():
    points = clusters([[0.25, 0.3], [0.7, 0.6]], 20_000, deviation=0.06)
    return poured(box_of(2), Euclidean(0.05), points, rows=ROWS), points


@pytest.fixture(autouse=True, scope="module")
def populations():
    """The population of a release follows from its seed, so it is made up once for all tests."""
    made, made_up = {}, anomalies._population

    def once(release: Release, seed: int) -> np.ndarray:
        if (id(release), seed) not in made:
            made[id(release), seed] = release, made_up(release, seed)
        return made[id(release), seed][1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(anomalies, "_population", once)
        yield


@pytest.mark.deep
def test_scores_rise_with_the_density_and_are_shares(crowd):
    release, _ = crowd
    scores = score(release, np.random.default_rng(0).random((2000, 2)))
    order = np.argsort(scores.density)
    assert (np.diff(scores.score[order]) >= 0).all()
    assert scores.score.min() >= 0 and scores.score.max() <= 1


@pytest.mark.deep
def test_a_score_is_the_share_of_people_in_places_as_empty(crowd):
    release, points = crowd
    scores = score(release, points[:3000])
    assert kstest(scores.score, "uniform").statistic < 0.1


@pytest.mark.thorough
def test_far_points_are_anomalous_and_people_are_not(crowd):
    release, _ = crowd
    scores = score(release, [[0.02, 0.98], [0.98, 0.02], [0.25, 0.3], [0.7, 0.6]])
    assert scores.anomalous.tolist() == scores.certain.tolist() == [True, True, False, False]
    assert (scores.score[:2] < 0.01).all() and (scores.score[2:] > 0.5).all()


def counted(points: np.ndarray, seed: int) -> Release:
    """A histogram at epsilon = 1, which knows the emptiest places best."""
    sketch = Histogram(box_of(2), Gaussian(0.05), cells=(48, 48))
    table = sketch.zeros()
    sketch.add(table, np.asfortranarray(points))
    return seal(sketch, ExactTable(table, len(points)), Budget(1), noise_source=SeededSource(seed))


def hashed(points: np.ndarray, seed: int) -> Release:
    """Random rows at epsilon = 1."""
    return poured(box_of(2), Laplacian(0.1), points, rows=ROWS, seed=seed)


@pytest.mark.deep
@pytest.mark.parametrize("share", [deep(0.02), 0.05, deep(0.2)])
def test_about_the_stated_share_of_ordinary_people_is_flagged_and_the_surer_ones_are_among_them(crowd, share):
    """Of random rows that is roughly so, as some of the population that explains them is made up in empty places."""
    release, points = crowd
    for made, least in ((counted(points, 1), 0.8), (release, 0.0)):
        scores = score(made, points[:5000], share=share)
        assert np.array_equal(scores.anomalous, scores.score <= share)
        assert least * share <= scores.anomalous.mean() < 1.25 * share
        assert (scores.anomalous >= scores.certain).all()


def with_outliers(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two clusters, and one person in twenty anywhere that is at least four deviations from both middles."""
    random = np.random.default_rng(seed)
    people, middles = clusters([[0.25, 0.3], [0.7, 0.6]], n, deviation=0.06, seed=seed), [[0.25, 0.3], [0.7, 0.6]]
    odd = random.random(n) < 0.05
    anywhere = random.random((40 * n, 2))
    far = anywhere[np.linalg.norm(anywhere[:, None] - np.array(middles), axis=2).min(axis=1) > 0.24]
    people[odd] = far[: odd.sum()]
    return people, odd


@pytest.mark.deep
@pytest.mark.parametrize(("made", "seed"), [deep(counted, 1), deep(counted, 2), (hashed, 1), deep(hashed, 2)])
def test_most_far_outliers_are_found_at_epsilon_one(made, seed):
    """They are the emptiest 5% of everyone, or nearly so, so hardly any ordinary people are flagged with them."""
    people, _ = with_outliers(20_000, seed)
    release = made(people, seed)
    asked, odd = with_outliers(4000, seed + 100)
    scores = score(release, asked)
    assert scores.anomalous[odd].mean() > 0.8
    assert scores.anomalous[~odd].mean() < 0.05


@pytest.mark.deep
def test_most_close_outliers_are_found_in_five_columns_too():
    """Noise makes up people in empty places there, who must not hide the outliers; few others are called so."""
    random = np.random.default_rng(5)
    middles = random.uniform(0.25, 0.75, (3, 5))

    def people(n: int) -> tuple[np.ndarray, np.ndarray]:
        odd = random.random(n) < 0.05
        deviations = np.where(odd, 0.15, 0.05)[:, None]
        points = middles[random.integers(0, 3, n)] + deviations * random.normal(size=(n, 5))
        return points.clip(0, 1), odd

    release = poured(box_of(5), Euclidean(0.24, power=2), people(20_000)[0], rows=600)
    asked, odd = people(2000)
    scores = score(release, asked)
    assert scores.anomalous[odd].mean() > 0.4
    assert scores.anomalous.mean() < 0.1


@pytest.mark.parametrize("made", ["race", "features", "projected"])
def test_a_table_tells_how_close_two_of_its_people_are(made):
    """Within six standard errors (noise and rows), and a tenth for what rare counters and harmonics leave out."""
    points = clusters([[0.25, 0.3], [0.7, 0.6]], 3000, deviation=0.06)
    sketch = {
        "race": lambda: Race(box_of(2), Euclidean(0.2), rows=400, seed=1),
        "features": lambda: Features(box_of(2), Gaussian(0.1), rows=400, seed=1),
        "projected": lambda: Projected.of(box_of(2), Gaussian(0.1), Features, 2, seed=1, rows=400, groups=4),
    }[made]()
    points = np.asfortranarray(points)
    exact = sketch.exact(points[:300], points).mean() / len(points)
    table = sketch.zeros()
    sketch.add(table, points)
    noisy = table + np.rint(np.random.default_rng(0).laplace(0, 20.0, table.shape)).astype(table.dtype)
    for one, variance in ((table, 0.0), (noisy, 800.0)):
        told, error = sketch.crowding(one, len(points), variance, points)
        assert abs(told - exact) < 6.0 * error + 0.1 * exact
    assert Histogram(box_of(2), Gaussian(0.1), (4, 4)).crowding(table, 3000.0, 0.0, points) is None


@pytest.mark.parametrize("share", [0, 1.0, -0.1, float("nan"), "few"])
def test_an_impossible_share_gets_a_sentence(crowd, share):
    with pytest.raises(RequestError, match="share of the population"):
        score(crowd[0], [[0.5, 0.5]], share=share)


@pytest.mark.thorough
def test_a_point_is_certain_only_when_its_whole_interval_is_below_the_threshold(crowd):
    release, _ = crowd
    queries = np.random.default_rng(1).random((500, 2))
    answers = release.answer(queries, 0.8)
    scores = score(release, queries, level=0.8, threshold=0.1)
    assert scores.threshold == 0.1
    assert np.array_equal(scores.density, answers.density)
    assert np.allclose(scores.low * release.records, answers.low)
    assert np.array_equal(scores.anomalous, answers.density < 0.1)
    assert np.array_equal(scores.certain, answers.high / release.records < 0.1)


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
    release = seal(sketch, ExactTable(table, 500), Budget(epsilon=100))
    asked = [["a", "b"]] * 99 + [["x"]]
    scores = score(release, asked, threshold=0.2)
    assert scores.anomalous.tolist() == [False] * 99 + [True]
    assert scores.score[-1] == 0.01 and scores.score[0] == 1.0
    assert score(release, asked).anomalous.tolist() == [False] * 99 + [True]


def test_a_place_is_unusual_exactly_when_its_score_is_at_most_the_share(crowd):
    """Of shares between two places, too, and of 0.29 of a hundred, which is 28.999999999999996."""
    release, _ = crowd
    places = np.random.default_rng(0).random((100, 2))
    population = np.sort(score(release, places, population=np.ones(1)).density)
    for share in (0.29, 0.298, 0.5, 0.979):
        scores = score(release, places, share=share, population=population)
        assert (scores.anomalous == (scores.score <= share)).all() and 0 < scores.anomalous.sum() < 100
