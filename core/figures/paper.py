"""Figures outside the app: on light paper, in files of their own."""

from __future__ import annotations

import plotly.graph_objects as go

from .axes import plain
from .palette import FAINT, INK, PAPER, TEAL
from .scales import LIGHT_SHADES, colour_scale

FONT = "'Source Sans 3', 'Source Sans Pro', 'Segoe UI', system-ui, sans-serif"
HAIRLINE = "#DCE3E4"


def _template() -> go.layout.Template:
    axis = {
        "gridcolor": HAIRLINE, "linecolor": FAINT.shape, "zerolinecolor": HAIRLINE, "ticks": "outside",
        "tickcolor": HAIRLINE, "automargin": True, "title": {"standoff": 12},
    }  # fmt: skip
    shades = colour_scale(LIGHT_SHADES)
    layout = {
        "font": {"family": FONT, "size": 13, "color": INK.light}, "paper_bgcolor": PAPER.light,
        "plot_bgcolor": PAPER.light, "colorway": [TEAL.shape, FAINT.shape, INK.shape, INK.light],
        "colorscale": {"sequential": shades}, "xaxis": axis, "yaxis": axis,
        "hoverlabel": {"bgcolor": PAPER.light, "bordercolor": FAINT.shape, "font": {"color": INK.light}},
    }  # fmt: skip
    return go.layout.Template(layout=layout, data={"heatmap": [{"colorscale": shades}]})


TEMPLATE = _template()
"""The app's look in its light theme, for Plotly outside the app."""


def on_paper(figure: go.Figure) -> go.Figure:
    """A copy of a figure that carries its colours with it; inside the app they come from the visitor's theme."""
    return go.Figure(figure).update_layout(template=TEMPLATE, margin={"l": 48, "r": 24, "t": 48, "b": 48})


def standalone(figure: go.Figure, title: str) -> bytes:
    """A figure as one HTML file that needs nothing else: it zooms, hovers, and saves pictures by itself, offline."""
    drawn = on_paper(figure).update_layout(title={"text": plain(title), "x": 0.0, "xref": "paper"}, dragmode="zoom")
    config = {"displaylogo": False, "responsive": True, "toImageButtonOptions": {"format": "svg"}}
    return drawn.to_html(config=config, include_plotlyjs=True, full_html=True, default_width="100%").encode()
