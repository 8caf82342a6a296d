"""How a release is made: the way that promises most, and the others in a quiet list to choose from."""

from __future__ import annotations

import streamlit as st

from ...sketches.registry import card
from ...words.escapes import in_markdown
from ...words.numbers import percent
from ..frame.marks import facts, note
from .draft import Draft
from .ways import Way, Ways, resized
from .words import size_and_time

PICKED = "release-way-picked"
"""Session state: the way that the owner picked over the first one, for each question; a plain dict of names."""


def choose_way(draft: Draft, ways: Ways) -> Way:
    """Show the first choice with its reason, and let the owner pick another and, by hand, its size.

    The pick is kept by name, as the order changes with every control; picking the first choice again follows it.
    """
    question = f"{draft.aim.question}-{draft.aim.norm}"
    names = [way.name for way in ways.possible]
    picked = st.session_state.setdefault(PICKED, {}).get(question)
    name = picked if picked in names else names[0]
    chosen = ways.possible[names.index(name)]
    st.markdown(f"**Made with: {title(name)}.**")
    note(chosen.reason)
    if len(names) > 1:
        with st.expander("Other ways to do it", type="compact"):
            _list(ways, name, question)
    return _size(draft, chosen) if draft.fineness.by_hand else chosen


def _list(ways: Ways, name: str, question: str) -> None:
    """All ways with their errors, files and reasons; and what cannot be done, and why."""
    names, key = [way.name for way in ways.possible], f"release-way-{question}"
    st.session_state[key] = name
    st.radio(
        "How it is made",
        names,
        key=key,
        format_func=lambda name: in_markdown(title(name)),
        captions=[in_markdown(_in_words(way)) for way in ways.possible],
        on_change=_pick,
        args=(question, key, names[0]),
        label_visibility="collapsed",
    )
    if ways.impossible:
        facts([(title(other), reason) for other, reason in ways.impossible])


def _pick(question: str, key: str, first: str) -> None:
    name = st.session_state[key]
    st.session_state[PICKED][question] = None if name == first else name


def _in_words(way: Way) -> str:
    """Error, file and time, and the reason."""
    return f"Off by {percent(way.forecast.relative_error)} · {size_and_time(way.forecast)}. {way.reason}"


def title(name: str) -> str:
    """What a mechanism does, with its name."""
    return card(name).plainly


def _size(draft: Draft, way: Way) -> Way:
    """Rows and columns by hand, where the mechanism has them."""
    one, _ = way.sketch.one_answer
    if not one.in_groups:
        return way
    left, right = st.columns(2, gap="medium")
    rows = left.number_input(
        "Rows R",
        8,
        1_000_000,
        None,
        placeholder=f"{one.rows:,}, by forecast",
        key="release-rows",
        persist_state="session",
        help="How many random cells or waves a record falls into. More rows follow the data "
        "more closely; without slack they also need more noise. Left empty, the forecast chooses the best.",
    )
    width = None
    if "--width" in card(way.name).options:
        width = right.number_input(
            "Columns at most W",
            2,
            1_000_000,
            one.width,
            key="release-width",
            persist_state="session",
            help="Counters a row may have. Where all cells fit, a smaller table loses nothing.",
        )
    return resized(draft, way, rows, width)
