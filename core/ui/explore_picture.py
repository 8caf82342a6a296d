"""The large picture of a view, and what its buttons do."""

from __future__ import annotations

import plotly.graph_objects as go

from ..figures.density import Marks, density_figure
from ..releases import Release
from ..tasks.density import Curve, Heatmap
from .explore_words import noun
from .session import Opened


def picture_config(opened: Opened) -> dict:
    """What Plotly's own buttons do: the camera saves a picture named after the file."""
    return {"toImageButtonOptions": {"format": "png", "filename": opened.stem, "scale": 2}, "scrollZoom": False}


def picture_figure(
    release: Release, picture: Curve | Heatmap, marks: Marks | None = None, asked: tuple[object, ...] | None = None
) -> go.Figure:
    """The figure of a picture in the shades of the visitor's theme."""
    return density_figure(picture, release.domain, noun(release), marks, asked)
