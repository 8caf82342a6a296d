"""The lessons in their order, and going from one to the next."""

from __future__ import annotations

import streamlit as st

from ..frame.marks import main_action
from . import averaging, bounds, cells, delta, epsilon, flips, floating_point, rows, trust
from .lesson import Lesson, show_lesson
from .plan import plan
from .sheets import offer_sheets

LESSON = "lesson"
"""Key of the choice, and its name in the address."""
GO = "learn-go"
LESSONS: tuple[Lesson, ...] = (
    cells.LESSON,
    epsilon.LESSON,
    bounds.LESSON,
    averaging.LESSON,
    rows.LESSON,
    delta.LESSON,
    floating_point.LESSON,
    flips.LESSON,
    trust.LESSON,
)
LINK = "The address of this page holds every setting: hand it out, and a class starts where you stand."


def course() -> bool:
    """The chosen lesson with a way to the next one; whether its last one was left by the main action."""
    names = [lesson.name for lesson in LESSONS]
    arrived = GO in st.session_state
    if arrived:
        st.session_state[LESSON] = st.session_state.pop(GO)
    # A choice that was made already needs no default, and Streamlit would warn that it has two values.
    default = None if arrived else names[0]
    chosen = st.segmented_control(
        "Lesson",
        names,
        default=default,
        required=True,
        key=LESSON,
        bind="query-params",
        label_visibility="collapsed",
        width="content",
    )
    place = names.index(chosen)
    if arrived:
        _to_the_top(chosen)
    show_lesson(LESSONS[place], place + 1, len(LESSONS))
    plan()
    offer_sheets(LESSONS, place)
    last = place + 1 == len(LESSONS)
    label = "Try it on sample data" if last else f"Next: {LESSONS[place + 1].title}"
    if not main_action(label, (), "learn-next", LINK):
        return False
    if not last:
        st.session_state[GO] = names[place + 1]
        st.rerun()
    return last


def _to_the_top(lesson: str) -> None:
    """Begin a lesson at its heading, however far down the last one was left; Streamlit has no call for it.

    The lesson's name makes it another script each time, as the browser runs the same one only once.
    """
    script = "document.querySelector('[data-testid=stMain]').scrollTo(0, 0)"
    st.html(f"<script>/* {lesson} */ {script}</script>", unsafe_allow_javascript=True)
