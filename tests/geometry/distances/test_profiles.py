"""Profiles: their antiderivatives against numerical integrals, and what a change of unit does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from core.errors import RequestError
from core.geometry.distances.profiles import Capped, OneSided, Power, profile_named

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
