"""Errors of local reports against how many answers there are, and how many people local surveys need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from ..palette import FAINT, INK, TEAL, faded

HEIGHT = 400
LINES = ("solid", "dash", "dot")
MARKS = [high * 10.0**power for power in range(-3, 5) for high in (1, 3)]
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
        gridcolor=faded(FAINT.shape, 0.2),
        fixedrange=True,
    )
    return _laid_out(figure)


def _laid_out(figure: go.Figure) -> go.Figure:
    legend = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"}
    return figure.update_layout(height=HEIGHT, margin={"l": 8, "r": 8, "t": 8, "b": 8}, dragmode=False, legend=legend)
