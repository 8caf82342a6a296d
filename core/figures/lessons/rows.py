"""Errors against the number of rows: the luck of the cuts falls, the noise rises, and their sum has a lowest point.

With few columns, the curve with enough of them stays in sight for comparison.
"""

from __future__ import annotations

import plotly.graph_objects as go

from ...experiments.lessons.rows import AMPLE, MEASURED, Curve
from ...words.numbers import significant
from ..palette import FAINT, INK, TEAL, faded


def curve_figure(curve: Curve) -> go.Figure:
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


def curve_in_words(curve: Curve) -> str:
    """The text alternative of the figure."""
    best, ample = significant(curve.error_with(curve.best), 2), significant(curve.least_if_ample, 2)
    ends = f"{significant(curve.both[0], 2)} people with {curve.rows[0]:,.0f} rows to"
    return (
        f"The typical error falls from {ends} {best} with {curve.best:,} rows, and is "
        f"{significant(curve.both[-1], 2)} with {curve.rows[-1]:,.0f}. Real sketches lie on the curve."
        + (f" With {AMPLE} columns it would fall to {ample}." if curve.width < AMPLE else "")
    )
