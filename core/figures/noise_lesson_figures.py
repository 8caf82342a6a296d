"""Figures of lessons about noise: averages of many answers, rows with a risk δ and without, outputs that give away."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from ..formatting.numbers import significant
from ..lab.noise_lessons import MOST, ROWS, Asked, Files, NoiseOfRows
from .palette import AMBER, FAINT, INK, TEAL, faded

DRAWN = 400  # Points of a line: on a logarithmic axis more would lie on top of each other.


def averages_figure(asked: Asked) -> go.Figure:
    """Averages against the number of questions, with the band in which they are expected."""
    times = len(asked.answers)
    k = np.unique(np.geomspace(1, times, DRAWN).round().astype(int))
    reach = 2.0 * asked.error * np.sqrt(times / k)
    figure = go.Figure(
        go.Scatter(
            x=np.concatenate([k, k[::-1]]),
            y=np.concatenate([asked.secret + reach, (asked.secret - reach)[::-1]]),
            mode="lines",
            line={"width": 0},
            fill="toself",
            fillcolor=faded(FAINT.shape, 0.16),
            hoverinfo="skip",
            name="usual range of the average",
        )
    )
    for y, name, line in (
        (np.full(len(k), asked.secret), "the secret", {"color": AMBER.shape, "width": 3}),
        (np.full(len(k), asked.released), "a release, asked as often", {"color": TEAL.shape, "width": 3}),
        (asked.averages[k - 1], "average of fresh answers", {"color": INK.shape, "width": 2}),
    ):
        mode = "lines" if times > 1 else "markers"
        figure.add_trace(
            go.Scatter(
                x=k,
                y=y,
                mode=mode,
                line=line,
                marker={"color": line["color"], "size": 10},
                name=name,
                hovertemplate="after %{x:,} questions: %{y:,.1f}<extra>" + name + "</extra>",
            )
        )
    figure.update_xaxes(
        type="log",
        title="questions asked",
        range=[-0.05, np.log10(MOST) + 0.05],
        fixedrange=True,
        showgrid=False,
        zeroline=False,
        tickvals=[1, 10, 100, 1000],
        ticktext=["1", "10", "100", "1,000"],
    )
    figure.update_yaxes(title="answer", fixedrange=True, showgrid=False, zeroline=False, nticks=6, tickformat=",")
    figure.update_layout(
        height=380,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        dragmode=False,
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
    )
    return figure


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
    place = ROWS.index(rows)
    return (
        f"With {rows:,} rows the noise of an answer is {significant(found.pure[place], 3)} people for ε alone and "
        f"{significant(found.with_delta[place], 3)} with δ. The first grows with the rows, the second does not."
    )


REACH = 12  # Bars to either side of 0; farther files are few, and stand at the ends.


def files_figure(files: Files) -> go.Figure:
    """A histogram in two parts: files that could come from either count, and those that give the count away."""
    # Half a count at least, so that whole numbers stand apart; more where the noise reaches far.
    step = max(0.5, files.scale / 2.0)
    middles = step * np.arange(-REACH, REACH + 1)
    edges = step * (np.arange(-REACH, REACH + 2) - 0.5)
    ends = np.clip(files.outputs, middles[0], middles[-1])
    figure = go.Figure()
    for mask, name, colour in (
        (~files.betrayed, "could come from 0 or from 1", FAINT.shape),
        (files.betrayed, "could come from one of them only", AMBER.shape),
    ):
        counts, _ = np.histogram(ends[mask], edges)
        figure.add_trace(
            go.Bar(
                x=middles,
                y=counts,
                name=name,
                marker={"color": colour},
                width=0.84 * step,
                showlegend=True,
                hovertemplate="around %{x:,.6~r}: %{y} files<extra>" + name + "</extra>",
            )
        )
    figure.update_xaxes(title="released number", showgrid=False, zeroline=False, nticks=12, fixedrange=True)
    figure.update_yaxes(title="files", showgrid=False, zeroline=False, nticks=4, fixedrange=True)
    figure.update_layout(
        barmode="stack",
        height=270,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        dragmode=False,
        legend={"orientation": "v", "x": 0, "y": 1.02, "yanchor": "bottom"},
    )
    return figure


def files_in_words(files: Files) -> str:
    return (
        f"Of {len(files.outputs)} released numbers, {int(files.betrayed.sum())} could come from one of the two counts "
        "only, and the others from either."
    )
