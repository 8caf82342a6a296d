"""The live picture: frames of one map along ε, with a slider that the browser moves by itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from ..domain import Domain
from ..tasks.density import Heatmap
from .axes import Axis
from .density import density_map, highest
from .hatching import hatch
from .hidden import hidden_by_noise

ABOVE = 132
"""Pixels above the map for its words and its slider."""


def live_figure(
    pictures: Sequence[Heatmap], words: Sequence[str], names: Sequence[str], start: int, domain: Domain, noun: str
) -> go.Figure:
    """A map that a slider takes from frame to frame, in the browser alone.

    Parameters
    ----------
    pictures : Sequence[Heatmap]
        One a frame, of the same cells.
    words, names : Sequence[str]
        What stands above each frame, and its mark on the slider.
    start : int
        The frame that is shown first.
    domain : Domain
        Of the records.
    noun : str
        What is counted.
    """
    columns = {column.name: column for column in domain.columns}
    pair = (columns[pictures[0].x], columns[pictures[0].y])
    figure = density_map(pictures[start], pair, noun)
    top = highest(pictures[-1].estimate)
    x, y = Axis.of(pair[0], pictures[0].x_values), Axis.of(pair[1], pictures[0].y_values)
    hatching = next(place for place, trace in enumerate(figure.data) if isinstance(trace, go.Scatter))
    figure.data[0].update(zmin=0, zmax=top, zsmooth=False)
    lines = [place for place, trace in enumerate(figure.data) if isinstance(trace, go.Contour)]
    figure.data = [trace for place, trace in enumerate(figure.data) if place not in lines and trace.hoverinfo == "skip"]
    hatching -= len([place for place in lines if place < hatching])
    figure.data[hatching].update(visible=True, showlegend=True)
    figure.frames = [
        go.Frame(
            name=name,
            data=[_colours(picture), _hatching(picture, x, y)],
            traces=[0, hatching],
            layout={"title": {"text": said}},
        )
        for picture, said, name in zip(pictures, words, names, strict=True)
    ]
    now = {"mode": "immediate", "frame": {"duration": 0, "redraw": True}, "transition": {"duration": 0}}
    steps = [{"label": name, "method": "animate", "args": [[name], now]} for name in names]
    shown = {"prefix": "ε = ", "font": {"size": 18}}
    slider = {"active": start, "steps": steps, "currentvalue": shown, "x": 0, "len": 1, "y": 1, "yanchor": "bottom"}
    title = {"text": words[start], "x": 0, "xref": "paper", "y": 0.985, "yanchor": "top", "font": {"size": 15}}
    figure.data[0].showscale = False
    figure.layout.annotations = ()
    figure.update_layout(sliders=[slider | {"pad": {"b": 22, "t": 0}}], title=title)
    return figure.update_layout(margin={"t": ABOVE, "b": 8}, showlegend=False, dragmode=False)


def _colours(picture: Heatmap) -> go.Heatmap:
    """What of a map stands out."""
    return go.Heatmap(z=np.where(hidden_by_noise(picture), np.nan, picture.estimate).astype(np.float32))


def _hatching(picture: Heatmap, x: Axis, y: Axis) -> go.Scatter:
    """The rest."""
    hatched = hatch(hidden_by_noise(picture), x, y)
    return go.Scatter(x=hatched.x, y=hatched.y)
