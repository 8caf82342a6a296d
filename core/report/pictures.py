"""A picture of a release with what its columns are: its axes, its figure, and its words."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from ..figures.axes import Axis
from ..figures.density import density_figure, picture_in_words
from ..figures.paper import on_paper
from ..releases import Release
from ..tasks.density import Curve, Heatmap
from .words import counted, listed


def axes_of(release: Release, picture: Curve | Heatmap) -> tuple[Axis, ...]:
    """The axes of a picture: one of a curve, two of a map."""
    columns = {column.name: column for column in release.domain.columns}
    if isinstance(picture, Curve):
        return (Axis.of(columns[picture.column], picture.values),)
    return Axis.of(columns[picture.x], picture.x_values), Axis.of(columns[picture.y], picture.y_values)


def figure_of(release: Release, picture: Curve | Heatmap) -> go.Figure:
    """The figure of a picture on light paper: a curve, bars or a map, as its columns need."""
    return on_paper(density_figure(picture, release.domain, counted(release.privacy.unit)))


def in_words(release: Release, picture: Curve | Heatmap) -> str:
    """The text alternative of a picture: where most are, how many, and how much of it the noise hides."""
    axes = axes_of(release, picture)
    most = np.unravel_index(picture.estimate.argmax(), picture.estimate.shape)[::-1]
    place = listed([f"{axis.name} {axis.words(axis.values[at])}" for axis, at in zip(axes, most, strict=True)])
    what = f"Density over {listed([axis.name for axis in axes])}"
    return picture_in_words(what, picture, place, counted(release.privacy.unit))
