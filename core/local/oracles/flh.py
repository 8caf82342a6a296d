"""Fast local hashing (Cormode, Maddock, Maple 2021): optimal local hashing with one of k' public hash functions.

A report is the number of a function, uniform whatever the value, and a cell by direct encoding, so it keeps ε as
`local_hashing` does. The collector counts reports by function and cell, whatever the domain, and hashes only k'd times:
C_x = Σ_s count[s, h_s(x)].

As functions are shared, values that collide under one do so for everyone who has it: beside the variance of optimal
local hashing an estimate has Σ_{x' ≠ x} f_x'²/(k'(g - 1)) over the choice of functions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...geometry.hashing.uniforms import PublicRandom
from ...machine.array_types import Array, Floats, Integers, Truths, Words
from ...machine.compiled_code import njit
from ...machine.threads import over_ranges
from ...parameters import Seed, Whole, parameter
from ...privacy.noise.randomness import Stream
from ...privacy.noise.responses import below
from ..tally import Tally
from .counting import count_numbers
from .local_hashing import LocalHashing, hashed
from .oracle import bits_for, checked_counts, picked

FAMILY = 0x464C48


@dataclass(frozen=True)
class FastHashing(LocalHashing):
    """A report is one number: that of the function times g, and the cell.

    Attributes
    ----------
    functions : int
        k'.
    seed : int
        Public; the functions follow from it.
    """

    name = "flh"
    title = "fast local hashing"
    paper = "Cormode, Maddock, Maple 2021"

    functions: int = parameter(Whole("The number of hash functions", 1, 1 << 20), 1000)
    seed: int = parameter(Seed("The seed of the hash functions"), None)

    @property
    def cells(self) -> int:
        return round(self.odds) + 1

    @property
    def bits(self) -> int:
        return bits_for(self.outcomes)

    @property
    def outcomes(self) -> int:
        return self.functions * self.cells

    @property
    def report_type(self) -> np.dtype:
        return np.min_scalar_type(self.outcomes - 1)

    @property
    def report_words(self) -> int:
        return 0

    @property
    def table_shape(self) -> tuple[int, ...]:
        return (self.functions, self.cells)

    @cached_property
    def family(self) -> tuple[Words, Words]:
        """The words a and b of every function."""
        words = PublicRandom(self.seed, FAMILY).words(self.functions, 2)
        return np.ascontiguousarray(words[:, 0]), np.ascontiguousarray(words[:, 1])

    @property
    def written_out(self) -> tuple[Words, Words]:
        return self.family

    def _reports(self, values: Integers, stream: Stream) -> Array:
        function = below(self.functions, len(values), stream).astype(np.int64)
        place, anything = picked(1, self.cells, self.surplus, len(values), stream)
        a, b = self.family
        mine = hashed(a[function], b[function], values, self.cells)
        return (function * self.cells + np.where(place == 0, mine, anything)).astype(self.report_type)

    def _fits(self, reports: Array) -> Truths:
        return reports < self.outcomes

    def _add(self, table: Integers, reports: Array) -> None:
        count_numbers(reports, table)

    def supports(self, tally: Tally) -> Integers:
        counts = np.zeros(self.domain, np.int64)
        over_ranges(self.domain, lambda low, high: _look_up(*self.family, tally.table, low, counts[low:high]), 64)
        return counts

    def line(self, tally: Tally, estimate: Floats) -> tuple[Floats | float, Floats | float]:
        nothing, each = super().line(tally, estimate)
        known = np.maximum(float((estimate**2).sum()) - self.domain * nothing, 0.0)
        return nothing + np.maximum(known - np.maximum(estimate, 0.0) ** 2, 0.0) / self._shared, each

    def variance(self, counts: object) -> Floats:
        held = checked_counts(counts, self.domain)
        shared: Floats = ((held**2).sum() - held**2) / self._shared
        return super().variance(held) + shared

    @property
    def _shared(self) -> float:
        return float(self.functions * (self.cells - 1))

    def work(self, people: float) -> tuple[float, float]:
        return 1e-7, 2e-9 * people + 1e-9 * self.functions * self.domain


@njit(nogil=True, cache=True)
def _look_up(a: Words, b: Words, table: Integers, first: int, counts: Integers) -> None:
    """C_x for consecutive values: the cell of each by every function."""
    half, cells = np.uint64(32), np.uint64(table.shape[1])
    for s in range(table.shape[0]):
        row, at, step = table[s], (b[s] & np.uint64(0xFFFF_FFFF_0000_0000)) + a[s] * np.uint64(first), a[s]
        for x in range(counts.size):
            counts[x] += row[(at >> half) * cells >> half]
            at += step
