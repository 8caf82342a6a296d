"""The noisy histogram, smoothed by the kernel when it is read: the sketch of choice in one to three dimensions.

A record is shared between the grid points around it (`core.sketches.splines`), 1 in all, and one table of noisy
counts answers kernel sums of the kernel it was made for: f(q) = sum over grid points of w(q) times count, with w(q) the
coefficients of K(q, .) on the grid. Where a column has public steps that are not fine against the kernel, every value
has a counter of its own, and nothing is lost by the grid; so has every value around a circle, where midnight is no end.
Where RACE pays for R rows, the histogram pays for one; its answers add up the noise of about (1.8 bandwidths / pitch)^d
counters instead, which is less as long as d is small. A second, coarse grid may take most of the record and leave the
fine one the details (`core.sketches.smoothing`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..domain import Categorical, Cyclic, Domain
from ..errors import RequestError
from ..formatting.numbers import significant
from ..geometry.kernels import KERNEL, Bandwidth, Kernel, Laplacian, Stationary, stationary, stretched
from ..geometry.uniforms import PublicRandom
from ..privacy.budget import Budget, Neighbours, Sensitivity
from ..runtime.parameters import Number, Resolved, Several, Whole, parameter
from .answers import Answers
from .grid_axes import Axis, is_product_of_columns
from .histogram_sizes import (
    LEAST_SHARE,
    MAX_HALVINGS,
    WIDEST_OFFERED,
    around,
    best_size,
    cells_for,
    check_speed,
    estimated_risks,
    reach,
)
from .linear import KernelSketch
from .mechanism_spec import KERNEL_OPTIONS, MechanismSpec, columns, sides
from .smoothing import Smoothing
from .splines import share_records

MAX_COUNTERS = 1 << 26
MAX_AXES = 16
CELLS = Several("The numbers of cells", Whole("The number of cells", 0, MAX_COUNTERS))
SCALE = 1 << 32  # What one record adds in all: shares are rounded to 2^-32 of a record.
NARROWEST = 0.5  # The narrowest bandwidth that is read, in cells: a spline is as wide.
_PLACES = 36  # Label of the stream of public randomness for places at which average noise is computed.


@dataclass(frozen=True)
class Histogram(KernelSketch):
    """A histogram of public parameters, read through a kernel.

    RequestError when a parameter is out of range or the table would be too large.

    Parameters
    ----------
    domain : Domain
        The public facts about the records.
    kernel : Kernel
        Any kernel of `core.geometry.kernels`. Products of one factor a column (Gaussian, Laplacian) are read column by
        column, and kernels of a distance as sums of such products (`core.sketches.query_axes`), which adds an
        error of 0.00003 a record at most; others, such as those of an angle, by summing over the whole grid, which is
        slow.
    cells : tuple[int, ...] | None
        Cells of each numeric coordinate, in order; 0 for one with public steps, of which every value has a counter of
        its own. None leaves the choice to `sized_for`. Categories are kept apart as they are.
    halvings : int
        When above 0, a coarse grid takes part too, whose cells are 2^halvings times as wide.
    fine : float
        Share of every record that the fine grid gets then; 1 without a coarse one.
    finest : float
        Below 1, the grid is made for narrower bandwidths than the kernel's as well, down to this share of it, so that
        readers may choose (`smoothed`). Files say it only then.
    """

    domain: Domain
    kernel: Kernel = parameter(KERNEL)
    cells: Resolved[tuple[int, ...]] = parameter(CELLS, None, settled="how many cells it has")
    halvings: int = parameter(Whole("The number of halvings between two grids", 0, MAX_HALVINGS), 0)
    fine: float = parameter(Number("The share of the fine grid"), 1.0)
    finest: float = parameter(Number("The narrowest bandwidth, in shares of the kernel's,", 2.0**-16, 1.0), 1.0)
    name: ClassVar[str] = "histogram"
    described: ClassVar[str] = "histogram"
    takes_circles: ClassVar[bool] = True
    on_grid: ClassVar[bool] = True
    earlier: ClassVar[Mapping[str, Any]] = {"finest": 1.0}
    setup_bytes = 0

    def _check(self) -> None:
        super()._check()
        if self.finest < 1.0 and (not isinstance(self.kernel, Stationary) or self.halvings):
            raise RequestError("Only one grid, and a kernel that has a bandwidth, are made for several bandwidths.")
        axes = sum(column.width if not isinstance(column, Categorical) else 1 for column in self.domain.columns)
        if axes > MAX_AXES:
            raise RequestError(
                f"A histogram of {axes:,} coordinates would have too many cells; the most is {MAX_AXES}, and beyond "
                "three or four other mechanisms are better."
            )
        if self.cells is not None:
            if len(self.cells) != len(self.numeric):
                raise RequestError(f"The histogram needs {len(self.numeric)} numbers of cells, one a coordinate.")
            self._check_cells()
            if math.prod(self.shape) > MAX_COUNTERS:
                raise RequestError(
                    f"{math.prod(self.shape):,} counters are more than {MAX_COUNTERS:,}, which is the most that a "
                    "histogram may have: use fewer cells or columns."
                )

    def _check_cells(self) -> None:
        spacings = self.domain.spacings[list(self.numeric)]
        if any(count == 0 and spacing == 0.0 for count, spacing in zip(self.cells, spacings, strict=True)):
            raise RequestError(
                "The number of cells must be at least 1 for a column without steps, as any number may occur there."
            )
        if self.halvings and all(axis.coarser(self.halvings).apart for axis in self.axes):
            raise RequestError(
                "A grid of few values has no halvings, as there is nothing between two of them that anyone has."
            )
        if any(count % 2**self.halvings for count in self.cells):
            raise RequestError("The cells of a fine grid must be whole parts of the coarse grid's cells.")
        if not (LEAST_SHARE <= self.fine <= 1 - LEAST_SHARE if self.halvings else self.fine == 1.0):
            raise RequestError(
                f"Of two grids each needs a share of a record between {LEAST_SHARE} and {1 - LEAST_SHARE}; a single "
                "grid has all of it."
            )

    @property
    def by_axis(self) -> bool:
        """Where the kernel is a sum of products, a picture costs a few products of matrices, whatever the size."""
        return self.smoothing.fast

    @cached_property
    def numeric(self) -> tuple[int, ...]:
        numbers = [not isinstance(column, Categorical) for column in self.domain.columns]
        return tuple(np.flatnonzero(np.repeat(numbers, self.domain.widths)).tolist())

    @cached_property
    def splined(self) -> tuple[int, ...]:
        """The numeric coordinates that the fine grid shares between grid points; all of them until it has a size."""
        if self.cells is None:
            return self.numeric
        return tuple(place for place, count in zip(self.numeric, self.cells, strict=True) if count)

    @cached_property
    def values(self) -> tuple[int, ...]:
        """How many values each numeric coordinate may have, 0 where any number may occur."""
        low, high = self.domain.bounds(self.metric)
        spacings = self.domain.spacings
        return tuple(
            int((high[place] - low[place]) / spacings[place] + 1e-9) + 1 if spacings[place] else 0
            for place in self.numeric
        )

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The axes of the table, columns in order."""
        cells = self.given("cells", "number of cells")
        low, high = self.domain.bounds(self.metric)
        spacings, axes, sizes, coordinate = self.domain.spacings, [], zip(cells, self.values, strict=True), 0
        for column in self.domain.columns:
            if isinstance(column, Cyclic):
                radius = column.radius / column.scaling(self.domain.scale)[1]
                axes.append(Axis(coordinate, 0.0, 1.0, 1, len(column.categories), radius=radius))
            elif isinstance(column, Categorical):
                axes.append(Axis(coordinate, 0.0, 1.0, 1, column.width))
            else:
                for place in range(coordinate, coordinate + column.width):
                    count, values = next(sizes)
                    if count:
                        axes.append(Axis(place, float(low[place]), float(high[place] - low[place]) / count, count, 0))
                    else:
                        axes.append(Axis(place, float(low[place]), float(spacings[place]), 0, 0, values))
            coordinate += column.width
        return tuple(axes)

    @cached_property
    def smoothing(self) -> Smoothing:
        return Smoothing(self.point_kernel, self.axes, self.middle, self.scales, self.halvings)

    @cached_property
    def _grids(self) -> tuple[tuple[Axis, ...], ...]:
        coarse = tuple(axis.coarser(self.halvings) for axis in self.axes)
        return (self.axes, coarse) if self.halvings else (self.axes,)

    @property
    def shape(self) -> tuple[int, ...]:
        return (sum(math.prod(axis.counters for axis in axes) for axes in self._grids),)

    def grids(self, table: np.ndarray) -> list[np.ndarray]:
        """The parts of a table that are each grid's, one axis a coordinate or column of categories: no copies."""
        parts, start = [], 0
        for axes in self._grids:
            sides = [axis.counters for axis in axes]
            parts.append(table[start : start + math.prod(sides)].reshape(sides))
            start += math.prod(sides)
        return parts

    @property
    def scale(self) -> int:
        return SCALE if self.splined or self.halvings else 1

    @property
    def scales(self) -> tuple[int, ...]:
        fine = round(self.fine * self.scale)
        return (fine, self.scale - fine) if self.halvings else (self.scale,)

    largest_entry = scale

    def sized_for(self, budget: Budget, records: float) -> Histogram:
        if self.sized:
            return self
        if self.finest == 1.0:
            return best_size(self, budget, records)
        return replace(self, cells=cells_for(self._of_bandwidth(self.finest)))

    def _of_bandwidth(self, factor: float) -> Histogram:
        """The same read through a kernel whose bandwidth is so many times as long."""
        kernel = stretched(stationary(self.kernel), factor)
        return replace(self, kernel=kernel, finest=min(1.0, max(self.finest / factor, 2.0**-16)))

    def smoothed(self, bandwidth: Bandwidth) -> Histogram:
        """The table is the same for every bandwidth, so it may be read through a kernel of any other.

        The noise adds up otherwise then, and so does what the grid misses of the kernel; both are in the errors.
        """
        own = stationary(self.kernel)
        kernel = replace(own, bandwidth=bandwidth)
        factor = _length(kernel.bandwidth) / _length(own.bandwidth)
        read = replace(self, kernel=kernel, finest=min(1.0, max(self.finest / factor, 2.0**-16)))
        if self._lengths and not factor >= self.narrowest * (1.0 - 1e-9):
            raise RequestError(
                f"The bandwidth must be at least {significant(self.narrowest * _length(own.bandwidth), 3)}, as the "
                "released grid is too coarse for detail of less."
            )
        return read

    @property
    def narrowest(self) -> float:
        """The narrowest bandwidth that can be read, as a share of the kernel's: half a cell of the finest axis.

        Around a circle, half of that: its values have counters of their own, and nothing lies between them.
        """
        axes = [axis for axis in self.axes if axis.radius or not axis.categories]
        pitches = [math.pi * axis.radius / axis.categories if axis.radius else axis.pitch for axis in axes]
        reaches = [wide for _, wide in self._lengths]
        finest = max((pitch / wide for pitch, wide in zip(pitches, reaches, strict=True)), default=1.0)
        return min(1.0, NARROWEST * min(finest, 1.0 / NARROWEST))

    @cached_property
    def _lengths(self) -> tuple[tuple[float, float], ...]:
        """Of every coordinate of numbers, and once around every circle: its length, and the kernel's reach along it."""
        low, high = self.domain.bounds(self.metric)
        spans, lengths, coordinate = high - low, [], 0
        for column in self.domain.columns:
            if isinstance(column, Cyclic) or not isinstance(column, Categorical):
                around, places = (math.pi, 1) if isinstance(column, Cyclic) else (1.0, column.width)
                for place in range(coordinate, coordinate + places):
                    wide = reach(self.point_kernel, self.middle, place, low[place], high[place])
                    lengths.append((around * float(spans[place]), wide))
            coordinate += column.width
        return tuple(lengths)

    def suited(self, table: np.ndarray, records: float, counter_variance: float) -> Histogram:
        """Read with the bandwidth that suits what was released, where the grid is made for several; else as it is."""
        if self.finest == 1.0 or not is_product_of_columns(self.kernel):
            return self
        factors = self.bandwidths
        kernels = tuple(self._of_bandwidth(factor).point_kernel for factor in factors)
        scale = float(self.scale)
        risks = estimated_risks(
            self.grids(table)[0] / scale, self.axes, kernels, self.middle, records, counter_variance / scale**2
        )
        return self._of_bandwidth(factors[int(risks.argmin())])

    @property
    def open_bandwidth(self) -> bool:
        return self.finest < 1.0

    @property
    def bandwidths(self) -> tuple[float, ...]:
        """From the finest that the grid is made for, or one cell, to a quarter of the longest axis."""
        if not isinstance(self.kernel, Stationary) or not self._lengths:
            return (1.0,)
        widest = max(WIDEST_OFFERED * span / wide for span, wide in self._lengths)
        return around(self.finest if self.open_bandwidth else self.narrowest / NARROWEST, widest)

    def add(self, table: np.ndarray, points: np.ndarray) -> None:
        for axes, scale, grid in zip(self._grids, self.scales, self.grids(table), strict=True):
            share_records(points, axes, scale, grid)

    def record_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """One record adds S = `scale` in all, in shares that are not negative: L1 = S, reached by every record.

        Every grid gets its scale s of it. The squares of a number's four shares, s times cubic B-splines, add up to
        s^2/2 at most, at a grid point; of m numbers that are shared so, to s^2/2^m. A category, and a value that has a
        counter of its own, on a line or around a circle, takes all of s. Truncation makes shares smaller, and returns
        less than 4^m units to the largest, which is at most s: that adds no more than 2 * 4^m s + 16^m, and s more
        cover the rounding of floating-point products.

        Replace one: two such tables differ by at most 2S in L1 and, as neither has a negative entry, at most twice the
        square in L2; reached when they share no counter.
        """
        factor = 1 if neighbours is Neighbours.ADD_REMOVE else 2
        if self.scale == 1:
            return Sensitivity(factor, factor, unit_shifts=True)
        squared = 0
        for scale, axes in zip(self.scales, self._grids, strict=True):
            shared = sum(not axis.apart for axis in axes)
            most = (scale * scale >> shared) + (2 * 4**shared + 1) * scale + 16**shared
            squared += min(most, scale * scale)
        return Sensitivity(factor * self.scale, factor * squared)

    def answer(
        self, table: np.ndarray, records: float, points: np.ndarray, counter_variance: float, level: float
    ) -> Answers:
        """Estimates whose errors are known: the noise exactly, the grid's own from the counts around each query."""
        estimate, gain, misfit = self.smoothing.read(self.grids(table), points)
        return Answers.of_errors(estimate, np.sqrt(gain * counter_variance + misfit), records, level)

    def estimates(
        self, tables: Sequence[np.ndarray], records: float, points: np.ndarray, counter_variance: float
    ) -> np.ndarray:
        return self.smoothing.estimates([self.grids(table) for table in tables], points)

    def noise_variance(self, counter_variance: float, points: np.ndarray | None = None) -> float | np.ndarray:
        places = self._places_inside() if points is None else points
        variances = self.smoothing.noise_gains(places) * counter_variance
        return float(variances.mean()) if points is None else variances

    def total(self, table: np.ndarray) -> float:
        """The sum of the coarser grid's counters, as every record adds up to the same there."""
        return float(self.grids(table)[-1].sum(dtype=np.float64)) / self.scales[-1]

    def total_variance(self, counter_variance: float) -> float:
        return counter_variance * math.prod(axis.counters for axis in self._grids[-1]) / self.scales[-1] ** 2

    @cached_property
    def middle(self) -> np.ndarray:
        """The middle of the bounds, with the first of all categories and of the values around a circle."""
        low, high = self.domain.bounds(self.metric)
        middle = (low + high) / 2.0
        coordinate = 0
        for column in self.domain.columns:
            if isinstance(column, Categorical):
                place = slice(coordinate, coordinate + column.width)
                middle[place] = 0.0
                column.place(middle[None, place], np.array([0]), 0, self.domain.amplitude(self.metric))
                middle[place] /= column.scaling(self.domain.scale)[1]
            coordinate += column.width
        return middle

    def _places_inside(self) -> np.ndarray:
        low, high = self.domain.bounds(self.metric)
        uniforms = PublicRandom(0, _PLACES).uniforms(64, len(low))
        natural = self.domain.decode_points(low + (high - low) * uniforms, self.metric)
        return self.domain.encode_queries(natural, self.metric)


def _length(bandwidth: Bandwidth) -> float:
    """One number for a bandwidth: the geometric mean where there is one a column."""
    return float(np.exp(np.mean(np.log(bandwidth)))) if isinstance(bandwidth, tuple) else bandwidth


CARD = MechanismSpec(
    "histogram",
    "Fitted histogram",
    "Frostglass",
    "One grid of noisy counts, read with weights that are fitted to the kernel.",
    sketch=Histogram,
    make=lambda facts: Histogram(facts.domain, facts.closeness, finest=facts.finest),
    rank=4,
    recommended=True,
    called="a histogram",
    plainly="A grid of counts (histogram)",
    options=KERNEL_OPTIONS,
    check=check_speed,
    because=lambda sketch: (
        f"with only {columns(sketch)} and {sides(sketch.shape)} counters, which are fine enough for the kernel"
    ),
    holds=lambda sketch: f"a grid of {sides(sketch.shape)} counters",
    warm=lambda: (Histogram(Domain.of(x=(0, 1), y=(0, 1)), Laplacian(1.0), (4, 4)),),
)
