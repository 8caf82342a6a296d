"""Figures of released distances: how far everyone is, on average, from each place along one or two columns.

Near is dark and far is light, as on the map of a density the places in the middle of everyone stand out. Noise hides
nothing here: a place is some distance from everyone wherever it is, and the band says how well that is known.
"""

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
    CONTOURS,
    MAX_TARGETS,
    SCALE_BAR,
    Marks,
    add_column_targets,
    laid_out_column,
    lattice,
    with_scale,
)
from .figure_axes import Axis
from .palette import FAINT, INK, PAPER, TEAL
from .traces import BOTH, GUESS, band, cells, contour, dots, interval_bars, line

NEAREST, CENTRES = "Nearest to everyone", "Centres"  # The legend's words for one cross, and for several.


def distance_figure(
    picture: Curve | Heatmap,
    domain: Domain,
    unit: str,
    marks: Marks | None = None,
    asked: tuple[object, ...] | None = None,
) -> go.Figure:
    """The figure of a picture of average distances: a curve, bars or a map, as its columns need.

    `picture`: Average distances, not sums, over one or two columns of ``domain``. `unit`: of distance, "" where there
    is none. `marks`: Centres.
    """
    columns = domain.drawn
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
        figure = go.Figure(interval_bars(x, curve, np.ones(len(x.values), bool), BOTH, {"color": TEAL.shape}))
    else:
        around = [band(x.values, curve.low, curve.high)] if curve.errors_known else []
        figure = go.Figure([*around, line(x.values, curve.estimate, GUESS)])
    _add_centres(figure, marks)
    words = distances_in_words(curve.estimate, curve.standard_error, unit)
    add_column_targets(figure, x, curve.estimate, words, asked)
    return laid_out_column(figure, x, distance_title(unit)).update_layout(bargap=0.35)


def _map(
    heatmap: Heatmap, columns: tuple[Column, Column], unit: str, marks: Marks | None, asked: tuple[object, ...] | None
) -> go.Figure:
    x, y = Axis.of(columns[0], heatmap.x_values), Axis.of(columns[1], heatmap.y_values)
    ordered = not x.categories and not y.categories
    values = heatmap.estimate.astype(np.float32)
    smooth = "best" if ordered else False
    figure = go.Figure(cells(x, y, values, reversescale=True, zsmooth=smooth, colorbar=SCALE_BAR))
    if ordered:
        figure.add_trace(_rings(x, y, values))
    _add_centres(figure, marks)
    figure.add_trace(_targets(x, y, heatmap, unit, asked))
    return with_scale(figure, x, y, distance_title(unit))


def _rings(x: Axis, y: Axis, values: np.ndarray) -> go.Contour:
    """Lines of equal distance, evenly between the nearest and the farthest place."""
    least, most = float(values.min()), float(values.max())
    step = (most - least) / (CONTOURS + 1) or 1.0
    levels = {"start": least + step, "end": most - step / 2, "size": step}
    return contour(x.values, y.values, values, levels, {"color": FAINT.shape, "width": 1})


def _targets(x: Axis, y: Axis, heatmap: Heatmap, unit: str, asked: tuple[object, ...] | None) -> go.Scatter:
    """Targets as close together as a picture may have them; between its cells they say what lies between."""
    across, up = _places(x), _places(y)
    grid = np.stack(np.meshgrid(up, across, indexing="ij"), axis=-1)
    estimates, errors = (
        RegularGridInterpolator((y.values, x.values), part, bounds_error=False, fill_value=None)(grid).ravel()
        for part in (heatmap.estimate, heatmap.standard_error)
    )
    said = [in_plotly(text) for text in distances_in_words(estimates, np.maximum(errors, 0.0), unit)]
    return lattice(x, y, across, up, said, asked)


def _places(axis: Axis) -> np.ndarray:
    """Where the targets along an axis are: every category, or many numbers between the bounds."""
    if axis.categories:
        return axis.values
    return axis.low + (np.arange(MAX_TARGETS) + 0.5) * ((axis.high - axis.low) / MAX_TARGETS)


def _add_centres(figure: go.Figure, marks: Marks | None) -> None:
    """A cross where everyone is nearest, or at every one of several centres."""
    if marks is None or len(marks.x) == 0:
        return
    cross = {"symbol": "cross", "line": {"width": 2, "color": INK.light}}
    name = NEAREST if len(marks.x) == 1 else CENTRES
    still = {"unselected": figure_axes.UNFADED}
    figure.add_trace(dots(marks.x, marks.y, name, PAPER.light, 15, marker=cross, **still))
