"""The fast projection: random signs, a Walsh-Hadamard transform, and some of its coordinates.

Ailon, Chazelle 2009, in the form of Tropp 2011: coordinates are sampled without replacement, which keeps the rows
orthogonal. It takes D log2 D additions a record, D the power of two from d up, and no matrix.

With v = H (s z) for random signs s, every v_i^2 has mean ||z||^2 and variance 2 (||z||^4 - sum of z_j^4), and all D of
them add up to D ||z||^2 exactly; so the mean of k of them, drawn without replacement, has the variance
2 (1 - sum z_j^4 / ||z||^4) / k * (D - k) / (D - 1) relative to ||z||^4: never above the Gaussian map's 2 / k.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from ...machine.compiled_code import njit
from ...machine.threads import over_ranges
from .projection import Projection

LANES = 32
"""Records transformed together; 2048 coordinates of them are half a megabyte, which a second-level cache holds."""
_SIGNS, _SAMPLE = 33, 34
"""Labels of the streams of public randomness."""


@njit(nogil=True, cache=True)
def walsh_hadamard(buffer):
    """Walsh-Hadamard transform of every lane of ``buffer`` (D, LANES), in place: two layers of butterflies a pass."""
    size = buffer.shape[0]
    half = 1
    while half * 4 <= size:
        for block in range(0, size, 4 * half):
            for j in range(block, block + half):
                a, b, c, d = buffer[j], buffer[j + half], buffer[j + 2 * half], buffer[j + 3 * half]
                for i in range(LANES):
                    p, q = a[i] + b[i], a[i] - b[i]
                    u, v = c[i] + d[i], c[i] - d[i]
                    a[i], b[i], c[i], d[i] = p + u, q + v, p - u, q - v
        half *= 4
    if half < size:
        for j in range(half):
            a, b = buffer[j], buffer[j + half]
            for i in range(LANES):
                p, q = a[i], b[i]
                a[i], b[i] = p + q, p - q


@njit(nogil=True, cache=True)
def _project(points, sign, sample, scale, size, first, last, out):
    """out[:, first:last] from points[:, first:last]; lanes beyond the last record are zero."""
    buffer = np.zeros((size, LANES))
    for start in range(first, last, LANES):
        length = min(LANES, last - start)
        for j in range(len(sign)):
            lanes = buffer[j]
            s = sign[j]
            for i in range(length):
                lanes[i] = s * points[j, start + i]
        buffer[len(sign) :] = 0.0
        walsh_hadamard(buffer)
        for r in range(len(sample)):
            lanes = buffer[sample[r]]
            for i in range(length):
                out[r, start + i] = scale * lanes[i]


@dataclass(frozen=True)
class FastProjection(Projection):
    """Signs, Walsh-Hadamard, sampled coordinates: the map of Corollary 7.3, in O(d log d + k) a record.

    Its variance is never above the Gaussian map's (see the module), and it needs no matrix: 2048 dimensions take a
    half a megabyte of scratch memory.
    """

    name: ClassVar[str] = "fast"

    @property
    def padded(self) -> int:
        """D, the power of two from d up."""
        return 1 << (self.source - 1).bit_length()

    @cached_property
    def _signs(self) -> np.ndarray:
        return np.where(self._random(_SIGNS).words(self.source) >> np.uint64(63), 1.0, -1.0)

    @cached_property
    def _sample(self) -> np.ndarray:
        """k of the D coordinates, every set of k equally likely (but for ties of 64-bit words)."""
        words = self._random(_SAMPLE).words(self.padded)
        return np.sort(np.argsort(words, kind="stable")[: self.target])

    def project(self, points: np.ndarray) -> np.ndarray:
        coordinates = self._coordinates(points)
        out = np.empty((self.target, coordinates.shape[1]))
        scale = 1.0 / np.sqrt(self.target)
        signs, sample = self._signs, self._sample

        def records(start: int, stop: int) -> None:
            _project(coordinates, signs, sample, scale, self.padded, start, stop, out)

        over_ranges(coordinates.shape[1], records, at_least=LANES)
        return out.T

    @property
    def reach(self) -> float:
        """|sum of +-z_j| / sqrt(k) <= sqrt(d / k) ||z||, where that is smaller."""
        return min(super().reach, math.sqrt(self.source / self.target))

    @property
    def setup_bytes(self) -> int:
        return 64 * self.padded

    @classmethod
    def length_variance(cls, source: int, target: int) -> float:
        padded = 1 << (source - 1).bit_length()
        return 2.0 / target * (padded - target) / max(padded - 1.0, 1.0)
