"""Counting records in the cells of many small tables: one increment a record and table, block of records by block."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from ...machine.compiled_code import njit
from ...machine.threads import over_ranges
from .layout import Columns

BLOCK = 1 << 12
"""Records whose cells stay in a second-level cache while all tables count them."""


@dataclass(frozen=True, eq=False)
class Counted:
    """Exact counts of tables, back to back.

    Attributes
    ----------
    counters : np.ndarray
        int64, one table after the other, the last axis of each moving fastest.
    starts : np.ndarray
        Where each begins, int64 (tables,).
    shapes : tuple[tuple[int, ...], ...]
        Of each.
    """

    counters: np.ndarray
    starts: np.ndarray
    shapes: tuple[tuple[int, ...], ...]

    def table(self, place: int) -> np.ndarray:
        """One of the tables, in its shape: no copy."""
        start, shape = int(self.starts[place]), self.shapes[place]
        return self.counters[start : start + math.prod(shape)].reshape(shape)


@dataclass(frozen=True, eq=False)
class Counting:
    """Which cells of which axes tables have, made once for many batches.

    Attributes
    ----------
    axes, strides : np.ndarray
        int64 (tables, columns of the widest table): its axes, and what a cell of each moves the place by.
    starts : np.ndarray
        Where each table begins, int64 (tables,).
    shapes : tuple[tuple[int, ...], ...]
        Of each.
    """

    axes: np.ndarray
    strides: np.ndarray
    starts: np.ndarray
    shapes: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, tables: Sequence[Columns], sides: Sequence[int]) -> Self:
        """Of the axes of each table, and the cells of each axis."""
        shapes = tuple(tuple(sides[i] for i in table) for table in tables)
        sizes = np.array([math.prod(shape) for shape in shapes], np.int64)
        width = max(map(len, tables), default=1)
        axes, strides = np.zeros((2, len(tables), width), np.int64)
        for row, (table, shape) in enumerate(zip(tables, shapes, strict=True)):
            axes[row, : len(table)] = table
            strides[row, : len(table)] = [math.prod(shape[place + 1 :]) for place in range(len(shape))]
        return cls(axes, strides, np.cumsum(sizes) - sizes, shapes)

    def count(self, cells: np.ndarray) -> Counted:
        """Exact counts of records, by the cell of each along each axis: uint16 (axes, n), none beyond its side."""
        size = int(self.starts[-1]) + math.prod(self.shapes[-1]) if self.shapes else 0
        counters = np.zeros(size, np.int64)
        loop = _count_pairs if self.axes.shape[1] == 2 else _count

        def count(first: int, last: int) -> None:
            loop(cells, self.axes, self.strides, self.starts, first, last, counters)

        # A table is counted by one thread, so that no two write to one counter.
        over_ranges(len(self.shapes), count)
        return Counted(counters, self.starts, self.shapes)


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
