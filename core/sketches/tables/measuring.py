"""From exact counts of pairs of columns to the contrasts that are measured of them: all pairs in one compiled loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...machine.compiled_code import njit
from ...machine.threads import over_ranges
from .layout import Layout


@dataclass(frozen=True, eq=False)
class PairContrasts:
    """The residuals of all pairs of a layout.

    Parameters
    ----------
    layout : Layout
        Of contrasts, in whose order the tables of pairs are counted.
    weights : Sequence[int]
        Of its blocks.
    """

    layout: Layout
    weights: Sequence[int]

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
        """Of each pair, int64 (pairs, 2)."""
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
