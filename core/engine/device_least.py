"""MinHash on a graphics processor: columns of sets from the words of their items, as operations on whole arrays.

All of it is integers modulo 2^32 or 2^64 and minima, so it is the same everywhere; see `core.geometry.hashing.minhash`
for what it means and `core.geometry.hashing.least` for the compiled loops that it repeats.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..domain.item_sets import Sets
from ..geometry.hashing.least import MOST_ROWS
from ..geometry.hashing.minhash import shortened
from ..sketches.hashed.minhash import MinHash
from .arrays import Arrays

BLOCK = 1 << 22
"""Numbers of items in a block of rows: 32 MiB an array, of which a few are held."""
_NONE = np.uint64(0xFFFFFFFFFFFFFFFF)
_LARGEST = np.uint64(0xFFFFFFFF)
_TURN = 0x9E3779B97F4A7C15


class MinHashOnDevice:
    """The columns of sets in the rows of a MinHash sketch.

    Parameters
    ----------
    sketch : MinHash
        The sketch.
    arrays : Arrays
        Where the arrays lie.
    """

    def __init__(self, sketch: MinHash, arrays: Arrays):
        self._sketch = sketch
        self._arrays = arrays

    def pieces(self, points: Sets) -> Iterator[Sets]:
        """The sets, as many at a time as a block of rows leaves room for, and one at least."""
        sets = shortened(points, self._sketch.longest, self._sketch.seed)
        most = BLOCK // MOST_ROWS if self._sketch.hashes.thrown else BLOCK
        start = 0
        while start < len(sets):
            room = int(np.searchsorted(sets.first, sets.first[start] + most, side="right")) - 1
            stop = min(max(start + 1, room), start + most)
            yield sets[start:stop]
            start = stop

    def blocks(self, sets: Sets) -> Iterator[tuple[int, int, Any]]:
        """Rows from one to before another, and the columns, uint64 (rows, n), of all sets in them."""
        hashes, xp = self._sketch.hashes, self._arrays.xp
        elements = xp.asarray(sets.elements)
        owner = xp.asarray(np.repeat(np.arange(len(sets)), sets.sizes))
        blocks = hashes.blocks_of_at_most(max(1, BLOCK // max(len(sets.elements), hashes.width)))
        for number, group in enumerate(blocks.group):
            start, stop = int(blocks.first[number]), int(blocks.first[number + 1])
            factor, addend = hashes.seeds[group]
            words = _mixed(elements * factor + addend)
            least = self._least(words, owner, len(sets), int(blocks.start[number]), stop - start)
            own = slice(start, stop)
            multiplier, constant = xp.asarray(hashes.multiplier[own, None]), xp.asarray(hashes.addend[own, None])
            half = np.uint64(32)
            key = multiplier * least + constant
            yield start, stop, ((key >> half) * np.uint64(hashes.width)) >> half

    def _least(self, words: Any, owner: Any, sets: int, first_row: int, rows: int) -> Any:
        """The least number of every set in consecutive rows of a group, uint64 (rows, sets)."""
        xp = self._arrays.xp
        row = xp.asarray(np.arange(first_row, first_row + rows, dtype=np.uint64)[:, None])
        numbers = ((words & _LARGEST) + row * (words >> np.uint64(32))) & _LARGEST
        places = xp.asarray(np.arange(rows, dtype=np.int64)[:, None] * sets) + owner
        least = xp.full(rows * sets, _LARGEST, np.uint64)
        self._arrays.least_at(least, places.ravel(), numbers.ravel())
        if self._sketch.hashes.thrown:
            turned = _mixed(words + np.uint64((first_row + 1) * _TURN & int(_NONE)))
            bins = (((turned & _LARGEST) * np.uint64(rows)) >> np.uint64(32)).astype(np.int64)
            thrown = xp.full(rows * sets, _NONE, np.uint64)
            self._arrays.least_at(thrown, bins * sets + owner, turned >> np.uint64(32))
            least = xp.where(thrown == _NONE, least, thrown)
        return least.reshape(rows, sets)


def _mixed(word: Any) -> Any:
    """The finalizer of MurmurHash3 (Appleby), as in the compiled loop."""
    word = (word ^ (word >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    word = (word ^ (word >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return word ^ (word >> np.uint64(33))
