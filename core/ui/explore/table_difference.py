"""The Difference view of released tables: columns, pairs, a map, means of groups, and what goes together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from ...figures.difference_figures import (
    cell_differences_figure,
    difference_bars,
    difference_in_words,
    place_differences_figure,
    signed,
    strength_words,
)
from ...releases.comparison import Comparison
from ...tasks.differences import (
    CellDifferences,
    Row,
    Strength,
    cell_differences,
    groups_of,
    means_of_groups,
    pairs_of,
    rows_of_differences,
    strength_differences,
)
from ...tasks.table_profile import place_columns, words_for_cells
from ...words.escapes import in_html, in_markdown
from ...words.phrases import shortened
from ..frame.charts import picture_config
from ..frame.marks import draw, note
from ..frame.session import Opened
from ..released.public_answers import LEVEL, REMEMBERED
from ..released.taking_along import take_along

ONE, TWO, PLACES, MEANS, TOGETHER, ALL = (
    "One column",
    "Two columns",
    "On a map",
    "Means of groups",
    "What goes together",
    "All columns",
)
GREY = "Grey: noise alone may have made the difference."
MOST_STRENGTHS = 30
"""Pairs of columns that are shown; the table that may be taken along has all."""


def table_difference(opened: Opened, other: Opened, compared: Comparison, title: str) -> None:
    """Everything under Difference that tables have; ``title`` says what the values are."""
    pairs, groups = pairs_of(compared), groups_of(compared)
    places = place_columns(opened.release.asked(LEVEL))
    offered = {ONE: True, TWO: pairs, PLACES: places, MEANS: groups, TOGETHER: pairs, ALL: True}
    views = [view for view, possible in offered.items() if possible]
    view = st.segmented_control("Shown", views, default=ONE, required=True, key="explore-compared-view")
    identity = f"{opened.identity} {other.identity} {compared.shares}"
    if view == TWO:
        _two(opened, compared, pairs, identity, title)
    elif view == PLACES and places is not None:
        _cells_of_two(opened, _cells(identity, compared, places), title, compared.shares, on_map=True)
    elif view == MEANS:
        _groups(opened, compared, groups, identity)
    elif view == TOGETHER:
        _together(opened, compared, identity)
    elif view == ALL:
        _all(opened, compared, identity)
    else:
        _one(opened, compared, title)


def _one(opened: Opened, compared: Comparison, title: str) -> None:
    axes = {axis.name: axis for axis in opened.release.asked(LEVEL).axes}
    column = st.selectbox("Column", list(axes), format_func=in_markdown, key="explore-compared-column")
    frame = compared.table(column)
    labels = [words_for_cells(axes[column], [cell]) for cell in range(axes[column].cells)]
    estimate, low, high = (frame[name].to_numpy(dtype=np.float64) for name in ("estimate", "low", "high"))
    words = difference_in_words(estimate, low, high, compared.shares)
    figure = difference_bars(labels, estimate, low, high, title, compared.shares)
    _shown(opened, figure, words, words, frame)


def _two(opened: Opened, compared: Comparison, pairs: list[tuple[str, str]], identity: str, title: str) -> None:
    names = _pair("Columns", pairs, "explore-compared-pair")
    _cells_of_two(opened, _cells(identity, compared, names), title, compared.shares)


def _cells_of_two(opened: Opened, found: CellDifferences, title: str, shares: bool, on_map: bool = False) -> None:
    words = difference_in_words(found.estimate, found.low, found.high, shares)
    draw_cells = place_differences_figure if on_map else cell_differences_figure
    _shown(opened, draw_cells(found, title, shares), words, f"{GREY} {words}", found.frame())


def _groups(opened: Opened, compared: Comparison, groups: list[tuple[str, str]], identity: str) -> None:
    column, by = _pair("Means of", groups, "explore-compared-means", " by ")
    rows = _means(identity, compared, column, by)
    unit = f" ({rows[0].unit})" if rows[0].unit else ""
    ends = (np.array([getattr(row, end) for row in rows]) for end in ("estimate", "low", "high"))
    title = f"difference of the means of {shortened(column)}{unit}"
    figure = difference_bars([row.what for row in rows], *ends, title, False)
    told = [row.what for row in rows if row.told]
    words = f"More than noise alone may make in {len(told)} of {len(rows)} groups."
    _shown(opened, figure, words, f"{words} A group without a bar may be empty in one of the files.", _frame(rows))


def _together(opened: Opened, compared: Comparison, identity: str) -> None:
    rows = _strengths(identity, compared)
    lines = "".join(_strength_line(row) for row in rows[:MOST_STRENGTHS])
    heads = ("Columns", "This file", "The other", "Difference")
    _draw_rows(heads, lines)
    more = f" The first {MOST_STRENGTHS} of {len(rows):,} pairs." if len(rows) > MOST_STRENGTHS else ""
    note(
        f"{sum(row.told for row in rows)} of {len(rows):,} pairs differ by more than noise alone may make, and are "
        f"bold.{more} Cramér's V: 0 where two columns have nothing to do with each other, 1 where one tells the other, "
        "with what noise adds taken off. Cells that the noise of either file hides are left out of both."
    )
    take_along(opened, "difference", lambda: pd.DataFrame([vars(row) for row in rows]))


def _strength_line(row: Strength) -> str:
    name = in_html(f"{shortened(row.column)} and {shortened(row.other)}")
    before, after, less = map(in_html, strength_words(row))
    shown = f"<strong>{less}</strong>" if row.told else less
    return f'<tr><th scope="row">{name}</th><td>{before}</td><td>{after}</td><td>{shown}</td></tr>'


def _all(opened: Opened, compared: Comparison, identity: str) -> None:
    rows = _rows(identity, compared)
    _draw_rows(("Column", "Difference", "Very likely between"), "".join(_line(row, compared.shares) for row in rows))
    more = sum(row.told for row in rows)
    note(
        f"{more} of {len(rows)} are more than noise alone may make, and bold. Means are of numbers and dates, "
        f"{'shares' if compared.shares else 'numbers of records'} of categories."
    )
    take_along(opened, "difference", lambda: _frame(rows))


def _line(row: Row, shares: bool) -> str:
    as_shares = shares and not row.mean
    estimate, low, high = (in_html(signed(value, as_shares)) for value in (row.estimate, row.low, row.high))
    unit = f" {in_html(row.unit)}" if row.unit else ""
    name = f"{in_html(shortened(row.column))}: {in_html(shortened(row.what))}"
    shown = f"<strong>{estimate}{unit}</strong>" if row.told else f"{estimate}{unit}"
    return f'<tr><th scope="row">{name}</th><td>{shown}</td><td>{low} to {high}</td></tr>'


def _pair(label: str, offered: list[tuple[str, str]], key: str, joined: str = " and ") -> tuple[str, str]:
    """Let the visitor pick two columns."""
    return st.selectbox(
        label,
        offered,
        format_func=lambda pair: in_markdown(joined.join(shortened(one) for one in pair)),
        key=key,
    )


def _draw_rows(heads: Sequence[str], lines: str) -> None:
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    draw(f'<table class="fg-numbers fg-differences"><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>')


def _shown(opened: Opened, figure: go.Figure, alt: str, words: str, frame: pd.DataFrame) -> None:
    """A picture with its words, and the way to take it along."""
    st.plotly_chart(figure, key="explore-difference", alt=alt, config=picture_config(opened))
    note(words)
    take_along(opened, "difference", lambda: frame, (), figure, "Difference of two released files")


def _frame(rows: Sequence[Row]) -> pd.DataFrame:
    return pd.DataFrame([vars(row) for row in rows]).drop(columns="mean")


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def _cells(identity: str, _compared: Comparison, names: tuple[str, str]) -> CellDifferences:
    return cell_differences(_compared, names[0], names[1], LEVEL)


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def _means(identity: str, _compared: Comparison, column: str, by: str) -> list[Row]:
    return means_of_groups(_compared, column, by, LEVEL)


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def _strengths(identity: str, _compared: Comparison) -> list[Strength]:
    return strength_differences(_compared, LEVEL)


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def _rows(identity: str, _compared: Comparison) -> list[Row]:
    return rows_of_differences(_compared, LEVEL)
