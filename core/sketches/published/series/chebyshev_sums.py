"""The two compiled loops of sums of products of Chebyshev polynomials: add records, and read queries.

With x = cos t along each coordinate, cos(r t) = T_r(x), which the recurrence T_(r+1) = 2 x T_r - T_(r-1) gives without
any library function, in a fixed order: a record adds the same integers on any machine that keeps IEEE 754.
"""

from __future__ import annotations

import numpy as np

from ....machine.compiled_code import njit
from ...hashed.phases import add_up


@njit(nogil=True, cache=True, inline="always")
def _products(points, i, factors, products):
    """products = T_r1(x_1) ... T_rd(x_d) of point i, the last coordinate's order running fastest; in [-1, 1]."""
    d, t = factors.shape
    for j in range(d):
        x = min(max(points[j, i], -1.0), 1.0)
        before, now = 1.0, x
        for r in range(t):
            # |T_r| <= 1, which rounding may miss by a hair.
            factors[j, r] = min(max(before, -1.0), 1.0)
            before, now = now, 2.0 * x * now - before
    products[0] = 1.0
    filled = 1
    for j in range(d):
        # From the back, as the first products are still to be multiplied.
        for p in range(filled - 1, -1, -1):
            value = products[p]
            for r in range(t - 1, -1, -1):
                products[p * t + r] = value * factors[j, r]
        filled *= t


@njit(nogil=True, cache=True)
def _pour(points, first, last, orders, amplitude, table):
    factors, products = np.empty((len(points), orders)), np.empty(len(table))
    for i in range(first, last):
        _products(points, i, factors, products)
        for p in range(len(table)):
            # Toward zero, so at most the amplitude.
            table[p] += np.int64(amplitude * products[p])


def pour_products(points: np.ndarray, orders: int, amplitude: int, table: np.ndarray) -> None:
    """Add every record's products of T_0, ..., T_(t-1) to a table, as whole numbers of at most ``amplitude``.

    Parameters
    ----------
    points : np.ndarray
        float64 (d, n), from -1 to 1.
    orders : int
        t.
    table : np.ndarray
        int64 (t^d,), changed in place.
    """

    def records(start: int, stop: int, sums: np.ndarray) -> None:
        _pour(points, start, stop, orders, amplitude, sums)

    add_up(points.shape[1], records, table)
