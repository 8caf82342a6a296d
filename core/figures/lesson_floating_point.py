"""Released numbers, sorted by which exact counts they could come from."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from ..lessons.floating_point import Files
from .palette import AMBER, FAINT

REACH = 5
"""Counts to either side of 0 and 1 that are drawn; farther files are few, and stand at the ends."""


def files_figure(files: Files) -> go.Figure:
    """A histogram in two parts: files that could come from either count, and those that give the count away."""
    edges = np.arange(-REACH - 0.25, REACH + 2.0, 0.5)
    middles = (edges[:-1] + edges[1:]) / 2
    ends = np.clip(files.outputs, middles[0], middles[-1])
    figure = go.Figure()
    for mask, name, colour in (
        (~files.betrayed, "could come from 0 or from 1", FAINT.shape),
        (files.betrayed, "could come from one of them only", AMBER.shape),
    ):
        counts, _ = np.histogram(ends[mask], edges)
        figure.add_trace(
            go.Bar(
                x=middles, y=counts, name=name, marker={"color": colour}, width=0.42, showlegend=True,
                hovertemplate="around %{x:g}: %{y} files<extra>" + name + "</extra>",
            )
        )
    figure.update_xaxes(title="released number", showgrid=False, zeroline=False, dtick=1, fixedrange=True)
    figure.update_yaxes(title="files", showgrid=False, zeroline=False, nticks=4, fixedrange=True)
    figure.update_layout(
        barmode="stack", height=300, margin={"l": 8, "r": 8, "t": 8, "b": 8}, dragmode=False,
        legend={"orientation": "v", "x": 0, "y": 1.02, "yanchor": "bottom"},
    )
    return figure


def files_in_words(files: Files) -> str:
    """The text alternative of the figure."""
    return (
        f"Of {len(files.outputs)} released numbers, {int(files.betrayed.sum())} could come from one of the two counts "
        "only, and the others from either."
    )
