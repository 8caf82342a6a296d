"""Vectors that are no longer than a radius, as whole numbers whose exact length is no longer either.

A record's offset from a public centre is shortened to a public radius where it is longer, and written in units of
radius / 2^30, cut toward zero. Rounding could still leave a vector of such numbers a hair too long, and a sensitivity
must hold for the integers that are really summed; so their squares are added up exactly, and as long as they exceed
2^60 every entry moves one unit toward zero.
"""

from __future__ import annotations

from threading import Lock

import numpy as np
from numba import njit

from ..threads import over_ranges

PRECISION = 30
UNITS = 1 << PRECISION
"""Units in a radius. A million records cut by half a unit each are a thousandth of a radius: far below any noise."""
LONGEST, SHORTEST = 1e100, 1e-100
"""Between them squares neither overflow nor underflow; an offset that is shorter counts as none."""
BLOCK = 64
"""Records at a time: 512 coordinates of them fill a quarter of a megabyte, which a second-level cache holds."""
ALONE = 1 << 18
"""Coordinates that one thread adds in less time than a second one takes to start."""


@njit(nogil=True, cache=True)
def _add_vectors(points, centre, radius, first, last, sums, squares):
    """sums (d,) += vectors in units; squares (n,) = their exact squared lengths, for records first to last."""
    d = points.shape[0]
    most = UNITS * UNITS
    vectors = np.empty((d, BLOCK), np.int64)
    for start in range(first, last, BLOCK):
        length = min(BLOCK, last - start)
        lengths = np.zeros(BLOCK)
        for j in range(d):
            x = points[j, start : start + length]
            for i in range(length):
                offset = x[i] - centre[j]
                lengths[i] += offset * offset
        for i in range(length):
            distance = np.sqrt(lengths[i])
            longest = max(distance, radius)
            lengths[i] = UNITS / longest if distance > SHORTEST else 0.0
        total = np.zeros(BLOCK, np.int64)
        for j in range(d):
            x = points[j, start : start + length]
            row = vectors[j]
            for i in range(length):
                units = np.int64(min(max((x[i] - centre[j]) * lengths[i], -float(UNITS)), float(UNITS)))
                row[i] = units
                total[i] += units * units
        for i in range(length):
            while total[i] > most:
                total[i] = 0
                for j in range(d):
                    units = vectors[j, i]
                    units -= np.sign(units)
                    vectors[j, i] = units
                    total[i] += units * units
            squares[start + i] = total[i]
        for j in range(d):
            row = vectors[j]
            moved = np.int64(0)
            for i in range(length):
                moved += row[i]
            sums[j] += moved


def add_vectors(points: np.ndarray, centre: np.ndarray, radius: float, sums: np.ndarray) -> np.ndarray:
    """Add every record's offset from the centre, no longer than the radius, to ``sums`` in units of radius / 2^30.

    Parameters
    ----------
    points : float64 (n, d), each coordinate contiguous (Fortran order).
    centre : float64 (d,).
    radius : above `SHORTEST`; or 0, which stretches or shortens every offset to the length of 2^30 units.
    sums : int64 (d,), changed in place.

    Returns
    -------
    int64 (n,), the exact squared length of what each record added, at most 2^60.
    """
    coordinates = np.ascontiguousarray(points.T)
    squares = np.zeros(coordinates.shape[1], np.int64)
    gathering = Lock()

    def records(first: int, last: int) -> None:
        own = np.zeros(len(sums), np.int64)
        _add_vectors(coordinates, centre, radius, first, last, own, squares)
        # Sums of whole numbers are exact in any order.
        with gathering:
            np.add(sums, own, out=sums)

    over_ranges(coordinates.shape[1], records, at_least=records_alone(len(coordinates)))
    return squares


def records_alone(dimensions: int) -> int:
    """Fewest records of so many coordinates that are worth a thread of their own."""
    return max(BLOCK, ALONE // dimensions)
