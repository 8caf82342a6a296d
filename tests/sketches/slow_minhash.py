"""MinHash as its definition says it, in Python's whole numbers: one item, one row, one set at a time."""

from __future__ import annotations

import numpy as np

from core.domain.item_sets import Sets
from core.geometry.uniforms import PublicRandom
from core.sketches.minhash import MinHash

M32, M64 = 2**32 - 1, 2**64 - 1


def mixed(word: int) -> int:
    word ^= word >> 33
    word = word * 0xFF51AFD7ED558CCD & M64
    word ^= word >> 33
    word = word * 0xC4CEB9FE1A85EC53 & M64
    return word ^ word >> 33


def slow_columns(sketch: MinHash, items: list[int]) -> list[int]:
    """The column of a set in every row."""
    columns, sizes = [], [len(part) for part in np.array_split(np.arange(sketch.rows), sketch.groups)]
    for group, size in enumerate(sizes):
        random = PublicRandom(sketch.seed, 1, group)
        factor, addend = (int(word) for word in random.words(2))
        words = [mixed((item * (factor | 1) + addend) & M64) for item in items]
        blocks = [len(part) for part in np.array_split(np.arange(size), -(-size // 256))]
        least = []
        for block in blocks:
            first = len(least)
            least += [_least(words, first, row, block, sketch.scheme) for row in range(block)]
        for number, (multiplier, add) in zip(least, random.words(size, 2).tolist(), strict=True):
            columns.append(((number * multiplier + add & M64) >> 32) * sketch.width >> 32)
    return columns


def _least(words: list[int], first: int, row: int, rows: int, scheme: str) -> int:
    if scheme == "one-permutation":
        throws = [mixed((word + (first + 1) * 0x9E3779B97F4A7C15) & M64) for word in words]
        thrown = [throw >> 32 for throw in throws if (throw & M32) * rows >> 32 == row]
        if thrown:
            return min(thrown)
    return min((word & M32) + (first + row) * (word >> 32) & M32 for word in words)


def slow_table(sketch: MinHash, sets: Sets) -> np.ndarray:
    table = np.zeros((sketch.rows, sketch.width), dtype=np.int64)
    for items in sets:
        table[np.arange(sketch.rows), slow_columns(sketch, items.tolist())] += 1
    return table


def slow_estimates(sketch: MinHash, table: np.ndarray, records: float, queries: Sets) -> np.ndarray:
    """Mean counters of queries, less what unlike records add to a column."""
    means = [table[np.arange(sketch.rows), slow_columns(sketch, items.tolist())].mean() for items in queries]
    return (np.array(means) - records / sketch.width) / (1 - 1 / sketch.width)
