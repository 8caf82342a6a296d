"""Binary local hashing (Bassily, Smith 2015): local hashing to g = 2 cells, with one bit beside the hash function."""

from __future__ import annotations

from dataclasses import dataclass

from .local_hashing import LocalHashing


@dataclass(frozen=True)
class BinaryHashing(LocalHashing):
    """Two cells."""

    name = "blh"
    title = "binary local hashing"
    paper = "Bassily, Smith 2015"

    @property
    def cells(self) -> int:
        return 2
