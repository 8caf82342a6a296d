import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize

from core.errors import RequestError
from core.local.post_processing import WAYS, processed, still_valid

estimates = arrays(np.float64, st.integers(1, 12), elements=st.floats(-1e4, 1e4))
PEOPLE = 1000.0


@given(estimate=estimates)
def test_shifting_until_nothing_is_negative_is_the_projection(estimate):
    shifted, projected = (processed(estimate, PEOPLE, way) for way in ("norm-sub", "prob-simplex"))
    np.testing.assert_allclose(shifted, projected, atol=1e-6)
    assert (shifted >= 0).all() and abs(shifted.sum() - PEOPLE) < 1e-6


def test_the_projection_is_the_nearest_there_is():
    estimate = np.array([700.0, -50.0, 420.0, 30.0])
    found = minimize(
        lambda x: ((x - estimate) ** 2).sum(),
        np.full(4, 250.0),
        bounds=[(0, None)] * 4,
        constraints={"type": "eq", "fun": lambda x: x.sum() - PEOPLE},
        options={"ftol": 1e-12},
    ).x
    np.testing.assert_allclose(processed(estimate, PEOPLE, "norm-sub"), found, atol=1e-2)


@given(estimate=estimates)
def test_the_ways_do_what_they_say(estimate):
    assert np.array_equal(processed(estimate, PEOPLE, "base"), estimate)
    assert np.array_equal(processed(estimate, PEOPLE, "base-pos"), np.maximum(estimate, 0))
    cut = processed(estimate, PEOPLE, "base-cut")
    kept = cut > 0
    assert np.array_equal(cut[kept], estimate[kept])
    assert kept.sum() <= 1 or cut.sum() - cut[kept].min() <= PEOPLE + 1e-9
    if cut.sum() <= PEOPLE:
        assert np.array_equal(cut, np.maximum(estimate, 0))


@pytest.mark.parametrize("way", WAYS)
def test_intervals_keep_the_truth(way):
    low, high, said = still_valid(np.array([-5.0, 900.0]), np.array([10.0, 1100.0]), PEOPLE, way)
    assert said.endswith(".") and (low <= 0).any() and (low <= high).all()
    if way != "base":
        assert low[0] == 0 and high[1] == PEOPLE
    with pytest.raises(RequestError):
        processed(np.zeros(2), PEOPLE, "guess")
