"""MinHash: the least of random numbers given to a set's items, whose collision probability is the Jaccard similarity.

Row r gives every item a random number; a set's hash is the least number among its items. Two sets share it exactly when
the item with the least number of all that are in either is in both, which has the probability |A and B| / |A or B|
(Broder 1997), as every item is equally likely to be that one.

Two words an item. A random number for every item in every row would cost a hash each. Instead an item has two random
32-bit words h1, h2, a mixture of its key and of a seed of the group of rows, and its number in row r of the group is

    h1 + r h2  (mod 2^32),

one addition after the number in the row before. Inside one row nothing is lost: for any fixed r this is uniform, as h1
is, and independent between items, as their words are, so the hash is min-wise like one of independent numbers. Between
two rows r and s that differ by 2^k times an odd number: h1 + s h2 = (h1 + r h2) + (s - r) h2, where (s - r) h2 is
uniform over the multiples of 2^k and independent of h1 + r h2. Given everything that happens in row r, the items'
numbers in row s are therefore independent between items and uniform but for their lowest k bits; which of them is least
depends on those bits only when the others tie, which has a probability of at most 2^(k - 32) an item. So rows collide
pairwise independently but for that, and a mean over rows has the variance that independent rows give. Its tails are
heavier, as rows depend on each other by threes: where two items have nearly the same h2, one of them leads the other in
many rows running. Groups of rows have seeds of their own, so that their spread shows this too.

Ties of the whole number, of 2^-32 an item, let different sets collide a little more often: by about one in ten thousand
where both have a million items.

One permutation for many rows (Li, Owen, Zhang 2012). Where sets are long, an item is thrown into one row of a block,
with one random number, and a row's hash is the least number among the items that were thrown into it: one step an item
and block in place of one a row. Rows without an item need another value. Copying one from another row (densification;
Shrivastava 2017 copies from a random one) keeps the collision probability, but a set of ten items then has ten
different values however many rows there are, and a mean over rows is as uncertain as one over ten. Here an empty row
takes the least of its own numbers h1 + r h2 instead, as the classic scheme does (the last step of Dahlgaard, Knudsen,
Thorup 2017). That is min-wise exactly: in row r an item has the number of its throw if it was thrown into r, and
otherwise one that is larger than any throw's, so again every item has a number of its own law, independent of the other
items', and the least one decides. Nothing is biased, short sets are as certain as classic ones, and long ones are fast.

From hash to column. A least number is far from uniform (of many numbers it is small), so its bits are mixed by
multilinear hashing, which is strongly universal on 32-bit values (Lemire, Kaser 2014, Theorem 3.1), before the result
is scaled to W columns: two different hashes share a column with probability 1/W (up to W / 2^32), whatever they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..domain.item_sets import Sets
from ..runtime.compiled_code import njit
from .uniforms import PublicRandom, group_sizes

MOST_ROWS = 256  # Rows of a block: their least numbers stay in the first-level cache, most of them in registers.
LANES = 16  # Sets whose columns are written side by side: one line of memory.
_LARGEST = np.uint32(0xFFFFFFFF)
_NONE = np.uint64(0xFFFFFFFFFFFFFFFF)
_TURN = np.uint64(0x9E3779B97F4A7C15)
_FEW = 4  # Where at most one row in so many is empty, each is filled by itself; otherwise all rows of the block at once


@njit(nogil=True, cache=True, inline="always")
def _mixed(word):
    """A bijection of 64-bit words that makes close ones unrelated (the finalizer of MurmurHash3, Appleby)."""
    word ^= word >> np.uint64(33)
    word *= np.uint64(0xFF51AFD7ED558CCD)
    word ^= word >> np.uint64(33)
    word *= np.uint64(0xC4CEB9FE1A85EC53)
    return word ^ (word >> np.uint64(33))


@njit(nogil=True, cache=True)
def words_of(elements, factor, addend, out):
    """The two words of every item in one group of rows, h1 in the lower half and h2 in the upper one."""
    for i in range(len(elements)):
        out[i] = _mixed(elements[i] * factor + addend)


@njit(nogil=True, cache=True, inline="always")
def _least(words, start, stop, first_row, rows, least):
    """The least number of a set's items in each of consecutive rows of a group: one addition and one minimum a step."""
    for t in range(rows):
        least[t] = _LARGEST
    for e in range(start, stop):
        second = np.uint32(words[e] >> np.uint64(32))
        number = np.uint32(words[e]) + np.uint32(np.uint32(first_row) * second)
        for t in range(rows):
            least[t] = min(least[t], np.uint32(number + np.uint32(np.uint32(t) * second)))


@njit(nogil=True, cache=True, inline="always")
def _least_of_row(words, start, stop, row):
    """The same for one row, item beside item."""
    least = _LARGEST
    for e in range(start, stop):
        second = np.uint32(words[e] >> np.uint64(32))
        least = min(least, np.uint32(np.uint32(words[e]) + np.uint32(np.uint32(row) * second)))
    return least


@njit(nogil=True, cache=True)
def _thrown_least(words, start, stop, first_row, rows, thrown, least):
    """Least numbers where every item is thrown into one of the rows first, and rows that get none take their own."""
    thrown[:rows] = _NONE
    turn, bins = np.uint64(first_row + 1) * _TURN, np.uint64(rows)
    for e in range(start, stop):
        word = _mixed(words[e] + turn)
        row = np.int64(((word & np.uint64(_LARGEST)) * bins) >> np.uint64(32))
        thrown[row] = min(thrown[row], word >> np.uint64(32))
    empty = 0
    for t in range(rows):
        empty += thrown[t] == _NONE
    if empty * _FEW > rows:
        _least(words, start, stop, first_row, rows, least)
        for t in range(rows):
            if thrown[t] != _NONE:
                least[t] = np.uint32(thrown[t])
    else:
        for t in range(rows):
            if thrown[t] != _NONE:
                least[t] = np.uint32(thrown[t])
            else:
                least[t] = _least_of_row(words, start, stop, first_row + t)


@njit(nogil=True, cache=True)
def block_columns(first, words, begin, end, first_row, rows, multiplier, addend, width, binned, out):
    """Write the columns of sets ``begin`` to ``end`` in consecutive rows of a group to ``out[row, set - begin]``.

    ``words`` are those of the items from set ``begin`` on. Sets are taken `LANES` at a time, so that their columns,
    which come row by row, are turned over in the first-level cache and leave it in whole lines.
    """
    least = np.empty(MOST_ROWS, np.uint32)
    thrown = np.empty(MOST_ROWS, np.uint64)
    columns = np.empty((LANES, MOST_ROWS), np.uint32)
    skipped = first[begin]
    for base in range(begin, end, LANES):
        lanes = min(LANES, end - base)
        for j in range(lanes):
            start, stop = first[base + j] - skipped, first[base + j + 1] - skipped
            if binned:
                _thrown_least(words, start, stop, first_row, rows, thrown, least)
            else:
                _least(words, start, stop, first_row, rows, least)
            own = columns[j]
            for t in range(rows):
                key = multiplier[t] * np.uint64(least[t]) + addend[t]
                own[t] = np.uint32(((key >> np.uint64(32)) * width) >> np.uint64(32))
        at = base - begin
        if lanes == LANES:
            for t in range(rows):
                for j in range(LANES):
                    out[t, at + j] = columns[j, t]
        else:
            for t in range(rows):
                for j in range(lanes):
                    out[t, at + j] = columns[j, t]


_HASHES, _ORDER = 1, 2  # Labels of the public random streams: one a group of rows, and the one that shortens sets.


@dataclass(frozen=True)
class MinHashes:
    """The hash functions of every row, from public facts alone."""

    seeds: np.ndarray  # uint64 (G, 2), factor (odd) and addend that mix keys to words, one pair a group.
    # uint64 (R,), of the universal hash from a least number to a column.
    multiplier: np.ndarray
    addend: np.ndarray
    width: int  # W, columns of a row.
    thrown: bool  # Whether items are thrown into the rows of a block first.
    blocks: Blocks  # How the rows are divided.

    @classmethod
    def draw(cls, rows: int, groups: int, width: int, seed: int, thrown: bool) -> MinHashes:
        """The hashes of a seed, the same on every machine for ever."""
        random = [PublicRandom(seed, _HASHES, group) for group in range(groups)]
        sizes = group_sizes(rows, groups)
        seeds = np.array([stream.words(2) for stream in random])
        seeds[:, 0] |= np.uint64(1)
        columns = np.concatenate([stream.words(int(size), 2) for stream, size in zip(random, sizes, strict=True)])
        multiplier, addend = np.ascontiguousarray(columns.T)
        return cls(seeds, multiplier, addend, width, thrown, Blocks.of(sizes, MOST_ROWS))

    def blocks_of_at_most(self, rows: int) -> Blocks:
        """The blocks, or smaller ones where rows do not depend on those beside them."""
        return self.blocks if self.thrown else Blocks.of(self.blocks.group_sizes, rows)


@dataclass(frozen=True)
class Blocks:
    """Consecutive rows of one group that are worked out together, at most `MOST_ROWS`."""

    group_sizes: np.ndarray  # int64 (G,), rows of each group.
    first: np.ndarray  # int64 (B + 1,), where blocks begin.
    group: np.ndarray  # int64 (B,), the group of each.
    start: np.ndarray  # int64 (B,), the number that its first row has in the group.

    @classmethod
    def of(cls, sizes: np.ndarray, most: int) -> Blocks:
        """Groups of these sizes in as few blocks of at most so many rows as can be, as equal as can be."""
        counts = -(-sizes // min(most, MOST_ROWS))
        parts = [group_sizes(int(size), int(count)) for size, count in zip(sizes, counts, strict=True)]
        return cls(
            sizes,
            np.concatenate([[0], np.cumsum(np.concatenate(parts))]).astype(np.int64),
            np.repeat(np.arange(len(sizes)), counts),
            np.concatenate([np.cumsum(part) - part for part in parts]).astype(np.int64),
        )


def shortened(sets: Sets, longest: int | None, seed: int) -> Sets:
    """Sets with at most ``longest`` different items each, those with the least public random numbers.

    The numbers are those of the items, so that sets which share items share what is left of them, and what is kept
    depends on the set and the seed alone.
    """
    if longest is None or not (sets.sizes > longest).any():
        return sets
    too_long = np.flatnonzero(sets.sizes > longest)
    whole = sets[too_long]
    factor, addend = PublicRandom(seed, _ORDER).words(2)
    words = np.empty(len(whole.elements), np.uint64)
    words_of(whole.elements, factor | np.uint64(1), addend, words)
    kept = whole.least(words, longest)
    both = Sets.of_sizes(np.concatenate([sets.sizes, kept.sizes]), np.concatenate([sets.elements, kept.elements]))
    places = np.arange(len(sets))
    places[too_long] = len(sets) + np.arange(len(kept))
    return both[places]
