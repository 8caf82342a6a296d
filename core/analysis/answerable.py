"""What a release can be asked, where, how much work that is, and what of an answer stands out from the noise.

Pictures and searches choose their numbers of places by the work, so that they stay within what a person waits for.

Where is the box of all possible records, what the bounds and categories of a domain allow. Tasks look at many places at
once, so they work on encoded coordinates and come back to natural units at the end. Their steps are measured by how far
a release's kernel reaches, as nothing smaller can be seen in its sums.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.special import ndtri_exp

from ..domain import Categorical, Column, Domain
from ..errors import RequestError
from ..privacy.calibration import NoiseScale
from ..releases.release import Release
from ..sketches.linear import LinearSketch


@dataclass(frozen=True)
class Box:
    """The encoded coordinates of a domain, column by column."""

    domain: Domain
    metric: str  # "l1" or "l2", which sets how far apart categories are.

    @classmethod
    def of(cls, sketch: LinearSketch) -> Box:
        """The box that a sketch's records lie in; RequestError where they are sets, which lie in none."""
        sketch.domain.check_coordinates()
        return cls(sketch.domain, sketch.metric)

    @cached_property
    def columns(self) -> dict[str, Column]:
        """Columns by name, in order."""
        return {column.name: column for column in self.domain.columns}

    @cached_property
    def places(self) -> dict[str, slice]:
        """Where each column's coordinates are."""
        ends = np.cumsum([column.width for column in self.domain.columns]).tolist()
        return {
            column.name: slice(end - column.width, end) for column, end in zip(self.domain.columns, ends, strict=True)
        }

    @cached_property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and greatest coordinates, float64 (dimensions,) each."""
        return self.domain.bounds(self.metric)

    @cached_property
    def numeric(self) -> np.ndarray:
        """The coordinates that may take any value between their bounds, int64."""
        return self.numeric_coordinates(self.domain.names)

    @cached_property
    def blocks(self) -> tuple[slice, ...]:
        """The coordinates of each column of categories, of which one is raised, or which say a place on a circle."""
        return tuple(self.places[name] for name in self.categorical_columns(self.domain.names))

    @cached_property
    def choices(self) -> tuple[int, ...]:
        """How many categories there are for each of the `blocks`."""
        return tuple(map(self.choices_of, self.blocks))

    def choices_of(self, block: slice) -> int:
        """How many categories the column of a block has."""
        return len(self._in_block[block.start].categories)

    @cached_property
    def _in_block(self) -> dict[int, Categorical]:
        """The column of categories that begins at a coordinate."""
        columns = ((self.places[name].start, column) for name, column in self.columns.items())
        return {start: column for start, column in columns if isinstance(column, Categorical)}

    @cached_property
    def amplitude(self) -> float:
        """Height of the raised coordinate of a category."""
        return self.domain.amplitude(self.metric)

    def numeric_coordinates(self, names: Iterable[str]) -> np.ndarray:
        """The coordinates of those of the named columns that hold numbers, int64."""
        ranges = [
            np.arange(place.start, place.stop)
            for name, place in ((name, self.places[name]) for name in names)
            if not isinstance(self.columns[name], Categorical)
        ]
        return np.concatenate([np.empty(0, dtype=np.int64), *ranges])

    def categorical_columns(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of the named columns that hold categories."""
        return tuple(name for name in names if isinstance(self.columns[name], Categorical))

    def column(self, name: object) -> Column:
        """The column of that name; RequestError when there is none."""
        if not isinstance(name, str) or name not in self.columns:
            raise RequestError(f"The release has no column {str(name)!r}; its columns are {', '.join(self.columns)}.")
        return self.columns[name]

    def encode(self, name: str, values: object) -> np.ndarray:
        """Coordinates of values of one column, float64 (n, width of the column)."""
        return replace(self.domain, columns=(self.column(name),)).encode_queries({name: values}, self.metric)

    def encode_fixed(self, at: Mapping[str, object] | None) -> dict[str, np.ndarray]:
        """Coordinates of one value a column, by name."""
        if at is not None and not isinstance(at, Mapping):
            raise RequestError("The columns that are held fixed must be given as a mapping from name to value.")
        # A list of one value, not the value: the value of a column of vectors is itself a list.
        return {name: self.encode(name, [value])[0] for name, value in (at or {}).items()}

    def uniform(self, uniforms: np.ndarray, names: Iterable[str] | None = None) -> np.ndarray:
        """Points that are spread evenly over the box of the named columns, all of them by default.

        `uniforms`: Numbers in [0, 1), float64 (n, u), with u from `uniforms_needed`: one a numeric coordinate, then one
        a column of categories.

        Returns float64 (n, dimensions) in Fortran order; coordinates of other columns are zero.
        """
        names = self.domain.names if names is None else tuple(names)
        numeric = self.numeric_coordinates(names)
        low, high = self.bounds
        points = np.zeros((len(uniforms), self.domain.dimensions), order="F")
        points[:, numeric] = low[numeric] + uniforms[:, : len(numeric)] * (high - low)[numeric]
        for name, share in zip(self.categorical_columns(names), uniforms.T[len(numeric) :], strict=True):
            block = self.places[name]
            self.raise_category(points, block, (share * self.choices_of(block)).astype(np.int64))
        return points

    def uniforms_needed(self, names: Iterable[str] | None = None) -> int:
        """How many uniform numbers `uniform` reads for a point."""
        names = self.domain.names if names is None else tuple(names)
        return len(self.numeric_coordinates(names)) + len(self.categorical_columns(names))

    def raise_category(self, points: np.ndarray, block: slice, codes: np.ndarray | int) -> None:
        """Set a column of categories to the given ones, in place; points (n, dimensions), codes (n,) or one for all."""
        points[:, block] = 0.0
        self._place(points[:, block], np.arange(len(points)), block, codes)

    def raise_some(self, points: np.ndarray, block: slice, chosen: np.ndarray, random: np.random.Generator) -> None:
        """Give the points marked in ``chosen``, bool (n,), a random category of a column, in place."""
        rows = np.flatnonzero(chosen)
        points[rows, block] = 0.0
        codes = random.integers(self.choices_of(block), size=len(rows))
        self._place(points[:, block], rows, block, codes)

    def _place(self, places: np.ndarray, rows: np.ndarray, block: slice, codes: np.ndarray | int) -> None:
        """Write categories, or the scaled places on a circle that stand for them, into rows that are zero."""
        self._in_block[block.start].place(places, rows, codes, self.amplitude)
        shift, width = self._in_block[block.start].scaling(self.domain.scale)
        if (shift, width) != (0.0, 1.0):
            places[rows] = (places[rows] - shift) / width

    def folded(self, numbers: np.ndarray) -> np.ndarray:
        """Coordinates of numbers (n, coordinates) reflected at the bounds until they are inside."""
        low, high = (bound[self.numeric] for bound in self.bounds)
        width = high - low
        turned = np.mod(numbers - low, 2.0 * width)
        return np.clip(low + np.minimum(turned, 2.0 * width - turned), low, high)

    def decode(self, points: np.ndarray) -> pd.DataFrame:
        """Points in natural units, kept inside the bounds that rounding might leave by a last digit."""
        return self.domain.decode_points(points, self.metric, inside=True)


LARGEST_SHARE = 0.25  # A kernel that hardly fades inside the bounds is searched in quarters of them.
HALVINGS = 30
MOST_PLACES = 2_000  # The most places along one curve.
AT_ONCE = 256  # Coordinates that are tried at once: each takes a point of all coordinates.


def half_widths(sketch: LinearSketch) -> np.ndarray:
    """Distance along each coordinate of numbers at which the kernel has fallen to one half, float64 (coordinates,).

    It is found by bisection, so any kernel will do; at most a quarter of the coordinate's range, which is also the
    answer for a sketch without a kernel.
    """
    box = Box.of(sketch)
    low, high = box.bounds
    kernel = getattr(sketch, "point_kernel", None)
    if kernel is None:
        return LARGEST_SHARE * (high - low)[box.numeric]
    # Not the middle, as that may be the origin, where an angle is not defined.
    origin = low + 0.75 * (high - low)
    widths = [np.empty(0)]
    for start in range(0, len(box.numeric), AT_ONCE):
        coordinates = box.numeric[start : start + AT_ONCE]
        near, far = np.zeros(len(coordinates)), LARGEST_SHARE * (high - low)[coordinates]
        for _ in range(HALVINGS):
            tried = (near + far) / 2.0
            moved = np.tile(origin, (len(coordinates), 1))
            moved[np.arange(len(coordinates)), coordinates] += tried
            close = kernel.evaluate(origin[None, :], moved)[0] > 0.5
            near, far = np.where(close, tried, near), np.where(close, far, tried)
        widths.append(far)
    return np.concatenate(widths)


def places_along(sketch: LinearSketch, column: str, usual: int) -> int:
    """How many places show a curve along a column without leaving out what is as narrow as the kernel.

    `column`: Of numbers or dates; of any other, of none that is there, and of sums of distances, the usual number is
    enough. `usual`: As many at least.
    """
    box = Box.of(sketch)
    if column not in box.places:
        return usual
    coordinates = np.arange(box.bounds[0].size)[box.places[column]]
    where = np.flatnonzero(np.isin(box.numeric, coordinates))
    if sketch.answers != "closeness" or len(coordinates) != 1 or not len(where):
        return usual
    span = float((box.bounds[1] - box.bounds[0])[coordinates[0]])
    return int(min(max(usual, 2.0 * span / half_widths(sketch)[where[0]]), max(usual, MOST_PLACES)))


LISTED = 6


def check_one_population(release: Release) -> None:
    """RequestError for a release of several classes, as each of them is a population by itself."""
    if not release.sketch.count_shape:
        return
    hidden = set(release.domain.names) - set(release.sketch.query_domain.names)
    labels = [column for column in release.domain.columns if column.name in hidden and isinstance(column, Categorical)]
    classes = [category for column in labels for category in column.categories]
    shown = ", ".join(classes[:LISTED]) + (" …" if len(classes) > LISTED else "")
    raise RequestError(f"This release holds several classes, each by itself; say which of them is asked: {shown}.")


def check_closeness(release: Release, wanted: str) -> None:
    """RequestError unless the release sums closeness, of one population.

    `wanted`: What for, such as "modes"; the sentence says that distances have none.
    """
    if release.sketch.answers != "closeness":
        raise RequestError(
            f"This release says how far everyone is from a place, which gives no {wanted}, as being far from a place "
            "says little about who is at it; ask for its centre, or release a density."
        )
    check_one_population(release)


READS = 5e8  # Counters that one picture may read: about half a second on two cores.
WHOLE_TABLE = 16.0  # Reads that a counter is worth where every answer weighs all counters of a table.
FEWEST_CELLS = 16  # Cells along a side of a map, below which it says nothing.


def counters_read(release: Release, queries: float) -> float:
    """Work of that many queries, in reads of a counter; a long projection costs more than the read itself."""
    sketch = release.sketch
    if sketch.in_groups:
        return queries * sketch.shape[0] * (1.0 + release.domain.dimensions / 16.0)
    return queries * WHOLE_TABLE * sketch.weighed


def map_size(release: Release, most: int, places: int = 1) -> int:
    """Cells along a side of a map: ``most``, or as many as may be read where answers are expensive.

    `most`: More would not be seen. `places`: Answers that are averaged for each cell, at least.
    """
    if places == 1 and release.sketch.by_axis:
        return most
    affordable = READS / counters_read(release, places)
    return int(min(most, max(FEWEST_CELLS, math.isqrt(int(affordable)))))


def reach_together(sketch: LinearSketch, noise: Iterable[NoiseScale], level: float = 0.95) -> float:
    """How many standard deviations noise alone lifts a place at most, wherever one looks, with probability ``level``.

    Bonferroni over the places that the kernel tells apart: boxes of one half-width a side, and all categories. Of noise
    drawn for single counters the tail is Laplace's, as where one counter decides: a weighted sum of several has a
    lighter one. Of other noise, and of means over the groups of a sketch, it is the normal one.
    """
    box = Box.of(sketch)
    low, high = box.bounds
    sides = (high - low)[box.numeric] / half_widths(sketch)
    places = float(np.log(np.maximum(sides, 1.0)).sum() + np.log(np.maximum(box.choices, 1)).sum())
    chance = math.log(1.0 - level) - places
    if not sketch.in_groups and any(scale.distribution == "discrete_laplace" for scale in noise):
        return (-chance - math.log(2.0)) / math.sqrt(2.0)
    return -float(ndtri_exp(chance))


def noise_alone(release: Release) -> float:
    """Standard deviation that noise gives a typical answer, where it is known apart from all else; else infinite.

    Errors of a grid are a share of what is there, and lift nothing where nobody is. Of groups, whose spread shows all,
    nothing is known apart.
    """
    sketch = release.sketch
    return math.inf if sketch.in_groups else math.sqrt(sketch.noise_variance(release.privacy.counter_variance))


def stands_out(estimate: np.ndarray, standard_error: np.ndarray, together: float, noise: float) -> np.ndarray:
    """Which answers lie higher than noise alone lifts any place: the one rule of pictures, reports and modes."""
    return np.isfinite(standard_error) & (estimate > together * np.minimum(standard_error, noise))
