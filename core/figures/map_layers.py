"""Layers on a picture of two columns: lines and points that leave the colours below in view.

Like the picture, lines say nothing that the noise decides: a group is outlined only where it is surely the answer.
Points are synthetic ones, or a visitor's own.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..analysis.decision_map import DecisionMap
from ..analysis.density import Heatmap
from ..domain import Column
from ..formatting.escapes import in_plotly
from ..formatting.numbers import shortened
from .class_figures import class_colour
from .density_figures import lying
from .distance_figures import distance_title
from .figure_axes import Axis, apply
from .palette import INK, PAPER, TEAL, faded
from .traces import bars, contour, dots

BORDER = 2.5  # How wide the outline of a group is.
RINGS = 6
FEWEST_CELLS = 3  # Cells of an area that has room for its name.


def add_groups(figure: go.Figure, drawn: DecisionMap, axes: tuple[Axis, Axis]) -> go.Figure:
    """Outline where each group is surely the answer, in its colour and with its name.

    `figure`: a map of the same two columns; it is changed.
    """
    x, y = axes
    for code, name in enumerate(drawn.classes):
        area = (drawn.codes == code) & drawn.certain
        if not area.any():
            continue
        figure.add_trace(_border(x, y, area, code, in_plotly(shortened(name))))
        if area.sum() >= FEWEST_CELLS:
            figure.add_annotation(**_name(x, y, area, in_plotly(shortened(name))))
    return figure


def _border(x: Axis, y: Axis, area: np.ndarray, code: int, name: str) -> go.Contour:
    """The line around an area: half way between the places inside and those outside."""
    edge, look = {"start": 0.5, "end": 0.5, "size": 1}, {"color": class_colour(code), "width": BORDER}
    return contour(x.values, y.values, area.astype(np.float32), edge, look, showlegend=True, name=name)


def _name(x: Axis, y: Axis, area: np.ndarray, name: str) -> dict:
    """The name of a group at the place of its area that is nearest to the middle of it."""
    rows, columns = np.nonzero(area)
    middle = np.argmin((rows - rows.mean()) ** 2 + (columns - columns.mean()) ** 2)
    return {
        "x": x.values[columns[middle]],
        "y": y.values[rows[middle]],
        "text": name,
        "showarrow": False,
        "bgcolor": PAPER.light,
        "bordercolor": INK.shape,
        "borderpad": 2,
        "opacity": 0.9,
        "font": {"color": INK.light, "size": 13},
    }


def add_distances(figure: go.Figure, heatmap: Heatmap, axes: tuple[Axis, Axis], unit: str) -> go.Figure:
    """Draw lines of equal average distance, each with its number.

    `figure`: a map of the same two columns; it is changed. `heatmap`: Average distances, not sums. `unit`: of distance,
    "" where there is none.
    """
    least, most = float(heatmap.estimate.min()), float(heatmap.estimate.max())
    step = round_step((most - least) / RINGS)
    levels = {"start": np.ceil(least / step) * step, "end": most, "size": step}
    labels = {"showlabels": True, "labelfont": {"size": 12, "color": INK.shape}}
    look = {"color": INK.shape, "width": 1.5, "dash": "dot", "smoothing": 1.0}
    values, name = heatmap.estimate.astype(np.float32), distance_title(unit).capitalize()
    x, y = (axis.values for axis in axes)
    return figure.add_trace(contour(x, y, values, levels | labels, look, showlegend=True, name=name))


def round_step(width: float) -> float:
    """The smallest of 1, 2 or 5 times a power of ten that is no less; 1 where there is no width."""
    if width <= 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(width))
    return float(next(times * power for times in (1.0, 2.0, 5.0, 10.0) if times * power >= width * (1 - 1e-12)))


HEIGHT = 520
MAX_DRAWN = 3000  # Every point is an element of the page; of more points, so many are drawn.
BINS = 40
JITTER = 0.32  # How far points of one category are strewn, so that they do not hide each other.


def sample_figure(points: pd.DataFrame, columns: tuple[Column, ...]) -> go.Figure:
    """Synthetic points over two columns, or how they spread along one.

    `points`: a column of values for each of ``columns``; the first `MAX_DRAWN` are drawn over two columns.
    """
    axes = tuple(_axis(column) for column in columns)
    if len(axes) == 1:
        figure = _histogram(points[axes[0].name], axes[0])
    else:
        drawn = points.iloc[:MAX_DRAWN]
        x, y = (_places(drawn[axis.name], axis, seed) for seed, axis in enumerate(axes))
        figure = go.Figure(dots(x, y, size=6, marker={"opacity": 0.5}))
        apply(figure, *axes)
    return lying(figure, HEIGHT).update_layout(showlegend=False)


def add_points(figure: go.Figure, points: pd.DataFrame, columns: tuple[Column, ...], unusual: np.ndarray) -> go.Figure:
    """Put a visitor's own points on top of a density: usual ones small, unusual ones as diamonds. Changes the figure.

    `points`: n of them; `MAX_DRAWN` are drawn, unusual ones first. `columns`: the axes of the figure; on a curve,
    points lie along the bottom. `unusual`: bool (n,).
    """
    order = np.argsort(~unusual, kind="stable")[:MAX_DRAWN]
    axes = tuple(_axis(column) for column in columns)
    places = [_places(points[axis.name].iloc[order], axis, seed) for seed, axis in enumerate(axes)]
    x, y = places if len(axes) == 2 else (places[0], np.zeros(len(order)))
    chosen = unusual[order]
    small = {"symbol": "circle", "size": 7, "color": PAPER.light, "line": {"width": 1.5, "color": INK.light}}
    large = {"symbol": "diamond", "size": 12, "color": INK.light, "line": {"width": 2, "color": PAPER.light}}
    for shown, marker, name in ((~chosen, small, "Your points"), (chosen, large, "Unusual ones")):
        if shown.any():
            figure.add_trace(dots(x[shown], y[shown], name, marker=marker))
    return figure


def _axis(column: Column) -> Axis:
    return Axis.of(column, np.array(getattr(column, "categories", None) or [column.low]))


def _places(values: pd.Series, axis: Axis, seed: int) -> np.ndarray:
    """Places on the axis; those of categories strewn a little, the same way each time."""
    if not axis.categories:
        return _numbers(values, axis)
    codes = _codes(values, axis)
    return codes + np.random.default_rng(seed).uniform(-JITTER, JITTER, len(codes))


def _numbers(values: pd.Series, axis: Axis) -> np.ndarray:
    numbers = values.to_numpy(dtype=np.float64) if axis.dates is None else axis.dates.numbers_of(values)
    return numbers if axis.amounts is None else axis.amounts.placed(numbers)


def _histogram(values: pd.Series, axis: Axis) -> go.Figure:
    if axis.categories:
        x, counts = axis.values, np.bincount(_codes(values, axis), minlength=len(axis.values))
        width = 0.65
    else:
        counts, edges = np.histogram(_numbers(values, axis), bins=BINS, range=(axis.low, axis.high))
        x, width = (edges[:-1] + edges[1:]) / 2.0, edges[1] - edges[0]
    marker = {"color": faded(TEAL.shape, 0.55), "line": {"width": 1, "color": TEAL.shape}}
    figure = go.Figure(bars(x, counts, said="%{y:,} points", width=width, marker=marker))
    apply(figure, axis)
    return figure.update_yaxes(title={"text": "synthetic points"}, tickformat=",", zeroline=False, nticks=6)


def _codes(values: pd.Series, axis: Axis) -> np.ndarray:
    """Index of each value in the categories, int64."""
    return pd.Index(axis.categories).get_indexer(values.astype(str))
