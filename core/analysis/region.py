"""How many records lie inside a box or an outline on a picture: a sum of counters, and so as free as any question.

A grid shares each record between the splines B_j around it, whose sum is 1 everywhere. With w_j the part of the region
in the cell around grid point j, the counters add up to

    sum_j w_j T_j / S = sum over records of g(x) + noise,    g = sum_j w_j B_j,

where g is 1 well inside the region and 0 well outside. Two things keep the sum from the exact number. The noise, whose
variance is the sum of w_j^2 times a counter's, over S^2; where there is a coarse grid, it is asked for g as it sees it,
and the fine one for the rest only, as for kernels (`core.sketches.grids.smoothing`). And records near the outline, for
which g is neither 1 nor 0: those of a cell are taken for one heap at an unknown place, so that the square of what it
misses is the mean of (g - 1)^2 inside and g^2 outside over the cell, times the square of the heap; and as whole numbers
put all heaps along an edge at the same distance from it, those of a layer of cells are taken to miss together, unless
the column is a latitude or a longitude. Both are in the interval, which is for one outline, chosen without regard to
the noise: of many, some will miss.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import cast

import numpy as np

from ..domain.column import Scalar
from ..domain.round_columns import Coordinate
from ..errors import RequestError
from ..releases.release import Release
from ..sketches.answers import Answers
from ..sketches.grids.grid_axes import Axis, along_axis, heaps_of
from ..sketches.grids.histogram import Histogram
from ..sketches.grids.smoothing import OVERLAP
from ..sketches.grids.splines import combined
from .answerable import check_one_population
from .box import Box

PLACES_A_CELL = 6  # Places along a side of a cell at which it is seen whether they lie inside.
MOST_CORNERS = 2_000


@dataclass(frozen=True)
class Region:
    """A part of a picture."""

    columns: tuple[str, ...]  # One or two columns of numbers.
    # In natural units: the two ends of a stretch of one column, or the corners of an outline over two, in order; an
    # outline that crosses itself holds what is inside an odd number of times.
    corners: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        least = 2 if len(self.columns) == 1 else 3
        if len(self.columns) not in (1, 2) or any(len(corner) != len(self.columns) for corner in self.corners):
            raise RequestError("A region lies over one or two columns, and each of its corners has a number for each.")
        if not least <= len(self.corners) <= MOST_CORNERS:
            raise RequestError(f"A region over {len(self.columns)} columns has {least} to {MOST_CORNERS:,} corners.")
        if not np.isfinite(np.array(self.corners)).all():
            raise RequestError("The corners of a region must be finite numbers.")

    @classmethod
    def between(cls, **ends: tuple[float, float]) -> Region:
        """A stretch or a box: the two ends by column."""
        if len(ends) == 1:
            ((name, (low, high)),) = ends.items()
            return cls((name,), ((low,), (high,)))
        (left, right), (below, above) = ends.values()
        return cls(tuple(ends), ((left, below), (right, below), (right, above), (left, above)))


def countable(release: Release, columns: tuple[str, ...]) -> bool:
    """Whether records can be counted inside regions over these columns of a release."""
    known = {column.name: column for column in release.domain.columns}
    return (
        release.sketch.on_grid
        and len(columns) in (1, 2)
        and all(isinstance(known[name], Scalar) and known[name].width == 1 for name in columns)
    )


def count_inside(release: Release, region: Region, level: float = 0.95) -> Answers:
    """How many records lie inside a region, whatever their other columns say.

    Parameters
    ----------
    level : float
        Probability with which the interval holds the exact number.

    Returns
    -------
    Answers
        Arrays of shape (1,), in records; ``density`` is the share of all of them.
    """
    check_one_population(release)
    if not set(region.columns) <= set(release.domain.names) or not countable(release, region.columns):
        raise RequestError(
            "Records are counted inside a region over one or two columns of numbers of a histogram; other mechanisms "
            "say how many are close by, and not where they end."
        )
    sketch = cast(Histogram, release.sketch)
    box = Box.of(sketch)
    corners = _encoded(box, region)
    drawn = [_axis_of(sketch, box, name) for name in region.columns]
    counts = [
        _summed(table / scale, drawn)
        for table, scale in zip(sketch.grids(release.counters), sketch.scales, strict=True)
    ]
    axes = [sketch.axes[place] for place in drawn]
    fine = _weights(axes, corners)
    estimate, squares = 0.0, 0.0
    rest, others = fine, [axis.counters for place, axis in enumerate(sketch.axes) if place not in drawn]
    if sketch.halvings:
        coarse = [axis.coarser(sketch.halvings) for axis in axes]
        rough = smooth = _weights(coarse, corners)
        for place, axis in enumerate(axes):
            smooth = along_axis(partial(axis.refined, halvings=sketch.halvings), smooth, place)
        rest = fine - smooth
        far = [axis.coarser(sketch.halvings).counters for place, axis in enumerate(sketch.axes) if place not in drawn]
        estimate += float((rough * counts[1]).sum())
        squares += math.prod(far) * float((rough**2).sum()) / sketch.scales[1] ** 2
    estimate += float((rest * counts[0]).sum())
    squares += math.prod(others) * float((rest**2).sum()) / sketch.scales[0] ** 2
    layered = [place for place, name in enumerate(region.columns) if not isinstance(box.column(name), Coordinate)]
    missed = _missed(axes, fine, counts[0], corners, layered)
    error = math.sqrt(squares * release.privacy.counter_variance + missed)
    found = Answers.of_errors(np.array([estimate]), np.array([error]), release.records, level)
    if release.population is None:
        return found
    return found.of_population(release.population.luck, release.records, 1.0, level)  # inside counts 1, and outside 0


def _encoded(box: Box, region: Region) -> np.ndarray:
    """The corners in encoded coordinates, float64 (corners, columns), moved into the bounds, outside which nobody is.

    A number is a straight line from bound to bound there, and no corner is rounded to a step of its column.
    """
    low, high = box.bounds
    coordinates = []
    for place, name in enumerate(region.columns):
        column, at = cast(Scalar, box.column(name)), box.places[name].start
        first, last = column.bounds(1.0)
        share = (column.placed(np.array([corner[place] for corner in region.corners])) - first) / (last - first)
        coordinates.append(low[at] + np.clip(share, 0.0, 1.0) * (high - low)[at])
    return np.column_stack(coordinates)


def _axis_of(sketch: Histogram, box: Box, name: str) -> int:
    """Which axis of the table a column is."""
    coordinate = int(box.places[name].start)
    return next(place for place, axis in enumerate(sketch.axes) if axis.coordinate == coordinate)


def _summed(table: np.ndarray, drawn: list[int]) -> np.ndarray:
    """Counts over the drawn axes alone, in their order."""
    rest = tuple(place for place in range(table.ndim) if place not in drawn)
    kept = sorted(drawn)
    return np.transpose(table.sum(axis=rest, dtype=np.float64), [kept.index(place) for place in drawn])


def _inside(places: list[np.ndarray], corners: np.ndarray) -> np.ndarray:
    """Whether each place of a lattice lies in the region, bool of the lattice's shape; places ascend."""
    if len(places) == 1:
        low, high = sorted(corners[:, 0])
        return (places[0] >= low) & (places[0] <= high)
    x, y = places
    inside = np.zeros((len(x), len(y)), dtype=bool)
    for (x1, y1), (x2, y2) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        # A ray to the left crosses this side where the side is left of it, at heights between the side's ends.
        beside = slice(*np.searchsorted(y, sorted((y1, y2))))
        if beside.start < beside.stop:
            inside[:, beside] ^= x[:, None] > (x2 - x1) * (y[beside] - y1) / (y2 - y1) + x1
    return inside


def _weights(axes: list[Axis], corners: np.ndarray) -> np.ndarray:
    """The part of the region in the cell around every grid point, float64 of the axes' counters."""
    places, each = [], []
    for axis in axes:
        if axis.apart:
            places.append(axis.low + axis.pitch * np.arange(axis.counters))
            each.append(1)
            continue
        offsets = (np.arange(PLACES_A_CELL) + 0.5) / PLACES_A_CELL - 0.5
        steps = np.clip((np.arange(axis.counters) - 1.0)[:, None] + offsets, 0.0, axis.cells)
        places.append((axis.low + axis.pitch * steps).ravel())
        each.append(PLACES_A_CELL)
    return _cell_means(_inside(places, corners).astype(np.float64), each)


def _cell_means(values: np.ndarray, each: list[int]) -> np.ndarray:
    """Means over blocks of so many values along each axis."""
    for place, size in enumerate(each):
        values = along_axis(partial(_block_means, size=size), values, place)
    return values


def _block_means(rows: np.ndarray, size: int) -> np.ndarray:
    return rows.reshape(len(rows), -1, size).mean(axis=2)


def _missed(
    axes: list[Axis], weights: np.ndarray, counts: np.ndarray, corners: np.ndarray, layered: list[int]
) -> float:
    """The squared error near the outline; see the head of the file."""
    places, each, fit = [], [], weights
    for place, axis in enumerate(axes):
        if axis.apart:
            places.append(axis.low + axis.pitch * np.arange(axis.counters))
            each.append(1)
            continue
        steps = (np.arange(axis.cells * PLACES_A_CELL) + 0.5) / PLACES_A_CELL
        fit = along_axis(partial(combined, places=steps), fit, place)
        places.append(axis.low + axis.pitch * steps)
        each.append(PLACES_A_CELL)
    squares = _cell_means((fit - _inside(places, corners)) ** 2, each)
    shared = sum(not axis.apart for axis in axes)
    heaps = np.abs(heaps_of(counts, tuple(axes))) / OVERLAP ** max(0, shared - 1) * np.sqrt(squares)
    layers = [tuple(other for other in range(heaps.ndim) if other != place) for place in layered]
    # `heaps_of` counts every record of a whole layer twice along each grid, and a single heap no more than once.
    together = [heaps.sum(axis=layer) / (OVERLAP if shared else 1.0) for layer in layers]
    return max(float((part**2).sum()) for part in (heaps, *together))
