"""Small pictures of released files, for a gallery: what one sees of a file at a glance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..domain import Domain, Scalar, Vector
from ..errors import RequestError
from ..releases.release import Release
from ..tasks.centres import nearest_place
from ..tasks.decision_map import decision_map
from ..tasks.density import marginal_grid, marginal_line
from .classes import class_colour
from .palette import TEAL, rgb

SIZE = 72
"""Pixels of a side; a browser's smoothing does the rest."""
FAR_SIZE = 24
"""Cells of a map of distances, which change slowly from place to place."""
GROUPS_SIZE = 48
"""Pixels of a side of a map of groups, each of which asks the release in many points."""


def density_picture(release: Release, columns: Sequence[str] = (), size: int = SIZE) -> np.ndarray:
    """The released density over one or two columns, averaged over the others; or average distances, through the place
    that is nearest to everyone.

    Parameters
    ----------
    release : Release
        Any release.
    columns : Sequence[str]
        Names of one or two columns, across and up; the first ones, numbers before categories, when none is named.
    size : int
        Pixels of a side.

    Returns
    -------
    np.ndarray
        uint8 (size, size, 4), red, green, blue and opacity: teal that is denser where more people are, or where
        everyone is nearer, on nothing. One column is a hill seen from the side, two are a map; what is least in the map
        is blank.

    Raises
    ------
    RequestError
        When the release has no column that can be drawn.
    """
    names = list(columns) or _first_columns(release.domain)
    opacity = _hill(release, names[0], size) if len(names) == 1 else _map(release, names[0], names[1], size)
    picture = np.empty((size, size, 4), dtype=np.uint8)
    picture[..., :3] = rgb(TEAL.shape)
    picture[..., 3] = np.rint(255 * opacity)
    return picture


def groups_picture(release: Release, columns: Sequence[str], size: int = GROUPS_SIZE) -> np.ndarray:
    """Which group each place over two columns is like, averaged over the others.

    Parameters
    ----------
    release : Release
        A release that tells groups apart.
    columns : Sequence[str]
        Names of the two columns, across and up.
    size : int
        Pixels of a side.

    Returns
    -------
    np.ndarray
        uint8 (size, size, 4), red, green, blue and opacity: each group in its colour, blank where the noise decides.
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
