"""What is measured of which tables, and where it lies: residuals, or the tables themselves, and the halves of cells.

The residual of a set of columns is what their table adds to its margins (Xiao, He, Zhang, Kifer 2023): a product of
contrasts, one of each column. Every table is the sum of the residuals of all its subsets, so the residuals of all
subsets of all tables, each measured once, tell every table, and no two of them say anything of the same.

What tells the cells of one axis apart: orthogonal contrasts, in whole numbers.

m counts are their sum and m - 1 contrasts. A contrast splits a stretch of cells in two and says how many more are in
one part than in the other: with n = g (p + q) cells, of which g p lie on the left (p and q without a common factor), it
is a (q left - p right). All contrasts are orthogonal to each other and to the sum, exactly, whatever the factors a are;
so what a table adds to its margins can be told from them without any rounding. The factors make all contrasts almost
equally long: a^2 g p q (p + q) is near T^2 for each, and T is chosen so that whole numbers come close.

Halves are taken where they are equal, and else the parts whose contrast has small numbers, such as 20 and 5 of 25.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ...runtime.compiled_code import njit
from .table_axes import Axis

TRIED = 4096  # Lengths T that are tried: among so many there is one that suits the contrasts of an axis.


class Norms(NamedTuple):
    """How far one record moves the contrasts of an axis, in whole numbers: exact extremes over its cells."""

    square: int  # Largest squared length of what a record adds.
    sum: int  # Largest sum of absolute values of what a record adds.
    moved: int  # Largest squared length of the difference of two cells.
    # The least and the most that the inner product of two different cells is, with the sign turned round.
    least: int
    most: int


@dataclass(frozen=True, eq=False)
class Contrasts:
    """The contrasts of an axis; one entry of each array a contrast, int64 (m - 1,)."""

    cells: int
    length: int  # T, which the length of every contrast is near.
    # Cells first to middle are on its left, and middle to last on its right.
    first: np.ndarray
    middle: np.ndarray
    last: np.ndarray
    # What a record adds on the left, and takes away on the right.
    left: np.ndarray
    right: np.ndarray

    @property
    def rows(self) -> int:
        return self.cells - 1

    @cached_property
    def squares(self) -> np.ndarray:
        """Squared length of each contrast, float64 (m - 1,): whole numbers below 2^53."""
        sides = (self.middle - self.first) * self.left**2 + (self.last - self.middle) * self.right**2
        return sides.astype(np.float64)

    @property
    def largest_entry(self) -> int:
        """The largest whole number that a record adds or takes away."""
        return int(max(self.left.max(), self.right.max()))

    def of(self, counts: np.ndarray) -> np.ndarray:
        """The contrasts of counts along their last axis: (..., m) to (..., m - 1), int64, or float64."""
        lines = np.ascontiguousarray(counts).reshape(-1, self.cells)
        out = np.empty((len(lines), self.rows), lines.dtype)
        _contrasts(lines, self.first, self.middle, self.last, self.left, self.right, out)
        return out.reshape(*counts.shape[:-1], self.rows)

    def back(self, values: np.ndarray) -> np.ndarray:
        """The counts of sum 0 that have these contrasts, along the last axis: float64 (..., m - 1) to (..., m)."""
        lines = np.ascontiguousarray(values, dtype=np.float64).reshape(-1, self.rows) / self.squares
        out = np.empty((len(lines), self.cells))
        _spread(lines, self.first, self.middle, self.last, self.left.astype(float), self.right.astype(float), out)
        return out.reshape(*values.shape[:-1], self.cells)

    @cached_property
    def spread(self) -> np.ndarray:
        """Variance of each cell of `back` for contrasts with noise of variance 1, float64 (m,)."""
        inverse = (self.squares**-2.0)[None]
        out = np.empty((1, self.cells))
        left, right = self.left.astype(float) ** 2, -(self.right.astype(float) ** 2)
        _spread(inverse, self.first, self.middle, self.last, left, right, out)
        return out[0]

    def variance(self, weights: np.ndarray) -> np.ndarray:
        """Variance of sums of cells of `back` with these weights, (..., m) to (...), for noise of variance 1."""
        return ((self.of(np.asarray(weights, dtype=np.float64)) / self.squares) ** 2).sum(axis=-1)

    @cached_property
    def norms(self) -> Norms:
        """The extremes over cells, by one walk over the splits, from small stretches to large ones.

        Two cells share the contrasts of the stretches that hold both, with the same entry but for the smallest, which
        they lie on either side of: their inner product is -left right of it, plus squares of the entries above, whose
        sum is less as long as all contrasts are equally long.
        """
        square: dict[tuple[int, int], int] = {}
        below: dict[tuple[int, int], int] = {}
        moved, products = 0, []
        above = self._above
        for k in np.argsort(self.last - self.first, kind="stable"):
            first, middle, last = int(self.first[k]), int(self.middle[k]), int(self.last[k])
            left, right = int(self.left[k]), int(self.right[k])
            on_left, on_right = (square.get(part, 0) for part in ((first, middle), (middle, last)))
            moved = max(moved, on_left + on_right + (left + right) ** 2)
            square[first, last] = max(on_left + left**2, on_right + right**2)
            sums = (below.get(part, 0) for part in ((first, middle), (middle, last)))
            below[first, last] = max(one + entry for one, entry in zip(sums, (left, right), strict=True))
            products.append(left * right - above[first, last])
        whole = (0, self.cells)
        return Norms(square[whole], below[whole], moved, min(products), max(products))

    @property
    def _above(self) -> dict[tuple[int, int], int]:
        """By stretch, the sum of the squares of what a record in it adds to the contrasts of larger stretches."""
        above = {(0, self.cells): 0}
        for k in np.argsort(self.first - self.last, kind="stable"):
            first, middle, last = int(self.first[k]), int(self.middle[k]), int(self.last[k])
            above[first, middle] = above[first, last] + int(self.left[k]) ** 2
            above[middle, last] = above[first, last] + int(self.right[k]) ** 2
        return above


@lru_cache(maxsize=256)
def contrasts(cells: int, bits: int) -> Contrasts:
    """The contrasts of an axis of m >= 2 cells, whose lengths are near a T of at most so many bits."""
    splits = _splits(cells)
    first, middle, last, p, q = np.array(splits, dtype=np.int64).T
    lengths = np.sqrt((last - first).astype(np.float64) * p * q)
    length = _suitable(lengths, bits)
    factor = np.maximum(1, np.rint(length / lengths)).astype(np.int64)
    return Contrasts(cells, length, first, middle, last, factor * q, factor * p)


def _suitable(lengths: np.ndarray, bits: int) -> int:
    """The T for which whole factors a make contrasts of these lengths most nearly equal to it."""
    different = np.unique(lengths)
    most = 1 << bits
    tried = np.arange(max(most - TRIED, most // 2), most + 1)
    factors = np.maximum(1.0, np.rint(tried[:, None] / different))
    off = np.abs(factors * different / tried[:, None] - 1.0).max(axis=1)
    return int(tried[int(off.argmin())])


def _splits(cells: int) -> list[tuple[int, int, int, int, int]]:
    """First, middle and last cell of every split, and its p and q."""
    todo, splits = [(0, cells)], []
    while todo:
        first, last = todo.pop()
        size = last - first
        if size == 1:
            continue
        prime = next((d for d in range(2, math.isqrt(size) + 1) if size % d == 0), size)
        middle = first + size // prime * (prime - 1)
        splits.append((first, middle, last, prime - 1, 1))
        todo += [(first, middle), (middle, last)]
    return splits


@njit(nogil=True, cache=True)
def _contrasts(lines, first, middle, last, left, right, out):
    before = np.zeros(lines.shape[1] + 1, lines.dtype)
    for i in range(lines.shape[0]):
        for cell in range(lines.shape[1]):
            before[cell + 1] = before[cell] + lines[i, cell]
        for k in range(len(first)):
            centre = before[middle[k]]
            out[i, k] = left[k] * (centre - before[first[k]]) - right[k] * (before[last[k]] - centre)


@njit(nogil=True, cache=True)
def _spread(lines, first, middle, last, left, right, out):
    """out = the sum over contrasts of a value times the contrast."""
    steps = np.empty(out.shape[1] + 1)
    for i in range(lines.shape[0]):
        steps[:] = 0.0
        for k in range(len(first)):
            steps[first[k]] += lines[i, k] * left[k]
            steps[middle[k]] -= lines[i, k] * (left[k] + right[k])
            steps[last[k]] += lines[i, k] * right[k]
        height = 0.0
        for cell in range(out.shape[1]):
            height += steps[cell]
            out[i, cell] = height


Columns = tuple[int, ...]  # Places of axes, in increasing order.
BITS = 26  # Of the products of the lengths of contrasts, so that sums of a thousand million records fit 64 bits.
HALVINGS_A_LEVEL = 4
MOST_BITS = 16  # Of the length of a contrast.


def closure(tables: Iterable[Columns]) -> tuple[Columns, ...]:
    """All subsets of all tables, the empty one first, then by size and in order."""
    known = {subset for table in tables for size in range(len(table) + 1) for subset in combinations(table, size)}
    return tuple(sorted(known, key=lambda columns: (len(columns), columns)))


def counted_levels(halvings: int) -> tuple[int, ...]:
    """The halvings whose cells are counted where tables are: every fourth or so, and the last.

    Counts of fine cells tell coarser ones too, by their sums. Under Laplace noise every further level costs all others,
    and of all choices for 1,024 cells the best for ranges are 8, 128 and 1,024 cells, or nearly so 32 and 1,024.
    """
    steps = max(1, round(halvings / HALVINGS_A_LEVEL))
    return tuple(sorted({round(halvings * step / steps) for step in range(1, steps + 1)})) if halvings else ()


def largest(tables: Iterable[Columns]) -> tuple[Columns, ...]:
    """Those tables that are no part of another one, in order."""
    given = sorted(set(tables), key=lambda columns: (-len(columns), columns))
    inner = {part for table in given for size in range(len(table)) for part in combinations(table, size)}
    return tuple(sorted((table for table in given if table not in inner), key=lambda columns: (len(columns), columns)))


def parts_of_table(table: Columns) -> list[tuple[Columns, Columns]]:
    """Every subset of a table's columns, and the rest of them."""
    found: list[tuple[Columns, Columns]] = [((), ())]
    for i in table:
        found = [pair for inside, out in found for pair in (((*inside, i), out), (inside, (*out, i)))]
    return found


@dataclass(frozen=True)
class Block:
    """A part of the table: all counters that have one weight."""

    columns: Columns  # Whose residual or table it is.
    # 0; or, from 1, the halving of the cells of its single column that it tells: which half of each cell records are
    # in, one counter a cell that is halved, or where tables are counted, how many are in each of the halves.
    level: int
    shape: tuple[int, ...]  # One side a column.
    place: slice


@dataclass(frozen=True, eq=False)
class Layout:
    """Blocks one after the other."""

    axes: tuple[Axis, ...]
    tables: tuple[Columns, ...]  # What is asked, none a part of another one.
    measured: str  # "contrasts": every residual; "cells": every table; "margins": every table and all its margins.

    @cached_property
    def residuals(self) -> tuple[Columns, ...]:
        """The sets of columns that have a residual in some table, the empty one first."""
        return closure(self.tables)

    @cached_property
    def order(self) -> int:
        return max(map(len, self.tables))

    @cached_property
    def contrasts(self) -> tuple[Contrasts, ...]:
        bits = min(MOST_BITS, BITS // self.order)
        return tuple(contrasts(axis.cells, bits) for axis in self.axes)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """All blocks, halvings last."""
        if self.measured == "contrasts":
            shapes = [(which, tuple(self.axes[i].cells - 1 for i in which)) for which in self.residuals]
        else:
            counted = self.tables if self.measured == "cells" else self.residuals[1:]
            shapes = [(which, tuple(self.axes[i].cells for i in which)) for which in counted]
        kinds = [(which, 0, shape) for which, shape in shapes]
        for (place,) in self.singles:
            axis = self.axes[place]
            if self.measured == "contrasts":
                halves = [(level, axis.cells << (level - 1)) for level in range(1, axis.halvings + 1)]
            else:
                halves = [(level, axis.cells << level) for level in counted_levels(axis.halvings)]
            kinds += [((place,), level, (size,)) for level, size in halves]
        blocks, start = [], 0
        for which, level, shape in kinds:
            size = math.prod(shape)
            blocks.append(Block(which, level, shape, slice(start, start + size)))
            start += size
        return tuple(blocks)

    @cached_property
    def singles(self) -> tuple[Columns, ...]:
        return tuple(which for which in self.residuals if len(which) == 1)

    @cached_property
    def size(self) -> int:
        return self.blocks[-1].place.stop

    def unit(self, columns: Sequence[int]) -> int:
        """The length that the products of these columns' contrasts are near."""
        return math.prod(self.contrasts[i].length for i in columns)
