"""Figures of released distances: how far everyone is, on average, from each place along one or two columns.

Near is dark and far is light, as on the map of a density the places in the middle of everyone stand out. Noise hides
nothing here: a place is some distance from everyone wherever it is, and the band says how well that is known.
"""

from __future__ import annotations

import math

import numpy as np
import plotly.graph_objects as go
from scipy.interpolate import RegularGridInterpolator

from ..analysis.density import Curve, Heatmap
from ..domain import Categorical, Column, Domain, Ordered, Scalar, Vector
from ..formatting.escapes import in_plotly
from ..formatting.numbers import rounded_all
from ..sketches.linear import LinearSketch
from . import figure_axes
from .density_figures import (
    COLOUR_BAR,
    CONTOURS,
    HEIGHT,
    MAP_HEIGHT,
    MAX_TARGETS,
    SCALE,
    Marks,
    add_column_targets,
    laid_out,
)
from .figure_axes import Axis, apply
from .forecast_figures import PLACES, SIMULATED, PossibleReleases, imagined_crowd
from .palette import FAINT, INK, PAPER, TEAL, faded

NEAREST, CENTRES = "Nearest to everyone", "Centres"  # The legend's words for one cross, and for several.


def distance_figure(
    picture: Curve | Heatmap,
    domain: Domain,
    unit: str,
    marks: Marks | None = None,
    asked: tuple[object, ...] | None = None,
) -> go.Figure:
    """The figure of a picture of average distances: a curve, bars or a map, as its columns need.

    Parameters
    ----------
    picture : Curve | Heatmap
        Average distances, not sums, over one or two columns of ``domain``.
    unit : str
        Of distance, "" where there is none.
    marks : Marks | None
        Centres.
    """
    columns = {column.name: column for column in domain.columns}
    if isinstance(picture, Heatmap):
        return _map(picture, (columns[picture.x], columns[picture.y]), unit, marks, asked)
    column, value = columns[picture.column], asked[0] if asked else None
    return _along(picture, column, unit, marks, value)


def distance_unit(sketch: LinearSketch) -> str:
    """The unit in which a sketch's distances come out, "" where its columns have none in common.

    Columns that are measured in shares of their ranges have ranges as their unit.
    """
    norm = sketch.distance_norm
    if norm.startswith("lp:"):
        return ""
    if sketch.domain.scale == "box":
        return "squared ranges" if norm == "squared" else "ranges"
    units = {column.measure for column in sketch.domain.columns if isinstance(column, (Scalar, Vector))}
    unit = units.pop() if len(units) == 1 else ""
    return f"{unit}²" if unit and norm == "squared" else unit


def distance_title(unit: str) -> str:
    """What a distance figure shows, for an axis or a colour bar."""
    return f"average distance ({unit})" if unit else "average distance"


def distances_in_words(estimates: np.ndarray, errors: np.ndarray, unit: str) -> list[str]:
    """What each answer says at a glance; arrays (n,)."""
    return [f"everyone is {text} {unit}".rstrip() + " away on average" for text in rounded_all(estimates, errors)]


def _along(curve: Curve, column: Column, unit: str, marks: Marks | None, asked: object) -> go.Figure:
    x = Axis.of(column, curve.values)
    if isinstance(column, (Categorical, Ordered)):
        reach = np.where(np.isfinite(curve.high), curve.high - curve.estimate, np.nan)
        spread = {"type": "data", "array": reach, "color": INK.shape, "thickness": 1.5, "width": 5}
        figure = go.Figure(
            go.Bar(
                x=x.values,
                y=curve.estimate,
                error_y=spread,
                marker={"color": TEAL.shape},
                hoverinfo="skip",
                name="best guess, and where it very likely is",
                unselected=figure_axes.UNFADED,
            )
        )
    else:
        band = go.Scatter(
            x=np.concatenate([x.values, x.values[::-1]]),
            y=np.concatenate([curve.high, curve.low[::-1]]),
            mode="lines",
            line={"width": 0, "color": TEAL.shape},
            fill="toself",
            hoverinfo="skip",
            fillcolor=faded(TEAL.shape, 0.22),
            name="very likely within",
        )
        figure = go.Figure(
            [
                *([band] if curve.errors_known else []),
                go.Scatter(
                    x=x.values,
                    y=curve.estimate,
                    mode="lines",
                    line={"width": 2.5, "color": TEAL.shape},
                    hoverinfo="skip",
                    name="best guess",
                ),
            ]
        )
    _add_centres(figure, marks)
    words = distances_in_words(curve.estimate, curve.standard_error, unit)
    add_column_targets(figure, x, curve.estimate, words, asked)
    apply(figure, x)
    figure.update_yaxes(title={"text": distance_title(unit)}, tickformat=",", zeroline=False, nticks=6)
    figure_axes.clickable(figure)
    return laid_out(figure, HEIGHT).update_layout(hovermode="x", bargap=0.35)


def _map(
    heatmap: Heatmap, columns: tuple[Column, Column], unit: str, marks: Marks | None, asked: tuple[object, ...] | None
) -> go.Figure:
    x, y = Axis.of(columns[0], heatmap.x_values), Axis.of(columns[1], heatmap.y_values)
    ordered = not x.categories and not y.categories
    values = heatmap.estimate.astype(np.float32)
    bar = {
        "orientation": "h",
        "x": 0,
        "xanchor": "left",
        "yref": "container",
        "y": 0.96,
        "yanchor": "top",
        "thickness": 10,
        "tickformat": ",",
        "outlinewidth": 0,
        "nticks": 6,
    }
    figure = go.Figure(
        go.Heatmap(
            x=x.values,
            y=y.values,
            z=values,
            reversescale=True,
            zsmooth="best" if ordered else False,
            hoverinfo="skip",
            colorbar=bar,
        )
    )
    if ordered:
        figure.add_trace(_rings(x, y, values))
    _add_centres(figure, marks)
    figure.add_trace(_targets(x, y, heatmap, unit, asked))
    figure_axes.clickable(figure)
    apply(figure, x, y)
    figure.add_annotation(
        text=distance_title(unit),
        x=0,
        xref="paper",
        xanchor="left",
        y=1,
        yref="paper",
        yanchor="bottom",
        yshift=52,
        showarrow=False,
        name=SCALE,
    )
    return laid_out(figure, MAP_HEIGHT).update_layout(margin={"t": COLOUR_BAR})


def _rings(x: Axis, y: Axis, values: np.ndarray) -> go.Contour:
    """Lines of equal distance, evenly between the nearest and the farthest place."""
    least, most = float(values.min()), float(values.max())
    step = (most - least) / (CONTOURS + 1) or 1.0
    levels = {"coloring": "none", "start": least + step, "end": most - step / 2, "size": step}
    return go.Contour(
        x=x.values,
        y=y.values,
        z=values,
        contours=levels,
        line={"color": FAINT.shape, "width": 1},
        showscale=False,
        hoverinfo="skip",
        showlegend=False,
    )


def _targets(x: Axis, y: Axis, heatmap: Heatmap, unit: str, asked: tuple[object, ...] | None) -> go.Scatter:
    """Targets as close together as a picture may have them; between its cells they say what lies between."""
    across, up = _places(x), _places(y)
    grid = np.stack(np.meshgrid(up, across, indexing="ij"), axis=-1)
    estimates, errors = (
        RegularGridInterpolator((y.values, x.values), part, bounds_error=False, fill_value=None)(grid).ravel()
        for part in (heatmap.estimate, heatmap.standard_error)
    )
    left, high = ([f"{axis.name} {axis.words(v)}" for v in places] for axis, places in ((x, across), (y, up)))
    places = [in_plotly(f"{a}, {b}") for b in high for a in left]
    said = distances_in_words(estimates, np.maximum(errors, 0.0), unit)
    words = [f"{at}<br>{in_plotly(text)}" for at, text in zip(places, said, strict=True)]
    xs, ys = np.meshgrid(across, up)
    place = None if asked is None else (x.place(asked[0]), y.place(asked[1]))
    return figure_axes.targets(xs.ravel(), ys.ravel(), words, place)


def _places(axis: Axis) -> np.ndarray:
    """Where the targets along an axis are: every category, or many numbers between the bounds."""
    if axis.categories:
        return axis.values
    return axis.low + (np.arange(MAX_TARGETS) + 0.5) * ((axis.high - axis.low) / MAX_TARGETS)


def _add_centres(figure: go.Figure, marks: Marks | None) -> None:
    """A cross where everyone is nearest, or at every one of several centres."""
    if marks is None or len(marks.x) == 0:
        return
    cross = {"symbol": "cross", "size": 15, "color": PAPER.light, "line": {"width": 2, "color": INK.light}}
    name = NEAREST if len(marks.x) == 1 else CENTRES
    figure.add_trace(
        go.Scatter(
            x=marks.x,
            y=marks.y,
            mode="markers",
            marker=cross,
            hoverinfo="skip",
            name=name,
            unselected=figure_axes.UNFADED,
        )
    )


# Counters that all simulated tables together may have; of larger tables fewer releases are drawn.
LARGEST_SIMULATED = 4_000_000
LEAST_SIMULATED = 10


def possible_distances(
    low: float, high: float, sketch: LinearSketch, coordinates: np.ndarray, records: float, counter_variance: float
) -> PossibleReleases:
    """Simulate average distances from places along one column; no data and no privacy noise is touched.

    An answer is linear in the table, so what noise does to it is the answer to a table of noise alone. The draws are
    fixed ones (a public seed), so that moving a control changes the picture by its effect alone.

    Parameters
    ----------
    sketch : LinearSketch
        Of distances, with its size.
    coordinates : np.ndarray
        Encoded places along the column, float64 (PLACES, dimensions); the crowd stands on them.
    """
    share = np.linspace(0, 1, PLACES)
    people = imagined_crowd(share)
    distances = np.column_stack([sketch.exact(coordinates, coordinates[[place]]) for place in range(PLACES)])
    crowd = distances @ people / people.sum()
    draws = min(SIMULATED, max(LEAST_SIMULATED, LARGEST_SIMULATED // math.prod(sketch.shape)))
    random, deviation = np.random.default_rng(0), math.sqrt(counter_variance)
    releases = np.empty((draws, PLACES))
    without = _answers(sketch, sketch.zeros(), coordinates)
    for draw in range(draws):
        noise = np.rint(deviation * random.standard_normal(sketch.shape)).astype(np.int64)
        releases[draw] = crowd + (_answers(sketch, noise, coordinates) - without) / records
    moved = np.abs(share[releases.argmin(axis=1)] - share[crowd.argmin()])
    return PossibleReleases(low + share * (high - low), crowd, releases, int((moved <= 0.1).sum()))


def _answers(sketch: LinearSketch, table: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
    return sketch.answer(table, 1.0, coordinates, 1.0, 0.95).estimate


def possible_distances_in_words(possible: PossibleReleases) -> str:
    """One sentence: how often the place that is nearest to everyone is found."""
    return (
        f"In {possible.kept} of {len(possible.releases)} simulated releases the place nearest to everyone, the lowest "
        "point, is found where it is, give or take a tenth of the bounds."
    )
