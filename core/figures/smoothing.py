"""What a bandwidth does to a picture: the error of smoothing, the error of noise, and both, before a release."""

from __future__ import annotations

import plotly.graph_objects as go

from ..forecast.scales import Scales
from ..words.escapes import in_plotly
from ..words.numbers import percent
from .palette import FAINT, INK, TEAL, faded

LABELLED = 4
"""One bandwidth of so many is written below the axis."""
CLEAR = "rgba(0, 0, 0, 0)"


def smoothing_figure(scales: Scales) -> go.Figure:
    """Typical error of the picture against the bandwidth, on logarithmic axes, with what it is made of."""
    figure = go.Figure()
    lines = (
        (scales.smoothing, "smoothed away", FAINT.shape, "dot", 1.5),
        (scales.noise, "noise and chance", INK.shape, "dash", 1.5),
        (scales.errors, "both", TEAL.shape, "solid", 2.5),
    )
    for errors, name, colour, dash, width in lines:
        figure.add_trace(
            go.Scatter(
                x=list(scales.tried),
                y=errors.tolist(),
                mode="lines",
                name=name,
                line={"color": colour, "width": width, "dash": dash},
                hovertemplate="bandwidth %{x:,.3~r}: %{y:.2~p}<extra>" + name + "</extra>",
            )
        )
    here = min(range(len(scales.tried)), key=lambda place: abs(scales.tried[place] - scales.bandwidth))
    figure.add_trace(
        go.Scatter(
            x=[scales.tried[here]],
            y=[float(scales.errors[here])],
            mode="markers",
            marker={"color": TEAL.shape, "size": 11},
            showlegend=False,
            hovertemplate="where nobody chooses: %{y:.2~p}<extra></extra>",
        )
    )
    labelled = scales.tried[::LABELLED]
    words = [scales.in_words(one).partition(" ") for one in labelled]
    units = {unit for _, _, unit in words}
    unit = units.pop() if len(units) == 1 else ""  # said once, as it has no room below each
    figure.update_xaxes(
        type="log",
        showgrid=False,
        zeroline=False,
        title=f"bandwidth, {in_plotly(unit)}" if unit else "bandwidth",
        tickvals=list(labelled),
        ticktext=[number if unit else in_plotly(f"{number} {own}".strip()) for number, _, own in words],
        fixedrange=True,
    )
    figure.update_yaxes(
        type="log",
        range=[-3, 0.1],
        showgrid=True,
        gridcolor=faded(FAINT.shape, 0.25),
        zeroline=False,
        tickvals=[0.001, 0.01, 0.1, 1],
        tickformat=".2~%",
        title="typical error",
        fixedrange=True,
    )
    figure.update_layout(
        height=230,  # room for a legend of several lines on narrow screens
        margin={"l": 8, "r": 8, "t": 28, "b": 8},
        dragmode=False,
        showlegend=True,
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "bgcolor": CLEAR},
    )
    return figure


def smoothing_in_words(scales: Scales) -> str:
    """The figure in one sentence, also its text alternative."""
    least = int(scales.errors.argmin())
    return (
        f"Over ordinary populations, from one hump to narrow heaps, the typical error of the picture is "
        f"{percent(float(scales.errors[0]))} at a bandwidth of {scales.in_words(scales.tried[0])}, least "
        f"({percent(float(scales.errors[least]))}) at {scales.in_words(scales.tried[least])}, and "
        f"{percent(float(scales.errors[-1]))} at {scales.in_words(scales.tried[-1])}."
    )
