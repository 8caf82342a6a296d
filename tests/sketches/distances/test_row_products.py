"""Products of queries as they lie in memory are those of double precision."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.sketches.distances.row_products import STRETCH, row_products
from tests.depth import draws


@given(
    st.integers(0, 9),
    st.sampled_from([1, 7, STRETCH, STRETCH + 3]),
    st.integers(1, 5),
    st.sampled_from([np.float32, np.float64]),
    st.sampled_from(["C", "F"]),
    st.integers(0, 2**32),
)
@settings(max_examples=draws(16, 40))
def test_products_and_squares_are_exact_but_for_rounding_in_double_precision(n, d, k, kind, order, seed):
    random = np.random.default_rng(seed)
    rows = np.asarray(random.normal(size=(n, d)).astype(kind), order=order)
    origin, vectors = random.normal(size=d), random.normal(size=(k, d))
    products, squares = row_products(rows, origin, vectors)
    offsets = rows.astype(np.float64) - origin
    bound = 4 * d * 2.0**-53
    assert (abs(products - offsets @ vectors.T) <= bound * (abs(offsets) @ abs(vectors).T)).all()
    assert (abs(squares - (offsets**2).sum(axis=1)) <= bound * (offsets**2).sum(axis=1)).all()
    assert rows.flags.writeable


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_seen_in_its_own_row_alone(value):
    rows = np.ones((6, 10), np.float32)
    rows[4, 9] = value
    products, squares = row_products(rows, np.zeros(10), np.eye(3, 10))
    assert np.isfinite(squares).tolist() == [True, True, True, True, False, True]
    assert np.isfinite(products[[0, 1, 2, 3, 5]]).all()
