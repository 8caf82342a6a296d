"""The noisy histogram, smoothed by the kernel when it is read: the sketch of choice in one to three dimensions.

A record is shared between the grid points around it (`core.sketches.splines`), 1 in all, and one table of noisy counts
answers kernel sums of the kernel it was made for: f(q) = sum over grid points of w(q) times count, with w(q) the
coefficients of K(q, .) on the grid. Where RACE pays for R rows, the histogram pays for one; its answers add up the
noise of about (1.8 bandwidths / pitch)^d counters instead, which is less as long as d is small.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from ..checks import check_integer, exact_fields
from ..columns import Categorical
from ..domain import Domain
from ..errors import RequestError
from ..hashing.uniforms import PublicRandom
from ..kernels import Kernel, kernel_from_dict, of_coordinates
from ..privacy.budget import Budget
from ..privacy.calibration import calibrate
from ..privacy.neighbours import Neighbours, Sensitivity
from .linear import Answers, LinearSketch
from .smoothing import MAX_FITTED, Axis, Smoothing, along
from .splines import ORDER, share_records

MAX_COUNTERS = 1 << 26
COUNTERS_OFFERED = 4_000_000
"""Automatic sizes stop at tables of about this many counters, so that files stay small."""
MAX_AXES = 16
SCALE = 1 << 32
"""What one record adds in all: shares are rounded to 2^-32 of a record."""
PITCHES = tuple(2.0 ** (-step / 4) for step in range(-4, 29))
"""Pitches tried, in reaches of the kernel."""
TYPICAL_CROWDING = 10.0
"""A typical answer is taken to be so many times that of records spread evenly over the bounds."""
_PLACES = 36
"""Label of the stream of public randomness for places at which average noise is computed."""


@dataclass(frozen=True)
class Histogram(LinearSketch):
    """A histogram of public parameters, read through a kernel.

    Parameters
    ----------
    domain : the public facts about the records.
    kernel : any kernel of `core.kernels`. Products of one factor a column (Gaussian, Laplacian) are read fast in any
        number of dimensions; others by summing over the whole grid.
    cells : cells of each numeric coordinate, in order; None leaves the choice to `sized_for`. Categories are kept apart
        as they are.

    Raises
    ------
    RequestError
        When a parameter is out of range or the table would be too large.
    """

    domain: Domain
    kernel: Kernel
    cells: tuple[int, ...] | None = None
    name: ClassVar[str] = "histogram"

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Domain) or not isinstance(self.kernel, Kernel):
            raise RequestError("A histogram is made of a domain and a kernel.")
        axes = sum(column.width if not isinstance(column, Categorical) else 1 for column in self.domain.columns)
        if axes > MAX_AXES:
            raise RequestError(
                f"A histogram of {axes:,} coordinates would have too many cells; the most is {MAX_AXES}, and beyond "
                "three or four other mechanisms are better."
            )
        if self.cells is not None:
            if not isinstance(self.cells, (tuple, list)) or len(self.cells) != len(self._numeric):
                raise RequestError(f"The histogram needs {len(self._numeric)} numbers of cells, one a coordinate.")
            cells = tuple(check_integer(value, "The number of cells", 1, MAX_COUNTERS) for value in self.cells)
            object.__setattr__(self, "cells", cells)
            if math.prod(self.shape) > MAX_COUNTERS:
                raise RequestError(
                    f"{math.prod(self.shape):,} counters are more than {MAX_COUNTERS:,}, which is the most that a "
                    "histogram may have: use fewer cells or columns."
                )

    @property
    def metric(self) -> str:
        return self.kernel.metric

    @property
    def sized(self) -> bool:
        return self.cells is not None

    @cached_property
    def point_kernel(self) -> Kernel:
        """The kernel of encoded points, whose exact sums the table estimates."""
        return of_coordinates(self.kernel, tuple(column.width for column in self.domain.columns))

    @cached_property
    def _numeric(self) -> tuple[int, ...]:
        """The coordinates that are numbers."""
        kinds = np.repeat(
            [not isinstance(column, Categorical) for column in self.domain.columns],
            [column.width for column in self.domain.columns],
        )
        return tuple(int(coordinate) for coordinate in np.flatnonzero(kinds))

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The axes of the table, columns in order."""
        if self.cells is None:
            raise RequestError("The histogram has no number of cells yet; give one, or let the forecast choose it.")
        low, high = self.domain.bounds(self.metric)
        axes, cells, coordinate = [], iter(self.cells), 0
        for column in self.domain.columns:
            if isinstance(column, Categorical):
                axes.append(Axis(coordinate, 0.0, 1.0, 1, column.width))
            else:
                for place in range(coordinate, coordinate + column.width):
                    count = next(cells)
                    axes.append(Axis(place, float(low[place]), float(high[place] - low[place]) / count, count, 0))
            coordinate += column.width
        return tuple(axes)

    @cached_property
    def smoothing(self) -> Smoothing:
        """How the table is read."""
        return Smoothing(self.point_kernel, self.axes, self._middle())

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(axis.counters for axis in self.axes)

    @property
    def setup_bytes(self) -> int:
        return 0

    @property
    def scale(self) -> int:
        """What one record adds to the table in all."""
        return SCALE if self._numeric else 1

    @property
    def largest_entry(self) -> int:
        return self.scale

    def sized_for(self, budget: Budget, records: float) -> Histogram:
        """The number of cells with the least expected error of a typical answer, from public facts alone.

        Coarser grids have less noise, as fewer counters are added up, and fit the kernel less well. The typical answer
        is taken to be ten times that of records spread evenly over the bounds, and records to lie in heaps: see
        `Smoothing.discretisation`.
        """
        if self.sized:
            return self
        low, high = self.domain.bounds(self.metric)
        reaches = np.array([self._reach(coordinate) for coordinate in self._numeric])
        spans = (high - low)[list(self._numeric)]
        coarsest = replace(self, cells=(1,) * len(spans)).smoothing
        most = COUNTERS_OFFERED if coarsest.separable else MAX_FITTED
        best, least, gain = None, math.inf, None
        for pitch in PITCHES:
            cells = tuple(int(value) for value in np.maximum(np.ceil(spans / (pitch * reaches)), 1.0))
            if best is not None and math.prod(count + ORDER - 1 for count in cells) * self._categories > most:
                break
            sketch = replace(self, cells=cells)
            noise = calibrate(sketch.sensitivity(budget.neighbours), Fraction(budget.epsilon), Fraction(budget.delta))
            noise_variance = sketch.smoothing.noise_along_axes * noise.variance / self.scale**2
            if gain is None:  # what a kernel that is no product adds up, relative to the product of its profiles
                gain = sketch.noise_variance(noise.variance) / noise_variance
            typical = records * min(1.0, TYPICAL_CROWDING * sketch.smoothing.evenly)
            error = gain * noise_variance + (sketch.smoothing.discretisation * typical) ** 2
            if error < least:
                best, least = sketch, error
            elif gain * noise_variance > least:
                break
        return best

    def add(self, table: np.ndarray, points: np.ndarray) -> None:
        share_records(points, self.axes, self.scale, table)

    def record_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """One record adds S = `scale` in all, in shares that are not negative: L1 = S, reached by every record.

        The squares of a number's four shares, S times cubic B-splines, add up to S^2/2 at most, at a grid point; of m
        numbers, to S^2/2^m. Truncation makes shares smaller, and returns less than 4^m units to the largest, which is
        at most S: that adds no more than 2 * 4^m S + 16^m, and S more cover the rounding of floating-point products.

        Replace one: two such tables differ by at most 2S in L1 and, as neither has a negative entry, at most twice the
        square in L2; reached when they share no counter.
        """
        numbers, scale = len(self._numeric), self.scale
        squared = (scale * scale >> numbers) + (2 * 4**numbers + 1) * scale + 16**numbers if numbers else 1
        factor = 1 if neighbours is Neighbours.ADD_REMOVE else 2
        return Sensitivity(factor * scale, factor * min(squared, scale**2), unit_shifts=numbers == 0)

    def exact(self, queries: np.ndarray, records: np.ndarray) -> np.ndarray:
        return self.point_kernel.evaluate(queries, records).sum(axis=1)

    def answer(
        self, table: np.ndarray, records: float, points: np.ndarray, counter_variance: float, level: float
    ) -> Answers:
        """Estimates whose errors are known: the noise exactly, the grid's own from the counts around each query."""
        estimate, square, misfit = self.smoothing.read(table, points)
        error = np.sqrt(square * counter_variance + misfit) / self.scale
        return Answers.of_errors(estimate / self.scale, error, records, level)

    def noise_variance(self, counter_variance: float, points: np.ndarray | None = None) -> float | np.ndarray:
        """The sum of the squared coefficients, times a counter's variance."""
        places = self._places_inside() if points is None else points
        variances = self.smoothing.noise_gains(places) * (counter_variance / self.scale**2)
        return float(variances.mean()) if points is None else variances

    def total(self, table: np.ndarray) -> float:
        """The sum of all counters, as every record adds up to the same."""
        return float(table.sum(dtype=np.float64)) / self.scale

    def total_variance(self, counter_variance: float) -> float:
        return counter_variance * math.prod(self.shape) / self.scale**2

    def parameters(self) -> dict:
        return {"kernel": self.kernel.to_dict(), "cells": None if self.cells is None else list(self.cells)}

    @classmethod
    def from_parameters(cls, domain: Domain, parameters: dict) -> Self:
        facts = exact_fields(parameters, "histogram", ("kernel", "cells"))
        if not isinstance(facts["cells"], list):
            raise RequestError("A released histogram must say how many cells it has.")
        return cls(domain, kernel_from_dict(facts["kernel"]), tuple(facts["cells"]))

    @property
    def _categories(self) -> int:
        return math.prod(column.width for column in self.domain.columns if isinstance(column, Categorical))

    def _middle(self) -> np.ndarray:
        """The middle of the bounds, with the first of all categories."""
        low, high = self.domain.bounds(self.metric)
        middle = (low + high) / 2.0
        coordinate = 0
        for column in self.domain.columns:
            if isinstance(column, Categorical):
                middle[coordinate : coordinate + column.width] = 0.0
                middle[coordinate] = self.domain.amplitude(self.metric)
            coordinate += column.width
        return middle

    def _reach(self, coordinate: int) -> float:
        """The distance along a coordinate at which the kernel has fallen to exp(-1/2), a Gaussian's bandwidth."""
        low, high = (bound[coordinate] for bound in self.domain.bounds(self.metric))
        middle = (low + high) / 2.0
        distances = np.geomspace(1e-7, 10.0, 400) * (high - low)
        profile = along(self.point_kernel, self._middle(), coordinate, np.array([middle]), middle + distances)[0]
        beyond = np.flatnonzero(profile < math.exp(-0.5))
        if len(beyond) == 0:
            return float(distances[-1])
        if beyond[0] == 0:
            raise RequestError(
                "The kernel is too narrow for a histogram of these bounds: it would need more than ten million cells a "
                "coordinate."
            )
        return float(distances[beyond[0]])

    def _places_inside(self) -> np.ndarray:
        """Public random places inside the bounds at which noise is averaged, encoded."""
        low, high = self.domain.bounds(self.metric)
        uniforms = PublicRandom(0, _PLACES).uniforms(64, len(low))
        natural = self.domain.decode_points(low + (high - low) * uniforms, self.metric)
        return self.domain.encode_queries(natural, self.metric)
