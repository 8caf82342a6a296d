"""The two compiled loops of random features with structured frequencies; see `phases` for what they share.

Records are transformed a few at a time, each in a lane of its own: the additions of one record never depend on the
records beside it.
"""

from __future__ import annotations

import numpy as np

from ...geometry.hashing.structured import Structured
from ...geometry.projections.fast import LANES, walsh_hadamard
from ...machine.compiled_code import njit
from ...machine.threads import over_ranges
from .phases import LEAST_QUERIES, add_up, decode, look_up
from .waves import Waves


@njit(nogil=True, cache=True, inline="always")
def _spin(points, start, length, units, signs, normals, buffer):
    """The block's unit rows times the scaled points, one lane a point."""
    for j in range(len(units)):
        lanes = buffer[j]
        factor = units[j] * signs[j]
        for i in range(length):
            lanes[i] = factor * points[j, start + i]
    buffer[len(units) :] = 0.0
    walsh_hadamard(buffer)
    for j in range(len(buffer)):
        lanes = buffer[j]
        for i in range(LANES):
            lanes[i] *= normals[j]
    walsh_hadamard(buffer)


@njit(nogil=True, cache=True)
def _pour(points, first, last, signs, normals, first_row, lengths, phases, units, packed, table):
    buffer = np.zeros((signs.shape[1], LANES))
    value = np.empty(LANES)
    for start in range(first, last, LANES):
        length = min(LANES, last - start)
        for block in range(len(signs)):
            _spin(points, start, length, units, signs[block], normals[block], buffer)
            for r in range(first_row[block], first_row[block + 1]):
                lanes = buffer[r - first_row[block]]
                for i in range(LANES):
                    value[i] = lengths[r] * lanes[i] + phases[r]
                look_up(value, length, packed, table[r])


@njit(nogil=True, cache=True)
def _read(points, first, last, signs, normals, first_row, lengths, phases, units, group_of_row, table, out):
    buffer = np.zeros((signs.shape[1], LANES))
    value = np.empty(LANES)
    for start in range(first, last, LANES):
        length = min(LANES, last - start)
        for block in range(len(signs)):
            _spin(points, start, length, units, signs[block], normals[block], buffer)
            for r in range(first_row[block], first_row[block + 1]):
                lanes = buffer[r - first_row[block]]
                for i in range(LANES):
                    value[i] = lengths[r] * lanes[i] + phases[r]
                decode(value, length, table[r, 0], table[r, 1], out[group_of_row[r], start : start + length])


def pour(points: np.ndarray, structured: Structured, entries: Waves, table: np.ndarray) -> None:
    """Add the entries of every point's phases to the rows of ``table``; parameters as for `phases.pour`."""
    by_coordinate = np.ascontiguousarray(points.T)
    s = structured

    def records(start: int, stop: int, sums: np.ndarray) -> None:
        _pour(
            by_coordinate,
            start,
            stop,
            s.signs,
            s.normals,
            s.first_row,
            s.lengths,
            s.phases,
            s.units,
            entries.packed,
            sums,
        )

    add_up(len(points), records, table)


def read(
    points: np.ndarray, structured: Structured, delay: float, table: np.ndarray, group_of_row: np.ndarray
) -> np.ndarray:
    """Sums over the rows of each group, float64 (groups, n); parameters as for `phases.read`."""
    by_coordinate = np.ascontiguousarray(points.T)
    s, phases, sums = structured, structured.phases - delay, table.astype(np.float64)
    out = np.zeros((int(group_of_row.max()) + 1, len(points)))

    def queries(start: int, stop: int) -> None:
        _read(
            by_coordinate,
            start,
            stop,
            s.signs,
            s.normals,
            s.first_row,
            s.lengths,
            phases,
            s.units,
            group_of_row,
            sums,
            out,
        )

    over_ranges(len(points), queries, at_least=LEAST_QUERIES)
    return out
