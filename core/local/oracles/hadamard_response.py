"""Hadamard response (Acharya, Sun, Zhang 2019).

Reports are the columns of B blocks of b each, B = 2^⌊log₂ min(E, 2d)⌋ and b = 2^⌈log₂(d/B + 1)⌉. A value belongs to the
block ⌊x/(b - 1)⌋ and has there the row r = x mod (b - 1) + 1 of the Hadamard matrix; the b/2 columns y of its block
with an even popcount(r & y) speak for it and have weight A, all others weight B. Each value has b/2 of them, so the
total is the same for all, and no ratio is above A/B.

Rows but the first are balanced and orthogonal: of reports of another value, as many speak for x as stand against it in
its block. So Z = (reports that speak for x) - (others of its block) has mean f_x c, c = (E - 1)/(E + 2B - 1), and f̂_x
= Z/c. A person counts ±1 in Z when their report is in the block, with probability (E + 1)/(E + 2B - 1) for those whose
value is in it and 2/(E + 2B - 1) for others. So its variance is (expected reports in the block)/c² - f_x, and reports
in the block are seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from ...privacy.noise.randomness import Source, Stream
from ...privacy.noise.responses import UNIT
from ...runtime.array_types import Array, Floats, Integers
from ...runtime.compiled_code import njit
from ..tally import Tally
from .counting import count_numbers
from .oracle import Matrix, Oracle, checked_counts, weighed
from .transform import parity, transformed


@dataclass(frozen=True)
class HadamardResponse(Oracle):
    """A report is a column."""

    name = "hr"
    title = "Hadamard response"
    paper = "Acharya, Sun, Zhang 2019"

    @cached_property
    def blocks(self) -> int:
        """B, the largest power of two that is at most E and 2d."""
        return 1 << (min(int(self.odds), 2 * self.domain).bit_length() - 1)

    @cached_property
    def width(self) -> int:
        """b: the least power of two for which B rows of b - 1 hold all values."""
        return 1 << (-(-self.domain // self.blocks)).bit_length()

    @property
    def bits(self) -> int:
        return (self.outcomes - 1).bit_length()

    @property
    def outcomes(self) -> int:
        return self.blocks * self.width

    @property
    def table_shape(self) -> tuple[int, ...]:
        return self.blocks, self.width

    def _reports(self, values: Integers, source: Source) -> Array:
        def report(place: Integers, anything: Integers, stream: Stream) -> Array:
            reports = np.empty(len(values), self.report_type)
            _columns(values, place, anything, self.width, reports)
            return reports

        return weighed(values, self.width // 2, self.outcomes, self.surplus, source, report)

    def _add(self, table: Integers, reports: Array) -> None:
        count_numbers(reports, table)

    @cached_property
    def shrinking(self) -> float:
        """c."""
        return float(Fraction(self.surplus, self.surplus + 2 * self.blocks * UNIT))

    @property
    def reach(self) -> tuple[float, float]:
        return -1 / self.shrinking, 1 / self.shrinking

    def estimate(self, tally: Tally) -> Floats:
        return transformed(tally.table)[:, 1:].reshape(-1)[: self.domain] / self.shrinking

    def line(self, tally: Tally, estimate: Floats) -> tuple[Floats | float, Floats | float]:
        return self._each(tally.table.sum(axis=1)) / self.shrinking**2, -1.0

    def variance(self, counts: object) -> Floats:
        held = checked_counts(counts, self.domain)
        starts = np.arange(0, self.domain, self.width - 1)
        inside = np.zeros(self.blocks)
        inside[: len(starts)] = np.add.reduceat(held, starts)
        odds = float(self.odds)
        seen = ((odds + 1) * inside + 2 * (held.sum() - inside)) / (odds + 2 * self.blocks - 1)
        return self._each(seen) / self.shrinking**2 - held

    def _each(self, blocks: Array) -> Floats:
        """For each value, what there is of its block."""
        return np.repeat(np.asarray(blocks, np.float64), self.width - 1)[: self.domain]

    def work(self, people: float) -> tuple[float, float]:
        return 1e-7, 1e-9 * people + 1e-9 * self.outcomes * self.width.bit_length()

    def transition_matrix(self) -> Matrix:
        total = self.width // 2 * self.surplus + self.outcomes * UNIT
        matrix = []
        for value in range(self.domain):
            block, row = value // (self.width - 1), value % (self.width - 1) + 1
            speaks = [
                report // self.width == block and not (row & report % self.width).bit_count() & 1
                for report in range(self.outcomes)
            ]
            matrix.append([Fraction(self.surplus * one + UNIT, total) for one in speaks])
        return matrix


@njit(nogil=True, cache=True)
def _columns(values: Integers, places: Integers, anything: Integers, width: int, reports: Array) -> None:
    """The reported columns: for a place, that many columns of those that speak for the value are passed over.

    A place has its bits in all positions but that of the row's lowest one; that bit makes the popcount even.
    """
    for i in range(values.size):
        if places[i] < 0:
            reports[i] = anything[i]
            continue
        row = np.uint64(values[i] % (width - 1) + 1)
        lowest = row & (~row + np.uint64(1))
        place, under = np.uint64(places[i]), lowest - np.uint64(1)
        column = (place & ~under) << np.uint64(1) | place & under
        column |= lowest * parity(row & column)
        reports[i] = np.uint64(values[i] // (width - 1) * width) + column
