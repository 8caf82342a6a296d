import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize

from core.errors import RequestError
from core.local.post_processing import WAYS, base_cut, processed, still_valid

estimates = arrays(np.float64, st.integers(1, 12), elements=st.floats(-1e4, 1e4))
PEOPLE = 1000.0


@given(estimate=estimates)
def test_shifting_until_nothing_is_negative_is_the_projection(estimate):
    shifted, projected = (
        processed(estimate, PEOPLE, way, np.ones_like(estimate)) for way in ("norm-sub", "prob-simplex")
    )
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
    np.testing.assert_allclose(processed(estimate, PEOPLE, "norm-sub", np.ones_like(estimate)), found, atol=1e-2)


@given(estimate=estimates)
def test_the_ways_do_what_they_say(estimate):
    assert np.array_equal(processed(estimate, PEOPLE, "base", np.ones_like(estimate)), estimate)
    assert np.array_equal(processed(estimate, PEOPLE, "base-pos", np.ones_like(estimate)), np.maximum(estimate, 0))
    cut = processed(estimate, PEOPLE, "base-cut", np.ones_like(estimate))
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
        processed(np.zeros(2), PEOPLE, "guess", np.ones(2))


@pytest.mark.parametrize("falls", [0.0, 0.7, 1.5])
def test_of_sparse_answers_what_all_say_is_nearer_than_lowering_all_by_the_same(falls):
    """Lowering all by one amount was half as far again as clipping and scaling on a sparse domain, which is far from
    Zipf's; what all estimates say of each is nearer than either on both.
    """
    random, people, answers, noise = np.random.default_rng(5), 27_765, 300, 400.0
    shares = 1.0 / np.arange(1, answers + 1) ** falls
    truth = random.multinomial(people, shares / shares.sum())
    off = {way: 0.0 for way in ("norm-sub", "shrunk", "scaled")}
    for _ in range(4):
        estimate = truth + noise * random.normal(size=answers)
        found = {way: processed(estimate, people, way, np.full(answers, noise)) for way in ("norm-sub", "shrunk")}
        found["scaled"] = np.maximum(estimate, 0) * people / np.maximum(estimate, 0).sum()
        for way, values in found.items():
            assert values.sum() == pytest.approx(people) and values.min() >= 0
            off[way] += ((values - truth) ** 2).sum()
    assert off["shrunk"] < 0.8 * off["norm-sub"] and off["shrunk"] < 0.8 * off["scaled"]


@pytest.mark.thorough
def test_of_so_many_answers_that_some_stand_for_others_all_still_add_up():
    estimate = np.random.default_rng(1).normal(0, 100, 5000) + np.where(np.arange(5000) < 10, 2000, 0)
    found = processed(estimate, 20_000.0, "shrunk", np.full(5000, 100.0))
    assert found.sum() == pytest.approx(20_000) and (found[:10] > 1000).all() and np.median(found[10:]) < 20


def test_the_largest_are_kept_until_their_sum_is_more_than_all_reports():
    """Where it comes to all of them exactly the next one is kept, too."""
    for estimate, kept in (
        ([5.0, 3.0, 5.0], [5.0, 3.0, 5.0]),
        ([7.0, 3.0, 5.0], [7.0, 0.0, 5.0]),
        ([12.0, 1.0], [12.0, 0.0]),
    ):
        assert base_cut(np.array(estimate), 10.0, np.ones(len(estimate))).tolist() == kept
