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
from core.ui.data.declaration_draft import HALF_PLACE, ColumnDraft, Declaration, EntryDraft
from core.ui.data.filling_rows import fill_rows
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
NAMES = [column.name for column in SOURCE.columns]


def rows():
    """The page's rows alone; a script of its own, as AppTest runs it."""
    import streamlit as st

    from core.ui.data.column_form import column_rows
    from tests.ui.data.test_rows import SOURCE

    st.session_state["drafts"] = column_rows(SOURCE.columns, 1, None)


def app(**chosen: str) -> AppTest:
    """The rows with some columns used and read as something."""
    at = AppTest.from_function(rows, default_timeout=60)
    for name, kind in chosen.items():
        at.session_state[f"use-1-{NAMES.index(name)}"] = True
        at.session_state[f"as-1-{NAMES.index(name)}"] = kind
    return at.run()


def test_all_columns_are_used_with_one_click_and_read_as_their_names_say():
    at = app()
    at.button(key="use-all-1").click().run()
    assert not at.exception and all(at.session_state[f"use-1-{place}"] for place in range(len(NAMES)))
    read = {name: at.session_state[f"as-1-{NAMES.index(name)}"] for name in ("pay", "lat", "lon", "town")}
    assert read == {"pay": "number", "lat": "latitude", "lon": "longitude", "town": "category"}
    assert not [button for button in at.button if button.key == "use-all-1"]


def typed(at: AppTest, widgets: str, part: str, name: str, value: object) -> None:
    getattr(at, widgets)(key=f"{part}-1-{NAMES.index(name)}").set_value(value)


def declared(at: AppTest, **rules: str) -> Declaration:
    at.run()
    assert not at.exception
    return Declaration(at.session_state["drafts"], **rules)


def test_a_whole_number_has_steps_of_one():
    at = app(pay="whole number")
    typed(at, "number_input", "low", "pay", 0.0)
    typed(at, "number_input", "high", "pay", 9.0)
    assert declared(at).domain().columns == (Numeric("pay", 0, 9, "", Reading(()), 1.0),)


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
    assert len(declared(at).still_missing()) == 7
    for end, value in (("low", 0.0), ("high", 5000.0)):
        typed(at, "number_input", end, "pay", value)
    typed(at, "text_input", "missing", "pay", "n/a, -999")
    for end, value in (("first", "2020-01-01"), ("last", "2020-12-31")):
        typed(at, "text_input", end, "left", value)
    typed(at, "selectbox", "format", "left", "31.12.2024")
    for name, low, high in (("lat", 45.0, 46.0), ("lon", 4.0, 5.0)):
        typed(at, "number_input", "low", name, low)
        typed(at, "number_input", "high", name, high)
    for name, values in (("school", "low, mid, high"), ("said", "refund, broken"), ("town", "x, y")):
        typed(at, "text_area", "categories", name, values)
    assert declared(at).still_missing() == []
    domain = declared(at, missing="category").domain()
    assert domain.missing == "drop"
    assert domain.columns == (
        Numeric("pay", 0, 5000, "", Reading(("n/a", "-999")), missing_category="missing"),
        Cyclic("joined", part="weekday"),
        Dates("left", "2020-01-01", "2020-12-31", format="%d.%m.%Y", missing_category="missing"),
        Ordered("school", ("missing", "low", "mid", "high"), missing_category="missing"),
        Categorical("smokes", ("no", "yes", "missing"), (NO, YES, ()), (), "missing"),
        ChosenWords("said", ("refund", "broken", "other")),
        Categorical("town", ("x", "y", "missing"), missing_category="missing"),
        *position("lat", "lon", 45, 46, 4, 5, Reading()),
    )
    assert DeclaredTable.of(declared(at).file()).domain.names == domain.names


def test_no_value_is_ever_shown_and_free_text_has_ways_out():
    at = app(said="category")
    assert {"length of text", "chosen words"} <= set(at.selectbox(key=f"as-1-{NAMES.index('said')}").options)
    at = app(said="length of text")
    typed(at, "number_input", "longest", "said", 300)
    assert declared(at).domain().columns == (TextLength("said", 300),)
    assert "secret" not in str(at.main)


@pytest.mark.parametrize(
    ("draft", "words"),
    [
        (EntryDraft("d", {"kind": "date", "first": "", "last": ""}, {"first": "the first day"}), "the first day of d"),
        (EntryDraft("d", {"kind": "date", "first": "2021-01-01", "last": "2020-01-01"}), "must come before"),
        (EntryDraft("d", {"kind": "date", "first": "1.1.2020", "last": "2020-01-01"}), "written as 2024-12-31"),
    ],
)
def test_a_wrong_entry_is_said_in_one_sentence_before_anything_is_used(draft, words):
    (said,) = Declaration((draft,)).still_missing()
    assert words in said
    assert Declaration((draft,)).becomes_public()[0] == ("d", "not said completely yet")


def test_half_a_place_waits_for_the_other_half():
    half = EntryDraft("lat", {"kind": "latitude", "low": 45.0, "high": 46.0})
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


def test_a_codebook_fills_the_rows(monkeypatch):
    state: dict[str, object] = {}
    monkeypatch.setattr("core.ui.data.filling_rows.st.session_state", state)
    done, unfinished, lost = fill_rows(SOURCE.columns, 1, read_codebook(BOOK))
    monkeypatch.undo()
    assert sorted(done) == sorted(["age", "pay", "joined", "lat", "lon", "school", "town"])
    assert unfinished == ["said"] and lost == ["9 of town"]
    at = AppTest.from_function(rows, default_timeout=60)
    for key, value in state.items():
        at.session_state[key] = value
    domain = declared(at.run()).domain()
    assert domain.columns == (
        Numeric("age", 0, 110, "years", Reading(("-1",)), 1),
        Numeric("pay", 0, 5000, "EUR", Reading(("n/a",))),
        Dates("joined", "2015-01-01", "2024-12-31"),
        Ordered("school", ("low", "mid", "high")),
        Categorical("town", ("x town", "y town"), (("1",), ("2",)), ("9",)),
        *position("lat", "lon", 45, 46, 4, 5, Reading()),
    )
    typed(at, "number_input", "high", "age", 99.0)
    assert declared(at).domain().columns[0].high == 99, "what a codebook filled in can be changed"


def test_a_declaration_comes_back_with_all_that_rows_cannot_say(monkeypatch):
    text = """columns:
      joined: {kind: date, first: 2015-01-01, last: 2024-12-31, step: hour}
      hour: {kind: cyclic, of: joined, part: hour}
      pay: {kind: number, low: 0, high: 10, decimal: ","}
      age: {kind: number, preset: age}
      place: {kind: position, latitude: lat, longitude: lon, south: 45, north: 46, west: 4, east: 5}
    """
    state: dict[str, object] = {}
    monkeypatch.setattr("core.ui.data.filling_rows.st.session_state", state)
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
    at = AppTest.from_file(str(Path(__file__).parents[3] / "app.py"), default_timeout=60)
    at.session_state[KEY] = session = Session()
    session.pick("people", source)
    return at.run().switch_page(DATA.path).run(), session


def test_common_knowledge_fills_bounds_on_a_click():
    at, session = page(open_source(pd.DataFrame({"age": np.arange(3), "x": np.arange(3)})))
    at.checkbox(key="use-1-0").set_value(True).run()
    assert any("hardly anyone was ever older than 120" in one.value for one in at.markdown)
    at.button(key="presets-fill").click().run()
    assert not at.exception
    assert at.number_input(key="high-1-0").value == 120
    at.button(key="data-use").click().run()
    assert session.own.domain == Domain((Numeric("age", 0, 120, "years", None, 1),))


def test_a_codebook_is_pasted():
    at, session = page(SOURCE)
    at.text_area(key="codebook-text-1").set_value(BOOK)
    at.button(key="codebook-fill").click().run()
    assert not at.exception
    assert "7 columns filled in from the codebook. Missing, and no categories: 9 of town." in at.success[0].value
    at.button(key="data-use").click().run()
    assert len(session.own.domain.columns) == 7
    at, session = page(SOURCE)
    at.button(key="codebook-fill").click().run()
    assert "nothing in the codebook" in at.error[0].value


def test_a_number_of_texts_is_read_as_one():
    assert ColumnDraft("pay", low=0.0, high=1.0, written=True).column().reading == Reading()
    assert ColumnDraft("pay", low=0.0, high=1.0).column().reading is None


def test_truth_values_are_read_beside_a_group_of_those_that_miss_them(tmp_path):
    (tmp_path / "t.csv").write_text("smokes\nyes\nno\n\nTrue\n0\n")
    source = open_source(tmp_path / "t.csv")
    draft = ColumnDraft("smokes", categorical=True, categories="false, true")
    for missing, expected in (("category", ["true", "false", "missing", "true", "false"]), ("drop", None)):
        domain = Declaration((draft,), missing=missing).domain()
        points = np.concatenate([domain.encode(batch) for batch in source.batches(domain)])
        assert domain.decode_points(points)["smokes"].tolist() == (expected or ["true", "false", "true", "false"])
