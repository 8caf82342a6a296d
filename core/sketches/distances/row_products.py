"""Inner products of long queries with a few vectors, each query read from memory once and as it lies there.

For answers alone: the sums are added up in whatever order is fast, which a table's must never be.
"""

from __future__ import annotations

import numpy as np

from ...machine.compiled_code import njit
from ...machine.threads import over_ranges
from .ball import records_alone

TOGETHER = 4
"""Queries that a number of a vector is multiplied with when it is loaded."""
STRETCH = 512
"""Coordinates at a time: those of the queries and of a few vectors fit into a first-level cache."""


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _row_products(rows, origin, vectors, first, last, products, squares):
    d = rows.shape[1]
    offsets = np.zeros((TOGETHER, STRETCH))
    products[first:last] = 0.0
    squares[first:last] = 0.0
    for start in range(first, last, TOGETHER):
        size = min(TOGETHER, last - start)
        for j0 in range(0, d, STRETCH):
            length = min(STRETCH, d - j0)
            near = origin[j0 : j0 + length]
            for i in range(size):
                row, offset, square = rows[start + i, j0 : j0 + length], offsets[i], 0.0
                for j in range(length):
                    x = row[j] - near[j]
                    offset[j] = x
                    square += x * x
                squares[start + i] += square
            x0, x1, x2, x3 = offsets[0, :length], offsets[1, :length], offsets[2, :length], offsets[3, :length]
            for k in range(len(vectors)):
                vector = vectors[k, j0 : j0 + length]
                s0 = s1 = s2 = s3 = 0.0
                for j in range(length):
                    v = vector[j]
                    s0 += x0[j] * v
                    s1 += x1[j] * v
                    s2 += x2[j] * v
                    s3 += x3[j] * v
                sums = (s0, s1, s2, s3)
                for i in range(size):
                    products[start + i, k] += sums[i]


def row_products(rows: np.ndarray, origin: np.ndarray, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Inner products of queries with vectors, and squared lengths of the queries, all seen from a point.

    Parameters
    ----------
    rows : np.ndarray
        float32 or float64 (n, d). Fastest in C order, which saves a copy.
    origin : np.ndarray
        float64 (d,), taken off the queries and not the vectors.
    vectors : np.ndarray
        float64 (K, d).

    Returns
    -------
    tuple[np.ndarray, np.ndarray]
        float64 (n, K) and (n,), which are not finite where a query is not. As exact as any sum of d products of double
        precision: within d 2^-53 of the sum of their absolute values.
    """
    rows = np.require(rows, requirements=["C", "A"]).view()
    rows.flags.writeable = False  # of one type with mapped files, so that nothing is compiled for them
    vectors = np.ascontiguousarray(vectors)
    products, squares = np.empty((len(rows), len(vectors))), np.empty(len(rows))

    def queries(first: int, last: int) -> None:
        _row_products(rows, origin, vectors, first, last, products, squares)

    over_ranges(len(rows), queries, at_least=records_alone(rows.shape[1]))
    return products, squares
