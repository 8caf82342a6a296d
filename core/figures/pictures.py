"""Small pictures of released densities, for a gallery: a released file as one sees it at a glance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..domain import Domain, Numeric, Vector
from ..errors import RequestError
from ..releases import Release
from ..tasks.density import marginal_grid, marginal_line
from .palette import TEAL, rgb

SIZE = 72
"""Pixels of a side; a browser's smoothing does the rest."""


def density_picture(release: Release, columns: Sequence[str] = (), size: int = SIZE) -> np.ndarray:
    """The released density over one or two columns, averaged over the others.

    Parameters
    ----------
    release : any release.
    columns : names of one or two columns, across and up; the first ones, numbers before categories, when none is named.
    size : pixels of a side.

    Returns
    -------
    uint8 (size, size, 4), red, green, blue and opacity: teal that is denser where more people are, on nothing. One
    column is a hill seen from the side, two are a map; what is least in the map is left blank.

    Raises
    ------
    RequestError : the release has no column that can be drawn.
    """
    names = list(columns) or _first_columns(release.domain)
    opacity = _hill(release, names[0], size) if len(names) == 1 else _map(release, names[0], names[1], size)
    picture = np.empty((size, size, 4), dtype=np.uint8)
    picture[..., :3] = rgb(TEAL.shape)
    picture[..., 3] = np.rint(255 * opacity)
    return picture


def _first_columns(domain: Domain) -> list[str]:
    drawable = [column for column in domain.columns if not isinstance(column, Vector)]
    if not drawable:
        raise RequestError("A picture is drawn along numbers or categories, and this release has vectors only.")
    return [column.name for column in sorted(drawable, key=lambda column: not isinstance(column, Numeric))][:2]


def _hill(release: Release, name: str, size: int) -> np.ndarray:
    """Opacities (size, size) of one column's curve, filled below and fainter towards its foot."""
    heights = np.maximum(marginal_line(release, name, points=size).estimate, 0.0)
    heights = _stretched(heights, size) / max(heights.max(), np.finfo(float).tiny)
    levels = ((np.arange(size)[::-1] + 0.5) / size)[:, None]
    return np.clip((0.92 * heights - levels) * size + 0.5, 0.0, 1.0) * (0.35 + 0.65 * levels)


def _map(release: Release, x: str, y: str, size: int) -> np.ndarray:
    """Opacities (size, size) over two columns, the second one upwards."""
    cells = np.maximum(marginal_grid(release, x, y, size=size).estimate, 0.0)[::-1]
    cells = cells - cells.min()
    cells /= max(cells.max(), np.finfo(float).tiny)
    return _stretched(_stretched(cells, size).T, size).T


def _stretched(values: np.ndarray, size: int) -> np.ndarray:
    """The values along the last axis repeated to ``size`` of them: categories are fewer than pixels."""
    return values[..., np.arange(size) * values.shape[-1] // size]
