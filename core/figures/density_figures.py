"""Figures of a released density: a curve with its band, bars for categories, a map of two columns.

What the noise hides is never coloured: it is hatched. Nothing in a figure depends on the theme: a map takes the shades
of the visitor's theme in the browser, and those of paper from `core.figures.traces`.
"""

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from scipy.ndimage import gaussian_filter

from ..analysis.density import Curve, Heatmap
from ..domain import Categorical, Column, Domain, Ordered
from ..formatting.escapes import in_plotly
from ..formatting.numbers import best_guess, rounded, rounded_all, rounded_range
from . import figure_axes
from .figure_axes import Axis, apply, is_map, outline, world
from .palette import FAINT, INK, PAPER, TEAL
from .traces import (
    BOTH,
    CLEAR,
    GUESS,
    HATCHED,
    PATTERN,
    band,
    cells,
    contour,
    dots,
    hatch,
    hidden_by_noise,
    interval_bars,
    line,
    polygon,
)

HEIGHT = 440
MAP_HEIGHT = 520
# Pixels above a map for its colour bar. Were the bar placed by the plot, Plotly would misplace the axis title.
COLOUR_BAR = 84
MAX_TARGETS = 64  # Targets along a side of a map: every one is an element of the page, so there is an end to it.
CONTOURS = 6  # Contours divide the highest estimate into that many equal steps.
# Contours are those of the map smoothed over this part of a side, as lines show noise that colours do not.
CONTOUR_SMOOTHING = 80
SCALE = "scale"  # Name of the words above a colour bar.
# Contours of a finer map are drawn through every other cell or fewer: smoothed, they lose nothing by it.
CONTOUR_CELLS = 100
# Colours and contours are drawn to such parts of the highest estimate: more than eyes or screens tell apart. Numbers
# that end early take half the bytes once compressed.
SHADES, HEIGHTS = 2**8, 2**12
UNSURE = "No formula says how far off it may be."  # Beside a picture of answers without a known error.


DOUBTFUL = 0.45  # How opaque the badge of a mode is that could be noise.


@dataclass(frozen=True)
class Marks:
    """Modes to be marked, by their places on the axes of the figure, float64 (n,) each.

    ``sure`` says which of them stand out from the noise, bool (n,); the others are faint. None takes all for sure.
    """

    x: np.ndarray
    y: np.ndarray
    sure: np.ndarray | None = None


def close_by(noun: str, averaged: tuple[str, ...] = ()) -> str:
    """What a kernel sum counts, for an axis or a colour bar; of an average over columns, that it is one."""
    return f"{noun} close by{', on average' if averaged else ''}"


def highest(seen: np.ndarray) -> float:
    """Where a colour scale ends: the highest value shown, or 1 where none is."""
    return float(np.nanmax(seen)) if np.isfinite(seen).any() else 1.0


def short(values: np.ndarray, parts: int) -> np.ndarray:
    """Values to at most one in ``parts`` of the highest, by a power of two, so that float32 holds them in few bits."""
    step = 2.0 ** np.floor(np.log2(max(highest(values), np.finfo(np.float32).tiny) / parts))
    return (np.rint(values / step) * step).astype(np.float32)


def answers_in_words(estimates: np.ndarray, errors: np.ndarray, hidden: np.ndarray, noun: str) -> list[str]:
    """What each answer says at a glance; arrays (n,)."""
    texts = rounded_all(estimates, errors)
    return [
        "hidden by the noise" if drowned else f"about {text} {close_by(noun)}"
        for text, drowned in zip(texts, hidden, strict=True)
    ]


def density_figure(
    picture: Curve | Heatmap,
    domain: Domain,
    noun: str,
    marks: Marks | None = None,
    asked: tuple[object, ...] | None = None,
    lines: tuple[np.ndarray, ...] | None = None,
) -> go.Figure:
    """The figure of a picture: a curve, bars or a map, as its columns need.

    `picture`: answers over one or two columns of ``domain``. `noun`: what is counted: "people" or "records". `marks`:
    Modes; bars have none. `asked`: the values of the picture's columns that are asked. `lines`: an outline under a map
    of coordinates; None for coasts and borders.
    """
    columns = domain.drawn
    if isinstance(picture, Heatmap):
        return density_map(picture, (columns[picture.x], columns[picture.y]), noun, marks, asked, lines)
    column, value = columns[picture.column], asked[0] if asked else None
    if isinstance(column, (Categorical, Ordered)):
        return density_bars(picture, column, noun, value)
    return density_line(picture, column, noun, marks, value)


def density_line(
    curve: Curve, column: Column, noun: str, marks: Marks | None = None, asked: object = None
) -> go.Figure:
    """The density along a column of numbers: a curve with its band, hatched where the noise hides it.

    `marks`: Modes; their ``y`` are kernel sums.
    """
    x = Axis.of(column, curve.values)
    hidden = hidden_by_noise(curve)
    seen = np.where(hidden, np.nan, curve.estimate)
    around = [band(x.values, curve.low, curve.high), polygon(*_hidden_band(x, curve, hidden))]
    figure = go.Figure([*(around if curve.errors_known else []), line(x.values, seen, GUESS)])
    _add_marks(figure, marks)
    heights = np.where(hidden, 0.0, curve.estimate)
    words = answers_in_words(curve.estimate, curve.standard_error, hidden, noun)
    add_column_targets(figure, x, heights, words, asked)
    return laid_out_column(figure, x, close_by(noun, curve.averaged), rangemode="tozero")


def density_bars(curve: Curve, column: Column, noun: str, asked: object = None) -> go.Figure:
    """The density of each category of a column: bars with intervals, hatched where the noise hides them."""
    x = Axis.of(column, curve.values)
    figure = go.Figure(interval_bars(x, curve, ~curve.drowned, BOTH, {"color": TEAL.shape}))
    if curve.drowned.any():
        hollow = {"color": CLEAR, "pattern": PATTERN, "line": {"width": 0}}
        figure.add_trace(interval_bars(x, curve, curve.drowned, HATCHED, hollow))
    words = answers_in_words(curve.estimate, curve.standard_error, curve.drowned, noun)
    add_column_targets(figure, x, curve.estimate / 2.0, words, asked)
    return laid_out_column(figure, x, close_by(noun, curve.averaged), rangemode="tozero").update_layout(
        barmode="overlay", bargap=0.35
    )


def density_map(
    heatmap: Heatmap,
    columns: tuple[Column, Column],
    noun: str,
    marks: Marks | None = None,
    asked: tuple[object, object] | None = None,
    lines: tuple[np.ndarray, ...] | None = None,
) -> go.Figure:
    """The density over two columns: colours and contours where it stands out from the noise, hatching elsewhere."""
    x, y = Axis.of(columns[0], heatmap.x_values), Axis.of(columns[1], heatmap.y_values)
    ordered = not x.categories and not y.categories
    hidden = hidden_by_noise(heatmap)
    seen = short(np.where(hidden, np.nan, heatmap.estimate), SHADES)
    # Plotly smooths colours only where none is missing.
    smooth = "best" if ordered and not hidden.any() else False
    figure = go.Figure(cells(x, y, seen, zmin=0, zmax=highest(seen), zsmooth=smooth, colorbar=SCALE_BAR))
    if ordered and not hidden.all():
        figure.add_trace(contours(x, y, heatmap.estimate, hidden))
    figure.add_trace(hatch(hidden, x, y))
    if is_map(*columns):
        figure.add_trace(outline(world() if lines is None else lines, x, y, columns))
    _add_marks(figure, marks)
    figure.add_trace(_lattice(x, y, heatmap, hidden, noun, asked))
    return with_scale(figure, x, y, close_by(noun, heatmap.averaged))


# The bar of colours above a map.
SCALE_BAR = {"orientation": "h", "x": 0, "xanchor": "left", "yref": "container", "y": 0.96, "yanchor": "top"}
SCALE_BAR |= {"thickness": 10, "tickformat": ",", "outlinewidth": 0, "nticks": 6}


def with_scale(figure: go.Figure, x: Axis, y: Axis, words: str) -> go.Figure:
    """A map that can be clicked, with its axes and with the words above its colour bar."""
    figure_axes.clickable(figure)
    apply(figure, x, y)
    above = {"x": 0, "xref": "paper", "xanchor": "left", "y": 1, "yref": "paper", "yanchor": "bottom", "yshift": 52}
    figure.add_annotation(text=words, showarrow=False, name=SCALE, **above)
    return lying(figure, MAP_HEIGHT).update_layout(margin={"t": COLOUR_BAR})


def scale_aside(figure: go.Figure) -> go.Figure:
    """The figure of a map with its colour bar upright at its right, where a window is wider than high."""
    said = [note.text for note in figure.layout.annotations if note.name == SCALE]
    if not said:
        return figure
    kept = [note for note in figure.layout.annotations if note.name != SCALE]
    bar = {"orientation": "v", "x": 1.01, "xanchor": "left", "y": 1, "yref": "paper", "yanchor": "top", "len": 1}
    title = {"text": said[0], "side": "right"}
    figure.update_traces(colorbar=bar | {"title": title}, selector={"type": "heatmap"})
    return figure.update_layout(annotations=kept, margin={"t": 24})


def picture_in_words(what: str, picture: Curve | Heatmap, place: str, noun: str) -> str:
    """The text alternative of a figure: where most are, how many, and how much of it the noise hides."""
    covered = hidden_by_noise(picture)
    if covered.all():
        return f"{what}. The noise hides all of it."
    most = int(picture.estimate.argmax())
    estimate, low, high, error = (
        float(part.ravel()[most]) for part in (picture.estimate, picture.low, picture.high, picture.standard_error)
    )
    if not picture.errors_known:
        return f"{what}. It is highest at {place}, with about {best_guess(estimate, error)} {close_by(noun)}. {UNSURE}"
    least, greatest = rounded_range(low, high, error)
    hidden = 100 * float(covered.mean())
    return (
        f"{what}. It is highest at {place}, with about {rounded(estimate, error)} {close_by(noun)}, very likely "
        f"between {least} and {greatest}. The noise hides {'none' if hidden == 0 else f'{hidden:.0f}%'} of it."
    )


def _hidden_band(x: Axis, curve: Curve, hidden: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The part of a band that the noise hides: one ring for every run of hidden places, NaN between the rings."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], hidden.astype(np.int8), [0]])))
    xs, ys = [np.empty(0)], [np.empty(0)]
    for first, last in zip(edges[::2], edges[1::2], strict=True):
        run = slice(max(first - 1, 0), last + 1)
        places = x.values[run]
        xs += [places, places[::-1], places[:1], [np.nan]]
        ys += [curve.high[run], curve.low[run][::-1], curve.high[run][:1], [np.nan]]
    return np.concatenate(xs), np.concatenate(ys)


def contours(x: Axis, y: Axis, estimate: np.ndarray, hidden: np.ndarray) -> go.Contour:
    smooth = gaussian_filter(estimate, [size / CONTOUR_SMOOTHING for size in estimate.shape], mode="nearest")
    up, across = (slice(None, None, max(1, size // CONTOUR_CELLS)) for size in estimate.shape)
    heights = short(np.where(hidden, np.nan, smooth)[up, across], HEIGHTS)
    step = highest(heights) / CONTOURS
    levels = {"start": step, "end": step * (CONTOURS - 1), "size": step}
    return contour(x.values[across], y.values[up], heights, levels, {"color": FAINT.shape, "width": 1})


def _lattice(
    x: Axis, y: Axis, heatmap: Heatmap, hidden: np.ndarray, noun: str, asked: tuple[object, object] | None
) -> go.Scatter:
    """Targets at every k-th place of either axis."""
    across, up = (evenly(len(axis.values)) for axis in (x, y))
    parts = (part[np.ix_(up, across)].ravel() for part in (heatmap.estimate, heatmap.standard_error, hidden))
    return lattice(x, y, x.values[across], y.values[up], answers_in_words(*parts, noun), asked)


def lattice(
    x: Axis, y: Axis, across: np.ndarray, up: np.ndarray, said: list[str], asked: tuple[object, ...] | None
) -> go.Scatter:
    """Targets at places across and up, row by row, each with its place and what is said of it."""
    left, high = ([f"{axis.name} {axis.words(v)}" for v in places] for axis, places in ((x, across), (y, up)))
    places = [in_plotly(f"{a}, {b}") for b in high for a in left]
    words = [f"{at}<br>{text}" for at, text in zip(places, said, strict=True)]
    xs, ys = np.meshgrid(across, up)
    place = None if asked is None else (x.place(asked[0]), y.place(asked[1]))
    return figure_axes.targets(xs.ravel(), ys.ravel(), words, place)


def evenly(n: int) -> np.ndarray:
    """Indices of at most `MAX_TARGETS` evenly spread places out of n."""
    stride = -(-n // MAX_TARGETS)
    return np.arange((stride - 1) // 2, n, stride)


def add_column_targets(figure: go.Figure, x: Axis, heights: np.ndarray, words: list[str], asked: object) -> None:
    said = [
        in_plotly(f"{x.name} {x.words(place)}") + f"<br>{text}" for place, text in zip(x.values, words, strict=True)
    ]
    place = None
    if asked is not None:
        at = x.place(asked)
        place = (at, float(np.interp(at, x.values, heights)))
    figure.add_trace(figure_axes.targets(x.values, heights, said, place))


def _add_marks(figure: go.Figure, marks: Marks | None) -> None:
    if marks is None or len(marks.x) == 0:
        return
    faint = np.where(np.ones(len(marks.x), bool) if marks.sure is None else marks.sure, 1.0, DOUBTFUL)
    badge = {"symbol": "circle", "line": {"width": 1.5, "color": INK.light}, "opacity": faint}
    numbers = {"text": [str(i + 1) for i in range(len(marks.x))], "textfont": {"size": 12, "color": INK.light}}
    more = numbers | {"mode": "markers+text", "unselected": figure_axes.UNFADED}
    figure.add_trace(dots(marks.x, marks.y, "Modes", PAPER.light, 19, marker=badge, **more))


def laid_out_column(figure: go.Figure, x: Axis, words: str, **more: object) -> go.Figure:
    """A picture along one column, with the words beside it."""
    apply(figure, x)
    figure.update_yaxes(title={"text": words}, tickformat=",", zeroline=False, nticks=6, **more)
    figure_axes.clickable(figure)
    return lying(figure, HEIGHT).update_layout(hovermode="x")


def lying(figure: go.Figure, height: int, legend: dict[str, object] | None = None) -> go.Figure:
    """A picture with room for its axes and its legend, that keeps its zoom when it is drawn again."""
    below = {"orientation": "h", "x": 0, "xanchor": "left", "y": -0.14, "yanchor": "top"}
    figure.update_xaxes(automargin=True, title_standoff=12)
    figure.update_yaxes(automargin=True, title_standoff=12)
    margin = {"l": 8, "r": 24, "t": 24, "b": 8, "pad": 0}
    return figure.update_layout(height=height, margin=margin, legend=legend or below, uirevision="constant")
