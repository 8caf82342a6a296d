"""Numbers carry the digits that their error supports."""

import math
import re
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.formatting.numbers import (
    MINUS,
    best_guess,
    count,
    day,
    listed,
    lowered,
    minute,
    percent,
    percent_within,
    place,
    plural,
    rounded,
    rounded_all,
    rounded_range,
    shortened,
    shown,
    significant,
    size,
    taken,
    time_left,
    wait,
)

VALUES = st.floats(-1e12, 1e12)
ERRORS = st.floats(1e-9, 1e9)


def read(text: str) -> float:
    return float(text.replace(",", "").replace(MINUS, "-"))


@given(VALUES, ERRORS)
def test_rounding_moves_a_number_by_half_an_error_at_most(value, error):
    assert abs(read(rounded(value, error)) - value) <= 0.5 * error + 1e-9 * abs(value)


@given(VALUES, ERRORS)
def test_no_digit_below_the_error_is_shown(value, error):
    text = rounded(value, error)
    decimals = len(text.partition(".")[2])
    assert decimals == (0 if value.is_integer() else max(0, -place(error)))
    if place(error) > 0 and read(text):
        assert text.replace(",", "").endswith("0" * place(error))


@given(VALUES, st.floats(0, 1e9), ERRORS)
def test_a_rounded_interval_still_holds_the_interval(low, width, error):
    ends = [read(text) for text in rounded_range(low, low + width, error)]
    slack = 1e-9 * abs(low)
    assert ends[0] <= low + slack and ends[1] >= low + width - slack
    assert ends[0] >= low - error - slack and ends[1] <= low + width + error + slack


@given(st.integers(-12, 12))
def test_powers_of_ten_are_their_own_place(k):
    assert place(10.0**k) == k and place(10.0**k * 9.99) == k


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (6483, 95, "6,480"),
        (6483, 140, "6,500"),
        (0.0123, 0.004, "0.012"),
        (-3.2, 10, "0"),
        (-3.24, 0.1, MINUS + "3.2"),
        (1_234_567.891, 0, "1,234,567.891"),
        (5, 0, "5"),
        (3, 1000, "0"),
        (math.inf, 2, "∞"),
        (-math.inf, 2, MINUS + "∞"),
        (5, math.inf, "unknown"),
        (math.nan, 1, "unknown"),
        (0.1 + 0.2, 0, "0.3"),
    ],
)
def test_known_answers(value, error, text):
    assert rounded(value, error) == text


def test_every_number_has_its_own_error():
    assert rounded_all(np.array([6483.0, 6483.0]), np.array([95.0, 140.0])) == ["6,480", "6,500"]


@pytest.mark.parametrize("error", [0, -1, math.inf, math.nan])
def test_only_a_finite_error_has_a_place(error):
    with pytest.raises(ValueError, match="finite"):
        place(error)


def test_a_number_whose_error_nobody_knows_is_told_by_its_size():
    assert [best_guess(value, math.inf) for value in (6483.0, -0.01234, 0.0)] == ["6,500", MINUS + "0.012", "0"]
    assert best_guess(6483, 95) == rounded(6483, 95) and best_guess(math.nan, math.inf) == "unknown"
    assert best_guess(math.inf, math.inf) == "∞"


@pytest.mark.parametrize(
    ("share", "digits", "text"),
    [
        (0.0, 2, "0%"),
        (1.0, 2, "100%"),
        (0.5, 3, "50%"),
        (0.731, 3, "73.1%"),
        (0.0312, 2, "3.1%"),
        (1.4, 2, "140%"),
        (9.99, 2, "1,000%"),
        (25.2, 2, "25 times"),
        (6.135e9, 2, "6,100,000,000 times"),
        (0.00033, 2, "0.033%"),
        (1e-9, 2, "less than 0.001%"),
        (0.996, 2, "more than 99%"),
        (0.99999, 3, "more than 99.9%"),
        (0.9994, 3, "99.9%"),
        (math.nan, 2, "unknown"),
    ],
)
def test_a_share_never_rounds_to_certainty_and_never_has_more_digits_than_asked(share, digits, text):
    assert percent(share, digits) == text


def test_a_share_with_an_error_has_three_digits_at_most():
    assert percent_within(0.4538217, 1e-7) == "45.4%" and percent_within(0.4538217, 0.02) == "45%"
    assert percent_within(0.0, 0.0) == "0%" and percent_within(0.000123456, 1e-9) == "0.0123%"


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (6.1352e9, 4, "6,135,000,000"),
        (6.1352e9, 12, "6,135,200,000"),
        (0.00001, 12, "0.00001"),
        (-2024.7, 3, MINUS + "2,020"),
        (0, 3, "0"),
        (3e-12, 2, "3 × 10⁻¹²"),
        (1.25e20, 3, "1.25 × 10²⁰"),
        (-math.inf, 3, MINUS + "∞"),
        (math.nan, 3, "unknown"),
    ],
)
def test_significant_digits_are_written_without_an_exponent_of_a_computer(value, digits, text):
    assert significant(value, digits) == text


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(2, 12))
def test_no_number_is_written_with_an_e(value, digits):
    assert "e" not in significant(value, digits) and "E" not in significant(value, digits)


def test_no_text_about_a_figure_or_a_page_is_formatted_as_computers_do():
    """Python's `g` writes 4e+02 for 400; what is a number again is none that is read."""
    folders = (Path(__file__).parents[2] / "core" / name for name in ("figures", "ui"))
    lines = (line for folder in folders for path in folder.rglob("*.py") for line in path.read_text().splitlines())
    assert [line for line in lines if re.search(r":,?\.\d[ge]\}", line) and "float(f" not in line] == []


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "a few seconds left"),
        (9, "about 10 seconds left"),
        (62, "about 60 seconds left"),
        (100, "about 2 minutes left"),
        (1800, "about 30 minutes left"),
        (5500, "about 2 hours left"),
        (9500, "about 3 hours left"),
        (86_400, "about 24 hours left"),
    ],
)
def test_time_left_is_no_more_precise_than_anyone_can_know(seconds, said):
    assert time_left(seconds) == said


def test_a_wait_is_said_in_its_unit():
    assert [wait(seconds) for seconds in (0.3, 20, 600)] == ["a second", "about 20 seconds", "about 10 minutes"]


def test_what_was_taken_has_two_digits():
    assert [taken(seconds) for seconds in (3.14, 0.0213, 4.4e-5, 2e-9)] == ["3.1 s", "21 ms", "44 µs", "2 ns"]


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (12, "12 bytes"),
        (999, "1 KB"),
        (1200, "1.2 KB"),
        (999_999, "1 MB"),
        (54_800_000, "55 MB"),
        (2_000_000_000, "2 GB"),
        (3e12, "3 TB"),
        (6.1e15, "6,100 TB"),
    ],
)
def test_sizes_have_two_digits_and_never_a_thousand_of_a_unit(count, said):
    assert size(count) == said


def test_lists_end_with_and():
    assert listed(["a"]) == "a" and listed(list("abcdefg")) == "a, b, c, d, e, f and g"
    assert listed(list("abcdefgh")) == "a, b, c, d, e, f and 2 more"


def test_a_strangers_name_is_short_and_visible():
    assert shown("y" * 100).endswith("…") and len(shown("y" * 100)) == 80
    assert shown("a\u202eb\n c") == "a\N{REPLACEMENT CHARACTER}b c"
    assert shortened("x" * 25) == "x" * 23 + "…" and shortened("x" * 24) == "x" * 24


def test_one_is_no_plural():
    assert [count(number, "row") for number in (0, 1, 1234)] == ["0 rows", "1 row", "1,234 rows"]
    assert plural(1, "is", "are") == "is" and plural(3, "is", "are") == "are"
    assert lowered("What") == "what" and lowered("") == ""


def test_days_are_written_as_people_do():
    assert day("2026-11-02T09:05:00+00:00") == day(datetime(2026, 11, 2)) == "2 November 2026"
    assert minute("2026-11-02T09:05:00+00:00") == "2 November 2026, 09:05 UTC"


def test_a_count_whose_noise_is_next_to_nothing_has_no_parts_of_a_record():
    """At ε = 20 a release said that it has about 2,000.0000 records."""
    assert rounded(2_000.0, 6e-5) == "2,000" and rounded(2_000.5, 0.06) == "2,000.50" and rounded(0.0, 0.5) == "0"
