"""Numbers as people write them, against Python's own conversions, and words for "missing"."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain import Domain, Numeric, Reading
from core.domain.written import each_once
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
