"""scikit-learn's own checks of ridge, components and support vectors, and fits near those without privacy."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from core.errors import RequestError
from core.estimators import PrivateLinearSVC, PrivatePCA, PrivateRidge
from tests.estimators.noise import FRESH, fits_differ
from tests.estimators.test_linear_classifiers import PUBLIC_LIST, slope

MANY = 100
"""Enough epsilon for the checks' few dozen records to be told apart at all."""


AGAIN = (
    "check_fit_idempotent",
    "check_regressor_data_not_an_array",
    "check_regressors_int",
    "check_supervised_y_2d",
    "check_transformer_data_not_an_array",
    "check_transformer_general",
)


def expected(estimator: object) -> dict[str, str]:
    failed = fits_differ(estimator) | dict.fromkeys(AGAIN, FRESH)
    if isinstance(estimator, PrivateLinearSVC):
        failed |= {"check_classifiers_classes": PUBLIC_LIST, "check_classifiers_train": PUBLIC_LIST}
    return failed


@pytest.mark.deep
@parametrize_with_checks(
    [
        PrivateRidge(epsilon=MANY, bounds=(-30, 30), target_bounds=(-300, 300)),
        PrivatePCA(epsilon=MANY, bounds=(-30, 30)),
        PrivateLinearSVC(epsilon=MANY, bounds=(-30, 30), classes=[0, 1, 2, 3, -1]),
    ],
    expected_failed_checks=expected,
)
def test_scikit_learn_accepts_them(estimator, check):
    check(estimator)


def test_ridge_comes_near_what_is_not_private():
    random = np.random.default_rng(0)
    X = random.uniform(-3, 3, (4_000, 2))
    y = X @ [2.0, -1.0] + 1.0 + random.normal(size=len(X))
    for bounds in ((-3, 3), [(-3, 3), (-4, 4)]):
        fitted = PrivateRidge(epsilon=5, bounds=bounds, target_bounds=(-12, 12)).fit(X, y)
        plain = Ridge().fit(X, y)
        assert fitted.coef_ == pytest.approx(plain.coef_, abs=0.2)
        assert fitted.score(X, y) > plain.score(X, y) - 0.03
    with pytest.raises(RequestError, match="target_bounds"):
        PrivateRidge(bounds=(-3, 3)).fit(X, y)


def test_components_come_near_those_of_the_records():
    random = np.random.default_rng(0)
    X = random.normal(size=(5_000, 3)) @ np.diag([1.0, 0.5, 0.1])
    fitted = PrivatePCA(2, epsilon=5, bounds=(-4, 4)).fit(X)
    plain = PCA(2).fit(np.clip(X, -4, 4) / 4)
    assert np.abs((fitted.components_ * plain.components_).sum(axis=1)) == pytest.approx([1, 1], abs=0.01)
    assert fitted.transform(X).shape == (5_000, 2)
    assert np.abs(fitted.inverse_transform(fitted.transform(X)) - X).mean() < 0.15
    with pytest.raises(RequestError, match="between 1 and 3"):
        PrivatePCA(4, bounds=(-4, 4)).fit(X)


def test_support_vectors_come_near_what_is_not_private():
    X, y = slope()
    fitted = PrivateLinearSVC(epsilon=5, delta=1e-6, bounds=(-3, 3), classes=["down", "up"]).fit(X, y)
    plain = LinearSVC().fit(X, y)
    assert fitted.score(X, y) > plain.score(X, y) - 0.03
    assert ((fitted.decision_function(X) > 0) == (fitted.predict(X) == "up")).all()
