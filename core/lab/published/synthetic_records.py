"""Sketches that answer from synthetic records: noisy marginals, a model that has them, and points drawn from it.

Everything after the noise is a function of the table and of public random numbers, so the same release gives the same
points and the same answers to everyone. Points lie anywhere in their cells, evenly, and come from an even net of random
numbers instead of independent ones, which makes a few thousand of them as good as many more.

Kernel sums over public points with weights, which is how synthetic data answer a question.

What is here looks at a release and at public places alone, so nothing has to be the same bit for bit.
"""

import hashlib
import math
from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np

from ...geometry.kernels import Kernel
from ...geometry.uniforms import PublicRandom, scrambled_sobol
from ...privacy.budget import Neighbours, Sensitivity
from ...privacy.calibration import NoiseScale
from ...runtime.parameters import Whole
from ...sketches.answers import Answers
from ...sketches.linear import KernelSketch
from .grid_cells import Cells, Marginals

BLOCK = 1 << 21  # Pairs of a query and a point whose kernel is held in memory at once.


def weighted_sums(kernel: Kernel, queries: np.ndarray, points: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Sums over points of weight times kernel, at queries.

    Returns float64 (n,), or (n, k). `kernel`: of encoded points. `queries`: float64 (n, d), encoded. `points`: float64
    (m, d), encoded. `weights`: float64 (m,), of any sign; or (m, k), k sets of weights at once.
    """
    return _in_blocks(queries, len(points), weights.shape[1:], lambda some: kernel.evaluate(some, points) @ weights)


def _in_blocks(queries: np.ndarray, points: int, shape: tuple[int, ...], answer) -> np.ndarray:
    answers = np.empty((len(queries), *shape))
    size = max(1, BLOCK // max(points, 1))
    for start in range(0, len(queries), size):
        answers[start : start + size] = answer(queries[start : start + size])
    return answers


POINTS = 1 << 14  # Synthetic records that are drawn.
A_COORDINATE = Whole("The number of cells", 1, 1 << 12)  # Cells of a coordinate of numbers.
_POINTS = 51  # Label of their stream of public randomness.

Node = tuple[int, tuple[int, ...]]  # An axis and its parents, in increasing order.


class SyntheticSketch(KernelSketch):
    """Noisy marginals that are imitated by points. Subclasses are frozen dataclasses with a kernel, counts and a seed.

    Its answers have no known error: the model's own is that of what its marginals do not say.
    """

    linear_decode: ClassVar[bool] = False
    drawn_from: ClassVar[str] = "records"
    counts: tuple[int, ...]
    seed: int

    @property
    @abstractmethod
    def marginals(self) -> Marginals:
        """What is counted."""

    @abstractmethod
    def _places(self, table: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
        """Where synthetic records lie, as shares of each axis' length, float64 (m, axes).

        `uniforms`: public random numbers, (m, axes), one a record and axis.
        """

    @property
    def cells(self) -> Cells:
        return self.marginals.cells

    @property
    def shape(self) -> tuple[int]:
        return self.marginals.shape

    @property
    def weighed(self) -> int:
        return POINTS

    @property
    def setup_bytes(self) -> int:
        drawn = POINTS * (self.domain.dimensions + 4 * len(self.counts))
        return self.marginals.setup_bytes + 8 * (drawn + 6 * self.shape[0] + BLOCK)

    def add(self, table: np.ndarray, points: np.ndarray) -> None:
        self.marginals.add(table, points)

    def record_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """That of the marginals (`Marginals.record_sensitivity` has the proof)."""
        return self.marginals.record_sensitivity(neighbours)

    def synthetic(self, table: np.ndarray) -> np.ndarray:
        """The synthetic records of a noisy table as encoded points, float64 (m, dimensions)."""
        digest = hashlib.blake2b(np.ascontiguousarray(table).data).digest()
        known = self._remembered.get(digest)
        if known is None:
            uniforms = scrambled_sobol(POINTS, len(self.counts), PublicRandom(self.seed, _POINTS))
            known = self.cells.places(self._places(table, uniforms))
            self._remembered.clear()
            self._remembered[digest] = known
        return known

    def drawn(
        self, table: np.ndarray, records: float, counter_variance: float, n: int, random: np.random.Generator
    ) -> np.ndarray:
        """So many of the synthetic records, encoded, float64 (n, dimensions)."""
        synthetic = self.synthetic(table)
        return synthetic[random.integers(len(synthetic), size=n)]

    @cached_property
    def _remembered(self) -> dict[bytes, np.ndarray]:
        """The points of the table that was asked last, as making them takes longer than asking them."""
        return {}

    def answer(
        self, table: np.ndarray, records: float, points: np.ndarray, counter_variance: float, level: float
    ) -> Answers:
        """The average over the synthetic records times the number of records; nobody knows how far it is off."""
        synthetic = self.synthetic(table)
        density = weighted_sums(self.point_kernel, points, synthetic, np.full(len(synthetic), 1.0 / len(synthetic)))
        return Answers.unknown(max(float(records), 1.0) * density, records, level)

    def noise_variance(self, counter_variance: float, points: np.ndarray | None = None) -> float | np.ndarray:
        return math.inf if points is None else np.full(len(points), math.inf)

    def total(self, table: np.ndarray) -> float:
        return self.marginals.total(table)

    def total_variance(self, counter_variance: float) -> float:
        return self.marginals.total_variance(counter_variance)


def noise_scale(noise: NoiseScale) -> float:
    """By how much noise typically moves a count: the scale of Laplace's, the standard deviation of Gaussian noise."""
    return float(noise.parameter) if noise.distribution == "discrete_laplace" else math.sqrt(noise.variance)


def drawn_in_order(
    nodes: Sequence[Node], weights: Sequence[np.ndarray], counts: Sequence[int], uniforms: np.ndarray
) -> np.ndarray:
    """Records drawn axis by axis, each given the cells of its parents, as shares of each axis' length, (m, axes).

    `nodes`: every axis once, after its parents. `weights`: of each node, float64 (parents' cells, cells): how likely
    each cell is given the parents', up to a factor. `counts`: cells of each axis. `uniforms`: float64 (m, axes), in (0,
    1).
    """
    drawn, cells = np.empty_like(uniforms), np.empty(uniforms.shape, np.int64)
    for (child, parents), densities in zip(nodes, weights, strict=True):
        rows = np.zeros(len(uniforms), np.int64)
        for parent in parents:
            rows = rows * counts[parent] + cells[:, parent]
        drawn[:, child] = along_cells(densities, rows, uniforms[:, child])
        cells[:, child] = drawn[:, child].astype(np.int64)
    return drawn / np.array(counts)


def along_cells(weights: np.ndarray, rows: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """Draws from densities that are constant on cells: cell plus share of the cell, float64 (m,).

    One uniform number says both, as the inverse of the distribution function does. `weights`: float64 (r, c), not
    negative: r densities over c cells. A row that is all zero is even. `rows`: int64 (m,), whose density each draw has.
    `uniforms`: float64 (m,), in (0, 1).
    """
    cells = weights.shape[1]
    even = np.where(weights.sum(axis=1, keepdims=True) > 0.0, weights, 1.0)
    upper = np.cumsum(even / even.sum(axis=1, keepdims=True), axis=1)
    upper /= upper[:, -1:]
    # All rows end to end, each one longer than the last by 1, so that one search serves all draws.
    ends = (upper + np.arange(len(upper))[:, None]).reshape(-1)
    cell = np.clip(np.searchsorted(ends, rows + uniforms, side="right") - rows * cells, 0, cells - 1)
    high = upper[rows, cell]
    low = np.where(cell > 0, upper[rows, np.maximum(cell - 1, 0)], 0.0)
    share = (uniforms - low) / np.maximum(high - low, np.finfo(float).tiny)
    return cell + np.clip(share, 0.0, np.nextafter(1.0, 0.0))
