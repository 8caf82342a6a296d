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

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..checks import check_choice, check_text, exact_fields, field_names
from ..errors import RequestError
from ..runtime.array_types import Floats
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
    """

    missing: tuple[str, ...] = ()
    decimal: str = "."
    marks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "missing", checked_words(self.missing, "The words for missing values"))
        object.__setattr__(self, "marks", checked_words(self.marks, "The units beside numbers"))
        check_choice(self.decimal, "The mark before decimals", (".", ","))

    def to_dict(self) -> dict[str, object]:
        """A value for JSON from which `from_dict` makes an equal one."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, value: object) -> Reading:
        """What `to_dict` wrote down; RequestError on anything else."""
        return cls(**exact_fields(value, "reading", field_names(cls)))

    @property
    def characters(self) -> int:
        """Length of all its texts, which every release file holds."""
        return sum(map(len, (*self.missing, *self.marks)))

    def beside(self, unit: str) -> Reading:
        """The same, with a unit that may stand beside a number."""
        return replace(self, marks=(*self.marks, unit)) if unit and unit not in self.marks else self

    def numbers(self, name: str, array: pa.Array) -> Floats:
        """The values of a column as float64 (n,), NaN where one is missing, is a word for it, or is no number.

        Raises
        ------
        RequestError
            When the values are neither text nor numbers, such as dates.
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
        plain = pc.fill_null(pc.match_substring_regex(texts, PLAIN[self.decimal]), False)
        numbers = to_numpy(pc.cast(pc.if_else(plain, texts, pa.scalar(None, texts.type)), pa.float64())).copy()
        others = ~to_numpy(plain)
        if others.any():
            numbers[others] = each_once(texts.filter(pa.array(others)), self._of_texts)
        return self._less_sentinels(numbers) if self.missing else numbers

    def _of_texts(self, texts: pa.Array) -> Floats:
        parts = pc.extract_regex(texts, _number_pattern(self.decimal, self.marks))
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


def whole_numbers(numbers: pa.Array, what: str) -> pa.Array:
    """Numbers as integers or, where they were decimals, as text of their digits; NaN is a missing value.

    Parameters
    ----------
    what : str
        How a refusal names them, such as "The column 'tags'".
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
