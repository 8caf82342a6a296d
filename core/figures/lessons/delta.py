"""Noise of an answer against the number of rows, with a risk δ and without."""

from __future__ import annotations

import plotly.graph_objects as go

from ...experiments.lessons.delta import ROWS, NoiseOfRows
from ...words.numbers import significant
from ..palette import FAINT, INK, TEAL, faded


def delta_figure(found: NoiseOfRows, rows: int) -> go.Figure:
    """Two lines on logarithmic axes, and where the chosen number of rows stands on each."""
    place, figure = ROWS.index(rows), go.Figure()
    # Beside the rising line there is room above it to the left and below it to the right.
    above = found.pure[place] > found.with_delta[place]
    for y, name, colour, dash, side in (
        (found.pure, "ε alone", INK.shape, "dot", "top left" if above else "bottom right"),
        (found.with_delta, "ε with a risk δ", TEAL.shape, "solid", "bottom center" if above else "top center"),
    ):
        figure.add_trace(
            go.Scatter(
                x=ROWS,
                y=y,
                mode="lines",
                line={"color": colour, "width": 3, "dash": dash},
                name=name,
                hovertemplate="%{x:,} rows: ± %{y:,.3~r} people<extra>" + name + "</extra>",
            )
        )
        figure.add_trace(
            go.Scatter(
                x=[rows],
                y=[y[place]],
                mode="markers+text",
                marker={"color": colour, "size": 13},
                showlegend=False,
                text=[f"± {significant(y[place], 3)}"],
                textposition=side,
                hoverinfo="skip",
                cliponaxis=False,
            )
        )
    grid = {"showgrid": True, "gridcolor": faded(FAINT.shape, 0.2), "zeroline": False, "fixedrange": True}
    figure.update_xaxes(
        type="log",
        title="rows R",
        range=[0.5, 4.15],
        tickvals=[10, 100, 1000, 10_000],
        ticktext=["10", "100", "1,000", "10,000"],
        **grid,
    )
    figure.update_yaxes(type="log", title="noise of an answer (people)", dtick="D2", tickformat=",", **grid)
    figure.update_layout(
        height=380,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        dragmode=False,
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
    )
    return figure


def delta_figure_in_words(found: NoiseOfRows, rows: int) -> str:
    """The text alternative of the figure."""
    place = ROWS.index(rows)
    return (
        f"With {rows:,} rows the noise of an answer is {significant(found.pure[place], 3)} people for ε alone and "
        f"{significant(found.with_delta[place], 3)} with δ. The first grows with the rows, the second does not."
    )
