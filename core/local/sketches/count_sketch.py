"""Count sketches (Charikar, Chen, Farach-Colton 2002) under local noise.

A value has a public sign in each row beside its cell, and cell and sign together are reported by an oracle over 2m
signed cells. The difference of a cell's two counts, times the sign of x, has mean f_x: others come with either sign
equally often.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...machine.array_types import Floats
from ..tally import Tally
from .sketch import CellSketch


@dataclass(frozen=True)
class CountSketch(CellSketch):
    """Cells are counted with signs."""

    name = "count-sketch"
    signed = True

    def combined(self, rows: Floats, tally: Tally, how: str) -> Floats:
        return np.asarray(rows.sum(axis=0) if how == "mean" else self.rows * np.median(rows, axis=0))
