"""Columns of free text and of sets of items: what may be kept of them.

Free text itself is no column: whatever anyone wrote could be in it, and nothing public bounds it. What may be kept is
how long it is, or which of some chosen words it has.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import RequestError
from ..runtime.counter_tables import Floats
from ..runtime.parameters import check_choice, check_text
from .categorical import Categorical
from .column import ReadColumn, Scalar, checked_bounds, describe_type, is_list, is_text, to_numpy
from .item_sets import Sets, item_keys
from .numeric import Numeric
from .written import MOST_WORDS, are_words

LONGEST_TEXT = 1e9


@dataclass(frozen=True)
class TextLength(Scalar):
    """How long a text is, in characters or in words, up to a public number.

    Parameters
    ----------
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


@dataclass(frozen=True)
class Items(ReadColumn):
    """A set of items a record: what is in a basket, which tags a text bears, whom a person follows.

    An item is any text or number (`core.domain.item_sets` says which of them are one); how often it stands in a set,
    and where, means nothing. There is no public list of items and no bound on how many a set may have.

    Parameters
    ----------
    gathered : bool
        False where the column holds whole sets: lists, or texts that ``separator`` cuts into items. True where every
        row of the source holds one item, and all rows of one value of the privacy unit's column are one set.
    separator : str | None
        Text between the items of a set; blanks around an item are left out, and so are empty items.
    """

    name: str
    gathered: bool = False
    separator: str | None = None
    kind: ClassVar[str] = "items"
    width: ClassVar[int] = 0  # A set has no coordinates.

    def __post_init__(self) -> None:
        check_text(self.name, "A column name")
        if not isinstance(self.gathered, bool):
            raise RequestError(f"Whether the sets of {self.name!r} are gathered from rows must be true or false.")
        if self.separator is not None:
            check_text(self.separator, f"The separator of {self.name!r}")
            if self.gathered:
                raise RequestError(
                    f"The column {self.name!r} has one item a row where sets are gathered, so nothing separates items."
                )

    @property
    def characters(self) -> int:
        """Length of its name and separator, which every release file holds."""
        return len(self.name) + len(self.separator or "")

    def bounds(self, amplitude: float) -> tuple[float, float]:
        """As of other columns; TypeError, as a set has no coordinates."""
        raise TypeError("Sets have no coordinates.")

    def read_sets(self, array: pa.Array) -> Sets:
        """The sets of an Arrow array, one a value; a missing value is an empty set, and missing items are left out.

        RequestError when the values are neither lists of items nor texts to be cut.
        """
        what = f"The column {self.name!r}"
        if self.separator is not None and not is_list(array.type):
            array = self._cut(array)
        if pa.types.is_null(array.type):
            return Sets.of_sizes(np.zeros(len(array), np.int64), np.empty(0, np.uint64))
        if not is_list(array.type):
            other = (
                ""
                if self.separator
                else (
                    "; where a row holds one item, gather the rows of one set, and where it holds a text of many, say "
                    "what separates them"
                )
            )
            raise RequestError(f"{what} holds {describe_type(array.type)} where lists of items are expected{other}.")
        sizes = to_numpy(pc.fill_null(pc.list_value_length(array), 0)).astype(np.int64)
        keys, present = item_keys(array.flatten(), what)
        sets = Sets.of_sizes(sizes, keys)
        if present is None:
            return sets
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(present, dtype=np.int64)])
        return Sets(before[sets.first], keys[present])

    def _cut(self, array: pa.Array) -> pa.Array:
        """Lists of texts from texts."""
        try:
            texts = pc.cast(array, pa.large_string())
        except pa.ArrowException:
            raise RequestError(
                f"The column {self.name!r} holds {describe_type(array.type)} where lists, or texts to be cut, are "
                "expected."
            ) from None
        lists = pc.split_pattern(texts, self.separator)
        items = pc.utf8_trim_whitespace(lists.values)
        items = pc.if_else(pc.equal(items, ""), None, items)
        return pa.LargeListArray.from_arrays(pc.cast(lists.offsets, pa.int64()), items)
