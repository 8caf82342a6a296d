"""The bound on discrete Gaussian noise under any whole shifts, against exact distributions."""

import math
from fractions import Fraction

import numpy as np
import pytest

from core.privacy.calibration import calibrate_gaussian
from core.privacy.events import Gaussian, event_from_dict, event_of
from core.privacy.neighbours import Sensitivity
from core.privacy.unit_shifts import gaussian_delta, unit_shift_delta
from core.privacy.whole_shifts import GaussianTable, continuous_noises, gaussian_tables_delta


def exact_delta(epsilon, shift, sigma2):
    """E[(1 - exp(epsilon - loss))+] for one vector of shifts, all counters' noise enumerated."""
    reach = math.ceil(12 * math.sqrt(sigma2)) + 1
    z = np.arange(-reach, reach + 1)
    one = np.exp(-(z**2) / (2 * sigma2))
    one /= one.sum()
    loss, law = np.zeros(1), np.ones(1)
    for v in shift:
        loss = np.add.outer(loss, (2 * z * v + v * v) / (2 * sigma2)).ravel()
        law = np.multiply.outer(law, one).ravel()
    over = loss > epsilon
    return float(law[over] @ -np.expm1(epsilon - loss[over]))


@pytest.mark.parametrize("shift", [(1,), (3,), (7,), (2, 1), (5, 4), (3, 2, 1)])
@pytest.mark.parametrize("sigma2", [4.0, 12.0, 40.0])
@pytest.mark.parametrize("epsilon", [0.1, 0.6, 2.0])
def test_the_exact_delta_is_below_the_bound(shift, sigma2, epsilon):
    if len(shift) > 2 and sigma2 > 4:
        return
    square = sum(v * v for v in shift)
    exact = exact_delta(epsilon, shift, sigma2)
    assert exact <= gaussian_tables_delta(epsilon, [GaussianTable(square, sigma2)]) * (1 + 1e-9) + 1e-15


def test_the_rounding_of_continuous_noise_has_nearly_the_discrete_law():
    """Steps 1 and 2, by numerical integration, where η is large enough to see: within Λ, and not always equal."""
    sigma2, tau2 = 1.0, 0.15
    s2 = sigma2 - tau2
    eta = 2 * sum(math.exp(-2 * math.pi**2 * tau2 * k * k) for k in range(1, 9))
    y = np.linspace(-14, 14, 280_001)
    z = np.arange(-20, 21)[:, None]
    rounding = np.exp(-((z - y) ** 2) / (2 * tau2))
    rounding /= rounding.sum(axis=0)
    for f in (0.0, 1.0):
        density = np.exp(-((y - f) ** 2) / (2 * s2)) / math.sqrt(2 * math.pi * s2)
        rounded = (rounding * density).sum(axis=1) * (y[1] - y[0])
        discrete = np.exp(-((z[:, 0] - f) ** 2) / (2 * sigma2))
        discrete /= discrete.sum()
        near = np.abs(z[:, 0] - f) <= 6
        ratio = rounded[near] / discrete[near]
        most = (1 + eta) / (1 - eta)
        assert (ratio <= most).all() and (ratio >= 1 / most).all() and np.abs(ratio - 1).max() > eta / 100


@pytest.mark.parametrize(("epsilon", "delta"), [(1, "1e-6"), (1, "1e-9"), (Fraction(1, 10), "1e-5"), (8, "1e-12")])
def test_fixed_point_tables_need_no_more_than_continuous_noise(epsilon, delta):
    square = 1 << 60
    sigma2 = calibrate_gaussian(Sensitivity(1 << 40, square), Fraction(epsilon), Fraction(delta)).parameter

    def continuous(factor):
        return gaussian_delta(float(epsilon), math.sqrt(square / (float(sigma2) * factor)))

    assert continuous(1.0) <= float(delta) < continuous(1 - 2e-5)


def test_unit_shifts_keep_their_own_bound_and_mix():
    unit, whole = GaussianTable(100, 2000.0, True), GaussianTable(400, 9000.0)
    assert gaussian_tables_delta(1.0, [unit]) == unit_shift_delta(1.0, [(100, 2000.0)])
    mu = math.sqrt(100 / 2000 + 400 / 9000)
    assert gaussian_delta(1.0, mu) < gaussian_tables_delta(1.0, [unit, whole]) < 1.01 * gaussian_delta(1.0, mu)


def test_noise_of_less_than_a_unit_has_no_such_bound():
    assert (
        continuous_noises([GaussianTable(100, 0.3)]) == [] and gaussian_tables_delta(1.0, [GaussianTable(9, 0.3)]) == 1
    )


def test_events_say_which_shifts_they_have():
    scale = calibrate_gaussian(Sensitivity(6, 20), Fraction(1), Fraction(1, 10**6))
    event = event_of(Sensitivity(6, 20), scale)
    assert (event.l2_squared, event.moved, event.table.unit) == (None, 20, False)
    assert event_from_dict(event.to_dict()) == event
    old = {"kind": "gaussian", "rho": "1/10", "l2_squared": None}
    assert event_from_dict(old) == Gaussian(Fraction(1, 10)) and event_from_dict(old).table is None
    with pytest.raises(ValueError, match="unit shifts or"):
        Gaussian(Fraction(1), 1, 1)
