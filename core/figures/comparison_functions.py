"""Released functions beside the exact one: curves on top of each other, or maps in the same colours."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from ..formatting.escapes import in_plotly
from ..formatting.numbers import percent
from .comparison_curves import LEGEND_LINE
from .comparison_marks import MethodMark
from .figure_axes import Axis, apply
from .palette import FAINT, INK

EXACT = "exact"
CURVE_HEIGHT = 400
MAP_HEIGHT = 168
# Places along a curve from one of its symbols to the next: enough to tell curves apart, too few to hide them.
STEPS_BETWEEN_SYMBOLS = 12


def shown_range(exact: np.ndarray) -> tuple[float, float]:
    """What of the answers a picture shows: a third more than the exact ones reach, and as much below zero.

    Noise at small ε reaches far beyond; were the scale to follow it, it would jump at every draw and nothing else would
    be seen.
    """
    low, high = min(0.0, float(exact.min())), float(exact.max())
    room = max(high - low, np.finfo(float).tiny) / 3.0
    return low - room, high + room


def curves_figure(
    x: Axis, exact: np.ndarray, released: Mapping[str, np.ndarray], marks: Mapping[str, MethodMark], answer: str
) -> go.Figure:
    """Released functions of one column on top of each other, over the exact one.

    Parameters
    ----------
    exact : np.ndarray
        Answers there without any noise, float64 (n,).
    released : Mapping[str, np.ndarray]
        Answers of one release of each method, float64 (n,), by its key.
    """
    figure = go.Figure(
        go.Scatter(
            x=x.values,
            y=exact,
            mode="lines",
            name=EXACT,
            line={"color": INK.shape, "width": 6},
            opacity=0.45,
            hoverinfo="skip",
        )
    )
    every = max(2, len(x.values) // STEPS_BETWEEN_SYMBOLS)
    for key, values in released.items():
        mark = marks[key]
        figure.add_trace(
            go.Scatter(
                x=x.values,
                y=values,
                mode="lines+markers",
                name=mark.title,
                hoverinfo="skip",
                line=mark.line(1.8),
                marker=mark.marker(maxdisplayed=every),
            )
        )
    apply(figure, x)
    figure.update_xaxes(fixedrange=True)
    figure.update_yaxes(
        title=answer,
        range=list(shown_range(exact)),
        zeroline=True,
        zerolinecolor=FAINT.shape,
        showgrid=False,
        tickformat=",",
        nticks=6,
        fixedrange=True,
        automargin=True,
    )
    return figure.update_layout(
        height=CURVE_HEIGHT + LEGEND_LINE * math.ceil(len(released) / 2),
        margin={"l": 8, "r": 12, "t": 12, "b": 8},
        legend={"orientation": "h", "x": 0, "y": -0.2, "yanchor": "top"},
        dragmode=False,
        uirevision="constant",
    )


def map_figure(x: Axis, y: Axis, values: np.ndarray, ends: tuple[float, float], answer: str) -> go.Figure:
    """One of several small maps; the same ends give them the same colours, so that they can be compared.

    Parameters
    ----------
    values : np.ndarray
        Answers, float64 (y places, x places); those beyond an end of the scale have its colour.
    """
    figure = go.Figure(
        go.Heatmap(
            x=x.values,
            y=y.values,
            z=values.astype(np.float32),
            zmin=ends[0],
            zmax=ends[1],
            showscale=False,
            hovertemplate="%{x:,.4~r}, %{y:,.4~r}: %{z:,.0f} " + in_plotly(answer) + "<extra></extra>",
        )
    )
    apply(figure, x, y)
    for update in (figure.update_xaxes, figure.update_yaxes):
        update(title=None, showticklabels=False, ticks="", fixedrange=True)
    return figure.update_layout(height=MAP_HEIGHT, margin={"l": 0, "r": 0, "t": 0, "b": 0, "pad": 0}, dragmode=False)


def map_ends(exact: np.ndarray, answers: str) -> tuple[float, float]:
    """The ends of the scale of colours: from nothing, or of distances from the least, to the greatest exact answer."""
    return (0.0 if answers == "closeness" else float(exact.min())), float(exact.max())


def functions_in_words(
    exact: np.ndarray, released: Mapping[str, np.ndarray], marks: Mapping[str, MethodMark], epsilon: float
) -> str:
    """The text alternative: how far each released function is from the exact one, on average over the picture."""
    if not released:
        return f"The exact function. Nothing is released at ε = {epsilon:g} yet."
    said = "; ".join(f"{marks[key].title} {percent(distance(exact, values))}" for key, values in released.items())
    return f"Functions released at ε = {epsilon:g} over the exact one. How far they are from it on average: {said}."


def distance(exact: np.ndarray, released: np.ndarray) -> float:
    """The average distance of a released function from the exact one, as a share of its average height."""
    return float(np.mean(np.abs(released - exact)) / max(float(np.mean(np.abs(exact))), np.finfo(float).tiny))
