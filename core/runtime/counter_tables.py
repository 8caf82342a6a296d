"""Tables of counters that need not lie in memory as an array: mapped from a file, or the sum of two that are.

A table of 1e9 counters is 8 GB as int64. A file keeps it in the narrowest type that holds all counters but a few; the
few stand apart, and the least value of the type marks their places. Such a table is read where it lies: single counters
by `take`, all of them piece by piece. Every function here reads plain arrays as well, so that a sketch need not know
which of them it was given.

The types of arrays by what they hold, for all rooms, are here too.
"""

from __future__ import annotations

import ctypes
import gc
import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Truths = npt.NDArray[np.bool_]


PIECE = 1 << 20  # Counters that are held as int64 at a time: 8 MiB.
# Places up to which a disk is asked for all of them at once; more are read as well by reading on from each.
FETCHED = 1 << 16
# Noisy counters as a release has them: an array, or a `Table` where a sketch says that it `reads_mapped`.
Counters = Any
LEAST, MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


class Table(ABC):
    """Counters in C order that can be read and never changed; a slab of it, ``table[place]``, is such a table too."""

    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, place: int) -> Table:
        place = range(len(self))[place]
        slab = self.size // len(self)
        return self._part(place * slab, self.shape[1:])

    @abstractmethod
    def take(self, at: np.ndarray) -> np.ndarray:
        """Counters at flat places (k,), int64 (k,)."""

    @abstractmethod
    def piece(self, start: int, stop: int) -> np.ndarray:
        """Counters from one flat place to before another, int64 (stop - start,)."""

    @abstractmethod
    def _part(self, start: int, shape: tuple[int, ...]) -> Table:
        """The counters from a flat place on that fill a shape."""


@dataclass(frozen=True, eq=False)
class Narrow(Table):
    """Counters in a narrow type, and apart from them those that do not fit.

    Whatever the arrays hold, reading stays inside them: a place that is marked but not listed reads as the mark itself,
    one that is listed but not marked as what stands there.
    """

    counters: np.ndarray  # Any signed whole-number type, C order, the shape of the table; often mapped from a file.
    # int64 (b,), rising: flat places of the counters that stand apart; there, ``counters`` holds its type's least
    # value.
    beyond_at: np.ndarray
    beyond: np.ndarray  # int64 (b,), those counters.
    # Tells the system that counters at flat places (k,) are about to be read, where they may lie on a disk.
    fetch: Callable[[np.ndarray], None] | None = None

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        return self.counters.shape

    @cached_property
    def _flat(self) -> np.ndarray:
        return self.counters.reshape(-1)

    @property
    def _mark(self) -> int:
        return np.iinfo(self.counters.dtype).min

    def take(self, at: np.ndarray) -> np.ndarray:
        if self.fetch is not None and len(at) <= FETCHED:
            self.fetch(at)
        counters: Integers = self._flat[at].astype(np.int64)
        marked = np.flatnonzero(counters == self._mark)
        if len(marked) and len(self.beyond_at):
            wanted = at[marked]
            place = np.minimum(np.searchsorted(self.beyond_at, wanted), len(self.beyond_at) - 1)
            counters[marked] = np.where(self.beyond_at[place] == wanted, self.beyond[place], self._mark)
        return counters

    def piece(self, start: int, stop: int) -> np.ndarray:
        counters = self._flat[start:stop].astype(np.int64)
        first, last = np.searchsorted(self.beyond_at, (start, stop))
        places = self.beyond_at[first:last] - start
        counters[places] = np.where(counters[places] == self._mark, self.beyond[first:last], counters[places])
        return counters

    def _part(self, start: int, shape: tuple[int, ...]) -> Narrow:
        stop = start + math.prod(shape)
        first, last = np.searchsorted(self.beyond_at, (start, stop))
        counters, fetch = self._flat[start:stop].reshape(shape), self.fetch
        further = None if fetch is None else lambda at: fetch(at + start)
        return Narrow(counters, self.beyond_at[first:last] - start, self.beyond[first:last], further)


@dataclass(frozen=True, eq=False)
class Sum(Table):
    """The sum of two tables of one shape, added when it is read; sums beyond 64 bits are set to the nearer end."""

    left: np.ndarray | Table
    right: np.ndarray | Table

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        return self.left.shape

    def take(self, at: np.ndarray) -> np.ndarray:
        return _sum(take(self.left, at), take(self.right, at))

    def piece(self, start: int, stop: int) -> np.ndarray:
        return _sum(_piece(self.left, start, stop), _piece(self.right, start, stop))

    def _part(self, start: int, shape: tuple[int, ...]) -> Sum:
        return Sum(_part(self.left, start, shape), _part(self.right, start, shape))


def take(table: np.ndarray | Table, at: np.ndarray) -> np.ndarray:
    """Counters at flat places, whatever kind of table it is.

    `table`: An array of whole numbers in C order, or a `Table`. `at`: int64 (k,), places in the table read as one line,
    from 0 to before its size.
    """
    if isinstance(table, Table):
        return table.take(at)
    counters: Integers = table.reshape(-1)[at].astype(np.int64, copy=False)
    return counters


def blocks(table: np.ndarray | Table) -> Iterator[np.ndarray]:
    """The rows of a table, in order, as int64 blocks (rows, shape[-1]) of a few MiB, or of one row where that is more.

    The blocks are for reading alone: those of an array of int64 are views of it.
    """
    width = table.shape[-1]
    step = max(1, PIECE // width) * width
    for start in range(0, table.size, step):
        yield _piece(table, start, min(start + step, table.size)).reshape(-1, width)


def pieces(table: np.ndarray | Table) -> Iterator[np.ndarray]:
    """The counters of a table in order, as int64 pieces (k,) of a few MiB, for reading alone."""
    for start in range(0, table.size, PIECE):
        yield _piece(table, start, min(start + PIECE, table.size))


def array(table: np.ndarray | Table) -> np.ndarray:
    """All of a table as an array in memory: the array itself, or a new one of int64."""
    return table if isinstance(table, np.ndarray) else table.piece(0, table.size).reshape(table.shape)


def same(left: np.ndarray | Table, right: np.ndarray | Table) -> bool:
    """Whether two tables of one shape hold the same counters."""
    return all(np.array_equal(one, other) for one, other in zip(pieces(left), pieces(right), strict=True))


def added(left: np.ndarray | Table, right: np.ndarray | Table) -> np.ndarray | Table:
    """The sum of two tables of one shape: an array if both are, otherwise one that is added when it is read.

    No sum wraps round. That of two arrays of int32 is int64 where a counter needs it; sums beyond 64 bits are set to
    the nearer end.
    """
    if isinstance(left, Table) or isinstance(right, Table):
        return Sum(left, right)
    if left.dtype == right.dtype == np.int64:
        return _sum(left, right)
    both, ends = Sum(left, right), np.iinfo(np.int32)
    narrow = all(ends.min <= piece.min() and piece.max() <= ends.max for piece in pieces(both))
    total = np.empty(left.shape, np.int32 if narrow else np.int64)
    start, flat = 0, total.reshape(-1)
    for piece in pieces(both):
        flat[start : start + len(piece)] = piece
        start += len(piece)
    return total


def sum_of_slabs(table: np.ndarray | Table) -> np.ndarray | Table:
    """The slabs ``table[0]``, ``table[1]`` and so on added up; an array as NumPy adds 64-bit numbers."""
    if isinstance(table, np.ndarray):
        summed: Integers = table.sum(axis=0, dtype=np.int64)
        return summed
    slabs: Iterator[np.ndarray | Table] = (table[place] for place in range(table.shape[0]))
    return reduce(added, slabs)


def _piece(table: np.ndarray | Table, start: int, stop: int) -> np.ndarray:
    if isinstance(table, Table):
        return table.piece(start, stop)
    piece: Integers = table.reshape(-1)[start:stop].astype(np.int64, copy=False)
    return piece


def _part(table: np.ndarray | Table, start: int, shape: tuple[int, ...]) -> np.ndarray | Table:
    if isinstance(table, Table):
        return table._part(start, shape)
    return table.reshape(-1)[start : start + math.prod(shape)].reshape(shape)


def _sum(left: Integers, right: Integers) -> Integers:
    total: Integers = left + right
    # A sum of two numbers has wrapped round when its sign is that of neither.
    wrapped = ((left ^ total) & (right ^ total)) < 0
    total[wrapped] = np.where(left[wrapped] < 0, LEAST, MOST)
    return total


def give_back() -> None:
    """Look through all that lives for what nobody can reach, and hand the pages that were freed to the system.

    It takes about as long as a click on a page, so it is no part of one. Linux's C library keeps freed pages to itself
    until it is told (`malloc_trim`); other systems need no telling, or cannot be told.
    """
    gc.collect()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # there is none in Alpine's
        if trim is not None:
            trim(0)
