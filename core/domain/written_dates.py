"""Dates and times as people write them: ISO 8601, an order with names of months, directives, or seconds since 1970.

What a text means depends on itself and on the format alone, as of numbers (`core.domain.written`).
"""

import re
from functools import lru_cache
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import RequestError
from ..runtime.counter_tables import Integers
from ..runtime.parameters import check_text
from .column import to_numpy
from .written import KNOWN, on_twelve_hours

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
# Names of the months, in full and short, in fourteen languages.
_NAMED = {name: month for month, names in enumerate(KNOWN["months"].values(), 1) for name in names.split()}
_CLOCK = (
    r"(?:(?:T|,?\s+(?:um\s+|at\s+|à\s+|kl\.?\s+)?)(?P<H>\d{1,2})[:.h](?P<M>\d{2})(?:[:.](?P<S>\d{2})(?:[.,]\d*)?)?"
    r"\s*(?P<p>(?i:[ap]\.?m\.?))?(?:\s*Uhr)?\s*(?P<z>Z|UTC|GMT|[-+]\d{2}:?\d{2})?)?\s*$"
)
_WEEKDAY, _NAME, _YEAR = r"^\s*(?:[^\x{00}-@]{2,12}\.?,?\s+)?", r"(?P<B>[^\x{00}-@]{3,12})\.?", r"(?P<Y>\d{4}|\d{2})\.?"
_NTH = r"(?P<d>\d{1,2})(?:st|nd|rd|th|er|º|ª)?"
_MONTH_ALONE = rf"^\s*(?:(?P<m>\d{{1,2}})[/-]|{_NAME}[\s/.-]\s*(?:de\s+)?)(?P<Y>\d{{4}})\s*$"
# A letter is what comes after @: RE2 takes a hundred times as long to compile what it knows of Unicode's letters.
# Orders of day, month and year, whatever stands between them, with names of months and times of day; each the ways in
# which it is written, the one to try first in front.
ORDERS = {
    "day_first": (
        rf"{_WEEKDAY}(?P<d>\d{{1,2}})\s?[./-]\s?(?P<m>\d{{1,2}})\s?[./-]\s?{_YEAR}{_CLOCK}",
        rf"{_WEEKDAY}{_NTH}[\s./-]*(?:de\s+|of\s+)?{_NAME}[\s./,-]*(?:del?\s+)?{_YEAR}{_CLOCK}",
        _MONTH_ALONE,
    ),
    "month_first": (
        rf"{_WEEKDAY}(?P<m>\d{{1,2}})\s?[./-]\s?(?P<d>\d{{1,2}})\s?[./-]\s?{_YEAR}{_CLOCK}",
        rf"{_WEEKDAY}{_NAME}\s*{_NTH},?\s+{_YEAR}{_CLOCK}",
        _MONTH_ALONE,
    ),
    "year_first": (
        rf"^\s*(?P<Y>\d{{4}})\s?[./年-]\s?(?P<m>\d{{1,2}})\s?[./月-]\s?(?P<d>\d{{1,2}})[.日]?{_CLOCK}",
        rf"^\s*(?P<Y>\d{{4}})[\s./-]\s?{_NAME}[\s./-]\s?(?P<d>\d{{1,2}}){_CLOCK}",
        r"^\s*(?P<Y>\d{4})[/-](?P<m>\d{1,2})\s*$",
    ),
}


def checked_format(text: object, what: str) -> str:
    """A way to write dates: "" for ISO 8601, "unix", an order such as "day_first", or directives such as %d.%m.%Y.

    RequestError on anything else. Where dates are written in several ways, they stand side by side with a | between
    them, the one to try first in front: %d.%m.%Y|%Y-%m-%d.
    """
    if text in ("", UNIX):
        return str(text)
    check_text(text, what)
    patterns = [_pattern(one) for one in str(text).split(OR) if one not in ORDERS]
    if not all(re.search(rf"\(\?P<[{part}]>", pattern) for pattern in patterns for part in ("Yy", "mb")):
        raise RequestError(
            f"{what} must be an order ({', '.join(ORDERS)}), or name at least year and month by the directives %Y, %y, "
            "%m, %b, %d, %H, %M, %S and %z, such as %d.%m.%Y."
        )
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


def of_text(text: str) -> int | None:
    """Seconds since 1970 of one date or time in ISO 8601; None where it is none."""
    if not text.isascii():  # what ISO 8601 never has; a lone surrogate could not even be handed on
        return None
    (found,) = _of_texts(pa.array([text], pa.large_string()), _ISO, "")
    return None if found == NEVER else int(found)


def on_clock(instants: Integers, zone: str) -> Integers:
    """What the clock of a zone says at instants."""
    if zone in ("", "UTC"):
        return instants
    known = instants != NEVER
    array = pa.array(np.where(known, instants, 0), pa.timestamp("s", "UTC")).cast(pa.timestamp("s", ZoneInfo(zone).key))
    return np.where(known, to_numpy(pc.local_timestamp(array)).astype("M8[s]").astype(np.int64), NEVER)


def moments_of_texts(texts: pa.Array, form: str, zone: str) -> Integers:
    """By the first of several ways to write dates in which a text is one."""
    seconds = np.full(len(texts), NEVER)
    for one in form.split(OR):
        for pattern in ORDERS.get(one) or (one if one == UNIX else _pattern(one),):
            unread = np.flatnonzero(seconds == NEVER)
            if len(unread):
                seconds[unread] = _of_texts(texts.take(pa.array(unread)), pattern, zone)
    return seconds


def _of_texts(texts: pa.Array, pattern: str, zone: str) -> Integers:
    """By one regular expression with named parts, or as seconds since 1970."""
    if pattern == UNIX:
        numbers = pc.extract_regex(texts, r"^\s*(?P<s>-?\d{1,11})(?:\.\d*)?\s*$").field("s")
        return on_clock(whole_numbers_in(numbers, NEVER), zone)
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
        month = part("m", 0 if "B" in named else 1)
    if "B" in named:
        name = pc.utf8_lower(parts.field("B"))
        place = to_numpy(pc.fill_null(pc.index_in(name, pa.array(list(_NAMED), name.type)), -1))
        month = np.where(month > 0, month, np.array([*_NAMED.values(), 0])[place])
    short = part("y", 0)
    year = np.where(short < 69, 2000 + short, 1900 + short) if "y" in named else part("Y", 1970)
    if _YEAR in pattern:
        two = to_numpy(pc.fill_null(pc.equal(pc.utf8_length(parts.field("Y")), 2), False))
        year = year + np.where(year < 69, 2000, 1900) * two
        found &= two | (year >= 1000)
    day, hour, minute, second = part("d", 1), part("H", 0), part("M", 0), part("S", 0)
    if "p" in named:
        hour, possible = on_twelve_hours(hour, parts.field("p"))
        found &= possible
    first = (year - 1970).astype("M8[Y]").astype("M8[M]") + np.clip(month - 1, 0, 11)
    date = first.astype("M8[D]") + (day - 1)
    found &= (year >= 1) & (month >= 1) & (month <= 12) & (day >= 1) & (date.astype("M8[M]") == first)
    found &= (hour <= 23) & (minute <= 59) & (second <= 60)
    seconds = date.astype(np.int64) * DAY + hour * HOUR + minute * MINUTE + np.minimum(second, 59)
    if "z" in named:
        zones = parts.field("z")
        known = to_numpy(pc.not_equal(zones, ""))
        seconds = np.where(known, on_clock(seconds - _offsets(zones), zone), seconds)
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
