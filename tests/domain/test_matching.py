"""One rule for categories, items and ids: a number is the text of its digits, a text is compared letter for letter."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain import Categorical, Domain
from core.domain.item_keys import item_keys, keys_of_values
from core.domain.matching import SHARED_FROM, whole_numbers
from core.domain.sets import Sets
from core.errors import RequestError

ALIKE = [
    pa.array(["1"]),
    pa.array([1], pa.int8()),
    pa.array([1], pa.uint64()),
    pa.array([1.0], pa.float64()),
    pa.array([1.0], pa.float32()),
    pa.array(np.array([1.0], np.float16)),
    pa.array([Decimal("1.00")]),
    pa.array([1.0]).dictionary_encode(),
]
OTHERS = [pa.array(["01"]), pa.array(["1.0"]), pa.array([" 1"]), pa.array(["+1"]), pa.array([10.0])]
WITHOUT_DIGITS = [
    pa.array([1.5]),
    pa.array([float("inf")]),
    pa.array([-float("inf")]),
    pa.array([2.0**53]),
    pa.array([-(2.0**53)]),
    pa.array([1e300]),
    pa.array([2.0**24], pa.float32()),
    pa.array(np.array([2.0**11], np.float16)),
    pa.array([Decimal("1.50")]),
    pa.array([1.0, 1.5]).dictionary_encode(),
]


@pytest.mark.parametrize("array", ALIKE, ids=lambda array: str(array.type))
def test_a_whole_number_is_the_text_of_its_digits_in_every_type(array):
    assert Categorical("c", ("0", "1")).codes(array).tolist() == [1]
    assert item_keys(array, "It")[0].tolist() == [1]


@pytest.mark.parametrize("array", OTHERS, ids=str)
def test_texts_are_compared_letter_for_letter(array):
    assert Categorical("c", ("0", "1")).codes(array).tolist() == [-1]
    assert item_keys(array, "It")[0].tolist() != [1]


@pytest.mark.parametrize("array", WITHOUT_DIGITS, ids=lambda array: f"{array.type} {array[-1]}")
def test_a_number_without_digits_is_refused_and_not_shown(array):
    calls = (
        lambda: Categorical("c", ("0", "1")).codes(array),
        lambda: item_keys(array, "The column 'c'"),
        lambda: Domain.of(c=["0", "1"]).encode(pa.record_batch({"c": array})),
    )
    for call in calls:
        with pytest.raises(RequestError, match="The column 'c' holds a number that is not whole") as refusal:
            call()
        assert str(array[-1]) not in str(refusal.value)


def test_items_that_are_asked_for_are_held_to_the_same_rule():
    assert Sets.of([[1, 1.0, "1"]]).distinct().elements.tolist() == [1]
    for value in (1.5, 2.0**53):
        with pytest.raises(RequestError, match="not whole"):
            keys_of_values([value], "A set")


@pytest.mark.parametrize("kind", SHARED_FROM, ids=str)
def test_no_two_whole_numbers_that_are_accepted_become_one_in_floating_point(kind):
    """At the limit a number and its neighbour are one; below it every whole number is still itself."""
    to_float, limit = kind.to_pandas_dtype(), SHARED_FROM[kind]
    assert to_float(limit) == to_float(limit + 1)
    below = np.unique(np.array([*range(limit - 1000, limit)]).astype(to_float))
    assert len(below) == 1000
    assert whole_numbers(pa.array(below), "It").to_pylist() == list(range(limit - 1000, limit))


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=30, unique=True))
def test_whole_numbers_that_went_through_floating_point_are_themselves_or_refused(numbers):
    try:
        found = whole_numbers(pa.array(np.array(numbers).astype(np.float64)), "It").to_pylist()
    except RequestError:
        assert max(map(abs, numbers)) >= 2**53 - 1
    else:
        assert found == numbers


@given(st.lists(st.integers(-(10**37), 10**37), min_size=1, max_size=20), st.integers(0, 1))
def test_decimals_are_exact_at_any_size(numbers, scale):
    decimals = pa.array([Decimal(number) for number in numbers], pa.decimal128(38, 0))
    if scale:
        decimals = decimals.cast(pa.decimal256(50, 2))
    assert [int(text) for text in whole_numbers(decimals, "It").to_pylist()] == numbers


@given(
    st.lists(st.sampled_from(["01", "1", "1.0", "2", "02", "2e0", "x", "9007199254740993"]), min_size=2, unique=True)
)
def test_no_two_numbers_match_one_category(categories):
    numbers = [0, 1, 2, 3, 2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2]
    found = [code for code in Categorical("c", tuple(categories)).codes(pa.array(numbers)).tolist() if code >= 0]
    assert len(set(found)) == len(found)
