"""Fitting a strategy to a profile: the least mean variance of the answers, over queries spread evenly in the bounds.

With sensitivity 1 and noise of variance 1, the variance of the answer at q is c(q)^T (A^T A)^-1 c(q), so its average is
trace(G (A^T A)^-1) for G the average of c c^T. Under Gaussian noise the columns of A have L2 norm 1; that problem has
one least value, and any start finds it. Under Laplace noise they have L1 norm 1 and the problem has many local ones,
within two per cent of each other on every grid tried: the corners of |.| are rounded, and sharpened step by step.

The mean square, and not the relative error, is fitted: how far the records are from a query is not public, and on
evenly spread records the relative error is within three per cent of that of a strategy fitted to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from scipy.optimize import minimize

from ...machine.threads import one_thread
from ...privacy.neighbours import Neighbours
from .kept_strategies import kept_strategy
from .profiles import Profile
from .splines import gram_of_queries
from .strategy import Strategy, mean_variance

TOP_CELLS = 16
"""The largest grid whose whole matrix is fitted on the spot, in a second or two; finer ones are hung below it."""
SIZES = (8, 16, 32, 64, 128, 256, 512)
SMALLEST_CELLS = min(SIZES)
WHOLE = 1 << 12
"""Columns of a top have about this L1 norm, in whole numbers."""
ROUNDINGS = (3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4)
STEPS = 600
STARTS = 2
FLOOR = 1e-6
"""Added to every direction, relative to their mean: what no query asks would get nothing, and be lost in rounding."""


@lru_cache(maxsize=64)
def fitted_strategy(profile: Profile, cells: int, pure: bool) -> Strategy:
    """The strategy of a profile on [0, 1]: kept ones for the L1 distance, so that everybody has the same, else fitted.

    Parameters
    ----------
    profile : Profile
        Of differences of places in [0, 1].
    cells : int
        A power of two from `SMALLEST_CELLS` to `MAX_CELLS`.
    pure : bool
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
            found = minimize(
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
    found = minimize(
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
