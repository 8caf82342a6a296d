"""Columns of dates, or of dates with times, between two public ones; dates are read as whole seconds since 1970.

A time is read by the clock that it is written with. One that says its zone ("2024-05-31T08:00+02:00", or a column whose
type has a zone) is an instant, and is read by the clock of the zone that the column declares, or else by that of UTC.
So what one value means never depends on the computer or on other values. (When clocks are changed is known to 2037.)
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar
from zoneinfo import ZoneInfo, available_timezones

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..checks import check_choice, check_text
from ..errors import RequestError
from ..runtime.array_types import Floats, Integers
from .column import Scalar, as_float64, check_gap, describe_type, is_text, to_numpy
from .written import are_words, checked_words, each_once, is_number

NEVER = np.iinfo(np.int64).min  # Stands for a moment that is missing or cannot be read.
DAY, HOUR, MINUTE = 86_400, 3_600, 60
LARGEST = 2e11  # Seconds from 1970 beyond which no date is meant: about the year 8300.
OR = "|"  # Between several ways to write dates.
UNIX = "unix"  # The format of numbers that count seconds since 1970.
_ISO = (
    r"^\s*(?P<Y>\d{4})[-/](?P<m>\d{1,2})(?:[-/](?P<d>\d{1,2}))?"
    r"(?:(?:T|\s+)(?P<H>\d{1,2}):(?P<M>\d{2})(?::(?P<S>\d{2})(?:[.,]\d*)?)?\s*(?P<z>Z|UTC|[-+]\d{2}:?\d{2})?)?\s*$"
)
_DIRECTIVES = {
    "Y": r"(?P<Y>\d{4})",
    "y": r"(?P<y>\d{2})",
    "m": r"(?P<m>\d{1,2})",
    "d": r"(?P<d>\d{1,2})",
    "H": r"(?P<H>\d{1,2})",
    "M": r"(?P<M>\d{1,2})",
    "S": r"(?P<S>\d{1,2})(?:[.,]\d*)?",
    "b": r"(?P<b>[A-Za-z]{3})[A-Za-z]*\.?",
    "z": r"(?P<z>Z|UTC|[-+]\d{2}:?\d{2})",
}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def checked_format(text: object, what: str) -> str:
    """A way to write dates: "" for ISO 8601, "unix", or directives such as %d.%m.%Y; RequestError on anything else.

    Where dates are written in several ways, they stand side by side with a | between them, the one to try first in
    front: %d.%m.%Y|%Y-%m-%d.
    """
    if text in ("", UNIX):
        return str(text)
    check_text(text, what)
    patterns = [_pattern(one) for one in str(text).split(OR)]
    if not all(re.search(rf"\(\?P<[{part}]>", pattern) for pattern in patterns for part in ("Yy", "mb")):
        raise RequestError(
            f"{what} must name at least year and month by the directives %Y, %y, %m, %b, %d, %H, %M, %S and %z, such "
            "as %d.%m.%Y."
        )
    return str(text)


def checked_zone(text: object, what: str) -> str:
    """The name of a time zone, or "" for UTC."""
    if text != "" and (not isinstance(text, str) or text not in available_timezones()):
        raise RequestError(f"{what} must be the name of a time zone, such as Europe/Paris.")
    return str(text)


@lru_cache(maxsize=64)
def _pattern(form: str) -> str:
    """The regular expression of a way to write dates."""
    if form == "":
        return _ISO
    parts = re.split(r"%(.)", form.replace("%B", "%b"))
    unknown = [directive for directive in parts[1::2] if directive not in _DIRECTIVES]
    if unknown or len(set(parts[1::2])) < len(parts[1::2]):
        raise RequestError(
            "A way to write dates is made of the directives %Y, %y, %m, %b, %d, %H, %M, %S and %z, each once, with "
            "what stands between them, such as %d.%m.%Y."
        )
    texts = [re.escape(text).replace(r"\ ", r"\s+") for text in parts[::2]]
    pairs = zip(texts, [*(_DIRECTIVES[one] for one in parts[1::2]), ""], strict=True)
    return r"^\s*" + "".join(text + directive for text, directive in pairs) + r"\s*$"


def moments(name: str, array: pa.Array, form: str = "", zone: str = "") -> Integers:
    """Seconds since 1970 on the clock, int64 (n,), `NEVER` where a value is missing or cannot be read.

    Parameters
    ----------
    array : pa.Array
        Dates, times, texts; or numbers where the format says what they mean.
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
        return _on_clock(np.where(known, np.floor(np.where(known, numbers, 0.0)).astype(np.int64), NEVER), zone)
    if is_number(kind) and form:
        array, kind = pc.cast(pc.cast(array, pa.int64(), safe=False), pa.large_string()), pa.large_string()
    if is_text(kind):
        return each_once(array, lambda texts: _in_any_way(texts, form, zone))
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


def of_text(text: str) -> int | None:
    """Seconds since 1970 of one date or time in ISO 8601; None where it is none."""
    if not text.isascii():  # what ISO 8601 never has; a lone surrogate could not even be handed on
        return None
    (found,) = _of_texts(pa.array([text], pa.large_string()), "", "")
    return None if found == NEVER else int(found)


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
    return _on_clock(seconds, zone) if instant else seconds


def _on_clock(instants: Integers, zone: str) -> Integers:
    """What the clock of a zone says at instants."""
    if zone in ("", "UTC"):
        return instants
    known = instants != NEVER
    array = pa.array(np.where(known, instants, 0), pa.timestamp("s", "UTC")).cast(pa.timestamp("s", ZoneInfo(zone).key))
    return np.where(known, to_numpy(pc.local_timestamp(array)).astype("M8[s]").astype(np.int64), NEVER)


def _in_any_way(texts: pa.Array, form: str, zone: str) -> Integers:
    """By the first of several ways to write dates in which a text is one."""
    first, *others = (_of_texts(texts, one, zone) for one in form.split(OR))
    for found in others:
        first = np.where(first == NEVER, found, first)
    return first


def _of_texts(texts: pa.Array, form: str, zone: str) -> Integers:
    if form == UNIX:
        numbers = pc.extract_regex(texts, r"^\s*(?P<s>-?\d{1,11})(?:\.\d*)?\s*$").field("s")
        return _on_clock(whole_numbers_in(numbers, NEVER), zone)
    pattern = _pattern(form)
    parts = pc.extract_regex(texts, pattern)
    found = to_numpy(parts.is_valid())
    named = set(re.findall(r"\(\?P<(\w)>", pattern))

    def part(name: str, absent: int) -> Integers:
        if name not in named:
            return np.full(len(texts), absent)
        return whole_numbers_in(parts.field(name), absent)

    if "b" in named:
        name = pc.utf8_lower(parts.field("b"))
        month = to_numpy(pc.fill_null(pc.index_in(name, pa.array(_MONTHS, name.type)), -1)).astype(np.int64) + 1
    else:
        month = part("m", 1)
    short = part("y", 0)
    year = np.where(short < 69, 2000 + short, 1900 + short) if "y" in named else part("Y", 1970)
    day, hour, minute, second = part("d", 1), part("H", 0), part("M", 0), part("S", 0)
    first = (year - 1970).astype("M8[Y]").astype("M8[M]") + np.clip(month - 1, 0, 11)
    date = first.astype("M8[D]") + (day - 1)
    found &= (year >= 1) & (month >= 1) & (month <= 12) & (day >= 1) & (date.astype("M8[M]") == first)
    found &= (hour <= 23) & (minute <= 59) & (second <= 60)
    seconds = date.astype(np.int64) * DAY + hour * HOUR + minute * MINUTE + np.minimum(second, 59)
    if "z" in named:
        zones = parts.field("z")
        known = to_numpy(pc.not_equal(zones, ""))
        seconds = np.where(known, _on_clock(seconds - _offsets(zones), zone), seconds)
    return np.where(found, seconds, NEVER)


def whole_numbers_in(texts: pa.Array, absent: int) -> Integers:
    """Texts of digits, such as a regular expression finds, as int64 (n,); what it did not find is an empty text."""
    texts = pc.if_else(pc.equal(texts, ""), str(absent), texts)
    numbers: Integers = to_numpy(pc.cast(pc.fill_null(texts, str(absent)), pa.int64()))
    return numbers


def _offsets(zones: pa.Array) -> Integers:
    """Seconds that clocks are ahead of UTC, from texts such as +02:00."""
    parts = pc.extract_regex(zones, r"^(?P<sign>[-+])(?P<hours>\d{2}):?(?P<minutes>\d{2})$")
    hours, minutes = (whole_numbers_in(parts.field(one), 0) for one in ("hours", "minutes"))
    sign = np.where(to_numpy(pc.equal(parts.field("sign"), "-")), -1, 1)
    seconds: Integers = sign * (hours * HOUR + minutes * MINUTE)
    return seconds


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
