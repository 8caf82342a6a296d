"""Fast local hashing (Cormode, Maddock, Maple 2021): optimal local hashing with one of k' public hash functions.

A report is the number of a function, uniform whatever the value, and a cell by direct encoding, so it keeps ε as
`local_hashing` does. The collector counts reports by function and cell, whatever the domain, and hashes only k'd times:
C_x = Σ_s count[s, h_s(x)].

As functions are shared, values that collide under one do so for everyone who has it: beside the variance of optimal
local hashing an estimate has Σ_{x' ≠ x} f_x'²/(k'(g - 1)) over the choice of functions. That takes collisions of x with
x' and with x'' that have nothing to do with each other, where multiply-shift makes them sure only of two values: of
evenly spaced ones it sends three to one cell too often, and the frequent values of a list often stand side by side. So
values are scattered over all numbers of 32 bits first, by a public bijection (the finaliser of MurmurHash3; Appleby
2008), which is nothing to privacy and brings the measured error to the formula's. Without it it was 6% above at ε = 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...geometry.hashing.uniforms import PublicRandom
from ...parameters import Seed, Whole, parameter
from ...privacy.noise.randomness import Source
from ...privacy.noise.responses import told
from ...runtime.array_types import Array, Floats, Integers, Truths, Words
from ...runtime.compiled_code import njit
from ...runtime.threads import over_ranges
from .counting import count_numbers
from .local_hashing import VALUES_AT_ONCE, LocalHashing, hashed
from .oracle import Tally, bits_for, checked_counts

FAMILY = 0x464C48


@dataclass(frozen=True)
class FastHashing(LocalHashing):
    """A report is one number: that of the function times g, and the cell."""

    name = "flh"
    title = "fast local hashing"
    paper = "Cormode, Maddock, Maple 2021"

    functions: int = parameter(Whole("The number of hash functions", 1, 1 << 20), 1000)  # k'.
    seed: int = parameter(Seed("The seed of the hash functions"), None)  # Public; the functions follow from it.
    # 1 where values are scattered before they are hashed; 0 in surveys of earlier versions.
    scattered: int = parameter(Whole("Whether values are scattered", 0, 1), 1)

    @classmethod
    def read(cls, value: object) -> dict[str, Any]:
        """Surveys of earlier versions do not say whether values are scattered, as they never were."""
        if isinstance(value, dict) and "scattered" not in value:
            value = value | {"scattered": 0}
        return super().read(value)

    def written(self) -> dict[str, Any]:
        facts = super().written()
        if not self.scattered:  # as such surveys were written, whose fingerprint is of every word
            del facts["scattered"]
        return facts

    def keys(self, values: Integers) -> Integers:
        return scatter(values) if self.scattered else values

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

    def _reports(self, values: Integers, source: Source) -> Array:
        function = told(self.functions, len(values), source).astype(np.int64)
        a, b = self.family
        mine = hashed(a[function], b[function], self.keys(values), self.cells)
        return (function * self.cells + self._told(mine, source)).astype(self.report_type)

    def _fits(self, reports: Array) -> Truths:
        return reports < self.outcomes

    def _add(self, table: Integers, reports: Array) -> None:
        count_numbers(reports, table)

    def supports(self, tally: Tally) -> Integers:
        counts, keys = np.zeros(self.domain, np.int64), self.keys(np.arange(self.domain)).astype(np.uint64)

        def work(low: int, high: int) -> None:
            for start in range(low, high, VALUES_AT_ONCE):
                stop = min(start + VALUES_AT_ONCE, high)
                _look_up(*self.family, tally.table, keys[start:stop], counts[start:stop])

        over_ranges(self.domain, work, 64)
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
def _look_up(a: Words, b: Words, table: Integers, keys: Words, counts: Integers) -> None:
    """Add C_x of these keys: the cell of each by every function."""
    half, cells = np.uint64(32), np.uint64(table.shape[1])
    for s in range(table.shape[0]):
        row, add, factor = table[s], b[s] & np.uint64(0xFFFF_FFFF_0000_0000), a[s]
        for x in range(counts.size):
            counts[x] += row[(keys[x] * factor + add >> half) * cells >> half]


def scatter(values: Integers) -> Integers:
    """A bijection of the numbers of 32 bits under which evenly spaced ones no longer are: int64 (n,)."""
    x = values.astype(np.uint32)
    for shift, factor in ((16, 0x85EB_CA6B), (13, 0xC2B2_AE35)):
        x = (x ^ x >> np.uint32(shift)) * np.uint32(factor)
    return (x ^ x >> np.uint32(16)).astype(np.int64)
