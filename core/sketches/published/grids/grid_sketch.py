"""What mechanisms share that end in counts of the cells of a public grid: reading kernel sums off them.

The estimate at q is the sum over cells of count times k(centre, q), as if every record lay at its cell's centre: the
weighted synthetic data of the RACE paper's baseline (CCS 2021, section 5.1). Noise makes some counts negative. They
stay as they are, as that keeps the noise without bias and its variance known; drawing points sets them to zero.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import ClassVar

import numpy as np

from ....domain import Domain
from ....errors import RequestError
from ....geometry.hashing.uniforms import PublicRandom
from ....geometry.kernels import Kernel, of_coordinates
from ...answers import Answers
from ...linear import LinearSketch
from .cells import Cells
from .grid_sums import GridSums

MAX_COUNTERS = 1 << 26
MAX_AXES = 16
PLACES = 64
"""Public random places inside the bounds at which average noise is computed."""
_PLACES = 41
"""Label of their stream of public randomness."""


class GridSketch(LinearSketch):
    """A sketch that tells how many records each cell of a grid has. Subclasses are frozen dataclasses with a kernel."""

    drawn_from: ClassVar[str] = "cells"
    kernel: Kernel

    def _check(self) -> None:
        super()._check()
        check_axes(self.domain, self.kernel, self.described)

    @property
    @abstractmethod
    def grid(self) -> Cells:
        """The cells; RequestError before their number is chosen."""

    @abstractmethod
    def cell_counts(self, table: np.ndarray, records: float, counter_variance: float) -> np.ndarray:
        """How many records each cell has, as far as a release knows it; float64 in the shape of the grid.

        Parameters
        ----------
        table, records, counter_variance : np.ndarray, float, float
            As for `answer`.
        """

    @property
    def metric(self) -> str:
        return self.kernel.metric

    @cached_property
    def point_kernel(self) -> Kernel:
        """The kernel of encoded points, whose exact sums the table estimates."""
        return of_coordinates(self.kernel, tuple(column.width for column in self.domain.columns))

    @cached_property
    def reading(self) -> GridSums:
        """How counts of cells are summed."""
        return GridSums(self.grid, self.point_kernel)

    def exact(self, queries: np.ndarray, records: np.ndarray) -> np.ndarray:
        return self.point_kernel.evaluate(queries, records).sum(axis=1)


class CountedGrid(GridSketch):
    """A sketch whose counts of cells are linear in its table, so that their noise is known exactly."""

    @abstractmethod
    def _gains(self, queries: np.ndarray) -> np.ndarray:
        """Variance of the estimates when every counter's noise has variance 1, float64 (n,)."""

    def answer(
        self, table: np.ndarray, records: float, points: np.ndarray, counter_variance: float, level: float
    ) -> Answers:
        """The noise part of the error is exact; that of moving records to centres is read off the counts."""
        points = np.asarray(points, dtype=np.float64)
        estimate, moved = self._read(self.cell_counts(table, records, counter_variance), points)
        error = np.sqrt(self.noise_variance(counter_variance, points) + moved)
        return Answers.of_errors(estimate, error, records, level)

    def _read(self, counts: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Estimates, and squared errors from moving records to the centres of their cells.

        All records of the grid moved by half a cell one way or the other give the same answers as a query moved the
        other way. The differences say how much it matters where in its cell a record lies: with first and second
        differences D and S along an axis, a common offset that is uniform in the cell has a standard deviation of
        D / sqrt(12), and one that is uniform for each record a mean of S / 6.
        """
        axes = [self.grid.axes[place] for place in self.grid.numeric]
        shifts = np.zeros((2 * len(axes) + 1, points.shape[1]))
        for place, axis in enumerate(axes):
            shifts[2 * place + 1, axis.coordinate] = axis.width / 2.0
            shifts[2 * place + 2, axis.coordinate] = -axis.width / 2.0
        queries = (points + shifts[:, None]).reshape(-1, points.shape[1])
        estimate, *sides = self.reading.sums(counts, queries).reshape(len(shifts), -1)
        squares = np.zeros(len(points))
        for up, down in zip(sides[::2], sides[1::2], strict=True):
            squares += (up - down) ** 2 / 12.0 + ((up + down - 2.0 * estimate) / 6.0) ** 2
        return estimate, squares

    def noise_variance(self, counter_variance: float, points: np.ndarray | None = None) -> float | np.ndarray:
        if points is None:
            uniforms = PublicRandom(0, _PLACES).uniforms(PLACES, len(self.grid.axes))
            return float(self._gains(self.grid.places(uniforms)).mean()) * counter_variance
        return self._gains(points) * counter_variance


def check_axes(domain: Domain, kernel: Kernel, what: str) -> None:
    """RequestError unless the columns have few enough axes."""
    if len(Cells.of(domain, kernel.metric, 1).axes) > MAX_AXES:
        raise RequestError(f"A {what} may have at most {MAX_AXES} coordinates, as its cells are all combinations.")
