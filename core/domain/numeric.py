"""Columns of numbers between public bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from ..checks import check_number, check_text
from ..errors import RequestError
from ..machine.array_types import Floats
from .column import as_float64, check_gap, checked_bounds
from .scalar import Scalar
from .written import Reading


@dataclass(frozen=True)
class Numeric(Scalar):
    """A number between two public bounds.

    Parameters
    ----------
    name : str
        Column name.
    low, high : float
        Finite bounds, in the column's own unit; ``low < high``. Think of anyone, not of the people in the data.
    unit : str
        Unit of measure, for people to read ("cm", "EUR a month").
    reading : Reading | None
        How numbers and their absence are written, where they may be texts; what is no number is a missing value then.
        Without it, values must be numbers.
    step : float
        What lies between two values that anyone could have, such as 1 for whole numbers; 0 where any number may occur.
        It says how synthetic numbers look, and where grids have their counters; it moves no record.
    missing_category : str
        What those who have no number are called, where tables count them in a cell of their own; "" leaves them to the
        domain's rule, as every other mechanism does.
    """

    name: str
    low: float
    high: float
    unit: str = ""
    reading: Reading | None = None
    step: float = 0.0
    missing_category: str = ""
    kind: ClassVar[str] = "numeric"
    later: ClassVar[tuple[str, ...]] = ("reading", "step", "missing_category")

    def __post_init__(self) -> None:
        check_text(self.name, "A column name")
        low, high = checked_bounds(self.name, self.low, self.high)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        if self.unit != "":
            check_text(self.unit, f"The unit of {self.name!r}")
        if self.reading is not None and not isinstance(self.reading, Reading):
            raise RequestError(f"How the numbers of {self.name!r} are written must be a Reading.")
        step = check_number(self.step, f"The step of {self.name!r}")
        if not 0.0 <= step <= self.high - self.low:
            raise RequestError(f"The step of {self.name!r} must lie between 0 and the distance of its bounds.")
        object.__setattr__(self, "step", step)
        check_gap(self.name, self.missing_category)

    @property
    def as_written(self) -> bool:
        return self.reading is not None

    @property
    def characters(self) -> int:
        reading = 0 if self.reading is None else self.reading.characters
        return super().characters + len(self.missing_category) + reading

    @property
    def spacing(self) -> float:
        return self.step

    def numbers(self, array: pa.Array) -> Floats:
        if self.reading is None:
            return as_float64(self.name, array)
        return self.reading.beside(self.unit).numbers(self.name, array)

    def present(self, numbers: Floats) -> Any:
        """Numbers as people read them, to the step where there is one."""
        if not self.step:
            return numbers
        return np.clip(self.low + self.step * np.rint((numbers - self.low) / self.step), self.low, self.high)

    @property
    def as_asked(self) -> Numeric:
        """The column of a table of questions, where values are numbers."""
        return Numeric(self.name, self.low, self.high, self.unit)
