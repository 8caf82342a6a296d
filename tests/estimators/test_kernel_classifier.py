"""scikit-learn's own checks, and that predictions are those of the released classes."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from core.errors import RequestError
from core.estimators import PrivateKernelClassifier
from core.tasks.classification import classify
from tests.estimators.noise import fits_differ

PUBLIC_LIST = "the classes are a public list, never learned from the labels, and the check expects the latter"
FACTS = {"bandwidth": 2.0, "bounds": (-8.0, 8.0), "rows": 80}


@parametrize_with_checks(
    # Enough epsilon for the checks' few dozen records to be told apart at all.
    [PrivateKernelClassifier(epsilon=50, bandwidth=2.0, bounds=(-100, 100), rows=40, classes=[0, 1, 2, 3, -1])],
    expected_failed_checks=lambda estimator: (
        fits_differ(estimator)
        | {
            "check_classifiers_classes": PUBLIC_LIST,
            "check_classifiers_train": PUBLIC_LIST,
        }
    ),
)
@pytest.mark.deep
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def two_towns(n: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    town = random.integers(0, 2, n)
    return random.normal(0, 1, (n, 2)) + np.where(town == 0, -2.0, 2.0)[:, None], np.array(["west", "east"])[town]


@pytest.mark.parametrize("mechanism", [None, "features"])
@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_predictions_are_the_released_classes(mechanism, neighbours):
    X, y = two_towns()
    kernel = "gaussian" if mechanism else "euclidean"
    fitted = PrivateKernelClassifier(
        **FACTS, kernel=kernel, mechanism=mechanism, neighbours=neighbours, classes=["east", "west", "north"]
    ).fit(X, y)
    said = classify(fitted.release_, X[:200])
    assert (fitted.predict(X[:200]) == said.labels).all()
    assert np.array_equal(fitted.predict_proba(X[:200]), said.probabilities)
    assert np.array_equal(fitted.confidence(X[:200]), said.confidence)
    # The towns' centres are 2.8 standard deviations from the border: 99.8% at best, and the noise takes little.
    assert fitted.score(X, y) > 0.97
    assert np.allclose(fitted.predict_proba(X[:200]).sum(axis=1), 1.0)


def test_the_rule_decides_whether_rare_classes_count_as_much():
    random = np.random.default_rng(1)
    X = np.vstack((random.normal(-0.7, 1, (9000, 1)), random.normal(0.7, 1, (1000, 1))))
    y = np.repeat([0, 1], [9000, 1000])
    facts = {"bandwidth": 0.5, "kernel": "laplacian", "bounds": (-6, 6), "rows": 200, "classes": [0, 1], "epsilon": 5}
    posterior, likelihood = (PrivateKernelClassifier(**facts, rule=rule).fit(X, y) for rule in ("posterior", None))
    middle = np.full((1, 1), 0.3)
    assert posterior.predict(middle) == [0] and likelihood.predict(middle) == [1]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"classes": None}, "public list of classes"),
        ({"classes": ["a"]}, "two different labels"),
        ({"classes": [1, "1"]}, "two different labels"),
        ({"classes": ["east", "north"]}, "not on the public list"),
        ({"rule": "distance"}, "rule"),
        ({"mechanism": "magic"}, "mechanism"),
        ({"bounds": None}, "bounds"),
    ],
)
def test_what_is_missing_or_wrong_is_refused(change, word):
    X, y = two_towns(100)
    with pytest.raises(RequestError, match=word):
        PrivateKernelClassifier(**(FACTS | {"classes": ["east", "west"]} | change)).fit(X, y)


def test_without_a_bandwidth_the_noisy_counts_say_which_one_suits():
    X, y = two_towns()
    made = PrivateKernelClassifier(bounds=(-8, 8), classes=["east", "west"], records=4000).fit(X, y)
    assert made.release_.sketch.one_answer[0].name == "histogram"
    assert 0.05 < made.release_.sketch.one_answer[0].kernel.bandwidth < 2
    assert made.score(X, y) > 0.97 and made.set_params(rule="posterior").score(X, y) > 0.97
    with pytest.raises(RequestError, match="bandwidth"):
        PrivateKernelClassifier(kernel="laplacian", bounds=(-8, 8), classes=["east", "west"], records=4000).fit(X, y)


@pytest.mark.deep
def test_with_more_than_three_features_made_up_records_say_which_bandwidth_suits():
    X, y = two_towns()
    four, each = X[:, [0, 1, 0, 1]], [(-8, 8), (-8, 8), (-80, 80), (-80, 80)]
    for bounds, scale in (((-8, 8), 1), (each, (1, 1, 10, 10))):
        facts = {"bounds": bounds, "classes": ["east", "west"], "records": 4000, "delta": 1e-6}
        made = PrivateKernelClassifier(**facts).fit(four * scale, y)
        assert made.score(four * scale, y) > 0.9
        bandwidths = np.atleast_1d(made.release_.sketch.one_answer[0].kernel.bandwidth)
        assert np.allclose(bandwidths / bandwidths[0], np.atleast_1d(scale))
