"""Noise is never less than the promise needs, and not much more."""

import json
import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.privacy.accounting import Cost, admits
from core.privacy.budget import Sensitivity
from core.privacy.calibration import (
    NoiseScale,
    calibrate,
    calibrate_gaussian,
    calibrate_shares,
    largest_rho,
    parse_fraction,
    zcdp_delta,
)
from core.privacy.integer_shifts import GaussianTable, gaussian_tables_delta, unit_shift_delta
from tests.depth import draws

MILLIONTH = Fraction(1, 10**6)


def one_hot(n):
    return Sensitivity(n, n, n, unit_shifts=True)


@given(st.integers(1, 4000), st.fractions(Fraction(1, 1000), 100))
def test_pure_noise_is_exact(l1, epsilon):
    scale = calibrate(Sensitivity(l1, l1**2), epsilon)
    assert scale == NoiseScale("discrete_laplace", l1 / epsilon)


def test_the_ratio_of_neighbouring_probabilities_reaches_e_to_epsilon():
    scale = calibrate(Sensitivity(3, 9), Fraction(1, 2))
    z = np.arange(-50, 51)
    log_law = -np.abs(z) / float(scale.parameter)
    assert np.max(log_law[:-3] - log_law[3:]) == pytest.approx(0.5)


def test_known_gaussian_scales():
    tight = calibrate(one_hot(1000), Fraction(1), MILLIONTH)
    assert math.sqrt(tight.parameter / 1000) == pytest.approx(4.225, abs=1e-3)
    in_fixed_point = calibrate_gaussian(Sensitivity(1 << 20, 1 << 40), Fraction(1), MILLIONTH)
    assert math.sqrt(in_fixed_point.parameter / (1 << 40)) == pytest.approx(4.225, abs=1e-3)
    # A few units of noise are rough: here the bound for any shifts is no better than the conversion from zCDP.
    rough = calibrate_gaussian(Sensitivity(1, 1), Fraction(10), MILLIONTH)
    assert zcdp_delta(10.0, float(1 / (2 * rough.parameter))) <= 1e-6


@pytest.mark.few(15)
@pytest.mark.parametrize("epsilon", [Fraction(1, 10**12), Fraction(1, 100), Fraction(1), Fraction(10), Fraction(100)])
@pytest.mark.parametrize("delta", [Fraction(9, 1000), MILLIONTH, Fraction(1, 10**30)])
@pytest.mark.parametrize("n", [1, 2, 1000])
def test_the_promise_is_kept_and_nearly_used_up(epsilon, delta, n):
    for sensitivity in (one_hot(n), Sensitivity(n, n)):
        sigma2 = calibrate_gaussian(sensitivity, epsilon, delta).parameter
        assert sigma2.denominator <= 10**12

        def bound(sigma2, sensitivity=sensitivity):
            bounds = [zcdp_delta(float(epsilon), n / (2 * float(sigma2)))]
            table = GaussianTable(n, float(sigma2), sensitivity.unit_shifts)
            return min(*bounds, gaussian_tables_delta(float(epsilon), [table]))

        assert bound(sigma2) <= delta < bound(float(sigma2) * (1 - 3e-5))


def test_unit_shifts_need_the_least_noise_and_others_less_than_by_the_conversion():
    unit, whole = (calibrate(one, Fraction(1), MILLIONTH).parameter for one in (one_hot(100), Sensitivity(100, 100)))
    assert unit < whole < 1.002 * unit
    assert 50 / largest_rho(1.0, 1e-6) > 1.14 * whole
    scaled = calibrate(one_hot(100).scaled(2), Fraction(1), MILLIONTH)
    assert gaussian_tables_delta(1.0, [GaussianTable(400, float(scaled.parameter))]) <= 1e-6


def test_pure_noise_is_taken_under_a_delta_where_it_is_the_smaller():
    one, many = one_hot(1), one_hot(1000)
    assert calibrate(one, Fraction(1), MILLIONTH) == NoiseScale("discrete_laplace", Fraction(1))
    assert calibrate_gaussian(one, Fraction(1), MILLIONTH).variance > 8 * calibrate(one, Fraction(1)).variance
    assert calibrate(many, Fraction(1), MILLIONTH) == calibrate_gaussian(many, Fraction(1), MILLIONTH)
    vectors = Sensitivity(64, 64, block=64, blocks_l2=8)
    assert calibrate(vectors, Fraction(1), MILLIONTH).distribution == "discrete_gaussian"
    assert calibrate(replace(vectors, block=4), Fraction(1), MILLIONTH) == NoiseScale("rounded_l2", Fraction(8), 4)


def test_several_tables_have_one_kind_of_noise_by_the_largest_share():
    for first, kind in ((one_hot(1), "discrete_laplace"), (one_hot(1000), "discrete_gaussian")):
        for second in (one_hot(1), one_hot(1000)):
            tables = [(second, Fraction(1)), (first, Fraction(49))]
            scales = calibrate_shares(tables, Fraction(1), MILLIONTH)
            assert {scale.distribution for scale in scales} == {kind}
            Cost.of([(own, scale) for (own, _), scale in zip(tables, scales, strict=True)], Decimal(1), Decimal("1e-6"))


SENSITIVITIES = st.builds(
    lambda block, length: Sensitivity(
        min(math.isqrt(block * length**2), length**2), length**2, block=block, blocks_l2=length
    ),
    st.integers(1, 600),
    st.integers(1, 1 << 20),
)


@given(SENSITIVITIES, st.fractions(Fraction(1, 1000), 100), st.integers(1, 5))
def test_pure_noise_for_vectors_is_exact_and_has_the_smaller_variance(sensitivity, epsilon, records):
    sensitivity = sensitivity.scaled(records)
    scale = calibrate(sensitivity, epsilon)
    laplace = NoiseScale("discrete_laplace", sensitivity.l1 / epsilon)
    vectors = NoiseScale("rounded_l2", sensitivity.blocks_l2 / epsilon, sensitivity.block)
    assert scale in (laplace, vectors)
    assert scale.variance == min(laplace.variance, vectors.variance)


@given(
    SENSITIVITIES | st.builds(one_hot, st.integers(1, 5000)),
    st.decimals("0.001", 20, places=3),
    st.sampled_from([Decimal("9e-3"), Decimal("1e-6"), Decimal("1e-12")]),
    st.sampled_from([1, 3]),
)
@settings(max_examples=draws(20, 50), deadline=None)
def test_a_delta_never_gives_more_noise_and_the_promise_is_kept(sensitivity, epsilon, delta, records):
    sensitivity = sensitivity.scaled(records)
    scale = calibrate(sensitivity, Fraction(epsilon), Fraction(delta))
    pure = calibrate(sensitivity, Fraction(epsilon))
    gaussian = calibrate_gaussian(sensitivity, Fraction(epsilon), Fraction(delta))
    assert scale.variance == min(pure.variance, gaussian.variance)
    cost = Cost.of([(sensitivity, scale)], epsilon, delta)  # refuses what does not keep the promise
    assert Cost.from_dict(json.loads(json.dumps(cost.to_dict()))) == cost
    assert admits([], cost, epsilon, delta)


def test_vectors_whose_counters_all_move_get_noise_of_their_own_and_others_do_not():
    every = Sensitivity(1600, 40_000, block=64, blocks_l2=200)
    assert calibrate(every, Fraction(2)) == NoiseScale("rounded_l2", Fraction(100), 64)
    assert calibrate(every, Fraction(2)).variance == 65 * 100**2 + 1 / 12
    one = Sensitivity(200, 40_000, block=64, blocks_l2=200)
    assert calibrate(one, Fraction(2)) == NoiseScale("discrete_laplace", Fraction(100))
    assert calibrate(every, Fraction(2), MILLIONTH).distribution == "discrete_gaussian"
    shares = calibrate_shares([(every, Fraction(3)), (one_hot(1), Fraction(1))], Fraction(1))
    assert shares == (NoiseScale("rounded_l2", Fraction(800, 3), 64), NoiseScale("discrete_laplace", Fraction(4)))


def test_shares_of_epsilon_and_of_rho():
    table, count = one_hot(1000), one_hot(1)
    pure = calibrate_shares([(table, Fraction(98)), (count, Fraction(2))], Fraction(1))
    assert [scale.parameter for scale in pure] == [Fraction(100_000, 98), 50]
    gaussian = calibrate_shares([(table, Fraction(98)), (count, Fraction(2))], Fraction(1), MILLIONTH)
    rho = [1000 / (2 * gaussian[0].parameter), 1 / (2 * gaussian[1].parameter)]
    assert rho[0] / rho[1] == pytest.approx(49, rel=1e-4)
    tables = [(1000, float(gaussian[0].parameter)), (1, float(gaussian[1].parameter))]
    assert 0.999e-6 < unit_shift_delta(1.0, tables) <= 1e-6


def test_tables_that_are_moved_by_more_than_one_share_the_sharper_bound():
    tables = [(one_hot(10), 1), (Sensitivity(5, 25), 1)]
    scales = calibrate_shares(tables, Fraction(1), MILLIONTH, gaussian_only=True)
    tables = [GaussianTable(10, float(scales[0].parameter), True), GaussianTable(25, float(scales[1].parameter))]
    assert 0.999e-6 < gaussian_tables_delta(1.0, tables) <= 1e-6


@pytest.mark.parametrize(
    "tables, epsilon, delta",
    [([], 1, 0), ([(one_hot(1), 0)], 1, 0), ([(one_hot(1), 1)], 0, 0), ([(one_hot(1), 1)], 1, 1)],
)
def test_senseless_requests(tables, epsilon, delta):
    with pytest.raises(ValueError, match=r"\.$"):
        calibrate_shares(tables, Fraction(epsilon), Fraction(delta))


@pytest.mark.parametrize("parameter", [Fraction(1, 3), Fraction(1), Fraction(5, 2), Fraction(50), Fraction(1, 1000)])
def test_variances_against_sums(parameter):
    z = np.arange(-4000, 4001)
    for distribution, exponent in (("discrete_laplace", np.abs(z)), ("discrete_gaussian", z**2 / 2)):
        law = np.exp(-exponent / float(parameter))
        expected = float(z**2 @ law / law.sum())
        scale = NoiseScale(distribution, parameter)
        assert scale.variance == pytest.approx(expected, rel=1e-12, abs=1e-300)
        assert scale.describe().endswith(".")


@given(st.sampled_from(["discrete_laplace", "discrete_gaussian"]), st.fractions(min_value=Fraction(1, 10**9)))
def test_records_are_exact(distribution, parameter):
    scale = NoiseScale(distribution, parameter)
    assert NoiseScale.from_dict(scale.to_dict()) == scale
    assert all(isinstance(value, str) for value in scale.to_dict().values())


@given(st.integers(1, 1 << 24), st.fractions(min_value=Fraction(1, 10**9)))
def test_records_of_noise_for_vectors_are_exact(block, parameter):
    scale = NoiseScale("rounded_l2", parameter, block)
    assert NoiseScale.from_dict(json.loads(json.dumps(scale.to_dict()))) == scale
    assert f"vector of {block:,} counters" in scale.describe()


@pytest.mark.parametrize("text", ["", "1/", "/2", "1/0", "-1/2", "1.5", "1e9", " 1", "1/2/3", "1" * 300, 1, None])
def test_other_spellings_of_exact_numbers(text):
    with pytest.raises(ValueError, match="exact number"):
        parse_fraction(text)


@pytest.mark.parametrize(
    "distribution, parameter, block",
    [
        ("normal", Fraction(1), None),
        ("discrete_laplace", Fraction(0), None),
        ("discrete_laplace", Fraction(1), 4),
        ("discrete_gaussian", Fraction(1), 4),
        ("rounded_l2", Fraction(1), None),
        ("rounded_l2", Fraction(0), 4),
        ("rounded_l2", Fraction(1), 0),
        ("rounded_l2", Fraction(1), -4),
        ("rounded_l2", Fraction(1), 4.0),
        ("rounded_l2", Fraction(1), True),
        ("rounded_l2", Fraction(1), "4"),
        ("rounded_l2", Fraction(1), (1 << 24) + 1),
    ],
)
def test_other_noise(distribution, parameter, block):
    with pytest.raises(ValueError, match=r"\.$"):
        NoiseScale(distribution, parameter, block)
    with pytest.raises(ValueError, match=r"\.$"):
        NoiseScale.from_dict({"distribution": distribution, "parameter": str(parameter), "block": block})
