"""Optimal local hashing (Wang, Blocki, Li, Jha 2017): g = round(E) + 1 cells, where the variance of hashing is least.

(E - 1 + g)²/((E - 1)²(g - 1)) has its minimum 4E/(E - 1)² at g = E + 1: as little as optimised unary encoding, for a
report of a hash function and a cell however large the domain is.
"""

from __future__ import annotations

from dataclasses import dataclass

from .local_hashing import LocalHashing


@dataclass(frozen=True)
class OptimalHashing(LocalHashing):
    """As many cells as leave the least variance."""

    name = "olh"
    title = "optimal local hashing"
    paper = "Wang, Blocki, Li, Jha 2017"

    @property
    def cells(self) -> int:
        return round(self.odds) + 1
