"""Figures of what two releases differ by: lines and bars around zero, maps of more and less, cells of two columns.

Only what cannot be noise alone is coloured: teal where the first has more, another colour where it has less.
"""

import math
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from ..analysis.density import Curve, Heatmap
from ..analysis.differences import CellDifferences, Strength
from ..analysis.table_profile import words_for_cells, written
from ..domain import Categorical, Domain, Ordered
from ..formatting.escapes import in_plotly
from ..formatting.numbers import percent, shortened, significant
from ..runtime.counter_tables import Floats
from ..sketches.tables.table_axes import Axis as Cells
from .class_figures import CLASS_COLOURS
from .density_figures import COLOUR_BAR
from .figure_axes import Axis, apply, marked
from .palette import FAINT, TEAL, faded
from .traces import ABOVE, band, bars, cells, laid_out, line, spread

HEIGHT, MAP_HEIGHT = 420, 460
LESS, MORE = CLASS_COLOURS[1], TEAL.shape
UNTOLD = "may be noise alone"
SCALE = [[0.0, LESS], [0.5, faded(FAINT.shape, 0.05)], [1.0, MORE]]  # Colours from less to more.


def told(picture: Curve | Heatmap) -> np.ndarray:
    """Where the band leaves zero out, bool of the picture's shape."""
    return np.asarray((picture.low > 0.0) | (picture.high < 0.0))


def difference_figure(picture: Curve | Heatmap, domain: Domain, title: str, shares: bool) -> go.Figure:
    """The figure of a difference along one column or over two.

    `shares`: whether they are shares, which are written as such.
    """
    columns = domain.drawn
    if isinstance(picture, Heatmap):
        return _map(picture, columns, title, shares)
    column = columns[picture.column]
    if isinstance(column, (Categorical, Ordered)):
        return difference_bars(list(picture.values), picture.estimate, picture.low, picture.high, title, shares)
    x = Axis.of(column, picture.values)
    figure = go.Figure(band(x.values, picture.low, picture.high, colour=FAINT.shape, opacity=0.25))
    for mask, colour, name in (
        (picture.low > 0.0, MORE, "more in the first"),
        (picture.high < 0.0, LESS, "less in the first"),
        (~told(picture), faded(FAINT.shape, 0.9), UNTOLD),
    ):
        width, seen = 1.5 if name == UNTOLD else 2.5, np.where(mask, picture.estimate, np.nan)
        figure.add_trace(line(x.values, seen, name, colour, width, said="%{x}: %{y:" + _form(shares) + "}"))
    apply(figure, x)
    return _laid_out(figure, title, shares)


def difference_bars(
    labels: Sequence[object], estimate: Floats, low: Floats, high: Floats, title: str, shares: bool
) -> go.Figure:
    """Bars of the differences in each of several cells or categories, with bands."""
    more, less = low > 0.0, high < 0.0
    colours = [MORE if up else LESS if down else faded(FAINT.shape, 0.45) for up, down in zip(more, less, strict=True)]
    said, reach = "%{x}: %{y:" + _form(shares) + "}", spread(high - estimate, estimate - low, width=4)
    figure = go.Figure(bars([in_plotly(str(label)) for label in labels], estimate, None, colours, said, error_y=reach))
    figure.update_xaxes(type="category")
    return _laid_out(figure, title, shares)


def _map(heatmap: Heatmap, columns: dict, title: str, shares: bool) -> go.Figure:
    x, y = Axis.of(columns[heatmap.x], heatmap.x_values), Axis.of(columns[heatmap.y], heatmap.y_values)
    seen = np.where(told(heatmap), heatmap.estimate, np.nan)
    most = float(np.nanmax(np.abs(seen))) if np.isfinite(seen).any() else 1.0
    bar = {"thickness": 10, "outlinewidth": 0, "tickformat": _form(shares)}
    ends = {"zmin": -most, "zmax": most, "colorscale": SCALE, "colorbar": bar}
    figure = go.Figure(cells(x, y, seen, hovertemplate="%{z:" + _form(shares) + "}<extra></extra>", **ends))
    apply(figure, x, y)
    above = {"x": 0, "xref": "paper", "xanchor": "left", "y": 1.01, "yref": "paper", "yanchor": "bottom"}
    figure.add_annotation(text=in_plotly(title), showarrow=False, **above)
    return laid_out(figure, HEIGHT + 80, margin={"t": 34})


def difference_in_words(estimate: Floats, low: Floats, high: Floats, shares: bool) -> str:
    """The figure in a sentence or two, also its text alternative."""
    more, less = low > 0.0, high < 0.0
    if not (more | less).any():
        return "Nowhere is the difference more than noise alone may make."
    at = int(np.argmax(np.where(more | less, np.abs(estimate), 0.0)))
    largest = percent(abs(float(estimate.flat[at]))) if shares else significant(abs(float(estimate.flat[at])), 2)
    which = "more" if more.flat[at] else "less"
    return (
        f"The first has told more at {percent(float(more.mean()))} of the places and less at "
        f"{percent(float(less.mean()))}; the largest difference that is more than noise is {largest} {which}. Where "
        "nothing changed, 5 of 100 places would be told apart by chance."
    )


def _form(shares: bool) -> str:
    return ".2~%" if shares else ",.3~g"


def _laid_out(figure: go.Figure, title: str, shares: bool) -> go.Figure:
    zero = {"zeroline": True, "zerolinecolor": FAINT.shape, "zerolinewidth": 1}
    figure.update_yaxes(title=in_plotly(title), tickformat=_form(shares), **zero)
    return laid_out(figure, HEIGHT, ABOVE, margin={"t": 34}, showlegend=True)


GREY = faded(FAINT.shape, 0.3)


def cell_differences_figure(found: CellDifferences, title: str, shares: bool) -> go.Figure:
    """More and less in colours, and grey where noise alone may have made the difference."""
    told = (found.low > 0.0) | (found.high < 0.0)
    x, y = _side_by_side(found.across), _side_by_side(found.up)
    words = _words(found, told, shares)
    most = float(np.abs(found.estimate[told]).max()) if told.any() else 1.0
    bar = {"orientation": "h", "thickness": 10, "len": 0.5, "x": 0, "xanchor": "left", "y": 1.0, "yanchor": "bottom"}
    shown = {"text": words, "hovertemplate": "%{text}<extra></extra>", "xgap": 1, "ygap": 1, "hoverongaps": False}
    grey = {"colorscale": [[0.0, GREY], [1.0, GREY]], "showscale": False}
    marks = {
        "tickformat": ".2~p" if shares else ",.3~g",
        "nticks": 4,
        "title": {"text": in_plotly(title), "side": "top"},
    }
    ends = {"zmin": -most, "zmax": most, "colorscale": SCALE, "showscale": bool(told.any()), "colorbar": bar | marks}
    untold = cells(x, y, np.where(told, np.nan, 0.0), **grey, **shown)
    figure = go.Figure([untold, cells(x, y, np.where(told, found.estimate, np.nan), **ends, **shown)])
    for axis, update in ((found.across, figure.update_xaxes), (found.up, figure.update_yaxes)):
        update(**_cell_ticks(axis), showgrid=False, zeroline=False, automargin=True, range=[-0.5, axis.valued - 0.5])
        update(title={"text": in_plotly(shortened(axis.name)), "standoff": 16})
    return laid_out(figure, MAP_HEIGHT, margin={"r": 12, "t": COLOUR_BAR, "pad": 0})


def _side_by_side(axis: Cells) -> Axis:
    """The cells of a column side by side, each as wide as any other."""
    return Axis(axis.name, np.arange(axis.valued, dtype=np.float64), -0.5, axis.valued - 0.5)


def _cell_ticks(axis: Cells) -> dict:
    """Marks of cells that stand side by side: their categories, or where some of them begin."""
    if axis.categories:
        every = marked(axis.categories[: axis.valued])
        labels = [in_plotly(shortened(category, 16)) for category in axis.categories[: axis.valued : every]]
        return {"tickmode": "array", "tickvals": np.arange(axis.valued)[::every], "ticktext": labels}
    every = max(1, math.ceil(axis.valued / 6))
    some = np.arange(0, axis.valued + (0 if axis.steps is not None else 1), every)
    if axis.of_single_values:
        return {"tickmode": "array", "tickvals": some, "ticktext": [written(axis, axis.edges()[i]) for i in some]}
    return {"tickmode": "array", "tickvals": some - 0.5, "ticktext": [written(axis, axis.edges()[i]) for i in some]}


def place_differences_figure(found: CellDifferences, title: str, shares: bool) -> go.Figure:
    """Differences over longitude and latitude, as a map: a kilometre as long either way."""
    figure, across, up = cell_differences_figure(found, title, shares), found.across, found.up
    middle = math.radians((up.low + up.high) / 2.0)
    ratio = (up.high - up.low) / up.valued
    ratio /= math.cos(middle) * (across.high - across.low) / across.valued
    figure.update_yaxes(scaleanchor="x", scaleratio=ratio, constrain="domain")
    return figure.update_xaxes(constrain="domain")


def strength_words(row: Strength) -> tuple[str, str, str]:
    """How strongly two columns go together in the first table and in the second, and the difference with its band."""
    before, after = (significant(value, 2) for value in (row.first, row.second))
    return before, after, difference_words(row.estimate, row.low, row.high, shares=False)


def difference_words(estimate: float, low: float, high: float, shares: bool) -> str:
    """A difference with its band: "+3.1% (2.0% to 4.2%)"."""
    parts = (signed(value, shares) for value in (estimate, low, high))
    return "{} ({} to {})".format(*parts)


def signed(value: float, shares: bool) -> str:
    """A difference with its sign, in three digits."""
    if not value or not np.isfinite(value):
        return "0" if not value else "unknown"
    size = percent(abs(value), 3) if shares else significant(abs(value), 3)
    return f"{'+' if value > 0 else '−'}{size}"


def _words(found: CellDifferences, told: np.ndarray, shares: bool) -> list[list[str]]:
    names = [[words_for_cells(axis, [cell]) for cell in range(axis.valued)] for axis in (found.across, found.up)]
    return [
        [
            in_plotly(
                f"{names[0][i]}, {names[1][j]}: "
                f"{difference_words(found.estimate[j, i], found.low[j, i], found.high[j, i], shares)}"
                f"{'' if told[j, i] else ', ' + UNTOLD}"
            )
            for i in range(found.across.valued)
        ]
        for j in range(found.up.valued)
    ]
