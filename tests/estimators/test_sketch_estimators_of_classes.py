"""scikit-learn's own checks, and that predictions are those of the released classes.

scikit-learn's own checks, and nearest means that know what they cost.
"""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestCentroid
from sklearn.utils.estimator_checks import parametrize_with_checks

from core import Ledger
from core.analysis.classification import classify
from core.errors import BudgetError, RequestError
from core.estimators import PrivateCentroidClassifier, PrivateKernelClassifier
from tests.depth import crossed, draws
from tests.estimators.noise import fits_differ

PUBLIC_LIST = "the classes are a public list, never learned from the labels, and the check expects the latter"
FACTS = {"bandwidth": 2.0, "bounds": (-8.0, 8.0), "rows": 80}


@parametrize_with_checks(
    # Enough epsilon for the checks' few dozen records to be told apart at all.
    [PrivateKernelClassifier(epsilon=50, bandwidth=2.0, bounds=(-100, 100), rows=40, classes=[0, 1, 2, 3, -1])],
    expected_failed_checks=lambda estimator: (
        fits_differ(estimator) | {"check_classifiers_classes": PUBLIC_LIST, "check_classifiers_train": PUBLIC_LIST}
    ),
)
@pytest.mark.deep
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def two_towns(n: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    town = random.integers(0, 2, n)
    return random.normal(0, 1, (n, 2)) + np.where(town == 0, -2.0, 2.0)[:, None], np.array(["west", "east"])[town]


@pytest.mark.few(2)
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


def test_no_warning_tells_of_a_record_how_many_classes_there_are_among_so_many(recwarn):
    """scikit-learn warned where there were more classes than half of the records are, by which one may be told."""
    labels = np.append(np.arange(13), np.zeros(10, int))
    points = np.random.default_rng(0).uniform(-1, 1, (23, 2))
    PrivateCentroidClassifier(bounds=(-1, 1), classes=range(13)).fit(points, labels)
    assert [str(one.message) for one in recwarn] == []


@pytest.mark.parametrize("label", [2.5, None, b"a", (1, 2), np.inf])
def test_a_label_of_another_type_is_none_of_the_list(label):
    labels = np.array(["a", "b"] * 10, object)
    labels[3] = label
    with pytest.raises(RequestError, match="not on the public list"):
        PrivateCentroidClassifier(bounds=(-1, 1), classes=["a", "b"]).fit(np.zeros((20, 2)), labels)


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


@pytest.mark.thorough
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


EMPTY = "a class without records has a mean of noise alone, as nobody may know that it is empty"
CLASSES = [0, 1, 2, 3, -1]


@pytest.mark.deep  # the kernel classifier, of the same base, is asked all of it every time
@parametrize_with_checks(
    # Enough epsilon for the checks' few dozen records to be told apart at all.
    [
        PrivateCentroidClassifier(epsilon=50, radius=30.0, classes=CLASSES),
        PrivateCentroidClassifier(epsilon=50, radius=30.0, classes=CLASSES, centre_share=0.1),
    ],
    expected_failed_checks=lambda estimator: (
        fits_differ(estimator)
        | {
            "check_classifiers_classes": PUBLIC_LIST,
            "check_classifiers_train": PUBLIC_LIST,
            "check_classifiers_one_label": EMPTY,
        }
    ),
)
def test_scikit_learn_accepts_it_of_centroid_classifier(estimator, check):
    check(estimator)


def embeddings(n: int = 6000, d: int = 32, classes: int = 4, shared: float = 1.5) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors that mostly share one direction, as embeddings do."""
    random = np.random.default_rng(0)
    kinds = random.normal(0, 1, (classes, d)) / d**0.5
    kind = random.integers(0, classes, n)
    points = np.eye(d)[0] * shared + kinds[kind] + random.normal(0, 0.7, (n, d)) / d**0.5
    return points / np.linalg.norm(points, axis=1, keepdims=True), kind


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("facts", "promise"),
    crossed(
        [
            {"metric": "cosine", "centre_share": 0.12},
            {"metric": "cosine"},
            {"centre_share": 0.12, "centred_radius": 0.8},
            {},
        ],
        [(1e-6, "add_remove"), (0.0, "add_remove"), (1e-6, "replace_one"), (0.0, "replace_one")],
    ),
)
def test_embeddings_are_told_apart(facts, promise):
    delta, neighbours = promise
    X, y = embeddings()
    fitted = PrivateCentroidClassifier(
        **facts, delta=delta, neighbours=neighbours, radius=1.0, classes=range(4), records=6000
    ).fit(X, y)
    assert fitted.release_.private and float(fitted.release_.privacy.epsilon) == 1.0
    best = NearestCentroid().fit(X, y).score(X, y)
    assert best > 0.9 and fitted.score(X, y) > best - 0.1
    said = classify(fitted.release_, X[:50])
    assert np.array_equal(fitted.predict(X[:50]), said.codes)


@pytest.mark.thorough
def test_a_bought_centre_pays_for_what_all_vectors_share():
    """Six fits a way, or two, on vectors that are nearly the same: without a centre some 0.95 right at this budget."""
    X, y = embeddings(3000, shared=6.0)
    means = {
        share: np.mean(
            [
                PrivateCentroidClassifier(
                    epsilon=0.2,
                    metric="cosine",
                    radius=1.0,
                    classes=range(4),
                    records=3000,
                    centre_share=share,
                    random_state=seed,
                )
                .fit(X, y)
                .score(X, y)
                for seed in range(draws(2, 6))
            ]
        )
        for share in (None, 0.12)
    }
    assert means[0.12] > means[None]


def test_digits_are_read():
    X, y = load_digits(return_X_y=True)
    fitted = PrivateCentroidClassifier(epsilon=2, bounds=(0, 16), classes=range(10), random_state=0).fit(X, y)
    assert fitted.score(X, y) > NearestCentroid().fit(X, y).score(X, y) - 0.05


def test_both_readings_are_one_entry_in_the_ledger(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.register("pictures", epsilon=1)
    X, y = embeddings(200)
    facts = {"radius": 1.0, "classes": range(4), "centre_share": 0.2, "dataset": "pictures", "ledger": ledger}
    PrivateCentroidClassifier(**facts).fit(X, y)
    assert len(ledger.status("pictures").releases) == 1
    with pytest.raises(BudgetError):
        PrivateCentroidClassifier(**facts).fit(X, y)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"radius": None}, "bounds"),
        ({"metric": "taxi"}, "metric"),
        ({"rule": "posterior"}, "rule"),
        ({"centre_share": 1}, "share"),
        ({"radius": -1.0}, "below its largest"),
        ({"classes": None}, "public list"),
    ],
)
def test_what_is_missing_or_wrong_is_refused_of_centroid_classifier(change, word):
    X, y = embeddings(100)
    with pytest.raises(RequestError, match=word):
        PrivateCentroidClassifier(**({"radius": 1.0, "classes": range(4)} | change)).fit(X, y)


def test_a_wide_feature_does_not_drown_a_narrow_one():
    """Two groups differ in the narrow feature alone, whose bounds are a thousandth of the other's."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 2000)
    X = np.column_stack((random.uniform(0, 8000, 2000), np.where(y == 1, 6.0, 2.0) + random.normal(size=2000)))
    fitted = PrivateCentroidClassifier(bounds=[(0, 8000), (0, 8)], classes=[0, 1]).fit(X, y)
    assert fitted.release_.domain.scale == "box" and fitted.score(X, y) > 0.9
    typed = PrivateCentroidClassifier(bounds=[(0, 8000), (0, 8)], classes=[0, 1], radius=9000.0)
    with pytest.warns(UserWarning, match="drowns"):
        assert typed.fit(X, y).release_.domain.scale == "none"
