"""The Difference view: what the file that is open and another one differ by, with the noise of both in every band."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from ...analysis.density import Curve, Heatmap
from ...analysis.differences import (
    CellDifferences,
    Row,
    Strength,
    cell_differences,
    grid_of_differences,
    groups_of,
    line_of_differences,
    means_of_groups,
    pairs_of,
    rows_of_differences,
    strength_differences,
)
from ...analysis.table_profile import place_columns, words_for_cells
from ...errors import RequestError
from ...figures.difference_figures import (
    cell_differences_figure,
    difference_bars,
    difference_figure,
    difference_in_words,
    place_differences_figure,
    signed,
    strength_words,
)
from ...formatting.escapes import in_html, in_markdown
from ...formatting.numbers import shortened
from ...releases.comparison import Comparison
from ...releases.release import Release
from ..frame.marks import choose_one, draw, note, picture_config, refusals, show
from ..frame.session import Opened, Session
from ..released.chosen_view import choices, choose_columns, drawable, of_same_population, part_of, question_of
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
MOST_STRENGTHS = 30  # Pairs of columns that are shown; the table that may be taken along has all.


def table_difference(opened: Opened, other: Opened, compared: Comparison, title: str) -> None:
    """Everything under Difference that tables have; ``title`` says what the values are."""
    pairs, groups = pairs_of(compared), groups_of(compared)
    places = place_columns(opened.release.asked(LEVEL))
    offered = {ONE: True, TWO: pairs, PLACES: places, MEANS: groups, TOGETHER: pairs, ALL: True}
    views = [view for view, possible in offered.items() if possible]
    view = choose_one("Shown", views, "explore-compared-view", ONE)
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
    _table_difference_shown(opened, figure, words, words, frame)


def _two(opened: Opened, compared: Comparison, pairs: list[tuple[str, str]], identity: str, title: str) -> None:
    names = _pair("Columns", pairs, "explore-compared-pair")
    _cells_of_two(opened, _cells(identity, compared, names), title, compared.shares)


def _cells_of_two(opened: Opened, found: CellDifferences, title: str, shares: bool, on_map: bool = False) -> None:
    words = difference_in_words(found.estimate, found.low, found.high, shares)
    draw_cells = place_differences_figure if on_map else cell_differences_figure
    _table_difference_shown(opened, draw_cells(found, title, shares), words, f"{GREY} {words}", found.frame())


def _groups(opened: Opened, compared: Comparison, groups: list[tuple[str, str]], identity: str) -> None:
    column, by = _pair("Means of", groups, "explore-compared-means", " by ")
    rows = _means(identity, compared, column, by)
    unit = f" ({rows[0].unit})" if rows[0].unit else ""
    ends = (np.array([getattr(row, end) for row in rows]) for end in ("estimate", "low", "high"))
    title = f"difference of the means of {shortened(column)}{unit}"
    figure = difference_bars([row.what for row in rows], *ends, title, False)
    told = [row.what for row in rows if row.told]
    words = f"More than noise alone may make in {len(told)} of {len(rows)} groups."
    _table_difference_shown(
        opened, figure, words, f"{words} A group without a bar may be empty in one of the files.", _frame(rows)
    )


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
    return st.selectbox(
        label, offered, format_func=lambda pair: in_markdown(joined.join(shortened(one) for one in pair)), key=key
    )


def _draw_rows(heads: Sequence[str], lines: str) -> None:
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    draw(f'<table class="fg-numbers fg-differences"><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>')


def _table_difference_shown(opened: Opened, figure: go.Figure, alt: str, words: str, frame: pd.DataFrame) -> None:
    """A picture with its words, and the way to take it along."""
    show(figure, "explore-difference", alt, picture_config(opened))
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


COMPARE = "Difference"
CAVEAT = (
    "Bands hold the noise of both files and are for one place each; a picture has many. They say what noise may have "
    "done, and nothing of who happens to be recorded."
)


@refusals()
def difference_view(visitor: Session, opened: Opened) -> tuple[Comparison, str] | None:
    """Everything under Difference: the other file, the columns, and the picture.

    Returns
    -------
    tuple[Comparison, str] | None
        What was compared, for a report, and the name of the other file; None where nothing could be.
    """
    others = [name for name in reversed(visitor.opened) if name != opened.name]
    refused = {name: reason for name in others if (reason := _why_not(opened, visitor.opened[name]))}
    offered = [name for name in others if name not in refused]
    if not offered:
        note(next(iter(refused.values()), "Open another file to compare this one with."))
        return None
    if st.session_state.get("explore-compared", offered[0]) not in offered:  # chosen for another part of the file
        del st.session_state["explore-compared"]
    chosen, how = st.columns(2, gap="medium")
    name = chosen.selectbox(
        "Less the file",
        offered,
        format_func=lambda name: in_markdown(visitor.opened[name].called),
        key="explore-compared",
    )
    shares = how.segmented_control(
        "Compared are",
        [True, False],
        default=True,
        required=True,
        format_func=lambda shares: "shares of all" if shares else "numbers",
        key="explore-compared-shares",
    )
    other = _alike(visitor.opened[name], opened)
    compared = Comparison(opened.release, other.release, bool(shares))
    if opened.release.sketch.asked_for == "tables":
        table_difference(opened, other, compared, _title(opened.release, compared.shares))
        note(CAVEAT)
    else:
        _places(opened, other, compared)
    return compared, name


def _why_not(opened: Opened, other: Opened) -> str:
    """Why what is asked cannot be compared with another file, in one sentence; "" where it can."""
    try:
        Comparison(opened.release, _alike(other, opened).release)
    except RequestError as refusal:
        return str(refusal)
    return ""


def _alike(other: Opened, opened: Opened) -> Opened:
    """The other file's answer to the same question, about the same group, read with the same bandwidth."""
    if opened.question is not None and opened.question in other.release.parts:
        other = question_of(other, opened.question)
    elif len(other.release.parts) == 1:
        other = question_of(other, next(iter(other.release.parts)))
    if opened.part is not None and other.release.sketch.classes:
        other = part_of(other, opened.part)
    kernel = getattr(opened.release.sketch, "kernel", None)
    if kernel is not None and kernel != getattr(other.release.sketch, "kernel", None):
        if len(other.release.sketch.bandwidths) > 1:
            bandwidth = kernel.bandwidth
            other = replace(other, release=other.release.smoothed(bandwidth), bandwidth=bandwidth)
    return of_same_population(other, opened)


def _title(release: Release, shares: bool) -> str:
    if release.sketch.answers == "distance":
        return "difference of average distances" if shares else "difference of summed distances"
    return "difference of shares of all" if shares else "difference of numbers"


def _places(opened: Opened, other: Opened, compared: Comparison) -> None:
    """Along one column, or over two."""
    domain = opened.release.domain
    with choices():
        columns = choose_columns(domain) or drawable(domain)[:2]
    picture = _picture(f"{opened.identity} {other.identity} {compared.shares}", compared, tuple(columns))
    shares = compared.shares and opened.release.sketch.answers == "closeness"
    words = difference_in_words(picture.estimate, picture.low, picture.high, shares)
    figure = difference_figure(picture, domain, _title(opened.release, compared.shares), shares)
    _shown(opened, figure, words)


def _shown(opened: Opened, figure: object, words: str) -> None:
    show(figure, "explore-difference", words, picture_config(opened))
    note(words)
    note(CAVEAT)


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def _picture(identity: str, _compared: Comparison, columns: tuple[str, ...]) -> Curve | Heatmap:
    if len(columns) == 1:
        return line_of_differences(_compared, columns[0], level=LEVEL)
    return grid_of_differences(_compared, columns[0], columns[1], level=LEVEL)
