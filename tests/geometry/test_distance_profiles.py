"""Profiles: their antiderivatives against numerical integrals, and what a change of unit does."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from core.errors import RequestError
from core.geometry.distance_profiles import (
    Capped,
    OneSided,
    Power,
    coefficients,
    inner_products,
    mass_beside,
    mean_square_at_query,
    mean_square_error,
    pour_masses,
    profile_named,
    solve_gram,
)

PROFILES = [Power(1.0), Power(2.0), Power(0.5), Power(3.3), Capped(0.7), OneSided(True), OneSided(False)]
profiles = st.sampled_from(PROFILES)


@given(profiles, st.floats(-3, 3))
def test_antiderivatives_are_integrals_from_zero(profile, u):
    def integral(function):
        points = [p for p in (-0.7, 0.7) if min(u, 0) < p < max(u, 0)]
        return quad(lambda v: float(function(np.array(v))), 0.0, u, points=points or None, epsabs=1e-12, limit=200)[0]

    assert profile.first(np.array(u)) == pytest.approx(integral(profile.value), abs=1e-7)
    assert profile.second(np.array(u)) == pytest.approx(integral(profile.first), abs=1e-7)


@given(profiles, st.floats(-2, 2), st.floats(0.01, 100))
def test_stretching_changes_the_unit_and_nothing_else(profile, u, length):
    unit, factor = profile.stretched(length)
    assert factor * unit.value(np.array(u)) == pytest.approx(float(profile.value(np.array(length * u))), rel=1e-9)


@pytest.mark.parametrize("profile", PROFILES, ids=str)
def test_the_notation_names_the_profile(profile):
    assert profile_named(profile.notation) == profile


def test_what_each_name_means():
    u = np.array([-2.0, -0.5, 0.0, 0.5, 2.0])
    expected = {
        "l1": [2, 0.5, 0, 0.5, 2],
        "lp:2": [4, 0.25, 0, 0.25, 4],
        "capped:1": [1, 0.5, 0, 0.5, 1],
        "above": [0, 0, 0, 0.5, 2],
        "below": [2, 0.5, 0, 0, 0],
    }
    for name, values in expected.items():
        assert profile_named(name).value(u).tolist() == values
    assert profile_named("lp:1") == profile_named("l1")


@pytest.mark.parametrize(
    "name",
    ["", "l2", "lp", "lp:", "lp:0", "lp:-1", "lp:nan", "lp:inf", "lp:17", "capped:0", "capped:x", None, 1, "l1:2"],
)
def test_what_names_no_profile_is_refused(name):
    with pytest.raises(RequestError):
        profile_named(name)


def test_categories_have_no_above_or_below():
    assert Power(2.0).between_categories(3.0) == 9.0 and Capped(2.0).between_categories(3.0) == 2.0
    with pytest.raises(RequestError):
        OneSided(True).between_categories(1.0)


SPLINES_PROFILES = [Power(1.0), Power(2.0), Power(0.5), Capped(0.3), OneSided(True), OneSided(False)]
profiles_of_splines = st.sampled_from(SPLINES_PROFILES)
STEPS = 1 << 12
values = st.lists(st.one_of(st.sampled_from([-2.0, 3.0, -0.0, 1e-300, 0.5]), st.floats(-2, 3)), max_size=10)


def slow_masses(records, low, length, cells):
    """One record at a time, in exact fractions but for its place, which is rounded once."""
    masses = [0] * (cells + 1)
    for record in records:
        place = int((record - low) / length * (cells * STEPS) + 0.5)
        for node in range(cells + 1):
            masses[node] += int(STEPS * max(Fraction(0), 1 - abs(Fraction(place, STEPS) - node)))
    return masses


@given(values, st.sampled_from([1, 2, 16]))
def test_masses_are_those_of_one_record_at_a_time(records, cells):
    masses = np.zeros(cells + 1, dtype=np.int64)
    pour_masses(np.array(records, dtype=float), -2.0, 5.0, cells, STEPS, masses)
    assert masses.tolist() == slow_masses(records, -2.0, 5.0, cells)
    assert masses.sum() == STEPS * len(records)


@given(values)
def test_masses_keep_the_mean_place(records):
    masses = np.zeros(9, dtype=np.int64)
    pour_masses(np.array(records, dtype=float), -2.0, 5.0, 8, STEPS, masses)
    mean = masses @ (np.arange(9) * 5.0 / 8 - 2.0) / STEPS
    assert mean == pytest.approx(sum(records), abs=5.0 / 8 / STEPS * (len(records) + 1))


@given(profiles_of_splines, st.floats(-4, 5), st.sampled_from([1, 4, 16]))
def test_inner_products_are_integrals(profile, query, cells):
    x = (np.arange(100_000) + 0.5) / 100_000
    hats = np.maximum(0.0, 1.0 - np.abs(x * cells - np.arange(cells + 1)[:, None]))
    expected = hats @ profile.value(x - query) / len(x)
    assert inner_products(profile, cells, np.array([query]))[0] == pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize("profile", SPLINES_PROFILES, ids=str)
def test_near_and_far_queries_agree_where_they_meet(profile):
    near, far = inner_products(profile, 8, np.array([2.0, 2.0 + 1e-9]))
    assert near == pytest.approx(far, rel=1e-6, abs=1e-9)


def test_the_gram_matrix_is_that_of_the_hats():
    x = (np.arange(100_000) + 0.5) / 100_000
    hats = np.maximum(0.0, 1.0 - np.abs(x * 5 - np.arange(6)[:, None]))
    assert hats @ hats.T / len(x) @ solve_gram(np.eye(6)) == pytest.approx(np.eye(6), abs=1e-6)


@pytest.mark.parametrize("profile", SPLINES_PROFILES, ids=str)
def test_what_the_spline_misses_averages_to_zero_over_every_hat(profile):
    queries = np.array([0.0, 0.11, 0.5, 0.777, 1.0, 1.3])
    x = (np.arange(200_000) + 0.5) / 200_000
    hats = np.maximum(0.0, 1.0 - np.abs(x * 8 - np.arange(9)[:, None]))
    missed = coefficients(profile, 8, queries) @ hats - profile.value(x - queries[:, None])
    assert missed @ hats.T / len(x) == pytest.approx(np.zeros((6, 9)), abs=2e-6)


def test_linear_pieces_are_met_without_error():
    """The L1 distance from a query outside, or one-sided ones there, is linear on the interval."""
    nodes = np.arange(9) / 8
    for profile in (Power(1.0), OneSided(True), OneSided(False)):
        for query in (-0.5, 1.5, -40.0, 1e6):
            found = coefficients(profile, 8, np.array([query]))[0]
            assert found == pytest.approx(profile.value(nodes - query), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("profile", [Power(1.0), Power(0.5), Capped(0.3)], ids=str)
def test_at_the_query_most_is_missed(profile):
    queries = np.random.default_rng(1).random(400)
    hats = np.maximum(0.0, 1.0 - np.abs(queries * 16 - np.arange(17)[:, None]))
    missed = (coefficients(profile, 16, queries) * hats.T).sum(axis=1)
    assert mean_square_at_query(profile, 16) == pytest.approx(np.mean(missed**2), rel=0.1)
    assert mean_square_at_query(profile, 16) > 5 * mean_square_error(profile, 16)


def test_masses_beside_a_query_are_those_of_its_cell():
    masses = np.array([1.0, 10.0, 100.0])
    places = np.array([-0.1, 0.0, 0.3, 0.5, 0.9, 1.0, 1.1])
    beside, heaped = mass_beside(masses, places)
    assert beside.tolist() == [0, 11, 11, 110, 110, 110, 0]
    assert heaped.tolist() == [0, -89, -89, 109, 109, 109, 0]


def test_the_mean_square_error_is_the_one_measured():
    rng = np.random.default_rng(0)
    records, queries = rng.random(2000), rng.random(500)
    hats = np.maximum(0.0, 1.0 - np.abs(records * 16 - np.arange(17)[:, None]))
    missed = coefficients(Power(1.0), 16, queries) @ hats - np.abs(records - queries[:, None])
    assert mean_square_error(Power(1.0), 16) == pytest.approx(np.mean(missed**2), rel=0.1)
    # h^3 for a kink: a cell of width h is hit with probability h, and missed there by the order of h.
    assert mean_square_error(Power(1.0), 16) / mean_square_error(Power(1.0), 32) == pytest.approx(8.0, rel=0.05)
