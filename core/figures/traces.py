"""What figures are made of: lines, bands, dots, bars and hatching in the palette's colours, and how a figure lies.

Where the noise is larger than anything there could be to see, a figure is hatched and never coloured.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from scipy.ndimage import label, uniform_filter

from ..analysis.density import Picture
from ..formatting.escapes import in_html
from . import figure_axes
from .figure_axes import UNFADED, Axis
from .palette import FAINT, INK, LIGHT_SHADES, PAPER, TEAL, colour_scale, faded

CLEAR = "rgba(0, 0, 0, 0)"
# Axes that nobody zooms, without lines and with faint ones.
STILL: dict[str, Any] = {"showgrid": False, "zeroline": False, "fixedrange": True}
RULED: dict[str, Any] = STILL | {"showgrid": True, "gridcolor": faded(FAINT.shape, 0.25)}
# Where a legend stands: in a line above the figure or below it.
ABOVE = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"}
BELOW = {"orientation": "h", "x": 0, "y": -0.2, "yanchor": "top"}
LIKELY, GUESS, BOTH = "very likely within", "best guess", "best guess, and where it very likely is"


def _facts(x: Any, y: Any, name: str | None, said: str | None) -> dict[str, Any]:
    """A trace that is silent unless it says something where it is pointed at, and has a place in the legend by name."""
    hover = {"hoverinfo": "skip"} if said is None else {"hovertemplate": f"{said}<extra>{name or ''}</extra>"}
    return {"x": x, "y": y} | ({"showlegend": False} if name is None else {"name": name}) | hover


def line(
    x: Any,
    y: Any,
    name: str | None = None,
    colour: str = TEAL.shape,
    width: float = 2.5,
    dash: str | None = None,
    said: str | None = None,
    **more: Any,
) -> go.Scatter:
    """A line; ``said`` is what it says where it is pointed at, as a template of Plotly's."""
    style = {"color": colour, "width": width} | ({} if dash is None else {"dash": dash})
    return go.Scatter(**(_facts(x, y, name, said) | {"mode": "lines", "line": style} | more))


def band(
    x: Any, low: Any, high: Any, name: str | None = LIKELY, colour: str = TEAL.shape, opacity: float = 0.22
) -> Any:
    """The area between two lines over the same places."""
    around = np.concatenate([x, x[::-1]]), np.concatenate([high, low[::-1]])
    return line(*around, name, colour, 0, fill="toself", fillcolor=faded(colour, opacity))


def dots(
    x: Any,
    y: Any,
    name: str | None = None,
    colour: str = TEAL.shape,
    size: float = 11,
    said: str | None = None,
    marker: dict[str, Any] | None = None,
    **more: Any,
) -> go.Scatter:
    """Points; ``marker`` is what else there is to say of how they look."""
    look = {"color": colour, "size": size} | (marker or {})
    return go.Scatter(**(_facts(x, y, name, said) | {"mode": "markers", "marker": look} | more))


def bars(
    x: Any, y: Any, name: str | None = None, colour: Any = TEAL.shape, said: str | None = None, **more: Any
) -> go.Bar:
    """Bars from zero; with an ``orientation`` of "h" they lie."""
    return go.Bar(**(_facts(x, y, name, said) | {"marker": {"color": colour}} | more))


def spread(above: Any, below: Any, colour: str = INK.shape, thickness: float = 1.5, width: float = 0) -> dict[str, Any]:
    """How far intervals reach to either side of bars or dots."""
    ends = {"type": "data", "symmetric": False, "array": above, "arrayminus": below}
    return ends | {"color": colour, "thickness": thickness, "width": width}


def interval_bars(x: Axis, curve: Any, shown: np.ndarray, name: str, marker: dict[str, Any]) -> go.Bar:
    """Bars of those answers that are shown, with their intervals as far as they are known."""
    above, below = curve.high - curve.estimate, curve.estimate - curve.low
    reaching = shown & np.isfinite(above)
    ends = spread(np.where(reaching, above, np.nan), np.where(reaching, below, np.nan), width=5)
    heights = np.where(shown, curve.estimate, np.nan)
    return bars(x.values, heights, name, marker=marker, error_y=ends, unselected=UNFADED)


def cells(x: Axis, y: Axis, values: np.ndarray, **more: Any) -> go.Heatmap:
    """A map of colours, silent unless more is said."""
    shown = {"x": x.values, "y": y.values, "z": values.astype(np.float32)}
    return go.Heatmap(**(shown | ({} if "hovertemplate" in more else {"hoverinfo": "skip"}) | more))


def contour(x: Any, y: Any, z: np.ndarray, levels: dict[str, Any], look: dict[str, Any], **more: Any) -> go.Contour:
    """Lines of equal height without colours between them."""
    facts = {"x": x, "y": y, "z": z, "contours": {"coloring": "none"} | levels, "line": look}
    return go.Contour(**(facts | {"showscale": False, "showlegend": False, "hoverinfo": "skip"} | more))


def laid_out(figure: go.Figure, height: float, legend: dict[str, Any] | None = None, **more: Any) -> go.Figure:
    """A figure in a frame that is hardly there, which nobody drags; ``more`` are further settings of its layout."""
    margin = {"l": 8, "r": 8, "t": 8, "b": 8} | more.pop("margin", {})
    named = {} if legend is None else {"legend": legend}
    return figure.update_layout(height=height, margin=margin, dragmode=False, **named, **more)


def logarithmic(
    ticks: Sequence[float] | None = None, texts: Sequence[str] | None = None, **more: Any
) -> dict[str, Any]:
    """A logarithmic axis, with marks at some places."""
    marks = {} if ticks is None else {"tickvals": ticks, "ticktext": texts or [f"{one:,g}" for one in ticks]}
    return STILL | {"type": "log"} | marks | more


HATCHED = "Hidden by the noise: may be empty"  # The legend's words for it.
PATTERN = {"shape": "/", "size": 7, "solidity": 0.15, "fgcolor": FAINT.shape, "fgopacity": 0.6, "bgcolor": CLEAR}


def hatch(mask: np.ndarray, x: Axis, y: Axis, name: str = HATCHED, **where) -> go.Scatter:
    """One trace that hatches the cells of a grid in which ``mask`` is true.

    A single polygon of many rings: the browser draws it in one go, the lines keep their distance when the visitor
    zooms, and the legend shows the same pattern.

    `mask`: bool (y places, x places).
    """
    rows, first, last = _runs(mask)
    left, right = x.values[first] - x.half_step, x.values[last] + x.half_step
    below, above = y.values[rows] - y.half_step, y.values[rows] + y.half_step
    gap = np.full(len(rows), np.nan)
    return polygon(
        np.column_stack([left, right, right, left, left, gap]).ravel(),
        np.column_stack([below, below, above, above, below, gap]).ravel(),
        name,
        **where,
    )


def polygon(x: np.ndarray, y: np.ndarray, name: str = HATCHED, **where) -> go.Scatter:
    """A hatched polygon; NaN between its rings. Without any ring it stays out of figure and legend."""
    line = {"width": 0, "color": FAINT.shape}
    facts = {"mode": "lines", "fill": "toself", "fillpattern": PATTERN, "line": line, "hoverinfo": "skip"}
    there = {"showlegend": True} if len(x) else {"visible": False}
    return go.Scatter(**({"x": x, "y": y, "name": name} | there | facts | where))


def _runs(mask: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row, first and last column of every run of true cells in a row, int64 (runs,) each, row by row."""
    padded = np.zeros((mask.shape[0], mask.shape[1] + 2), dtype=np.int8)
    padded[:, 1:-1] = mask
    change = np.diff(padded, axis=1)
    rows, first = np.nonzero(change == 1)
    last = np.nonzero(change == -1)[1] - 1
    return rows, first, last


WINDOWS = 16  # Specks much smaller than this part of a side follow their surroundings when these are hidden or shown.


def hidden_by_noise(picture: Picture) -> np.ndarray:
    """Where the noise hides what there is, without specks; bool, of the picture's shape.

    Intervals of 95% let a few cells of noise pass among thousands, and keep back a few of signal. So each place follows
    the majority of the places around it, unless most of its closest neighbours stand out from the noise of all places
    together, as a mode must: then something is there, however small. And of the parts that are left only those are seen
    in which some place stands out so: others are what noise does somewhere among so many.
    """
    if not picture.errors_known or any(values.dtype == object for values in picture.places):
        return picture.drowned  # categories have no neighbours
    window = [max(1, size // WINDOWS) | 1 for size in picture.drowned.shape]
    hidden = _most(picture.drowned, window) & ~_most(picture.certain, [3] * picture.certain.ndim)
    parts = label(~hidden)[0]
    return hidden | ~np.isin(parts, parts[picture.certain & ~hidden])


def _most(mask: np.ndarray, window: list[int]) -> np.ndarray:
    """Where more than half of the places in a window around are true."""
    return uniform_filter(mask.astype(np.float32), size=window, mode="nearest") > 0.5


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
