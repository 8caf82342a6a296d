"""The bound on discrete Gaussian noise under any whole shifts, against exact distributions."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from scipy.stats import norm

from core.privacy.budget import Sensitivity
from core.privacy.calibration import calibrate_gaussian
from core.privacy.composition import Gaussian, event_from_dict, event_of
from core.privacy.integer_shifts import (
    GaussianTable,
    continuous_noises,
    gaussian_delta,
    gaussian_tables_delta,
    lattice_slack,
    unit_shift_delta,
)


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


@pytest.mark.thorough
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


def sum_of_draws(n, sigma2):
    """Return (t, P(T = t)) for the sum of n discrete Gaussian draws, by convolution of positive numbers only."""
    reach = math.ceil(14 * math.sqrt(sigma2)) + 2
    z = np.arange(-reach, reach + 1)
    one = np.exp(-(z**2) / (2 * sigma2))
    one /= one.sum()
    law = np.ones(1)
    for _ in range(n):
        law = np.convolve(law, one)
    return np.arange(-n * reach, n * reach + 1), law


def losses(n, sigma2):
    t, law = sum_of_draws(n, sigma2)
    return (2 * t + n) / (2 * sigma2), law


def exact_delta_of_unit_shifts(epsilon, *tables):
    """Return E[(1 - exp(epsilon - loss))+] over independent tables."""
    loss, law = losses(*tables[0])
    for table in tables[1:]:
        more, its_law = losses(*table)
        loss, law = np.add.outer(loss, more).ravel(), np.multiply.outer(law, its_law).ravel()
    over = loss > epsilon
    return float(law[over] @ -np.expm1(epsilon - loss[over]))


@pytest.mark.parametrize("sigma2", [0.1, 0.15, 0.5, 1, 3, 40])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 12])
def test_probabilities_stay_below_theta_times_the_density(n, sigma2):
    t, law = sum_of_draws(n, sigma2)
    near = np.abs(t) <= 8 * math.sqrt(n * sigma2) + 1  # beyond, the truncated draws fall short by themselves
    theta = math.exp(lattice_slack([(n, sigma2)]).log_factor)
    density = norm.pdf(t[near], scale=math.sqrt(n * sigma2))
    assert np.all(law[near] <= theta * density * (1 + 1e-9))
    if sigma2 >= 3:
        assert theta < 1 + 1e-9 and law[near].max() == pytest.approx(density.max(), rel=1e-9)


def test_theta_is_needed():
    _, law = sum_of_draws(12, 0.1)
    assert law.max() > norm.pdf(0, scale=math.sqrt(1.2)) * 1.1


@pytest.mark.parametrize("sigma2", [0.3, 2, 17.8])
def test_tails_stay_below_those_of_the_shifted_density(sigma2):
    """The step behind several tables: sum over t >= m of the density <= P(N >= m - 1) + eta."""
    t = np.arange(-200, 201)
    density = norm.pdf(t, scale=math.sqrt(sigma2))
    eta = math.expm1(lattice_slack([(1, sigma2)]).log_mass)
    assert density.sum() - 1 <= eta + 1e-14
    tails = density[::-1].cumsum()[::-1]
    assert np.all(tails <= norm.sf(t - 1, scale=math.sqrt(sigma2)) + eta + 1e-14)


@pytest.mark.parametrize("epsilon, mu", [(1, 0.2367), (1, 1), (5, 3), (0.01, 0.005), (0.001, 10), (-0.5, 0.4)])
def test_the_continuous_formula(epsilon, mu):
    plain = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
    assert gaussian_delta(epsilon, mu) == pytest.approx(plain, rel=1e-8)


@pytest.mark.parametrize("mu", [1e-12, 1e-3, 0.999, 1.0, 7, 30])
@pytest.mark.parametrize("a", [-3, 0, 2, 11, 30])
def test_the_continuous_formula_in_many_digits(a, mu):
    epsilon = a * mu + mu**2 / 2
    with mpmath.workdps(60):
        e, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
        exact = mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)
        assert gaussian_delta(epsilon, mu) == pytest.approx(float(exact), rel=1e-9)


@pytest.mark.parametrize("epsilon", [0, 0.05, 0.5, 1, 4])
@pytest.mark.parametrize("n, sigma2", [(1, 0.4), (1, 18), (2, 1), (4, 70), (12, 6), (12, 200)])
def test_delta_is_bounded_for_the_longest_shift_and_every_shorter_one(epsilon, n, sigma2):
    bound = unit_shift_delta(epsilon, [(n, sigma2)])
    for shorter in range(1, n + 1):
        assert exact_delta_of_unit_shifts(epsilon, (shorter, sigma2)) <= bound * (1 + 1e-9) + 1e-18
    if sigma2 >= 6 * n and epsilon > 0 and bound > 1e-12:
        # The excess is the summand at its mode, one part in sigma2/mu or so.
        assert bound <= exact_delta_of_unit_shifts(epsilon, (n, sigma2)) * (1.05 if n == 12 else 1.7)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1, 3])
@pytest.mark.parametrize("tables", [[(1, 18), (1, 18)], [(4, 70), (1, 300)], [(3, 2), (2, 9)]])
def test_delta_is_bounded_for_several_tables(epsilon, tables):
    bound = unit_shift_delta(epsilon, tables)
    assert exact_delta_of_unit_shifts(epsilon, *tables) <= bound * (1 + 1e-9)
    assert bound < 1


@pytest.mark.thorough
def test_many_counters_against_a_maintained_accountant():
    """The sum of 1000 draws is a discrete Gaussian of a thousand times the parameter to far beyond 16 digits."""
    n, sigma2 = 1000, 17848.7
    reference = pld.from_discrete_gaussian_mechanism(
        math.sqrt(n * sigma2), sensitivity=n, value_discretization_interval=1e-5
    )
    assert unit_shift_delta(1.0, [(n, sigma2)]) == pytest.approx(reference.get_delta_for_epsilon(1.0), rel=2e-3)


def test_too_little_noise_is_not_bounded():
    assert unit_shift_delta(1.0, [(1000, 0.05)]) == 1.0
    assert unit_shift_delta(1.0, [(10, 0.3), (1, 0.01)]) == 1.0
