"""Hatching: where the noise is larger than anything there could be to see, and how figures show it."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from scipy.ndimage import uniform_filter

from ..analysis.density import Picture
from .figure_axes import Axis
from .palette import FAINT

HATCHED = "Hidden by the noise: may be empty"  # The legend's words for it.
CLEAR = "rgba(0, 0, 0, 0)"
PATTERN = {"shape": "/", "size": 7, "solidity": 0.15, "fgcolor": FAINT.shape, "fgopacity": 0.6, "bgcolor": CLEAR}


def hatch(mask: np.ndarray, x: Axis, y: Axis, name: str = HATCHED, **where) -> go.Scatter:
    """One trace that hatches the cells of a grid in which ``mask`` is true.

    A single polygon of many rings: the browser draws it in one go, the lines keep their distance when the visitor
    zooms, and the legend shows the same pattern.

    Parameters
    ----------
    mask : np.ndarray
        bool (y places, x places).
    """
    rows, first, last = _runs(mask)
    left, right = x.values[first] - x.half_step, x.values[last] + x.half_step
    below, above = y.values[rows] - y.half_step, y.values[rows] + y.half_step
    gap = np.full(len(rows), np.nan)
    return polygon(
        np.column_stack([left, right, right, left, left, gap]).ravel(),
        np.column_stack([below, below, above, above, below, gap]).ravel(),
        name,
        **where,
    )


def polygon(x: np.ndarray, y: np.ndarray, name: str = HATCHED, **where) -> go.Scatter:
    """A hatched polygon; NaN between its rings. Without any ring it stays out of figure and legend."""
    line = {"width": 0, "color": FAINT.shape}
    facts = {"mode": "lines", "fill": "toself", "fillpattern": PATTERN, "line": line, "hoverinfo": "skip"}
    there = {"showlegend": True} if len(x) else {"visible": False}
    return go.Scatter(**({"x": x, "y": y, "name": name} | there | facts | where))


def _runs(mask: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row, first and last column of every run of true cells in a row, int64 (runs,) each, row by row."""
    padded = np.zeros((mask.shape[0], mask.shape[1] + 2), dtype=np.int8)
    padded[:, 1:-1] = mask
    change = np.diff(padded, axis=1)
    rows, first = np.nonzero(change == 1)
    last = np.nonzero(change == -1)[1] - 1
    return rows, first, last


WINDOWS = 16  # Specks much smaller than this part of a side follow their surroundings when these are hidden or shown.


def hidden_by_noise(picture: Picture) -> np.ndarray:
    """Where the noise hides what there is, without specks; bool, of the picture's shape.

    Intervals of 95% let a few cells of noise pass among thousands, and keep back a few of signal. So each place follows
    the majority of the places around it, unless most of its closest neighbours have estimates more than twice as far
    from zero as their intervals reach: then something is there, however small.
    """
    if any(values.dtype == object for values in picture.places):
        return picture.drowned  # categories have no neighbours
    window = [max(1, size // WINDOWS) | 1 for size in picture.drowned.shape]
    certain = ~picture.drowned & (picture.low > picture.estimate - picture.low)
    return _most(picture.drowned, window) & ~_most(certain, [3] * certain.ndim)


def _most(mask: np.ndarray, window: list[int]) -> np.ndarray:
    """Where more than half of the places in a window around are true."""
    return uniform_filter(mask.astype(np.float32), size=window, mode="nearest") > 0.5
