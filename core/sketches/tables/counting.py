"""Counting records in the cells of many small tables: one increment a record and table, block of records by block."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...machine.compiled_code import njit
from ...machine.threads import over_ranges
from .layout import Columns

BLOCK = 1 << 12
"""Records whose cells stay in a second-level cache while all tables count them."""


def count_tables(cells: np.ndarray, tables: Sequence[Columns], sides: Sequence[int]) -> list[np.ndarray]:
    """Exact counts of tables.

    Parameters
    ----------
    cells : np.ndarray
        uint16 (axes, n), the cell of each record along each axis.
    tables : Sequence[Columns]
        The axes of each table.
    sides : Sequence[int]
        Cells of each axis; none of a record is beyond.

    Returns
    -------
    list[np.ndarray]
        int64, one a table, in its shape.
    """
    shapes = [tuple(sides[i] for i in table) for table in tables]
    ends = np.cumsum([math.prod(shape) for shape in shapes])
    counters = np.zeros(int(ends[-1]) if len(ends) else 0, np.int64)
    starts = np.array([end - math.prod(shape) for end, shape in zip(ends, shapes, strict=True)], np.int64)
    width = max(map(len, tables), default=1)
    axes = np.zeros((len(tables), width), np.int64)
    strides = np.zeros((len(tables), width), np.int64)
    for row, (table, shape) in enumerate(zip(tables, shapes, strict=True)):
        axes[row, : len(table)] = table
        strides[row, : len(table)] = [math.prod(shape[place + 1 :]) for place in range(len(shape))]

    def count(first: int, last: int) -> None:
        if width == 2:
            _count_pairs(cells, axes, strides, starts, first, last, counters)
        else:
            _count(cells, axes, strides, starts, first, last, counters)

    # A table is counted by one thread, so that no two write to one counter.
    over_ranges(len(tables), count)
    return [
        counters[start:end].reshape(shape)
        for start, end, shape in zip(starts.tolist(), ends.tolist(), shapes, strict=True)
    ]


@njit(nogil=True, cache=True)
def _count_pairs(cells, axes, strides, starts, first, last, counters):
    n = cells.shape[1]
    for begin in range(0, n, BLOCK):
        end = min(begin + BLOCK, n)
        for table in range(first, last):
            rows, columns = cells[axes[table, 0], begin:end], cells[axes[table, 1], begin:end]
            stride, other, start = strides[table, 0], strides[table, 1], starts[table]
            for i in range(end - begin):
                counters[start + np.int64(rows[i]) * stride + np.int64(columns[i]) * other] += 1


@njit(nogil=True, cache=True)
def _count(cells, axes, strides, starts, first, last, counters):
    n = cells.shape[1]
    for begin in range(0, n, BLOCK):
        end = min(begin + BLOCK, n)
        for table in range(first, last):
            for i in range(begin, end):
                place = starts[table]
                for k in range(axes.shape[1]):
                    place += np.int64(cells[axes[table, k], i]) * strides[table, k]
                counters[place] += 1
