"""What is measured of which tables, and where it lies: residuals, or the tables themselves, and the halves of cells.

The residual of a set of columns is what their table adds to its margins (Xiao, He, Zhang, Kifer 2023): a product of
contrasts, one of each column. Every table is the sum of the residuals of all its subsets, so the residuals of all
subsets of all tables, each measured once, tell every table, and no two of them say anything of the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from .contrasts import Contrasts, contrasts
from .table_axes import Axis

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
