"""What an owner has typed about a data set so far: what is missing from it, what it makes public, and its domain.

Nothing here sees a value of the data. The Data page fills a `Declaration` from its widgets on every run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from ...domain import Categorical, Column, Domain, Numeric, Ordered, PrivacyUnit, Reading, Vector
from ...domain.column_entries import MISSING, NO, YES, columns_of
from ...domain.columns import words_among
from ...domain.declarations import Declaration as DeclaredTable
from ...errors import RequestError
from ...figures.report.meaning import column_values
from ...formatting.numbers import listed, number

YES_AND_NO = ("false", "true")  # The categories of a column of truth values: its type makes them public already.


# How truth values are written in texts.
WAYS_TO_SAY = {
    "false": ("no", *(text for text in NO if text != "false")),
    "true": ("yes", *(text for text in YES if text != "true")),
}


@dataclass(frozen=True)
class ColumnDraft:
    """What was typed about one column that is to be used.

    ``low``, ``high``, ``length`` (of a column of vectors: how many numbers each holds) and ``longest`` (of such a
    column: what no vector is longer than) are None while empty; ``categories`` is the text as typed, separated by
    commas or line breaks, and so is ``words``: what means "missing". Where ``by_length`` is set, vectors are bounded by
    ``longest`` and not number by number; where ``written`` is, numbers are texts that are read; ``ordered`` categories
    lie on a line; ``step`` is what lies between two numbers, where a codebook says so.
    """

    name: str
    categorical: bool = False
    low: float | None = None
    high: float | None = None
    unit: str = ""
    categories: str = ""
    vector: bool = False
    length: int | None = None
    by_length: bool = False
    longest: float | None = None
    words: str = ""
    written: bool = False
    ordered: bool = False
    step: float = 0.0

    @property
    def bounds(self) -> tuple[float | None, float | None]:
        """Smallest and largest number; no number of a vector is larger than the vector is long."""
        if not self.by_length:
            return self.low, self.high
        return (None, None) if self.longest is None else (-self.longest, self.longest)

    @property
    def category_list(self) -> tuple[str, ...]:
        """The categories, without blanks and repetitions, in the order typed."""
        return texts_in(self.categories)

    @property
    def missing(self) -> str | None:
        """What is missing, in a few words, or None."""
        if self.categorical:
            if both := words_among(self.category_list, texts_in(self.words), MISSING):
                return f"whether {both[0]} of {self.name} is a category or a word for missing"
            return None if len(self.category_list) >= 2 else f"two or more categories of {self.name}"
        if self.by_length and not self.longest:
            return f"what no vector of {self.name} is longer than"
        low, high = self.bounds
        absent = [word for word, value in (("smallest", low), ("largest", high)) if value is None]
        if absent:
            return f"the {' and '.join(absent)} value of {self.name}"
        if low >= high:
            return f"a largest value of {self.name} above its smallest"
        if self.vector and self.length is None:
            return f"how many numbers {self.name} holds"
        return None

    def columns(self, own_category: bool = False) -> tuple[Column, ...]:
        """The column of a domain; RequestError when it cannot be one.

        With ``own_category`` those who miss a value have a category of their own.
        """
        return (self.column(own_category),)

    def column(self, own_category: bool = False) -> Column:
        """The only one of the `columns`."""
        if self.categorical:
            listed, missing = self.category_list, MISSING if own_category else ""
            if missing and missing not in listed:
                listed = (missing, *listed) if self.ordered else (*listed, missing)
            if self.ordered:
                return Ordered(self.name, listed, missing=texts_in(self.words), missing_category=missing)
            # A text table reads true and false in every way of writing them, but not beside a third category.
            written = (WAYS_TO_SAY["false"], WAYS_TO_SAY["true"], ()) if listed == (*YES_AND_NO, MISSING) else ()
            return Categorical(self.name, listed, written, texts_in(self.words), missing)
        low, high = self.bounds
        if low is None or high is None:
            raise RequestError(f"The column {self.name!r} needs a smallest and a largest value.")
        if self.vector:
            return Vector(self.name, self.length or 0, low, high, self.unit)
        reading = Reading(texts_in(self.words)) if self.written or self.words.strip() else None
        step = self.step if self.step <= high - low else 0.0
        return Numeric(self.name, low, high, self.unit, reading, step, MISSING if own_category else "")

    @property
    def in_words(self) -> str:
        """What is said about the column in public, or what is not said yet."""
        if self.categorical:
            order = ", in this order" if self.ordered else ""
            return f"one of{order}: {listed(self.category_list)}" if self.category_list else NO_CATEGORIES
        if self.by_length and self.longest:
            return f"{self.length or 'some'} numbers, together a vector no longer than {number(self.longest)}"
        if self.low is None or self.high is None:
            return "its bounds: not typed yet"
        unit = f" {self.unit}" if self.unit else ""
        entries = f"{self.length or 'some'} numbers, each " if self.vector else ""
        return f"{entries}between {number(self.low)} and {number(self.high)}{unit}"


def texts_in(typed: str) -> tuple[str, ...]:
    """The texts of a list that was typed with commas or line breaks, without blanks and repetitions, in their order."""
    texts = (text.strip() for line in typed.splitlines() for text in line.split(","))
    return tuple(dict.fromkeys(text for text in texts if text))


@dataclass(frozen=True)
class EntryDraft:
    """What was typed about a column that is no plain number, category or vector, as an entry of a declaration."""

    name: str  # Of the column in the data.
    # As a declaration file has it (`core.domain.declarations`), without what is still empty.
    entry: Mapping[str, object]
    # What the entry must say, by its key, in the words of a request.
    needs: Mapping[str, str] = field(default_factory=dict)
    # Name and entry of other columns that come from the same one of the data.
    further: tuple[tuple[str, Mapping[str, object]], ...] = ()
    vector: ClassVar[bool] = False
    by_length: ClassVar[bool] = False

    @property
    def categorical(self) -> bool:
        """Whether its values have no unit in which they could be compared with numbers."""
        return self.entry["kind"] in ("category", "yes_no", "words", "cyclic", "position")

    @property
    def unit(self) -> str:
        """The unit of its distances."""
        return {"date": "days", "text_length": "characters", "latitude": "km", "longitude": "km"}.get(
            self.kind, "steps"
        )

    @property
    def kind(self) -> str:
        """The kind of column."""
        return str(self.entry["kind"])

    @property
    def bounds(self) -> tuple[object, object]:
        """What tells whether columns have the same range: those of others have not."""
        return (self.name, self.kind)

    @property
    def missing(self) -> str | None:
        """What is missing or wrong, in a few words, or None."""
        absent = [words for key, words in self.needs.items() if self.entry.get(key) in (None, "", ())]
        if absent:
            return f"{' and '.join(absent)} of {self.name}"
        try:
            self.columns()
        except RequestError as error:
            return str(error).removesuffix(".")
        return None

    def columns(self, own_category: bool = False) -> tuple[Column, ...]:
        """The columns of a domain; none of half a place, which `Declaration` puts together."""
        if self.kind in ("latitude", "longitude"):
            return ()
        entry = dict(self.entry)
        if own_category and self.kind in ("yes_no", "category", "ordered", "number", "date"):
            entry.setdefault("on_missing", "category")
        every = ((self.name, entry), *self.further)
        return tuple(column for name, facts in every for column in columns_of(name, facts))

    @property
    def in_words(self) -> str:
        """What is said about it in public, or what is not said yet."""
        if self.missing:
            return "not said completely yet"
        if self.kind in ("latitude", "longitude"):
            ends = self.entry["low"], self.entry["high"]
            return f"{self.kind} between {number(ends[0])}° and {number(ends[1])}°, compared in km"
        return "; ".join(column_values(column) for column in self.columns())


NO_CATEGORIES = "its categories: not typed yet"
HALF_PLACE = "a latitude for every longitude, and a longitude for every latitude"


@dataclass(frozen=True)
class Declaration:
    """Everything typed about a data set so far; the fields after ``columns`` are those of a `Domain`.

    ``sample`` is the domain that a bundled sample comes with: how its columns are compared was chosen together with
    its kernel, and holds whatever else is typed.
    """

    columns: tuple[ColumnDraft | EntryDraft, ...]
    outside: str = "clamp"
    missing: str = "drop"
    unit_column: str | None = None
    unit_records: int | None = None
    each_row: bool = True
    sample: Domain | None = None
    record: str = ""

    def still_missing(self) -> list[str]:
        """What must be typed before there is a domain, in a few words each."""
        if not self.columns:
            return ["a column to use"]
        words = [missing for column in self.columns if (missing := column.missing)]
        if len(self._halves("latitude")) != len(self._halves("longitude")):
            words.append(HALF_PLACE)
        if not self.each_row and self.unit_column is None:
            words.append("the column that says who the person is")
        if not self.each_row and self.unit_records is None:
            words.append("how many rows one person may have")
        return words

    @property
    def scale(self) -> str:
        """ "none" when the numbers can be compared as they are, else "box": each is divided by its public range.

        They can be when they share their bounds, or a unit of measure; a metre beside a year or a city cannot.
        """
        if self.sample is not None:
            return self.sample.scale
        numeric = [column for column in self.columns if not column.categorical]
        if numeric and len(numeric) < len(self.columns) and not all(column.vector for column in numeric):
            return "box"
        same_bounds = len({column.bounds for column in numeric}) <= 1
        units = {column.unit for column in numeric}
        return "none" if same_bounds or (len(units) == 1 and units != {""}) else "box"

    def domain(self) -> Domain:
        """The domain as declared.

        RequestError when something is missing or contradicts itself; the sentence names it.
        """
        own_category = self.missing == "category"
        columns = tuple(column for draft in self.columns for column in draft.columns(own_category))
        distance = 1.0 if self.sample is None else self.sample.category_distance
        missing = "drop" if own_category else self.missing
        return Domain((*columns, *self._places()), self.outside, missing, self.unit, self.scale, distance, self.record)

    def _halves(self, axis: str) -> list[EntryDraft]:
        """The latitudes or the longitudes, which belong together in their order."""
        return [draft for draft in self.columns if isinstance(draft, EntryDraft) and draft.kind == axis]

    def _places(self) -> tuple[Column, ...]:
        latitudes, longitudes = self._halves("latitude"), self._halves("longitude")
        if len(latitudes) != len(longitudes):
            raise RequestError(f"There must be {HALF_PLACE}.")
        found: list[Column] = []
        for north, east in zip(latitudes, longitudes, strict=True):
            facts = {"kind": "position", "latitude": north.name, "longitude": east.name}
            facts |= {"south": north.entry.get("low", ""), "north": north.entry.get("high", "")}
            facts |= {"west": east.entry.get("low", ""), "east": east.entry.get("high", "")}
            found += columns_of(f"{north.name}, {east.name}", facts)
        return tuple(found)

    def file(self) -> str:
        """The declaration as a file that command line and Python read; RequestError while something is missing."""
        return DeclaredTable(self.domain()).text()

    @property
    def longest(self) -> dict[str, float]:
        """What no vector of a column is longer than, by the column's name, where it was said."""
        return {column.name: column.longest for column in self.columns if column.by_length and column.longest}

    @property
    def unit(self) -> PrivacyUnit:
        """Who is protected; RequestError while it is not said completely."""
        return PrivacyUnit() if self.each_row else PrivacyUnit(self.unit_column, self.unit_records or 0)

    def becomes_public(self) -> list[tuple[str, str]]:
        """Everything typed that a release will carry, as pairs of a name and what is said about it."""
        lines = [(column.name, column.in_words) for column in self.columns]
        if not lines:
            return []
        if self.record:
            lines.append(("What one row is", self.record))
        if self.each_row:
            lines.append(("Who is protected", "each row by itself"))
        elif self.unit_column is not None:
            most = f"at most {self.unit_records:,} rows each" if self.unit_records else "rows each: not typed yet"
            lines.append(("Who is protected", f"each person, named by {self.unit_column}, with {most}"))
        moved = "moved to the nearest bound" if self.outside == "clamp" else "left out"
        left = {"drop": "left out", "category": "counted as a group of their own, where it can be"}.get(
            self.missing, "not accepted"
        )
        lines.append(("Rows that do not fit", f"values outside the bounds are {moved}; rows with gaps are {left}"))
        return lines
