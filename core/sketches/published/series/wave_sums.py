"""The two compiled loops of sums of waves on a torus: add records, and read queries.

A record's angle along each coordinate is turned into a point of the unit circle by a fixed series, and the points of
its whole-number multiples follow by multiplication, in a fixed order; a wave of several coordinates is the product of
theirs. No library function takes part, so a record adds the same integers on any machine that keeps IEEE 754, wherever
it stands. Its cosine and sine are then written as whole numbers (c, s) with c^2 + s^2 <= W^2, checked exactly.
"""

from __future__ import annotations

import numpy as np

from ....machine.compiled_code import njit
from ....machine.threads import over_ranges
from ...hashed.phases import COSINE, SINE, add_up

LEAST_QUERIES = 64
BLOCK = 32
"""Points at a time: their multiples up to a few hundred fill a second-level cache at most."""


@njit(nogil=True, cache=True, inline="always")
def _turns(shares, start, length, cosines, sines):
    """cos and sin of 2 pi m share for m = 0, 1, ..., of a block of points; (d, highest + 1, block).

    Half of the angle by Taylor's series, doubled, then multiplied.
    """
    d, multiples, _ = cosines.shape
    for j in range(d):
        for i in range(length):
            share = shares[j, start + i]
            half = (share - np.floor(share + 0.5)) * np.pi
            z = half * half
            c, s = COSINE[-1], SINE[-1]
            for k in range(2, len(COSINE) + 1):
                c = c * z + COSINE[-k]
                s = s * z + SINE[-k]
            s *= half
            cosines[j, 0, i], sines[j, 0, i] = 1.0, 0.0
            cosines[j, 1, i], sines[j, 1, i] = 1.0 - 2.0 * s * s, 2.0 * s * c
        for m in range(2, multiples):
            # m is the sum of its halves, so that errors grow with the digits of m and not with m itself.
            _times(
                cosines[j, m // 2],
                sines[j, m // 2],
                cosines[j, m - m // 2],
                sines[j, m - m // 2],
                1.0,
                length,
                cosines[j, m],
                sines[j, m],
            )


@njit(nogil=True, cache=True, inline="always")
def _times(c, s, a, b, sign, length, cosines, sines):
    """The points (c, s) of the circle turned by (a, sign b), for a block of points."""
    for i in range(length):
        x, y = c[i], s[i]
        cosines[i], sines[i] = x * a[i] - y * sign * b[i], y * a[i] + x * sign * b[i]


@njit(nogil=True, cache=True, inline="always")
def _before_last(frequency, cosines, sines, length, p, q):
    """(p, q) = cos and sin of a frequency's angle along all coordinates but the last, for a block of points."""
    p[:length], q[:length] = 1.0, 0.0
    for j in range(len(frequency) - 1):
        m = frequency[j]
        _times(p, q, cosines[j, abs(m)], sines[j, abs(m)], 1.0 if m >= 0 else -1.0, length, p, q)


@njit(nogil=True, cache=True)
def _pour(shares, first, last, highest, waves, amplitudes, table):
    d = len(shares)
    cosines, sines, p, q = _scratch(d, highest)
    for start in range(first, last, BLOCK):
        length = min(BLOCK, last - start)
        _turns(shares, start, length, cosines, sines)
        table[0] += amplitudes[0] * length
        p[:], q[:] = 1.0, 0.0
        for h in range(len(waves)):
            m = waves[h, d - 1]
            if m == -highest:  # the last coordinate runs fastest, so the others have changed
                _before_last(waves[h], cosines, sines, length, p, q)
            a, b, sign = cosines[d - 1, abs(m)], sines[d - 1, abs(m)], 1.0 if m >= 0 else -1.0
            amplitude = np.float64(amplitudes[1 + h])
            most = amplitudes[1 + h] * amplitudes[1 + h]
            cosine, sine = np.int64(0), np.int64(0)
            for i in range(length):
                # Toward zero; rounding may leave a pair a hair too long, which the loop takes back.
                x = np.int64(amplitude * (p[i] * a[i] - q[i] * sign * b[i]))
                y = np.int64(amplitude * (q[i] * a[i] + p[i] * sign * b[i]))
                while x * x + y * y > most:
                    x -= np.sign(x)
                    y -= np.sign(y)
                cosine += x
                sine += y
            table[1 + 2 * h] += cosine
            table[2 + 2 * h] += sine


@njit(nogil=True, cache=True, inline="always")
def _scratch(d, highest):
    """Room for the multiples of a block of points, and for the points of one frequency."""
    sides = (d, highest + 1, BLOCK)
    return np.empty(sides), np.empty(sides), np.empty(BLOCK), np.empty(BLOCK)


@njit(nogil=True, cache=True)
def _read(shares, first, last, highest, waves, sums, out):
    d = len(shares)
    cosines, sines, p, q = _scratch(d, highest)
    for start in range(first, last, BLOCK):
        length = min(BLOCK, last - start)
        _turns(shares, start, length, cosines, sines)
        total = out[start : start + length]
        total[:] = sums[0]
        p[:], q[:] = 1.0, 0.0
        for h in range(len(waves)):
            m = waves[h, d - 1]
            if m == -highest:
                _before_last(waves[h], cosines, sines, length, p, q)
            a, b, sign = cosines[d - 1, abs(m)], sines[d - 1, abs(m)], 1.0 if m >= 0 else -1.0
            x, y = sums[1 + 2 * h], sums[2 + 2 * h]
            for i in range(length):
                total[i] += (p[i] * a[i] - q[i] * sign * b[i]) * x + (q[i] * a[i] + p[i] * sign * b[i]) * y


def pour_waves(shares: np.ndarray, waves: np.ndarray, amplitudes: np.ndarray, table: np.ndarray) -> None:
    """Add every record's waves to a table.

    Parameters
    ----------
    shares : np.ndarray
        float64 (d, n), how much of a turn each record is along each coordinate.
    waves : np.ndarray
        int64 (H, d), the frequencies, as `Torus.waves` orders them.
    amplitudes : np.ndarray
        int64 (1 + H,), from 0 to 2^30: of the number of records, and of every wave.
    table : np.ndarray
        int64 (1 + 2 H,), the number of records and a cosine and a sine a wave; changed in place.
    """
    highest = int(waves.max())

    def records(start: int, stop: int, sums: np.ndarray) -> None:
        _pour(shares, start, stop, highest, waves, amplitudes, sums)

    add_up(shares.shape[1], records, table)


def read_waves(shares: np.ndarray, waves: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """The sum of waves with given weights at every query, float64 (n,).

    Parameters
    ----------
    shares, waves : np.ndarray
        As for `pour_waves`, of queries.
    sums : np.ndarray
        float64 (1 + 2 H,), what every wave is multiplied by.
    """
    highest = int(waves.max())
    out = np.empty(shares.shape[1])

    def queries(start: int, stop: int) -> None:
        _read(shares, start, stop, highest, waves, sums, out)

    over_ranges(shares.shape[1], queries, at_least=LEAST_QUERIES)
    return out
