"""Columns of sets of items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..checks import check_text
from ..errors import RequestError
from .column import describe_type, is_list, to_numpy
from .item_keys import item_keys
from .sets import Sets


@dataclass(frozen=True)
class Items:
    """A set of items a record: what is in a basket, which tags a text bears, whom a person follows.

    An item is any text or number (`core.domain.item_keys` says which of them are one); how often it stands in a set,
    and where, means nothing. There is no public list of items and no bound on how many a set may have.

    Parameters
    ----------
    name : str
        Column name.
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
    width: ClassVar[int] = 0
    """A set has no coordinates."""

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

    @property
    def field(self) -> str:
        """The source's column that it is read from."""
        return self.name

    @property
    def as_written(self) -> bool:
        """Whether a text table gives its values as they are written."""
        return True

    def bounds(self, amplitude: float) -> tuple[float, float]:
        """As of other columns; TypeError, as a set has no coordinates."""
        raise TypeError("Sets have no coordinates.")

    def read_sets(self, array: pa.Array) -> Sets:
        """The sets of an Arrow array, one a value; a missing value is an empty set, and missing items are left out.

        Raises
        ------
        RequestError
            When the values are neither lists of items nor texts to be cut.
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
