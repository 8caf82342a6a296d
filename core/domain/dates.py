"""Columns of dates, or of dates with times, between two public ones; dates are read as whole seconds since 1970.

A time is read by the clock that it is written with. One that says its zone ("2024-05-31T08:00+02:00", or a column whose
type has a zone) is an instant, and is read by the clock of the zone that the column declares, or else by that of UTC.
So what one value means never depends on the computer or on other values. (When clocks are changed is known to 2037.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar
from zoneinfo import available_timezones

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import RequestError
from ..runtime.counter_tables import Floats, Integers
from ..runtime.parameters import check_choice, check_text
from .column import Scalar, as_float64, check_gap, describe_type, is_text, to_numpy
from .written import are_words, checked_words, each_once, is_number
from .written_dates import DAY, HOUR, LARGEST, NEVER, UNIX, checked_format, moments_of_texts, of_text, on_clock


def checked_zone(text: object, what: str) -> str:
    """The name of a time zone, or "" for UTC."""
    if text != "" and (not isinstance(text, str) or text not in available_timezones()):
        raise RequestError(f"{what} must be the name of a time zone, such as Europe/Paris.")
    return str(text)


def moments(name: str, array: pa.Array, form: str = "", zone: str = "") -> Integers:
    """Seconds since 1970 on the clock, int64 (n,), `NEVER` where a value is missing or cannot be read.

    `array`: Dates, times, texts; or numbers where the format says what they mean.
    """
    kind = array.type
    if pa.types.is_dictionary(kind):
        found = np.append(moments(name, array.dictionary, form, zone), NEVER)
        decoded: Integers = found[to_numpy(pc.fill_null(array.indices, len(found) - 1))]
        return decoded
    if pa.types.is_null(kind):
        return np.full(len(array), NEVER)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return _of_timestamps(array, zone)
    if is_number(kind) and form == UNIX:
        numbers = to_numpy(pc.cast(array, pa.float64(), safe=False))
        known = np.abs(numbers) < LARGEST  # not where one is NaN
        return on_clock(np.where(known, np.floor(np.where(known, numbers, 0.0)).astype(np.int64), NEVER), zone)
    if is_number(kind) and form:
        array, kind = pc.cast(pc.cast(array, pa.int64(), safe=False), pa.large_string()), pa.large_string()
    if is_text(kind):
        return each_once(array, lambda texts: moments_of_texts(texts, form, zone))
    raise RequestError(
        f"The column {name!r} holds {describe_type(kind)} where dates are expected: declare it as what it holds, or "
        "say how dates are written in it, such as %Y%m%d, or unix for seconds since 1970."
    )


def part_of(seconds: Integers, part: str) -> Integers:
    """Hour (0 to 23), weekday (0 is Monday), month (0 is January) or day of the year (0 is the first); -1 for NEVER."""
    known = seconds != NEVER
    when = np.where(known, seconds, 0)
    days = when // DAY
    if part == "hour":
        found = when % DAY // HOUR
    elif part == "weekday":
        found = (days + 3) % 7  # 1970 began on a Thursday
    else:
        dates = days.astype("M8[D]")
        whole = "M" if part == "month" else "Y"
        first = dates.astype("M8[Y]")
        found = dates.astype(f"M8[{whole}]").astype(np.int64) % 12 if whole == "M" else (dates - first).astype(np.int64)
    return np.where(known, found, -1)


def says_time(text: str) -> bool:
    """Whether a date in ISO 8601 says a time of day."""
    return ":" in text


def as_dates(seconds: Floats | Integers, unit: str = "s") -> np.ndarray:
    """Seconds since 1970 as NumPy's dates."""
    return np.asarray(seconds).astype(np.int64).astype("M8[s]").astype(f"M8[{unit}]")


def _of_timestamps(array: pa.Array, zone: str) -> Integers:
    instant = pa.types.is_timestamp(array.type) and array.type.tz is not None
    if instant:
        array = array.cast(pa.timestamp(array.type.unit, "UTC")).cast(pa.timestamp(array.type.unit))
    known = to_numpy(pc.is_valid(array))
    seconds = np.where(known, to_numpy(array).astype("M8[s]").astype(np.int64), NEVER)
    return on_clock(seconds, zone) if instant else seconds


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
    low = 0.0
    spacing = 1.0

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

    @cached_property
    def high(self) -> float:
        return float((self._end(self.last) - self._seconds) // STEPS[self.step])

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
