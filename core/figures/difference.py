"""Figures of what two releases differ by: lines and bars around zero, and a map of more and less.

Only what cannot be noise alone is coloured: teal where the first has more, another colour where it has less.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from ..domain import Categorical, Domain, Ordered
from ..machine.array_types import Floats
from ..tasks.density import Curve, Heatmap
from ..words.escapes import in_plotly
from ..words.numbers import percent, significant
from .axes import Axis, apply
from .classes import CLASS_COLOURS
from .palette import FAINT, INK, TEAL, faded

HEIGHT = 420
LESS, MORE = CLASS_COLOURS[1], TEAL.shape
UNTOLD = "may be noise alone"
SCALE = [[0.0, LESS], [0.5, faded(FAINT.shape, 0.05)], [1.0, MORE]]
"""From less to more."""


def told(picture: Curve | Heatmap) -> np.ndarray:
    """Where the band leaves zero out, bool of the picture's shape."""
    return np.asarray((picture.low > 0.0) | (picture.high < 0.0))


def difference_figure(picture: Curve | Heatmap, domain: Domain, title: str, shares: bool) -> go.Figure:
    """The figure of a difference along one column or over two.

    Parameters
    ----------
    picture, domain : Curve | Heatmap, Domain
        The difference, and the columns.
    title : str
        What the values are.
    shares : bool
        Whether they are shares, which are written as such.
    """
    columns = {column.name: column for column in domain.columns}
    if isinstance(picture, Heatmap):
        return _map(picture, columns, title, shares)
    column = columns[picture.column]
    if isinstance(column, (Categorical, Ordered)):
        return difference_bars(list(picture.values), picture.estimate, picture.low, picture.high, title, shares)
    x = Axis.of(column, picture.values)
    figure = go.Figure(
        go.Scatter(
            x=np.concatenate([x.values, x.values[::-1]]),
            y=np.concatenate([picture.high, picture.low[::-1]]),
            mode="lines",
            line={"width": 0, "color": FAINT.shape},
            fill="toself",
            fillcolor=faded(FAINT.shape, 0.25),
            hoverinfo="skip",
            name="very likely within",
        )
    )
    for mask, colour, name in (
        (picture.low > 0.0, MORE, "more in the first"),
        (picture.high < 0.0, LESS, "less in the first"),
        (~told(picture), faded(FAINT.shape, 0.9), UNTOLD),
    ):
        figure.add_trace(
            go.Scatter(
                x=x.values,
                y=np.where(mask, picture.estimate, np.nan),
                mode="lines",
                line={"width": 2.5 if name != UNTOLD else 1.5, "color": colour},
                name=name,
                hovertemplate="%{x}: %{y:" + _form(shares) + "}<extra>" + name + "</extra>",
            )
        )
    apply(figure, x)
    return _laid_out(figure, title, shares)


def difference_bars(
    labels: Sequence[object], estimate: Floats, low: Floats, high: Floats, title: str, shares: bool
) -> go.Figure:
    """Bars of the differences in each of several cells or categories, with bands."""
    more, less = low > 0.0, high < 0.0
    colours = [MORE if up else LESS if down else faded(FAINT.shape, 0.45) for up, down in zip(more, less, strict=True)]
    figure = go.Figure(
        go.Bar(
            x=[in_plotly(str(label)) for label in labels],
            y=estimate,
            marker={"color": colours},
            error_y={
                "type": "data",
                "symmetric": False,
                "array": high - estimate,
                "arrayminus": estimate - low,
                "color": INK.shape,
                "thickness": 1.5,
                "width": 4,
            },
            hovertemplate="%{x}: %{y:" + _form(shares) + "}<extra></extra>",
            showlegend=False,
        )
    )
    figure.update_xaxes(type="category")
    return _laid_out(figure, title, shares)


def _map(heatmap: Heatmap, columns: dict, title: str, shares: bool) -> go.Figure:
    x, y = Axis.of(columns[heatmap.x], heatmap.x_values), Axis.of(columns[heatmap.y], heatmap.y_values)
    seen = np.where(told(heatmap), heatmap.estimate, np.nan)
    most = float(np.nanmax(np.abs(seen))) if np.isfinite(seen).any() else 1.0
    figure = go.Figure(
        go.Heatmap(
            x=x.values,
            y=y.values,
            z=seen.astype(np.float32),
            zmin=-most,
            zmax=most,
            colorscale=SCALE,
            colorbar={"thickness": 10, "outlinewidth": 0, "tickformat": _form(shares)},
            hovertemplate="%{z:" + _form(shares) + "}<extra></extra>",
        )
    )
    apply(figure, x, y)
    figure.update_layout(height=HEIGHT + 80, margin={"l": 8, "r": 8, "t": 34, "b": 8}, dragmode=False)
    figure.add_annotation(
        text=in_plotly(title),
        x=0,
        xref="paper",
        xanchor="left",
        y=1.01,
        yref="paper",
        yanchor="bottom",
        showarrow=False,
    )
    return figure


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
    figure.update_yaxes(
        title=in_plotly(title), tickformat=_form(shares), zeroline=True, zerolinecolor=FAINT.shape, zerolinewidth=1
    )
    figure.update_layout(
        height=HEIGHT,
        margin={"l": 8, "r": 8, "t": 34, "b": 8},
        dragmode=False,
        showlegend=True,
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
    )
    return figure
