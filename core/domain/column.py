"""What columns share: how values come from frames and are told apart by type, and how one number is coordinates."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import RequestError
from ..runtime.counter_tables import Array, Floats
from ..runtime.parameters import check_number, check_text

# No bound is further from zero: sums of squared coordinates, and what is made of them, are finite numbers then.
# Nor are two any nearer to each other: shares of what lies between them are numbers, too.
FARTHEST_BOUND, NEAREST_BOUNDS = 1e100, 1e-100

Mask = np.ndarray | None  # True for the rows that are meant; None says cheaply that there is none.


def describe_type(kind: pa.DataType) -> str:
    """What a column of this type holds, in words."""
    if pa.types.is_dictionary(kind):
        return describe_type(kind.value_type)
    if pa.types.is_boolean(kind):
        return "true/false values"
    if pa.types.is_temporal(kind):
        return "dates or times"
    if is_text(kind):
        return "text"
    if is_list(kind):
        return "lists"
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "numbers"
    return f"values of type {kind}"


def checked_bounds(name: str, low: object, high: object) -> tuple[float, float]:
    least = check_number(low, f"The smallest value of {name!r}")
    greatest = check_number(high, f"The largest value of {name!r}")
    if not least < greatest:
        raise RequestError(f"The smallest value of {name!r} must be below its largest.")
    if max(abs(least), abs(greatest)) > FARTHEST_BOUND:
        raise RequestError(
            f"The bounds of {name!r} must lie between -{FARTHEST_BOUND:g} and {FARTHEST_BOUND:g}, so that squares of "
            "distances are numbers; use a larger unit."
        )
    if greatest - least < NEAREST_BOUNDS:
        raise RequestError(
            f"The bounds of {name!r} must be {NEAREST_BOUNDS:g} apart or more, so that shares of what lies between "
            "them are numbers; use a smaller unit."
        )
    return least, greatest


def check_gap(name: str, label: object) -> None:
    """RequestError unless a label of those who miss a value of the column is a text, or "" for none."""
    if label != "":
        check_text(label, f"What those without a value of {name!r} are called")


def as_float64(name: str, array: pa.Array) -> np.ndarray:
    """Numbers (and booleans, as 0 and 1) as float64, NaN where one is missing; anything else gets one sentence."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        array, kind = array.dictionary_decode(), kind.value_type
    if pa.types.is_temporal(kind):
        raise RequestError(
            f"The column {name!r} holds dates or times where numbers are expected: declare it as a date, with a first "
            "and a last one, or as the hour, weekday or month of it."
        )
    if not (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_null(kind)
    ):
        raise RequestError(
            f"The column {name!r} holds {describe_type(kind)} where numbers are expected: convert it to numbers, "
            "say how they are written, or declare it as a column of categories."
        )
    if kind != pa.float64():
        array = pc.cast(array, pa.float64(), safe=False)
    return to_numpy(array)


def may_miss(array: pa.Array) -> bool:
    return bool(array.null_count > 0 or pa.types.is_dictionary(array.type) or pa.types.is_floating(array.type))


def to_numpy(array: pa.Array) -> Array:
    values: Array = array.to_numpy(zero_copy_only=False)
    return values


def is_text(kind: pa.DataType) -> bool:
    """Whether the values of an Arrow type are texts."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_list(kind: pa.DataType) -> bool:
    """Whether the values of an Arrow type are lists, of one length or of any."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


class ReadColumn:
    """What every column that is read from a source says of itself, unless its kind says otherwise."""

    kind: ClassVar[str]
    # Fields that files of earlier versions don't have; they are written where they say something.
    later: ClassVar[tuple[str, ...]] = ()

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
        """The unit in which records are compared along it; "" where it has none."""
        return getattr(self, "unit", "")

    def bounds(self, amplitude: float) -> tuple[float, float]:
        """Least and greatest coordinate, before any scaling."""
        return self.low, self.high

    def scaling(self, scale: str) -> tuple[float, float]:
        """What is subtracted from its numbers and what they are divided by then, so that columns can be compared."""
        return (self.low, self.high - self.low) if scale == "box" else (0.0, 1.0)


class Scalar(ReadColumn):
    """A column with one coordinate between two public bounds; each kind says how values become that number."""

    width: ClassVar[int] = 1

    @property
    def said_unit(self) -> str:
        """The unit as it stands beside the name; "" where one says the other again: "hour of the day", "Fee (EUR)"."""
        name, unit = self.name.casefold(), self.unit.casefold()
        return "" if name in unit.split() or unit in re.split(r"[\s()\[\]_,/]+", name) else self.unit

    @property
    def spacing(self) -> float:
        """What lies between two neighbouring numbers that anyone could have; 0 where any may occur."""
        return 0.0

    @property
    def span(self) -> float:
        """How far apart its bounds are, where columns are compared in their own units."""
        return (self.high - self.low) / self.scaling("none")[1]

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

    def placed(self, numbers: Floats) -> Floats:
        """Coordinates, before any scaling, of numbers in the column's own unit; the same but for amounts."""
        return numbers

    def between(self, places: Floats) -> Any:
        """What is at such coordinates: numbers in the column's own unit, or dates."""
        return places

    def _into(self, out: np.ndarray, numbers: Floats) -> tuple[Mask, Mask]:
        out[:, 0] = self.placed(numbers)
        missing = np.isnan(numbers)
        return (missing if missing.any() else None), None


def arrow_table(data: object, names: Sequence[str], what: str = "The data") -> pa.Table:
    """The named columns of a pandas frame, an Arrow table or batch, or a mapping from name to values.

    Further columns are ignored. A 2-d NumPy array inside a mapping is a column of vectors.
    """
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    if isinstance(data, (pa.Table, pd.DataFrame)):
        present = data.column_names if isinstance(data, pa.Table) else list(data.columns)
    elif isinstance(data, Mapping):
        present = list(data)
    else:
        raise RequestError(f"{what} must be a table with named columns: a pandas frame, an Arrow table or a mapping.")
    for name in names:
        if present.count(name) != 1:
            problem = "no column" if name not in present else "more than one column"
            raise RequestError(f"{what} must have one column {name!r}, and there is {problem} of that name.")
    if isinstance(data, pa.Table):
        return data.select(list(names))
    arrays = [arrow_array(data[name], name) for name in names]
    if len({len(array) for array in arrays}) > 1:
        raise RequestError(f"{what} must have columns of the same length.")
    return pa.Table.from_arrays(arrays, names=list(names))


def arrow_array(values: object, name: str) -> pa.Array | pa.ChunkedArray:
    """One column as Arrow; NaN and None alike become missing values."""
    try:
        if isinstance(values, (pa.Array, pa.ChunkedArray)):
            return values
        if isinstance(values, (pd.Series, pd.Index)):
            return pa.array(values, from_pandas=True)
        if isinstance(values, (list, tuple)):
            # NumPy would give all values one type, so that one person's text made texts of everyone's numbers.
            return pa.array(list(values), from_pandas=True)
        array = np.asarray(values)
        if array.ndim == 2:
            # Not from_pandas: NaN in a vector is a missing entry as it is, and looking for it would be one more pass.
            flat = pa.array(np.ascontiguousarray(array).reshape(-1))
            return pa.FixedSizeListArray.from_arrays(flat, array.shape[1])
        return pa.array(np.atleast_1d(array) if array.dtype != object else list(np.atleast_1d(array)), from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        # The library's own message would repeat the value.
        raise RequestError(f"The column {name!r} mixes values of different types; give it one type.") from None


def either(*masks: Mask) -> Mask:
    """Rows that any of the masks means."""
    present = [mask for mask in masks if mask is not None]
    return np.logical_or.reduce(present) if present else None
