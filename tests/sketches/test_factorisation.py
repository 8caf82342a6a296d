"""Matrices of weighted sums of periods: their error beside the best of all, and the numbers that they are made of."""

import itertools

import numpy as np
import pytest

from core.sketches.factorisation import PERCENT, WHOLE, Factor, alone, best_bands, best_tree, runs_with
from tests.depth import draws


def all_runs(periods):
    """Every run as a vector of 0 and 1."""
    ends = itertools.combinations_with_replacement(range(periods), 2)
    return np.array([[first <= period <= last for period in range(periods)] for first, last in ends], dtype=float)


def plain_spread(factor):
    """Mean variance of all runs by least squares, one after the other."""
    rows = factor.matrix.astype(float)
    return np.mean([np.sum((np.linalg.pinv(rows).T @ run) ** 2) for run in all_runs(factor.periods)])


FACTORS = (
    alone(5),
    Factor(7, band=3, power=40),
    Factor(9, band=9, power=50),
    Factor(9, branches=3, weights=(PERCENT, 60)),
    Factor(9, branches=2, weights=(PERCENT, 70, 50, 30)),
)


@pytest.mark.parametrize("factor", FACTORS, ids=str)
def test_spread_is_the_mean_variance_of_all_runs_by_least_squares(factor):
    assert factor.spread == pytest.approx(plain_spread(factor), rel=1e-9)


@pytest.mark.parametrize("factor", FACTORS, ids=str)
def test_sums_are_read_off_rows_without_bias_at_every_stage(factor):
    for periods in range(1, factor.periods + 1):
        weights, covariances = factor.readings(periods)
        rows = factor.matrix[: factor.rows_until(periods), :periods]
        assert not factor.matrix[: factor.rows_until(periods), periods:].any()  # no row knows of later periods
        np.testing.assert_allclose(weights @ rows, np.eye(periods), atol=1e-9)
        np.testing.assert_allclose(weights @ weights.T, covariances, atol=1e-18)


def test_runs_are_counted_by_the_periods_in_them():
    runs = all_runs(6)
    np.testing.assert_array_equal(runs_with(6), runs.T @ runs)


def optimum(periods: int, rounds: int = 200) -> float:
    """The least max_s X_ss · trace(W X⁻¹) of all matrices, as a mean over runs: what Gaussian noise can reach.

    By the fixed point v = diag((√V W √V)^½), V = diag(v), of the dual problem (Denisov et al. 2022): the slow and
    obvious reference of `best_bands`.
    """
    wanted, v = runs_with(periods), np.ones(periods)
    for _ in range(rounds):
        root = np.sqrt(v)
        values, vectors = np.linalg.eigh(root[:, None] * wanted * root)
        square = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        v = np.diag(square).copy()
    # Weak duality: every v gives a bound from below, 2 trace((√V W √V)^½) - Σ v.
    return float((2.0 * np.trace(square) - np.sum(root**2)) / (periods * (periods + 1) / 2))


@pytest.mark.parametrize(("periods", "times"), [(2, 1.001), (12, 1.05), (31, 1.05), (draws(60, 365), 1.1)])
def test_bands_are_as_good_as_the_best_matrix_but_for_a_few_hundredths(periods, times):
    best = best_bands(periods)
    least = optimum(periods, 40)
    assert least <= best.l2_squared * best.spread <= times * least


def test_the_bound_from_below_is_no_larger_than_what_any_matrix_reaches():
    random = np.random.default_rng(5)
    for _ in range(20):
        rows = random.normal(size=(9, 6))
        error = max((rows**2).sum(axis=0)) * np.trace(runs_with(6) @ np.linalg.inv(rows.T @ rows)) / 21
        assert optimum(6) <= error


def test_trees_have_less_pure_noise_than_single_periods_where_there_are_many():
    few, many = best_tree(12), best_tree(100)
    assert few == alone(12)
    assert many.l1**2 * many.spread < 0.75 * alone(100).l1 ** 2 * alone(100).spread


def test_columns_are_as_long_as_is_paid_for_and_rounded_down():
    for factor in FACTORS:
        columns = factor.matrix
        assert columns.min() >= 0
        assert factor.l2_squared == max((columns**2).sum(axis=0)) <= WHOLE**2 * max(1, len(factor.weights))
        assert factor.l1 == max(columns.sum(axis=0))


@pytest.mark.parametrize("factor", [Factor(8, band=4, power=40), Factor(8, branches=2, weights=(100, 60, 40))], ids=str)
def test_periods_around_a_lost_one_are_told_without_it(factor):
    lost = Factor(factor.periods, factor.band, factor.power, factor.branches, factor.weights, lost=(3,))
    weights, _ = lost.readings(8)
    np.testing.assert_allclose(
        (weights @ lost.matrix)[[0, 1, 2, 4, 5, 6, 7]], np.eye(8)[[0, 1, 2, 4, 5, 6, 7]], atol=1e-9
    )
    assert not weights[3].any()
    assert (lost.l1, lost.l2_squared) == (factor.l1, factor.l2_squared)  # what was drawn and lost was paid for
    before = factor.rows_until(3)
    np.testing.assert_array_equal(lost.matrix[:before], factor.matrix[:before])
