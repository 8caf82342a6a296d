"""Pictures of a release with their axes and their words: the nearest place to everyone, a small picture of every pair
of columns to start exploring from, and those of a gallery of files.
"""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..analysis.centres import nearest_place
from ..analysis.classification import decision_map
from ..analysis.density import Curve, Heatmap, Pairs, marginal_grid, marginal_line
from ..domain import Categorical, Column, Dates, Domain, Numeric, Ordered, Scalar, Vector
from ..errors import RequestError
from ..formatting.numbers import best_guess, listed, rounded, rounded_range, shown
from ..releases.release import Release
from .answer_sentences import one_sided, place_words
from .class_figures import class_colour
from .density_figures import UNSURE, Marks, close_by, density_figure, highest, picture_in_words
from .distance_figures import distance_figure, distance_unit
from .exploration import table_of
from .figure_axes import Axis, View
from .meaning import counted
from .palette import TEAL, rgb
from .traces import hidden_by_noise, on_paper


def axes_of(release: Release, picture: Curve | Heatmap) -> tuple[Axis, ...]:
    """The axes of a picture: one of a curve, two of a map."""
    columns = release.domain.drawn
    if isinstance(picture, Curve):
        return (Axis.of(columns[picture.column], picture.values),)
    return Axis.of(columns[picture.x], picture.x_values), Axis.of(columns[picture.y], picture.y_values)


def axes_of_columns(domain: Domain, names: Sequence[str]) -> tuple[Axis, ...]:
    """The axes of columns of which no picture is there."""
    found = []
    for column in (domain.drawn[name] for name in names):
        if isinstance(column, (Categorical, Ordered)):
            values = np.array(column.categories)
        else:
            ends = np.array(column.bounds(1.0))
            values = column.between(ends) if isinstance(column, (Dates, Numeric)) else ends
        found.append(Axis.of(column, values))
    return tuple(found)


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


HIDDEN, MOST = 255, 254  # What the noise hides, and the darkest shade.


def pairs_facts(pairs: Pairs, columns: Mapping[str, Column], near: bool = True) -> dict[str, Any]:
    """What `matrix.js` draws: curves of single columns on the diagonal, maps of pairs below it.

    Each picture has a scale of its own: the darkest place of each is the one where most people are, or, of distances,
    the one that is nearest to everyone.

    `near`: whether the pictures say how many are near, and not how far everyone is.
    """
    names = pairs.columns
    maps = [
        {"x": names.index(x), "y": names.index(y), "across": picture.estimate.shape[1]}
        | {"cells": _shades(picture, near, near), "smooth": _smooth(picture, (columns[x], columns[y]), near)}
        for (x, y), picture in pairs.heatmaps.items()
    ]
    curves = [
        {"cells": _shades(pairs.curves[name], near, True), "bars": _is_named(columns[name]), "filled": near}
        for name in names
    ]
    return {"names": list(names), "said": pairs_in_words(pairs, near), "maps": maps, "curves": curves}


def _shades(picture: Curve | Heatmap, near: bool, high: bool) -> str:
    """Numbers from 0 to `MOST`, packed row by row: of a curve 0 where noise hides it, of a map `HIDDEN`.

    `high`: whether the highest number is the darkest, or the lowest.
    """
    hidden = hidden_by_noise(picture) if near else np.zeros(picture.estimate.shape, dtype=bool)
    seen = np.where(hidden, np.nan, picture.estimate)
    least, most = (0.0, highest(seen)) if near else (float(np.nanmin(seen)), float(np.nanmax(seen)))
    shares = np.clip((seen - least) / max(most - least, np.finfo(float).tiny), 0.0, 1.0)
    shades = np.rint(MOST * (shares if high else 1.0 - shares))
    blank = HIDDEN if isinstance(picture, Heatmap) else 0
    return base64.b64encode(np.where(hidden, blank, shades).astype(np.uint8).tobytes()).decode()


def _is_named(column: Column) -> bool:
    """Whether places along a column are named one by one."""
    return isinstance(column, (Categorical, Ordered))


def _smooth(picture: Heatmap, columns: Sequence[Column], near: bool) -> bool:
    """Whether colours may run into each other: not where cells are categories, or some are hidden."""
    return not any(map(_is_named, columns)) and not (near and hidden_by_noise(picture).any())


def pairs_in_words(pairs: Pairs, near: bool = True) -> str:
    """The pictures that may be opened, as the text alternative of the matrix."""
    listed = ", ".join(pairs.columns)
    what = "density pictures" if near else "pictures of average distances"
    return f"A matrix of small {what}, one for each pair of these columns and one for each alone: {listed}."


SIZE = 72  # Pixels of a side; a browser's smoothing does the rest.
FAR_SIZE = 24  # Cells of a map of distances, which change slowly from place to place.
GROUPS_SIZE = 48  # Pixels of a side of a map of groups, each of which asks the release in many points.


def density_picture(release: Release, columns: Sequence[str] = (), size: int = SIZE) -> np.ndarray:
    """The released density over one or two columns, averaged over the others; or average distances, through the place
    that is nearest to everyone.

    `columns`: names of one or two columns, across and up; the first ones, numbers before categories, when none is
    named.

    RequestError when the release has no column that can be drawn.

    Returns uint8 (size, size, 4), red, green, blue and opacity: teal that is denser where more people are, or where
    everyone is nearer, on nothing. One column is a hill seen from the side, two are a map; what is least in the map is
    blank.
    """
    names = list(columns) or _first_columns(release.domain)
    opacity = _hill(release, names[0], size) if len(names) == 1 else _map(release, names[0], names[1], size)
    picture = np.empty((size, size, 4), dtype=np.uint8)
    picture[..., :3] = rgb(TEAL.shape)
    picture[..., 3] = np.rint(255 * opacity)
    return picture


def groups_picture(release: Release, columns: Sequence[str], size: int = GROUPS_SIZE) -> np.ndarray:
    """Which group each place over two columns is like, averaged over the others.

    Returns uint8 (size, size, 4), red, green, blue and opacity: each group in its colour, blank where the noise
    decides.
    """
    across, up = columns
    drawn = decision_map(release, across, up, resolution=size)
    colours = np.array([rgb(class_colour(code)) for code in range(len(drawn.classes))], dtype=np.uint8)
    picture = np.empty((size, size, 4), dtype=np.uint8)
    picture[..., :3] = colours[drawn.codes[::-1]]
    picture[..., 3] = 255 * drawn.certain[::-1]
    return picture


def _first_columns(domain: Domain) -> list[str]:
    drawable = [column for column in domain.columns if not isinstance(column, Vector)]
    if not drawable:
        raise RequestError("A picture is drawn along numbers or categories, and this release has vectors only.")
    return [column.name for column in sorted(drawable, key=lambda column: not isinstance(column, Scalar))][:2]


def _hill(release: Release, name: str, size: int) -> np.ndarray:
    """Opacities (size, size) of one column's curve, filled below and fainter towards its foot."""
    at, sign = _view(release, (name,))
    heights = sign * marginal_line(release, name, at, points=size).estimate
    heights = np.maximum(heights, 0.0) if sign > 0 else heights - heights.min()
    heights = _stretched(heights, size) / max(heights.max(), np.finfo(float).tiny)
    levels = ((np.arange(size)[::-1] + 0.5) / size)[:, None]
    return np.clip((0.92 * heights - levels) * size + 0.5, 0.0, 1.0) * (0.35 + 0.65 * levels)


def _map(release: Release, x: str, y: str, size: int) -> np.ndarray:
    """Opacities (size, size) over two columns, the second one upwards."""
    at, sign = _view(release, (x, y))
    cells = sign * marginal_grid(release, x, y, at, size=size if sign > 0 else FAR_SIZE).estimate[::-1]
    cells = np.maximum(cells, 0.0) if sign > 0 else cells
    cells = cells - cells.min()
    cells /= max(cells.max(), np.finfo(float).tiny)
    return _stretched(_stretched(cells, size, sign < 0).T, size, sign < 0).T


def _view(release: Release, drawn: tuple[str, ...]) -> tuple[dict[str, object], float]:
    """Where the other columns are held, and whether much (1) or little (-1) is dark."""
    if release.sketch.answers == "closeness":
        return {}, 1.0
    return {name: value for name, value in nearest_place(release).items() if name not in drawn}, -1.0


def _stretched(values: np.ndarray, size: int, smooth: bool = False) -> np.ndarray:
    """The values along the last axis repeated to ``size`` of them, as categories are fewer than pixels.

    Where they are fewer because they change slowly, pixels in between lie in between.
    """
    count = values.shape[-1]
    if not smooth or count != FAR_SIZE:
        return values[..., np.arange(size) * count // size]
    places = np.clip((np.arange(size) + 0.5) * count / size - 0.5, 0, count - 1)
    first = np.minimum(places.astype(np.int64), count - 2)
    share = places - first
    return (1 - share) * values[..., first] + share * values[..., first + 1]
