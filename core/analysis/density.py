"""Pictures of a released density: curves, heatmaps, their marginals, a matrix of small ones, and volumes."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ..domain import Categorical, Dates, Numeric, Ordered, Vector
from ..errors import RequestError
from ..releases.release import Release
from ..runtime.counter_tables import Floats
from ..runtime.parameters import check_integer
from .answerable import READS, Box, noise_alone, reach_together, stands_out
from .other_columns import NOTHING, averaged_answers, averaging

MAX_POINTS = 1_000_000  # Cells or points of one picture.
MAX_PAIRED = 8
PAIRS_READS = 2.0 * READS  # Work of all small grids of a matrix together, in counters read.


@dataclass(frozen=True, kw_only=True)
class Picture(ABC):
    """Answers at the places of a picture; arrays of the picture's shape."""

    estimate: np.ndarray  # Kernel sums, in records' worth of closeness.
    # Intervals for the exact kernel sums, each by itself.
    low: np.ndarray
    high: np.ndarray
    density: np.ndarray  # Estimate divided by the number of records.
    standard_error: np.ndarray  # Of the estimate.
    at: Mapping[str, object]  # The columns held at one value, in natural units.
    # The columns averaged over their bounds and categories; the answer is then the average of the kernel sum.
    averaged: tuple[str, ...]
    # How many places the average is over; the intervals are for the average over just these places.
    averaging_places: int
    # Standard deviations that noise lifts a place at most, all places together, and what is known of one: `stands_out`.
    together: float = 4.0
    noise: float = math.inf

    @property
    def certain(self) -> np.ndarray:
        """Where something surely is, all places looked at together. Bool, of the picture's shape."""
        return (self.low > 0.0) & stands_out(self.estimate, self.standard_error, self.together, self.noise)

    @property
    def drowned(self) -> np.ndarray:
        """Where noise exceeds the signal: the interval reaches zero. Bool, of the picture's shape.

        Of an answer whose error nobody knows, nobody can say so.
        """
        return (self.low <= 0.0) & np.isfinite(self.standard_error)

    @property
    @abstractmethod
    def places(self) -> tuple[np.ndarray, ...]:
        """The values along each axis of the picture."""

    @property
    def errors_known(self) -> bool:
        """Whether there are intervals at all: some mechanisms have no formula for how far off they are."""
        return bool(np.isfinite(self.standard_error).all())


@dataclass(frozen=True, kw_only=True)
class Curve(Picture):
    """Answers along one column."""

    column: str
    values: np.ndarray  # (n,) numbers or dates, or the categories, one a bar.

    @property
    def places(self) -> tuple[np.ndarray, ...]:
        return (self.values,)


@dataclass(frozen=True, kw_only=True)
class Heatmap(Picture):
    """Answers over two columns; arrays (len(y_values), len(x_values))."""

    x: str
    y: str
    x_values: np.ndarray
    y_values: np.ndarray

    @property
    def places(self) -> tuple[np.ndarray, ...]:
        return self.x_values, self.y_values


@dataclass(frozen=True)
class Pairs:
    """Small marginals of every pair of columns, and of every column alone."""

    columns: tuple[str, ...]
    curves: Mapping[str, Curve]  # A marginal curve by column.
    heatmaps: Mapping[tuple[str, str], Heatmap]  # A marginal heatmap by (x, y), x before y in ``columns``.


def line(
    release: Release, column: str, at: Mapping[str, object] | None = None, points: int = 400, level: float = 0.95
) -> Curve:
    """The kernel sum along one column, every other column held at a value.

    `at`: A value, in natural units, of every other column. `points`: Places along a column of numbers, both bounds
    included. `level`: Probability with which each interval holds the exact kernel sum.
    """
    return _curve(release, column, at, points, level, reads=None)


def marginal_line(
    release: Release,
    column: str,
    at: Mapping[str, object] | None = None,
    points: int = 200,
    level: float = 0.95,
    reads: float = READS,
) -> Curve:
    """The same, averaged over the bounds and categories of the columns that are not in ``at``.

    The average gives every place of the other columns the same weight, and every category; multiplied by the volume of
    the box it is the integral over them. ``reads`` bounds the work, and with it the number of places.
    """
    return _curve(release, column, at, points, level, reads)


def grid(
    release: Release, x: str, y: str, at: Mapping[str, object] | None = None, size: int = 200, level: float = 0.95
) -> Heatmap:
    """The kernel sum over two columns, every other column held at a value.

    `at`: A value, in natural units, of every other column. `size`: Cells along a column of numbers; a category is one
    cell.
    """
    return _heatmap(release, x, y, at, size, level, reads=None)


def marginal_grid(
    release: Release,
    x: str,
    y: str,
    at: Mapping[str, object] | None = None,
    size: int = 48,
    level: float = 0.95,
    reads: float = READS,
) -> Heatmap:
    """The kernel sum over two columns, averaged over those that are neither drawn nor held; see `marginal_line`."""
    return _heatmap(release, x, y, at, size, level, reads)


def pairs(
    release: Release,
    columns: Sequence[str] | None = None,
    size: int = 24,
    level: float = 0.95,
    reads: float = PAIRS_READS,
) -> Pairs:
    """Marginals of every pair of columns and of every column alone, to start exploring from.

    `columns`: From one to eight columns of numbers or categories; all of them when None. `reads`: Bounds the work of
    all pictures together, and with it the number of places that are averaged over.
    """
    names = release.domain.names if columns is None else tuple(columns)
    if not 1 <= len(names) <= MAX_PAIRED or len(set(names)) < len(names):
        raise RequestError(
            f"A matrix of pairs shows from 1 to {MAX_PAIRED} different columns, and {len(names)} were chosen; "
            "name the ones to show."
        )
    couples = tuple(combinations(names, 2))
    reads = reads / (len(couples) + 1)
    return Pairs(
        names,
        {name: marginal_line(release, name, None, 4 * size, level, reads / len(names)) for name in names},
        {(x, y): marginal_grid(release, x, y, None, size, level, reads) for x, y in couples},
    )


def _curve(release: Release, column: str, at, points: int, level: float, reads: float | None) -> Curve:
    box = Box.of(release.sketch)
    check_integer(points, "The number of points of a curve", 2, MAX_POINTS)
    values = axis(box, column, points, ends=True)
    drawn = {column: box.encode(column, values)}
    return Curve(column=column, values=values, **answers_over(release, box, drawn, at, level, reads, (len(values),)))


def _heatmap(release: Release, x: str, y: str, at, size: int, level: float, reads: float | None) -> Heatmap:
    box = Box.of(release.sketch)
    check_integer(size, "The size of a grid", 2, int(MAX_POINTS**0.5))
    if x == y:
        raise RequestError(f"A grid needs two different columns, and both are {x!r}.")
    x_values, y_values = (axis(box, name, size, ends=False) for name in (x, y))
    shape = (len(y_values), len(x_values))
    if shape[0] * shape[1] > MAX_POINTS:
        raise RequestError(f"A grid has at most {MAX_POINTS:,} cells, and {x!r} by {y!r} has {shape[0] * shape[1]:,}.")
    drawn = {
        x: np.tile(box.encode(x, x_values), (shape[0], 1)),
        y: np.repeat(box.encode(y, y_values), shape[1], axis=0),
    }
    facts = answers_over(release, box, drawn, at, level, reads, shape)
    return Heatmap(x=x, y=y, x_values=x_values, y_values=y_values, **facts)


def answers_over(release: Release, box: Box, drawn, at, level: float, reads: float | None, shape: tuple) -> dict:
    """The fields of a `Picture`: answers at the drawn places; with ``reads`` None no column may be averaged over."""
    held = box.encode_fixed(at)
    for name in drawn:
        if name in held:
            raise RequestError(f"The column {name!r} is drawn, so it cannot be held at one value too.")
    others = tuple(name for name in box.columns if name not in drawn and name not in held)
    averaged = NOTHING
    if others:
        if reads is None:
            raise RequestError(f"A slice needs a value for every column that is not drawn: give one for {others[0]!r}.")
        averaged = averaging(release, others, math.prod(shape), reads)
    answers = averaged_answers(release, drawn, held, averaged, level)
    arrays = ("estimate", "low", "high", "density", "standard_error")
    facts = {"at": dict(at or {}), "averaged": others, "averaging_places": len(averaged.places)}
    if release.sketch.answers == "closeness":
        together = reach_together(release.sketch, release.privacy.noise, level)
        facts |= {"together": together, "noise": noise_alone(release)}
    return {name: getattr(answers, name).reshape(shape) for name in arrays} | facts


def axis(box: Box, name: str, count: int, *, ends: bool) -> np.ndarray:
    """Values along a column: its categories, or numbers or dates from bound to bound (or centres of cells there)."""
    column = box.column(name)
    if isinstance(column, Vector):
        raise RequestError(f"The column {name!r} holds vectors, and a picture is drawn along numbers or categories.")
    if isinstance(column, (Categorical, Ordered)):
        return np.array(column.categories, dtype=object)
    low, high = column.bounds(1.0)
    between = low + (np.arange(count) + 0.5) * ((high - low) / count)
    places: Floats = np.asarray(np.linspace(low, high, count) if ends else between)
    return column.between(places) if isinstance(column, (Dates, Numeric)) else places


@dataclass(frozen=True, kw_only=True)
class Volume(Picture):
    """Answers over three columns; arrays (len(z_values), len(y_values), len(x_values))."""

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

    `at`: A value, in natural units, of other columns. `reads`: Bounds the work, and with it the number of places that
    are averaged over.
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
