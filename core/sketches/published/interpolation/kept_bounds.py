"""Adding records' whole numbers to a table, none of which may move it further than declared.

What a record adds is a function of that record alone, so scaling it down is too: where its L1 norm or its squared L2
norm exceeds the declared one, all of its numbers are multiplied by a fraction and cut toward zero, until both norms,
computed exactly, keep to the bounds. The sensitivity then holds whatever went before, and the bounds may be found by
trying public records: one beyond them costs a little bias and no privacy.
"""

from __future__ import annotations

import numpy as np

from ....machine.compiled_code import njit

_ONE = 1 << 30


@njit(nogil=True, cache=True)
def add_bounded(values, l1, l2_squared, table):
    """Add every row of ``values`` to a table, scaled down where it exceeds a bound.

    Parameters
    ----------
    values : np.ndarray
        int64 (n, m), at most 2^30 in absolute value and with sums of squares below 2^62; written over.
    l1, l2_squared : int
        The largest norms that one row may have.
    table : np.ndarray
        int64 (m,), changed in place.
    """
    for i in range(len(values)):
        row = values[i]
        length, square = _norms(row)
        while length > l1 or square > l2_squared:
            share = min(l1 / max(length, 1), np.sqrt(l2_squared / max(square, 1)), 1.0)
            # Always below 1, so that every number but 0 shrinks and the loop ends.
            factor = min(np.int64(share * _ONE), np.int64(_ONE - 1))
            for p in range(len(row)):
                size = (abs(row[p]) * factor) >> 30
                row[p] = size if row[p] >= 0 else -size
            length, square = _norms(row)
        for p in range(len(row)):
            table[p] += row[p]


@njit(nogil=True, cache=True)
def _norms(row):
    """The L1 norm and the squared L2 norm of a row."""
    length, square = np.int64(0), np.int64(0)
    for p in range(len(row)):
        length += abs(row[p])
        square += row[p] * row[p]
    return length, square


def largest_norms(values: np.ndarray) -> tuple[int, int]:
    """The largest L1 norm and the largest squared L2 norm of all rows, int64 (n, m), each at least 1."""
    return max(1, int(np.abs(values).sum(axis=1).max())), max(1, int((values * values).sum(axis=1).max()))
