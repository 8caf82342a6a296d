"""A released density over three columns: shells, one inside the other, that a visitor turns.

A shell is drawn where the lower end of the interval reaches its height, so everywhere inside at least so many are very
likely close by. What the noise hides lies in no shell.
"""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from ..domain import Domain
from ..tasks.density import Volume
from ..words.numbers import percent, significant
from ..words.phrases import listed
from .axes import Axis
from .density import close_by, highest
from .hidden import hidden_by_noise
from .palette import FAINT
from .scales import LIGHT_SHADES, colour_scale

HEIGHT = 560
SHELLS = (0.15, 0.4, 0.7)
"""Heights of the shells, in parts of the highest lower end."""
OPACITY = 0.35
SHADES = LIGHT_SHADES[2:8]
"""Those that stand out from either theme."""


def axes_of_volume(volume: Volume, domain: Domain) -> tuple[Axis, Axis, Axis]:
    """Its three axes."""
    columns = {column.name: column for column in domain.columns}
    x, y, z = (
        Axis.of(columns[name], values)
        for name, values in zip((volume.x, volume.y, volume.z), volume.places, strict=True)
    )
    return x, y, z


def heights(volume: Volume) -> np.ndarray:
    """What is surely there: the lower ends of the intervals, and 0 where the noise hides what there is."""
    sure = volume.low if volume.errors_known else volume.estimate
    return np.where(hidden_by_noise(volume), 0.0, np.maximum(sure, 0.0))


def shells_figure(volume: Volume, domain: Domain, noun: str) -> go.Figure:
    """The shells of a density over three columns, the densest inside.

    Parameters
    ----------
    volume : Volume
        Answers over three columns of ``domain``.
    domain : Domain
        Of the release.
    noun : str
        What is counted.
    """
    axes = axes_of_volume(volume, domain)
    sure = heights(volume)
    levels = shell_levels(sure)
    across = np.meshgrid(*(axis.values for axis in reversed(axes)), indexing="ij")
    bar = {
        "title": {"text": f"at least so many<br>{close_by(noun)}", "side": "top"},
        "thickness": 10,
        "len": 0.5,
        "outlinewidth": 0,
        "tickmode": "array",
        "tickvals": levels,
        "ticktext": [significant(level, 2) for level in levels],
    }
    figure = go.Figure(
        go.Isosurface(
            x=across[2].ravel(),
            y=across[1].ravel(),
            z=across[0].ravel(),
            value=sure.ravel().astype(np.float32),
            isomin=levels[0],
            isomax=levels[-1],
            cmin=0.0,
            cmax=levels[-1],
            surface={"count": len(levels)},
            caps={side: {"show": False} for side in "xyz"},
            opacity=OPACITY,
            colorscale=colour_scale(SHADES),
            colorbar=bar,
            hoverinfo="skip",
        )
    )
    frame = {"backgroundcolor": "rgba(0, 0, 0, 0)", "showspikes": False, "gridcolor": FAINT.shape}
    sides = {f"{side}axis": _side(axis) | frame for side, axis in zip("xyz", axes, strict=True)}
    figure.update_layout(scene=sides | {"aspectmode": "cube", "dragmode": "orbit"})
    margin = {"l": 8, "r": 8, "t": 8, "b": 8, "pad": 0}
    return figure.update_layout(height=HEIGHT, margin=margin, uirevision="constant")


def shell_levels(sure: np.ndarray) -> list[float]:
    """The heights of the shells, in two digits."""
    top = highest(sure) or 1.0
    return [float(f"{share * top:.2g}") for share in SHELLS]


def shells_in_words(what: str, volume: Volume, domain: Domain, noun: str) -> str:
    """The text alternative: where most are, and how much of the box each shell fills.

    Parameters
    ----------
    what : str
        What the figure shows, without a full stop.
    """
    sure = heights(volume)
    if not sure.any():
        return f"{what}. The noise hides all of it."
    at = np.unravel_index(sure.argmax(), sure.shape)[::-1]
    axes = axes_of_volume(volume, domain)
    place = ", ".join(f"{axis.name} {axis.words(axis.values[index])}" for axis, index in zip(axes, at, strict=True))
    shares = [f"{significant(level, 2)} in {percent(float((sure >= level).mean()))}" for level in shell_levels(sure)]
    return f"{what}. It is surely highest at {place}. Of the box, at least so many {close_by(noun)}: {listed(shares)}."


def _side(axis: Axis) -> dict:
    """An axis of a scene: as that of a map, without what only maps know."""
    return axis.layout() | {"showgrid": True}
