"""Kernel sums of records that are no secret: exact by the slow way, and never further off than was stated."""

import numpy as np
import pytest

from core.geometry.kernels import Gaussian
from core.lab import comparison_trials as module
from core.lab.comparison_trials import kernel_sums

KERNEL = Gaussian(0.5)


def made(count, width, seed=0):
    random = np.random.default_rng(seed)
    return random.normal(size=(40, width)), random.normal(size=(count, width))


def slowly(queries, records):
    return np.array([sum(np.exp(-np.sum((q - records) ** 2, axis=1) / 0.5)) for q in queries])


def test_exact_sums_that_depend_on_blocks(monkeypatch):
    queries, records = made(500, 3)
    monkeypatch.setattr(module, "BLOCK", 700)
    np.testing.assert_allclose(kernel_sums(KERNEL, queries, records), slowly(queries, records), rtol=1e-12)


@pytest.mark.few(1)
@pytest.mark.parametrize("width", [1, 3])
def test_a_sum_that_is_further_off_than_was_stated(monkeypatch, width):
    """Forty sums of ten draws: wrong by chance in 1e-8 of runs."""
    monkeypatch.setattr(module, "FIRST", 256)
    queries, records = made(20_000, width)
    exact, looked = slowly(queries, records), []
    monkeypatch.setattr(Gaussian, "evaluate", counting(Gaussian.evaluate, looked))
    for seed in range(10):
        off = np.abs(kernel_sums(KERNEL, queries, records, 0.05, seed) - exact).max() / len(records)
        assert off < 0.05
    assert sum(looked) < 10 * len(records) * 0.9


def counting(honest, looked):
    def evaluate(kernel, x, y):
        looked.append(len(y))
        return honest(kernel, x, y)

    return evaluate


def test_an_error_that_only_all_records_keep_is_no_reason_to_look_at_one_twice(monkeypatch):
    monkeypatch.setattr(module, "FIRST", 256)
    queries, records = made(3_000, 2)
    looked = []
    monkeypatch.setattr(Gaussian, "evaluate", counting(Gaussian.evaluate, looked))
    found = kernel_sums(KERNEL, queries, records, 1e-4)
    assert sum(looked) == len(records)
    np.testing.assert_allclose(found, slowly(queries, records), rtol=1e-12)


def test_the_bound_where_it_can_be_worked_out():
    """Half ones, half noughts: mean and variance are known; nothing is left to chance once all are drawn."""
    at = module._bound(np.array([50.0]), np.array([50.0]), 100, 1_000, 10.0)
    assert at == pytest.approx(np.sqrt(2 * 0.25 * (1 - 99 / 1000) * 10 / 100) + (7 / 3 + 3 / np.sqrt(2)) * 0.1)
    most = module._bound(np.array([500.0]), np.array([500.0]), 1_000, 1_000, 10.0)
    assert most == pytest.approx((7 / 3 + 3 / np.sqrt(2)) * 0.01)
