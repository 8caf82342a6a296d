"""Columns of numbers between public bounds, and of vectors of such numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import RequestError
from ..runtime.counter_tables import Floats
from ..runtime.parameters import check_choice, check_integer, check_number, check_text
from .column import Mask, ReadColumn, Scalar, as_float64, check_gap, checked_bounds, describe_type, is_list, to_numpy
from .written import Reading

SCALES = ("", "log")
# Where a column of amounts says no step, what counts as nearly nothing: of one that holds no zero a part of its least
# amount, and of one that does so much of its greatest one that a thousand million has ones.
A_SIXTEENTH, THIRTY_DOUBLINGS = 16.0, 2.0**-30
MOST_TIMES = 2.0**1000  # Of the finest amount: what infinite ones count as.
BEND = 11.0 / 32.0  # Which makes the parabola of `Doublings` differ from the logarithm by less than 0.01.


@dataclass(frozen=True)
class Doublings:
    """The scale on which amounts that have equal ratios are equally far apart, in doublings:

        x  ->  sign(x) lb(1 + |x| / finest),

    so amounts below the finest are as good as nothing, and zero and debts have places too. In place of the logarithm to
    the base 2 stands the whole number of doublings with a parabola for the rest, t -> t + 11/32 t (1 - t) with t from 0
    to 1: less than 0.01 doublings from it, and computed by single operations that every machine rounds alike, so that a
    record is in the same cell everywhere. It increases, and has an inverse in closed form.
    """

    finest: float

    @np.errstate(over="ignore")  # a warning would tell of a record
    def of(self, numbers: Floats) -> Floats:
        """Doublings of numbers, float64; of NaN, NaN."""
        mantissa, exponent = np.frexp(1.0 + np.minimum(np.abs(numbers) / self.finest, MOST_TIMES))
        rest = 2.0 * mantissa - 1.0
        return np.copysign((exponent - 1.0) + (rest + BEND * (rest * (1.0 - rest))), numbers)

    def back(self, places: Floats) -> Floats:
        """The numbers of so many doublings."""
        size = np.minimum(np.abs(places), 1_000.0)
        whole = np.floor(size)
        once = 1.0 + BEND
        rest = (once - np.sqrt(once * once - 4.0 * BEND * (size - whole))) / (2.0 * BEND)
        grown = np.ldexp(1.0 + rest, np.where(np.isnan(whole), 0.0, whole).astype(np.int64))
        return np.copysign((grown - 1.0) * self.finest, places)


@dataclass(frozen=True)
class Numeric(Scalar):
    """A number between two public bounds.

    Parameters
    ----------
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
    scale : str
        "log" for amounts, of which equal ratios are equally far apart (see `Doublings`): cells, quantiles, closeness
        and pictures follow it. "" where equal differences are.
    """

    name: str
    low: float
    high: float
    unit: str = ""
    reading: Reading | None = None
    step: float = 0.0
    missing_category: str = ""
    scale: str = ""
    kind: ClassVar[str] = "numeric"
    later: ClassVar[tuple[str, ...]] = ("reading", "step", "missing_category", "scale")

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
        check_choice(self.scale, f"The scale of {self.name!r}", SCALES)

    @cached_property
    def doublings(self) -> Doublings | None:
        """The scale of amounts; None where numbers are compared by their differences."""
        if not self.scale:
            return None
        nearest = min(abs(self.low), abs(self.high)) if self.low * self.high > 0.0 else 0.0
        farthest = max(abs(self.low), abs(self.high))
        return Doublings(self.step or nearest / A_SIXTEENTH or farthest * THIRTY_DOUBLINGS)

    @property
    def measure(self) -> str:
        return self.unit if self.doublings is None else "doublings"

    @property
    def span(self) -> float:
        low, high = self.bounds(1.0)
        return high - low

    def bounds(self, amplitude: float) -> tuple[float, float]:
        low, high = self.placed(np.array([self.low, self.high])).tolist()
        return low, high

    def scaling(self, scale: str) -> tuple[float, float]:
        low, high = self.bounds(1.0)
        return (low, high - low) if scale == "box" else (0.0, 1.0)

    def placed(self, numbers: Floats) -> Floats:
        return numbers if self.doublings is None else self.doublings.of(numbers)

    def between(self, places: Floats) -> Floats:
        return places if self.doublings is None else self.doublings.back(places)

    @property
    def as_written(self) -> bool:
        return self.reading is not None

    @property
    def characters(self) -> int:
        reading = 0 if self.reading is None else self.reading.characters
        return super().characters + len(self.missing_category) + reading

    @property
    def spacing(self) -> float:
        return 0.0 if self.scale else self.step

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
        return Numeric(
            self.name, self.low, self.high, self.unit, step=self.step if self.scale else 0.0, scale=self.scale
        )


MAX_VECTOR = 100_000
# Numbers whose extremes are looked for at a time: the second look finds them in a second-level cache.
SURVEYED = 1 << 17


@dataclass(frozen=True)
class Vector(ReadColumn):
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
    def span(self) -> float:
        """How far apart its bounds are, where columns are compared in their own units."""
        return self.high - self.low

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
