"""The compiled loops of MinHash: words of items, least numbers of sets, columns; see `minhash` beside it."""

from __future__ import annotations

import numpy as np

from ...machine.compiled_code import njit

MOST_ROWS = 256
"""Rows of a block: their least numbers stay in the first-level cache, most of them in registers."""
LANES = 16
"""Sets whose columns are written side by side: one line of memory."""
_LARGEST = np.uint32(0xFFFFFFFF)
_NONE = np.uint64(0xFFFFFFFFFFFFFFFF)
_TURN = np.uint64(0x9E3779B97F4A7C15)
_FEW = 4
"""Where at most one row in so many is empty, each is filled by itself; otherwise all rows of the block at once."""


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
