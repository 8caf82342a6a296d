"""Declarations and codebooks: what owners write, what is refused in one sentence, and what programs write again."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain import (
    Categorical,
    ChosenWords,
    Coordinate,
    Cyclic,
    Dates,
    Domain,
    Items,
    Numeric,
    Ordered,
    PrivacyUnit,
    Reading,
    TextLength,
    Vector,
)
from core.domain.codebooks import read_codebook
from core.domain.column_entries import KINDS, NO, YES
from core.domain.columns import PRESETS, kind_for, preset_for
from core.domain.declarations import Declaration
from core.domain.drafts import draft_text, drafted
from core.errors import RequestError
from core.sources.public_tables import samples
from tests.tables_for_tests import LETTERS

WHOLE = """
record: person                     # what one row is, in words
unit: {column: id, at_most: 3}     # optional
scale: box
columns:
  age:      {kind: number, low: 17, high: 90, step: 1, unit: years}
  pay:      {kind: number, low: 0, high: 100000, missing: ["n/a", "-999"], decimal: ",", marks: [EUR]}
  joined:   {kind: date, first: 2015-01-01, last: 2025-12-31, step: day}
  hour:     {kind: cyclic, of: joined_at, part: hour}     # hour | weekday | month | day_of_year
  wind:     {kind: cyclic, values: [N, E, S, W]}
  place:    {kind: position, latitude: lat, longitude: lon, south: 45.7, north: 45.8, west: 4.8, east: 4.9}
  sex:      {kind: category, values: {1: Female, 2: Male}, on_missing: category}
  norway:   {kind: category, values: [no, yes, on, 010, 12:30]}
  education: {kind: ordered, values: [Preschool, 1st-4th, Doctorate], positions: [0, 4, 20]}
  agrees:   {kind: yes_no}
  said:     {kind: text_length, longest: 500}
  about:    {kind: words, values: [refund, broken], of: said}
  spectrum: {kind: vector, length: 8, low: -1, high: 1}
"""
COLUMNS = (
    Numeric("age", 17, 90, "years", Reading(), 1),
    Numeric("pay", 0, 100000, "", Reading(("n/a", "-999"), ",", ("EUR",))),
    Dates("joined", "2015-01-01", "2025-12-31"),
    Cyclic("hour", part="hour", of="joined_at"),
    Cyclic("wind", ("N", "E", "S", "W")),
    Coordinate("lat", "latitude", 45.7, 45.8, 4.8, 4.9, Reading()),
    Coordinate("lon", "longitude", 45.7, 45.8, 4.8, 4.9, Reading()),
    Categorical("sex", ("Female", "Male", "missing"), (("1",), ("2",), ()), (), "missing"),
    Categorical("norway", ("no", "yes", "on", "010", "12:30")),
    Ordered("education", ("Preschool", "1st-4th", "Doctorate"), (0, 4, 20)),
    Categorical("agrees", ("no", "yes"), (NO, YES)),
    TextLength("said", 500),
    ChosenWords("about", ("refund", "broken", "other"), of="said"),
    Vector("spectrum", 8, -1, 1),
)


def test_every_kind_of_column_is_declared():
    declared = Declaration.of(WHOLE)
    assert declared.record == "person"
    assert Declaration.of(declared.text()).record == "person"
    assert declared.domain == Domain(COLUMNS, unit=PrivacyUnit("id", 3), scale="box")


def test_what_is_declared_is_written_and_read_again():
    declared = Declaration.of(WHOLE)
    assert Declaration.of(declared.text()) == declared


@pytest.mark.parametrize("one", samples(), ids=lambda one: one.name)
def test_the_declaration_of_every_sample_is_written_and_read_again(one):
    """With its columns in their order: a map has longitude before latitude."""
    text = Declaration(one.domain).text()
    again = Declaration.of(text)
    assert again.text() == text and again.domain.names == one.domain.names


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn", "Co"]), min_size=1, max_size=8)


@given(st.lists(TEXTS, min_size=2, max_size=4, unique=True), TEXTS, st.lists(TEXTS, max_size=2, unique=True))
def test_any_text_survives_the_file(categories, name, missing):
    declared = Declaration(Domain((Categorical(name, tuple(categories), missing=tuple(missing)),)))
    assert Declaration.of(declared.text()).domain == declared.domain


def test_sets_stand_alone():
    declared = Declaration.of("unit: {column: who, at_most: 1}\ncolumns: {whom: {kind: items, gathered: true}}")
    assert declared.domain == Domain((Items("whom", True),), unit=PrivacyUnit("who", 1))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "must be a YAML mapping"),
        ("- a", "must be a YAML mapping"),
        ("columns: {a: [}", "not YAML in line 1"),
        ("colums: {}", "says 'colums', which is not known"),
        ("record: person", "needs columns"),
        ("columns: {a: {kind: numbr}}", "must say its kind: one of number"),
        ("columns: {a: {kind: number, low: 0}}", r"needs its largest value \(high\) from public knowledge"),
        ("columns: {a: {kind: number, low: 5, high: 1}}", "smallest value of 'a' must be below its largest"),
        ("columns: {a: {kind: number, low: 2020-01-01, high: 2024-12-31}}", "bounds of 'a' are dates: declare it as"),
        ("columns: {a: {kind: number, low: 31.12.2019, high: 5}}", "bounds of 'a' are dates"),
        ("columns: {a: {kind: number, low: zero, high: 5}}", "smallest value .low. of 'a' must be a number"),
        (
            "columns: {a: {kind: number, low: 0, high: 5, min: 1}}",
            "The number 'a' says 'min', which is not known there",
        ),
        ("columns: {a: {kind: number, low: 0, high: 5, on_missing: guess}}", "is category, or left to the rule"),
        ("missing: keep\ncolumns: {a: {kind: number, low: 0, high: 5}}", "must be 'drop' or 'refuse' or 'category'"),
        ("columns: {a: {kind: number, preset: agee}}", "no preset 'agee' for 'a'; there are: age"),
        ("columns: {a: {kind: date, first: 2024-01-01, last: 2020-01-01}}", "must come before"),
        ("columns: {a: {kind: date, first: 0, last: 1}}", "written as 2024-12-31"),
        ("columns: {a: {kind: date, first: 2024-01-01}}", "needs its last day"),
        ("columns: {a: {kind: cyclic}}", "needs a part of a date"),
        ("columns: {a: {kind: cyclic, part: minute}}", "'hour' or 'weekday'"),
        ("columns: {p: {kind: position, latitude: a, longitude: b, south: 1, north: 0, west: 0, east: 1}}", "south"),
        ("columns: {p: {kind: position, latitude: a}}", "needs its longitude"),
        ("columns: {a: {kind: category, values: [b, b]}}", "different from each other"),
        ("columns: {a: {kind: category, values: [b]}}", "between 2 and"),
        ("columns: {a: {kind: ordered, values: [b, c], positions: [2, 1]}}", "ascending"),
        ("columns: {a: {kind: category, values: [b, c]}, a: {kind: category, values: [b, c]}}", "'a' twice"),
        ("columns: {a: &x {kind: yes_no}, b: *x}", "alias"),
        ("unit: {column: id}\ncolumns: {a: {kind: yes_no}}", "at_most"),
        ("outside: away\ncolumns: {a: {kind: yes_no}}", "values outside the bounds .outside. must be"),
        (
            "columns: {a: {kind: number, low: few, high: 3}}",
            "smallest value .low. of 'a' must be a number, written like",
        ),
        (
            "columns: {a: {kind: category, values: [b, c, N/A], missing: [n/a]}}",
            "cannot be a value and a word for missing",
        ),
        ("columns: {a: {kind: category, values: {1: b, 2: c, -9: d}, missing: -9}}", "'-9' of the column 'a' cannot"),
    ],
)
def test_a_wrong_declaration_is_refused_in_one_sentence(text, sentence):
    with pytest.raises(RequestError, match=sentence) as refusal:
        Declaration.of(text)
    assert str(refusal.value).rstrip(".").count(". ") <= 1


@pytest.mark.thorough
@given(st.text(LETTERS, max_size=60))
def test_any_text_is_a_declaration_or_refused(text):
    try:
        Declaration.of(text)
    except RequestError:
        return


def test_a_declaration_may_be_no_file(tmp_path):
    (tmp_path / "d.yaml").write_text(WHOLE, encoding="utf-8")
    assert Declaration.load(tmp_path / "d.yaml").domain.columns == COLUMNS
    for name in ("absent.yaml", "."):
        with pytest.raises(RequestError, match="no declaration"):
            Declaration.load(tmp_path / name)


def test_presets_fill_bounds_and_say_so():
    declared = Declaration.of("columns: {a: {kind: number, preset: age, high: 99}}")
    assert declared.domain.columns == (Numeric("a", 0, 99, "years", Reading(), 1),)
    assert declared.presets == ("a: 0 to 120 years by common knowledge, as hardly anyone was ever older than 120.",)
    years = Declaration.of("columns: {jahr: {kind: number, preset: year}}")
    assert years.presets[0].startswith("jahr: 1900 to 2100 by common"), "years have no separators"
    for name, preset in PRESETS.items():
        assert Declaration.of(f"columns: {{x: {{kind: number, preset: {name}}}}}").domain.columns[0].unit == preset.unit
    assert [kind_for(name) for name in ("Age", "sex", "lng", "date_of_visit", "village")] == [
        "number",
        "category",
        "longitude",
        "date",
        None,
    ]
    assert [preset_for(name) for name in ("AGE", "HoursPerWeek", "hours-per.week", "village")] == [
        "age",
        "hours_per_week",
        "hours_per_week",
        None,
    ]


CSV = """variable,type,min,max,value labels,missing,unit,description
age,integer,0,110,,-1,years,"Age, in years"
sex,nominal,,,1=Male; 2=Female,9,,
pay,float,0,1e5,,n/a;refused,EUR,
joined,date,2015-01-01,2024-12-31,,,,
agree,ordinal,,,"1, never | 2, sometimes | 3, always",,,
score,numeric,,,0-10,,,
smoker,boolean,,,,,,
"""
FACTS = {
    "age": {"kind": "number", "low": 0.0, "high": 110.0, "step": 1.0, "unit": "years", "missing": ["-1"]},
    "sex": {"kind": "category", "values": {"1": "Male", "2": "Female"}, "missing": ["9"]},
    "pay": {"kind": "number", "low": 0.0, "high": 1e5, "unit": "EUR", "missing": ["n/a", "refused"]},
    "joined": {"kind": "date", "first": "2015-01-01", "last": "2024-12-31"},
    "agree": {"kind": "ordered", "values": {"1": "never", "2": "sometimes", "3": "always"}},
    "score": {"kind": "number", "low": 0.0, "high": 10.0},
    "smoker": {"kind": "yes_no"},
}


def test_a_codebook_declares_columns():
    assert read_codebook(CSV) == FACTS


@pytest.mark.parametrize(
    "text",
    [
        "| Name | Type | Range |\n|---|---|---|\n| age | int | 0 to 110 |\n",
        "name\ttype\tmin\tmax\nage\tint\t0\t110\n",
        "age: {type: integer, min: 0, max: 110}\n",
        "# comment\nage:\n  type: integer\n  range: 0..110\n",
        "columns:\n  age: {kind: number, low: 0, high: 110, step: 1}\n",
        '{"tableSchema": {"columns": [{"name": "age", "datatype": {"base": "integer", "minimum": 0, "maximum": 110}}]}'
        "}",
        '{"fields": [{"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 110}}]}',
    ],
)
def test_the_usual_forms_of_codebooks_say_the_same(text):
    (entry,) = drafted([("age", "number")], read_codebook(text))
    assert not entry.unknown
    assert Declaration.of(draft_text([entry])).domain.columns == (Numeric("age", 0, 110, "", Reading(), 1),)


@pytest.mark.parametrize("text", ["", "hello", "a,b\n", "a,b\n1,2\n", '{"x": 1}', "[1, 2]", "name,type\n"])
def test_what_is_no_codebook_is_refused(text):
    with pytest.raises(RequestError):
        read_codebook(text)


@given(st.text(LETTERS, max_size=80))
def test_any_text_is_a_codebook_or_refused(text):
    try:
        drafted([("a", "number")], read_codebook(text))
    except RequestError:
        return


def test_a_draft_is_whole_where_all_is_known_and_says_what_is_not():
    columns = [("age", "number"), ("Sex", "number"), ("pay", "text"), ("note", "text"), ("hours_per_week", "number")]
    columns += [("lat", "number"), ("lon", "number"), ("id", "number"), ("left", "date"), ("member", "boolean")]
    entries = drafted(columns, read_codebook(CSV))
    assert [entry.name for entry in entries if entry.unknown] == ["note", "place", "id", "left"]
    assert "common knowledge" in next(entry.because for entry in entries if entry.name == "hours_per_week")
    assert "free text keep the length" in entries[3].unknown
    declared = Declaration.of(draft_text(entries)).domain
    assert declared.names == ("age", "Sex", "pay", "hours_per_week", "member")


def test_values_of_a_codebook_that_it_says_are_missing_are_no_categories():
    """Codebooks list them beside all others; a name for the group of those who miss a value is no contradiction."""
    book = "name,type,values,missing\ntown,nominal,1=Bern; 2=Chur; -9=refused,-9\nwind,nominal,N;S;N/A,n/a\n"
    town, wind = drafted([("town", "number"), ("wind", "text")], read_codebook(book))
    assert town.missing == ("-9",) and wind.missing == ("N/A",)
    assert "no category, as it means missing: -9" in town.line and not town.unknown
    columns = Declaration.of(draft_text([town, wind])).domain.columns
    assert [column.categories for column in columns] == [("Bern", "Chur"), ("N", "S")]
    named = "columns: {a: {kind: category, values: [b, c, none], missing: [none], missing_category: none}}"
    assert Declaration.of(named).domain.columns[0].missing_category == "none"
    (kept,) = drafted([("a", "text")], read_codebook(named))
    assert not kept.missing and not kept.unknown


def test_a_hundred_columns_are_declared_at_once():
    book = "name,type,min,max\n" + "".join(f"q{place},int,1,5\n" for place in range(100))
    entries = drafted([(f"q{place}", "number") for place in range(100)], read_codebook(book))
    assert len(Declaration.of(draft_text(entries)).domain.columns) == 100


def test_the_declaration_in_the_papers_is_one():
    paper = (Path(__file__).parents[2] / "docs" / "columns.md").read_text(encoding="utf-8")
    declared = Declaration.of(paper.partition("```yaml\n")[2].partition("```")[0])
    assert len(declared.domain.columns) == 11
    assert all(f"`{kind}`" in paper for kind in KINDS)


def test_missing_values_are_a_category_of_every_column_that_can_have_one():
    text = """
missing: category
columns:
  age:  {kind: number, low: 0, high: 90, step: 1}
  pay:  {kind: number, low: 0, high: 9, on_missing: rule}
  city: {kind: category, values: [Bern, Basel], missing_category: unknown}
  sex:  {kind: yes_no}
  hour: {kind: cyclic, of: at, part: hour}
"""
    declared = Declaration.of(text)
    own = {column.name: getattr(column, "missing_category", "") for column in declared.domain.columns}
    assert own == {"age": "missing", "pay": "", "city": "unknown", "sex": "missing", "hour": ""}
    assert declared.domain.missing == "drop"
    assert Declaration.of(declared.text()) == declared
