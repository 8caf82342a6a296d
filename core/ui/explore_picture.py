"""The large picture of a view: the figure that its columns need, and what its buttons do."""

from __future__ import annotations

import plotly.graph_objects as go

from ..domain import Categorical
from ..figures.density import Marks, density_bars, density_line, density_map
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
    """The figure of a picture: a curve, bars or a map, as its columns need."""
    columns = {column.name: column for column in release.domain.columns}
    counted = noun(release)
    if isinstance(picture, Heatmap):
        return density_map(picture, (columns[picture.x], columns[picture.y]), counted, marks, asked)
    column = columns[picture.column]
    value = asked[0] if asked else None
    if isinstance(column, Categorical):
        return density_bars(picture, column, counted, value)
    return density_line(picture, column, counted, marks, value)
