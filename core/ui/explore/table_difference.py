"""The Difference view of released tables: one column, two together, or all of them in rows."""

from __future__ import annotations

import numpy as np
import streamlit as st

from ...figures.difference import difference_bars, difference_in_words
from ...figures.table_difference import cell_differences_figure, signed
from ...releases.comparison import Comparison
from ...tasks.table_differences import CellDifferences, Row, cell_differences, pairs_of, rows_of_differences
from ...words.escapes import in_html, in_markdown
from ...words.phrases import shortened
from ..frame.charts import picture_config
from ..frame.marks import note
from ..frame.markup import draw
from ..frame.session import Opened
from .answers import LEVEL, REMEMBERED

ONE, TWO, ALL = "One column", "Two columns", "All columns"


def table_difference(opened: Opened, other: Opened, compared: Comparison, title: str) -> None:
    """Everything under Difference that tables have; ``title`` says what the values are."""
    pairs = pairs_of(compared)
    view = st.segmented_control(
        "Shown", [ONE, *([TWO] if pairs else []), ALL], default=ONE, required=True, key="explore-compared-view"
    )
    identity = f"{opened.identity} {other.identity} {compared.shares}"
    if view == TWO:
        _two(opened, compared, pairs, identity, title)
    elif view == ALL:
        _all(compared, identity)
    else:
        _one(opened, compared, title)


def _one(opened: Opened, compared: Comparison, title: str) -> None:
    names = [axis.name for axis in opened.release.asked(LEVEL).axes]
    column = st.selectbox("Column", names, format_func=in_markdown, key="explore-compared-column")
    frame = compared.table(column)
    estimate, low, high = (frame[name].to_numpy(dtype=np.float64) for name in ("estimate", "low", "high"))
    words = difference_in_words(estimate, low, high, compared.shares)
    figure = difference_bars(list(frame[column]), estimate, low, high, title, compared.shares)
    st.plotly_chart(figure, key="explore-difference", alt=words, config=picture_config(opened))
    note(words)


def _two(opened: Opened, compared: Comparison, pairs: list[tuple[str, str]], identity: str, title: str) -> None:
    names = st.selectbox(
        "Columns",
        pairs,
        format_func=lambda pair: in_markdown(" and ".join(shortened(one) for one in pair)),
        key="explore-compared-pair",
    )
    found = _cells(identity, compared, names)
    words = difference_in_words(found.estimate, found.low, found.high, compared.shares)
    figure = cell_differences_figure(found, title, compared.shares)
    st.plotly_chart(figure, key="explore-difference-pair", alt=words, config=picture_config(opened))
    note(f"Grey: noise alone may have made the difference. {words}")


def _all(compared: Comparison, identity: str) -> None:
    rows = _rows(identity, compared)
    lines = "".join(_line(row, compared.shares) for row in rows)
    draw(
        '<table class="fg-numbers fg-differences"><thead><tr><th scope="col">Column</th><th scope="col">Difference</th>'
        f'<th scope="col">Very likely between</th></tr></thead><tbody>{lines}</tbody></table>'
    )
    more = sum(row.told for row in rows)
    note(
        f"{more} of {len(rows)} are more than noise alone may make, and bold. Means are of numbers and dates, "
        f"{'shares' if compared.shares else 'numbers of records'} of categories."
    )


def _line(row: Row, shares: bool) -> str:
    as_shares = shares and not row.mean
    estimate, low, high = (in_html(signed(value, as_shares)) for value in (row.estimate, row.low, row.high))
    unit = f" {in_html(row.unit)}" if row.unit else ""
    name = f"{in_html(shortened(row.column))}: {in_html(shortened(row.what))}"
    shown = f"<strong>{estimate}{unit}</strong>" if row.told else f"{estimate}{unit}"
    return f'<tr><th scope="row">{name}</th><td>{shown}</td><td>{low} to {high}</td></tr>'


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def _cells(identity: str, _compared: Comparison, names: tuple[str, str]) -> CellDifferences:
    return cell_differences(_compared, names[0], names[1], LEVEL)


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def _rows(identity: str, _compared: Comparison) -> list[Row]:
    return rows_of_differences(_compared, LEVEL)
