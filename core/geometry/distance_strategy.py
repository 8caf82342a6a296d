"""What is measured of the masses at the nodes of a grid: a matrix of small whole numbers, made for the questions.

The matrix mechanism (Li, Hay, Rastogi, Miklau, McGregor 2010): answers that are linear in the node masses are read off
noisy measurements A m of them by least squares. Noise is the same on every measurement, so A decides how much of the
budget each question gets; its columns are bounded by the sensitivity.

A has two parts. The *top* is a matrix over a coarse grid, carried to the fine one by linear interpolation, and fitted
numerically to a profile. Below it come *hats*: a level halves the cells and measures the hat functions of the new
nodes, with one weight a level. A record touches two nodes of the coarse grid and one hat a level, and a distance is
missed by hats of width h only to the order h, squared over few of them: deep levels cost little, and need little.

Strategies that were fitted once and are kept, so that nobody waits for them and everybody has the same.

`python -m benchmarks.fit_strategies` fits them again, from many more starts than one would wait for.

Fitting a strategy to a profile: the least mean variance of the answers, over queries spread evenly in the bounds.

With sensitivity 1 and noise of variance 1, the variance of the answer at q is c(q)^T (A^T A)^-1 c(q), so its average is
trace(G (A^T A)^-1) for G the average of c c^T. Under Gaussian noise the columns of A have L2 norm 1; that problem has
one least value, and any start finds it. Under Laplace noise they have L1 norm 1 and the problem has many local ones,
within two per cent of each other on every grid tried: the corners of |.| are rounded, and sharpened step by step.

The mean square, and not the relative error, is fitted: how far the records are from a query is not public, and on
evenly spread records the relative error is within three per cent of that of a strategy fitted to it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from typing import ClassVar

import numpy as np
import scipy
from scipy.linalg import solve_triangular

from ..errors import RequestError
from ..privacy.budget import Neighbours
from ..runtime.environment import one_thread
from ..runtime.parameters import Several, Validated, Whole, parameter
from .distance_profiles import OneSided, Profile, gram_of_queries

MAX_TOP_CELLS = 64
MAX_LEVELS = 6
MAX_CELLS = 512
LARGEST_ENTRY = 1 << 13
_ENTRY = Whole("An entry of a strategy", -LARGEST_ENTRY, LARGEST_ENTRY)
_ROW = Several("The entries of a row of a strategy", _ENTRY, 2, MAX_TOP_CELLS + 1)


@dataclass(frozen=True)
class Strategy(Validated):
    """Measurements of node masses.

    RequestError when the numbers are out of range, or the masses cannot be told from the measurements.
    """

    # Whole numbers, one row a measurement and one column a node of the coarse grid; of full column rank.
    top: tuple[tuple[int, ...], ...] = parameter(Several("The rows of a strategy", _ROW, 1, 2 * (MAX_TOP_CELLS + 1)))
    # Weights of the levels below, the coarsest first; each level halves the cells.
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
        return self._of_one if neighbours is Neighbours.ADD_REMOVE else self._of_two

    @cached_property
    def _of_one(self) -> tuple[int, int]:
        return int(np.abs(self.matrix).sum(axis=0).max()), int((self.matrix**2).sum(axis=0).max())

    @cached_property
    def _of_two(self) -> tuple[int, int]:
        columns = self.matrix.T.astype(float)  # of whole numbers far below 2^53: floating point is exact
        l1, l2_squared = (scipy.spatial.distance.pdist(columns, kind).max() for kind in ("cityblock", "sqeuclidean"))
        return int(l1), int(l2_squared)

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


FILE = "distance_strategies.json"


def kept_strategy(profile: Profile, cells: int, pure: bool) -> Strategy | None:
    """The kept strategy of a profile on a grid, or None. What lies below a query lies above it in a mirror."""
    if profile == OneSided(above=False):
        mirrored = kept_strategy(OneSided(above=True), cells, pure)
        return mirrored and Strategy(tuple(row[::-1] for row in mirrored.top), mirrored.hats)
    return _kept().get((profile.notation, cells, pure))


@cache
def _kept() -> dict[tuple[str, int, bool], Strategy]:
    source = files(__package__) / FILE
    if not source.is_file():
        return {}
    entries = json.loads(source.read_text(encoding="utf-8"))
    return {
        (entry["norm"], strategy.cells, entry["pure"]): strategy
        for entry in entries
        for strategy in [Strategy.from_dict({"top": entry["top"], "hats": entry["hats"]})]
    }


# The largest grid whose whole matrix is fitted on the spot, in a second or two; finer ones are hung below it.
TOP_CELLS = 16
SIZES = (8, 16, 32, 64, 128, 256, 512)
SMALLEST_CELLS = min(SIZES)
WHOLE = 1 << 12  # Columns of a top have about this L1 norm, in whole numbers.
ROUNDINGS = (3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4)
STEPS = 600
STARTS = 2
# Added to every direction, relative to their mean: what no query asks would get nothing, and be lost in rounding.
FLOOR = 1e-6


@lru_cache(maxsize=64)
def fitted_strategy(profile: Profile, cells: int, pure: bool) -> Strategy:
    """The strategy of a profile on [0, 1]: kept ones for the L1 distance, so that everybody has the same, else fitted.

    `profile`: Of differences of places in [0, 1]. `cells`: A power of two from `SMALLEST_CELLS` to `MAX_CELLS`. `pure`:
    Fitted to Laplace noise, or else to Gaussian noise.
    """
    known = kept_strategy(profile, cells, pure)
    if known is not None:
        return known
    if cells <= TOP_CELLS:
        return best_top(profile, cells, pure, range(STARTS if pure else 1))
    return hung_below(fitted_strategy(profile, TOP_CELLS, pure), profile, cells, pure)


def best_top(profile: Profile, cells: int, pure: bool, seeds: Iterable[int]) -> Strategy:
    """The best of several starts, in whole numbers."""
    tops = (fit_top(profile, cells, pure, seed) for seed in seeds)
    strategies = [Strategy(tuple(tuple(map(int, row)) for row in np.rint(top * WHOLE))) for top in tops]
    return min(strategies, key=lambda strategy: unit_variance(strategy, profile, pure))


def unit_variance(strategy: Strategy, profile: Profile, pure: bool) -> float:
    """The mean variance when the noise has variance 1 for sensitivity 1, add or remove, in the norm that it goes by."""
    l1, l2_squared = strategy.norms(Neighbours.ADD_REMOVE)
    return mean_variance(strategy, profile) * (l1**2 if pure else l2_squared)


def fit_top(profile: Profile, cells: int, pure: bool, seed: int = 0) -> np.ndarray:
    """A real matrix (cells + 1, cells + 1) of columns of norm 1 with the least mean variance that descent finds.

    The seed is of the start's small disturbance: a symmetric start would stay symmetric.
    """
    gram = gram_of_queries(profile, cells)
    gram += FLOOR * np.trace(gram) / len(gram) * np.eye(len(gram))
    matrix = _hats_over_four_cells(cells)
    matrix += 0.01 * np.random.default_rng(seed).standard_normal(matrix.shape)
    for rounding in ROUNDINGS if pure else (None,):
        matrix = matrix / np.abs(matrix).sum(axis=0)
        options = {"maxiter": STEPS, "maxcor": 20}
        # Matrices this small lose forty times more time to the threads' waiting for each other than threads win.
        with one_thread():
            found = scipy.optimize.minimize(
                _mean_variance_and_slope, matrix.ravel(), (gram, rounding), jac=True, method="L-BFGS-B", options=options
            )
        matrix = found.x.reshape(matrix.shape)
    lengths = np.abs(matrix).sum(axis=0) if pure else np.sqrt((matrix**2).sum(axis=0))
    return matrix / lengths


def _mean_variance_and_slope(flat: np.ndarray, gram: np.ndarray, rounding: float | None) -> tuple[float, np.ndarray]:
    """trace(G (A^T A)^-1) for A the matrix with its columns divided by their norms, and its derivative."""
    matrix = flat.reshape(-1, len(gram))
    lengths, length_slopes = _l2(matrix) if rounding is None else _rounded_l1(matrix, rounding)
    scaled = matrix / lengths
    inverse = np.linalg.inv(scaled.T @ scaled)
    slope = -2.0 * scaled @ (inverse @ gram @ inverse)
    slope = slope / lengths - length_slopes * ((slope * matrix).sum(axis=0) / lengths**2)
    return float(np.sum(gram * inverse)), slope.ravel()


def _rounded_l1(matrix: np.ndarray, rounding: float) -> tuple[np.ndarray, np.ndarray]:
    sizes = np.sqrt(matrix**2 + rounding**2)
    return sizes.sum(axis=0) - len(matrix) * rounding, matrix / sizes


def _l2(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    lengths = np.sqrt((matrix**2).sum(axis=0))
    return lengths, matrix / lengths


def _hats_over_four_cells(cells: int) -> np.ndarray:
    """Where descent starts: the masses of a grid of four cells, with hats below that weigh half as much a level."""
    levels = int(np.log2(cells)) - 2
    start = Strategy(tuple(map(tuple, 1024 * np.eye(5, dtype=int))), tuple(256 >> level for level in range(levels)))
    return start.matrix / start.matrix.max()


def hung_below(top: Strategy, profile: Profile, cells: int, pure: bool) -> Strategy:
    """The same top over a finer grid, with the best weight for each level of hats.

    Which masses are estimated does not depend on the weights, as there are as many measurements as nodes: level l gives
    an answer the variance V_l / w_l^2, and the least of their sum under a bound on the norms is a convex problem.
    """
    levels = (cells // top.cells).bit_length() - 1
    unit = Strategy(top.top, (WHOLE,) * levels)
    rows = np.concatenate([np.full(len(top.top), 0)] + [np.full(top.cells << i, i + 1) for i in range(levels)])
    each = np.einsum("im,ij,jm->m", unit.estimator, gram_of_queries(profile, cells), unit.estimator)
    variances = np.bincount(rows, weights=each)
    power = 1 if pure else 2
    norms = np.array([(np.abs(unit.matrix[rows == level]) ** power).sum(axis=0) for level in range(levels + 1)])
    norms = norms / norms.max()
    start = (variances / norms.max(axis=1)) ** (1.0 / (power + 2))
    start = start / (start**power @ norms).max() ** (1.0 / power)
    scale = (variances / start**2).sum()
    found = scipy.optimize.minimize(
        lambda w: (variances / w**2).sum() / scale,
        start,
        jac=lambda w: -2.0 * variances / w**3 / scale,
        bounds=[(1e-4, 1.0)] * len(start),
        constraints={
            "type": "ineq",
            "fun": lambda w: 1.0 - w**power @ norms,
            "jac": lambda w: -power * (w ** (power - 1) * norms.T),
        },
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    ).x
    return Strategy(top.top, tuple(max(1, int(value)) for value in np.rint(WHOLE * found[1:] / found[0])))
