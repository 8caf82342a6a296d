"""Columns of dates, or of dates with times, between two public ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..checks import check_choice, check_text
from ..errors import RequestError
from ..machine.array_types import Floats, Integers
from .column import Scalar, as_float64, check_gap, is_text, to_numpy
from .instants import NEVER, as_dates, checked_format, checked_zone, moments, of_text, says_time
from .written import are_words, checked_words, is_number

# Seconds of every step in which dates may be told apart.
STEPS = {"day": 86_400, "hour": 3_600, "minute": 60, "second": 1}


@dataclass(frozen=True)
class Dates(Scalar):
    """A date between two public ones, compared by the days (or hours, minutes, seconds) between two of them.

    Its coordinate is the number of whole steps since ``first``: a day begins at 0:00. A value outside is moved to the
    first or the last step, as a number is moved to its bounds.

    Parameters
    ----------
    first, last : str
        In ISO 8601, "2020-01-01" or "2020-01-01T08:00"; a last day that says no time is meant to its end.
    step : str
        "day", "hour", "minute" or "second": what is told apart, and the unit of distances.
    of : str
        The source's column, where that has another name.
    format : str
        How dates are written where they are texts: "" for ISO 8601, directives such as "%d.%m.%Y", or "unix" for
        seconds since 1970.
    zone : str
        Whose clock is read where times are instants, such as "Europe/Paris"; "" for UTC.
    missing : tuple[str, ...]
        Words that mean "missing"; what is no date is missing anyway.
    missing_category : str
        What those who have no date are called, as of `Numeric`.
    """

    name: str
    first: str
    last: str
    step: str = "day"
    of: str = ""
    format: str = ""
    zone: str = ""
    missing: tuple[str, ...] = ()
    missing_category: str = ""
    kind: ClassVar[str] = "date"
    later: ClassVar[tuple[str, ...]] = ("of", "format", "zone", "missing", "missing_category")

    def __post_init__(self) -> None:
        check_text(self.name, "A column name")
        check_choice(self.step, f"The step of {self.name!r}", tuple(STEPS))
        if self.of != "":
            check_text(self.of, f"The source of {self.name!r}")
        checked_format(self.format, f"The way in which dates of {self.name!r} are written")
        checked_zone(self.zone, f"The zone of {self.name!r}")
        object.__setattr__(self, "missing", checked_words(self.missing, f"The words for missing in {self.name!r}"))
        check_gap(self.name, self.missing_category)
        seconds = self._seconds
        if self._end(self.last) < seconds:
            raise RequestError(f"The first date of {self.name!r} must come before its last one.")
        if self.high <= 0.0:
            raise RequestError(f"The dates of {self.name!r} must be more than one {self.step}.")

    @cached_property
    def _seconds(self) -> int:
        """When the first step begins, on the clock."""
        return self._end(self.first, STEPS[self.step]) // STEPS[self.step] * STEPS[self.step]

    def _end(self, text: object, short: int = 1) -> int:
        """Seconds since 1970 of a bound; of a day that says no time its last second, unless ``short`` is a step."""
        seconds = of_text(text) if isinstance(text, str) and len(text) <= 40 else None
        if seconds is None:
            raise RequestError(
                f"The first and the last date of {self.name!r} must be written as 2024-12-31 or 2024-12-31T08:00, and "
                "be days that there are."
            )
        return seconds + (STEPS["day"] - 1 if short == 1 and not says_time(str(text)) else 0)

    @property
    def low(self) -> float:
        return 0.0

    @cached_property
    def high(self) -> float:
        return float((self._end(self.last) - self._seconds) // STEPS[self.step])

    @property
    def spacing(self) -> float:
        return 1.0

    @property
    def unit(self) -> str:
        """The steps that numbers of it count."""
        return f"{self.step}s since {self.first}"

    @property
    def measure(self) -> str:
        return f"{self.step}s"

    @property
    def characters(self) -> int:
        texts = (self.name, self.first, self.last, self.of, self.format, self.zone, *self.missing)
        return sum(map(len, texts)) + len(self.missing_category)

    def numbers(self, array: pa.Array) -> Floats:
        seconds = moments(self.name, array, self.format, self.zone)
        if self.missing and is_text(array.type):
            seconds = np.where(to_numpy(pc.fill_null(are_words(array, self.missing), True)), NEVER, seconds)
        return self.steps(seconds)

    def asked(self, array: pa.Array) -> Floats:
        """Dates, texts of them, or numbers of steps since the first."""
        kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
        if is_number(kind):
            return as_float64(self.name, array)
        seconds = moments(self.name, array, "", self.zone)
        if self.format not in ("", "unix") and is_text(kind):
            seconds = np.where(seconds == NEVER, moments(self.name, array, self.format, self.zone), seconds)
        return self._since(seconds)

    def steps(self, seconds: Integers) -> Floats:
        """Whole steps since the first, NaN for `NEVER`."""
        return np.floor(self._since(seconds))

    def _since(self, seconds: Integers) -> Floats:
        """Steps since the first and parts of them, NaN for `NEVER`."""
        known = seconds != NEVER
        return np.where(known, (np.where(known, seconds, 0) - self._seconds) / STEPS[self.step], np.nan)

    def numbers_of(self, values: object) -> Floats:
        """The numbers of steps at dates, in any way that they may be asked about; RequestError where one is none."""
        try:
            numbers = self.asked(pa.array(values, from_pandas=True))
        except pa.ArrowException:
            numbers = np.array([np.nan])
        if not np.isfinite(numbers).all():
            raise RequestError(f"A value of {self.name!r} must be a date such as {self.first}.")
        return numbers

    def present(self, numbers: Floats) -> Any:
        """The dates at numbers of steps, NumPy's datetime64 in seconds, to the nearest step."""
        return self.between(np.rint(numbers))

    def between(self, numbers: Floats) -> Any:
        """The same to the second; of NaN, NaT."""
        known = ~np.isnan(numbers)
        dates = as_dates(self._seconds + np.rint(np.where(known, numbers, 0.0) * STEPS[self.step]))
        return np.where(known, dates, np.datetime64("NaT"))

    def text(self, number: float) -> str:
        """The date at a number of steps, as people write it: 2024-05-31, or 2024-05-31 08:00."""
        (date,) = self.present(np.array([number])).astype(str)
        return str(date)[: {"day": 10, "hour": 16, "minute": 16, "second": 19}[self.step]].replace("T", " ")

    @property
    def as_asked(self) -> Dates:
        """The column of a table of questions, which has its own name."""
        return replace(self, of="", missing_category="")
