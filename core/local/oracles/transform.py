"""The Hadamard transform, and counting of signs."""

from __future__ import annotations

from threading import Lock

import numpy as np

from ...runtime.array_types import Array, Integers, Words
from ...runtime.compiled_code import njit
from ...runtime.threads import over_ranges

WORTH_A_THREAD = 1 << 16


def transformed(table: Integers) -> Integers:
    """Σ_j (-1)^popcount(x & j) T[.., j] for every x, along the last axis, whose length is a power of two."""
    result: Integers = np.array(table, dtype=np.int64)
    rows = result.reshape(-1, table.shape[-1])
    over_ranges(len(rows), lambda start, stop: _transform(rows[start:stop]), max(1, WORTH_A_THREAD // rows.shape[1]))
    return result


def add_signs(reports: Words, places: int, coefficients: int, table: Integers) -> None:
    """Add the signs of reports to the coefficients that they name.

    Parameters
    ----------
    reports : np.ndarray
        Each has `coefficients` numbers of `places` bits, and above them a bit for each: one stands for -1.
    places, coefficients : int, int
        log₂ of the table's length, and how many coefficients a report has.
    table : np.ndarray
        int64 (2**places,).
    """
    lock = Lock()

    def work(start: int, stop: int) -> None:
        mine = np.zeros_like(table)
        _add_signs(reports[start:stop], np.uint64(places), coefficients, mine)
        with lock:
            np.add(table, mine, out=table)

    over_ranges(len(reports), work, max(WORTH_A_THREAD, len(table)))


@njit(nogil=True, cache=True)
def parity(word: np.uint64) -> np.uint64:
    """Whether a word has an odd number of ones, as 0 or 1."""
    for shift in (32, 16, 8, 4, 2, 1):
        word ^= word >> np.uint64(shift)
    return word & np.uint64(1)


@njit(nogil=True, cache=True)
def parities(left: Words, right: Words, out: Words) -> None:
    """popcount(a & b) modulo 2 of each pair."""
    for i in range(left.size):
        out[i] = parity(left[i] & right[i])


@njit(nogil=True, cache=True)
def _transform(rows: Integers) -> None:
    for r in range(rows.shape[0]):
        row, step = rows[r], 1
        while step < row.size:
            for start in range(0, row.size, 2 * step):
                for i in range(start, start + step):
                    one, other = row[i], row[i + step]
                    row[i], row[i + step] = one + other, one - other
            step *= 2


@njit(nogil=True, cache=True)
def _add_signs(reports: Array, places: np.uint64, coefficients: int, table: Integers) -> None:
    mask = (np.uint64(1) << places) - np.uint64(1)
    for i in range(reports.size):
        rest = np.uint64(reports[i])
        signs = rest >> (np.uint64(coefficients) * places)
        for _ in range(coefficients):
            table[rest & mask] += 1 - 2 * np.int64(signs & np.uint64(1))
            rest >>= places
            signs >>= np.uint64(1)
