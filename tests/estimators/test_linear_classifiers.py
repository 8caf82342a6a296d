"""scikit-learn's own checks, and fits that are those of the mechanism, paid for once."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from core import Ledger
from core.errors import BudgetError, RequestError
from core.estimators import PrivateLogisticRegression
from tests.depth import deep
from tests.estimators.noise import fits_differ

MORE_CLASSES = "the check takes two labels for two classes, and the public list has more"
PUBLIC_LIST = "the classes are a public list, never learned from the labels, and the check expects the latter"


@pytest.mark.deep  # the kernel classifier is asked all of it every time
@parametrize_with_checks(
    # Enough epsilon for the checks' few dozen records to be told apart at all.
    [PrivateLogisticRegression(epsilon=100, bounds=(-30, 30), classes=[0, 1, 2, 3, -1])],
    expected_failed_checks=lambda estimator: (
        fits_differ(estimator)
        | {
            "check_classifiers_classes": PUBLIC_LIST,
            "check_classifiers_train": PUBLIC_LIST,
            "check_decision_proba_consistency": MORE_CLASSES,
        }
    ),
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def slope(n: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.uniform(-3, 3, (n, 2))
    return X, np.where(X @ [2.0, -1.0] + 1.0 + random.logistic(size=n) > 0, "up", "down")


def decided(fitted: PrivateLogisticRegression, X: np.ndarray) -> np.ndarray:
    """The straight line, of features that are moved closer where those of records were."""
    if fitted.bounds == (-3, 3):
        reach = 3.0 * fitted.model_.task.reach
        X = X * np.minimum(1.0, reach / np.linalg.norm(X, axis=1))[:, None]
    return (X @ fitted.coef_.T + fitted.intercept_)[:, 0]


@pytest.mark.few(2)
@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize("facts", [{"bounds": (-3, 3)}, {"bounds": [(-3, 3), (-5, 5)]}, {"radius": 4.3}])
def test_it_comes_near_what_is_not_private(facts, neighbours):
    X, y = slope()
    fitted = PrivateLogisticRegression(epsilon=5, neighbours=neighbours, classes=["down", "up"], **facts).fit(X, y)
    plain = LogisticRegression().fit(X, y)
    assert fitted.model_.private and fitted.score(X, y) > plain.score(X, y) - 0.02
    assert fitted.coef_ == pytest.approx(plain.coef_, rel=0.3) and fitted.intercept_ == pytest.approx(1, abs=0.4)
    assert fitted.decision_function(X) == pytest.approx(decided(fitted, X))
    assert (fitted.predict(X) == np.where(fitted.predict_proba(X)[:, 1] > 0.5, "up", "down")).all()


def test_objective_perturbation_tells_several_classes_by_one_model_and_not_each_from_the_rest():
    random = np.random.default_rng(2)
    y = random.integers(0, 4, 1_000)
    X = np.clip(random.normal(size=(4, 5))[y] + random.normal(size=(1_000, 5)) / 2, -3, 3)
    said = {"epsilon": 1.0, "bounds": (-3, 3), "classes": [0, 1, 2, 3], "method": "objective"}
    together = PrivateLogisticRegression(**said).fit(X, y)
    assert together.model_.kind == "multinomial" and together.coef_.shape == (4, 5)
    assert Fraction(together.model_.details["rate"]) == Fraction(9, 20)  # of a budget that classes do not share
    assert together.predict_proba(X).sum(axis=1) == pytest.approx(1.0) and together.score(X, y) > 0.7
    apart = PrivateLogisticRegression(**said, regularisation=1e-4, records=1_000).fit(X, y)
    assert len(apart.model_.rows) == 4 and Fraction(apart.model_.details["rate"]) == Fraction(1, 4)


def test_the_order_of_the_list_decides_which_class_is_the_second():
    X, y = slope()
    fitted = PrivateLogisticRegression(epsilon=5, bounds=(-3, 3), classes=["up", "down"]).fit(X, y)
    assert fitted.coef_[0, 0] < 0 and fitted.score(X, y) > 0.8


@pytest.mark.parametrize("method", [deep("auto"), "amp", "descent", deep("objective")])
def test_with_a_delta_every_method_predicts(method):
    X, y = slope()
    fitted = PrivateLogisticRegression(epsilon=5, delta=1e-6, method=method, bounds=(-3, 3), classes=["down", "up"])
    plain = LogisticRegression().fit(X, y)
    assert fitted.fit(X, y).score(X, y) > plain.score(X, y) - 0.02
    assert fitted.decision_function(X) == pytest.approx(decided(fitted, X))


def test_a_fit_is_paid_once(tmp_path):
    ledger = Ledger(tmp_path / "ledger")
    X, y = slope(200)
    estimator = PrivateLogisticRegression(bounds=(-3, 3), classes=["down", "up"], ledger=ledger, dataset="slope")
    estimator.fit(X, y)
    assert ledger.status("slope").spent == 1
    with pytest.raises(BudgetError):
        estimator.fit(X, y)


def test_a_wide_feature_does_not_drown_a_narrow_one_without_a_delta():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 1500)
    X = np.column_stack((random.uniform(0, 8000, 1500), np.where(y == 1, 6.0, 2.0) + random.normal(size=1500)))
    assert PrivateLogisticRegression(bounds=[(0, 8000), (0, 8)], classes=[0, 1]).fit(X, y).score(X, y) > 0.9


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_a_radius_is_a_length_of_features_whatever_the_promise(delta):
    """A length of 1 in features between -2 and 2 is half a unit of the model's, and no corner of 20 features."""
    X = np.random.default_rng(0).normal(size=(200, 20)) / 10
    said = {"delta": delta, "classes": [False, True], "bounds": (-2, 2), "radius": 1.0}
    said |= {"method": "descent"} if delta else {}
    assert PrivateLogisticRegression(**said).fit(X, X[:, 0] > 0).model_.task.radius == 0.5


@pytest.mark.thorough
def test_a_public_number_of_records_lets_descent_take_more_steps():
    X, y = slope(100)
    said = {"classes": ["down", "up"], "bounds": (-3, 3), "delta": 1e-6, "method": "descent"}
    few, many = (PrivateLogisticRegression(**said, records=records).fit(X, y).model_ for records in (100, 10**6))
    assert few.details["steps"] == "100" and int(many.details["steps"]) > 100


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"classes": None}, "public list of classes"),
        ({"classes": ["up", "north"]}, "not on the public list"),
        ({"bounds": None}, "bounds"),
        ({"delta": 1e-6, "regularisation": 0.1}, "pure promise"),
        ({"method": "amp"}, "needs a delta"),
        ({"method": "tree"}, "method"),
        ({"regularisation": 0.1}, "public number of records"),
        ({"radius": -1.0}, "radius"),
    ],
)
def test_what_is_missing_or_wrong_is_refused(change, word):
    X, y = slope(100)
    with pytest.raises(RequestError, match=word):
        PrivateLogisticRegression(**({"classes": ["down", "up"], "bounds": (-3, 3)} | change)).fit(X, y)
