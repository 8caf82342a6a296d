"""What each method costs besides its error: time to build, time for a question, size of the file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from .marks import MethodMark

ROW = 44
"""Pixels of a method: its name, and below it its bar."""
ROOM_FOR_WORDS = 1.45
"""How much wider the figure is than its longest bar."""


@dataclass(frozen=True)
class Costs:
    """One quantity that every method has one of.

    Attributes
    ----------
    title : str
        What is measured.
    values : Mapping[str, float]
        Above zero, by the key of the method.
    words : Mapping[str, str]
        The same for people.
    """

    title: str
    values: Mapping[str, float]
    words: Mapping[str, str]


def costs_figure(costs: Costs, marks: Mapping[str, MethodMark]) -> go.Figure:
    """A bar for every method on a logarithmic scale, its name above and its value behind it: it fits a narrow column.

    No bar on a logarithmic scale begins at nothing; these begin at a third of the least value.
    """
    keys = list(costs.values)
    start = min(costs.values.values()) / 3.0
    lengths = [math.log10(costs.values[key] / start) for key in keys]
    places = np.arange(len(keys), dtype=np.float64)
    figure = go.Figure(
        go.Bar(
            x=lengths,
            y=places,
            orientation="h",
            width=0.34,
            marker={"color": [marks[key].colour for key in keys]},
            text=[costs.words[key] for key in keys],
            textposition="outside",
            cliponaxis=False,
            hoverinfo="skip",
        )
    )
    for place, key in zip(places, keys, strict=True):
        figure.add_annotation(
            x=0, y=place - 0.42, text=marks[key].title, xanchor="left", showarrow=False, font={"size": 12}, xshift=-3
        )
    figure.update_xaxes(visible=False, range=[0, ROOM_FOR_WORDS * max(lengths)], fixedrange=True)
    figure.update_yaxes(visible=False, range=[len(keys) - 0.6, -0.8], fixedrange=True)
    return figure.update_layout(
        height=ROW * len(keys) + 16, margin={"l": 6, "r": 4, "t": 4, "b": 4}, dragmode=False, showlegend=False
    )


def costs_in_words(costs: Costs, marks: Mapping[str, MethodMark]) -> str:
    """The text alternative: every value, the least first."""
    ordered = sorted(costs.values, key=costs.values.__getitem__)
    return f"{costs.title}: " + "; ".join(f"{marks[key].title} {costs.words[key]}" for key in ordered) + "."
