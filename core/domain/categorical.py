"""Columns of categories from a public list."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..checks import check_text
from ..errors import RequestError
from .column import Mask, describe_type, may_miss, to_numpy
from .matching import is_number, whole_numbers

MAX_CATEGORIES = 10_000
_DIGITS = re.compile("0|-?[1-9][0-9]*")


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
        missing = to_numpy(pc.is_null(array, nan_is_null=True)) if may_miss(array) else None
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
            return to_numpy(by_code.take(pc.fill_null(array.indices, len(by_code) - 1)))
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
        found = to_numpy(pc.fill_null(pc.index_in(array, value_set=known, skip_nulls=True), len(known)))
        codes: np.ndarray = np.append(places, np.int32(-1))[found]
        return codes

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
