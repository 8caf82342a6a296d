"""Symmetric unary encoding, as basic one-time RAPPOR has it (Erlingsson, Pihur, Korolova 2014).

Every bit is reported as it is with probability p, and flipped with probability q = 1 - p. The ratio of `unary` is then
(p/(1 - p))², so p is the largest P/2^64 whose square odds are at most A/B: p = √E/(√E + 1). Its variance is
n√E/(√E - 1)² for a value that nobody has; a report takes d bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ...privacy.noise.responses import UNIT, WORD
from .unary import Unary


@dataclass(frozen=True)
class SymmetricUnary(Unary):
    """Both kinds of bits are flipped equally often."""

    name = "sue"
    title = "symmetric unary encoding"
    paper = "Erlingsson, Pihur, Korolova 2014"

    @cached_property
    def thresholds(self) -> tuple[int, int]:
        own = symmetric_threshold(self.surplus)
        return own, WORD - own


def symmetric_threshold(surplus: int, bits: int = 2) -> int:
    """The largest P for which odds P/(2^64 - P) to the power `bits` are at most A/B, by halving."""
    low, high = WORD >> 1, WORD - 1
    while low < high:
        middle = (low + high + 1) // 2
        if middle**bits * UNIT <= (surplus + UNIT) * (WORD - middle) ** bits:
            low = middle
        else:
            high = middle - 1
    return low
