"""How Home begins, drawn before anything that takes a while to load: its first words and picture, and the tour."""

from __future__ import annotations

import streamlit as st

from ..figures import drawings
from .frame.marks import draw

TOUR = "tour"  # Key of the switch, and its name in the address: ``?tour=true`` begins the tour.


def hero() -> None:
    """The first words and picture, and the button that begins the tour."""
    with st.container(key="fg-hero"):
        st.title("See the shape, not the people.", anchor=False)
        draw(
            '<p class="fg-lead">Frostglass turns private records into one small file that shows where people are many '
            "and where they are few. Anyone may ask it anything, for ever, and learn almost nothing about any one "
            "person.</p>"
        )
        draw(drawings.hero())
    if st.button("Watch the tour: 90 seconds", key="tour-begin", icon=":material/play_circle:", type="tertiary"):
        st.session_state[TOUR] = True
        st.query_params[TOUR] = "true"
        st.rerun()


def touring() -> bool:
    """Whether the tour is what Home shows: it was begun here, or the address begins it."""
    if st.query_params.get(TOUR) == "true":
        st.session_state[TOUR] = True
    return bool(st.session_state.get(TOUR))
