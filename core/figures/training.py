"""A picture of what a promise leaves of a prediction: how much is right of reference records against ε."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from ..words.numbers import percent
from .palette import FAINT, TEAL, faded

ROOM = 0.04
"""Above and below the curve, in shares of all records."""


@dataclass(frozen=True)
class Measure:
    """What is forecast, in words.

    Attributes
    ----------
    done : str
        What a share is of, behind "12%".
    least : str
        What is always possible without looking at anyone.
    """

    done: str
    least: str


RIGHT = Measure("right", "always the most common answer")
EXPLAINED = Measure("explained", "always the mean")


def training_figure(
    epsilons: Sequence[float],
    right: Sequence[float],
    epsilon: float,
    common: float,
    best: float,
    measure: Measure = RIGHT,
) -> go.Figure:
    """Shares right, or explained, against ε on a logarithmic axis, between the least answer and hardly any noise.

    Parameters
    ----------
    epsilons, right : Sequence[float]
        Increasing ε, and the share right at each, shape (n,).
    epsilon : float
        The present one, which is among them.
    common, best : float
        Shares right of always the most common answer, and of a model with hardly any noise.
    measure : Measure
        What is forecast.
    """
    figure = go.Figure(
        go.Scatter(
            x=list(epsilons),
            y=list(right),
            mode="lines+markers",
            line={"color": TEAL.shape, "width": 2},
            marker={"color": TEAL.shape, "size": [11 if one == epsilon else 6 for one in epsilons]},
            hovertemplate=f"ε = %{{x:,.3~r}}: %{{y:.1%}} {measure.done}<extra></extra>",
        )
    )
    for level, words, below in ((common, measure.least, True), (best, "hardly any noise", False)):
        figure.add_hline(
            level,
            line={"color": FAINT.shape, "width": 1, "dash": "dot"},
            annotation={"text": words},
            annotation_position="bottom right" if below else "top left",
        )
    low, high = min(common, *right) - ROOM, max(best, *right) + ROOM
    figure.update_xaxes(
        type="log",
        showgrid=False,
        zeroline=False,
        fixedrange=True,
        tickvals=list(epsilons),
        tickformat=",.3~r",
        title="ε",
    )
    figure.update_yaxes(
        range=[low, high],
        gridcolor=faded(FAINT.shape, 0.25),
        zeroline=False,
        fixedrange=True,
        tickformat=".0%",
        title=measure.done,
    )
    return figure.update_layout(height=220, margin={"l": 8, "r": 8, "t": 8, "b": 8}, dragmode=False, showlegend=False)


def training_in_words(
    epsilons: Sequence[float], right: Sequence[float], common: float, best: float, measure: Measure = RIGHT
) -> str:
    """The text alternative: both ends of the curve, and what it lies between."""
    ends = f"{percent(right[0])} at ε = {epsilons[0]:g} and {percent(right[-1])} at ε = {epsilons[-1]:g}"
    return (
        f"Of made-up records, shares {measure.done}: {ends}; {measure.least} gets {percent(common)}, hardly any noise "
        f"{percent(best)}."
    )
