"""The kernel of sets: which share of all items of two sets both of them have (Jaccard 1901)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...domain.item_sets import Sets
from ...machine.compiled_code import njit
from ...machine.threads import over_ranges
from .kernel import Kernel


@dataclass(frozen=True)
class Jaccard(Kernel):
    """|A and B| / |A or B|: 1 for the same set, 0 for sets without a common item.

    It is the collision probability of MinHash, the least of random numbers given to the items (Broder 1997). Two empty
    sets are not like each other: an empty set is like nothing.
    """

    name: ClassVar[str] = "jaccard"
    of_sets: ClassVar[bool] = True

    def evaluate(self, x: Sets, y: Sets) -> np.ndarray:
        """The exact kernel between every pair, float64 (n, m), for n and m sets."""
        similarities = np.empty((len(x), len(y)))
        index = _Index.of(y)

        def fill(start: int, stop: int) -> None:
            _similarities(*index.arrays, *index.look_up(x[start:stop]), similarities[start:stop])

        over_ranges(len(x), fill, at_least=8)
        return similarities

    def sums(self, x: Sets, y: Sets) -> np.ndarray:
        """The exact kernel sum of every set of x over all sets of y, float64 (n,), in the memory of y alone."""
        totals = np.empty(len(x))
        index = _Index.of(y)

        def fill(start: int, stop: int) -> None:
            _sums(*index.arrays, *index.look_up(x[start:stop]), totals[start:stop])

        over_ranges(len(x), fill, at_least=8)
        return totals


@dataclass(frozen=True)
class _Index:
    """Which sets hold an element: an inverted index."""

    elements: np.ndarray  # uint64, every element there is, ascending.
    first: np.ndarray  # int64, where the sets that hold each element begin in ``holders``.
    holders: np.ndarray  # int32, numbers of sets.
    sizes: np.ndarray  # int64 (m,), distinct elements of each set.

    @classmethod
    def of(cls, sets: Sets) -> _Index:
        distinct = sets.distinct()
        order = np.argsort(distinct.elements, kind="stable")
        elements, first = np.unique(distinct.elements[order], return_index=True)
        holders = np.repeat(np.arange(len(sets), dtype=np.int32), distinct.sizes)[order]
        return cls(elements, np.append(first, len(order)).astype(np.int64), holders, distinct.sizes)

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.first, self.holders, self.sizes

    def look_up(self, sets: Sets) -> tuple[np.ndarray, np.ndarray]:
        """Where sets begin among their distinct elements, and the place of each element here, -1 where it is absent."""
        distinct = sets.distinct()
        if not len(self.elements):
            return distinct.first, np.full(len(distinct.elements), -1)
        places = np.minimum(np.searchsorted(self.elements, distinct.elements), len(self.elements) - 1)
        return distinct.first, np.where(self.elements[places] == distinct.elements, places, -1)


@njit(nogil=True, cache=True, inline="always")
def _count(first, holders, places, begin, end, shared, touched):
    """Add 1 to ``shared`` for every element of a query that a set holds; return how many sets were touched."""
    count = 0
    for at in range(begin, end):
        place = places[at]
        if place >= 0:
            for k in range(first[place], first[place + 1]):
                holder = holders[k]
                if shared[holder] == 0:
                    touched[count] = holder
                    count += 1
                shared[holder] += 1
    return count


@njit(nogil=True, cache=True)
def _similarities(first, holders, sizes, begins, places, out):
    shared, touched = np.zeros(len(sizes), np.int32), np.empty(len(sizes), np.int32)
    for q in range(len(begins) - 1):
        out[q] = 0.0
        own = begins[q + 1] - begins[q]
        for k in range(_count(first, holders, places, begins[q], begins[q + 1], shared, touched)):
            holder = touched[k]
            both = shared[holder]
            out[q, holder] = both / (own + sizes[holder] - both)
            shared[holder] = 0


@njit(nogil=True, cache=True)
def _sums(first, holders, sizes, begins, places, out):
    shared, touched = np.zeros(len(sizes), np.int32), np.empty(len(sizes), np.int32)
    for q in range(len(begins) - 1):
        total = 0.0
        own = begins[q + 1] - begins[q]
        for k in range(_count(first, holders, places, begins[q], begins[q + 1], shared, touched)):
            holder = touched[k]
            both = shared[holder]
            total += both / (own + sizes[holder] - both)
            shared[holder] = 0
        out[q] = total
