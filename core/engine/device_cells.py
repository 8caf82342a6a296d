"""RACE on a graphics processor: columns of records from hashes, as operations on whole arrays.

Every step is one operation of IEEE 754 in float64, or one of integers modulo 2^64, on one element each: a product, then
a sum, each rounded by itself (or a fused multiply-add where the compiled loop has one), in the compiled loop's order
(`core.sketches.hashed.counting`). An operation on whole arrays is a program of its own on the device, so its compiler
cannot fuse a product with the sum after it, which is what makes the same source give other bits there. So a record
falls in the same cell as on the processor, and its column depends on nothing but itself and the hashes.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np

from ..geometry.hashing.cells import MAX_CELLS
from ..sketches.hashed.counting import fused
from ..sketches.hashed.race import Race
from .arrays import Arrays

BLOCK = 1 << 22
"""Numbers in a block of rows and records: 32 MiB an array, of which a few are held."""


class RaceOnDevice:
    """The columns of records in the rows of a RACE sketch.

    Parameters
    ----------
    race : Race
        The sketch.
    arrays : Arrays
        Where the arrays lie.
    """

    def __init__(self, race: Race, arrays: Arrays):
        self._columns = race.columns
        self._arrays = arrays
        self._fused = fused(race.columns, race.domain.dimensions)

    @property
    def _xp(self) -> ModuleType:
        return self._arrays.xp

    @cached_property
    def _most_hashes(self) -> int:
        return int(np.diff(self._columns.first_hash).max())

    def pieces(self, points: np.ndarray) -> Iterator[np.ndarray]:
        """The points, as many at a time as a row of many hashes leaves room for."""
        step = max(1, BLOCK // self._most_hashes)
        return (points[start : start + step] for start in range(0, len(points), step))

    def blocks(self, points: np.ndarray) -> Iterator[tuple[int, int, Any]]:
        """Rows from one to before another, and the columns, uint64 (rows, n), of all points in them."""
        by_coordinate = self._xp.asarray(np.ascontiguousarray(points.T))
        tallest = max(1, BLOCK // max(len(points) * self._most_hashes, self._columns.width))
        rows = len(self._columns.rehashed)
        for start in range(0, rows, tallest):
            stop = min(start + tallest, rows)
            yield start, stop, self._columns_of(by_coordinate, start, stop)

    def _columns_of(self, points: Any, start: int, stop: int) -> Any:
        xp, columns = self._xp, self._columns
        first, last = int(columns.first_hash[start]), int(columns.first_hash[stop])
        cell = self._cells(points, first, last)
        begin, end = columns.first_hash[start:stop] - first, columns.first_hash[start + 1 : stop + 1] - first
        key = xp.zeros((stop - start, points.shape[1]), np.uint64) + xp.asarray(columns.addend[start:stop, None])
        for place in range(int((end - begin).max())):
            rows = begin + place < end
            hashes = begin[rows] + place
            factor, having = xp.asarray(columns.multiplier[first + hashes][:, None]), self._places(rows)
            key[having] = key[having] + factor * cell[xp.asarray(hashes)]
        if columns.rehashed[start:stop].any():
            half, rehashed = np.uint64(32), self._places(columns.rehashed[start:stop])
            key[rehashed] = ((key[rehashed] >> half) * np.uint64(columns.width)) >> half
        return key

    def _cells(self, points: Any, first: int, last: int) -> Any:
        """The cell of every point in the atomic hashes from first to last, uint64 (hashes, n)."""
        xp, columns, hashes = self._xp, self._columns, self._columns.hashes
        begin, end = hashes.first_term[first:last], hashes.first_term[first + 1 : last + 1]
        value = xp.zeros((last - first, points.shape[1])) + xp.asarray(hashes.offset[first:last, None])
        for place in range(int((end - begin).max())):
            longer = begin + place < end
            terms, having = begin[longer] + place, self._places(longer)
            a, x = xp.asarray(hashes.coefficient[terms][:, None]), points[xp.asarray(hashes.coordinate[terms])]
            value[having] = self._arrays.fused(a, x, value[having]) if self._fused else value[having] + a * x
        cells = columns.cells[first:last, None]
        if (cells == MAX_CELLS).any():
            wrapping = self._places(cells[:, 0] == MAX_CELLS)
            value[wrapping] = value[wrapping] - xp.floor(value[wrapping] / MAX_CELLS) * MAX_CELLS
        top = xp.asarray((cells - 1).astype(np.float64))
        return xp.minimum(xp.maximum(value, 0.0), top).astype(np.uint64)

    def _places(self, chosen: np.ndarray) -> Any:
        """The places that are marked, as the device indexes by them; all of them need not be copied."""
        return slice(None) if chosen.all() else self._xp.asarray(np.flatnonzero(chosen))
