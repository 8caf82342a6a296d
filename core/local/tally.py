"""What a collector keeps of reports: whole numbers that add up, and how many people reported."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import RequestError


@dataclass(frozen=True, eq=False)
class Tally:
    """Sums over reports; those of several machines are added.

    Attributes
    ----------
    table : np.ndarray
        int64, of the shape that the oracle says.
    people : int
        How many reports were added.
    """

    table: np.ndarray
    people: int

    def __add__(self, other: Tally) -> Tally:
        if self.table.shape != other.table.shape:
            raise RequestError("Two tallies can be added only when both are of the same survey.")
        return Tally(self.table + other.table, self.people + other.people)
