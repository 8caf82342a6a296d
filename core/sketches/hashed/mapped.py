"""Reading a hashed count table that is not an array in memory: only the counters that queries fall in are touched."""

from __future__ import annotations

import numpy as np

from ...geometry.hashing.cells import Columns
from ...machine.tables import Table, take
from .counting import read

PLACES = 1 << 20
"""Counters that are looked up at a time."""


def read_mapped(
    points: np.ndarray, columns: Columns, table: Table, group_of_row: np.ndarray, background: float
) -> np.ndarray:
    """What `counting.read` gives for the same counters in an array, bit for bit; the parameters are the same."""
    rows, width = table.shape
    out = np.zeros((int(group_of_row.max()) + 1, len(points)))
    gain = columns.gain[:, None]
    crowd = np.where(columns.rehashed, background, 0.0)[:, None]
    step = max(1, PLACES // rows)
    for start in range(0, len(points), step):
        column = _columns_of(points[start : start + step], columns, gain)
        inside = column >= 0
        places = np.arange(rows)[:, None] * width + column
        counters = np.zeros(column.shape)
        counters[inside] = take(table, places[inside])
        np.add.at(out[:, start : start + step], group_of_row, np.where(inside, (counters - crowd) * gain, 0.0))
    return out


def _columns_of(points: np.ndarray, columns: Columns, gain: np.ndarray) -> np.ndarray:
    """The column that each query falls in, int64 (R, n); -1 where no record inside the bounds can be.

    They are read off a table whose every row counts 1, 2, 3 and so on: one row in memory, shown R times.
    """
    rows, width = len(columns.rehashed), columns.width
    counting = np.broadcast_to(np.arange(1, width + 1), (rows, width))
    return np.rint(read(points, columns, counting, np.arange(rows), 0.0) / gain).astype(np.int64) - 1
