"""A slider that can move by itself, one step after the other, so that a class can watch."""

from __future__ import annotations

import streamlit as st

PACE = 0.9
"""Seconds a step."""


def playing(key: str) -> float | None:
    """How often the part of the page that holds the slider runs again by itself: None while nobody plays."""
    return PACE if st.session_state.get(_flag(key)) else None


def advance(key: str, steps: list[int]) -> None:
    """Before the slider is drawn: go one step on while it plays, and stop at the end.

    It stops when the browser itself says that the slider is at its end: a run that was under way when the last step was
    set still brings the step before, and would put the slider back.
    """
    if not st.session_state.get(_flag(key)):
        return
    here = st.session_state.get(key, steps[0])
    later = [step for step in steps if step > here]
    if later:
        st.session_state[key] = later[0]
    else:
        st.session_state[_flag(key)] = False
        st.rerun(scope="app")


def play_button(key: str, steps: list[int]) -> None:
    """Start from where the slider stands, or anew when it is at its end; pressed again, it stops."""
    active = bool(st.session_state.get(_flag(key)))
    if st.button("Stop" if active else "Play", key=f"play-{key}", width=90):
        if not active and st.session_state.get(key, steps[0]) >= steps[-1]:
            st.session_state[key] = steps[0]
        st.session_state[_flag(key)] = not active
        st.rerun(scope="app")


def _flag(key: str) -> str:
    return f"playing-{key}"
