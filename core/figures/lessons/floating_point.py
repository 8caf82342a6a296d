"""Released numbers, sorted by which exact counts they could come from."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from ...experiments.lessons.floating_point import Files
from ..palette import AMBER, FAINT

REACH = 12
"""Bars to either side of 0; farther files are few, and stand at the ends."""


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
    """The text alternative of the figure."""
    return (
        f"Of {len(files.outputs)} released numbers, {int(files.betrayed.sum())} could come from one of the two counts "
        "only, and the others from either."
    )
