"""How a release is made: the way that promises most, and the others in a quiet list to choose from."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from .marks import note
from .markup import literal
from .release_draft import Draft
from .release_ways import Way
from .release_words import size_and_time

PICKED = "release-way-picked"
"""Session state: the way that the owner picked over the first one, for each question; a plain dict of names."""
TITLES = {
    "race": "Random cells",
    "features": "Random waves",
    "histogram": "A grid of counts",
    "projected": "Random cells in few directions",
    "distance": "Counts in halves of halves",
    "moments": "Sums and squares",
    "projected-distance": "Halves of halves in random directions",
}
"""What a mechanism does, in a few words; its name stands beside it."""


def choose_way(draft: Draft, ways: Sequence[Way]) -> Way:
    """Show the first choice with its reason, and let the owner pick another.

    The pick is kept by name, as the order changes with every control; picking the first choice again follows it.
    """
    question = f"{draft.aim.question}-{draft.aim.answers}"
    picked = st.session_state.setdefault(PICKED, {}).get(question)
    chosen = next((way for way in ways if way.name == picked), ways[0])
    note(f"Made with: {title(chosen)}. {chosen.reason}".strip())
    if len(ways) == 1:
        return chosen
    with st.expander("Other ways to do it", type="compact"):
        names = [way.name for way in ways]
        key = f"release-way-{question}"
        st.session_state[key] = chosen.name
        st.radio(
            "How it is made", names, key=key, format_func=lambda name: literal(title(ways[names.index(name)])),
            captions=[literal(f"{error_words(way)}; {size_and_time(way.forecast)}. {way.reason}") for way in ways],
            on_change=_pick, args=(question, key, names[0]), label_visibility="collapsed",
        )
    return chosen


def _pick(question: str, key: str, first: str) -> None:
    name = st.session_state[key]
    st.session_state[PICKED][question] = None if name == first else name


def title(way: Way) -> str:
    """What a way does, with the name of its mechanism."""
    return f"{TITLES.get(way.name, way.name)} ({way.name})" if way.name in TITLES else way.name


def error_words(way: Way) -> str:
    """The error to expect, as a share of a typical answer."""
    return f"off by {100 * way.forecast.relative_error:.2g}% of a typical answer"
