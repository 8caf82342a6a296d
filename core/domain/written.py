"""Values as people write them: numbers and dates, words for missing, and when two values are the same one.

How one value is read depends on itself and on the public declaration alone, never on its neighbours, so that a person
moves nobody else's coordinates. What cannot be read is a missing value. Everything here goes through Arrow's compiled
functions, a batch at a time; of a batch with repeated values, each is read once.

The rule by which categories, items and ids of people are matched:

*A number is the text of its digits, and texts are compared letter for letter.* So 1, 1.0 and the decimal 1.00 are "1",
whatever type a column took on in an export, and neither "01" nor "1.0", written as text, is. True and false are "true"
and "false".

A floating-point number has digits only where it is whole and below the size at which whole numbers begin to share one:
2**53 in double precision, 2**24 in single and 2**11 in half. A program that holds whole numbers as floating point, as
pandas does with a column as soon as one person's number is missing, gives neighbours beyond that size the same number.
People would become one: what is kept of one of them would hang on the records of all, and no noise is made for that.
Such a number is refused, and so is one that is not whole, which names nobody.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import RequestError
from ..runtime.counter_tables import Floats
from ..runtime.parameters import check_choice, check_text, exact_fields, field_names
from .column import as_float64, is_text, to_numpy

MOST_WORDS = 100
# What programs write of most numbers, by the mark before the decimals.
PLAIN = {".": r"^-?[0-9]{1,15}(?:[.][0-9]{1,15})?$", ",": r"^-?[0-9]{1,15}$"}
_SPACE = r"[\s\x{00a0}\x{2007}\x{202f}]*"
_SIGN = r"[-+\x{2212}]"
# Whole numbers whose digits stand in groups, by the mark before the decimals; "1,5" is none where that is a point.
_GROUPS = {
    ".": r"\d{1,3}(?:,\d{2,3})*,\d{3}|\d{1,3}(?:[ \x{00a0}\x{202f}]\d{3})+|\d{1,3}(?:['\x{2019}]\d{3})+",
    ",": r"\d{1,3}(?:\.\d{3})+|\d{1,3}(?:[ \x{00a0}\x{202f}]\d{3})+|\d{1,3}(?:['\x{2019}]\d{3})+",
}


# What is commonly known of columns and of how people write: tables of words, each one text that blanks cut.
KNOWN: dict[str, Any] = tomllib.loads(Path(__file__).with_name("common_knowledge.toml").read_text(encoding="utf-8"))
# Codes and short names of currencies, which a number of a named format may stand beside.
CURRENCIES = tuple(KNOWN["values"]["currencies"].split())
# Words for no value in tables of any content; what means a category in some, such as "unknown", is none of them.
NOTHING = tuple(KNOWN["values"]["nothing"])
# Yes and no in ten languages and as codes, without regard to case.
NO_WORDS, YES_WORDS = KNOWN["values"]["no"].split(), KNOWN["values"]["yes"].split()
# Formats of numbers by name, with the mark before decimals, and formats of clocks, with the unit of what is read.
DECIMALS = {"decimal_point": ".", "decimal_comma": ","}
CLOCKS = {"time": 3_600.0, "hours_minutes": 60.0, "duration": 1.0}
_SECONDS = r"(?::(?P<s>[0-5]\d(?:[.,]\d{1,9})?))?"
_TIME = rf"^\s*(?P<h>[01]?\d|2[0-3])[:h](?P<m>[0-5]\d){_SECONDS}\s*(?:(?P<p>(?i:[ap]\.?m\.?))|Uhr)?\s*$"
_UNITS = (
    r"^\s*(?:(?P<d>\d{1,5})\s*(?i:d|days?|tage?|jours?|d[ií]as?|dagen|giorn[oi]),?\s*)?"
    r"(?:(?P<h>\d{1,6})\s*(?i:h|hrs?\.?|hours?|std\.?|stunden?|heures?|horas?|or[ae]|uur)\s*)?"
    r"(?:(?P<m>\d{1,7})\s*(?i:m|min\.?|mins|minutes?|minuten?|minut[io]s?)\s*)?"
    r"(?:(?P<s>\d{1,9}(?:[.,]\d{1,9})?)\s*(?i:s|sec\.?|secs|seconds?|sek\.?|sekunden?|secondes?|segundos?))?\s*$"
)
_ISO_DURATION = (
    r"^\s*P(?:(?P<d>\d{1,5})D)?(?:T(?:(?P<h>\d{1,6})H)?(?:(?P<m>\d{1,7})M)?(?:(?P<s>\d{1,9}(?:[.,]\d{1,9})?)S)?)?\s*$"
)
_LONG = r"^\s*(?:(?P<d>\d{1,5})\s*days?,?\s*)?(?P<h>\d{1,5}):(?P<m>[0-5]\d):(?P<s>[0-5]\d(?:[.,]\d{1,9})?)\s*$"
# How each is written, the way to try first in front; the named parts are days, hours, minutes and seconds.
_CLOCK_PATTERNS = {
    "time": (_TIME,),
    "hours_minutes": (r"^\s*(?P<h>\d{1,5}):(?P<m>[0-5]\d)\s*h?\s*$", _LONG, _UNITS, _ISO_DURATION),
    "duration": (r"^\s*(?P<m>\d{1,5}):(?P<s>[0-5]\d(?:[.,]\d{1,9})?)\s*$", _LONG, _UNITS, _ISO_DURATION),
}


def checked_words(words: object, what: str) -> tuple[str, ...]:
    """Different texts, at most `MOST_WORDS`; RequestError on anything else."""
    if isinstance(words, str) or not isinstance(words, Sequence) or len(words) > MOST_WORDS:
        raise RequestError(f"{what} must be a list of at most {MOST_WORDS} texts.")
    for word in words:
        check_text(word, f"One of {what[0].lower()}{what[1:]}")
    return tuple(dict.fromkeys(words))


@dataclass(frozen=True)
class Reading:
    """How numbers are written: with separators of thousands, units, percent signs, and words where there is none.

    Of "1,024", "12%", "€ 3.50", "70 kg" and "(80)" the numbers are 1024, 12, 3.5, 70 and -80. What is no such text is a
    missing value.

    Parameters
    ----------
    missing : tuple[str, ...]
        Words and numbers that mean "missing", such as "n/a" or "-999"; an empty field means it anyway. Words are
        compared without regard to case, and numbers by their value.
    decimal : str
        The mark before the decimals, "." or ","; the other one, a blank and an apostrophe separate thousands.
    marks : tuple[str, ...]
        What may stand before or after a number besides a percent sign, a currency sign and the column's unit.
    format : str
        A named way to write numbers: "decimal_point" and "decimal_comma", beside which a currency's code may stand;
        "time" ("08:30", read as 8.5 hours), "hours_minutes" ("1:27", read as 87 minutes) and "duration" ("1:27" and
        "0:01:27", read as 87 seconds). "" leaves it to ``decimal`` and ``marks``.
    """

    missing: tuple[str, ...] = ()
    decimal: str = "."
    marks: tuple[str, ...] = ()
    format: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "missing", checked_words(self.missing, "The words for missing values"))
        object.__setattr__(self, "marks", checked_words(self.marks, "The units beside numbers"))
        check_choice(self.decimal, "The mark before decimals", (".", ","))
        check_choice(self.format, "The format of numbers", ("", *DECIMALS, *CLOCKS))
        object.__setattr__(self, "decimal", DECIMALS.get(self.format, self.decimal))

    def to_dict(self) -> dict[str, object]:
        """A value for JSON from which `from_dict` makes an equal one."""
        facts = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}
        return {name: value for name, value in facts.items() if name != "format" or value}

    @classmethod
    def from_dict(cls, value: object) -> Reading:
        """What `to_dict` wrote down; RequestError on anything else."""
        named = isinstance(value, dict) and "format" in value  # files of earlier versions do not say it
        return cls(**exact_fields(value, "reading", [name for name in field_names(cls) if named or name != "format"]))

    @property
    def characters(self) -> int:
        """Length of all its texts, which every release file holds."""
        return sum(map(len, (*self.missing, *self.marks)))

    def beside(self, unit: str) -> Reading:
        """The same, with a unit that may stand beside a number."""
        return replace(self, marks=(*self.marks, unit)) if unit and unit not in self.marks else self

    def numbers(self, name: str, array: pa.Array) -> Floats:
        """The values of a column as float64 (n,), NaN where one is missing, is a word for it, or is no number.

        RequestError when the values are neither text nor numbers, such as dates.
        """
        if pa.types.is_dictionary(array.type):
            found = np.append(self.numbers(name, array.dictionary), np.nan)
            decoded: Floats = found[to_numpy(pc.fill_null(array.indices, len(found) - 1))]
            return decoded
        if is_text(array.type):
            return self._of_any_texts(pc.cast(array, pa.large_string()))
        numbers = as_float64(name, array)
        return self._less_sentinels(numbers) if self.missing else numbers

    def _of_any_texts(self, texts: pa.Array) -> Floats:
        """Of texts that are nothing but digits the numbers at once, and of others by their parts: three times as fast.

        Both ways end in the same conversion, so a text means the same number in either.
        """
        if self.format in CLOCKS:
            seconds = each_once(texts, lambda some: _seconds_of(some, self.format, self.missing))
            return self._less_sentinels(seconds / CLOCKS[self.format])
        plain = pc.fill_null(pc.match_substring_regex(texts, PLAIN[self.decimal]), False)
        numbers = to_numpy(pc.cast(pc.if_else(plain, texts, pa.scalar(None, texts.type)), pa.float64())).copy()
        others = ~to_numpy(plain)
        if others.any():
            numbers[others] = each_once(texts.filter(pa.array(others)), self._of_texts)
        return self._less_sentinels(numbers) if self.missing else numbers

    def _of_texts(self, texts: pa.Array) -> Floats:
        beside = CURRENCIES if self.format else ()
        parts = pc.extract_regex(texts, _number_pattern(self.decimal, (*self.marks, *beside)))
        found = to_numpy(parts.is_valid())
        field = {part: parts.field(part) for part in ("open", "first", "second", "digits", "close")}
        plain = pc.replace_substring_regex(field["digits"], "[^0-9.,eE+-]", "")  # blanks and apostrophes
        plain = pc.replace_substring(plain, "," if self.decimal == "." else ".", "")
        plain = pc.replace_substring(plain, self.decimal, ".")
        numbers = to_numpy(pc.cast(pc.if_else(pc.equal(plain, ""), "nan", plain), pa.float64())).copy()
        opened = to_numpy(pc.equal(field["open"], "("))
        found &= opened == to_numpy(pc.equal(field["close"], ")"))
        minus = pa.array(["-", "\N{MINUS SIGN}"])
        signed = [to_numpy(pc.not_equal(field[sign], "")) for sign in ("first", "second")]
        found &= ~(signed[0] & signed[1])
        negative = opened | np.logical_or(*(to_numpy(pc.is_in(field[sign], minus)) for sign in ("first", "second")))
        numbers[negative] *= -1.0
        numbers[~found | to_numpy(pc.fill_null(are_words(texts, self.missing), True))] = np.nan
        return self._less_sentinels(numbers)

    def _less_sentinels(self, numbers: Floats) -> Floats:
        sentinels = _numbers_among(self.missing)
        return np.where(np.isin(numbers, sentinels), np.nan, numbers) if len(sentinels) else numbers


def _seconds_of(texts: pa.Array, clock: str, missing: tuple[str, ...]) -> Floats:
    """Seconds of times of day and of durations, by the first pattern of the format that a text follows; else NaN."""
    seconds = np.full(len(texts), np.nan)
    unread = ~to_numpy(pc.fill_null(are_words(texts, missing), True))
    for pattern in _CLOCK_PATTERNS[clock]:
        rows = np.flatnonzero(unread)
        parts = pc.extract_regex(texts.take(pa.array(rows)), pattern)
        found, total = to_numpy(parts.is_valid()), np.zeros(len(rows))
        said = np.zeros(len(rows), bool)
        for part, times in (("d", 86_400.0), ("h", 3_600.0), ("m", 60.0), ("s", 1.0)):
            if f"(?P<{part}>" not in pattern:
                continue
            digits = pc.replace_substring(pc.fill_null(parts.field(part), ""), ",", ".")
            said |= to_numpy(pc.not_equal(digits, ""))
            number = to_numpy(pc.cast(pc.if_else(pc.equal(digits, ""), "0", digits), pa.float64()))
            if part == "h" and "(?P<p>" in pattern:
                number, possible = on_twelve_hours(number, parts.field("p"))
                found &= possible
            total += number * times
        found &= said
        seconds[rows[found]] = total[found]
        unread[rows[found]] = False
    return seconds


def on_twelve_hours(hours: np.ndarray, halves: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Hours of the day from those beside "am" or "pm", where one stands, and whether there is such an hour."""
    half = pc.utf8_lower(pc.utf8_slice_codeunits(pc.fill_null(halves, ""), 0, 1))
    said = to_numpy(pc.not_equal(half, ""))
    afternoon = to_numpy(pc.equal(half, "p"))
    return np.where(said, hours % 12 + 12 * afternoon, hours), ~said | ((hours >= 1) & (hours <= 12))


def _numbers_among(words: tuple[str, ...]) -> list[float]:
    found: list[float] = []
    for word in words:
        try:
            found.append(float(word))
        except ValueError:
            continue
    return found


def are_words(texts: pa.Array, words: Sequence[str]) -> pa.Array:
    """Which texts are empty or one of the words, without regard to case and blanks around them."""
    plain = pc.utf8_lower(pc.utf8_trim_whitespace(texts))
    return pc.is_in(plain, pa.array(["", *(word.strip().lower() for word in words)], plain.type))


@lru_cache(maxsize=64)
def _number_pattern(decimal: str, marks: tuple[str, ...]) -> str:
    """The regular expression of a number with its sign, digits and what may stand beside it."""
    beside = "|".join(["%", r"\p{Sc}", *(f"(?i:{re.escape(mark)})" for mark in sorted(marks, key=len, reverse=True))])
    point = re.escape(decimal)
    digits = rf"(?:(?:{_GROUPS[decimal]}|\d+)(?:{point}\d*)?|{point}\d+)(?:[eE][-+]?\d{{1,3}})?"
    return (
        rf"^{_SPACE}(?P<open>\(?){_SPACE}(?P<first>{_SIGN}?){_SPACE}(?:(?:{beside}){_SPACE})?(?P<second>{_SIGN}?)"
        rf"(?P<digits>{digits}){_SPACE}(?:{beside})?{_SPACE}(?P<close>\)?){_SPACE}$"
    )


def each_once(array: pa.Array, read: Callable[[pa.Array], np.ndarray]) -> np.ndarray:
    """What a function makes of texts, value by value, called once for each different one; null like an empty text.

    The function must make the same of a text whatever stands beside it.
    """
    texts = pc.cast(array, pa.large_string())
    coded = texts.dictionary_encode()
    values: np.ndarray = read(pa.concat_arrays([coded.dictionary, pa.array([""], pa.large_string())]))
    every: np.ndarray = values[to_numpy(pc.fill_null(coded.indices, len(coded.dictionary)))]
    return every


# The least size at which two whole numbers are one floating-point number.
SHARED_FROM = {pa.float16(): 2**11, pa.float32(): 2**24, pa.float64(): 2**53}
NO_DIGITS = (
    "a number that is not whole, or a floating-point number so large that different whole numbers become one; keep "
    "such a column as whole numbers (in pandas the type 'Int64', where some are missing) or as text"
)
_WIDEST = pa.decimal256(76, 0)


def is_number(kind: pa.DataType) -> bool:
    """Whether the values of an Arrow type are numbers."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def beside_text(value: object) -> object:
    """A number as the text that says the same; what no text says, such as True, as it is, and Arrow refuses both."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer)) or math.isinf(value):
        return value
    digits = not isinstance(value, float) or (value.is_integer() and abs(value) < SHARED_FROM[pa.float64()])
    return str(int(value) if digits else float(value))


def whole_numbers(numbers: pa.Array, what: str) -> pa.Array:
    """Numbers as integers or, where they were decimals, as text of their digits; NaN is a missing value.

    `what`: How a refusal names them, such as "The column 'tags'".
    """
    if pa.types.is_integer(numbers.type):
        return numbers
    if pa.types.is_decimal(numbers.type):
        try:
            return pc.cast(pc.cast(numbers, _WIDEST), pa.large_string())
        except pa.ArrowInvalid:
            raise without_digits(what) from None
    values = numbers.to_numpy(zero_copy_only=False)  # null becomes NaN
    missing = np.isnan(values)
    if not (missing | ((np.abs(values) < SHARED_FROM[numbers.type]) & (np.floor(values) == values))).all():
        raise without_digits(what)
    return pa.array(np.where(missing, 0, values).astype(np.int64), mask=missing)


def without_digits(what: str) -> RequestError:
    """The refusal of a number that has no digits."""
    return RequestError(f"{what} holds {NO_DIGITS}.")
