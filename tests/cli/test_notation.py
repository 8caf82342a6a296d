"""What is typed is read back exactly, and what cannot be read gets one sentence."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.cli import notation
from core.errors import RequestError

LETTERS = st.characters(exclude_characters="=\r\n\0", exclude_categories=("Cs",))
NAMES = st.text(LETTERS, min_size=1, max_size=8).filter(lambda name: name == name.strip())
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


def listed(parts: list[str]) -> str:
    line = io.StringIO()
    csv.writer(line, quoting=csv.QUOTE_ALL).writerow(parts)
    return line.getvalue().removesuffix("\r\n")


@given(st.lists(NAMES, min_size=1, max_size=5, unique=True))
def test_names_are_read_back(names):
    assert notation.parse_names(listed(names)) == tuple(names)


@given(NAMES, NUMBERS, NUMBERS)
def test_bounds_are_read_back_to_the_last_digit(name, low, high):
    assert notation.parse_bounds(f"{name}={low!r}:{high!r}") == (name, low, high)
    assert notation.parse_bounds(f"{low!r}:{high!r}") == (None, low, high)


@given(st.text(LETTERS | st.just("="), min_size=1, max_size=8))
def test_a_name_with_an_equals_sign_can_have_bounds(name):
    assert notation.parse_bounds(f"{name}=0:1") == (name, 0.0, 1.0)


@given(NAMES, st.lists(NAMES, min_size=1, max_size=5, unique=True))
def test_categories_are_read_back(name, categories):
    assert notation.parse_categories(f"{name}={listed(categories)}") == (name, tuple(categories))


@given(st.permutations(["R", "G", "B"]), st.lists(NUMBERS, min_size=3, max_size=3))
def test_bandwidths_are_put_in_the_order_of_the_columns(columns, widths):
    text = ",".join(f"{name}={width!r}" for name, width in zip("RGB", widths, strict=True))
    by_column = dict(zip("RGB", widths, strict=True))
    assert notation.parse_bandwidth(text, columns) == tuple(by_column[name] for name in columns)


@given(NUMBERS)
def test_one_bandwidth_holds_for_all_columns(width):
    assert notation.parse_bandwidth(repr(width), ["R", "G"]) == width


@given(NAMES, st.integers(1, 10**6))
def test_units_and_lengths_are_read_back(column, number):
    assert notation.parse_unit(f"{column}:{number}") == (column, number)
    assert notation.parse_length(f"{column}={number}") == (column, number)


@given(st.integers(0, 2**128 - 1))
def test_seeds_are_read_in_every_spelling(seed):
    assert notation.parse_seed(f"{seed:032x}") == seed
    assert notation.parse_seed(hex(seed)) == seed
    if len(str(seed)) != 32:  # which would be the hexadecimal spelling of another
        assert notation.parse_seed(str(seed)) == seed


@given(st.dictionaries(NAMES, st.text(st.characters(exclude_categories=("Cs",)), max_size=8), max_size=4))
def test_places_are_read_back(places):
    assert notation.parse_places([f"{name}={value}" for name, value in places.items()]) == places


@pytest.mark.parametrize("ends", ["2024-01-01:2024-12-31", "1/1/24:31/12/24", "1.1.2024:31.12.2024"])
def test_bounds_that_are_dates_lead_to_the_format_of_their_column(ends):
    with pytest.raises(RequestError, match="--format day=year_first"):
        notation.parse_bounds(f"day={ends}")


@pytest.mark.parametrize(
    ("parse", "texts"),
    [
        (notation.parse_names, ["", ",", "R,,B", "R,R", '"R', 'R,"B"x']),
        (notation.parse_bounds, ["", "R", "R=", "R=5", "=0:1", "R=0:nan", "R=-inf:1", "R=a:b", "R=0:1:2", "R=0,5:1"]),
        (notation.parse_categories, ["", "city", "city=", "=a,b", "city=a,a", "city=a,,b"]),
        (notation.parse_length, ["", "v", "v=", "v=-1", "v=1.5", "=3"]),
        (notation.parse_unit, ["", "id", "id:", "id:x", ":3", "id:-1", "id:1.5"]),
        (notation.parse_seed, ["", "-1", "1.5", "0x", "xyz", "0x" + "f" * 33]),
        (
            lambda text: notation.parse_bandwidth(text, ["R", "G"]),
            ["", "x", "inf", "R=1", "R=1,G=2,B=3", "R=1,R=2", "R=1,G"],
        ),
        (lambda text: notation.parse_places([text]), ["", "G", "=3"]),
        (lambda text: notation.parse_places([text, text]), ["G=3"]),
    ],
)
def test_what_cannot_be_read_gets_one_sentence(parse, texts):
    for text in texts:
        with pytest.raises(RequestError) as refusal:
            parse(text)
        assert "\n" not in str(refusal.value)


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=30))
def test_no_text_makes_the_notation_fail_in_any_other_way(text):
    for parse in (
        notation.parse_names,
        notation.parse_bounds,
        notation.parse_categories,
        notation.parse_length,
        notation.parse_unit,
        notation.parse_seed,
        lambda given: notation.parse_bandwidth(given, ["R", "G"]),
        lambda given: notation.parse_places([given]),
    ):
        try:
            parse(text)
        except RequestError:
            pass
