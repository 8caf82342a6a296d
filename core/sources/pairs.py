"""Rows that hold an id and an item each: what sets are gathered from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import RequestError
from .duck import plain_sentences

PAIR_ROWS = 1 << 20
"""Rows that are read at a time, so that a batch of sets has about so many items."""
REFUSED = "is missing, and the domain says that missing values are refused"

Pair = tuple[pa.Array, pa.Array, int]
"""Ids and items of some rows, none missing, and how many rows of the source were read up to here."""


class Pairs(Protocol):
    """Rows of an id and an item, read from the beginning at every call.

    Ids are as `core.sources.people.Person` has them. Rows that miss an id or an item are left out, or refused
    where the domain says so.
    """

    @property
    def label(self) -> str:
        """How messages name the source."""
        ...

    def ids(self) -> Iterator[pa.Array]:
        """The ids alone, in the order of the source."""
        ...

    def in_order(self) -> Iterator[Pair]:
        """Ids and items in the order of the source."""
        ...

    def sorted(self) -> Iterator[Pair]:
        """Ids and items by ascending id."""
        ...


Reads = Callable[[Sequence[str], int], Iterator[pa.RecordBatch]]
"""From column names and a number of rows to batches of at most so many, in the order of the source."""


@dataclass(frozen=True)
class WholeNumbers:
    """Pairs whose ids and items are whole numbers, which need no query to be what they are.

    Attributes
    ----------
    label : str
        How messages name the source.
    read : Reads
        Gives the batches of some columns.
    id_name, item_name : str
        The two columns.
    refuse : bool
        Whether a missing value is refused rather than left out.
    queried : Pairs | None
        The same pairs, read by a query, which can sort; None where the ids are known to ascend.
    first_row : int
        Place of the first row in the source.
    """

    label: str
    read: Reads
    id_name: str
    item_name: str
    refuse: bool
    queried: Pairs | None
    first_row: int = 0

    def ids(self) -> Iterator[pa.Array]:
        with plain_sentences(self.label):
            for batch in self.read([self.id_name], PAIR_ROWS):
                yield batch.column(0).drop_null()

    def in_order(self) -> Iterator[Pair]:
        rows = 0
        with plain_sentences(self.label):
            for batch in self.read([self.id_name, self.item_name], PAIR_ROWS):
                ids, items = batch.columns
                if self.refuse:
                    self._check(ids, self.id_name, self.first_row + rows)
                    self._check(items, self.item_name, self.first_row + rows)
                rows += len(batch)
                yield (*known(ids, items), rows)

    def sorted(self) -> Iterator[Pair]:
        if self.queried is None:
            raise ValueError("Ids that are known to ascend need no query to sort them.")
        return self.queried.sorted()

    def _check(self, values: pa.Array, name: str, before: int) -> None:
        if values.null_count:
            row = before + int(np.argmax(values.is_null().to_numpy(zero_copy_only=False))) + 1
            raise RequestError(f"The value of the column {name!r} in row {row:,} of {self.label} {REFUSED}.")


def are_whole_numbers(*kinds: pa.DataType) -> bool:
    """Whether values of all these types are integers."""
    return all(map(pa.types.is_integer, kinds))


def known(ids: pa.Array, items: pa.Array) -> tuple[pa.Array, pa.Array]:
    """The rows that miss neither; texts with 64-bit places, as one set may have more than fit 32."""
    if ids.null_count or items.null_count:
        both = pc.and_(ids.is_valid(), items.is_valid())
        ids, items = ids.filter(both), items.filter(both)
    if pa.types.is_string(items.type):
        items = items.cast(pa.large_string())
    return ids, items
