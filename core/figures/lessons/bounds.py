"""The bounds that two files state, side by side on one scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from ..palette import AMBER, TEAL

if TYPE_CHECKING:  # what is drawn is a value; who makes it reads records
    from ...experiments.lessons.bounds import Attack

NAMES = ("with the richest person", "without")
"""The two files, the first one on top."""


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
    """The text alternative of the figure."""
    return (
        "; ".join(
            f"the file {name} says pay lies between {low:,.0f} and {high:,.0f}"
            for name, (low, high) in zip(NAMES, attack.bounds, strict=True)
        ).capitalize()
        + "."
    )
