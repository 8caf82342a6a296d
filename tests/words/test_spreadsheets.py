"""Texts that spreadsheets would take for formulas."""

import pandas as pd
import pytest

from core.words.spreadsheets import csv_of, safe_cell, safe_frame


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
