"""Layers on a picture of two columns: lines that say more about the same places, and leave the colours below in view.

Like the picture they say nothing that the noise decides: a group is outlined only where it is surely the answer.
"""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from ..tasks.decision_map import DecisionMap
from ..tasks.density import Heatmap
from ..words.escapes import in_plotly
from ..words.phrases import shortened
from .axes import Axis
from .classes import class_colour
from .distances import distance_title
from .palette import INK, PAPER

BORDER = 2.5
"""How wide the outline of a group is."""
RINGS = 6
FEWEST_CELLS = 3
"""Cells of an area that has room for its name."""


def add_groups(figure: go.Figure, drawn: DecisionMap, axes: tuple[Axis, Axis]) -> go.Figure:
    """Outline where each group is surely the answer, in its colour and with its name.

    Parameters
    ----------
    figure : go.Figure
        A map of the same two columns; it is changed.
    drawn : DecisionMap
        What was decided at each place.
    axes : tuple[Axis, Axis]
        Of the decided places.
    """
    x, y = axes
    for code, name in enumerate(drawn.classes):
        area = (drawn.codes == code) & drawn.certain
        if not area.any():
            continue
        figure.add_trace(_border(x, y, area, code, in_plotly(shortened(name))))
        if area.sum() >= FEWEST_CELLS:
            figure.add_annotation(**_name(x, y, area, in_plotly(shortened(name))))
    return figure


def _border(x: Axis, y: Axis, area: np.ndarray, code: int, name: str) -> go.Contour:
    """The line around an area: half way between the places inside and those outside."""
    return go.Contour(
        x=x.values,
        y=y.values,
        z=area.astype(np.float32),
        contours={"coloring": "none", "start": 0.5, "end": 0.5, "size": 1},
        line={"color": class_colour(code), "width": BORDER},
        showscale=False,
        showlegend=True,
        hoverinfo="skip",
        name=name,
    )


def _name(x: Axis, y: Axis, area: np.ndarray, name: str) -> dict:
    """The name of a group at the place of its area that is nearest to the middle of it."""
    rows, columns = np.nonzero(area)
    middle = np.argmin((rows - rows.mean()) ** 2 + (columns - columns.mean()) ** 2)
    return {
        "x": x.values[columns[middle]],
        "y": y.values[rows[middle]],
        "text": name,
        "showarrow": False,
        "bgcolor": PAPER.light,
        "bordercolor": INK.shape,
        "borderpad": 2,
        "opacity": 0.9,
        "font": {"color": INK.light, "size": 13},
    }


def add_distances(figure: go.Figure, heatmap: Heatmap, axes: tuple[Axis, Axis], unit: str) -> go.Figure:
    """Draw lines of equal average distance, each with its number.

    Parameters
    ----------
    figure : go.Figure
        A map of the same two columns; it is changed.
    heatmap : Heatmap
        Average distances, not sums.
    axes : tuple[Axis, Axis]
        Of its places.
    unit : str
        Of distance, "" where there is none.
    """
    least, most = float(heatmap.estimate.min()), float(heatmap.estimate.max())
    step = round_step((most - least) / RINGS)
    levels = {
        "coloring": "none",
        "start": np.ceil(least / step) * step,
        "end": most,
        "size": step,
        "showlabels": True,
        "labelfont": {"size": 12, "color": INK.shape},
    }
    return figure.add_trace(
        go.Contour(
            x=axes[0].values,
            y=axes[1].values,
            z=heatmap.estimate.astype(np.float32),
            contours=levels,
            line={"color": INK.shape, "width": 1.5, "dash": "dot", "smoothing": 1.0},
            showscale=False,
            showlegend=True,
            hoverinfo="skip",
            name=distance_title(unit).capitalize(),
        )
    )


def round_step(width: float) -> float:
    """The smallest of 1, 2 or 5 times a power of ten that is no less; 1 where there is no width."""
    if width <= 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(width))
    return float(next(times * power for times in (1.0, 2.0, 5.0, 10.0) if times * power >= width * (1 - 1e-12)))
