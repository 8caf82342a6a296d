"""Something to look at while a picture is worked out: a coarse one, once a session, which the fine one replaces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeVar

import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

SEEN = "explore-seen"
"""Session state: what was worked out before, and is remembered."""
PICTURE = TypeVar("PICTURE")


def coarse_first(
    what: object,
    coarse: Callable[[], PICTURE | None],
    draw: Callable[[PICTURE], go.Figure],
    height: Literal["content", "stretch"] = "content",
) -> DeltaGenerator:
    """The place for a figure, in which a coarse one is shown unless the fine one was worked out before.

    Parameters
    ----------
    what : object
        Tells pictures apart.
    coarse : Callable[[], PICTURE | None]
        Works the coarse one out; None where the fine one is as quick.
    draw : Callable[[PICTURE], go.Figure]
        Draws it.
    height : str
        "stretch" where the figure fills the window.
    """
    place, seen = st.empty(), st.session_state.setdefault(SEEN, set())
    if what not in seen:
        seen.add(what)
        first = coarse()
        if first is not None:
            place.plotly_chart(
                draw(first), height=height, config={"displayModeBar": False}, alt="A coarse picture, to begin with"
            )
    return place
