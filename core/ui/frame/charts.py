"""How figures are shown: calm, with their words for those who do not see them, and with one tool, to save a picture."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from .session import Opened

PHONE, AROUND = 270, 130
"""Pixels that a map has on a phone from side to side, and that axes and legend take below it."""
ONE_TOOL = {"displaylogo": False, "modeBarButtons": [["toImage"]], "scrollZoom": False}


def picture_config(opened: Opened) -> dict:
    """What the buttons of a large picture do: the camera saves it, named after the file."""
    return {"toImageButtonOptions": {"format": "png", "filename": opened.stem, "scale": 2}, "scrollZoom": False}


def for_screen(figure: go.Figure) -> go.Figure:
    """A map whose units are equal, as high as it is on a phone where the visitor has one: there is no gap below it.

    Plotly gives a figure its height before the browser says how wide the screen is. So a browser that says that it is
    a phone's is believed.
    """
    ratio = figure.layout.yaxis.scaleratio
    if ratio is None or not on_a_phone():
        return figure
    (left, right), (low, high) = figure.layout.xaxis.range, figure.layout.yaxis.range
    shape = ratio * (high - low) / (right - left)
    around = (figure.layout.margin.t or 0) + AROUND
    return figure.update_layout(height=round(min(figure.layout.height, PHONE * shape + around)))


def on_a_phone() -> bool:
    """Whether the visitor's browser says that it is a phone's."""
    headers = {name.lower(): value for name, value in dict(st.context.headers).items()}
    return headers.get("sec-ch-ua-mobile") == "?1" or "Mobi" in headers.get("user-agent", "")


def show(figure: go.Figure, key: str, words: str) -> None:
    """Draw a figure; ``words`` is its text alternative."""
    st.plotly_chart(figure, key=key, config=ONE_TOOL, alt=words)
