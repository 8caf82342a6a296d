"""The two compiled loops of sums of waves on a torus: add records, and read queries.

A record's angle along each coordinate is turned into a point of the unit circle by a fixed series, and the points of
its whole-number multiples follow by multiplication, in a fixed order; a wave of several coordinates is the product of
theirs. No library function takes part, so a record adds the same integers on any machine that keeps IEEE 754, wherever
it stands. Its cosine and sine are then written as whole numbers (c, s) with c^2 + s^2 <= W^2, checked exactly.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ..sketches.phases import COSINE, SINE, add_up
from ..threads import over_ranges

LEAST_QUERIES = 64


@njit(nogil=True, cache=True, inline="always")
def _turn(share, cosines, sines):
    """cos and sin of 2 pi m share for m = 0, 1, ...: half of the angle by Taylor's series, doubled, then multiplied."""
    half = (share - np.floor(share + 0.5)) * np.pi
    z = half * half
    c, s = COSINE[-1], SINE[-1]
    for k in range(2, len(COSINE) + 1):
        c = c * z + COSINE[-k]
        s = s * z + SINE[-k]
    s *= half
    cosines[0], sines[0] = 1.0, 0.0
    cosines[1], sines[1] = 1.0 - 2.0 * s * s, 2.0 * s * c
    for m in range(2, len(cosines)):
        # m is the sum of its halves, so that errors grow with the digits of m and not with m itself.
        a, b = m // 2, m - m // 2
        cosines[m] = cosines[a] * cosines[b] - sines[a] * sines[b]
        sines[m] = sines[a] * cosines[b] + cosines[a] * sines[b]


@njit(nogil=True, cache=True, inline="always")
def _wave(frequency, cosines, sines):
    """cos and sin of one frequency's angle; the first coordinate of a frequency is never below zero."""
    c, s = cosines[0, frequency[0]], sines[0, frequency[0]]
    for j in range(1, len(frequency)):
        m = frequency[j]
        a, b = cosines[j, abs(m)], sines[j, abs(m)]
        b = b if m >= 0 else -b
        c, s = c * a - s * b, s * a + c * b
    return c, s


@njit(nogil=True, cache=True)
def _pour(shares, first, last, highest, waves, amplitudes, table):
    d = len(shares)
    cosines, sines = np.empty((d, highest + 1)), np.empty((d, highest + 1))
    for i in range(first, last):
        for j in range(d):
            _turn(shares[j, i], cosines[j], sines[j])
        table[0] += amplitudes[0]
        for h in range(len(waves)):
            c, s = _wave(waves[h], cosines, sines)
            amplitude = amplitudes[1 + h]
            # Toward zero; rounding may leave a pair a hair too long, which the loop takes back.
            x, y = np.int64(amplitude * c), np.int64(amplitude * s)
            while x * x + y * y > amplitude * amplitude:
                x -= np.sign(x)
                y -= np.sign(y)
            table[1 + 2 * h] += x
            table[2 + 2 * h] += y


@njit(nogil=True, cache=True)
def _read(shares, first, last, highest, waves, sums, out):
    d = len(shares)
    cosines, sines = np.empty((d, highest + 1)), np.empty((d, highest + 1))
    for i in range(first, last):
        for j in range(d):
            _turn(shares[j, i], cosines[j], sines[j])
        total = sums[0]
        for h in range(len(waves)):
            c, s = _wave(waves[h], cosines, sines)
            total += c * sums[1 + 2 * h] + s * sums[2 + 2 * h]
        out[i] = total


def pour_waves(shares: np.ndarray, waves: np.ndarray, amplitudes: np.ndarray, table: np.ndarray) -> None:
    """Add every record's waves to a table.

    Parameters
    ----------
    shares : float64 (d, n), how much of a turn each record is along each coordinate.
    waves : int64 (H, d), the frequencies, with a first coordinate of 0 or more.
    amplitudes : int64 (1 + H,), from 0 to 2^30: of the number of records, and of every wave.
    table : int64 (1 + 2 H,), the number of records and a cosine and a sine a wave; changed in place.
    """
    highest = max(1, int(np.abs(waves).max()))

    def records(start: int, stop: int, sums: np.ndarray) -> None:
        _pour(shares, start, stop, highest, waves, amplitudes, sums)

    add_up(shares.shape[1], records, table)


def read_waves(shares: np.ndarray, waves: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """The sum of waves with given weights at every query, float64 (n,).

    Parameters
    ----------
    shares, waves : as for `pour_waves`, of queries.
    sums : float64 (1 + 2 H,), what every wave is multiplied by.
    """
    highest = max(1, int(np.abs(waves).max()))
    out = np.empty(shares.shape[1])

    def queries(start: int, stop: int) -> None:
        _read(shares, start, stop, highest, waves, sums, out)

    over_ranges(shares.shape[1], queries, at_least=LEAST_QUERIES)
    return out
