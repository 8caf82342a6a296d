"""What all columns share whose value is one number between two public ones: numbers, dates, places on a scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from ..machine.array_types import Floats
from .column import Mask, as_float64


class Scalar:
    """A column with one coordinate between two public bounds; each kind says how values become that number."""

    kind: ClassVar[str]
    width: ClassVar[int] = 1
    later: ClassVar[tuple[str, ...]] = ()
    """Fields that files of earlier versions don't have; they are written where they say something."""

    if TYPE_CHECKING:  # fields of some kinds, computed by others
        name: str

        @property
        def low(self) -> float:
            """Least number that anyone could have."""

        @property
        def high(self) -> float:
            """Greatest number that anyone could have."""

        @property
        def unit(self) -> str:
            """Unit of measure, for people to read."""

    @property
    def field(self) -> str:
        """The source's column that it is read from."""
        return getattr(self, "of", "") or self.name

    @property
    def as_written(self) -> bool:
        """Whether a text table gives its values as they are written, and not as numbers."""
        return True

    @property
    def characters(self) -> int:
        """Length of its name and unit, which every release file holds."""
        return len(self.name) + len(self.unit)

    @property
    def measure(self) -> str:
        """The unit in which records are compared along it."""
        return self.unit

    @property
    def said_unit(self) -> str:
        """The unit as it stands beside the name; "" where it says the name again, as "hour of the day" of an hour."""
        return "" if self.name.casefold() in self.unit.casefold().split() else self.unit

    @property
    def spacing(self) -> float:
        """What lies between two neighbouring numbers that anyone could have; 0 where any may occur."""
        return 0.0

    @property
    def span(self) -> float:
        """How far apart its bounds are, where columns are compared in their own units."""
        return (self.high - self.low) / self.scaling("none")[1]

    def bounds(self, amplitude: float) -> tuple[float, float]:
        """Least and greatest coordinate, before any scaling."""
        return self.low, self.high

    def scaling(self, scale: str) -> tuple[float, float]:
        """What is subtracted from its numbers and what they are divided by then, so that columns can be compared."""
        return (self.low, self.high - self.low) if scale == "box" else (0.0, 1.0)

    def read_into(self, out: np.ndarray, array: pa.Array, amplitude: float) -> tuple[Mask, Mask]:
        """Write the values into ``out`` (n, 1); return the rows that miss a value, and the rows of unknown category."""
        return self._into(out, self.numbers(array))

    def ask_into(self, out: np.ndarray, array: pa.Array, amplitude: float) -> tuple[Mask, Mask]:
        """The same for values that are asked about."""
        return self._into(out, self.asked(array))

    def numbers(self, array: pa.Array) -> Floats:
        """Values of the source as numbers, float64 (n,), NaN where one is missing."""
        return as_float64(self.name, array)

    def asked(self, array: pa.Array) -> Floats:
        """Values that are asked about as numbers, float64 (n,), NaN where one is missing."""
        return as_float64(self.name, array)

    def present(self, numbers: Floats) -> Any:
        """Numbers as people read the values."""
        return numbers

    def _into(self, out: np.ndarray, numbers: Floats) -> tuple[Mask, Mask]:
        out[:, 0] = numbers
        missing = np.isnan(numbers)
        return (missing if missing.any() else None), None
