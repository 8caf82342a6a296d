"""Whatever a stranger wrote stays text."""

import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.formatting.escapes import csv_of, in_html, in_markdown, in_plotly, safe_cell, safe_frame

MEANING = set("\\`*[]<>~$|&")


@given(st.text())
def test_every_sign_with_a_meaning_in_markdown_is_escaped_and_no_other_text_is_lost(text):
    said = in_markdown(text)
    plain, place = [], 0
    while place < len(said):
        assert said[place] not in MEANING - {"\\"}
        place += said[place] == "\\"
        plain.append(said[place])
        place += 1
    assert "".join(plain) == " ".join(text.split())


@given(st.text("_a1 :#"))
def test_underscores_that_could_emphasise_and_colons_that_could_name_are_escaped(text):
    said = in_markdown(text)
    assert not re.search(r"(?<![\\a1])_|(?<!\\)_(?![a1])|(?<!\\):(?=\S)", said) and not said.startswith("#")


@pytest.mark.parametrize("name", ["heart_rate (beats a minute)", "Salaries: distances", "Track #3", "a_1_b"])
def test_labels_that_screen_readers_read_aloud_have_no_needless_signs(name):
    assert in_markdown(name) == name


@pytest.mark.parametrize(
    ("text", "said"), [("- x", "\\- x"), ("1. x", "1\\. x"), ("12) x", "12\\) x"), ("a 1. x - y", "a 1. x - y")]
)
def test_a_line_never_becomes_a_list(text, said):
    assert in_markdown(text) == said


def test_html_and_plotly_read_no_markup():
    assert in_html("<a href='x'>\n&") == "&lt;a href=&#x27;x&#x27;&gt; &amp;"
    assert in_plotly("<b>&") == "&lt;b&gt;&amp;"


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_formulas_get_a_quote_in_front(text):
    assert safe_cell(text) == f"'{text}"


@pytest.mark.parametrize("value", ["a=1", "", "'=1", -1, 2.5, None])
def test_everything_else_stays(value):
    assert safe_cell(value) is value


def test_a_frame():
    frame = pd.DataFrame({"=a": ["=1", "b", None], "n": [-1, 2, 3], "k": pd.Categorical(["@x", "y", "@x"])})
    safe = safe_frame(frame)
    assert list(safe.columns) == ["'=a", "n", "k"]
    assert safe["'=a"].tolist()[:2] == ["'=1", "b"] and safe["'=a"].isna()[2]
    assert safe["n"].tolist() == [-1, 2, 3] and safe["k"].tolist() == ["'@x", "y", "'@x"]
    assert csv_of(frame).decode().splitlines()[1] == "'=1,-1,'@x"
    assert frame["k"].tolist() == ["@x", "y", "@x"]
