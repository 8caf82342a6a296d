"""Small pictures: a matrix of one a pair of columns, to start exploring from, and those of a gallery of files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TypeAlias

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from ..analysis.centres import nearest_place
from ..analysis.decision_map import decision_map
from ..analysis.density import Curve, Heatmap, Pairs, marginal_grid, marginal_line
from ..domain import Column, Domain, Scalar, Vector
from ..errors import RequestError
from ..formatting.escapes import in_plotly
from ..formatting.numbers import shortened
from ..releases.release import Release
from .class_figures import class_colour
from .density_figures import highest
from .figure_axes import Axis, clickable
from .palette import TEAL, faded, rgb
from .traces import CLEAR, cells, dots, hatch, hidden_by_noise

# Least height of a small picture in pixels, and on a phone, on which as many as there are lie side by side.
CELL, NARROW = 150, 58


# Columns whose names have room below pictures on a phone too, and pixels for names of more, which slant there.
FEW, SLANTED = 4, 44
PLAIN = {"showticklabels": False, "showgrid": False, "zeroline": False, "ticks": ""}
Trace: TypeAlias = go.Scatter | go.Bar | go.Heatmap


def pairs_matrix(pairs: Pairs, columns: Mapping[str, Column], near: bool = True, cell: int = CELL) -> go.Figure:
    """Curves of single columns on the diagonal, maps of pairs below it; every one may be clicked.

    Each picture has a scale of its own: the darkest place of each is the one where most people are, or, of distances,
    the one that is nearest to everyone. What was clicked tells its columns in ``customdata``: one name, or x and y.

    `near`: whether the pictures say how many are near, and not how far everyone is.
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
    drawn = Axis.of(column, values)
    return {"range": [drawn.low, drawn.high]}


def pairs_in_words(pairs: Pairs, near: bool = True) -> str:
    """The pictures that may be opened, as the text alternative of the matrix."""
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
        cells(x, y, seen, zsmooth=smooth, showscale=False, **scale),
        *([hatch(hidden, x, y, showlegend=False)] if near else []),
        _door((x.low + x.high) / 2.0, (y.low + y.high) / 2.0, (x_column.name, y_column.name)),
    ]


def _door(x: float, y: float, names: tuple[str, ...]) -> go.Scatter:
    """An invisible target that stands for the whole small picture."""
    said = f"Open {in_plotly(' and '.join(names))}"
    return dots([x], [y], None, CLEAR, 30, said, customdata=[list(names)])


def _title(name: str, size: int) -> dict:
    """The name of a column along a side of so many pictures."""
    return {"text": in_plotly(shortened(name)), "standoff": 6} | ({} if size <= FEW else {"font": {"size": 11}})


SIZE = 72  # Pixels of a side; a browser's smoothing does the rest.
FAR_SIZE = 24  # Cells of a map of distances, which change slowly from place to place.
GROUPS_SIZE = 48  # Pixels of a side of a map of groups, each of which asks the release in many points.


def density_picture(release: Release, columns: Sequence[str] = (), size: int = SIZE) -> np.ndarray:
    """The released density over one or two columns, averaged over the others; or average distances, through the place
    that is nearest to everyone.

    `columns`: names of one or two columns, across and up; the first ones, numbers before categories, when none is
    named.

    Returns
    -------
    np.ndarray
        uint8 (size, size, 4), red, green, blue and opacity: teal that is denser where more people are, or where
        everyone is nearer, on nothing. One column is a hill seen from the side, two are a map; what is least in the map
        is blank.

    Raises
    ------
    RequestError
        When the release has no column that can be drawn.
    """
    names = list(columns) or _first_columns(release.domain)
    opacity = _hill(release, names[0], size) if len(names) == 1 else _map(release, names[0], names[1], size)
    picture = np.empty((size, size, 4), dtype=np.uint8)
    picture[..., :3] = rgb(TEAL.shape)
    picture[..., 3] = np.rint(255 * opacity)
    return picture


def groups_picture(release: Release, columns: Sequence[str], size: int = GROUPS_SIZE) -> np.ndarray:
    """Which group each place over two columns is like, averaged over the others.

    Returns
    -------
    np.ndarray
        uint8 (size, size, 4), red, green, blue and opacity: each group in its colour, blank where the noise decides.
    """
    across, up = columns
    drawn = decision_map(release, across, up, resolution=size)
    colours = np.array([rgb(class_colour(code)) for code in range(len(drawn.classes))], dtype=np.uint8)
    picture = np.empty((size, size, 4), dtype=np.uint8)
    picture[..., :3] = colours[drawn.codes[::-1]]
    picture[..., 3] = 255 * drawn.certain[::-1]
    return picture


def _first_columns(domain: Domain) -> list[str]:
    drawable = [column for column in domain.columns if not isinstance(column, Vector)]
    if not drawable:
        raise RequestError("A picture is drawn along numbers or categories, and this release has vectors only.")
    return [column.name for column in sorted(drawable, key=lambda column: not isinstance(column, Scalar))][:2]


def _hill(release: Release, name: str, size: int) -> np.ndarray:
    """Opacities (size, size) of one column's curve, filled below and fainter towards its foot."""
    at, sign = _view(release, (name,))
    heights = sign * marginal_line(release, name, at, points=size).estimate
    heights = np.maximum(heights, 0.0) if sign > 0 else heights - heights.min()
    heights = _stretched(heights, size) / max(heights.max(), np.finfo(float).tiny)
    levels = ((np.arange(size)[::-1] + 0.5) / size)[:, None]
    return np.clip((0.92 * heights - levels) * size + 0.5, 0.0, 1.0) * (0.35 + 0.65 * levels)


def _map(release: Release, x: str, y: str, size: int) -> np.ndarray:
    """Opacities (size, size) over two columns, the second one upwards."""
    at, sign = _view(release, (x, y))
    cells = sign * marginal_grid(release, x, y, at, size=size if sign > 0 else FAR_SIZE).estimate[::-1]
    cells = np.maximum(cells, 0.0) if sign > 0 else cells
    cells = cells - cells.min()
    cells /= max(cells.max(), np.finfo(float).tiny)
    return _stretched(_stretched(cells, size, sign < 0).T, size, sign < 0).T


def _view(release: Release, drawn: tuple[str, ...]) -> tuple[dict[str, object], float]:
    """Where the other columns are held, and whether much (1) or little (-1) is dark."""
    if release.sketch.answers == "closeness":
        return {}, 1.0
    return {name: value for name, value in nearest_place(release).items() if name not in drawn}, -1.0


def _stretched(values: np.ndarray, size: int, smooth: bool = False) -> np.ndarray:
    """The values along the last axis repeated to ``size`` of them, as categories are fewer than pixels.

    Where they are fewer because they change slowly, pixels in between lie in between.
    """
    count = values.shape[-1]
    if not smooth or count != FAR_SIZE:
        return values[..., np.arange(size) * count // size]
    places = np.clip((np.arange(size) + 0.5) * count / size - 0.5, 0, count - 1)
    first = np.minimum(places.astype(np.int64), count - 2)
    share = places - first
    return (1 - share) * values[..., first] + share * values[..., first + 1]
