"""Projections by a matrix: independent Gaussian entries, or orthonormal rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numba import njit
from scipy.special import ndtri

from ..errors import RequestError
from ..hashing.cells import GRID
from ..hashing.uniforms import PublicRandom
from ..threads import over_ranges
from .projection import Projection

MAX_ENTRIES = 1 << 26
"""Entries of one matrix: half a gigabyte."""
MAX_STEPS = 1 << 36
"""Of making rows orthonormal, d k^2: a square matrix of 4096 rows, several seconds. A file must not ask for more."""
BLOCK = 64
"""Records at a time: 2048 coordinates of them fill a megabyte, which a second-level cache holds."""
_GAUSSIAN, _ORTHOGONAL = 31, 32
"""Labels of the streams of public randomness."""


@njit(nogil=True, cache=True)
def _multiply(points, matrix, first, last, out):
    """out[:, first:last] = matrix @ points[:, first:last], terms in the order of the coordinates, four at a time.

    Four rows and four coordinates together use every number that is loaded four times. Records are the inner loop, so
    a record's sums do not depend on its neighbours.
    """
    d = points.shape[0]
    k = matrix.shape[0]
    whole = d - d % 4
    for start in range(first, last, BLOCK):
        stop = min(start + BLOCK, last)
        length = stop - start
        row = 0
        while row < k:
            # The last rows are computed again with their predecessors when four do not come out even.
            r = max(min(row, k - 4), 0)
            r1, r2, r3 = min(r + 1, k - 1), min(r + 2, k - 1), min(r + 3, k - 1)
            s0 = np.zeros(BLOCK)
            s1 = np.zeros(BLOCK)
            s2 = np.zeros(BLOCK)
            s3 = np.zeros(BLOCK)
            for j in range(0, whole, 4):
                x0 = points[j, start:stop]
                x1 = points[j + 1, start:stop]
                x2 = points[j + 2, start:stop]
                x3 = points[j + 3, start:stop]
                a00, a01, a02, a03 = matrix[r, j], matrix[r, j + 1], matrix[r, j + 2], matrix[r, j + 3]
                a10, a11, a12, a13 = matrix[r1, j], matrix[r1, j + 1], matrix[r1, j + 2], matrix[r1, j + 3]
                a20, a21, a22, a23 = matrix[r2, j], matrix[r2, j + 1], matrix[r2, j + 2], matrix[r2, j + 3]
                a30, a31, a32, a33 = matrix[r3, j], matrix[r3, j + 1], matrix[r3, j + 2], matrix[r3, j + 3]
                for i in range(length):
                    s0[i] = s0[i] + a00 * x0[i] + a01 * x1[i] + a02 * x2[i] + a03 * x3[i]
                    s1[i] = s1[i] + a10 * x0[i] + a11 * x1[i] + a12 * x2[i] + a13 * x3[i]
                    s2[i] = s2[i] + a20 * x0[i] + a21 * x1[i] + a22 * x2[i] + a23 * x3[i]
                    s3[i] = s3[i] + a30 * x0[i] + a31 * x1[i] + a32 * x2[i] + a33 * x3[i]
            for j in range(whole, d):
                x0 = points[j, start:stop]
                for i in range(length):
                    s0[i] += matrix[r, j] * x0[i]
                    s1[i] += matrix[r1, j] * x0[i]
                    s2[i] += matrix[r2, j] * x0[i]
                    s3[i] += matrix[r3, j] * x0[i]
            for i in range(length):
                out[r, start + i] = s0[i]
                out[r1, start + i] = s1[i]
                out[r2, start + i] = s2[i]
                out[r3, start + i] = s3[i]
            row += 4


def images(matrix: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
    """What a matrix (k, d) makes of points, each record bit for bit by itself: float64 (n, k) in Fortran order.

    Parameters
    ----------
    matrix : float64 (k, d), C order.
    coordinates : float64 (d, n), C order, one row a coordinate.
    """
    out = np.empty((len(matrix), coordinates.shape[1]))

    def records(start: int, stop: int) -> None:
        _multiply(coordinates, matrix, start, stop, out)

    over_ranges(coordinates.shape[1], records, at_least=BLOCK)
    return out.T


@dataclass(frozen=True)
class _Dense(Projection):
    def __post_init__(self) -> None:
        super().__post_init__()
        if self.source * self.target > MAX_ENTRIES:
            raise RequestError(
                f"A matrix of {self.target:,} x {self.source:,} has more than {MAX_ENTRIES:,} entries, which is the "
                "most that is kept in memory; use the fast projection or fewer dimensions."
            )

    @cached_property
    def matrix(self) -> np.ndarray:
        """float64 (k, d), rounded so that the last bits of a platform's libraries do not matter."""
        return np.ascontiguousarray(np.round(self._entries() * GRID) / GRID)

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
        uniforms = PublicRandom(self.seed, _GAUSSIAN, self.stream).uniforms(self.target, self.source)
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

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.source * self.target**2 > MAX_STEPS:
            raise RequestError(
                f"Making {self.target:,} rows of {self.source:,} numbers orthogonal would take minutes; use the fast "
                "projection or fewer dimensions."
            )

    @property
    def reach(self) -> float:
        return min(super().reach, math.sqrt(self.source / self.target))

    def _entries(self) -> np.ndarray:
        uniforms = PublicRandom(self.seed, _ORTHOGONAL, self.stream).uniforms(self.source, self.target)
        q, r = np.linalg.qr(ndtri(uniforms))
        # With the diagonal of R made positive, Q is what Gram-Schmidt gives, whichever way LAPACK went about it.
        return (q * np.where(np.diag(r) < 0, -1.0, 1.0)).T * np.sqrt(self.source / self.target)

    @classmethod
    def length_variance(cls, source: int, target: int) -> float:
        return 2.0 / target * (source - target) / (source + 2.0)
