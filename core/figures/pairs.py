"""A matrix of small pictures, one a pair of columns, to start exploring from."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from ..domain import Column
from ..tasks.density import Curve, Heatmap, Pairs
from ..words.escapes import in_plotly
from ..words.phrases import shortened
from .asking import clickable
from .axes import Axis
from .density import highest
from .hatching import CLEAR, hatch
from .hidden import hidden_by_noise
from .palette import TEAL, faded

CELL, NARROW = 150, 58
"""Least height of a small picture in pixels, and on a phone, on which as many as there are lie side by side."""


FEW, SLANTED = 4, 44
"""Columns whose names have room below pictures on a phone too, and pixels for names of more, which slant there."""


def pairs_matrix(pairs: Pairs, columns: Mapping[str, Column], near: bool = True, cell: int = CELL) -> go.Figure:
    """Curves of single columns on the diagonal, maps of pairs below it; every one may be clicked.

    Each picture has a scale of its own: the darkest place of each is the one where most people are, or, of distances,
    the one that is nearest to everyone. What was clicked tells its columns in ``customdata``: one name, or x and y.

    Parameters
    ----------
    pairs : Pairs
        The small pictures.
    columns : Mapping[str, Column]
        The domain's columns by name.
    near : bool
        Whether the pictures say how many are near, and not how far everyone is.
    cell : int
        Least height of a small picture, in pixels.
    """
    names = pairs.columns
    size = len(names)
    figure = make_subplots(size, size, shared_xaxes="columns", horizontal_spacing=0.012, vertical_spacing=0.012)
    for place, name in enumerate(names):
        for trace in _small_curve(pairs.curves[name], columns[name], near):
            figure.add_trace(trace, place + 1, place + 1)
    for across, up in combinations(range(size), 2):
        x, y = names[across], names[up]
        for trace in _small_map(pairs.heatmaps[x, y], columns[x], columns[y], near):
            figure.add_trace(trace, up + 1, across + 1)
        # Hatching would be given room around it, so that the pictures of a row end at different heights.
        drawn = Axis.of(columns[y], pairs.heatmaps[x, y].y_values)
        figure.update_yaxes(range=[drawn.low, drawn.high], row=up + 1, col=across + 1)
    for place, name in enumerate(names):
        drawn = Axis.of(columns[name], pairs.curves[name].values)
        figure.update_xaxes(range=[drawn.low, drawn.high], col=place + 1)
    _label(figure, names, columns)
    clickable(figure)
    margin = {"l": 8, "r": 8, "t": 8, "b": 8 if size <= FEW else SLANTED, "pad": 0}
    return figure.update_layout(height=max(340, cell * size), margin=margin, showlegend=False, uirevision="constant")


def pairs_in_words(pairs: Pairs, near: bool = True) -> str:
    """The text alternative: what is there to be opened."""
    listed = ", ".join(pairs.columns)
    what = "density pictures" if near else "pictures of average distances"
    return f"A matrix of small {what}, one for each pair of these columns and one for each alone: {listed}."


def _small_curve(curve: Curve, column: Column, near: bool) -> list:
    x = Axis.of(column, curve.values)
    heights = np.where(hidden_by_noise(curve), 0.0, curve.estimate) if near else curve.estimate
    drawn = {"x": x.values, "y": heights, "hoverinfo": "skip"}
    faint, line = faded(TEAL.shape, 0.22), {"color": TEAL.shape, "width": 1.5}
    if x.categories:
        picture = go.Bar(width=0.9, marker={"color": faint, "line": line}, **drawn)
    else:
        # A curve of distances hangs above zero: what matters is where it is lowest.
        filled = {"fill": "tozeroy", "fillcolor": faint} if near else {}
        picture = go.Scatter(mode="lines", line=line, **filled, **drawn)
    lowest = 0.0 if near or x.categories else float(heights.min())
    return [picture, _door((x.low + x.high) / 2.0, (lowest + float(heights.max())) / 2.0, (column.name,))]


def _small_map(heatmap: Heatmap, x_column: Column, y_column: Column, near: bool) -> list:
    x, y = Axis.of(x_column, heatmap.x_values), Axis.of(y_column, heatmap.y_values)
    hidden = hidden_by_noise(heatmap) if near else np.zeros(heatmap.estimate.shape, dtype=bool)
    seen = np.where(hidden, np.nan, heatmap.estimate).astype(np.float32)
    smooth = "best" if not (x.categories or y.categories or hidden.any()) else False
    scale = {"zmin": 0, "zmax": highest(seen)} if near else {"reversescale": True}
    return [
        go.Heatmap(x=x.values, y=y.values, z=seen, zsmooth=smooth, showscale=False, hoverinfo="skip", **scale),
        *([hatch(hidden, x, y, showlegend=False)] if near else []),
        _door((x.low + x.high) / 2.0, (y.low + y.high) / 2.0, (x_column.name, y_column.name)),
    ]


def _door(x: float, y: float, names: tuple[str, ...]) -> go.Scatter:
    """An invisible target that stands for the whole small picture."""
    return go.Scatter(
        x=[x],
        y=[y],
        mode="markers",
        marker={"color": CLEAR, "size": 30},
        customdata=[list(names)],
        hovertemplate=f"Open {in_plotly(' and '.join(names))}<extra></extra>",
        showlegend=False,
    )


def _label(figure: go.Figure, names: tuple[str, ...], columns: Mapping[str, Column]) -> None:
    """Names along the left and the bottom, no ticks: these pictures are to be chosen from, not to be read."""
    figure.update_xaxes(showticklabels=False, showgrid=False, zeroline=False, ticks="")
    figure.update_yaxes(showticklabels=False, showgrid=False, zeroline=False, ticks="")
    small = {} if len(names) <= FEW else {"font": {"size": 11}}
    for place, name in enumerate(names):
        label = {"text": in_plotly(shortened(name)), "standoff": 6} | small
        figure.update_xaxes(title=label, row=len(names), col=place + 1)
        if place:
            figure.update_yaxes(title=label, row=place + 1, col=1)
    for row in range(len(names)):
        for column in range(row + 1, len(names)):
            figure.update_xaxes(visible=False, row=row + 1, col=column + 1)
            figure.update_yaxes(visible=False, row=row + 1, col=column + 1)
