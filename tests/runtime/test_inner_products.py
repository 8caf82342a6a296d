"""Inner products are chains of fused multiply-adds, each exact and rounded once, whatever stands beside a record."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.runtime.inner_products import DEPTH, images, inner_products, records_at_once
from tests.depth import draws


def slow_chain(offset: float, coefficients, coordinates) -> float:
    """The chain in exact fractions: Python rounds a fraction to the nearest float, ties to even, as IEEE 754 does."""
    total = offset
    for a, x in zip(coefficients.tolist(), coordinates.tolist(), strict=True):
        total = float(Fraction(a) * Fraction(x) + Fraction(total))
    return total


def chained(coefficients: np.ndarray, offsets: np.ndarray, points: np.ndarray, depth: int = DEPTH) -> np.ndarray:
    """(rows, records)"""
    (rows, d), n = coefficients.shape, len(points)
    panel = np.full((min(d, depth), records_at_once(d)), np.nan)
    sums = np.full((rows, panel.shape[1]), np.nan)
    sums[:] = offsets[:, None]
    inner_products(np.ascontiguousarray(points.T), 0, n, coefficients.reshape(-1), 0, rows, panel, sums)
    return sums[:, :n]


@given(st.integers(1, 40), st.integers(1, 14), st.integers(1, 60), st.integers(0, 2**32), st.sampled_from([1, 7, 512]))
@settings(max_examples=draws(12, 30))
def test_every_sum_is_the_chain_of_its_row_and_record(d, rows, n, seed, depth):
    random = np.random.default_rng(seed)
    a, b, x = random.normal(size=(rows, d)), random.normal(size=rows), random.normal(size=(n, d)) * 10.0**8
    sums = chained(a, b, x, depth)
    for row, record in [(0, 0), (rows - 1, n - 1), (rows // 2, n // 2)]:
        assert sums[row, record] == slow_chain(float(b[row]), a[row], x[record])


def test_a_chain_differs_from_products_that_are_rounded_by_themselves():
    """Else nothing here would notice an addition that is not fused."""
    a, x = np.array([[1.0, 1.0 + 2.0**-30]]), np.array([[-1.0, 1.0 - 2.0**-30]])
    assert chained(a, np.zeros(1), x)[0, 0] == -(2.0**-60)
    assert (a @ x.T)[0, 0] in (0.0, -(2.0**-60))
    assert a[0, 0] * x[0, 0] + a[0, 1] * x[0, 1] == 0.0


@pytest.mark.parametrize("rows", [1, 5, 6, 300])
def test_panels_and_blocks_of_rows_do_not_show(rows):
    random = np.random.default_rng(rows)
    a, x = random.normal(size=(rows, 2 * DEPTH + 3)), random.normal(size=(70, 2 * DEPTH + 3))
    whole = images(a, np.ascontiguousarray(x.T))
    assert whole[69, rows - 1] == slow_chain(0.0, a[rows - 1], x[69])
    alone = images(a, np.ascontiguousarray(x[69:].T))
    assert alone.tobytes() == np.ascontiguousarray(whole[69:]).tobytes()
    assert whole == pytest.approx(x @ a.T, abs=1e-9)
