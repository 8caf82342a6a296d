"""Formats in which values are written, each a function of one text: which fit it, and what it says by one of them.

Nothing here looks at two records together. So the formats that fit a record's texts are that record's own, and how
many records a format fits is a sum that one of them moves by one: it may be bought under a promise, and a column is
then read by the format that was found or declared, whatever stands beside it.

Some texts fit several: "12" is a number with either mark before decimals, "03/04/2024" a date in two orders, and 1 a
"yes". None fits more than `MOST_AT_ONCE`. What fits no other format is a category, or free text where it is long; what
is empty or a word for nothing fits "nothing" alone.

A hundred thousand texts take some 0.1 s: each different one is looked at once, and whether it may be a number only once
for all texts that differ in their digits.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import RequestError
from ..runtime.counter_tables import Array, Floats
from .column import to_numpy
from .written import CLOCKS, CURRENCIES, DECIMALS, NO_WORDS, NOTHING, YES_WORDS, Reading, are_words, each_once
from .written_dates import NEVER, ORDERS, UNIX, moments_of_texts

LONG_TEXT, MANY_WORDS = 60, 10  # Characters and words from which a text is more than the name of a category.
_CODE = r"^\s*0[0-9]{1,30}\s*$"
_IDENTIFIER = (
    r"^\s*(?:[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}|[^@\s]+@[^@\s]+\.[^@\s]+|https?://\S+|"
    r"[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,4})?|[0-9a-f]{32,64})\s*$"
)
_HOURS_AND_MINUTES = r"^[^A-Za-z]*[0-9]\s*(?i:h|std|stu|heu|hor|or[ae]|uur)[^0-9]*[0-9]+\s*(?i:m)[^0-9]*$"
_COMPACT = r"^\s*[0-9]{8}\s*$"
# Money has two decimals or none: "$ 1.234" is not written with a point before decimals, nor "€ 1,234" with a comma. But
# fuel has three, so such a text is marked: where the rest of its column has that mark before decimals, it has too.
_MONEY = r"\p{Sc}|" + "|".join(rf"(?i:\b{re.escape(one)})" for one in CURRENCIES)
MARKS = {"decimal_point": "decimal_comma", "decimal_comma": "decimal_point"}
"""The two marks before decimals, each with the other, which then separates thousands."""
_THOUSANDS = {
    name: rf"^[^0-9.,]*[1-9][0-9]{{0,2}}{mark}[0-9]{{3}}[^0-9.,]*$"
    for name, mark in (("decimal_point", "[.]"), ("decimal_comma", ","))
}


@dataclass(frozen=True)
class Format:
    """A way in which the values of a column are written."""

    name: str  # What a declaration calls it.
    kind: str  # "number", "date", "time", "duration", "yes_no", "code", "identifier", "category", "text" or "nothing".
    words: str  # For people, with an example.
    # What a declaration says of a column that is written so, besides its bounds or values; empty where there is no such
    # column.
    entry: Mapping[str, object] = field(default_factory=dict)

    def fits(self, texts: pa.Array) -> Array:
        """Whether each text is written so, bool (n,); of what is missing, "nothing" alone."""
        found: Array = (fitting(texts) >> FORMATS.index(self)) & 1 == 1
        return found

    def read(self, texts: pa.Array) -> Floats | Array | pa.Array:
        """What each text says.

        Float64 (n,) of numbers, of hours, minutes or seconds of clocks, and 1 and 0 of "yes" and "no", NaN where a text
        is none; of dates int64 seconds since 1970, `NEVER` where one is none; else the texts without blanks around
        them, null where one is nothing.
        """
        texts = pc.cast(texts, pa.large_string())
        if self.kind in ("number", "time", "duration"):
            return Reading(format=self.name).numbers(self.name, texts)
        if self.kind == "date":
            return each_once(texts, lambda some: moments_of_texts(some, str(self.entry["format"]), ""))
        if self.kind == "yes_no":
            said = np.array([1.0] * len(YES_WORDS) + [0.0] * len(NO_WORDS) + [np.nan])
            words = pa.array([*YES_WORDS, *NO_WORDS], pa.large_string())
            return said[to_numpy(pc.fill_null(pc.index_in(_plain(texts), words), -1))]
        trimmed = pc.utf8_trim_whitespace(texts)
        return pc.if_else(are_words(trimmed, NOTHING), pa.scalar(None, trimmed.type), trimmed)


FORMATS = (
    Format("yes_no", "yes_no", "yes or no, such as yes, Nein, oui, 1", {"kind": "yes_no"}),
    *(
        Format(name, "date", f"dates such as {example}", {"kind": "date", "format": written})
        for name, written, example in (
            ("year_first", "year_first", "2024-12-31 or 2024/12/31 08:30"),
            ("day_first", "day_first", "31.12.2024, 31/12/24 or 31 Dec 2024"),
            ("month_first", "month_first", "12/31/2024 or Dec 31, 2024"),
            ("compact_date", "%Y%m%d", "20241231"),
        )
    ),
    *(
        Format(name, kind, f"{kind}s {example}", {"kind": "number", "format": name} | facts)
        for name, kind, example, facts in (
            ("time", "time", "of day such as 08:30 or 8:30 pm", {"low": 0, "high": 24, "unit": "hours"}),
            ("duration", "duration", "such as 1:27 (minutes and seconds), 0:01:27 or PT1M27S", {"unit": "s"}),
            ("hours_minutes", "duration", "such as 1:27 (hours and minutes) or 1 h 27 min", {"unit": "min"}),
            ("decimal_point", "number", "such as 1200.5, 1,200.50 or € 12", {}),
            ("decimal_comma", "number", "such as 1200,5, 1.200,50 or 12 EUR", {}),
        )
    ),
    Format("code", "code", "codes that begin with a zero, such as 01067", {"kind": "category"}),
    Format("identifier", "identifier", "what names one person or thing, such as an e-mail address or a UUID"),
    Format("category", "category", "words or short texts", {"kind": "category"}),
    Format("text", "text", "free text", {"kind": "text_length"}),
    Format("nothing", "nothing", "no value: empty, or a word such as n/a or -"),
)
MOST_AT_ONCE = 3  # Formats that may fit one text.
_BIT = {one.name: np.uint32(1 << place) for place, one in enumerate(FORMATS)}
IN_THOUSANDS = 1 << len(FORMATS)
"""The bit, beside those of the formats, of money whose only mark is taken to separate thousands, such as "€ 1.459"."""


def format_of(name: str) -> Format:
    """The format of a name; RequestError where there is none."""
    for one in FORMATS:
        if one.name == name:
            return one
    raise RequestError(f"There is no format {str(name)!r}; there are: {', '.join(one.name for one in FORMATS)}.")


def entry_of(name: str) -> dict[str, object]:
    """What a declaration says of a column by its format: a name, or directives of dates; empty where none is said."""
    if not name:
        return {}
    if "%" in name or name == UNIX:
        return {"kind": "date", "format": name}
    entry = dict(format_of(name).entry)
    if not entry:
        raise RequestError(f"The format {name!r} is of no column that is released.")
    return entry


def fitting(texts: pa.Array) -> Array:
    """The formats that fit each text, uint32 (n,): a bit each, by its place in `FORMATS`, and one or more.

    `texts`: Of texts, or of dictionary-encoded ones.
    """
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
    coded = texts if pa.types.is_dictionary(texts.type) else pc.cast(texts, pa.large_string()).dictionary_encode()
    found = np.append(_of_different(pc.cast(coded.dictionary, pa.large_string())), _BIT["nothing"])
    places: Array = found[to_numpy(pc.fill_null(coded.indices, len(coded.dictionary)))]
    return places


def with_its_decimals(bits: Array) -> Array:
    """The formats that fit the texts of one column, of which more has one mark before decimals than the other.

    "€ 1.459" beside "€ 1.5" and "€ 0.989" is a price of a litre, and no thousand. With noise
    `releases.discovery_reading` decides it.
    """
    for name, other in MARKS.items():
        grouped = bits & IN_THOUSANDS != 0
        surely = [
            np.count_nonzero(~grouped & (bits & (_BIT[one] | _BIT[MARKS[one]]) == _BIT[one])) for one in (name, other)
        ]
        if surely[0] > surely[1]:
            return np.where(grouped & (bits & _BIT[other] != 0), bits | _BIT[name], bits)
    return bits


def chosen(counts: Mapping[str, float], prefer: Sequence[str] = ()) -> Format:
    """The format of a column from how many records each fits, which may be noisy.

    One that leaves out fewer than a fifth of the values is taken, and of several that leave out about as few the one
    that says more: that stands first, among ``prefer`` or else in `FORMATS`. Codes beat numbers where one in fifty
    begins with a zero. Where none does, values are categories, free text or identifiers, whichever are most.

    `counts`: By the format's name, and under "records" how many there are.
    """
    written = max(1.0, counts["records"] - max(0.0, counts.get("nothing", 0.0)))
    share = {one.name: counts.get(one.name, 0.0) / written for one in FORMATS}
    if share["code"] >= CODES and share["code"] + max(share[name] for name in DECIMALS) >= MOST_OF_THEM:
        return format_of("code")
    order = [*map(format_of, prefer), *FORMATS]
    structured = [one for one in order if one.kind not in ("code", "identifier", "category", "text", "nothing")]
    best = max(share[one.name] for one in structured)
    if best >= MOST_OF_THEM:
        return next(one for one in structured if share[one.name] >= best - ABOUT)
    return max(map(format_of, ("category", "code", "text", "identifier")), key=lambda one: share[one.name])


MOST_OF_THEM, ABOUT, CODES = 0.8, 0.005, 0.02


def _plain(texts: pa.Array) -> pa.Array:
    return pc.utf8_lower(pc.utf8_trim_whitespace(texts))


def _of_different(texts: pa.Array) -> Array:
    """The formats that fit each of different texts."""
    bits = np.zeros(len(texts), np.uint32)
    nothing = to_numpy(are_words(texts, NOTHING))
    bits[nothing] = _BIT["nothing"]
    bits[to_numpy(pc.is_in(_plain(texts), pa.array([*YES_WORDS, *NO_WORDS], texts.type)))] |= _BIT["yes_no"]
    with_digits = np.flatnonzero(to_numpy(pc.match_substring_regex(texts, "[0-9]")) & ~nothing)
    some = texts.take(pa.array(with_digits))
    shapes = _shapes(some).dictionary_encode()
    by_shape = _of_shapes(shapes.dictionary)[to_numpy(shapes.indices)]
    bits[with_digits] |= by_shape & _FITTING
    for name in ("year_first", "day_first", "month_first", "compact_date", *CLOCKS):
        rows = np.flatnonzero(by_shape & _MAYBE[name])
        if not len(rows):  # as of most names, and to read nothing takes a millisecond
            continue
        read = np.asarray(format_of(name).read(some.take(pa.array(rows))))
        bits[with_digits[rows[(read != NEVER) & ~np.isnan(read)]]] |= _BIT[name]
    # Beside "1 h 20 min" a 0:55 says hours and minutes, so that says so as well, though either format reads it.
    told = np.flatnonzero(bits & _BIT["hours_minutes"] != 0)
    bits[told[to_numpy(pc.match_substring_regex(texts.take(pa.array(told)), _HOURS_AND_MINUTES))]] &= ~_BIT["duration"]
    other = np.flatnonzero(bits == 0)
    rest = texts.take(pa.array(other))
    identifier = to_numpy(pc.match_substring_regex(rest, _IDENTIFIER))
    long = to_numpy(pc.greater_equal(pc.utf8_length(rest), LONG_TEXT))
    long |= to_numpy(pc.greater_equal(pc.count_substring_regex(rest, r"\S\s+\S"), MANY_WORDS - 1))
    bits[other] = np.where(identifier, _BIT["identifier"], np.where(long, _BIT["text"], _BIT["category"]))
    return bits


_FITTING = np.uint32(_BIT["decimal_point"] | _BIT["decimal_comma"] | _BIT["code"] | IN_THOUSANDS)
_MAYBE = {name: np.uint32(2 * IN_THOUSANDS << place) for place, name in enumerate((*ORDERS, "compact_date", *CLOCKS))}


def _shapes(texts: pa.Array) -> pa.Array:
    """The texts with a 9 for every digit but 0: what is a number, a code or may be a date is one by its shape."""
    _, ends, letters = texts.buffers()
    plain = np.frombuffer(letters, np.uint8).copy() if letters is not None else np.empty(0, np.uint8)
    plain[(plain > ord("0")) & (plain < ord("9"))] = ord("9")
    return pa.LargeStringArray.from_buffers(len(texts), ends, pa.py_buffer(plain), offset=texts.offset)


def _of_shapes(shapes: pa.Array) -> Array:
    """Formats that fit all texts of a shape, and `_MAYBE` those that have to be looked at."""
    bits = np.zeros(len(shapes), np.uint32)
    code = to_numpy(pc.match_substring_regex(shapes, _CODE))
    bits[code] |= _BIT["code"]
    for name in DECIMALS:
        # The least digits that there are say the same of the shape, without the largest exponents.
        bits[np.isfinite(Reading(format=name).numbers(name, shapes)) & ~code] |= _BIT[name]
    money = to_numpy(pc.match_substring_regex(shapes, _MONEY))
    for name, pattern in _THOUSANDS.items():
        grouped = money & to_numpy(pc.match_substring_regex(shapes, pattern)) & (bits & _BIT[name] != 0)
        bits[grouped] ^= _BIT[name] | np.uint32(IN_THOUSANDS)
        below_one = to_numpy(pc.match_substring_regex(shapes, pattern.replace("[1-9][0-9]{0,2}", "0")))
        bits[below_one] &= ~_BIT[MARKS[name]]
    for name, patterns in (*ORDERS.items(), ("compact_date", (_COMPACT,))):
        for pattern in patterns:
            bits[to_numpy(pc.match_substring_regex(shapes, pattern))] |= _MAYBE[name]
    clocks = to_numpy(pc.match_substring_regex(shapes, r"^\s*(?:\d{1,5}\s*[:A-Za-z]|P)")) & ~code
    # A time says its hours by two digits, or its half of the day: 1:27 alone is a duration.
    bits[to_numpy(pc.match_substring_regex(shapes, r"^\s*\d{2}[:h]\d{2}|(?i:[ap]\.?m\.?|uhr)\s*$"))] |= _MAYBE["time"]
    for name in ("duration", "hours_minutes"):
        bits[clocks] |= _MAYBE[name]
    return bits


_PLAIN = r"^-?[0-9]+(?:[.][0-9]*)?(?:[eE][-+]?[0-9]+)?$"


def guessed(columns: Sequence[pa.Array], comma: bool) -> Iterator[tuple[str, str]]:
    """The kind of each column of texts as its first values look, and their format, for the owner's eyes alone.

    Kinds are "number", "date", "boolean" and "text"; the format is "" where a column is read without one. Where one
    column surely has a comma before its decimals, all numbers of the table have.

    `comma`: Whether a number that may have either mark before decimals has a comma, as in files separated by
    semicolons.
    """
    sizes = np.cumsum([0, *map(len, columns)])
    every = fitting(pa.concat_arrays(columns))
    fits = [with_its_decimals(every[first:last]) for first, last in pairwise(sizes)]
    found = []
    for bits in fits:
        counts = {one.name: float(np.count_nonzero(bits >> place & 1)) for place, one in enumerate(FORMATS)}
        found.append((chosen(counts | {"records": len(bits)}, ("decimal_comma",) if comma else ()), counts))
    commas = any(one.name == "decimal_comma" and counts["decimal_point"] < counts[one.name] for one, counts in found)
    for (one, counts), values, bits in zip(found, columns, fits, strict=True):
        if commas and one.kind == "number" and counts["decimal_comma"] >= counts["decimal_point"]:
            yield "number", "decimal_comma"
        else:
            yield _kind_of(one, values.filter(pa.array(bits != _BIT["nothing"])))


def _kind_of(one: Format, written: pa.Array) -> tuple[str, str]:
    if not len(written) or one.kind in ("category", "text", "code", "identifier"):
        return "text", one.name if len(written) and one.name != "category" else ""
    comma = one.name == "decimal_comma"  # by which 1.971 is a year
    plain = to_numpy(pc.match_substring_regex(written, r"^-?[0-9]+$" if comma else _PLAIN))
    if one.kind == "yes_no":
        return ("number", "") if plain.all() else ("boolean", "yes_no")
    if one.kind in ("number", "duration"):
        return "number", "" if plain.all() else one.name
    iso = one.name == "year_first" and (moments_of_texts(written, "", "") != NEVER).all()
    return "date", "" if iso else one.name
