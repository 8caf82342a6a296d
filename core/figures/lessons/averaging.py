"""The average of many noisy answers, closing in on the secret; and a release, which stays where it is."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from ...experiments.lessons.averaging import MOST, Asked
from ..palette import AMBER, FAINT, INK, TEAL, faded

DRAWN = 400
"""Points of a line: on a logarithmic axis more would lie on top of each other."""


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
