"""Asking by clicking: invisible targets over a figure, of which the asked one shows as a ring.

Maps of colours cannot be clicked, points can. The ring moves in the browser alone, so a figure stays the same, and its
zoom with it, however often it is asked.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from .palette import INK, PAPER

NAME = "The point that is asked"
UNFADED = {"marker": {"opacity": 1}}
"""What keeps other points and bars of a figure as they are while a target is chosen."""


def targets(
    x: np.ndarray, y: np.ndarray, words: Sequence[str], asked: tuple[float, float] | None = None, **where
) -> go.Scatter:
    """Points to be clicked. The ring is dark with a light middle, and so stands out from every shade of either theme.

    Parameters
    ----------
    x, y : np.ndarray
        float64 (n,), in axis units.
    words : Sequence[str]
        What hovering over each says.
    asked : tuple[float, float] | None
        x and y of one more point, which is ringed until another is clicked.
    **where : Any
        Axes of a subplot and other properties of the trace.
    """
    chosen = []
    if asked is not None:
        x, y, words = np.append(x, asked[0]), np.append(y, asked[1]), [*words, ""]
        chosen = [len(x) - 1]
    ring = {"symbol": "circle", "size": 12, "color": PAPER.light, "line": {"width": 3.5, "color": INK.light}}
    facts = {
        "mode": "markers",
        "marker": ring | {"opacity": 0},
        "selected": {"marker": {"opacity": 1}},
        "unselected": {"marker": {"opacity": 0}},
        "selectedpoints": chosen,
        "hovertemplate": "%{text}<extra></extra>",
        "showlegend": False,
        "name": NAME,
    }
    return go.Scatter(**({"x": x, "y": y, "text": list(words)} | facts | where))


def ring(x: float, y: float) -> go.Scatter:
    """The ring alone, for a figure whose targets were made for everyone who looks at it."""
    return targets(np.array([x]), np.array([y]), [""], selectedpoints=[0])


def for_areas(figure: go.Figure, tool: str) -> go.Figure:
    """A figure on which areas are drawn with a tool, "box" or "lasso": no target inside is ringed."""
    figure = go.Figure(figure).update_layout(dragmode={"box": "select"}.get(tool, tool))
    plain = {"selectedpoints": None, "selected": {"marker": {"opacity": 0}}}
    return figure.for_each_trace(lambda trace: trace.update(plain) if trace.name == NAME else None)


def clickable(figure: go.Figure) -> None:
    """Wherever a visitor points, the nearest target answers."""
    figure.update_layout(hovermode="closest", hoverdistance=-1, dragmode="pan")
