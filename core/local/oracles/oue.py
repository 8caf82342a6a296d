"""Optimised unary encoding (Wang, Blocki, Li, Jha 2017).

The own bit is a fair coin, p = 1/2, as few people have any one value; others are set with q = 1/(E + 1), the least
Q/2^64 for which the ratio of `unary`, which is (1 - q)/q, is at most A/B. Its variance is 4nE/(E - 1)² for a value that
nobody has; a report takes d bits.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...privacy.noise.responses import UNIT, WORD
from .unary import Unary


@dataclass(frozen=True)
class OptimisedUnary(Unary):
    """Bits of others are set seldom."""

    name = "oue"
    title = "optimised unary encoding"
    paper = "Wang, Blocki, Li, Jha 2017"

    @property
    def thresholds(self) -> tuple[int, int]:
        return WORD >> 1, -(-WORD * UNIT // (self.surplus + 2 * UNIT))
