"""The conversion from zCDP against its formula, minimised by brute force, and against the exact Gaussian mechanism."""

import math

import numpy as np
import pytest

from core.privacy.calibration import largest_rho, zcdp_delta, zcdp_epsilon
from core.privacy.integer_shifts import gaussian_delta


def slow_delta(epsilon, rho):
    alpha = 1 + np.exp(np.linspace(-12, 14, 400_001))
    log = (alpha - 1) * (alpha * rho - epsilon) + alpha * np.log1p(-1 / alpha) - np.log(alpha - 1)
    return math.exp(min(log.min(), 0))


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1, 10, 100])
@pytest.mark.parametrize("rho", [1e-6, 0.0244, 1, 50])
def test_the_best_order_is_found(epsilon, rho):
    assert zcdp_delta(epsilon, rho) == pytest.approx(slow_delta(epsilon, rho), rel=1e-6, abs=1e-300)


@pytest.mark.parametrize("epsilon", [1e-12, 0.01, 1, 10, 100])
@pytest.mark.parametrize("delta", [9e-3, 1e-6, 1e-12, 1e-30])
def test_inverses_round_to_the_safe_side(epsilon, delta):
    rho = largest_rho(epsilon, delta)
    assert delta * (1 - 1e-5) < zcdp_delta(epsilon, rho) < delta
    assert zcdp_epsilon(rho, delta) == pytest.approx(epsilon, rel=1e-5)
    assert zcdp_delta(zcdp_epsilon(rho, delta), rho) < delta
    # The continuous Gaussian mechanism is rho-zCDP, so its exact delta must stay below.
    assert gaussian_delta(epsilon, math.sqrt(2 * rho)) < delta


def test_known_value():
    assert largest_rho(1, 1e-6) == pytest.approx(0.0244, abs=5e-5)
