"""Columns of vectors, whose numbers all lie between the same public bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..checks import check_integer, check_text
from ..errors import RequestError
from .column import Mask, as_float64, checked_bounds, describe_type, is_list, to_numpy

MAX_VECTOR = 100_000
SURVEYED = 1 << 17
"""Numbers whose extremes are looked for at a time: the second look finds them in a second-level cache."""


@dataclass(frozen=True)
class Vector:
    """A list of ``length`` numbers a record (an embedding, a spectrum), each between the same two public bounds."""

    name: str
    length: int
    low: float
    high: float
    unit: str = ""
    kind: ClassVar[str] = "vector"

    def __post_init__(self) -> None:
        check_text(self.name, "A column name")
        length = check_integer(self.length, f"The length of {self.name!r}", 1, MAX_VECTOR)
        low, high = checked_bounds(self.name, self.low, self.high)
        for field, value in (("length", length), ("low", low), ("high", high)):
            object.__setattr__(self, field, value)
        if self.unit != "":
            check_text(self.unit, f"The unit of {self.name!r}")

    @property
    def width(self) -> int:
        return self.length

    @property
    def characters(self) -> int:
        """Length of its name and unit, which every release file holds."""
        return len(self.name) + len(self.unit)

    def bounds(self, amplitude: float) -> tuple[float, float]:
        """Least and greatest coordinate, before any scaling."""
        return self.low, self.high

    @property
    def field(self) -> str:
        """The source's column that it is read from."""
        return self.name

    @property
    def as_written(self) -> bool:
        """Whether a text table gives its values as they are written."""
        return True

    @property
    def measure(self) -> str:
        """The unit in which records are compared along it."""
        return self.unit

    @property
    def span(self) -> float:
        """How far apart its bounds are, where columns are compared in their own units."""
        return self.high - self.low

    def scaling(self, scale: str) -> tuple[float, float]:
        """What is subtracted from its numbers and what they are divided by then, so that columns can be compared."""
        return (self.low, self.high - self.low) if scale == "box" else (0.0, 1.0)

    def ask_into(self, out: np.ndarray, array: pa.Array, amplitude: float) -> tuple[Mask, Mask]:
        """The same as `read_into` for lists that are asked about."""
        return self.read_into(out, array, amplitude)

    def read_into(self, out: np.ndarray, array: pa.Array, amplitude: float) -> tuple[Mask, Mask]:
        """Write the lists into ``out`` (n, length); a list that misses an entry is a missing value."""
        if pa.types.is_null(array.type):
            out[:] = np.nan
            return np.ones(len(array), dtype=bool), None
        if not is_list(array.type):
            raise RequestError(
                f"The column {self.name!r} holds {describe_type(array.type)} where lists of {self.length} numbers "
                "are expected."
            )
        if not self._has_length(array):
            raise RequestError(
                f"The column {self.name!r} must hold lists of {self.length} numbers, and some have another length."
            )
        entries = as_float64(self.name, array.flatten()).reshape(-1, self.length)
        if array.null_count:
            out[:] = np.nan
            out[to_numpy(pc.is_valid(array))] = entries
        else:
            out[:] = entries
        missing = np.isnan(out).any(axis=1)
        return (missing if missing.any() else None), None

    def rows(self, array: pa.Array, clamp: bool) -> np.ndarray | None:
        """The lists as they lie in memory, float32 or float64 (n, length) in C order, or clamped in a float64 copy.

        None where a list or an entry is missing, where one is outside the bounds and not to be clamped, and for numbers
        of other types.
        """
        if not is_list(array.type) or array.null_count or not pa.types.is_floating(array.type.value_type):
            return None
        entries = array.flatten()
        if entries.null_count or pa.types.is_float16(entries.type) or len(entries) != len(array) * self.length:
            return None
        if not pa.types.is_fixed_size_list(array.type) and not self._has_length(array):
            return None
        rows = to_numpy(entries).reshape(-1, self.length)
        step = max(1, SURVEYED // self.length)
        extremes = [(part.min(), part.max()) for part in np.split(rows, range(step, len(rows), step)) if len(part)]
        if not extremes:
            return rows
        # Of NaN and anything the extremes are NaN, which no comparison holds for.
        lows, highs = zip(*extremes, strict=True)
        least, most = float(np.min(lows)), float(np.max(highs))
        if self.low <= least and most <= self.high:
            return rows
        if not clamp or math.isnan(least) or math.isnan(most):
            return None
        return np.clip(rows.astype(np.float64), self.low, self.high) + 0.0

    def _has_length(self, array: pa.Array) -> bool:
        return not pc.any(pc.not_equal(pc.list_value_length(array), self.length)).as_py()
