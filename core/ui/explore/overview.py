"""The overview of a released table: drawn in the visitor's browser by what draws it on a shared page.

What is picked in one picture is answered by all others there, from the released counters alone; the server hears of it
only so that a link leads to the same view, and that it may add what a browser does not work out.
"""

from __future__ import annotations

import re

import streamlit as st

from ...analysis.table_profile import missing_in_words
from ...figures.answer_sentences import SHARED_NOISE
from ...figures.report.meaning import left_out_in_words, pairs_left_out
from ...formatting.escapes import in_markdown
from ...formatting.numbers import shortened, significant
from ...releases.release import Release
from ..frame.marks import note
from ..frame.session import Opened
from ..released.chosen_view import PART
from ..released.public_answers import LEVEL, REMEMBERED, show_table

MOST_WRITTEN = 4000  # Letters of it that are believed.
PAIR = re.compile(r"(?:^|;)pair:(\d{1,4})\.(\d{1,4})(?:;|$)")


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def _association(identity: str, _release: Release, one: str, other: str) -> str:
    """χ² beside what noise alone would show, and bits, in a sentence."""
    found = _release.asked(LEVEL).associations(one, other).iloc[0]
    beside = "more than" if found["statistic"] > found["alone"] else "no more than"
    return (
        f"χ² with noise is {significant(found['statistic'], 3)}, {beside} the {significant(found['alone'], 3)} that "
        "noise and chance alone stay below in 19 of 20 releases. By the best guess, one tells "
        f"{significant(found['bits'], 2)} bits of the other."
    )


def overview_view(opened: Opened) -> None:
    """All pictures of a table, beginning with the view that the address names."""
    _pictures(opened, st.query_params.get(PART, "")[:MOST_WRITTEN])


@st.fragment
def _pictures(opened: Opened, begun: str) -> None:
    view = show_table(opened, "overview", begun)
    if 0 < len(view) <= MOST_WRITTEN:
        st.query_params[PART] = view
    else:
        st.query_params.pop(PART, None)
    _pair(opened, view)
    note(f"{SHARED_NOISE} {missing_in_words(opened.release.domain)}")
    _left_out(opened)


def _pair(opened: Opened, view: str) -> None:
    """How surely the two columns that were picked go together, and how much one tells of the other."""
    asked, answers = PAIR.search(view), opened.release.asked(LEVEL)
    places = sorted({int(place) for place in asked.groups()}) if asked else []
    if tuple(places) in answers.reading.noise.by_columns and len(places) == 2:
        one, other = (answers.axes[place].name for place in places)
        words = _association(opened.identity, opened.release, one, other)
        note(f"{in_markdown(f'{shortened(one)} and {shortened(other)}')} of everyone: {words}")


def _left_out(opened: Opened) -> None:
    """What is not in the file, and why; the pairs themselves where one looks for them."""
    words = left_out_in_words(opened.release)
    if not words:
        return
    note(words)
    with st.popover("Which are left out"):
        pairs = pairs_left_out(opened.release)
        st.dataframe(
            {"column": [one for one, _ in pairs], "was not counted with": [other for _, other in pairs]},
            key="overview-left-out",
            hide_index=True,
        )
