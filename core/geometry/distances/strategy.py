"""What is measured of the masses at the nodes of a grid: a matrix of small whole numbers, made for the questions.

The matrix mechanism (Li, Hay, Rastogi, Miklau, McGregor 2010): answers that are linear in the node masses are read off
noisy measurements A m of them by least squares. Noise is the same on every measurement, so A decides how much of the
budget each question gets; its columns are bounded by the sensitivity.

A has two parts. The *top* is a matrix over a coarse grid, carried to the fine one by linear interpolation, and fitted
numerically to a profile. Below it come *hats*: a level halves the cells and measures the hat functions of the new
nodes, with one weight a level. A record touches two nodes of the coarse grid and one hat a level, and a distance is
missed by hats of width h only to the order h, squared over few of them: deep levels cost little, and need little.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np
from scipy.linalg import solve_triangular
from scipy.spatial.distance import cdist, pdist

from ...errors import RequestError
from ...parameters import Declared, Several, Whole, parameter
from ...privacy.neighbours import Neighbours
from .profiles import Profile
from .splines import gram_of_queries

MAX_TOP_CELLS = 64
MAX_LEVELS = 6
MAX_CELLS = 512
LARGEST_ENTRY = 1 << 13
_ENTRY = Whole("An entry of a strategy", -LARGEST_ENTRY, LARGEST_ENTRY)
_ROW = Several("The entries of a row of a strategy", _ENTRY, 2, MAX_TOP_CELLS + 1)


@dataclass(frozen=True)
class Strategy(Declared):
    """Measurements of node masses.

    Parameters
    ----------
    top : tuple[tuple[int, ...], ...]
        Whole numbers, one row a measurement and one column a node of the coarse grid; of full column rank.
    hats : tuple[int, ...]
        Weights of the levels below, the coarsest first; each level halves the cells.

    Raises
    ------
    RequestError
        When the numbers are out of range, or the masses cannot be told from the measurements.
    """

    top: tuple[tuple[int, ...], ...] = parameter(Several("The rows of a strategy", _ROW, 1, 2 * (MAX_TOP_CELLS + 1)))
    hats: tuple[int, ...] = parameter(
        Several("The levels of hats", Whole("The weight of a level of hats", 1, LARGEST_ENTRY), 0, MAX_LEVELS), ()
    )
    described: ClassVar[str] = "strategy"

    def _check(self) -> None:
        if len({len(row) for row in self.top}) != 1:
            raise RequestError("The rows of a strategy must be equally long, one entry a node.")
        if self.cells > MAX_CELLS:
            raise RequestError(f"A strategy may have at most {MAX_LEVELS} levels of hats and {MAX_CELLS} cells.")
        if np.linalg.matrix_rank(np.array(self.top, dtype=float)) < len(self.top[0]):
            raise RequestError("The measurements of a strategy must tell the masses of all nodes apart.")

    @property
    def cells(self) -> int:
        """Cells of the fine grid."""
        return (len(self.top[0]) - 1) << len(self.hats)

    @cached_property
    def matrix(self) -> np.ndarray:
        """A, int64 (measurements, cells + 1). All of it is multiplied by 2^levels, so that it is whole."""
        fine = np.arange(self.cells + 1)
        scale = 1 << len(self.hats)
        interpolation = np.maximum(0, scale - np.abs(fine - scale * np.arange(len(self.top[0]))[:, None]))
        blocks = [np.array(self.top, dtype=np.int64) @ interpolation]
        for level, weight in enumerate(self.hats):
            half = scale >> (level + 1)
            middles = np.arange(half, self.cells, 2 * half)[:, None]
            blocks.append(weight * (scale // half) * np.maximum(0, half - np.abs(fine - middles)))
        return np.vstack(blocks)

    def norms(self, neighbours: Neighbours) -> tuple[int, int]:
        """How far a record of mass 1 moves the measurements: largest L1 norm and largest squared L2 norm.

        Between two nodes of the fine grid every measurement is linear in the record's place, so either norm is convex
        there, jointly in both places where a record is replaced: the largest are at nodes, and are reached there.
        """
        return self._norms[neighbours]

    @cached_property
    def _norms(self) -> dict[Neighbours, tuple[int, int]]:
        columns = self.matrix.T.astype(float)  # of whole numbers far below 2^53: floating point is exact
        origin = np.zeros((1, columns.shape[1]))

        def farthest(kind: str) -> tuple[int, int]:
            return int(cdist(columns, origin, kind).max()), int(pdist(columns, kind).max())

        (l1, pair_l1), (l2_squared, pair_l2_squared) = farthest("cityblock"), farthest("sqeuclidean")
        return {Neighbours.ADD_REMOVE: (l1, l2_squared), Neighbours.REPLACE_ONE: (pair_l1, pair_l2_squared)}

    @cached_property
    def estimator(self) -> np.ndarray:
        """This times the measurements is the least squares estimate of the masses; (cells + 1, measurements)."""
        # Columns are independent, so A = QR gives it as R^-1 Q^T, in a fraction of the time of singular values.
        q, r = np.linalg.qr(self.matrix.astype(float))
        estimator: np.ndarray = solve_triangular(r, q.T, check_finite=False)
        return estimator

    @cached_property
    def covariance(self) -> np.ndarray:
        """Covariance of the estimated masses for noise of variance 1, float64 (cells + 1, cells + 1)."""
        return self.estimator @ self.estimator.T

    def to_dict(self) -> dict:
        """A value for JSON."""
        return self.written()

    @classmethod
    def from_dict(cls, value: object) -> Strategy:
        """The strategy that `to_dict` wrote down; RequestError on anything else."""
        return cls(**cls.read(value))


@lru_cache(maxsize=256)
def mean_variance(strategy: Strategy, profile: Profile) -> float:
    """The variance of an answer for noise of variance 1 on each measurement, averaged over queries in [0, 1]."""
    return float(np.sum(gram_of_queries(profile, strategy.cells) * strategy.covariance))
