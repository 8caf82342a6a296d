"""Fifty dots: an uncertain number as fifty outcomes that are equally likely.

People read chances off countable outcomes better than off error bars: "in 40 of 50 futures it is above 6,400".

References
----------
Kay, Kola, Hullman, Munson (2016), When (ish) is my bus?, CHI; Fernandes et al. (2018), Uncertainty displays using
quantile dotplots or CDFs improve transit decision-making, CHI.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
import plotly.graph_objects as go

from ..words.numbers import significant
from .palette import TEAL

DOTS = 50
BINS = 13
"""Columns over the whole range: few enough to stack, many enough to show the shape."""


def normal_outcomes(estimate: float, standard_error: float, dots: int = DOTS) -> np.ndarray:
    """Equally likely outcomes of a number known up to a normal error: its quantiles at (i − ½)/dots.

    Parameters
    ----------
    estimate, standard_error : float
        In the number's own unit; a standard error of 0 gives the same outcome every time.

    Returns
    -------
    np.ndarray
        float64 array of shape (dots,), increasing.
    """
    unit = NormalDist()
    steps = np.array([unit.inv_cdf((i + 0.5) / dots) for i in range(dots)])
    return estimate + standard_error * steps


def stacked(outcomes: Sequence[float] | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the dots go: the centre of each one's bin and its height in the stack, both of shape (n,)."""
    values = np.sort(np.asarray(outcomes, dtype=float))
    if values.size == 0 or not np.isfinite(values).all():
        raise ValueError("A dot plot needs at least one outcome, and finite ones only.")
    low, high = values[0], values[-1]
    width = (high - low) / BINS
    if width <= 0:
        return values, np.arange(values.size, dtype=float)
    bins = np.minimum((values - low) // width, BINS - 1)
    first = np.searchsorted(bins, bins, side="left")
    return low + (bins + 0.5) * width, np.arange(values.size) - first.astype(float)


def dots(outcomes: Sequence[float] | np.ndarray, name: str, colour: str = TEAL.shape) -> go.Figure:
    """A dot plot of equally likely outcomes.

    Parameters
    ----------
    outcomes : Sequence[float] | np.ndarray
        Shape (n,), in the unit of ``name``; usually `normal_outcomes` or n simulated releases.
    name : str
        Title of the axis, with its unit.
    colour : str
        ``#RRGGBB``; teal unless the number is private.
    """
    x, height = stacked(outcomes)
    # Room on both sides keeps the dots of a stack close to those of the next.
    room = max(0.45 * float(x.max() - x.min()), 1e-9 * max(1.0, float(np.abs(x).max())))
    span = [float(x.min()) - room, float(x.max()) + room]
    across = {"title": {"text": name}, "range": span, "showgrid": False, "zeroline": False, "nticks": 6}
    up = {"visible": False, "range": [0, max(8.0, float(height.max()) + 1.5)], "fixedrange": True}
    return go.Figure(
        go.Scatter(
            x=x, y=height + 0.5, mode="markers", marker={"size": 11, "color": colour}, hoverinfo="x", showlegend=False
        ),
        {
            "xaxis": across | {"tickformat": ","},
            "yaxis": up,
            "height": 190,
            "margin": {"l": 8, "r": 8, "t": 8, "b": 44},
            "dragmode": False,
        },
    )


def dots_in_words(outcomes: Sequence[float] | np.ndarray, name: str) -> str:
    """The text alternative of the figure: where the outcomes lie, by counting dots."""
    values = np.sort(np.asarray(outcomes, dtype=float))
    low, high = values[values.size // 10], values[values.size - 1 - values.size // 10]
    inside = int(((values >= low) & (values <= high)).sum())
    middle = float(np.median(values))
    return (
        f"{values.size} equally likely outcomes of {name}: {inside} of them lie between {significant(low, 4)} and "
        f"{significant(high, 4)}, the middle one at {significant(middle, 4)}."
    )
