"""Counting reports: compiled loops over numbers, over bits, and over all values of a hash function."""

from __future__ import annotations

from threading import Lock

import numpy as np

from ...runtime.array_types import Array, Integers, Words
from ...runtime.compiled_code import njit
from ...runtime.threads import over_ranges

WORTH_A_THREAD = 1 << 16
FLUSHED = 15  # Rows of bits that four planes of a counter hold.


def count_numbers(numbers: Array, table: Integers) -> None:
    """Add to each counter how many of the numbers are its place."""
    flat, lock = table.reshape(-1), Lock()

    def work(start: int, stop: int) -> None:
        mine = np.zeros(flat.size, np.int64)
        _count(numbers[start:stop], mine)
        with lock:
            np.add(flat, mine, out=flat)

    over_ranges(len(numbers), work, max(WORTH_A_THREAD, flat.size))


def count_bits(sets: Words, table: Integers) -> None:
    """Add to each counter in how many rows its bit is set; uint64 (n, words) with no bit beyond the table's length."""
    lock = Lock()

    def work(start: int, stop: int) -> None:
        mine = np.zeros(64 * sets.shape[1], np.int64)
        _count_bits(sets[start:stop], mine)
        with lock:
            np.add(table, mine[: len(table)], out=table)

    over_ranges(len(sets), work, WORTH_A_THREAD // 16)


@njit(nogil=True, cache=True)
def _count(numbers: Array, table: Integers) -> None:
    for i in range(numbers.size):
        table[numbers[i]] += 1


@njit(nogil=True, cache=True)
def _count_bits(sets: Words, table: Integers) -> None:
    """Bits by place: fifteen rows are added up in four planes of binary digits, sixty-four places at a time."""
    for word in range(sets.shape[1]):
        for start in range(0, sets.shape[0], FLUSHED):
            one, two, four, eight = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
            for i in range(start, min(start + FLUSHED, sets.shape[0])):
                carry = sets[i, word]
                one, carry = one ^ carry, one & carry
                two, carry = two ^ carry, two & carry
                four, carry = four ^ carry, four & carry
                eight ^= carry
            for bit in range(64):
                place = np.uint64(bit)
                table[64 * word + bit] += np.int64(
                    (one >> place & np.uint64(1))
                    + np.uint64(2) * (two >> place & np.uint64(1))
                    + np.uint64(4) * (four >> place & np.uint64(1))
                    + np.uint64(8) * (eight >> place & np.uint64(1))
                )
