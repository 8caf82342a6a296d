"""Columns of numbers between public bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from ..checks import check_text
from .column import Mask, as_float64, checked_bounds


@dataclass(frozen=True)
class Numeric:
    """A number between two public bounds.

    Parameters
    ----------
    name : str
        Column name.
    low, high : float
        Finite bounds, in the column's own unit; ``low < high``. Think of anyone, not of the people in the data.
    unit : str
        Unit of measure, for people to read ("cm", "EUR a month").
    """

    name: str
    low: float
    high: float
    unit: str = ""
    kind: ClassVar[str] = "numeric"
    width: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_text(self.name, "A column name")
        low, high = checked_bounds(self.name, self.low, self.high)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        if self.unit != "":
            check_text(self.unit, f"The unit of {self.name!r}")

    @property
    def characters(self) -> int:
        """Length of its name and unit, which every release file holds."""
        return len(self.name) + len(self.unit)

    def bounds(self, amplitude: float) -> tuple[float, float]:
        """Least and greatest coordinate, before any scaling."""
        return self.low, self.high

    def read_into(self, out: np.ndarray, array: pa.Array, amplitude: float) -> tuple[Mask, Mask]:
        """Write the values into ``out`` (n, 1); return the rows that miss a value, and the rows of unknown category."""
        out[:, 0] = as_float64(self.name, array)
        missing = np.isnan(out[:, 0])
        return (missing if missing.any() else None), None
