"""What every projection is: a linear map R^d -> R^k, drawn from a public seed, that keeps squared lengths on average.

A kernel of the distance changes little under such a map once k is large, whatever d is (Johnson, Lindenstrauss 1984;
for kernel sums see `dimensions`). The map is public and knows no record, so it costs no privacy. The image of a record
depends on that record and the seed alone, bit for bit: one fixed order of additions, whatever stands beside it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from ...checks import check_integer
from ...domain.numeric import MAX_VECTOR
from ...errors import RequestError
from ...parameters import Declared, Seed, Settled, Whole, parameter
from ..hashing.uniforms import PublicRandom

MAX_STREAM = 1_000_000
TAIL = 8.0
"""Standard deviations that no coordinate of an image exceeds, in practice."""


@dataclass(frozen=True)
class Projection(Declared, ABC):
    """A random linear map from ``source`` to ``target`` dimensions.

    Parameters
    ----------
    source, target : int
        d and k, 1 <= k <= d.
    seed : int
        Public seed; fresh when None.
    stream : int
        Which of the seed's independent maps this is.

    Raises
    ------
    RequestError
        When a parameter is out of range.
    """

    source: int
    target: int = parameter(Whole("The dimensions after a projection", 1, MAX_VECTOR))
    seed: Settled[int] = parameter(Seed("The seed of a projection"), None)
    stream: int = parameter(Whole("The stream of a projection", 0, MAX_STREAM), 0)
    name: ClassVar[str]
    described: ClassVar[str] = "projection"

    def _check(self) -> None:
        check_integer(self.source, "The dimensions before a projection", 1, MAX_VECTOR)
        check_integer(self.target, "The dimensions after a projection", 1, self.source)

    def _random(self, label: int) -> PublicRandom:
        """The public randomness of this map, apart from that of other kinds."""
        return PublicRandom(self.seed, label, self.stream)

    @abstractmethod
    def project(self, points: np.ndarray) -> np.ndarray:
        """The images of points, float64 (n, d), as float64 (n, k) in Fortran order."""

    @property
    def reach(self) -> float:
        """Bound on the coordinates that a vector of length 1 is mapped to: 8 / sqrt(k), or the certain one if smaller.

        A coordinate is beyond it for fewer than one map in 10^13, whatever the vector is: sqrt(k) times the coordinate
        is normal (Gaussian map), sub-Gaussian with the same variance (rotations) or a sum of independent signs
        (Hoeffding 1963, Theorem 2).
        """
        return TAIL / math.sqrt(self.target)

    @property
    @abstractmethod
    def setup_bytes(self) -> int:
        """Memory that drawing the map takes, from above."""

    @classmethod
    @abstractmethod
    def length_variance(cls, source: int, target: int) -> float:
        """Variance of ||Pz||^2 / ||z||^2 over the draw of the map, for the worst z; its mean is 1."""

    def of_stream(self, stream: int) -> Self:
        """An independent map of the same law."""
        return replace(self, stream=stream)

    def to_dict(self) -> dict:
        """A value for JSON from which `projection_from_dict` makes an equal projection."""
        return {"name": self.name} | self.written()

    def _coordinates(self, points: np.ndarray) -> np.ndarray:
        """Points with one row a coordinate, float64 (d, n) in C order."""
        points = np.asarray(points, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != self.source:
            raise RequestError(f"This projection takes points of {self.source:,} coordinates.")
        return np.ascontiguousarray(points.T)
