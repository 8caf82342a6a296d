"""Figures outside the app: on light paper, in files of their own."""

from __future__ import annotations

import plotly.graph_objects as go

from ..formatting.escapes import in_html
from . import figure_axes
from .palette import FAINT, INK, LIGHT_SHADES, PAPER, TEAL, colour_scale

FONT = "'Source Sans 3', 'Source Sans Pro', 'Segoe UI', system-ui, sans-serif"
HAIRLINE = "#DCE3E4"
STYLE = f"body {{ margin: 2rem auto; max-width: 62rem; padding: 0 1rem; background: {PAPER.light}; color: {INK.light};"
STYLE += f" font-family: {FONT}; }} h1 {{ font-size: 1.2rem; font-weight: 600; }}"
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>{style}</style></head><body><h1>{title}</h1>
{picture}
</body></html>
"""


def _template() -> go.layout.Template:
    axis = {
        "gridcolor": HAIRLINE,
        "linecolor": FAINT.shape,
        "zerolinecolor": HAIRLINE,
        "ticks": "outside",
        "tickcolor": HAIRLINE,
        "automargin": True,
        "title": {"standoff": 12},
    }
    shades = colour_scale(LIGHT_SHADES)
    layout = {
        "font": {"family": FONT, "size": 13, "color": INK.light},
        "paper_bgcolor": PAPER.light,
        "plot_bgcolor": PAPER.light,
        "colorway": [TEAL.shape, FAINT.shape, INK.shape, INK.light],
        "colorscale": {"sequential": shades},
        "xaxis": axis,
        "yaxis": axis,
        "hoverlabel": {"bgcolor": PAPER.light, "bordercolor": FAINT.shape, "font": {"color": INK.light}},
    }
    return go.layout.Template(layout=layout, data={"heatmap": [{"colorscale": shades}]})


TEMPLATE = _template()  # The app's look in its light theme, for Plotly outside the app.


def on_paper(figure: go.Figure) -> go.Figure:
    """A copy of a figure that carries its colours with it; inside the app they come from the visitor's theme.

    Nothing can be asked on paper, so no point is ringed.
    """
    drawn = go.Figure(figure).update_traces(selectedpoints=[], selector={"name": figure_axes.NAME})
    return drawn.update_layout(template=TEMPLATE, margin={"l": 48, "r": 24, "b": 48})


def standalone(figure: go.Figure, title: str) -> bytes:
    """A figure as one HTML file that needs nothing else: it zooms, hovers, and saves pictures by itself, offline."""
    drawn = on_paper(figure).update_layout(dragmode="zoom")
    config = {"displaylogo": False, "responsive": True, "toImageButtonOptions": {"format": "svg"}}
    picture = drawn.to_html(config=config, include_plotlyjs=True, full_html=False, default_width="100%")
    return PAGE.format(title=in_html(title), style=STYLE, picture=picture).encode()
