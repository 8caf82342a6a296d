"""A file of counted local reports: how many gave each answer, and what is promised to whoever reported."""

from __future__ import annotations

import math
from functools import partial

import pandas as pd
import streamlit as st

from ...errors import RequestError
from ...figures.local_figures import MOST_BARS, local_bars, local_in_words
from ...figures.traces import standalone
from ...formatting.escapes import in_html, in_markdown
from ...formatting.numbers import percent, significant
from ...local.local_answers import FoundRelease, LocalAnswers, SketchRelease
from ...local.post_processing import POST, said_of
from ..frame.marks import draw, note, offer, show, side
from ..frame.session import Counted, Session

FOUND = (
    "Nobody listed these answers: they were found letter by letter, from reports alone. Others with fewer people may "
    "have been missed, and liars could also hide one."
)
LIARS = {"1 in 1,000": 0.001, "1 in 100": 0.01, "5 in 100": 0.05, "20 in 100": 0.2}


def local_view(visitor: Session, counted: Counted) -> None:
    release = counted.release
    people = release.people
    draw(
        f'<p class="fg-odds"><strong>{in_html(counted.name)}</strong> · {people:,} local reports, '
        f"ε = {release.epsilon:f} each</p>"
    )
    st.header(in_markdown(release.question), anchor=False)
    main, aside = st.columns([2, 1], gap="large")
    with main:
        if isinstance(release, SketchRelease):
            release = _asked(release)
        ways = [name for name, way in POST.items() if way in release.ways]
        how = st.selectbox("Estimates", ways, key="explore-local-post", width=300)
        table = release.table(POST[how])
        show(
            local_bars(table, people),
            "explore-local",
            local_in_words(table, people),
            {"displaylogo": False, "modeBarButtons": [["toImage"]]},
        )
        if len(table) > MOST_BARS:
            note(f"The {MOST_BARS} largest of {len(table):,} answers are drawn; the file of estimates has all.")
        note(said_of(POST[how]))
        _take_along(counted, release, table)
    with aside, side("what"):
        st.markdown(_promise(float(release.epsilon), release.title))
        if isinstance(release, FoundRelease):
            note(FOUND)
        if release.refused:
            note(f"{release.refused:,} further reports were left out, as no device that follows the survey sends them.")
        _liars(counted)
        if st.button("Close this file", key="explore-local-close"):
            visitor.counted = None
            st.rerun()


def _promise(epsilon: float, title: str) -> str:
    odds = math.exp(epsilon)
    guess = odds / (1 + odds)
    return (
        f"**Nobody was trusted.** Every answer was randomised where it was given, by {title}. Whoever sees a report "
        f"and thought before that two answers were equally likely is right about which one it was in at most "
        f"**{percent(guess, 3)}** of cases: no report is more than {significant(odds, 3)} times likelier for one "
        "answer than for another."
    )


def _asked(release: SketchRelease) -> SketchRelease:
    """The sketch, asked about the texts that the file names or those that are typed here."""
    with st.popover("Ask about other answers"):
        typed = st.text_area(
            "Answers, one a line", key="explore-local-ask", placeholder="\n".join(release.candidates[:3]), height=160
        )
        note("Everyone answered in their own words. Ask about any answer here, as often as you like: it costs nothing.")
    asked = [line.strip() for line in typed.splitlines() if line.strip()]
    if not asked:
        return release
    try:
        return release.asked(asked)
    except RequestError as error:
        st.error(in_markdown(error))
        return release


def _liars(counted: Counted) -> None:
    chosen = st.select_slider("If so many of the reports were lies", list(LIARS), "1 in 100", key="explore-local-liars")
    down, up = counted.release.poisoned(LIARS[chosen])
    people = counted.release.people
    st.markdown(
        f"Told by all as one, they could make an answer's share seem up to **{_points(up / people)}** larger, or "
        f"**{_points(down / people)}** smaller, than it is."
    )


def _points(share: float) -> str:
    return f"{significant(100 * share, 2)} points"


def _take_along(counted: Counted, release: LocalAnswers, table: pd.DataFrame) -> None:
    with st.popover("Take this along"):
        stem = counted.name.removesuffix(".npz")
        offer("Estimates (CSV)", lambda: table.to_csv(index=False), f"{stem}-answers.csv", "explore-local-csv")
        picture = partial(standalone, local_bars(table, release.people), release.question)
        offer("Picture that zooms (HTML)", picture, f"{stem}-answers.html", "explore-local-html")
