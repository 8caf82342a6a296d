"""Rows of the Data page: what columns are read as, and rows that a codebook or common knowledge fills."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core.domain import Categorical, ChosenWords, Cyclic, Dates, Domain, Numeric, Ordered, Reading, TextLength
from core.domain.codebooks import read_codebook
from core.domain.column_entries import NO, YES
from core.domain.declarations import Declaration as DeclaredTable
from core.domain.round_columns import position
from core.sources import Source, open_source
from core.ui.declaration_draft import HALF_PLACE, ColumnDraft, Declaration
from core.ui.filling_rows import fill_rows, presets_of
from core.ui.frame.navigation import DATA
from core.ui.frame.session import KEY, Session

SOURCE = open_source(
    pd.DataFrame(
        {
            "age": [1, 2],
            "pay": ["1,024", "n/a"],
            "joined": pd.to_datetime(["2020-01-01", "2021-01-01"]),
            "left": ["31.12.2020", ""],
            "lat": [45.7, 45.8],
            "lon": [4.8, 4.9],
            "school": ["low", "high"],
            "smokes": ["yes", "no"],
            "said": ["a secret", "b"],
            "town": ["x", "y"],
        }
    )
)
DAY_FIRST = "31.12.2024, 31/12/24 or 31 Dec 2024"
POINT = {"format": "decimal_point"}
NAMES = [column.name for column in SOURCE.columns]


def rows():
    """The page's table alone; a script of its own, as AppTest runs it."""
    import streamlit as st

    from core.ui.column_form import column_table, used_columns
    from tests.ui.test_rows import SOURCE

    drafts = used_columns(SOURCE.columns, 1, None)
    column_table(SOURCE.columns, 1, drafts, None)
    st.session_state["drafts"] = tuple(drafts.values())


def app(**chosen: str) -> AppTest:
    """The table with some columns unfolded and read as something, and all others left out."""
    at = AppTest.from_function(rows, default_timeout=60)
    for place, name in enumerate(NAMES):
        at.session_state[f"as-1-{place}"] = chosen.get(name, "left out")
        at.session_state[f"line-1-{place}"] = name in chosen
    return at.run()


def test_all_columns_are_used_and_what_no_type_says_is_to_be_found_out():
    at = AppTest.from_function(rows, default_timeout=60).run()
    assert not at.exception and not [*at.selectbox, *at.text_input, *at.number_input], "no wall of empty fields"
    read = {name: at.session_state[f"as-1-{NAMES.index(name)}"] for name in ("pay", "lat", "joined", "town")}
    assert read == {"pay": "to be found out", "lat": "number", "joined": "date", "town": "to be found out"}
    declared = Declaration(at.session_state["drafts"])
    assert declared.still_missing() == [] and len(declared.to_find) == len(NAMES)


def typed(at: AppTest, widgets: str, part: str, name: str, value: object) -> None:
    getattr(at, widgets)(key=f"{part}-1-{NAMES.index(name)}").set_value(value)


def declared(at: AppTest, **rules: str) -> Declaration:
    at.run()
    assert not at.exception, at.exception[0].message
    return Declaration(at.session_state["drafts"], **{"missing": "drop"} | rules)


def test_a_whole_number_has_steps_of_one():
    at = app(pay="whole number")
    typed(at, "number_input", "low", "pay", 0.0)
    typed(at, "number_input", "high", "pay", 9.0)
    assert declared(at).domain().columns == (Numeric("pay", 0, 9, "", Reading(**POINT), 1.0),)


@pytest.mark.thorough
def test_degrees_with_a_comma_are_read_as_places():
    """A latitude such as "53,46762" could be declared nowhere: no way to write it was offered, and it was refused."""
    texts = open_source(pd.DataFrame({"lat": ["45,7", "45,8"], "lon": ["4,8", "4,9"]}))
    at, session = page(texts)
    for place, (axis, low, high) in enumerate((("latitude", 45.0, 46.0), ("longitude", 4.0, 5.0))):
        for part, value in (("as", axis), ("low", low), ("high", high), ("line", True)):
            at.session_state[f"{part}-1-{place}"] = value
    at.run()
    for name in ("lat", "lon"):
        written = next(one for one in at.selectbox if one.label == f"How numbers of {name} are written")
        written.set_value(next(one for one in written.options if one.startswith("1200,5"))).run()
    at.button(key="data-use").click().run()
    assert not at.exception and not at.error
    (batch,) = session.own.source.batches(session.own.domain)
    points = session.own.domain.encode(batch)
    assert points.shape == (2, 2) and np.isfinite(points).all()


@pytest.mark.thorough
def test_what_a_column_is_read_as_is_the_owners_choice():
    at = app(
        pay="number",
        joined="weekday",
        left="date",
        lat="latitude",
        lon="longitude",
        school="ordered",
        smokes="yes or no",
        said="chosen words",
        town="category",
    )
    assert HALF_PLACE not in declared(at).still_missing()
    assert len(declared(at).still_missing()) == 4 and len(declared(at).to_find) == 3
    for end, value in (("low", 0.0), ("high", 5000.0)):
        typed(at, "number_input", end, "pay", value)
    typed(at, "text_input", "missing", "pay", "n/a, -999")
    for end, value in (("first", "2020-01-01"), ("last", "2020-12-31")):
        typed(at, "text_input", end, "left", value)
    typed(at, "selectbox", "format", "left", DAY_FIRST)
    for name, low, high in (("lat", 45.0, 46.0), ("lon", 4.0, 5.0)):
        typed(at, "number_input", "low", name, low)
        typed(at, "number_input", "high", name, high)
    for name, values in (("school", "low, mid, high"), ("said", "refund, broken"), ("town", "x, y")):
        typed(at, "text_area", "categories", name, values)
    assert declared(at).still_missing() == []
    domain = declared(at, missing="category").domain()
    assert domain.missing == "drop"
    assert domain.columns == (
        Numeric("pay", 0, 5000, "", Reading(("n/a", "-999"), **POINT), missing_category="missing"),
        Cyclic("joined", part="weekday"),
        Dates("left", "2020-01-01", "2020-12-31", format="day_first", missing_category="missing"),
        Ordered("school", ("missing", "low", "mid", "high"), missing_category="missing"),
        Categorical("smokes", ("no", "yes", "missing"), (NO, YES, ()), (), "missing"),
        ChosenWords("said", ("refund", "broken", "other")),
        Categorical("town", ("x", "y", "other", "missing"), missing_category="missing", unknown_category="other"),
        *position("lat", "lon", 45, 46, 4, 5, Reading()),
    )
    assert DeclaredTable.of(declared(at).file(())).domain.names == domain.names


def test_no_value_is_ever_shown_and_free_text_has_ways_out():
    at = app(said="category")
    assert {"length of text", "chosen words"} <= set(at.selectbox(key=f"as-1-{NAMES.index('said')}").options)
    at = app(said="length of text")
    typed(at, "number_input", "longest", "said", 300)
    assert declared(at).domain().columns == (TextLength("said", 300),)
    assert "secret" not in str(at.main)


def test_a_wrong_day_is_said_before_anything_is_used():
    at = app(left="date")
    typed(at, "text_input", "first", "left", "one day")
    (said,) = declared(at).still_missing()
    assert said == "the first day of left as a day, such as 2015-01-01"
    typed(at, "text_input", "first", "left", "2021-01-01")
    typed(at, "text_input", "last", "left", "2020-01-01")
    (said,) = declared(at).still_missing()
    assert "must come before" in said


def test_bounds_of_a_column_of_days_are_typed_as_its_days_are_written():
    at = app(left="date")
    typed(at, "selectbox", "format", "left", DAY_FIRST)
    at.run()
    assert at.text_input(key=f"last-1-{NAMES.index('left')}").placeholder == "such as 31/12/2024"
    typed(at, "text_input", "first", "left", "2/1/2020")
    typed(at, "text_input", "last", "left", "31/12/2020")
    assert declared(at).domain().columns == (Dates("left", "2020-01-02", "2020-12-31", format="day_first"),)


def test_the_list_of_date_formats_shows_whole_examples():
    at = app(left="date")
    options = at.selectbox(key=f"format-1-{NAMES.index('left')}").options
    assert {DAY_FIRST, "12/31/2024 or Dec 31, 2024", "2024-12-31 or 2024/12/31 08:30"} <= set(options)


def test_numbers_with_a_decimal_comma_can_be_said():
    at = app(pay="number")
    typed(at, "selectbox", "numbers", "pay", "1200,5, 1.200,50 or 12 EUR")
    for end, value in (("low", 0.0), ("high", 9.0)):
        typed(at, "number_input", end, "pay", value)
    assert declared(at).domain().columns == (Numeric("pay", 0, 9, "", Reading(format="decimal_comma")),)


def test_a_column_that_is_folded_up_keeps_what_was_said():
    at = app(pay="number")
    typed(at, "number_input", "high", "pay", 9.0)
    at.run()
    at.session_state[f"line-1-{NAMES.index('pay')}"] = False
    at.run()
    assert not at.number_input and at.run() and declared(at).columns[0].entry["high"] == 9.0


def test_half_a_place_waits_for_the_other_half():
    half = ColumnDraft("lat", {"kind": "latitude", "low": 45.0, "high": 46.0})
    assert Declaration((half,)).still_missing() == [HALF_PLACE]


BOOK = """name,type,min,max,values,missing,unit
age,integer,0,110,,-1,years
pay,money,0,5000,,n/a,EUR
joined,date,2015-01-01,2024-12-31,,,
lat,number,45,46,,,
lon,number,4,5,,,
school,ordinal,,,low; mid; high,,
town,nominal,,,1=x town; 2=y town; 9=refused,9,
said,text,,,,,
elsewhere,integer,0,1,,,
"""


@pytest.mark.thorough
def test_a_codebook_fills_the_rows(monkeypatch):
    state: dict[str, object] = {}
    monkeypatch.setattr("core.ui.filling_rows.st.session_state", state)
    done, unfinished, lost = fill_rows(SOURCE.columns, 1, read_codebook(BOOK))
    monkeypatch.undo()
    assert sorted(done) == sorted(["age", "pay", "joined", "lat", "lon", "school", "town"])
    assert unfinished == ["said"] and lost == ["9 of town"]
    assert {state[f"as-1-{NAMES.index(name)}"] for name in ("left", "smokes")} == {"left out"}, "it does not name them"
    state |= {f"as-1-{NAMES.index('said')}": "left out", f"line-1-{NAMES.index('age')}": True}
    at = AppTest.from_function(rows, default_timeout=60)
    for key, value in state.items():
        at.session_state[key] = value
    domain = declared(at.run()).domain()
    assert domain.columns == (
        Numeric("age", 0, 110, "years", Reading(("-1",)), 1),
        Numeric("pay", 0, 5000, "EUR", Reading(("n/a",), **POINT)),
        Dates("joined", "2015-01-01", "2024-12-31"),
        Ordered("school", ("low", "mid", "high")),
        Categorical("town", ("x town", "y town"), (("1",), ("2",)), ("9",)),
        *position("lat", "lon", 45, 46, 4, 5, Reading()),
    )
    typed(at, "number_input", "high", "age", 99.0)
    assert declared(at).domain().columns[0].high == 99, "what a codebook filled in can be changed"


@pytest.mark.thorough
def test_a_declaration_comes_back_with_all_that_rows_cannot_say(monkeypatch):
    text = """columns:
      joined: {kind: date, first: 2015-01-01, last: 2024-12-31, step: hour}
      hour: {kind: cyclic, of: joined, part: hour}
      pay: {kind: number, low: 0, high: 10, format: decimal_comma}
      age: {kind: number, preset: age}
      place: {kind: position, latitude: lat, longitude: lon, south: 45, north: 46, west: 4, east: 5}
    """
    state: dict[str, object] = {}
    monkeypatch.setattr("core.ui.filling_rows.st.session_state", state)
    fill_rows(SOURCE.columns, 1, read_codebook(text))
    monkeypatch.undo()
    at = AppTest.from_function(rows, default_timeout=60)
    for key, value in state.items():
        at.session_state[key] = value
    domain = declared(at.run()).domain()
    assert set(domain.columns) == {
        Numeric("age", 0, 120, "years", None, 1),
        *DeclaredTable.of(text).domain.columns[:3],
        *position("lat", "lon", 45, 46, 4, 5, Reading()),
    }


def page(source: Source) -> tuple[AppTest, Session]:
    """The Data page with records that were picked."""
    at = AppTest.from_file(str(Path(__file__).parents[2] / "app.py"), default_timeout=60)
    at.session_state[KEY] = session = Session()
    session.pick("people", source)
    return at.run().switch_page(DATA.path).run(), session


def test_common_knowledge_fills_no_texts_that_are_written_in_two_ways():
    names = ["Heure", "pay", "age", "weight_kg", "year", "x"]
    assert presets_of(names, ()) == {"Heure": "hour_of_day", "pay": "pay", "age": "age", "weight_kg": "weight_kg"}
    assert presets_of(names, names) == {"age": "age"}  # "18:52" and "2345,50" are found out with how they are written


@pytest.mark.deep
def test_common_knowledge_fills_bounds_on_a_click():
    at, session = page(open_source(pd.DataFrame({"age": np.arange(3), "x": np.arange(3)})))
    at.session_state["as-1-1"] = "left out"
    at.run()
    assert any("hardly anyone was ever older than 120" in one.value for one in at.markdown)
    at.button(key="presets-fill").click().run()
    assert not at.exception
    at.button(key="data-use").click().run()
    assert session.own.domain == Domain((Numeric("age", 0, 120, "years", Reading(), 1, "missing"),))


@pytest.mark.deep
def test_a_codebook_is_pasted():
    at, session = page(SOURCE)
    at.session_state["codebook-1"] = True
    at.run()
    at.text_area(key="codebook-text-1").set_value(BOOK)
    at.button(key="codebook-fill").click().run()
    assert not at.exception
    assert "7 columns filled in from the codebook. Missing, and no categories: 9 of town." in at.success[0].value
    assert "Not said in it: said. 2 columns that it does not name are left out." in at.success[0].value
    at.session_state[f"as-1-{NAMES.index('said')}"] = "left out"
    at.run()
    at.button(key="data-use").click().run()
    assert len(session.own.domain.columns) == 7
    at, session = page(SOURCE)
    at.session_state["codebook-1"] = True
    at.run().button(key="codebook-fill").click().run()
    assert "nothing in the codebook" in at.error[0].value


def test_a_number_of_texts_is_read_as_one():
    entry = {"kind": "number", "low": 0.0, "high": 1.0}
    assert ColumnDraft("pay", entry).columns()[0].reading == Reading()
    assert ColumnDraft("pay", entry, written=False).columns()[0].reading is None


@pytest.mark.parametrize(("missing", "group"), [("category", ["missing"]), ("drop", [])])
def test_truth_values_are_read_beside_a_group_of_those_that_miss_them(tmp_path, missing, group):
    (tmp_path / "t.csv").write_text("smokes\nyes\nno\n\nTrue\n0\n")
    source = open_source(tmp_path / "t.csv")
    domain = Declaration((ColumnDraft("smokes", {"kind": "yes_no"}),), missing=missing).domain()
    points = np.concatenate([domain.encode(batch) for batch in source.batches(domain)])
    assert domain.decode_points(points)["smokes"].tolist() == ["yes", "no", *group, "yes", "no"]
