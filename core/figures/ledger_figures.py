"""Budgets, releases and how they add up, as the owner's ledger holds them: private, hence amber."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta

import numpy as np
import plotly.graph_objects as go
from scipy.stats import binom

from ..formatting.escapes import in_plotly
from ..formatting.numbers import shortened, significant
from .palette import AMBER, FAINT, INK, faded

BAR_HEIGHT = 44
MINUTES, DAYS, MONTHS = "%H:%M\n%-d %b %Y", "%-d %b\n%Y", "%b\n%Y"
DAY = 24 * 60 * 60 * 1000  # Milliseconds, in which Plotly counts.
SHORTEST = timedelta(hours=1)  # Least span of a time line, so that releases of one minute do not look like years apart.


def budget_bars(names: Sequence[str], totals: Sequence[float], spent: Sequence[float]) -> go.Figure:
    """One bar a data set, as long as its total ε; the part that is spent is amber.

    Parameters
    ----------
    names, totals, spent : Sequence[str], Sequence[float], Sequence[float]
        Shape (n,), drawn from top to bottom.
    """
    places = list(range(len(names)))
    left = [max(0.0, total - used) for total, used in zip(totals, spent, strict=True)]
    figure = go.Figure()
    for values, colour, word in ((spent, AMBER.shape, "spent"), (left, faded(FAINT.shape, 0.3), "left")):
        figure.add_trace(
            go.Bar(
                x=list(values),
                y=places,
                orientation="h",
                name=word,
                width=0.42,
                marker={"color": colour},
                customdata=[in_plotly(name) for name in names],
                hovertemplate="%{customdata}: ε = %{x:,.4~r} " + word + "<extra></extra>",
            )
        )
    figure.update_xaxes(title="ε", rangemode="tozero", showgrid=False, zeroline=False, nticks=6, fixedrange=True)
    figure.update_yaxes(
        tickvals=places,
        ticktext=[in_plotly(shortened(name)) for name in names],
        autorange="reversed",
        showgrid=False,
        zeroline=False,
        fixedrange=True,
    )
    figure.update_layout(
        barmode="stack",
        height=BAR_HEIGHT * len(names) + 84,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        dragmode=False,
        legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "traceorder": "normal"},
    )
    return figure


def time_line(
    since: datetime, when: Sequence[datetime], promised: Sequence[float], together: Sequence[float], total: float
) -> go.Figure:
    """Releases on a time line: what has been spent together after each of them, and the plain sum of their promises.

    Parameters
    ----------
    since : datetime
        When the total was promised.
    when : Sequence[datetime]
        Shape (n,), increasing, n at least 1.
    promised : Sequence[float]
        ε of each release by itself, shape (n,).
    together : Sequence[float]
        ε of all releases up to and with each one, shape (n,).
    total : float
        ε promised for ever, drawn as a line that is never crossed.
    """
    figure = go.Figure()
    span = max(when[-1] - since, SHORTEST)
    ends = since - span / 20, max(when[-1], since + span) + span / 10
    sums = list(np.cumsum(promised))
    if sums[-1] > 1.02 * together[-1]:
        figure.add_trace(
            go.Scatter(
                x=[since, *when, ends[1]],
                y=[0, *sums, sums[-1]],
                mode="lines",
                name="sum of the promises",
                line={"color": FAINT.shape, "dash": "dot", "shape": "hv", "width": 1.5},
                hoverinfo="skip",
            )
        )
    figure.add_trace(
        go.Scatter(
            x=[since, *when, ends[1]],
            y=[0, *together, together[-1]],
            mode="lines",
            name="spent together",
            line={"color": AMBER.shape, "shape": "hv", "width": 2},
            hoverinfo="skip",
        )
    )
    figure.add_trace(
        go.Scatter(
            x=list(when),
            y=list(together),
            mode="markers",
            customdata=list(promised),
            showlegend=False,
            marker={"size": 11, "color": AMBER.shape},
            hovertemplate="%{x|%d %b %Y %H:%M}: ε = %{customdata:,.4~r} released, %{y:,.4~r} spent by then"
            "<extra></extra>",
        )
    )
    figure.add_hline(
        y=total,
        line={"color": INK.shape, "width": 1.5},
        annotation_text=f"total, ε = {total:g}",
        annotation_position="top left",
    )
    stops = ([None, DAY - 1], MINUTES), ([DAY, "M1"], DAYS), (["M1", "M12"], MONTHS), (["M12", None], "%Y")
    figure.update_xaxes(
        range=list(ends),
        showgrid=False,
        zeroline=False,
        nticks=4,
        fixedrange=True,
        tickformatstops=[{"dtickrange": between, "value": form} for between, form in stops],
    )
    figure.update_yaxes(
        title="ε", range=[0, 1.15 * max(total, *sums)], showgrid=False, zeroline=False, nticks=5, fixedrange=True
    )
    figure.update_layout(
        height=250,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        dragmode=False,
        showlegend=True,
        legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
    )
    return figure


def loss_distribution(epsilon: float, parts: int, spent: float) -> go.Figure:
    """Why many small losses are less than their sum: the distribution of what a release of many rows gives away.

    Each of ``parts`` rows gives away ε/parts for or against one person, like a coin that is a little biased; the sum
    of so many coins stays near the middle.

    Parameters
    ----------
    epsilon : float
        Promised with certainty, all rows together.
    spent : float
        The ε that is hardly ever passed, at the ledger's δ.
    """
    step = epsilon / parts
    wins = np.arange(parts + 1)
    probability = binom.pmf(wins, parts, 1 / (1 + math.exp(-step)))
    loss = step * (2 * wins - parts)
    kept = probability > 1e-9 * probability.max()
    figure = go.Figure(
        go.Scatter(
            x=loss[kept],
            y=probability[kept],
            mode="lines",
            fill="tozeroy",
            showlegend=False,
            hoverinfo="skip",
            line={"color": AMBER.shape, "width": 1.5},
            fillcolor=faded(AMBER.shape, 0.25),
        )
    )
    marks = (
        (spent, f"hardly ever<br>beyond {significant(spent, 3)}", 1.0, "left"),
        (epsilon, f"never<br>beyond {epsilon:g}", 0.55, "right"),
    )
    for x, words, height, side in marks:
        figure.add_vline(x=x, line={"color": INK.shape, "width": 1.2, "dash": "dot"})
        figure.add_annotation(
            x=x, y=height, yref="paper", xanchor=side, yanchor="top", text=words, showarrow=False, align=side
        )
    figure.update_xaxes(
        title="given away about one person",
        range=[-1.05 * epsilon, 1.05 * epsilon],
        showgrid=False,
        zeroline=False,
        nticks=5,
        fixedrange=True,
    )
    figure.update_yaxes(visible=False, fixedrange=True)
    figure.update_layout(height=190, margin={"l": 8, "r": 8, "t": 8, "b": 8}, dragmode=False)
    return figure
