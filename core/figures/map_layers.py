"""What a picture of two columns shows besides: layers of lines and points, and a third column.

Lines and points leave the colours below in view. Like the picture, lines say nothing that the noise decides: a group is
outlined only where it is surely the answer. Points are synthetic ones, or a visitor's own.

A third column is a film that the browser plays, or shells that a visitor turns. A shell is drawn where the lower end of
the interval reaches its height, so everywhere inside at least so many are very likely close by. What the noise hides
lies in no shell.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..analysis.classification import DecisionMap
from ..analysis.density import Heatmap, Volume
from ..domain import Column, Domain
from ..formatting.escapes import in_plotly
from ..formatting.numbers import listed, percent, shortened, significant
from .class_figures import class_colour
from .density_figures import Marks, close_by, density_map, highest, lying
from .distance_figures import distance_title
from .figure_axes import Axis, apply
from .palette import FAINT, INK, LIGHT_SHADES, PAPER, TEAL, colour_scale, faded
from .traces import bars, contour, dots, hatch, hidden_by_noise

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
    # A record that misses a date or a number lies nowhere along its axis.
    points = points.dropna(subset=[axis.name for axis in axes if not axis.categories])
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


ABOVE = 148  # Pixels above a map for its words and its slider.
ABOVE_ALONE = 104  # Pixels above a map for its slider alone.
PLAYED = 900  # Milliseconds that a frame of a film is seen.


def film_figure(
    pictures: Sequence[Heatmap],
    words: Sequence[str],
    names: Sequence[str],
    start: int,
    domain: Domain,
    noun: str,
    prefix: str,
    top: float | None = None,
    marks: Marks | None = None,
) -> go.Figure:
    """A map that a slider takes from frame to frame, in the browser alone.

    `pictures`: One a frame, of the same cells. `words`, `names`: what stands above each frame, and its mark on the
    slider. `prefix`: what stands before the mark of the frame that is shown. `top`: where the colours end; None for the
    highest value that is seen on any of them. `marks`: Modes, which lie on every frame.
    """
    columns = domain.drawn
    pair = (columns[pictures[0].x], columns[pictures[0].y])
    figure = density_map(pictures[start], pair, noun, marks)
    x, y = Axis.of(pair[0], pictures[0].x_values), Axis.of(pair[1], pictures[0].y_values)
    seen = [np.where(hidden_by_noise(picture), np.nan, picture.estimate).astype(np.float32) for picture in pictures]
    hatching = next(place for place, trace in enumerate(figure.data) if isinstance(trace, go.Scatter))
    figure.data[0].update(zmin=0, zmax=max(map(highest, seen)) if top is None else top, zsmooth=False)
    lines = [place for place, trace in enumerate(figure.data) if isinstance(trace, go.Contour)]
    figure.data = [trace for place, trace in enumerate(figure.data) if place not in lines and trace.hoverinfo == "skip"]
    hatching -= len([place for place in lines if place < hatching])
    figure.data[hatching].update(visible=True, showlegend=True)
    figure.frames = [
        go.Frame(
            name=name,
            data=[go.Heatmap(z=shown), _hatching(picture, x, y)],
            traces=[0, hatching],
            layout={"title": {"text": said}},
        )
        for picture, shown, said, name in zip(pictures, seen, words, names, strict=True)
    ]
    steps = [{"label": name, "method": "animate", "args": [[name], _each(0)]} for name in names]
    shown = {"prefix": prefix, "font": {"size": 18}}
    slider = {"active": start, "steps": steps, "currentvalue": shown, "x": 0, "len": 1, "y": 1, "yanchor": "bottom"}
    title = {"text": words[start], "x": 0, "xref": "container", "y": 0.97, "yanchor": "top", "font": {"size": 13.5}}
    figure.data[0].showscale = False
    figure.layout.annotations = ()
    figure.update_layout(sliders=[slider | {"pad": {"b": 22, "t": 0}}], title=title)
    return figure.update_layout(margin={"t": ABOVE, "b": 8}, showlegend=False, dragmode=False)


def beginning_at(figure: go.Figure, start: int) -> go.Figure:
    """A film that begins with another of its frames."""
    film, frame = go.Figure(figure), figure.frames[start]
    for place, drawn in zip(frame.traces, frame.data, strict=True):
        film.data[place].update(drawn)
    film.layout.sliders[0].active = start
    return film.update_layout(title={"text": frame.layout.title.text})


def with_buttons(figure: go.Figure) -> go.Figure:
    """Put buttons beside the slider that play a film and stop it; it never plays by itself."""
    play = {"label": "▶", "method": "animate", "args": [None, _each(PLAYED) | {"fromcurrent": True}]}
    stop = {"label": "❚❚", "method": "animate", "args": [[None], _each(0)]}
    place = {"x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom", "pad": {"b": 22}, "direction": "left"}
    figure.update_layout(updatemenus=[{"type": "buttons", "buttons": [play, stop], "showactive": False} | place])
    return figure.update_layout(sliders=[{"x": 0.16, "len": 0.84}], margin={"t": ABOVE_ALONE})


def _each(milliseconds: int) -> dict:
    """How Plotly goes to a frame: at once, and stays that long."""
    stay = {"frame": {"duration": milliseconds, "redraw": True}, "transition": {"duration": 0}}
    return {"mode": "immediate"} | stay


def _hatching(picture: Heatmap, x: Axis, y: Axis) -> go.Scatter:
    """The cells of a frame that the noise hides, hatched."""
    hatched = hatch(hidden_by_noise(picture), x, y)
    return go.Scatter(x=hatched.x, y=hatched.y)


THIRD_COLUMN_HEIGHT = 560
SHELLS = (0.15, 0.4, 0.7)  # Heights of the shells, in parts of the highest lower end.
OPACITY = 0.35
SHADES = LIGHT_SHADES[2:8]  # The shades of the scale that stand out from either theme.


def axes_of_volume(volume: Volume, domain: Domain) -> tuple[Axis, Axis, Axis]:
    columns = domain.drawn
    x, y, z = (
        Axis.of(columns[name], values)
        for name, values in zip((volume.x, volume.y, volume.z), volume.places, strict=True)
    )
    return x, y, z


def heights(volume: Volume) -> np.ndarray:
    """What is surely there: the lower ends of the intervals, and 0 where the noise hides what there is."""
    sure = volume.low if volume.errors_known else volume.estimate
    return np.where(hidden_by_noise(volume), 0.0, np.maximum(sure, 0.0))


def shells_figure(volume: Volume, domain: Domain, noun: str) -> go.Figure:
    """The shells of a density over three columns, the densest inside."""
    axes = axes_of_volume(volume, domain)
    sure = heights(volume)
    levels = shell_levels(sure)
    across = np.meshgrid(*(axis.values for axis in reversed(axes)), indexing="ij")
    bar = {
        "title": {"text": f"at least so many<br>{close_by(noun)}", "side": "top"},
        "thickness": 10,
        "len": 0.5,
        "outlinewidth": 0,
        "tickmode": "array",
        "tickvals": levels,
        "ticktext": [significant(level, 2) for level in levels],
    }
    figure = go.Figure(
        go.Isosurface(
            x=across[2].ravel(),
            y=across[1].ravel(),
            z=across[0].ravel(),
            value=sure.ravel().astype(np.float32),
            isomin=levels[0],
            isomax=levels[-1],
            cmin=0.0,
            cmax=levels[-1],
            surface={"count": len(levels)},
            caps={side: {"show": False} for side in "xyz"},
            opacity=OPACITY,
            colorscale=colour_scale(SHADES),
            colorbar=bar,
            hoverinfo="skip",
        )
    )
    frame = {"backgroundcolor": "rgba(0, 0, 0, 0)", "showspikes": False, "gridcolor": FAINT.shape}
    sides = {f"{side}axis": axis.layout() | {"showgrid": True} | frame for side, axis in zip("xyz", axes, strict=True)}
    figure.update_layout(scene=sides | {"aspectmode": "cube", "dragmode": "orbit"})
    margin = {"l": 8, "r": 8, "t": 8, "b": 8, "pad": 0}
    return figure.update_layout(height=THIRD_COLUMN_HEIGHT, margin=margin, uirevision="constant")


def shell_levels(sure: np.ndarray) -> list[float]:
    """The heights of the shells, in two digits."""
    top = highest(sure) or 1.0
    return [float(f"{share * top:.2g}") for share in SHELLS]


def shells_in_words(what: str, volume: Volume, domain: Domain, noun: str) -> str:
    """The text alternative: where most are, and how much of the box each shell fills."""
    sure = heights(volume)
    if not sure.any():
        return f"{what}. The noise hides all of it."
    at = np.unravel_index(sure.argmax(), sure.shape)[::-1]
    axes = axes_of_volume(volume, domain)
    place = ", ".join(f"{axis.name} {axis.words(axis.values[index])}" for axis, index in zip(axes, at, strict=True))
    shares = [f"{significant(level, 2)} in {percent(float((sure >= level).mean()))}" for level in shell_levels(sure)]
    return f"{what}. It is surely highest at {place}. Of the box, at least so many {close_by(noun)}: {listed(shares)}."
