"""A released density over three columns: a grid of answers, as a map has one over two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..checks import check_integer
from ..errors import RequestError
from ..releases.release import Release
from .box import Box
from .density import MAX_POINTS, Picture, answers_over, axis
from .work import READS


@dataclass(frozen=True, kw_only=True)
class Volume(Picture):
    """Answers over three columns; arrays (len(z_values), len(y_values), len(x_values)).

    Attributes
    ----------
    x, y, z : str
        Names of the columns.
    x_values, y_values, z_values : np.ndarray
        Centres of the cells, which tile the bounds; or the categories.
    """

    x: str
    y: str
    z: str
    x_values: np.ndarray
    y_values: np.ndarray
    z_values: np.ndarray

    @property
    def places(self) -> tuple[np.ndarray, ...]:
        return self.x_values, self.y_values, self.z_values


def marginal_volume(
    release: Release,
    x: str,
    y: str,
    z: str,
    at: Mapping[str, object] | None = None,
    size: int = 24,
    level: float = 0.95,
    reads: float = READS,
) -> Volume:
    """The kernel sum over three columns, averaged over the bounds and categories of those that are not in ``at``.

    Parameters
    ----------
    release : Release
        Any release of three columns or more.
    x, y, z : str
        Columns of numbers or categories.
    at : Mapping[str, object] | None
        A value, in natural units, of other columns.
    size : int
        Cells along a column of numbers; a category is one cell.
    level : float
        Probability with which each interval holds the exact kernel sum, averaged.
    reads : float
        Bounds the work, and with it the number of places that are averaged over.

    Raises
    ------
    RequestError
        When a column is unknown, chosen twice, or its value cannot be read.
    """
    box, names = Box.of(release.sketch), (x, y, z)
    check_integer(size, "The size of a grid", 2, int(MAX_POINTS ** (1 / 3)))
    if len(set(names)) < len(names):
        raise RequestError(f"A picture in three dimensions needs three different columns, and these are {names!r}.")
    values = {name: axis(box, name, size, ends=False) for name in names}
    shape = tuple(len(values[name]) for name in reversed(names))
    if np.prod(shape) > MAX_POINTS:
        raise RequestError(f"A grid has at most {MAX_POINTS:,} cells, and {x!r} by {y!r} by {z!r} would have more.")
    places = dict(zip(reversed(names), np.indices(shape).reshape(len(names), -1), strict=True))
    drawn = {name: box.encode(name, values[name])[places[name]] for name in names}
    facts = answers_over(release, box, drawn, at, level, reads, shape)
    return Volume(x=x, y=y, z=z, x_values=values[x], y_values=values[y], z_values=values[z], **facts)
