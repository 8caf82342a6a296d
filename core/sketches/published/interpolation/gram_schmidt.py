"""An orthonormal basis of functions from their inner products, the same on every thread and worker, bit for bit.

A library's factorisation depends on the number of threads in its last digits, which functions that are nearly alike
magnify to 1e-7: two workers would then add up different coordinates. Here every number is computed by the same
operations in the same order.
"""

from __future__ import annotations

import numpy as np

from ....machine.compiled_code import njit

_ROWS_AT_ONCE = 16
"""Rows that are taken off all later ones together, while a cache holds them: 256 kB at most."""


@njit(nogil=True, cache=True)
def inverse_root(matrix):
    """L^-1 for the lower triangular L with L L' = matrix, float64 (m, m): Cholesky's method, forward substitution."""
    m = len(matrix)
    upper, inverse = matrix.copy(), np.eye(m)
    for first in range(0, m, _ROWS_AT_ONCE):
        last = min(first + _ROWS_AT_ONCE, m)
        for i in range(first, m):
            row = upper[i, i:]
            for k in range(first, min(i, last)):
                factor, before = upper[k, i], upper[k, i:]
                for j in range(len(row)):
                    row[j] -= factor * before[j]
            if i < last:
                root = np.sqrt(row[0])
                for j in range(len(row)):
                    row[j] /= root
    for first in range(0, m, _ROWS_AT_ONCE):
        last = min(first + _ROWS_AT_ONCE, m)
        for i in range(first, m):
            row = inverse[i]
            for k in range(first, min(i, last)):
                factor, before = upper[k, i], inverse[k]
                for j in range(k + 1):
                    row[j] -= factor * before[j]
            if i < last:
                for j in range(i + 1):
                    row[j] /= upper[i, i]
    return inverse
