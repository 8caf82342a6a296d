"""Errors of local reports against how many answers there are, and how many people local surveys need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from ...experiments.lessons.local_reports import Polled
from ...words.numbers import number
from ..palette import AMBER, FAINT, INK, TEAL, faded

HEIGHT = 400
LINES = ("solid", "dash", "dot")
MARKS = [high * 10.0**power for power in range(-5, 5) for high in (1, 3)]
"""Of an axis of errors."""


def errors_figure(domains: Sequence[int], errors: Mapping[str, Sequence[float]]) -> go.Figure:
    """How far off a share may be by each oracle, in points, over numbers of answers."""
    figure = go.Figure()
    colours = (TEAL.shape, INK.shape)
    for place, (name, values) in enumerate(errors.items()):
        line = {"color": colours[place % 2], "dash": LINES[place // 2 % len(LINES)], "width": 2}
        figure.add_trace(
            go.Scatter(
                x=list(domains),
                y=[100 * value for value in values],
                mode="lines",
                name=name,
                line=line,
                hovertemplate=f"{name}: ± %{{y:.2f}} points<extra></extra>",
            )
        )
    figure.update_xaxes(type="log", title="number of answers", showgrid=False, fixedrange=True, dtick=1, tickformat=",")
    figure.update_yaxes(
        type="log",
        title="a share is known to ± points",
        tickvals=MARKS,
        ticktext=[number(mark) for mark in MARKS],
        gridcolor=faded(FAINT.shape, 0.2),
        fixedrange=True,
    )
    return _laid_out(figure)


def _laid_out(figure: go.Figure) -> go.Figure:
    legend = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"}
    return figure.update_layout(height=HEIGHT, margin={"l": 8, "r": 8, "t": 8, "b": 8}, dragmode=False, legend=legend)


def polls_figure(found: Polled) -> go.Figure:
    """Fifty polls side by side: estimates with their intervals, and the truth."""
    places = list(range(1, len(found.estimate) + 1))
    band = {
        "type": "data",
        "symmetric": False,
        "array": 100 * (found.high - found.estimate),
        "arrayminus": 100 * (found.estimate - found.low),
        "color": faded(TEAL.shape, 0.6),
        "thickness": 1.5,
        "width": 0,
    }
    figure = go.Figure(
        [
            go.Scatter(
                x=[0.5, len(places) + 0.5],
                y=[100 * found.truth] * 2,
                mode="lines",
                line={"color": AMBER.shape, "width": 3},
                name="who would say yes",
                hoverinfo="skip",
            ),
            go.Scatter(
                x=places,
                y=100 * found.estimate,
                mode="markers",
                marker={"color": TEAL.shape, "size": 7},
                error_y=band,
                name="what a poll says",
                hovertemplate="about %{y:.0f}%<extra></extra>",
            ),
        ]
    )
    figure.update_xaxes(title="fifty polls that could have been", showgrid=False, showticklabels=False, fixedrange=True)
    figure.update_yaxes(title="say yes", ticksuffix="%", gridcolor=faded(FAINT.shape, 0.2), fixedrange=True)
    return _laid_out(figure)


def trust_figure(people: Sequence[float], owner: Sequence[float], phones: Sequence[float], asked: float) -> go.Figure:
    """Errors of a share with a trusted owner and without one, over numbers of people, and the error that is asked."""
    lines = (("an owner is trusted", owner, INK.shape, "solid"), ("nobody is trusted", phones, TEAL.shape, "solid"))
    figure = go.Figure(
        [
            go.Scatter(
                x=list(people),
                y=[100 * error for error in errors],
                mode="lines",
                name=name,
                line={"color": colour, "width": 3, "dash": dash},
                hovertemplate=f"{name}: %{{x:,.0f}} people, ± %{{y:,.3~r}} points<extra></extra>",
            )
            for name, errors, colour, dash in lines
        ]
    )
    figure.add_hline(y=100 * asked, line={"color": FAINT.shape, "dash": "dot"})
    figure.update_xaxes(type="log", title="people", showgrid=False, dtick=1, tickformat="~s", fixedrange=True)
    figure.update_yaxes(
        type="log",
        title="± points",
        tickvals=MARKS,
        ticktext=[number(mark) for mark in MARKS],  # and not "30µ"
        gridcolor=faded(FAINT.shape, 0.2),
        fixedrange=True,
    )
    return _laid_out(figure)
