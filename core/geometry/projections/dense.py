"""Projections by a matrix: independent Gaussian entries, or orthonormal rows."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.special import ndtri

from ...errors import RequestError
from ...machine.compiled_code import njit
from ...machine.threads import over_ranges
from ..hashing.cells import GRID
from .inner_products import DEPTH, inner_products, records_at_once
from .projection import Projection

MAX_ENTRIES = 1 << 26
"""Entries of one matrix: half a gigabyte."""
MAX_STEPS = 1 << 36
"""Of making rows orthonormal, d k^2: a square matrix of 4096 rows, several seconds. A file must not ask for more."""
ROWS = 256
"""Of the matrix at a time: sums of 64 records in so many rows fill an eighth of a megabyte."""
_GAUSSIAN, _ORTHOGONAL = 31, 32
"""Labels of the streams of public randomness."""


@njit(nogil=True, cache=True)
def _multiply(points, matrix, block, first, last, out):
    """out[:, first:last] = matrix @ points[:, first:last]."""
    k, d = matrix.shape
    coefficients = matrix.reshape(-1)
    panel = np.empty((min(d, DEPTH), block))
    sums = np.empty((min(k, ROWS), block))
    for start in range(first, last, block):
        length = min(block, last - start)
        for r in range(0, k, ROWS):
            rows = min(ROWS, k - r)
            sums[:rows] = 0.0
            inner_products(points, start, length, coefficients, r * d, rows, panel, sums)
            for row in range(rows):
                out[r + row, start : start + length] = sums[row, :length]


def images(matrix: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
    """What a matrix (k, d) makes of points, each record bit for bit by itself: float64 (n, k) in Fortran order.

    Parameters
    ----------
    matrix : np.ndarray
        float64 (k, d), C order.
    coordinates : np.ndarray
        float64 (d, n), C order, one row a coordinate.
    """
    d, n = coordinates.shape
    block = records_at_once(d)
    out = np.empty((len(matrix), n))

    def records(start: int, stop: int) -> None:
        _multiply(coordinates, matrix, block, start, stop, out)

    over_ranges(n, records, at_least=block)
    return out.T


@dataclass(frozen=True)
class _Dense(Projection):
    def _check(self) -> None:
        super()._check()
        if self.source * self.target > MAX_ENTRIES:
            raise RequestError(
                f"A matrix of {self.target:,} x {self.source:,} has more than {MAX_ENTRIES:,} entries, which is the "
                "most that is kept in memory; use the fast projection or fewer dimensions."
            )

    @cached_property
    def matrix(self) -> np.ndarray:
        """float64 (k, d), rounded so that the last bits of a platform's libraries do not matter."""
        return np.ascontiguousarray(np.round(self._entries() * GRID) / GRID)

    @abstractmethod
    def _entries(self) -> np.ndarray:
        """The entries of the matrix, float64 (k, d), before they are rounded."""

    def project(self, points: np.ndarray) -> np.ndarray:
        return images(self.matrix, self._coordinates(points))

    @property
    def setup_bytes(self) -> int:
        return 32 * self.source * self.target


@dataclass(frozen=True)
class GaussianProjection(_Dense):
    """Independent entries N(0, 1/k): ||Pz||^2 / ||z||^2 is a chi-squared variable over its k degrees of freedom.

    The map of Theorem 7.2 of "Efficiently Computing Similarities to Private Datasets" (Backurs et al., ICLR 2024).
    Costs d k multiplications a record.
    """

    name: ClassVar[str] = "gaussian"

    def _entries(self) -> np.ndarray:
        uniforms = self._random(_GAUSSIAN).uniforms(self.target, self.source)
        return ndtri(uniforms) / np.sqrt(self.target)

    @classmethod
    def length_variance(cls, source: int, target: int) -> float:
        return 2.0 / target


@dataclass(frozen=True)
class OrthogonalProjection(_Dense):
    """The first k rows of a uniformly random rotation, times sqrt(d/k).

    ||Pz||^2 / ||z||^2 is d/k times a Beta(k/2, (d - k)/2) variable, whose variance is (d - k)/(d + 2) of the Gaussian
    map's: nothing is left to chance at k = d.
    """

    name: ClassVar[str] = "orthogonal"

    def _check(self) -> None:
        super()._check()
        if self.source * self.target**2 > MAX_STEPS:
            raise RequestError(
                f"Making {self.target:,} rows of {self.source:,} numbers orthogonal would take minutes; use the fast "
                "projection or fewer dimensions."
            )

    @property
    def reach(self) -> float:
        return min(super().reach, math.sqrt(self.source / self.target))

    def _entries(self) -> np.ndarray:
        uniforms = self._random(_ORTHOGONAL).uniforms(self.source, self.target)
        q, r = np.linalg.qr(ndtri(uniforms))
        # With the diagonal of R made positive, Q is what Gram-Schmidt gives, whichever way LAPACK went about it.
        return (q * np.where(np.diag(r) < 0, -1.0, 1.0)).T * np.sqrt(self.source / self.target)

    @classmethod
    def length_variance(cls, source: int, target: int) -> float:
        return 2.0 / target * (source - target) / (source + 2.0)
