"""The bought centre and length: what one record moves, what is read off noise, and that scores stay the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.models.record_vectors import whole_vectors
from core.models.standard_scale import (
    FARTHEST,
    FRONT,
    LADDER,
    STEPS,
    Scale,
    centre_of,
    centre_sensitivity,
    cut,
    in_units_of_records,
    ladder_counts,
    ladder_sensitivity,
    length_of,
    standardised,
)
from core.privacy.budget import Neighbours

UNIT = 1 << 13
RADIUS = 2.0
numbers = st.lists(st.floats(-1.2, 1.2), min_size=4, max_size=4)


def records(*rows: list[float]) -> np.ndarray:
    return whole_vectors(np.array([[1.0, *row] for row in rows]), RADIUS, UNIT)


@given(numbers, numbers, st.lists(st.integers(-UNIT, UNIT), min_size=4, max_size=4))
def test_no_record_moves_what_is_bought_further_than_declared(one, other, centre):
    both, at = records(one, other), np.array(centre)
    counts = [ladder_counts(both[i : i + 1], at, RADIUS, UNIT) for i in range(2)]
    for relation, moved, counted in (
        (Neighbours.ADD_REMOVE, both[0], counts[0]),
        (Neighbours.REPLACE_ONE, both[0] - both[1], counts[0] - counts[1]),
    ):
        declared = centre_sensitivity(relation, RADIUS, UNIT, 4)
        assert (moved[1:] ** 2).sum() <= declared.l2_squared and np.abs(moved[1:]).sum() <= declared.l1
        assert np.abs(counted).max() <= 1 and (counted**2).sum() <= ladder_sensitivity(relation).l2_squared


def test_opposite_corners_reach_the_bounds():
    both = records([1.0] * 4, [-1.0] * 4)
    assert ((both[0] - both[1])[1:] ** 2).sum() == centre_sensitivity(
        Neighbours.REPLACE_ONE, RADIUS, UNIT, 4
    ).l2_squared
    at = np.full(4, UNIT)
    counts = ladder_counts(both, at, RADIUS, UNIT)
    assert counts[0] == counts[-1] == 1 and LADDER[-1] == 2.0


def test_without_noise_the_centre_is_the_mean_and_the_length_holds_half():
    random = np.random.default_rng(0)
    units = records(*(random.normal(0.4, 0.1, (2_001, 4)).tolist()))
    centre = centre_of(units[:, 1:].sum(axis=0).astype(float), 2_001.0, 0.0, RADIUS, UNIT)
    assert centre == pytest.approx(units[:, 1:].mean(axis=0), abs=1)
    length = length_of(ladder_counts(units, centre, RADIUS, UNIT), 0.0, RADIUS, UNIT)
    lengths = np.linalg.norm(units[:, 1:] - centre, axis=1)
    assert (lengths <= length).mean() >= 0.5 or length == round(LADDER[0] * RADIUS * UNIT)


def test_where_noise_says_more_than_records_nothing_is_believed():
    random = np.random.default_rng(1)
    noisy = random.normal(0, 1e9, 4)
    assert np.linalg.norm(centre_of(noisy, 50.0, 1e18, RADIUS, UNIT)) <= RADIUS * UNIT
    assert not centre_of(np.full(4, 10.0), 50.0, 1e18, RADIUS, UNIT).any()
    assert length_of(np.full(STEPS, 3), 1e6, RADIUS, UNIT) == round(0.6 * RADIUS * UNIT)


@given(numbers, st.lists(st.integers(-UNIT, UNIT), min_size=4, max_size=4), st.integers(1, 4 * UNIT))
def test_standardised_records_are_whole_and_no_longer_than_allowed(one, centre, length):
    found = standardised(records(one), Scale(np.array(centre), length), UNIT)
    assert np.array_equal(found, np.rint(found)) and found[0, 0] == FRONT * UNIT
    assert (found[0, 1:] ** 2).sum() <= (FARTHEST * UNIT) ** 2


def test_scores_of_records_are_those_of_standardised_ones():
    random = np.random.default_rng(2)
    units = records(*random.uniform(-0.5, 0.5, (50, 4)).tolist())
    scale = Scale(np.array([900, -300, 0, 2_000]), 9_000)
    weights = random.normal(0, 2.0**22, (3, 5))
    direct = standardised(units, scale, UNIT) @ weights.T / UNIT
    plain = (units / UNIT) @ in_units_of_records(weights, scale, UNIT).T
    assert plain == pytest.approx(direct, rel=1e-3, abs=2.0**22 * 5e-3)


@pytest.mark.parametrize("slope", [1e12, -3e9])
def test_slopes_that_rounding_left_too_long_are_shortened(slope):
    """The root of k² - 1 may be k in floating point where k is large, and k² is too long; no method comes so far."""
    most = np.arange((1 << 26) - 500, (1 << 26) - 1, dtype=np.int64) ** 2 - 1
    whole = cut(np.full((len(most), 1), slope), most).astype(np.int64)[:, 0]
    assert (whole**2 <= most).all() and (np.abs(whole) >= np.sqrt(most) - 2).all()
