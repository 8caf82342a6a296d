"""A matrix of small pictures, one a pair of columns, to start exploring from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TypeAlias

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
PLAIN = {"showticklabels": False, "showgrid": False, "zeroline": False, "ticks": ""}
Trace: TypeAlias = go.Scatter | go.Bar | go.Heatmap


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
    cells: dict[tuple[int, int], list[Trace]] = {
        (place, place): _small_curve(pairs.curves[name], columns[name], near) for place, name in enumerate(names)
    }
    for across, up in combinations(range(size), 2):
        x, y = names[across], names[up]
        cells[up, across] = _small_map(pairs.heatmaps[x, y], columns[x], columns[y], near)
    # All in one go: at every change of a figure Plotly looks through the whole of it.
    layout = _axes(pairs, columns, cells)
    margin = {"l": 8, "r": 8, "t": 8, "b": 8 if size <= FEW else SLANTED, "pad": 0}
    layout |= {"height": max(340, cell * size), "margin": margin, "showlegend": False, "uirevision": "constant"}
    figure = go.Figure([trace for traces in cells.values() for trace in traces], layout)
    clickable(figure)
    return figure


def _axes(pairs: Pairs, columns: Mapping[str, Column], cells: Mapping[tuple[int, int], Sequence[Trace]]) -> dict:
    """Give the traces of every cell (row, column) the axes of a subplot; what these look like, for the layout.

    Names stand along the left and the bottom, and no ticks: these pictures are to be chosen from, not to be read.
    """
    names = pairs.columns
    size = len(names)
    grid = make_subplots(
        size,
        size,
        specs=[[{} if (up, across) in cells else None for across in range(size)] for up in range(size)],
        shared_xaxes="columns",
        horizontal_spacing=0.012,
        vertical_spacing=0.012,
    )
    axes = grid.layout.to_plotly_json()
    for (up, across), traces in cells.items():
        x_axis, y_axis = (axis.plotly_name for axis in grid.get_subplot(up + 1, across + 1))
        for trace in traces:
            trace.xaxis, trace.yaxis = x_axis.replace("axis", ""), y_axis.replace("axis", "")
        x, y = names[across], names[up]
        axes[x_axis] |= PLAIN | _reaching(columns[x], pairs.curves[x].values)
        axes[y_axis] |= PLAIN
        if up != across:
            # Hatching would be given room around it, so that the pictures of a row end at different heights.
            axes[y_axis] |= _reaching(columns[y], pairs.heatmaps[x, y].y_values)
        if up == size - 1:
            axes[x_axis]["title"] = _title(x, size)
        if across == 0 < up:
            axes[y_axis]["title"] = _title(y, size)
    return axes


def _reaching(column: Column, values: np.ndarray) -> dict:
    """How far an axis goes."""
    drawn = Axis.of(column, values)
    return {"range": [drawn.low, drawn.high]}


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


def _title(name: str, size: int) -> dict:
    """The name of a column along a side of so many pictures."""
    return {"text": in_plotly(shortened(name)), "standoff": 6} | ({} if size <= FEW else {"font": {"size": 11}})
