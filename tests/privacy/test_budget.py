"""Promises are exact decimals inside their range."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import RequestError
from core.privacy.budget import Budget, Neighbours, decimal_below, decimal_text, exact_decimal


@pytest.mark.parametrize(
    "value, meant",
    [
        (1, "1"),
        (0.1, "0.1"),
        ("0.10", "0.1"),
        ("1E+1", "10"),
        (Decimal("0.25"), "0.25"),
        (Fraction(1, 8), "0.125"),
        (np.float64(0.3), "0.3"),
        (np.float32(0.1), "0.1"),
        (np.int64(2), "2"),
        (1e-12, "0.000000000001"),
    ],
)
def test_a_number_means_what_is_read_in_it(value, meant):
    assert decimal_text(Budget(value).epsilon) == meant


@pytest.mark.parametrize(
    "value",
    [0, -1, 101, "nan", "inf", "1e999999999", "1e-13", 1e-13, Fraction(1, 3), True, None, "one", [1], 1j, "1" * 5000],
)
def test_other_epsilons_are_refused_in_one_sentence(value):
    with pytest.raises(RequestError, match=r"^Epsilon .*\.$"):
        Budget(value)


@pytest.mark.parametrize("value", [-1e-6, 0.01, 1, "1e-31", math.nan, None])
def test_other_deltas_are_refused_in_one_sentence(value):
    with pytest.raises(RequestError, match=r"^Delta .*\.$"):
        Budget(1, value)


def test_neighbours_by_name():
    assert Budget(1, neighbours="replace_one").neighbours is Neighbours.REPLACE_ONE
    with pytest.raises(RequestError, match="add_remove or replace_one"):
        Budget(1, neighbours="both")


def test_equal_promises_are_equal():
    assert Budget(0.5) == Budget("0.50") == Budget(Fraction(1, 2))
    assert len({Budget(0.5), Budget("0.500")}) == 1
    assert Budget(1).pure and not Budget(1, 1e-6).pure


def test_exact_whatever_the_decimal_context():
    with localcontext(prec=3):
        assert exact_decimal("99.123456789012", "x") == Decimal("99.123456789012")
        assert Budget(Fraction(123456789, 10**9)).epsilon.as_tuple().digits == (1, 2, 3, 4, 5, 6, 7, 8, 9)


@given(st.decimals("0.000001", "100", places=6), st.lists(st.decimals("0.01", "9", places=2), min_size=1, max_size=5))
def test_shares_add_up_exactly(epsilon, shares):
    parts = Budget(epsilon).split(*shares)
    assert sum(parts) == Fraction(epsilon)
    assert all(
        part * Fraction(shares[0]) == parts[0] * Fraction(share) for part, share in zip(parts, shares, strict=True)
    )


@pytest.mark.parametrize("shares", [(), (0,), (1, -1), ("x",)])
def test_shares_above_zero_only(shares):
    with pytest.raises(RequestError):
        Budget(1).split(*shares)


@given(st.fractions(0, 100))
def test_rounding_down(value):
    below = decimal_below(value)
    assert 0 <= value - Fraction(below) < Fraction(1, 10**12)


@pytest.mark.parametrize("epsilon, delta", [(0.1, 0), (1, 0), (1, 1e-3), (100, 0)])
def test_odds_against_the_best_guesser(epsilon, delta):
    """Randomised response that leaks with probability delta is as bad as the promise allows."""
    e = math.exp(-epsilon)
    told = delta + (1 - delta) / (1 + e)  # the secret is leaked, or answered truthfully
    assert Budget(epsilon, delta).odds == pytest.approx(told, rel=1e-12)
