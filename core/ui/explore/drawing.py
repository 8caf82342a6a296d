"""The figures of a map and of a matrix, made once for everyone who looks at the same part of the same file.

Making one takes ten times as long as anything else that a click does. What differs from visitor to visitor is the ring
around the point that is asked on a map, which is put on it afterwards.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from ...figures.density_figures import Marks
from ...figures.figure_axes import View, ring
from ...figures.report.release_pictures import axes_of, picture_figure
from ...figures.small_pictures import pairs_matrix
from ...releases.release import Release
from ...tasks.density import Curve, Heatmap, Pairs
from ..frame.session import Opened
from ..released.public_answers import REMEMBERED


def drawing(
    opened: Opened,
    view: View,
    picture: Curve | Heatmap,
    marks: Marks | None,
    asked: tuple[object, ...],
    lines: tuple[np.ndarray, ...] | None = None,
) -> go.Figure:
    """The figure of a picture, with a ring around what is asked; it may be changed.

    Parameters
    ----------
    opened, view : Opened, View
        What is looked at: `answers.picture` of them is the ``picture``.
    marks : Marks | None
        Modes or centres.
    asked : tuple[object, ...]
        The values of the picture's columns.
    lines : tuple[np.ndarray, ...] | None
        An outline that the visitor brought; a figure with it is made for them alone.
    """
    if isinstance(picture, Curve) or lines is not None:
        return picture_figure(opened.release, picture, marks, asked, lines)
    # It was checked when it was made.
    figure = go.Figure(_map(opened.identity, opened.release, picture, view, marks), _validate=False)
    x, y = (axis.place(value) for axis, value in zip(axes_of(opened.release, picture), asked, strict=True))
    return figure.add_trace(ring(x, y))


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def _map(identity: str, _release: Release, _picture: Heatmap, view: View, marks: Marks | None) -> dict[str, Any]:
    """The figure as it is sent."""
    figure: dict[str, Any] = picture_figure(_release, _picture, marks).to_dict()
    return figure


def matrix_drawing(opened: Opened, pictures: Pairs, cell: int) -> go.Figure:
    """The figure of a matrix; `answers.small_pictures` of its columns are the ``pictures``. It may be changed."""
    return go.Figure(_matrix(opened.identity, opened.release, pictures, pictures.columns, cell), _validate=False)


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def _matrix(identity: str, _release: Release, _pictures: Pairs, names: tuple[str, ...], cell: int) -> dict[str, Any]:
    """The figure as it is sent."""
    columns = {column.name: column for column in _release.domain.columns}
    near = _release.sketch.answers == "closeness"
    figure: dict[str, Any] = pairs_matrix(_pictures, columns, near, cell).to_dict()
    return figure
