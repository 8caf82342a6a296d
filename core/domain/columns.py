"""One column of a domain: what anyone could have in it, and how its values become coordinates.

Everything here is public knowledge typed by a person; nothing is ever computed from the data.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..checks import check_integer, check_number, check_text, exact_fields, field_names
from ..errors import RequestError
from .item_keys import item_keys
from .matching import is_number, whole_numbers
from .sets import Sets

MAX_CATEGORIES = 10_000
MAX_VECTOR = 100_000
SURVEYED = 1 << 17
"""Numbers whose extremes are looked for at a time: the second look finds them in a second-level cache."""
FARTHEST_BOUND = 1e100
"""No bound is further from zero: sums of squared coordinates, and what is made of them, are finite numbers then."""

_DIGITS = re.compile("0|-?[1-9][0-9]*")

Mask = np.ndarray | None
"""True for the rows that are meant; None says cheaply that there is none."""


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
        low, high = _checked_bounds(self.name, self.low, self.high)
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
        out[:, 0] = _as_float64(self.name, array)
        missing = np.isnan(out[:, 0])
        return (missing if missing.any() else None), None


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
        low, high = _checked_bounds(self.name, self.low, self.high)
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
        entries = _as_float64(self.name, array.flatten()).reshape(-1, self.length)
        if array.null_count:
            out[:] = np.nan
            out[_to_numpy(pc.is_valid(array))] = entries
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
        rows = _to_numpy(entries).reshape(-1, self.length)
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


@dataclass(frozen=True)
class Categorical:
    """One of a public list of categories.

    Texts are compared exactly, a boolean is ``"true"`` or ``"false"``, and a number is the text of its digits
    (`core.domain.matching`): 1 and 1.0 alike match ``"1"``. Where that is not on the list, and another way to write the
    same number is, such as ``"01"``, they match this: no two numbers ever match one category. A value that is not on
    the list is of *unknown* category; it has no nearest category, so nothing can clamp it.
    """

    name: str
    categories: tuple[str, ...]
    kind: ClassVar[str] = "categorical"

    def __post_init__(self) -> None:
        check_text(self.name, "A column name")
        if isinstance(self.categories, str) or not isinstance(self.categories, Sequence):
            raise RequestError(f"The categories of {self.name!r} must be a list of texts.")
        categories = tuple(self.categories)
        if not 2 <= len(categories) <= MAX_CATEGORIES:
            raise RequestError(
                f"The column {self.name!r} needs between 2 and {MAX_CATEGORIES:,} categories, not {len(categories):,}."
            )
        for category in categories:
            check_text(category, f"A category of {self.name!r}")
        if len(set(categories)) < len(categories):
            raise RequestError(f"The categories of {self.name!r} must be different from each other.")
        object.__setattr__(self, "categories", categories)

    @property
    def width(self) -> int:
        return len(self.categories)

    @property
    def characters(self) -> int:
        """Length of its name and categories, which every release file holds."""
        return len(self.name) + sum(map(len, self.categories))

    def bounds(self, amplitude: float) -> tuple[float, float]:
        """Least and greatest coordinate: one-hot, with the amplitude of the metric."""
        return 0.0, amplitude

    def read_into(self, out: np.ndarray, array: pa.Array, amplitude: float) -> tuple[Mask, Mask]:
        """Write one-hot rows into ``out`` (n, categories); a row that is missing or unknown is all zero."""
        missing = _to_numpy(pc.is_null(array, nan_is_null=True)) if _may_miss(array) else None
        codes = self.codes(array)
        known = codes >= 0
        out[:] = 0.0
        if known.all():
            out[np.arange(len(codes)), codes] = amplitude
            return None, None
        out[np.flatnonzero(known), codes[known]] = amplitude
        unknown = ~known if missing is None else ~known & ~missing
        return (missing if missing is not None and missing.any() else None), (unknown if unknown.any() else None)

    def codes(self, array: pa.Array) -> np.ndarray:
        """Index of each value in the list of categories, int32 (n,); -1 where it is missing or not on the list."""
        if pa.types.is_dictionary(array.type):
            by_code = pa.array(np.append(self.codes(array.dictionary), -1).astype(np.int32))
            return _to_numpy(by_code.take(pc.fill_null(array.indices, len(by_code) - 1)))
        if is_number(array.type):
            known, places = self._numeric_categories
            array = pc.cast(whole_numbers(array, f"The column {self.name!r}"), pa.large_string())
        else:
            try:
                array = pc.cast(array, pa.large_string())
            except pa.ArrowException:
                raise RequestError(
                    f"The column {self.name!r} holds {describe_type(array.type)} where categories are expected."
                ) from None
            known, places = pa.array(self.categories, pa.large_string()), np.arange(self.width, dtype=np.int32)
        found = _to_numpy(pc.fill_null(pc.index_in(array, value_set=known, skip_nulls=True), len(known)))
        return np.append(places, np.int32(-1))[found]

    @cached_property
    def _numeric_categories(self) -> tuple[pa.Array, np.ndarray]:
        """The digits of every category that is a whole number, and their places; plain digits before equals."""
        places = {category: place for place, category in self._digits_first if _DIGITS.fullmatch(category)}
        for place, category in self._digits_first:
            try:
                value = float(category)
            except ValueError:
                continue
            if value.is_integer() and abs(value) < 2**53:
                places.setdefault(str(int(value)), place)
        return pa.array(list(places), pa.large_string()), np.fromiter(places.values(), np.int32, len(places))

    @property
    def _digits_first(self) -> list[tuple[int, str]]:
        return sorted(enumerate(self.categories), key=lambda entry: _DIGITS.fullmatch(entry[1]) is None)


@dataclass(frozen=True)
class Items:
    """A set of items a record: what is in a basket, which tags a text bears, whom a person follows.

    An item is any text or number (`core.domain.item_keys` says which of them are one); how often it stands in a set,
    and where, means nothing. There is no public list of items and no bound on how many a set may have.

    Parameters
    ----------
    name : str
        Column name.
    gathered : bool
        False where the column holds whole sets: lists, or texts that ``separator`` cuts into items. True where every
        row of the source holds one item, and all rows of one value of the privacy unit's column are one set.
    separator : str | None
        Text between the items of a set; blanks around an item are left out, and so are empty items.
    """

    name: str
    gathered: bool = False
    separator: str | None = None
    kind: ClassVar[str] = "items"
    width: ClassVar[int] = 0
    """A set has no coordinates."""

    def __post_init__(self) -> None:
        check_text(self.name, "A column name")
        if not isinstance(self.gathered, bool):
            raise RequestError(f"Whether the sets of {self.name!r} are gathered from rows must be true or false.")
        if self.separator is not None:
            check_text(self.separator, f"The separator of {self.name!r}")
            if self.gathered:
                raise RequestError(
                    f"The column {self.name!r} has one item a row where sets are gathered, so nothing separates items."
                )

    @property
    def characters(self) -> int:
        """Length of its name and separator, which every release file holds."""
        return len(self.name) + len(self.separator or "")

    def read_sets(self, array: pa.Array) -> Sets:
        """The sets of an Arrow array, one a value; a missing value is an empty set, and missing items are left out.

        Raises
        ------
        RequestError
            When the values are neither lists of items nor texts to be cut.
        """
        what = f"The column {self.name!r}"
        if self.separator is not None and not is_list(array.type):
            array = self._cut(array)
        if pa.types.is_null(array.type):
            return Sets.of_sizes(np.zeros(len(array), np.int64), np.empty(0, np.uint64))
        if not is_list(array.type):
            other = (
                ""
                if self.separator
                else (
                    "; where a row holds one item, gather the rows of one set, and where it holds a text of many, say "
                    "what "
                    "separates them"
                )
            )
            raise RequestError(f"{what} holds {describe_type(array.type)} where lists of items are expected{other}.")
        sizes = _to_numpy(pc.fill_null(pc.list_value_length(array), 0)).astype(np.int64)
        keys, present = item_keys(array.flatten(), what)
        sets = Sets.of_sizes(sizes, keys)
        if present is None:
            return sets
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(present, dtype=np.int64)])
        return Sets(before[sets.first], keys[present])

    def _cut(self, array: pa.Array) -> pa.Array:
        """Lists of texts from texts."""
        try:
            texts = pc.cast(array, pa.large_string())
        except pa.ArrowException:
            raise RequestError(
                f"The column {self.name!r} holds {describe_type(array.type)} where lists, or texts to be cut, are "
                "expected."
            ) from None
        lists = pc.split_pattern(texts, self.separator)
        items = pc.utf8_trim_whitespace(lists.values)
        items = pc.if_else(pc.equal(items, ""), None, items)
        return pa.LargeListArray.from_arrays(pc.cast(lists.offsets, pa.int64()), items)


Column = Numeric | Categorical | Vector | Items


def column_to_dict(column: Column) -> dict:
    """A value for JSON from which `column_from_dict` makes an equal column, bit for bit."""
    facts = {name: getattr(column, name) for name in field_names(type(column))}
    if isinstance(column, Categorical):
        facts["categories"] = list(column.categories)
    return {"kind": column.kind, **facts}


def column_from_dict(value: object) -> Column:
    """The column that `column_to_dict` wrote down; RequestError on anything else."""
    kinds = {kind.kind: kind for kind in (Numeric, Categorical, Vector, Items)}
    name = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(name, str) or name not in kinds:
        raise RequestError(f"A column of a domain must say its kind: {', '.join(kinds)}.")
    facts = exact_fields(value, f"{name} column", ["kind", *field_names(kinds[name])])
    del facts["kind"]
    return kinds[name](**facts)


def describe_type(kind: pa.DataType) -> str:
    """What a column of this type holds, in words."""
    if pa.types.is_dictionary(kind):
        return describe_type(kind.value_type)
    if pa.types.is_boolean(kind):
        return "true/false values"
    if pa.types.is_temporal(kind):
        return "dates or times"
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return "text"
    if is_list(kind):
        return "lists"
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "numbers"
    return f"values of type {kind}"


def _checked_bounds(name: str, low: object, high: object) -> tuple[float, float]:
    least = check_number(low, f"The smallest value of {name!r}")
    greatest = check_number(high, f"The largest value of {name!r}")
    if not least < greatest:
        raise RequestError(f"The smallest value of {name!r} must be below its largest.")
    if max(abs(least), abs(greatest)) > FARTHEST_BOUND:
        raise RequestError(
            f"The bounds of {name!r} must lie between -{FARTHEST_BOUND:g} and {FARTHEST_BOUND:g}, so that squares of "
            "distances are numbers; use a larger unit."
        )
    return least, greatest


def _as_float64(name: str, array: pa.Array) -> np.ndarray:
    """Numbers (and booleans, as 0 and 1) as float64, NaN where one is missing; anything else gets one sentence."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        array, kind = array.dictionary_decode(), kind.value_type
    if pa.types.is_temporal(kind):
        raise RequestError(
            f"The column {name!r} holds dates or times where numbers are expected: turn them into a number first, "
            "for example days since a fixed date or the hour of the day, and give bounds for that number."
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
            "or declare it as a column of categories."
        )
    if kind != pa.float64():
        array = pc.cast(array, pa.float64(), safe=False)
    return _to_numpy(array)


def _may_miss(array: pa.Array) -> bool:
    return array.null_count > 0 or pa.types.is_dictionary(array.type) or pa.types.is_floating(array.type)


def _to_numpy(array: pa.Array) -> np.ndarray:
    return array.to_numpy(zero_copy_only=False)


def is_list(kind: pa.DataType) -> bool:
    """Whether the values of an Arrow type are lists, of one length or of any."""
    return pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
