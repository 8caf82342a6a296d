"""How figures are shown: calm, with their words for those who do not see them, and with one tool, to save a picture."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from ...figures.density_figures import scale_aside
from .session import Opened

PHONE, AROUND = 270, 130
"""Pixels that a map has on a phone from side to side, and that axes and legend take below it."""
WIDE = 0.6
"""Height by width below which a map is wider than the stage that it is on."""
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
    A map that is far wider than high keeps its colour bar above it on any screen, and all of the width for itself.
    """
    shape = shape_of(figure)
    if not on_a_phone():
        if shape is None or shape >= WIDE:
            return scale_aside(figure)
        return figure.update_traces(colorbar={"y": 0.94}, selector={"type": "heatmap"})  # clear of what it is called
    if shape is None:
        return figure
    around = (figure.layout.margin.t or 0) + AROUND
    return figure.update_layout(height=round(min(figure.layout.height, PHONE * shape + around)))


def shape_of(figure: go.Figure) -> float | None:
    """How many times as high as wide a map is whose units are equal; None for any other."""
    ratio = figure.layout.yaxis.scaleratio
    if ratio is None:
        return None
    (left, right), (low, high) = figure.layout.xaxis.range, figure.layout.yaxis.range
    return ratio * (high - low) / (right - left)


def fit_stage(figure: go.Figure) -> None:
    """Let the stage be no higher than a map needs, as there would be a gap below it; its style has the sizes."""
    shape = shape_of(figure)
    if shape is not None:
        # What says that it is a phone has been given a height already; a narrow window has not.
        beside, around = ("5rem", "14rem") if shape < WIDE else ("11rem", "11rem")  # the colour bar is above, or beside
        narrow = "" if on_a_phone() else f"; --narrow: calc((100vw - {beside}) * {shape:.4f} + {around})"
        st.html(f"<style>.st-key-fg-stage {{ --shape: {shape:.4f}{narrow} }}</style>")


def on_a_phone() -> bool:
    """Whether the visitor's browser says that it is a phone's."""
    headers = {name.lower(): value for name, value in dict(st.context.headers).items()}
    return headers.get("sec-ch-ua-mobile") == "?1" or "Mobi" in headers.get("user-agent", "")


def show(figure: go.Figure, key: str, words: str) -> None:
    """Draw a figure; ``words`` is its text alternative."""
    st.plotly_chart(figure, key=key, config=ONE_TOOL, alt=words)
