"""The two loops of a count table of sets: pour sets in, and find the counters of queries.

Pouring goes block of rows by block of rows (`core.geometry.hashing.minhash`). The columns of many sets in a few rows
are worked out into a small buffer, row by row; then all of them are counted in one row of the table after the other, so
that a row of hundreds of kilobytes stays in the second-level cache meanwhile. Threads own rows, so nothing is locked,
and as whole numbers are added in the end, a table depends neither on batches nor on threads.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ...domain.item_sets import Sets
from ...geometry.hashing.least import block_columns, words_of
from ...geometry.hashing.minhash import Blocks, MinHashes
from ...machine.compiled_code import njit
from ...machine.tables import Table, take
from ...machine.threads import over_ranges

BUFFER, LARGE_BUFFER = 1 << 22, 1 << 24
"""Columns that a thread holds, 16 MiB; more where rows cannot be split."""
FEWEST_SETS, MOST_SETS, MOST_ITEMS = 1 << 14, 1 << 17, 1 << 23
"""Sets, and their items, that are poured at a time: many where rows are wide, as each has to be fetched for them."""
QUERIES = 256
LEAST_QUERIES = 16


@njit(nogil=True, cache=True)
def _pour(
    first,
    elements,
    edges,
    first_block,
    last_block,
    blocks,
    group,
    start,
    seeds,
    multiplier,
    addend,
    width,
    thrown,
    words,
    columns,
    table,
):
    for p in range(len(edges) - 1):
        begin, end = edges[p], edges[p + 1]
        items = elements[first[begin] : first[end]]
        known = -1
        for b in range(first_block, last_block):
            g, row, rows = group[b], blocks[b], blocks[b + 1] - blocks[b]
            if g != known:
                words_of(items, seeds[g, 0], seeds[g, 1], words)
                known = g
            block_columns(
                first,
                words,
                begin,
                end,
                start[b],
                rows,
                multiplier[row : row + rows],
                addend[row : row + rows],
                width,
                thrown,
                columns,
            )
            for t in range(rows):
                _count(columns[t], end - begin, table[row + t])


@njit(nogil=True, cache=True)
def _count(columns, sets, counters):
    for i in range(sets):
        counters[columns[i]] += np.int32(1)


@njit(nogil=True, cache=True)
def _columns(first, elements, begin, end, blocks, group, start, seeds, multiplier, addend, width, thrown, words, out):
    items = elements[first[begin] : first[end]]
    known = -1
    for b in range(len(group)):
        g, row, rows = group[b], blocks[b], blocks[b + 1] - blocks[b]
        if g != known:
            words_of(items, seeds[g, 0], seeds[g, 1], words)
            known = g
        block_columns(
            first,
            words,
            begin,
            end,
            start[b],
            rows,
            multiplier[row : row + rows],
            addend[row : row + rows],
            width,
            thrown,
            out[row : row + rows],
        )


def pour(sets: Sets, hashes: MinHashes, table: np.ndarray) -> None:
    """Count every set once in each row of ``table``, int32 (R, W)."""
    if not len(sets):
        return
    many = min(max(hashes.width // 2, FEWEST_SETS), MOST_SETS)
    blocks = hashes.blocks_of_at_most(BUFFER // many)
    tallest = int(np.diff(blocks.first).max())
    edges = _portions(sets.first, min(many, LARGE_BUFFER // tallest))
    most_items = int(np.diff(sets.first[edges]).max())

    def rows(first_block: int, last_block: int) -> None:
        words = np.empty(most_items, np.uint64)
        columns = np.empty((tallest, int(np.diff(edges).max())), np.uint32)
        _pour(
            sets.first, sets.elements, edges, first_block, last_block, *_arrays(hashes, blocks), words, columns, table
        )

    over_ranges(len(blocks.group), rows)


def read(sets: Sets, hashes: MinHashes, table: np.ndarray | Table) -> np.ndarray:
    """Sums over the rows of each group of the counters that queries fall in, float64 (G, n)."""
    blocks = hashes.blocks
    group_starts = np.cumsum(blocks.group_sizes) - blocks.group_sizes
    row_starts = np.arange(len(hashes.multiplier), dtype=np.int64)[:, None] * hashes.width
    sums = np.empty((len(group_starts), len(sets)))

    def queries(start: int, stop: int) -> None:
        for begin, end in pairwise([*range(start, stop, QUERIES), stop]):
            words = np.empty(int(sets.first[end] - sets.first[begin]), np.uint64)
            columns = np.empty((len(row_starts), end - begin), np.uint32)
            _columns(sets.first, sets.elements, begin, end, *_arrays(hashes, blocks), words, columns)
            counters = take(table, (columns + row_starts).reshape(-1)).reshape(columns.shape)
            sums[:, begin:end] = np.add.reduceat(counters, group_starts, axis=0)

    if len(sets):
        over_ranges(len(sets), queries, at_least=LEAST_QUERIES)
    return sums


_Arrays = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.uint64, bool]


def _arrays(hashes: MinHashes, blocks: Blocks) -> _Arrays:
    """What the compiled loops take, in their order."""
    return (
        blocks.first,
        blocks.group,
        blocks.start,
        hashes.seeds,
        hashes.multiplier,
        hashes.addend,
        np.uint64(hashes.width),
        hashes.thrown,
    )


def _portions(first: np.ndarray, sets: int) -> np.ndarray:
    """Where portions of at most so many sets begin, and at most `MOST_ITEMS` items unless a single set has more."""
    edges = [0]
    while edges[-1] < len(first) - 1:
        start = edges[-1]
        room = int(np.searchsorted(first, first[start] + MOST_ITEMS, side="right")) - 1
        edges.append(max(start + 1, min(start + sets, room)))
    return np.array(edges, dtype=np.int64)
