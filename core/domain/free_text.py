"""What may be kept of free text: how long it is, or which of some chosen words it has.

Free text itself is no column: whatever anyone wrote could be in it, and nothing public bounds it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..checks import check_choice, check_text
from ..errors import RequestError
from ..machine.array_types import Floats
from .categorical import Categorical
from .column import checked_bounds, describe_type, is_text, to_numpy
from .numeric import Numeric
from .scalar import Scalar
from .written import MOST_WORDS, are_words

LONGEST_TEXT = 1e9


@dataclass(frozen=True)
class TextLength(Scalar):
    """How long a text is, in characters or in words, up to a public number.

    Parameters
    ----------
    name : str
        Column name.
    high : float
        The length from which all texts count as equally long.
    counts : str
        "characters" or "words", which are what blanks separate.
    of : str
        The source's column, where that has another name.
    """

    name: str
    high: float
    counts: str = "characters"
    of: str = ""
    kind: ClassVar[str] = "text_length"
    low: ClassVar[float] = 0.0
    later: ClassVar[tuple[str, ...]] = ("of",)

    def __post_init__(self) -> None:
        check_text(self.name, "A column name")
        _, high = checked_bounds(self.name, 0.0, self.high)
        if high > LONGEST_TEXT:
            raise RequestError(f"The longest text of {self.name!r} may have {LONGEST_TEXT:,.0f} characters.")
        object.__setattr__(self, "high", high)
        check_choice(self.counts, f"What is counted of {self.name!r}", ("characters", "words"))
        if self.of != "":
            check_text(self.of, f"The source of {self.name!r}")

    @property
    def unit(self) -> str:
        """What is counted."""
        return self.counts

    def numbers(self, array: pa.Array) -> Floats:
        texts = _texts(self.name, array)
        counted = pc.utf8_length(texts) if self.counts == "characters" else pc.count_substring_regex(texts, r"\S+")
        return to_numpy(pc.cast(counted, pa.float64()))

    @property
    def as_asked(self) -> Numeric:
        """The column of a table of questions, where values are numbers."""
        return Numeric(self.name, self.low, self.high, self.unit)


@dataclass(frozen=True)
class ChosenWords(Categorical):
    """The first of some chosen words that a text has, or none of them.

    Parameters
    ----------
    name : str
        Column name.
    categories : tuple[str, ...]
        The words, looked for in this order without regard to case, as words or beginnings of words; and last what a
        text without any of them is called, such as "other".
    written, missing, missing_category : tuple[tuple[str, ...], ...], tuple[str, ...], str
        As of `Categorical`; ``written`` are other words for the same.
    of : str
        The source's column, where that has another name.
    """

    of: str = ""
    kind: ClassVar[str] = "words"
    later: ClassVar[tuple[str, ...]] = (*Categorical.later, "of")

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.categories) > MOST_WORDS + 1:
            raise RequestError(f"At most {MOST_WORDS} words may be looked for in {self.name!r}.")
        if self.of != "":
            check_text(self.of, f"The source of {self.name!r}")

    def codes(self, array: pa.Array) -> np.ndarray:
        """Index of the first word that each text has; -1 where there is no text."""
        texts = _texts(self.name, array)
        codes = np.full(len(texts), len(self.categories) - 1, np.int32)
        for place in range(len(self.categories) - 2, -1, -1):
            words = (self.categories[place], *(self.written[place] if self.written else ()))
            for word in words:
                codes[to_numpy(pc.fill_null(_has(texts, word), False))] = place
        codes[to_numpy(pc.is_null(texts))] = -1
        return codes


def _has(texts: pa.Array, word: str) -> pa.Array:
    """Which texts have a word, or one that begins with it."""
    escaped = "".join(character if character.isalnum() else rf"\x{{{ord(character):x}}}" for character in word)
    return pc.match_substring_regex(texts, rf"(?i)(?:^|[^\pL\pN]){escaped}")


def _texts(name: str, array: pa.Array) -> pa.Array:
    """Texts as Arrow's large strings, empty ones as null."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if not (is_text(array.type) or pa.types.is_null(array.type)):
        raise RequestError(f"The column {name!r} holds {describe_type(array.type)} where text is expected.")
    texts = pc.cast(array, pa.large_string())
    return pc.if_else(are_words(texts, ()), pa.scalar(None, pa.large_string()), texts)
