"""Pictures of a release with their axes and their words, and the nearest place to everyone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..analysis.density import Curve, Heatmap
from ..formatting.numbers import best_guess, listed, rounded, rounded_range, shown
from ..releases.release import Release
from .answer_sentences import one_sided, place_words
from .density_figures import UNSURE, Marks, close_by, density_figure, picture_in_words
from .distance_figures import distance_figure, distance_unit
from .figure_axes import Axis, View
from .report.exploration import table_of
from .report.meaning import counted
from .traces import on_paper


def axes_of(release: Release, picture: Curve | Heatmap) -> tuple[Axis, ...]:
    """The axes of a picture: one of a curve, two of a map."""
    columns = {column.name: column for column in release.domain.columns}
    if isinstance(picture, Curve):
        return (Axis.of(columns[picture.column], picture.values),)
    return Axis.of(columns[picture.x], picture.x_values), Axis.of(columns[picture.y], picture.y_values)


def picture_figure(
    release: Release,
    picture: Curve | Heatmap,
    marks: Marks | None = None,
    asked: tuple[object, ...] | None = None,
    lines: tuple[np.ndarray, ...] | None = None,
) -> go.Figure:
    """The figure of a picture: a curve, bars or a map, as its columns need, of closeness or of average distances.

    `marks`: Modes or centres. `lines`: an outline under a map of coordinates, longitudes and latitudes; None for coasts
    and borders.
    """
    if release.sketch.answers == "distance":
        unit = distance_unit(release.sketch)
        return distance_figure(in_units(release, picture), release.domain, unit, marks, asked)
    return density_figure(picture, release.domain, counted(release.domain), marks, asked, lines)


def figure_of(release: Release, picture: Curve | Heatmap) -> go.Figure:
    """The figure of a picture on light paper."""
    return on_paper(picture_figure(release, picture))


def drawn(release: Release) -> str:
    """What a picture of a release shows, as a word or two that begin a sentence."""
    return "Density" if release.sketch.answers == "closeness" else "Average distance"


def height(release: Release) -> str:
    """What the values of a picture are, for an axis or a legend."""
    if release.sketch.answers == "closeness":
        return close_by(counted(release.domain))
    return "average distance"


def in_units(release: Release, picture: Curve | Heatmap) -> Curve | Heatmap:
    """A picture with the values that are drawn: sums of closeness as they are, distances as averages."""
    if release.sketch.answers == "closeness":
        return picture
    names = ("estimate", "low", "high", "standard_error")
    return replace(picture, **{name: getattr(picture, name) / release.records for name in names})


def in_words(release: Release, picture: Curve | Heatmap) -> str:
    """The text alternative of a picture: where most are, how many, and how much of it the noise hides.

    Of distances: where the average is least, and what it is there.
    """
    axes = axes_of(release, picture)
    near = release.sketch.answers == "closeness"
    found = picture.estimate.argmax() if near else picture.estimate.argmin()
    at = np.unravel_index(found, picture.estimate.shape)[::-1]
    place = listed([f"{axis.name} {axis.words(axis.values[index])}" for axis, index in zip(axes, at, strict=True)])
    what = f"{drawn(release)} over {listed([axis.name for axis in axes])}"
    if near:
        return picture_in_words(what, picture, place, counted(release.domain))
    shown = in_units(release, picture)
    names = ("estimate", "low", "high", "standard_error")
    mean, low, high, error = (float(getattr(shown, name).ravel()[found]) for name in names)
    if not picture.errors_known:
        return f"{what}. It is least at {place}, with about {best_guess(mean, error)}. {UNSURE}"
    least, greatest = rounded_range(low, high, error)
    about = f"about {rounded(mean, error)}, very likely between {least} and {greatest}"
    return f"{what}. It is least at {place}, with {about}."


MOST_NAMED = 4


def nearest_values(
    release: Release, view: View, picture: Curve | Heatmap, centre: Mapping[str, object]
) -> tuple[object, ...]:
    """The values of the drawn columns where everyone is nearest, given what is held.

    `centre`: the nearest place of all; the picture's own nearest place is as coarse as its cells.
    """
    if all(centre[name] == value for name, value in view.held):
        return tuple(centre[name] for name in view.columns)
    axes = axes_of(release, picture)
    at = np.unravel_index(picture.estimate.argmin(), picture.estimate.shape)[::-1]
    return tuple(axis.value(axis.values[index]) for axis, index in zip(axes, at, strict=True))


def marked(release: Release, picture: Curve | Heatmap, places: Sequence[Sequence[object]]) -> Marks | None:
    """Places, values of the drawn columns each, as marks on a picture of average distances; none for one-sided ones."""
    if one_sided(release.sketch):
        return None
    axes = axes_of(release, picture)
    along = [np.array([axis.place(place[at]) for place in places], dtype=float) for at, axis in enumerate(axes)]
    if len(axes) == 2:
        return Marks(*along)
    return Marks(along[0], np.interp(along[0], axes[0].values, in_units(release, picture).estimate))


def held_sentence(release: Release, view: View, centre: Mapping[str, object]) -> str:
    """Where the columns that are not drawn are held because nobody held them elsewhere; "" when there are none."""
    kept = [name for name, value in view.held if centre[name] == value]
    if not kept:
        return ""
    said = place_words(dict(centre), release)
    places = listed([f"{name} at {shown(said[name])}" for name in kept], MOST_NAMED)
    return f"Where everyone is nearest: {places}. Hold them elsewhere to see what changes."


def picture_table(release: Release, picture: Curve | Heatmap) -> pd.DataFrame:
    """The answers of a picture as a table; of distances, their averages."""
    if release.sketch.answers == "closeness":
        return table_of(picture)
    return table_of(in_units(release, picture)).drop(columns="density").rename(columns={"estimate": "mean"})
