"""From the cells of a batch of records to the whole numbers that they add: each table counted once, all else from that.

A margin is the sum of the first table that has it, and a residual the contrasts of a table or margin.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from .counting import Counted, Counting
from .layout import Block, Columns, Layout
from .measuring import PairContrasts


@dataclass(frozen=True, eq=False)
class Filling:
    """What is added to a table for a batch, made once for many of them.

    Parameters
    ----------
    layout : Layout
        What lies where.
    weights : tuple[int, ...]
        One a block.
    """

    layout: Layout
    weights: tuple[int, ...]

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
        """The blocks of halvings, with their weights."""
        return [pair for pair in zip(self.layout.blocks, self.weights, strict=True) if pair[0].level]

    def _fine_counts(self, cells: np.ndarray) -> Iterator[tuple[Columns, np.ndarray]]:
        """Of each column that is halved."""
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
        """The weight of every cell that is counted."""
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
