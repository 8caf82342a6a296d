"""What an owner has typed about a data set so far: what is missing from it, what it makes public, and its domain.

Nothing here sees a value of the data. The Data page fills a `Declaration` from its widgets on every run.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...domain import Categorical, Column, Domain, Numeric, PrivacyUnit, Vector
from ...errors import RequestError
from ...words.numbers import number
from ...words.phrases import listed

YES_AND_NO = ("false", "true")
"""The categories of a column of truth values: its type makes them public already."""


@dataclass(frozen=True)
class ColumnDraft:
    """What was typed about one column that is to be used.

    ``low``, ``high``, ``length`` (of a column of vectors: how many numbers each holds) and ``longest`` (of such a
    column: what no vector is longer than) are None while empty; ``categories`` is the text as typed, separated by
    commas or line breaks. Where ``by_length`` is set, vectors are bounded by ``longest`` and not number by number.
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

    @property
    def bounds(self) -> tuple[float | None, float | None]:
        """Smallest and largest number; no number of a vector is larger than the vector is long."""
        if not self.by_length:
            return self.low, self.high
        return (None, None) if self.longest is None else (-self.longest, self.longest)

    @property
    def category_list(self) -> tuple[str, ...]:
        """The categories, without blanks and repetitions, in the order typed."""
        texts = (text.strip() for line in self.categories.splitlines() for text in line.split(","))
        return tuple(dict.fromkeys(text for text in texts if text))

    @property
    def missing(self) -> str | None:
        """What is missing, in a few words, or None."""
        if self.categorical:
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

    def column(self) -> Column:
        """The column of a domain; RequestError when it cannot be one."""
        if self.categorical:
            return Categorical(self.name, self.category_list)
        low, high = self.bounds
        if low is None or high is None:
            raise RequestError(f"The column {self.name!r} needs a smallest and a largest value.")
        if self.vector:
            return Vector(self.name, self.length or 0, low, high, self.unit)
        return Numeric(self.name, low, high, self.unit)

    @property
    def in_words(self) -> str:
        """What is said about the column in public, or what is not said yet."""
        if self.categorical:
            return f"one of: {listed(self.category_list)}" if self.category_list else "its categories: not typed yet"
        if self.by_length and self.longest:
            return f"{self.length or 'some'} numbers, together a vector no longer than {number(self.longest)}"
        if self.low is None or self.high is None:
            return "its bounds: not typed yet"
        unit = f" {self.unit}" if self.unit else ""
        entries = f"{self.length or 'some'} numbers, each " if self.vector else ""
        return f"{entries}between {number(self.low)} and {number(self.high)}{unit}"


@dataclass(frozen=True)
class Declaration:
    """Everything typed about a data set so far; the fields after ``columns`` are those of a `Domain`.

    ``sample`` is the domain that a bundled sample comes with: how its columns are compared was chosen together with
    its kernel, and holds whatever else is typed.
    """

    columns: tuple[ColumnDraft, ...]
    outside: str = "clamp"
    missing: str = "drop"
    unit_column: str | None = None
    unit_records: int | None = None
    each_row: bool = True
    sample: Domain | None = None

    def still_missing(self) -> list[str]:
        """What must be typed before there is a domain, in a few words each."""
        if not self.columns:
            return ["a column to use"]
        words = [missing for column in self.columns if (missing := column.missing)]
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

        Raises
        ------
        RequestError
            When something is missing or contradicts itself; the sentence names it.
        """
        columns = tuple(column.column() for column in self.columns)
        distance = 1.0 if self.sample is None else self.sample.category_distance
        return Domain(columns, self.outside, self.missing, self.unit, self.scale, distance)

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
        if self.each_row:
            lines.append(("Who is protected", "each row by itself"))
        elif self.unit_column is not None:
            most = f"at most {self.unit_records:,} rows each" if self.unit_records else "rows each: not typed yet"
            lines.append(("Who is protected", f"each person, named by {self.unit_column}, with {most}"))
        moved = "moved to the nearest bound" if self.outside == "clamp" else "left out"
        left = "left out" if self.missing == "drop" else "not accepted"
        lines.append(("Rows that do not fit", f"values outside the bounds are {moved}; rows with gaps are {left}"))
        return lines
