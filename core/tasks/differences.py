"""Pictures of what two releases differ by: those of both, and the band of their difference at every place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from ..releases.comparison import Comparison
from .density import Curve, Heatmap, marginal_grid, marginal_line
from .scale import places_along
from .work import map_size

SIZE = 64
POINTS = 200
Drawn = TypeVar("Drawn", Curve, Heatmap)


def line_of_differences(
    compared: Comparison,
    column: str,
    at: Mapping[str, object] | None = None,
    points: int | None = None,
    level: float = 0.95,
) -> Curve:
    """The difference along one column; columns that are not in ``at`` are averaged over, as in `marginal_line`.

    Without a number of points there are as many as show all that is as narrow as the kernel.
    """
    points = places_along(compared.first.sketch, column, POINTS) if points is None else points
    one, other = (marginal_line(release, column, at, points, level) for release in (compared.first, compared.second))
    return _difference(compared, one, other, level)


def grid_of_differences(
    compared: Comparison, x: str, y: str, at: Mapping[str, object] | None = None, size: int = SIZE, level: float = 0.95
) -> Heatmap:
    """The difference over two columns, likewise."""
    size = min(map_size(release, size) for release in (compared.first, compared.second))
    one, other = (marginal_grid(release, x, y, at, size, level) for release in (compared.first, compared.second))
    return _difference(compared, one, other, level)


def _difference(compared: Comparison, one: Drawn, other: Drawn, level: float) -> Drawn:
    found = compared.banded(one, other, level)
    return replace(
        one,
        estimate=found.estimate,
        low=found.low,
        high=found.high,
        standard_error=found.standard_error,
        density=one.density - other.density,
    )
