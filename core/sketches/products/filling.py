"""Sums of products of whole numbers at the speed of a matrix product, without an error.

Numbers are rounded once, to whole ones of at most 2^15, in blocks that stay in a core's cache. Their products are at
most 2^30, so a sum of 2^22 of them stays below 2^53, and float64 arithmetic on it is exact in any order, whichever
library multiplies and however it cuts its blocks. So what a record adds does not depend on the records beside it.
"""

from __future__ import annotations

import numpy as np

from ...machine.array_types import Floats, Integers
from ...machine.compiled_code import njit

UNIT = 1 << 15
"""What 1 counts, so that a number is off by a 65,536th of its range at most."""
LARGEST = float(UNIT)
EXACT_ROWS = 1 << 22
BLOCK_NUMBERS = 1 << 15
"""Of a block: 256 KiB of float64."""
LEAST_ROWS, MOST_ROWS = 256, 8192


def block_rows(coordinates: int) -> int:
    """Rows of a block."""
    return min(MOST_ROWS, max(LEAST_ROWS, BLOCK_NUMBERS // coordinates))


def products(points: np.ndarray, middle: np.ndarray, factor: np.ndarray) -> Integers:
    """The sum of z zᵀ over records, int64 (d + 1, d + 1), in units of `UNIT`².

    Parameters
    ----------
    points : np.ndarray
        Encoded records, float64 (n, d).
    middle, factor : np.ndarray
        float64 (d,): a coordinate x counts round((x - middle) · factor), at most `UNIT` in size; the first of z is 1.
    """
    size = points.shape[1] + 1
    rows = block_rows(size)
    by_record = points.flags.c_contiguous
    total, units = np.zeros((size, size), np.int64), np.empty((rows, size) if by_record else (size, rows))
    product, sums = np.empty((size, size)), np.zeros((size, size))
    for start in range(0, len(points), rows):
        if start and start % EXACT_ROWS < rows:
            total += sums.astype(np.int64)
            sums[:] = 0.0
        count = min(rows, len(points) - start)
        if by_record:  # memory is read in the order in which it lies
            block = units[:count]
            round_records(points, start, middle, factor, block)
            np.matmul(block.T, block, out=product)
        else:
            block = units[:, :count]
            round_block(points.T, start, middle, factor, block)
            np.matmul(block, block.T, out=product)
        sums += product
    return total + sums.astype(np.int64)


@njit(nogil=True, cache=True)
def round_records(points: Floats, start: int, middle: Floats, factor: Floats, units: Floats) -> None:
    """As `round_block`, of points and units by record."""
    for i in range(len(units)):
        here, there = points[start + i], units[i]
        there[0] = LARGEST
        for place in range(len(middle)):
            value = np.rint((here[place] - middle[place]) * factor[place])
            value = LARGEST if value > LARGEST else value
            there[place + 1] = -LARGEST if value < -LARGEST else value


@njit(nogil=True, cache=True)
def round_block(points: Floats, start: int, middle: Floats, factor: Floats, units: Floats) -> None:
    """Units of the records from ``start`` on, as many as there is room for; points by coordinate."""
    count = units.shape[1]
    units[0, :] = LARGEST
    for place in range(len(middle)):
        centre, scale = middle[place], factor[place]
        here, there = points[place, start : start + count], units[place + 1]
        for i in range(count):
            value = np.rint((here[i] - centre) * scale)
            value = LARGEST if value > LARGEST else value
            there[i] = -LARGEST if value < -LARGEST else value
