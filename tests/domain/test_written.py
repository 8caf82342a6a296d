"""Numbers as people write them, against Python's own conversions, and words for "missing"."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain import Categorical, Domain, Numeric, Reading
from core.domain.item_sets import Sets, item_keys, keys_of_values
from core.domain.written import SHARED_FROM, each_once, whole_numbers
from core.errors import RequestError

PLAIN = Reading(("n/a", "-999"))


def read(texts, reading=PLAIN, unit=""):
    return reading.beside(unit).numbers("x", pa.array(texts)).tolist()


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1,024", 1024.0),
        ("12%", 12.0),
        ("€ 3.50", 3.5),
        ("$-4", -4.0),
        ("-$4", -4.0),
        ("(80)", -80.0),
        ("\N{MINUS SIGN}3", -3.0),
        (" 5 ", 5.0),
        ("1 024 000", 1024000.0),
        ("1\N{NARROW NO-BREAK SPACE}024", 1024.0),
        ("1'000.5", 1000.5),
        ("12,34,567", 1234567.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("1.5e3", 1500.0),
        ("+7", 7.0),
        ("70 kg", 70.0),
        ("70KG", 70.0),
    ],
)
def test_a_number_with_what_stands_beside_it_is_the_number(text, number):
    assert read([text], unit="kg") == [number]


@pytest.mark.parametrize(
    "text", ["1,5", "1,02", "70 lb", "--3", "(3", "3)", "1.2.3", "abc", "nan", "inf", "", " ", "n/a", " N/A", "1-2"]
)
def test_what_is_no_number_is_missing(text):
    assert np.isnan(read([text], unit="kg")).all()


def test_a_number_that_means_missing_does_so_as_text_and_as_number():
    assert np.isnan(read(["-999", "-999.0", "-9.99e2"])).all()
    assert read([-998, -1000]) == [-998.0, -1000.0]
    assert np.isnan(read([-999, -999.0])).all()


def test_decimal_commas_are_read_where_they_are_declared():
    assert read(["1.024,5", "3,5", "1 000,25"], Reading(decimal=",")) == [1024.5, 3.5, 1000.25]
    assert np.isnan(read(["1.5", "3,5.0"], Reading(decimal=","))).all()


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**15), 10**15)))
def test_numbers_that_a_program_wrote_are_read_to_the_last_bit(numbers):
    assert read([repr(number) for number in numbers]) == [float(number) for number in numbers]


@given(st.lists(st.integers(-(10**12), 10**12), min_size=1), st.sampled_from([",", " ", "'", "\N{NO-BREAK SPACE}"]))
def test_thousands_are_read_with_any_separator(numbers, mark):
    assert read([f"{number:,}".replace(",", mark) for number in numbers]) == [float(number) for number in numbers]


@given(st.lists(st.sampled_from(["1,024", "7", "n/a", None, "x", "-999"]), min_size=1), st.data())
def test_how_a_value_is_read_depends_on_it_alone(texts, data):
    """No neighbour in a batch, no chunk and no dictionary changes what one record becomes."""
    together = read(texts)
    place = data.draw(st.integers(0, len(texts) - 1))
    np.testing.assert_equal(read(pa.array([texts[place]], pa.string())), [together[place]])
    np.testing.assert_equal(read(pa.array(texts, pa.string()).dictionary_encode()), together)


def test_a_domain_leaves_out_what_cannot_be_read_or_says_the_row():
    batch = pa.record_batch({"pay": ["1,000", "secret", "2,000", "9,999,999"]})
    column = Numeric("pay", 0, 5000, "EUR", PLAIN)
    assert Domain((column,)).encode(batch).ravel().tolist() == [1000.0, 2000.0, 5000.0]
    with pytest.raises(RequestError, match="'pay' in row 2 of its batch is missing") as refusal:
        Domain((column,), missing="refuse").encode(batch)
    assert "secret" not in str(refusal.value)


def test_dates_are_no_numbers_however_they_are_written():
    with pytest.raises(RequestError, match="dates or times where numbers are expected"):
        PLAIN.numbers("x", pa.array([0], pa.date32()))


def test_a_step_rounds_what_is_drawn_and_moves_no_record():
    domain = Domain((Numeric("age", 17, 90, step=1.0),))
    assert domain.encode(pa.record_batch({"age": [17.4]})).tolist() == [[17.4]]
    assert domain.decode_points(np.array([[17.4], [89.6], [95.0]]), inside=True)["age"].tolist() == [17.0, 90.0, 90.0]


def test_a_reading_and_a_step_are_refused_where_they_say_nothing():
    for wrong in ({"missing": "n/a"}, {"decimal": ";"}, {"missing": tuple("a" * n for n in range(1, 102))}):
        with pytest.raises(RequestError):
            Reading(**wrong)
    with pytest.raises(RequestError, match="The step of 'x'"):
        Numeric("x", 0, 1, step=2.0)


@given(st.lists(st.from_regex(r"-?[0-9]{1,17}([.,][0-9]{0,17})?", fullmatch=True)), st.sampled_from(".,"))
def test_the_quick_way_and_the_thorough_one_agree_to_the_last_bit(texts, decimal):
    reading = Reading(("-9",), decimal)
    thorough = each_once(pa.array(texts, pa.large_string()), reading._of_texts)
    np.testing.assert_array_equal(reading.numbers("x", pa.array(texts, pa.string())), thorough)


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
OTHERS = [pa.array(["01"]), pa.array(["1.0"]), pa.array(["+1"]), pa.array([10.0])]
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


def test_a_category_is_known_in_any_case_and_with_blanks_unless_two_would_be_one():
    texts = pa.array(["Fair", " fair ", "FAIR", "good", "gud"])
    assert Categorical("cut", ("fair", "Good")).codes(texts).tolist() == [0, 0, 0, 1, -1]
    assert Categorical("cut", ("fair", "Fair", "Good")).codes(texts).tolist() == [1, -1, -1, -1, -1]
    assert Categorical("c", ("0", "1")).codes(pa.array([" 1"])).tolist() == [1]
    assert item_keys(pa.array([" 1"]), "It")[0].tolist() != [1]


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
