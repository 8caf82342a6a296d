"""Dates and times of day, as they stand in tables and in texts, as whole seconds since 1970.

A time is read by the clock that it is written with. One that says its zone ("2024-05-31T08:00+02:00", or a column whose
type has a zone) is an instant, and is read by the clock of the zone that the column declares, or else by that of UTC.
So what one value means never depends on the computer or on other values. (When clocks are changed is known to 2037.)
"""

from __future__ import annotations

import re
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..checks import check_text
from ..errors import RequestError
from ..machine.array_types import Floats, Integers
from .column import describe_type, is_text, to_numpy
from .written import each_once, is_number

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
