"""How figures are shown: calm, with their words for those who do not see them, and with one tool, to save a picture."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from ...figures.density import scale_aside
from .session import Opened

PHONE, AROUND = 270, 130
"""Pixels that a map has on a phone from side to side, and that axes and legend take below it."""
ONE_TOOL = {"displaylogo": False, "modeBarButtons": [["toImage"]], "scrollZoom": False}


def picture_config(opened: Opened) -> dict:
    """What the buttons of a large picture do: the camera saves it, named after the file.

    On a phone they would cover what stands above the picture, and no finger zooms it: the camera is alone there.
    """
    tools = {"modeBarButtons": [["toImage"]]} if on_a_phone() else {}
    return tools | {"toImageButtonOptions": {"format": "png", "filename": opened.stem, "scale": 2}, "scrollZoom": False}


def for_screen(figure: go.Figure) -> go.Figure:
    """A map as it suits the visitor's screen: with its colour bar at its side on a wide one, and no gap on a phone.

    On a phone a map whose units are equal is as high as they make it: there is no gap below it. Plotly gives a figure
    its height before the browser says how wide the screen is. So a browser that says that it is a phone's is believed.
    """
    if not on_a_phone():
        return scale_aside(figure)
    ratio = figure.layout.yaxis.scaleratio
    if ratio is None:
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
