"""Figures of lessons about the promise: fifty possible releases, bounds of two files, and reports of many people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from ..formatting.numbers import number
from ..lab.crowd_lessons import LATEST, Outcomes
from ..lab.local_lessons import Polled
from .palette import AMBER, FAINT, INK, TEAL, faded

if TYPE_CHECKING:
    from ..lab.release_lessons import Attack


def outcomes_figure(outcomes: Outcomes) -> go.Figure:
    """Every possible release in teal, the crowd itself as one line in amber, and a dot on every release's peak."""
    count, hours = len(outcomes.releases), outcomes.hours
    figure = go.Figure(
        go.Scatter(
            x=np.tile(np.append(hours, np.nan), count),
            y=np.hstack([outcomes.releases, np.full((count, 1), np.nan)]).ravel(),
            mode="lines",
            hoverinfo="skip",
            line={"color": faded(TEAL.shape, 0.28), "width": 1},
            showlegend=False,
        )
    )
    # Of a line as faint as those, the legend would show nothing.
    figure.add_trace(
        go.Scatter(
            x=[None],
            y=[None],
            mode="lines",
            line={"color": faded(TEAL.shape, 0.75), "width": 1.5},
            name="fifty possible releases",
        )
    )
    figure.add_trace(
        go.Scatter(
            x=outcomes.peaks,
            y=outcomes.releases.max(axis=1),
            mode="markers",
            name="where each has its peak",
            marker={"color": TEAL.shape, "size": 7},
            hovertemplate="peak at %{x:,.4~r} o'clock<extra></extra>",
        )
    )
    figure.add_trace(
        go.Scatter(
            x=hours,
            y=outcomes.exact,
            mode="lines",
            line={"color": AMBER.shape, "width": 3},
            name="the crowd itself",
            hovertemplate="%{x:,.4~r} o'clock: %{y:,.0f}<extra>the crowd itself</extra>",
        )
    )
    figure.update_xaxes(
        title="hour of the day",
        range=[0, LATEST],
        tickvals=list(range(0, 25, 3)),
        showgrid=False,
        zeroline=False,
        fixedrange=True,
    )
    figure.update_yaxes(
        title="people nearby",
        showgrid=False,
        zeroline=True,
        zerolinecolor=faded(FAINT.shape, 0.5),
        nticks=5,
        fixedrange=True,
        tickformat=",",
    )
    figure.update_layout(
        height=380,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        dragmode=False,
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
    )
    return figure


NAMES = ("with the richest person", "without")  # The two files, the first one on top.


def bounds_figure(attack: Attack) -> go.Figure:
    """A bar from the lower to the upper bound of either file.

    Bounds that were read off the data are drawn in amber: they are private, though the file shows them.
    """
    colour = AMBER.shape if attack.given_away else TEAL.shape
    figure = go.Figure()
    for name, (low, high) in zip(NAMES, attack.bounds, strict=True):
        figure.add_trace(
            go.Scatter(
                x=[low, high],
                y=[name, name],
                mode="lines+markers+text",
                line={"color": colour, "width": 5},
                marker={"color": colour, "size": 11},
                showlegend=False,
                cliponaxis=False,
                text=[f"{low:,.0f}  ", f"  {high:,.0f}"],
                textposition=["middle left", "middle right"],
                hoverinfo="skip",
            )
        )
    most = max(high for _, high in attack.bounds)
    figure.update_xaxes(
        title="pay a year",
        range=[-0.36 * most, 1.5 * most],
        tickvals=[0, most / 2, most],
        showgrid=False,
        zeroline=False,
        tickformat=",.0f",
        fixedrange=True,
    )
    figure.update_yaxes(
        autorange="reversed",
        fixedrange=True,
        showgrid=False,
        tickvals=list(NAMES),
        ticktext=[name.split()[0] for name in NAMES],
    )
    figure.update_layout(height=190, margin={"l": 8, "r": 8, "t": 8, "b": 8}, dragmode=False)
    return figure


def bounds_in_words(attack: Attack) -> str:
    return (
        "; ".join(
            f"the file {name} says pay lies between {low:,.0f} and {high:,.0f}"
            for name, (low, high) in zip(NAMES, attack.bounds, strict=True)
        ).capitalize()
        + "."
    )


HEIGHT = 400
LINES = ("solid", "dash", "dot")
MARKS = [high * 10.0**power for power in range(-5, 5) for high in (1, 3)]  # Where an axis of errors has marks.


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
