"""Columns of categories from a public list, with an order or without one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import RequestError
from ..runtime.counter_tables import Floats, Integers
from ..runtime.parameters import check_number, check_text
from .column import Mask, ReadColumn, Scalar, checked_bounds, describe_type, is_text, may_miss, to_numpy
from .written import Reading, are_words, checked_words, is_number, whole_numbers

MAX_CATEGORIES = 10_000
_DIGITS = re.compile("0|-?[1-9][0-9]*")


@dataclass(frozen=True)
class Categorical(ReadColumn):
    """One of a public list of categories.

    Texts are compared exactly, and where one is none of them, without regard to case and blanks around it, unless two
    categories would be one then. A boolean is ``"true"`` or ``"false"``, and a number is the text of its digits
    (`core.domain.written`): 1 and 1.0 alike match ``"1"``. Where that is not on the list, and another way to write the
    same number is, such as ``"01"``, they match this: no two numbers ever match one category. A value that is not on
    the list is of *unknown* category; it has no nearest category, so nothing can clamp it.

    Parameters
    ----------
    categories : tuple[str, ...]
        The public list.
    written : tuple[tuple[str, ...], ...]
        How each category is written in the source besides its own name, such as ("1", "m") for "male"; () for none.
    missing : tuple[str, ...]
        Words that mean "missing", such as "n/a"; they and empty texts are compared without regard to case.
    missing_category : str
        The category, one of the list, of whoever has no value or one that is not on the list; "" leaves such values to
        the domain's rule.
    unknown_category : str
        The category, one of the list, of whoever has a value that is not on the list, such as "other"; "" takes it for
        a missing one.
    """

    name: str
    categories: tuple[str, ...]
    written: tuple[tuple[str, ...], ...] = ()
    missing: tuple[str, ...] = ()
    missing_category: str = ""
    unknown_category: str = ""
    kind: ClassVar[str] = "categorical"
    # Fields that files of earlier versions don't have; they are written where they say something.
    later: ClassVar[tuple[str, ...]] = ("written", "missing", "missing_category", "unknown_category")

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
        self._check_written()
        missing = checked_words(self.missing, f"The words for missing in {self.name!r}")
        object.__setattr__(self, "missing", missing)
        if self.missing_category != "" and self.missing_category not in categories:
            raise RequestError(f"The category of missing values of {self.name!r} must be one of its categories.")
        if self.unknown_category != "" and self.unknown_category not in categories:
            raise RequestError(f"The category of unknown values of {self.name!r} must be one of its categories.")

    def _check_written(self) -> None:
        stated = self.written if isinstance(self.written, list | tuple) else (self.written,)
        written = tuple(tuple(texts) if isinstance(texts, list | tuple) else (texts,) for texts in stated)
        if len(written) not in (0, len(self.categories)):
            raise RequestError(f"How the categories of {self.name!r} are written must be said of each, or of none.")
        every = [*self.categories, *(text for texts in written for text in texts)]
        for text in every:
            check_text(text, f"How a category of {self.name!r} is written")
        if len(set(every)) < len(every):
            raise RequestError(f"Each text may be written for one category of {self.name!r} only.")
        object.__setattr__(self, "written", written)

    @property
    def width(self) -> int:
        return len(self.categories)

    @property
    def characters(self) -> int:
        """Length of its name and all texts, which every release file holds."""
        listed = (*self.categories, *self.missing, *(text for texts in self.written for text in texts))
        return len(self.name) + sum(map(len, listed))

    @property
    def as_asked(self) -> Categorical:
        """The column of a table of questions, where values are categories."""
        return Categorical(self.name, self.categories)

    def scaling(self, scale: str) -> tuple[float, float]:
        """What is subtracted from its coordinates and what they are divided by then: categories are left alone."""
        return 0.0, 1.0

    def place(self, points: np.ndarray, rows: np.ndarray, codes: np.ndarray | int, amplitude: float) -> None:
        """Put points (n, width), zero in these rows, at the categories of these places in the list."""
        points[rows, codes] = amplitude

    def nearest(self, points: np.ndarray) -> Integers:
        """The places in the list of the categories nearest to coordinates (n, width), int64 (n,)."""
        codes: Integers = points.argmax(axis=1)
        return codes

    def bounds(self, amplitude: float) -> tuple[float, float]:
        """Least and greatest coordinate: one-hot, with the amplitude of the metric."""
        return 0.0, amplitude

    def read_into(self, out: np.ndarray, array: pa.Array, amplitude: float) -> tuple[Mask, Mask]:
        """Write coordinates into ``out`` (n, width); a row that is missing or unknown is all zero."""
        return self._corners_into(out, *self.coded(array), amplitude)

    def ask_into(self, out: np.ndarray, array: pa.Array, amplitude: float) -> tuple[Mask, Mask]:
        """The same for categories that are asked about."""
        return self._corners_into(out, *self.coded_question(array), amplitude)

    def coded(self, array: pa.Array) -> tuple[np.ndarray, Mask]:
        """Index of each value in the list, -1 where it has none; and the rows that miss a value."""
        missing = self.misses(array) if may_miss(array) or self.missing else None
        codes = self.codes(array)
        if missing is not None:
            codes[missing] = -1
        if self.unknown_category:
            unknown = codes < 0 if missing is None else (codes < 0) & ~missing
            codes[unknown] = self.categories.index(self.unknown_category)
        if self.missing_category:
            codes[codes < 0] = self.categories.index(self.missing_category)
        return codes, missing

    def coded_question(self, array: pa.Array) -> tuple[np.ndarray, Mask]:
        """The same for categories that are asked about."""
        missing = to_numpy(pc.is_null(array, nan_is_null=True)) if may_miss(array) else None
        return self.listed(array), missing

    def absent(self, codes: np.ndarray, missing: Mask) -> tuple[Mask, Mask]:
        """The rows that miss a value, and those whose value is not on the list."""
        lost = codes < 0
        if not lost.any():
            return None, None
        unknown = lost if missing is None else lost & ~missing
        missing = None if missing is None else lost & missing
        return (missing if missing is not None and missing.any() else None), (unknown if unknown.any() else None)

    def _corners_into(self, out: np.ndarray, codes: np.ndarray, missing: Mask, amplitude: float) -> tuple[Mask, Mask]:
        known = np.flatnonzero(codes >= 0)
        out[:] = 0.0
        self.place(out, known, codes if len(known) == len(codes) else codes[known], amplitude)
        return self.absent(codes, missing)

    def misses(self, array: pa.Array) -> np.ndarray:
        """Which values are missing, or words for it."""
        missing = to_numpy(pc.is_null(array, nan_is_null=True))
        if not self.missing:
            return missing
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        if is_text(array.type):
            return missing | to_numpy(pc.fill_null(are_words(array, self.missing), True))
        if is_number(array.type):
            values = Reading(self.missing).numbers(self.name, array)
            return missing | np.isnan(values)
        return missing

    def unlisted(self, array: pa.Array) -> np.ndarray:
        """Which values are there and not on the list, whatever they count as."""
        unlisted: np.ndarray = (self.codes(array) < 0) & ~self.misses(array)
        return unlisted

    def codes(self, array: pa.Array) -> np.ndarray:
        """Index of each value in the list of categories, int32 (n,); -1 where it is missing or not on the list."""
        return self.listed(array)

    def listed(self, array: pa.Array) -> np.ndarray:
        """The same for values that are categories, or are written for them."""
        if pa.types.is_dictionary(array.type):
            by_code = pa.array(np.append(self.listed(array.dictionary), -1).astype(np.int32))
            decoded: np.ndarray = to_numpy(by_code.take(pc.fill_null(array.indices, len(by_code) - 1))).copy()
            return decoded
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
            known, places = self._texts
        codes = _places(array, known, places)
        strays = np.flatnonzero(codes < 0)
        if len(strays) and self._folded is not None:
            plain = pc.utf8_lower(pc.utf8_trim_whitespace(array.take(pa.array(strays))))
            codes[strays] = _places(plain, *self._folded)
        return codes

    @cached_property
    def _folded(self) -> tuple[pa.Array, np.ndarray] | None:
        """Every text in lower case without blanks around it, with its category's place; None where two coincide."""
        plain: dict[str, int] = {}
        for place, text in self._entries:
            if plain.setdefault(text.strip().lower(), place) != place:
                return None
        return pa.array(list(plain), pa.large_string()), np.fromiter(plain.values(), np.int32, len(plain))

    @cached_property
    def _entries(self) -> list[tuple[int, str]]:
        """Every text that is written for a category, with the category's place in the list."""
        entries = list(enumerate(self.categories))
        return entries + [(place, text) for place, texts in enumerate(self.written) for text in texts]

    @cached_property
    def _texts(self) -> tuple[pa.Array, np.ndarray]:
        places, texts = zip(*self._entries, strict=True)
        return pa.array(texts, pa.large_string()), np.array(places, np.int32)

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
        return sorted(self._entries, key=lambda entry: _DIGITS.fullmatch(entry[1]) is None)


def _places(texts: pa.Array, known: pa.Array, places: np.ndarray) -> np.ndarray:
    """The place of each text that is known, -1 of others."""
    found = to_numpy(pc.fill_null(pc.index_in(texts, value_set=known, skip_nulls=True), len(known)))
    codes: np.ndarray = np.append(places, np.int32(-1))[found]
    return codes


@dataclass(frozen=True)
class Ordered(Scalar):
    """One of a public list of categories in ascending order, such as school degrees, or "never" to "always".

    Its coordinate is the category's position: 0, 1, 2 … without other ones, so that neighbours on the list are one
    apart. A value that is not on the list is of unknown category, as for `Categorical`.

    Parameters
    ----------
    categories : tuple[str, ...]
        The public list, in ascending order.
    positions : tuple[float, ...]
        A position for each, ascending, such as years at school; () for 0, 1, 2 ….
    written, missing, missing_category, unknown_category : tuple[tuple[str, ...], ...], tuple[str, ...], str, str
        As of `Categorical`; a category of missing values has the place on the list, and so the distances, that it was
        given.
    """

    name: str
    categories: tuple[str, ...]
    positions: tuple[float, ...] = ()
    written: tuple[tuple[str, ...], ...] = ()
    missing: tuple[str, ...] = ()
    missing_category: str = ""
    unknown_category: str = ""
    kind: ClassVar[str] = "ordered"
    unit: ClassVar[str] = ""
    later: ClassVar[tuple[str, ...]] = ("positions", "written", "missing", "missing_category", "unknown_category")

    def __post_init__(self) -> None:
        plain = self.list
        for part in ("categories", "written", "missing"):
            object.__setattr__(self, part, getattr(plain, part))
        if isinstance(self.positions, str) or not isinstance(self.positions, Sequence):
            raise RequestError(f"The positions of {self.name!r} must be a list of numbers.")
        positions = tuple(check_number(one, f"A position of {self.name!r}") for one in self.positions)
        if len(positions) not in (0, len(self.categories)) or (positions and min(np.diff(positions)) <= 0.0):
            raise RequestError(f"The positions of {self.name!r} must be ascending numbers, one for each category.")
        if positions:
            checked_bounds(self.name, positions[0], positions[-1])
        object.__setattr__(self, "positions", positions)

    @cached_property
    def list(self) -> Categorical:
        """The same categories without their order."""
        return Categorical(
            self.name, self.categories, self.written, self.missing, self.missing_category, self.unknown_category
        )

    @cached_property
    def places(self) -> Floats:
        """The position of each category, float64 (categories,)."""
        return np.array(self.positions or range(len(self.categories)), dtype=np.float64)

    @property
    def low(self) -> float:
        return float(self.places[0])

    @property
    def high(self) -> float:
        return float(self.places[-1])

    @property
    def spacing(self) -> float:
        """What lies between two neighbouring places, where they are evenly spaced."""
        gaps = np.diff(self.places)
        return float(gaps[0]) if gaps.size and (gaps == gaps[0]).all() else 0.0

    @property
    def measure(self) -> str:
        return "" if self.positions else "steps"

    @property
    def characters(self) -> int:
        return self.list.characters + 24 * len(self.positions)

    def codes(self, array: pa.Array) -> np.ndarray:
        """Index of each value in the list of categories, int32 (n,); -1 where it is not on the list."""
        return self.list.codes(array)

    def unlisted(self, array: pa.Array) -> np.ndarray:
        """Which values are there and not on the list, whatever they count as."""
        return self.list.unlisted(array)

    def read_into(self, out: np.ndarray, array: pa.Array, amplitude: float) -> tuple[Mask, Mask]:
        return self._places_into(out, *self.list.coded(array))

    def ask_into(self, out: np.ndarray, array: pa.Array, amplitude: float) -> tuple[Mask, Mask]:
        return self._places_into(out, *self.list.coded_question(array))

    def _places_into(self, out: np.ndarray, codes: np.ndarray, missing: Mask) -> tuple[Mask, Mask]:
        out[:, 0] = np.append(self.places, np.nan)[codes]
        return self.list.absent(codes, missing)

    def nearest(self, points: np.ndarray) -> Integers:
        """The places in the list of the categories nearest to positions (n, 1), int64 (n,)."""
        middles = (self.places[1:] + self.places[:-1]) / 2.0
        codes: Integers = np.searchsorted(middles, points[:, 0])
        return codes

    def present(self, numbers: Floats) -> Any:
        """The categories nearest to positions, in pandas' ordered type."""
        codes = self.nearest(np.asarray(numbers)[:, None])
        return pd.Categorical.from_codes(codes, categories=list(self.categories), ordered=True)

    @property
    def as_asked(self) -> Categorical:
        """The column of a table of questions, where values are categories."""
        return self.list.as_asked
