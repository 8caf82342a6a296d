"""Fifty releases of a made-up crowd over a day, each as a thin line."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from ...experiments.lessons.epsilon import LATEST, Outcomes
from ..palette import AMBER, FAINT, TEAL, faded


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
