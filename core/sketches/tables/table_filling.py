"""From the cells of a batch of records to the whole numbers that they add: each table counted once, all else from that.

A margin is the sum of the first table that has it, and a residual the contrasts of a table or margin.

From exact counts of pairs of columns to the contrasts that are measured of them: all pairs in one compiled loop.

Counting records in the cells of many small tables: one increment a record and table, block of records by block.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Self

import numpy as np

from ...runtime.compiled_code import njit
from ...runtime.environment import over_ranges
from .table_layout import Block, Columns, Layout


@dataclass(frozen=True, eq=False)
class PairContrasts:
    """The residuals of all pairs of a layout."""

    layout: Layout  # Of contrasts, in whose order the tables of pairs are counted.
    weights: Sequence[int]  # Of its blocks.

    @cached_property
    def _facts(self) -> tuple[np.ndarray, ...]:
        """Of every pair its axes, weight and place; where each axis' contrasts begin; and all contrasts."""
        blocks = [(b, w) for b, w in zip(self.layout.blocks, self.weights, strict=True) if len(b.columns) == 2]
        axes = np.array([block.columns for block, _ in blocks], np.int64).reshape(-1, 2)
        weights = np.array([weight for _, weight in blocks], np.int64)
        places = np.array([block.place.start for block, _ in blocks], np.int64)
        sides = np.array([one.cells for one in self.layout.contrasts], np.int64)
        offsets = np.cumsum(sides - 1) - (sides - 1)
        names = ("first", "middle", "last", "left", "right")
        rows = [np.concatenate([getattr(one, name) for one in self.layout.contrasts]) for name in names]
        return axes, weights, places, sides, offsets, *rows

    @property
    def axes(self) -> np.ndarray:
        return self._facts[0]

    def add(self, table: np.ndarray, counters: np.ndarray, starts: np.ndarray) -> None:
        """Add the contrasts of exact counts, each pair's beginning at its start, to the table."""
        facts = self._facts

        def pairs(first: int, last: int) -> None:
            _add_pairs(first, last, table, counters, starts, *facts)

        # Every pair has a part of the table of its own.
        over_ranges(len(starts), pairs, at_least=64)


@njit(nogil=True, cache=True)
def _add_pairs(
    begin, end, table, counters, starts, axes, weights, places, sides, offsets, first, middle, last, left, right
):
    for pair in range(begin, end):
        one, other = axes[pair, 0], axes[pair, 1]
        rows, columns = sides[one], sides[other]
        across = np.zeros((rows + 1, columns - 1), np.int64)
        before = np.zeros(columns + 1, np.int64)
        for i in range(rows):
            for j in range(columns):
                before[j + 1] = before[j] + counters[starts[pair] + i * columns + j]
            for k in range(columns - 1):
                c = offsets[other] + k
                centre = before[middle[c]]
                value = left[c] * (centre - before[first[c]]) - right[c] * (before[last[c]] - centre)
                across[i + 1, k] = across[i, k] + value
        for r in range(rows - 1):
            c = offsets[one] + r
            place = places[pair] + r * (columns - 1)
            for k in range(columns - 1):
                centre = across[middle[c], k]
                value = left[c] * (centre - across[first[c], k]) - right[c] * (across[last[c], k] - centre)
                table[place + k] += weights[pair] * value


BLOCK = 1 << 12  # Records whose cells stay in a second-level cache while all tables count them.


@dataclass(frozen=True, eq=False)
class Counted:
    """Exact counts of tables, back to back."""

    counters: np.ndarray  # int64, one table after the other, the last axis of each moving fastest.
    starts: np.ndarray  # Where each begins, int64 (tables,).
    shapes: tuple[tuple[int, ...], ...]

    def table(self, place: int) -> np.ndarray:
        """One of the tables, in its shape: no copy."""
        start, shape = int(self.starts[place]), self.shapes[place]
        return self.counters[start : start + math.prod(shape)].reshape(shape)


@dataclass(frozen=True, eq=False)
class Counting:
    """Which cells of which axes tables have, made once for many batches."""

    # int64 (tables, columns of the widest table): its axes, and what a cell of each moves the place by.
    axes: np.ndarray
    strides: np.ndarray
    starts: np.ndarray  # Where each table begins, int64 (tables,).
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


@dataclass(frozen=True, eq=False)
class Filling:
    """What is added to a table for a batch, made once for many of them."""

    layout: Layout
    weights: tuple[int, ...]  # One a block.

    def add(self, table: np.ndarray, cells: np.ndarray) -> None:
        """Add records, by the fine cell of each along each axis, uint16 (axes, n), which coarse ones overwrite."""
        fine = dict(self._fine_counts(cells))
        for place, axis in enumerate(self.layout.axes):
            if axis.halvings:
                cells[place] >>= axis.halvings
        self.add_counts(table, self._counting.count(cells), fine)

    def add_counts(self, table: np.ndarray, counted: Counted, fine: Mapping[Columns, np.ndarray]) -> None:
        """Add records by exact counts of all tables, and of the fine cells of each column that is halved."""
        for block, weight in self._halved_blocks:
            table[block.place] += weight * self._halves(block, fine[block.columns])
        if self.layout.measured == "cells":
            table[: len(counted.counters)] += counted.counters * self._repeated
        else:
            self._add_residuals(table, counted)

    @cached_property
    def _counting(self) -> Counting:
        return Counting.of(self.layout.tables, [axis.cells for axis in self.layout.axes])

    @cached_property
    def _halved_blocks(self) -> list[tuple[Block, int]]:
        return [pair for pair in zip(self.layout.blocks, self.weights, strict=True) if pair[0].level]

    def _fine_counts(self, cells: np.ndarray) -> Iterator[tuple[Columns, np.ndarray]]:
        axes = self.layout.axes
        fine: list[Columns] = [(place,) for (place,) in self.layout.singles if axes[place].halvings]
        alone = Counting.of(fine, [axis.fine for axis in axes]).count(cells)
        return ((which, alone.table(place)) for place, which in enumerate(fine))

    def _halves(self, block: Block, counts: np.ndarray) -> np.ndarray:
        """What a block of halvings gets of the counts of fine cells."""
        if self.layout.measured == "contrasts":
            halves = counts.reshape(block.shape[0], 2, -1).sum(axis=2)
            return np.asarray(halves[:, 0] - halves[:, 1])
        return np.asarray(counts.reshape(block.shape[0], -1).sum(axis=1))

    @cached_property
    def _repeated(self) -> np.ndarray:
        blocks = [block for block in self.layout.blocks if not block.level]
        sizes = [block.place.stop - block.place.start for block in blocks]
        return np.repeat(np.array(self.weights[: len(blocks)], np.int64), sizes)

    def _add_residuals(self, table: np.ndarray, counted: Counted) -> None:
        """Residuals, or tables with their margins, of exact counts."""
        contrasts = self.layout.measured == "contrasts"
        in_pairs = contrasts and self.layout.order == 2
        if in_pairs:
            self._pairs.add(table, counted.counters, counted.starts[-len(self._pairs.axes) :])
        known = {which: counted.table(place) for place, which in enumerate(self.layout.tables)}
        for block, weight in zip(self.layout.blocks, self.weights, strict=True):
            if block.level or (in_pairs and len(block.columns) == 2):
                continue
            values = self._margin(known, block.columns)
            if contrasts:
                for side, place in enumerate(block.columns):
                    values = np.moveaxis(self.layout.contrasts[place].of(np.moveaxis(values, side, -1)), -1, side)
            table[block.place] += weight * values.reshape(-1)

    @cached_property
    def _pairs(self) -> PairContrasts:
        return PairContrasts(self.layout, self.weights)

    def _margin(self, counted: dict[Columns, np.ndarray], columns: Columns) -> np.ndarray:
        """The counts of a table, or of a margin of the first table that has it."""
        if columns in counted:
            return counted[columns]
        source = self._sources[columns]
        out = tuple(side for side, place in enumerate(source) if place not in columns)
        return np.asarray(counted[source].sum(axis=out))

    @cached_property
    def _sources(self) -> dict[Columns, Columns]:
        """By set of columns, the first table that contains it."""
        found: dict[Columns, Columns] = {}
        for table in self.layout.tables:
            for size in range(len(table)):
                for part in combinations(table, size):
                    found.setdefault(part, table)
        return found
