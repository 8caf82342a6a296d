"""Sets of items, back to back: what a record is when it is a basket, a list of tags, or a person's friends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import RequestError
from ..machine.array_types import Integers, Words
from ..machine.compiled_code import njit
from .item_keys import keys_of_values

Encoded = Any
"""Encoded records or queries: an array float64 (n, d), or `Sets` where a domain holds them, as only its user knows."""


@dataclass(frozen=True, eq=False)
class Sets:
    """n sets, one after the other in one array.

    Both arrays are made read-only, so that sets can be shared by threads and slices cost nothing.

    Parameters
    ----------
    first : np.ndarray
        int64 (n + 1,), where each set begins; the last entry is where the last one ends.
    elements : np.ndarray
        uint64 (first[-1],), the keys of the items (`core.domain.item_keys`). A set may hold an item more than once: it
        is the same set then.

    Examples
    --------
    >>> sets = Sets.of([["milk", "bread"], [7, 7.0, "7"]])
    >>> len(sets), sets.sizes.tolist(), sets[1:].distinct().elements.tolist()
    (2, [2, 3], [7])
    """

    first: np.ndarray
    elements: np.ndarray

    def __post_init__(self) -> None:
        first = np.asarray(self.first, dtype=np.int64).view()
        elements = np.asarray(self.elements, dtype=np.uint64).view()
        if first.ndim != 1 or elements.ndim != 1 or not len(first) or first[0] != 0 or first[-1] != len(elements):
            raise ValueError("Sets are given by n + 1 places that begin at 0 and end at the number of elements.")
        for name, given in (("first", first), ("elements", elements)):
            array: np.ndarray = np.ascontiguousarray(given).view()
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @classmethod
    def of(cls, sets: Iterable[Iterable[object]]) -> Sets:
        """Sets of Python values: texts, numbers, booleans, bytes, of several types if need be.

        Raises
        ------
        RequestError
            When something is not a set of items.
        """
        if isinstance(sets, Sets):
            return sets
        try:
            lists = [_listed(one) for one in sets]
        except TypeError:
            raise RequestError("Sets must be given as lists of items, one list a set.") from None
        first = _places_of(np.array([len(one) for one in lists], dtype=np.int64))
        return cls(first, keys_of_values([item for one in lists for item in one], "A set"))

    @classmethod
    def of_sizes(cls, sizes: np.ndarray, elements: np.ndarray) -> Sets:
        """Sets from the number of elements of each."""
        return cls(_places_of(sizes), elements)

    def __len__(self) -> int:
        return len(self.first) - 1

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self.elements[start:stop] for start, stop in zip(self.first[:-1], self.first[1:], strict=True))

    def __getitem__(self, chosen: slice | np.ndarray) -> Sets:
        """Some of the sets: a slice without steps, which copies nothing, or an array of places or of truth values."""
        if isinstance(chosen, slice):
            start, stop, step = chosen.indices(len(self))
            if step == 1:
                first = self.first[start : max(start, stop) + 1]
                return Sets(first - first[0], self.elements[first[0] : first[-1]])
            chosen = np.arange(start, stop, step)
        chosen = np.asarray(chosen)
        places = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen.astype(np.int64)
        first = _places_of(self.sizes[places])
        elements = np.empty(first[-1], np.uint64)
        _copy(self.first, self.elements, places, first, elements)
        return Sets(first, elements)

    @property
    def sizes(self) -> np.ndarray:
        """int64 (n,), elements of each set, repeated ones counted again."""
        return np.diff(self.first)

    def distinct(self) -> Sets:
        """The same sets with every element once, in ascending order."""
        return self.least(self.elements)

    def least(self, words: np.ndarray, most: int | None = None) -> Sets:
        """Of every set the ``most`` different elements with the least words, in the order of the words.

        Parameters
        ----------
        words : np.ndarray
            uint64 (elements,), different for different elements and equal for equal ones.
        most : int | None
            None for all of them.
        """
        owner = np.repeat(np.arange(len(self)), self.sizes)
        order = np.lexsort((words, owner))
        words = words[order]
        new = np.append(True, (words[1:] != words[:-1]) | (owner[1:] != owner[:-1]))[: len(order)]
        if most is not None:
            different = np.cumsum(new)
            before = np.concatenate([np.zeros(1, np.int64), different])[self.first[:-1]]
            new &= different - before[owner] <= most
        return Sets.of_sizes(np.bincount(owner[new], minlength=len(self)), self.elements[order[new]])


def _places_of(sizes: np.ndarray) -> np.ndarray:
    """Where sets of these sizes begin, and where the last one ends."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])


def _listed(items: object) -> list[object]:
    if isinstance(items, np.ndarray):
        return list(items.tolist())
    if isinstance(items, (str, bytes)):
        raise TypeError("a text is an item, not a set of them")
    if not isinstance(items, Iterable):
        raise TypeError("nothing to go through")
    return list(items)


@njit(nogil=True, cache=True)
def _copy(first: Integers, elements: Words, places: Integers, new_first: Integers, out: Words) -> None:
    for i in range(len(places)):
        out[new_first[i] : new_first[i + 1]] = elements[first[places[i]] : first[places[i] + 1]]
