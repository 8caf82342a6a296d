"""Kernel sums over public points with weights, which is how synthetic data answer a question.

What is here looks at a release and at public places alone, so nothing has to be the same bit for bit.
"""

from __future__ import annotations

import numpy as np

from ....geometry.kernels import Kernel

BLOCK = 1 << 21
"""Pairs of a query and a point whose kernel is held in memory at once."""


def weighted_sums(kernel: Kernel, queries: np.ndarray, points: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Sums over points of weight times kernel, at queries.

    Parameters
    ----------
    kernel : Kernel
        Of encoded points.
    queries : np.ndarray
        float64 (n, d), encoded.
    points : np.ndarray
        float64 (m, d), encoded.
    weights : np.ndarray
        float64 (m,), of any sign; or (m, k), k sets of weights at once.

    Returns
    -------
    np.ndarray
        float64 (n,), or (n, k).
    """
    return _in_blocks(queries, len(points), weights.shape[1:], lambda some: kernel.evaluate(some, points) @ weights)


def squared_norms(kernel: Kernel, queries: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Sums over points of the squared kernel at queries, float64 (n,).

    What the variance of each weight's own noise is multiplied by in a sum.
    """

    def squares(some: np.ndarray) -> np.ndarray:
        closeness = kernel.evaluate(some, points)
        return np.einsum("nm,nm->n", closeness, closeness)

    return _in_blocks(queries, len(points), (), squares)


def _in_blocks(queries: np.ndarray, points: int, shape: tuple[int, ...], answer) -> np.ndarray:
    """Answers to as many queries at a time as memory allows, one after the other."""
    answers = np.empty((len(queries), *shape))
    size = max(1, BLOCK // max(points, 1))
    for start in range(0, len(queries), size):
        answers[start : start + size] = answer(queries[start : start + size])
    return answers
