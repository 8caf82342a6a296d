"""The Difference view: what the file that is open and another one differ by, with the noise of both in every band."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from ...errors import RequestError
from ...figures.difference_figures import difference_figure, difference_in_words
from ...releases.comparison import Comparison
from ...releases.release import Release
from ...tasks.density import Curve, Heatmap
from ...tasks.differences import grid_of_differences, line_of_differences
from ...words.escapes import in_markdown
from ..frame.charts import picture_config
from ..frame.marks import note
from ..frame.session import Opened, Session
from ..released.chosen_view import choices, choose_columns, drawable, part_of, question_of
from ..released.public_answers import LEVEL, REMEMBERED
from .table_difference import table_difference

COMPARE = "Difference"
CAVEAT = (
    "Bands hold the noise of both files and are for one place each; a picture has many. They say what noise may have "
    "done, and nothing of who happens to be recorded."
)


def difference_view(visitor: Session, opened: Opened) -> tuple[Comparison, str] | None:
    """Everything under Difference: the other file, the columns, and the picture.

    Returns
    -------
    tuple[Comparison, str] | None
        What was compared, for a report, and the name of the other file; None where nothing could be.
    """
    others = [name for name in reversed(visitor.opened) if name != opened.name]
    chosen, how = st.columns(2, gap="medium")
    name = chosen.selectbox("Less the file", others, format_func=in_markdown, key="explore-compared")
    if name is None:
        note("Open another file to compare this one with.")
        return None
    shares = how.segmented_control(
        "Compared are",
        [True, False],
        default=True,
        required=True,
        format_func=lambda shares: "shares of all" if shares else "numbers",
        key="explore-compared-shares",
    )
    try:
        other = _alike(visitor.opened[name], opened)
        compared = Comparison(opened.release, other.release, bool(shares))
        if opened.release.sketch.name == "tables":
            table_difference(opened, other, compared, _title(opened.release, compared.shares))
            note(CAVEAT)
        else:
            _places(opened, other, compared)
    except RequestError as error:
        st.error(in_markdown(error))
        return None
    return compared, name


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
    return other


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
    st.plotly_chart(figure, key="explore-difference", alt=words, config=picture_config(opened))
    note(words)
    note(CAVEAT)


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def _picture(identity: str, _compared: Comparison, columns: tuple[str, ...]) -> Curve | Heatmap:
    if len(columns) == 1:
        return line_of_differences(_compared, columns[0], level=LEVEL)
    return grid_of_differences(_compared, columns[0], columns[1], level=LEVEL)
