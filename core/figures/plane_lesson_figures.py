"""Figures of lessons about sketches: a plane cut into the cells of a row, and errors against the number of rows.

With few columns, the curve with enough of them stays in sight for comparison.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from ..formatting.numbers import significant
from ..lab.crowd_lessons import AMPLE, MEASURED, RowErrors
from . import figure_axes
from .palette import AMBER, FAINT, INK, TEAL, faded

if TYPE_CHECKING:
    from ..lab.release_lessons import Plane

TARGETS = 41  # Places along a side that can be clicked: every quarter of a unit.


def plane_figure(plane: Plane, row: int | None, asked: tuple[float, float] | None, met: int) -> go.Figure:
    """People as dots, the cuts of one row as lines, and the cells that were met by a question shaded.

    Parameters
    ----------
    row : int | None
        The row whose cuts are drawn; None draws none.
    asked : tuple[float, float] | None
        A place, marked by a cross.
    met : int
        Of how many rows, from the first, the cell that the place falls in is shaded; where several overlap it is
        darker.
    """
    figure = go.Figure()
    plane_itself = np.array([(0, 0), (plane.side, 0), (plane.side, plane.side), (0, plane.side)], dtype=np.float64)
    _add_area(figure, plane_itself, fill="none", line={"color": FAINT.shape, "width": 1.3})
    if asked is not None:
        for shaded, cell in enumerate(plane.fallen(asked)[:met]):
            _add_area(figure, plane.stripe(shaded, int(cell)), fillcolor=faded(INK.shape, 0.16), line={"width": 0})
    if row is not None:
        for cell in range(int(plane.cells[row])):
            _add_area(figure, plane.stripe(row, cell), fill="none", line={"color": FAINT.shape, "width": 1.3})
    places = np.linspace(0.0, plane.side, TARGETS)
    x, y = (axis.ravel() for axis in np.meshgrid(places, places))
    figure.add_trace(figure_axes.targets(x, y, [f"{a:g}, {b:g}" for a, b in zip(x, y, strict=True)]))
    figure.add_trace(
        go.Scatter(
            x=plane.people[:, 0],
            y=plane.people[:, 1],
            mode="markers",
            hoverinfo="skip",
            showlegend=False,
            marker={"size": 11, "color": AMBER.shape},
            unselected=figure_axes.UNFADED,
        )
    )
    if asked is not None:
        figure.add_trace(
            go.Scatter(
                x=[asked[0]],
                y=[asked[1]],
                mode="markers",
                hoverinfo="skip",
                showlegend=False,
                marker={"symbol": "x-thin", "size": 15, "line": {"width": 3.5, "color": INK.shape}},
                unselected=figure_axes.UNFADED,
            )
        )
    line = {"showgrid": False, "zeroline": False, "nticks": 6, "fixedrange": True, "range": [-0.05, plane.side + 0.05]}
    figure.update_xaxes(**line, constrain="domain")
    figure.update_yaxes(**line, scaleanchor="x", constrain="domain")
    figure.update_layout(height=390, margin={"l": 8, "r": 8, "t": 8, "b": 8}, showlegend=False)
    figure_axes.clickable(figure)
    figure.update_layout(dragmode=False)
    return figure


def plane_in_words(plane: Plane, row: int | None, asked: tuple[float, float] | None) -> str:
    people = f"A plane with people at {len(plane.people)} places"
    cut = "" if row is None else f", cut by row {row + 1} into {int(plane.cells[row])} stripes"
    cross = "" if asked is None else f". The place that is asked, {asked[0]:g}, {asked[1]:g}, is marked by a cross"
    return f"{people}{cut}{cross}."


def _add_area(figure: go.Figure, corners: np.ndarray, **style) -> None:
    if len(corners) < 3:
        return
    closed = np.vstack([corners, corners[:1]])
    facts = {"mode": "lines", "fill": "toself", "hoverinfo": "skip", "showlegend": False}
    figure.add_trace(go.Scatter(**(facts | {"x": closed[:, 0], "y": closed[:, 1]} | style)))


def curve_figure(curve: RowErrors) -> go.Figure:
    """The two parts and their sum on logarithmic axes, with the errors of sketches that were really made as dots."""
    figure = go.Figure()
    for y, name, line in (
        (curve.sampling, "luck of the cuts", {"color": FAINT.shape, "width": 2, "dash": "dash"}),
        (curve.noise, "noise", {"color": INK.shape, "width": 2, "dash": "dot"}),
        (curve.bound, "the paper's bound", {"color": faded(FAINT.shape, 0.7), "width": 1}),
        (curve.ample, f"both, with {AMPLE} columns", {"color": TEAL.shape, "width": 1.3}),
        (curve.both, "both together", {"color": TEAL.shape, "width": 3}),
    ):
        if y is curve.ample and curve.width >= AMPLE:
            continue
        figure.add_trace(
            go.Scatter(
                x=curve.rows,
                y=y,
                mode="lines",
                line=line,
                name=name,
                hovertemplate="%{x:,.0f} rows: off by %{y:,.2~r}<extra>" + name + "</extra>",
            )
        )
    figure.add_trace(
        go.Scatter(
            x=MEASURED,
            y=curve.measured,
            mode="markers",
            marker={"color": TEAL.shape, "size": 9},
            name="real sketches",
            hovertemplate="%{x:,} rows, measured: off by %{y:,.2~r}<extra></extra>",
        )
    )
    figure.add_trace(
        go.Scatter(
            x=[curve.best],
            y=[curve.error_with(curve.best)],
            mode="markers",
            name="the lowest point",
            marker={"color": "rgba(0, 0, 0, 0)", "size": 19, "line": {"color": INK.shape, "width": 3}},
            hovertemplate="best: %{x:,} rows<extra></extra>",
        )
    )
    grid = {"showgrid": True, "gridcolor": faded(FAINT.shape, 0.2), "zeroline": False, "fixedrange": True}
    figure.update_xaxes(
        type="log", title="rows R", tickvals=[2, 10, 100, 1000], ticktext=["2", "10", "100", "1,000"], **grid
    )
    figure.update_yaxes(type="log", title="people off, typically", dtick="D2", tickformat=",", **grid)
    figure.update_layout(
        height=420,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        dragmode=False,
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
    )
    return figure


def curve_in_words(curve: RowErrors) -> str:
    best, ample = significant(curve.error_with(curve.best), 2), significant(curve.least_if_ample, 2)
    ends = f"{significant(curve.both[0], 2)} people with {curve.rows[0]:,.0f} rows to"
    return (
        f"The typical error falls from {ends} {best} with {curve.best:,} rows, and is "
        f"{significant(curve.both[-1], 2)} with {curve.rows[-1]:,.0f}. Real sketches lie on the curve."
        + (f" With {AMPLE} columns it would fall to {ample}." if curve.width < AMPLE else "")
    )
