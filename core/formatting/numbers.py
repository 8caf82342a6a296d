"""Numbers, sizes and times as people should read them: with the digits that their error supports, and no more.

A number is rounded to the largest power of ten that is not above its standard error, so rounding moves it by half an
error at most: 6,483 ± 95 is shown as 6,480 and 6,483 ± 140 as 6,500. A number without a known error is rounded to so
many significant digits: two of what is only an estimate, three of an ε or a probability, all of what someone typed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

EXACT_DIGITS = 12  # Digits shown of a number without error; beyond them floating point itself is in doubt.
MINUS = "\N{MINUS SIGN}"
UNKNOWN = "unknown"
LARGE, SMALL = 1e15, 1e-9  # From here on, and below there, a number is written with a power of ten.
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
LEAST_SHARE = 1e-5
ALMOST_NOTHING = 0.001  # A budget below this buys noise alone.
THOUSANDS_FROM = 10_000  # Numbers of columns below it go without separators, so that years read as years.
TIMES_FROM = 10  # From here on a share is no share any more, but so many times.


def place(error: float) -> int:
    """The exponent k of the largest power of ten, 10**k, that is not above a finite error above zero."""
    if not 0 < error < math.inf:
        raise ValueError("Only a finite error above zero has a place.")
    exponent = math.floor(math.log10(error))
    # The logarithm of a power of ten may fall just beside the whole number.
    return exponent + (10.0 ** (exponent + 1) <= error) - (10.0**exponent > error)


def rounded(value: float, error: float) -> str:
    """A number in the digits that its error supports, with separators between thousands.

    `error`: Its standard error, in the same unit; 0 for an exact number. Of infinite error, nothing is known.

    Examples
    --------
    >>> rounded(6483, 95), rounded(6483, 140), rounded(0.0123, 0.004), rounded(2000, 0.00006)
    ('6,480', '6,500', '0.012', '2,000')
    """
    return _digits(value, error, round)


def best_guess(value: float, error: float) -> str:
    """`rounded`; or two digits of a number whose error nobody knows, as its size is known nevertheless.

    Examples
    --------
    >>> best_guess(6483, 95), best_guess(6483, float("inf"))
    ('6,480', '6,500')
    """
    if math.isfinite(value) and not math.isfinite(error):
        return significant(value, 2)
    return rounded(value, error)


def rounded_range(low: float, high: float, error: float) -> tuple[str, str]:
    """Both ends of an interval, rounded outwards, so that it still holds what it promises to hold.

    Examples
    --------
    >>> rounded_range(6258.6, 6707.4, 95)
    ('6,250', '6,710')
    """
    return _digits(low, error, math.floor), _digits(high, error, math.ceil)


def rounded_all(values: np.ndarray, errors: np.ndarray) -> list[str]:
    """`best_guess` of every value with its own error, both of shape (n,)."""
    return [best_guess(float(value), float(error)) for value, error in zip(values, errors, strict=True)]


def significant(value: float, digits: int) -> str:
    """A number in so many significant digits, with separators between thousands.

    Examples
    --------
    >>> significant(2024.7, 3), significant(0.012345, 2), significant(6.1352e9, 4), significant(3e-12, 2)
    ('2,020', '0.012', '6,135,000,000', '3 × 10⁻¹²')
    """
    if math.isnan(value):
        return UNKNOWN
    if math.isinf(value):
        return "∞" if value > 0 else MINUS + "∞"
    rounded = Decimal(f"{value:.{digits - 1}e}").normalize()
    if rounded and not SMALL <= abs(rounded) < LARGE:
        power = rounded.adjusted()
        text = f"{rounded.scaleb(-power):f} × 10{str(power).translate(SUPERSCRIPTS)}"
    else:
        text = f"{rounded:,f}"
    return text.replace("-", MINUS)


def number(value: float) -> str:
    """A public number as it was typed, with separators between thousands."""
    return significant(value, EXACT_DIGITS)


def bound(value: float) -> str:
    """A bound of a column as it was typed; separators begin at ten thousand, so that years read as years.

    Examples
    --------
    >>> bound(1925), bound(12000), bound(0.5)
    ('1925', '12,000', '0.5')
    """
    return number(value) if abs(value) >= THOUSANDS_FROM else number(value).replace(",", "")


def about(count: float, digits: int = 2) -> str:
    """A number of people or things in so many significant digits, written out.

    Examples
    --------
    >>> about(1234567), about(8.4), about(0.6)
    ('1,200,000', '8', '1')
    """
    return f"{float(f'{count:.{digits}g}'):,.0f}"


def percent(share: float, digits: int = 2) -> str:
    """A share as a percentage in so many digits; it never rounds up to certainty, nor shows what is too little to see.

    Examples
    --------
    >>> percent(0.0345), percent(0.731, 3), percent(0.99999, 3), percent(1e-12)
    ('3.5%', '73.1%', 'more than 99.9%', 'less than 0.001%')
    >>> percent(2.4), percent(6.1e7)
    ('240%', '61,000,000 times')
    """
    if not math.isfinite(share):
        return number(share)
    if 0 < share < LEAST_SHARE:
        return f"less than {significant(100 * LEAST_SHARE, 1)}%"
    if share >= TIMES_FROM:
        return f"{significant(share, digits)} times"
    text = significant(100 * share, digits)
    if share < 1 and text == "100":
        return f"more than {100 - 10.0 ** (2 - digits):.{digits - 2}f}%"
    return f"{text}%"


def percent_within(share: float, error: float) -> str:
    """A share as a percentage in the digits that its error supports, and three at most.

    Examples
    --------
    >>> percent_within(0.45382, 0.0000012), percent_within(0.45382, 0.02)
    ('45.4%', '45%')
    """
    most = 10.0 ** (math.floor(math.log10(100 * abs(share))) - 2) if share else 0.0
    return f"{rounded(100 * share, max(100 * error, most))}%"


def _digits(value: float, error: float, towards: Callable[[float], int]) -> str:
    if math.isnan(value) or math.isnan(error):
        return UNKNOWN
    if error == 0 or math.isinf(value):
        return number(value)
    if math.isinf(error):
        return UNKNOWN
    k = max(place(error), 0) if float(value).is_integer() else place(error)  # a count has no parts of a record
    # Powers of ten above 1 are exact in floating point and those below are not, so neither branch divides by 10**-n.
    whole = towards(value * 10.0**-k) if k < 0 else towards(value / 10.0**k)
    text = f"{whole * 10**k:,}" if k >= 0 else f"{whole / 10**-k:,.{-k}f}"
    return text.replace("-", MINUS)


def amount(epsilon: Decimal) -> str:
    """An ε as it stands on a price tag: exact, with at least one decimal place."""
    text = format(epsilon.normalize(), "f")
    return text if "." in text else f"{text}.0"


def left_in_words(epsilon: Decimal | float, written: str) -> str:
    """What is left of a budget: as it is ``written``, or in words where that is too little for any release."""
    if epsilon <= 0:
        return "nothing"
    return "almost nothing" if epsilon < ALMOST_NOTHING else written


def rounded_down(epsilon: Decimal) -> Decimal:
    """What is left of a budget, in three digits and never more than there is."""
    if epsilon <= 0:
        return Decimal(0)
    step = Decimal(1).scaleb(epsilon.adjusted() - 2)
    return (epsilon // step) * step


BYTES = (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("KB", 1e3))
SECONDS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))
# From this share of a unit on it is that unit, as two digits of a smaller one would be a hundred or a thousand.
NEARLY = 0.995


def size(count: float) -> str:
    """A number of bytes in two digits.

    Examples
    --------
    >>> size(999_500), size(23_456), size(612)
    ('1 MB', '23 KB', '612 bytes')
    """
    for unit, one in BYTES:
        if count >= NEARLY * one:
            return f"{significant(count / one, 2)} {unit}"
    return f"{count:,.0f} bytes"


def taken(seconds: float) -> str:
    """A time that was measured, in two digits.

    Examples
    --------
    >>> taken(0.0123), taken(75)
    ('12 ms', '75 s')
    """
    for unit, one in SECONDS:
        if seconds >= NEARLY * one:
            return f"{significant(seconds / one, 2)} {unit}"
    return f"{significant(seconds / 1e-9, 2)} ns"


def wait(seconds: float) -> str:
    """A time to wait that was forecast, no more precisely than anyone can know.

    Examples
    --------
    >>> wait(0.2), wait(63), wait(500), wait(9000)
    ('a second', 'about 63 seconds', 'about 8 minutes', 'about 2 hours')
    """
    if seconds < 1.5:
        return "a second"
    if seconds < 90:
        return f"about {seconds:.0f} seconds"
    return f"about {seconds / 60:.0f} minutes" if seconds < 5400 else f"about {seconds / 3600:.0f} hours"


def time_left(seconds: float) -> str:
    """How much longer something takes: as `wait`, in steps of five seconds so that it does not flicker.

    Examples
    --------
    >>> time_left(3), time_left(63), time_left(500)
    ('a few seconds left', 'about 65 seconds left', 'about 8 minutes left')
    """
    if seconds < 8:
        return "a few seconds left"
    return f"{wait(5 * max(2, round(seconds / 5)) if seconds < 90 else seconds)} left"


def with_unit(number: str, unit: str) -> str:
    """A number and its unit; the sign of a degree stands close to it.

    Examples
    --------
    >>> with_unit("3", "km"), with_unit("-12", "°"), with_unit("7", "")
    ('3 km', '-12°', '7')
    """
    return f"{number}{unit}" if unit == "°" else f"{number} {unit}".rstrip()


LONGEST_NAME = 80
LONGEST_LABEL = 24


def shown(text: str) -> str:
    """A name from a stranger's file as it may stand in a sentence: one line, of bearable length, nothing invisible.

    Examples
    --------
    >>> shown("a\\nb\\x1b[31m")
    'a b\N{REPLACEMENT CHARACTER}[31m'
    """
    line = "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in " ".join(text.split()))
    return shortened(line, LONGEST_NAME)


def shortened(text: str, longest: int = LONGEST_LABEL) -> str:
    """A text of bearable length, as the label of an axis unless told otherwise."""
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def listed(names: Sequence[str], most: int = 6, last: str = "and") -> str:
    """Names as a list in words, the first few of many.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed("abcdefgh", most=3)
    ('a, b and c', 'a, b, c and 5 more')
    """
    names = [shown(name) for name in names]
    if len(names) > most + 1:
        names = [*names[:most], f"{len(names) - most:,} more"]
    return "".join(names) if len(names) < 2 else ", ".join(names[:-1]) + f" {last} " + names[-1]


_COUNTED = re.compile(r"\s*([<≤>≥]?)\s*(-?(?!0\d)\d{1,4})(?!\d)")
MOST_COUNTED = 12  # Values that are a scale; of more, codes of places among them, the most frequent are of interest.


def in_rising_order(values: Sequence[str]) -> list[str] | None:
    """Answers, grades and age bands by the numbers that they begin with, others last; None of names and codes.

    Examples
    --------
    >>> in_rising_order(["25-34", "65+", "<18", "18-24", "other"])
    ['<18', '18-24', '25-34', '65+', 'other']
    >>> in_rising_order(["01004", "01053", "Bern"])
    """
    numbers = {value: _COUNTED.match(value) for value in values}
    keys = {value: (int(one[2]), "<≤".find(one[1] or "?") < 0) for value, one in numbers.items() if one is not None}
    if not max(2, len(values) - 2) <= len(keys) <= MOST_COUNTED:
        return None
    return [*sorted(keys, key=keys.__getitem__), *(value for value in values if value not in keys)]


def plural(number: int, one: str, many: str | None = None) -> str:
    """The noun that suits a number.

    Examples
    --------
    >>> plural(1, "set"), plural(0, "set"), plural(2, "is", "are")
    ('set', 'sets', 'are')
    """
    return one if number == 1 else many or f"{one}s"


PEOPLE = {"person": "people", "child": "children", "man": "men", "woman": "women", "datum": "data", "series": "series"}


def several(one: str) -> str:
    """More than one of what a word or two name.

    Examples
    --------
    >>> [several(one) for one in ("star", "person", "city", "box", "hospital stay", "ill person")]
    ['stars', 'people', 'cities', 'boxes', 'hospital stays', 'ill people']
    """
    before, _, last = one.rpartition(" ")
    if last in PEOPLE:
        many = PEOPLE[last]
    elif last.endswith("y") and not last.endswith(("ay", "ey", "oy", "uy")):
        many = f"{last[:-1]}ies"
    else:
        many = f"{last}es" if last.endswith(("s", "x", "z", "ch", "sh")) else f"{last}s"
    return f"{before} {many}".strip()


def count(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun.

    Examples
    --------
    >>> count(1, "file"), count(12_000, "row")
    ('1 file', '12,000 rows')
    """
    return f"{number:,} {plural(number, one, many)}"


def lowered(text: str) -> str:
    """A sentence as it goes on after a colon."""
    return text[:1].lower() + text[1:]


def day(when: datetime | str) -> str:
    """The day of a time, in ISO 8601 where it is a text, as people write it."""
    moment = datetime.fromisoformat(when) if isinstance(when, str) else when
    return f"{moment.day} {moment:%B} {moment.year}"


def minute(when: str) -> str:
    """A time in ISO 8601 to the minute, as people write it."""
    return f"{day(when)}, {datetime.fromisoformat(when):%H:%M %Z}"
