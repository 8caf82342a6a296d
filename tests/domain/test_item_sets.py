"""Sets of items: keys that mean the same for ever, however a column writes its items."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain import Domain, Items, Numeric, PrivacyUnit
from core.domain.item_sets import Sets, item_keys, keys_of_values
from core.errors import RequestError
from core.geometry.kernels import Jaccard, Mixture, kernel_from_dict
from tests.tables_for_tests import LETTERS

XXH64 = {
    "": 0xEF46DB3751D8E999,
    "a": 0xD24EC4F1A98C6E5B,
    "abc": 0x44BC2CF5AD770999,
    "Nobody inspects the spammish repetition": 0xFBCEA83C8A378BF1,
}
"""Hashes that the specification's own program prints."""

sets_of_small_numbers = st.lists(st.lists(st.integers(0, 30), max_size=12), min_size=1, max_size=12)


def key(value: object) -> int:
    return int(keys_of_values([value], "It")[0])


@pytest.mark.parametrize("text, hashed", XXH64.items())
def test_a_text_has_the_hash_of_the_published_function(text, hashed):
    assert key(text) == hashed


@given(st.integers(-(2**63), 2**64 - 1))
def test_a_whole_number_is_one_item_however_it_is_written(number):
    keys = [int(item_keys(pa.array([str(number)], kind()), "It")[0][0]) for kind in (pa.string, pa.large_string)]
    keys.append(key(number))
    if number < 2**63:
        assert key(number) == number % 2**64
    if abs(number) < 2**53:
        keys.append(key(float(number)))
    assert len(set(keys)) == 1


@pytest.mark.parametrize(
    "text", ["007", "-0", "+7", " 7", "7.0", "1e3", "9223372036854775808", "-9223372036854775809", ""]
)
def test_text_that_no_integer_is_printed_as_is_hashed_as_text(text):
    assert key(text) not in (7, 0, 1000, 2**63, 2**64 - 1)


@pytest.mark.thorough
@given(st.lists(st.one_of(st.text(LETTERS, max_size=40), st.none()), max_size=8), st.integers(0, 8))
def test_keys_do_not_depend_on_how_a_column_is_stored(values, start):
    kinds = [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string()), pa.string_view()]
    found = []
    for kind in kinds:
        keys, present = item_keys(pa.array(values, pa.string()).cast(kind)[start:], "It")
        found.append([int(key) if here else None for key, here in zip(keys, _all(present, keys), strict=True)])
    assert all(keys == found[0] for keys in found)
    assert found[0] == [None if value is None else key(value) for value in values[start:]]


def _all(present, keys):
    return np.ones(len(keys), bool) if present is None else present


def test_no_number_is_no_item_and_zero_has_one_sign():
    keys, present = item_keys(pa.array([None, float("nan"), -0.0, 2.0**53 - 1]), "It")
    assert present.tolist() == [False, False, True, True]
    assert keys[2:].tolist() == [0, 2**53 - 1]


def test_values_that_are_no_items_are_refused_in_one_sentence():
    with pytest.raises(RequestError, match="cannot be items"):
        item_keys(pa.array([[1], [2]]), "The column 'x'")
    for value in (None, object(), {"a": 1}):
        with pytest.raises(RequestError):
            keys_of_values([value], "A set")
    with pytest.raises(RequestError, match="lists of items"):
        Sets.of([1, 2])
    with pytest.raises(RequestError, match="lists of items"):
        Sets.of(["ab"])


@given(sets_of_small_numbers)
def test_slices_and_choices_are_what_lists_would_be(lists):
    sets = Sets.of(lists)
    assert [one.tolist() for one in sets] == lists and sets.sizes.tolist() == [len(one) for one in lists]
    assert [one.tolist() for one in sets[1:3]] == lists[1:3]
    assert [one.tolist() for one in sets[::2]] == lists[::2]
    assert [one.tolist() for one in sets[::-1]] == lists[::-1]
    kept = np.array([bool(one) for one in lists])
    assert [one.tolist() for one in sets[kept]] == [one for one in lists if one]
    assert [one.tolist() for one in sets.distinct()] == [sorted(set(one)) for one in lists]
    assert not sets.elements.flags.writeable


@given(sets_of_small_numbers, sets_of_small_numbers)
def test_the_kernel_is_the_share_of_common_items(queries, records):
    expected = np.array([[_jaccard(set(a), set(b)) for b in records] for a in queries])
    x, y = Sets.of(queries), Sets.of(records)
    np.testing.assert_allclose(Jaccard().evaluate(x, y), expected)
    np.testing.assert_allclose(Jaccard().sums(x, y), expected.sum(axis=1))


def _jaccard(a: set, b: set) -> float:
    return len(a & b) / len(a | b) if a | b else 0.0


def test_the_kernel_is_no_part_of_another():
    assert kernel_from_dict(Jaccard().to_dict()) == Jaccard()
    with pytest.raises(RequestError, match="no part"):
        Mixture((Jaccard(),), (1.0,))


@given(
    st.lists(st.one_of(st.none(), st.lists(st.one_of(st.none(), st.text(LETTERS, max_size=5)), max_size=4)), max_size=6)
)
def test_a_column_of_lists_is_read_whatever_its_type(lists):
    column = Items("tags")
    expected = [[key(item) for item in one or () if item is not None] for one in lists]
    for kind in (pa.list_(pa.string()), pa.large_list(pa.large_string())):
        array = pa.concat_arrays([pa.array([["x"]], kind), pa.array(lists, kind)])[1:]
        assert [one.tolist() for one in column.read_sets(array)] == expected
    assert [one.tolist() for one in column.read_sets(pa.nulls(2))] == [[], []]


def test_text_is_cut_into_items_where_a_separator_is_named():
    sets = Items("basket", separator=";").read_sets(pa.array(["milk; bread;;", None, "", " ; ", "7"])[:])
    assert [one.tolist() for one in sets] == [[key("milk"), key("bread")], [], [], [], [7]]
    with pytest.raises(RequestError, match="separates"):
        Items("basket").read_sets(pa.array(["a;b"]))


def test_a_domain_of_sets_reads_sets_and_has_no_places():
    domain = Domain((Items("tags", separator=","),))
    assert domain.holds_sets and domain.dimensions == 0 and Domain.from_dict(domain.to_dict()) == domain
    batch = pa.RecordBatch.from_pydict({"tags": ["a,b", None, "", "c"]})
    assert domain.encode(batch).sizes.tolist() == [2, 1]
    with pytest.raises(RequestError, match=r"row 2 .* is missing"):
        Domain(domain.columns, missing="refuse").encode(batch)
    for queries in ([["a", "b"], [7]], {"tags": ["a,b", "7"]}, pa.table({"tags": [["a", "b"], ["7"]]})):
        assert domain.encode_queries(queries).distinct().sizes.tolist() == [2, 1]
    with pytest.raises(RequestError, match="row 2"):
        domain.encode_queries([["a"], []])
    for use in (domain.bounds, lambda: domain.low, lambda: domain.decode_points(np.zeros((1, 0)))):
        with pytest.raises(RequestError, match="no coordinates"):
            use()


def test_a_domain_of_sets_is_stated_so_that_who_has_a_set_is_known():
    gathered = Domain((Items("to", gathered=True),), unit=PrivacyUnit("from", 1))
    assert Domain.from_dict(gathered.to_dict()) == gathered
    for columns, facts in (
        ((Items("to", gathered=True),), {}),
        ((Items("to", gathered=True),), {"unit": PrivacyUnit("from", 2)}),
        ((Items("to"),), {"unit": PrivacyUnit("to", 1)}),
        ((Items("to"), Numeric("x", 0, 1)), {}),
        ((Items("to"),), {"scale": "box"}),
    ):
        with pytest.raises(RequestError):
            Domain(columns, **facts)
    for facts in ({"gathered": 1}, {"gathered": True, "separator": ";"}, {"separator": ""}, {"separator": 3}):
        with pytest.raises(RequestError):
            Items("to", **facts)
