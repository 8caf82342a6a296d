"""What no way of doing the work can do without: the increments alone, the steps of a hash alone, the random bits alone.

A benchmark times these beside the whole, so that the table of limits says how far from each one it is.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from core.privacy.noise.randomness import CipherStream, Stream, SystemSource
from core.runtime.environment import over_ranges

BLOCK = 1024
"""Places that are known already when they are counted: in the first-level cache, as in the sketches' own loops."""
LANES = 256
CHUNK = 1 << 16


def increments(table: np.ndarray, records: int) -> None:
    """Add 1 in every row for every record, at random places that are known: R x records loads, additions and stores."""
    places = np.random.default_rng(1).integers(0, table.shape[1], max(BLOCK, table.shape[1]), dtype=np.uint32)
    over_ranges(len(table), lambda first, last: _increments(places, first, last, records, table))


@njit(nogil=True, cache=True)
def _increments(places, first, last, records, table):
    for row in range(first, last):
        counters = table[row]
        for start in range(0, records, len(places)):
            for i in range(min(len(places), records - start)):
                counters[places[i]] += 1


def reads(table: np.ndarray, questions: int) -> np.ndarray:
    """The sum of one counter of every row for every question, at random places that are known; float64 (questions,)."""
    places = np.random.default_rng(1).integers(0, table.shape[1], questions, dtype=np.uint32)
    sums = np.zeros(questions)
    over_ranges(questions, lambda first, last: _reads(places, first, last, table, sums))
    return sums


@njit(nogil=True, cache=True)
def _reads(places, first, last, table, sums):
    for start in range(first, last, BLOCK):
        for row in range(len(table)):
            counters = table[row]
            for i in range(start, min(start + BLOCK, last)):
                sums[i] += counters[places[i]]


def hash_steps(items: int, rows: int) -> np.ndarray:
    """The least of `items` numbers in every row: one addition and one minimum a step, a vector of rows at a time."""
    least = np.empty(rows, np.uint32)
    blocks = -(-rows // LANES)
    over_ranges(blocks, lambda first, last: _hash_steps(items, first * LANES, min(last * LANES, rows), least))
    return least


@njit(nogil=True, cache=True)
def _hash_steps(items, first, last, least):
    number, step, smallest = np.empty(LANES, np.uint32), np.empty(LANES, np.uint32), np.empty(LANES, np.uint32)
    for begin in range(first, last, LANES):
        for t in range(LANES):
            number[t], step[t], smallest[t] = np.uint32(t), np.uint32(2 * t + 12345), np.uint32(0xFFFFFFFF)
        for _ in range(items):
            for t in range(LANES):
                number[t] += step[t]
                smallest[t] = min(smallest[t], number[t])
        for t in range(min(LANES, last - begin)):
            least[begin + t] = smallest[t]


def key_stream(words: int) -> None:
    """So many 64-bit words of the key stream that noise is made of, on all cores."""

    def part(first: int, last: int) -> None:
        stream = SystemSource().stream()
        for start in range(first, last, CHUNK):
            stream.words(min(CHUNK, last - start))

    over_ranges(words, part)


class CountingSource:
    """The operating system's randomness, and how many words of it were used."""

    private = True

    def __init__(self) -> None:
        self.streams: list[CountingStream] = []

    def stream(self) -> Stream:
        self.streams.append(CountingStream(SystemSource().stream()))
        return self.streams[-1]

    @property
    def words(self) -> int:
        """Of all streams together."""
        return sum(stream.used for stream in self.streams)


class CountingStream:
    """A stream that counts."""

    def __init__(self, inner: CipherStream):
        self._inner, self.used = inner, 0

    def words(self, count: int) -> np.ndarray:
        self.used += count
        return self._inner.words(count)
