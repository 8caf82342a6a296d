"""How figures are shown: calm, with their words for those who do not see them, and with one tool, to save a picture."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from .session import Opened

ONE_TOOL = {"displaylogo": False, "modeBarButtons": [["toImage"]], "scrollZoom": False}


def picture_config(opened: Opened) -> dict:
    """What the buttons of a large picture do: the camera saves it, named after the file."""
    return {"toImageButtonOptions": {"format": "png", "filename": opened.stem, "scale": 2}, "scrollZoom": False}


def show(figure: go.Figure, key: str, words: str) -> None:
    """Draw a figure; ``words`` is its text alternative."""
    st.plotly_chart(figure, key=key, config=ONE_TOOL, alt=words)
