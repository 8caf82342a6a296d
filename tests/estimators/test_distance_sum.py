"""scikit-learn's own checks, and that distances are those of the release and near the truth."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.utils.estimator_checks import parametrize_with_checks

from core.errors import RequestError
from core.estimators import PrivateDistanceSum


@parametrize_with_checks([PrivateDistanceSum(bounds=(-100, 100), norm=norm) for norm in ("l1", "squared")])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def people(n: int = 20_000) -> np.ndarray:
    return np.random.default_rng(0).normal(1, 1, (n, 2)).clip(-5, 5)


@pytest.mark.parametrize(("norm", "metric"), [("l1", "cityblock"), ("l2", "euclidean"), ("squared", "sqeuclidean")])
def test_distances_are_those_of_everyone(norm, metric):
    fitted = PrivateDistanceSum(norm=norm, bounds=(-5, 5)).fit(people())
    queries = np.array([[1.0, 1.0], [4.0, -4.0], [0.0, 0.0]])
    exact = cdist(queries, people(), metric).sum(axis=1)
    estimate, low, high = fitted.distance_sum(queries)
    assert (low <= estimate).all() and (estimate <= high).all()
    # Twenty thousand people and epsilon = 1: noise of some dozens in sums of tens of thousands; l2 has directions too.
    assert np.allclose(estimate, exact, rtol=0.1 if norm == "l2" else 0.02)
    assert np.array_equal(fitted.mean_distance(queries), fitted.release_.density(queries))
    assert fitted.score_samples(queries).argmax() == 0


@pytest.mark.parametrize(
    ("change", "word"),
    [({"bounds": None}, "bounds"), ({"norm": "l3"}, "norm"), ({"radius": 1.0}, "radius"), ({"epsilon": -1}, "Epsilon")],
)
def test_what_is_missing_or_wrong_is_refused(change, word):
    with pytest.raises(RequestError, match=word):
        PrivateDistanceSum(**({"bounds": (-5, 5)} | change)).fit(people(100))


@pytest.mark.parametrize(("scale", "units"), [(None, [10, 1000]), ("box", [10, 1000]), ("none", [1, 1])])
def test_a_wide_feature_drowns_no_other_unless_it_is_asked_to(scale, units):
    X = np.random.default_rng(2).uniform(0, 1, (5000, 2)) * [10, 1000]
    fitted = PrivateDistanceSum(bounds=[(0, 10), (0, 1000)], scale=scale, epsilon=20).fit(X)
    query = np.array([[2.0, 700.0]])
    assert fitted.mean_distance(query) == pytest.approx(cdist(query / units, X / units, "cityblock").mean(), rel=0.02)


def test_a_length_keeps_the_features_own_units():
    X = np.random.default_rng(2).uniform(0, 1, (5000, 2)) * [10, 1000]
    for kept in ({"norm": "capped:5"}, {"norm": "squared", "radius": 800.0}):
        assert PrivateDistanceSum(bounds=[(0, 10), (0, 1000)], **kept).fit(X).release_.domain.scale == "none"
