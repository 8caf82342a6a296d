"""The two compiled loops of a hashed count table: pour points in, and read the cells of queries.

Both take a block of points through a few rows before they go on to the next block: the points come from memory once for
all these rows, whose counters stay in the first-level cache. One row after the other is hashed into a small buffer, and
the increments then go to that row. Hashes of many terms, which have every coordinate, are computed a few rows at a time
in registers (`core.runtime.inner_products`), as projecting takes all the time there.

Where rows have few columns, two of them are counted together: one increment a record, of the counter of the pair of its
columns, whose sums over either row's columns are the other row's counters. Integers add up to the same, half of the
increments are saved, and fewer have to wait for the one before as it goes to the same counter.

Threads own rows when building (no two write to the same counter) and queries when reading. Everything is added in a
fixed order, so a table does not depend on how the records were split into batches, nor on the number of threads.
"""

from typing import Any

import numpy as np

from ..geometry.hash_cells import MAX_CELLS, Columns
from ..runtime.compiled_code import njit
from ..runtime.environment import over_ranges
from ..runtime.inner_products import DEPTH, MANY, inner_products, records_at_once

BLOCK = 1024
CACHED = 1 << 12  # Counters of the rows that a block is poured into together: 32 KiB, which a first-level cache holds.
# Records for which rows are counted together: so many that taking the counters apart costs little beside them.
WORTHWHILE = 4 * CACHED
PROJECTED = 1 << 10  # Hashes of many terms that a block is projected on together.


@njit(nogil=True, cache=True, inline="always")
def project(points, start, length, first, last, coordinate, coefficient, offset, out):
    """out[:length] = a.x + b for a block; terms four at a time, always in the same order."""
    h = first
    if last - h >= 3:
        x0 = points[coordinate[h], start : start + length]
        x1 = points[coordinate[h + 1], start : start + length]
        x2 = points[coordinate[h + 2], start : start + length]
        a0, a1, a2 = coefficient[h], coefficient[h + 1], coefficient[h + 2]
        for i in range(length):
            out[i] = offset + a0 * x0[i] + a1 * x1[i] + a2 * x2[i]
        h += 3
    else:
        x0 = points[coordinate[h], start : start + length]
        a0 = coefficient[h]
        for i in range(length):
            out[i] = offset + a0 * x0[i]
        h += 1
    while last - h >= 4:
        x0 = points[coordinate[h], start : start + length]
        x1 = points[coordinate[h + 1], start : start + length]
        x2 = points[coordinate[h + 2], start : start + length]
        x3 = points[coordinate[h + 3], start : start + length]
        a0, a1, a2, a3 = coefficient[h], coefficient[h + 1], coefficient[h + 2], coefficient[h + 3]
        for i in range(length):
            out[i] = out[i] + a0 * x0[i] + a1 * x1[i] + a2 * x2[i] + a3 * x3[i]
        h += 4
    while h < last:
        x0 = points[coordinate[h], start : start + length]
        a0 = coefficient[h]
        for i in range(length):
            out[i] += a0 * x0[i]
        h += 1


@njit(nogil=True, cache=True, inline="always")
def _wrap(value, cells):
    """The cell of a heavy-tailed projection with more than 2**31 cells: its number modulo 2**31."""
    if cells == MAX_CELLS:
        return value - np.floor(value / MAX_CELLS) * MAX_CELLS
    return value


@njit(nogil=True, cache=True)
def _count(column, length, counters):
    """Add one to each of these counters; a place without a sign cannot mean one from the end, which would be asked."""
    for i in range(length):
        counters[np.uint64(column[i])] += 1


@njit(nogil=True, cache=True)
def _count_together(column, other_column, length, other_span, together):
    """Add one to the counter of each pair of columns; they take the place of the first."""
    factor = np.uint32(other_span)
    for i in range(length):
        column[i] = np.uint32(column[i] * factor) + other_column[i]
    _count(column, length, together)


@njit(nogil=True, cache=True)
def _take_apart(together, span, other_span, counters, other_counters):
    """Add the counters of pairs to those of their two rows, and set them to zero."""
    for i in range(span):
        pairs = together[i * other_span : (i + 1) * other_span]
        for j in range(other_span):
            counters[i] += pairs[j]
            other_counters[j] += pairs[j]
        pairs[:] = 0


@njit(nogil=True, cache=True)
def _pour(points, first_row, last_row, rows_at_once, block, many, hashes, span, table):
    first_hash, first_term, coordinate, coefficient, offset, _, cells, multiplier, addend, rehashed, width = hashes
    d, n = points.shape
    panel = np.empty((min(d, DEPTH) if many else 1, block))
    values = np.empty((_most_hashes(first_row, last_row, rows_at_once, first_hash) if many else 1, block))
    key = np.empty(block, np.uint64)
    column, column_before = np.empty(block, np.uint32), np.empty(block, np.uint32)
    together = np.zeros(CACHED, np.int64)
    for first in range(first_row, last_row, rows_at_once):
        last = min(first + rows_at_once, last_row)
        paired = last - first == 2 and 0 < span[first] * span[first + 1] <= CACHED
        for start in range(0, n, block):
            length = min(block, n - start)
            if many:
                a, b = first_hash[first], first_hash[last]
                _project_many(points, start, length, a, b, coefficient, offset, panel, values)
            for r in range(first, last):
                single = first_hash[r + 1] - first_hash[r] == 1 and not rehashed[r]
                if not single:
                    key[:length] = addend[r]
                for h in range(first_hash[r], first_hash[r + 1]):
                    value = values[h - first_hash[first] if many else 0]
                    if not many:
                        a, b = first_term[h], first_term[h + 1]
                        project(points, start, length, a, b, coordinate, coefficient, offset[h], value)
                    if cells[h] == MAX_CELLS:
                        for i in range(length):
                            value[i] = _wrap(value[i], cells[h])
                    # Inside the bounds no cell is outside [0, cells - 1]; clamping keeps memory safe whatever comes.
                    top = np.float64(cells[h] - 1)
                    for i in range(length):
                        column[i] = np.uint32(np.int32(min(max(value[i], 0.0), top)))
                    if not single:
                        factor = multiplier[h]
                        for i in range(length):
                            key[i] += factor * np.uint64(column[i])
                if rehashed[r]:
                    for i in range(length):
                        column[i] = np.uint32(((key[i] >> np.uint64(32)) * width) >> np.uint64(32))
                elif not single:
                    for i in range(length):
                        column[i] = np.uint32(key[i])
                if not paired:
                    _count(column, length, table[r])
                elif r == first:
                    for i in range(length):
                        column_before[i] = column[i]
            if paired:
                _count_together(column_before, column, length, span[first + 1], together)
        if paired:
            _take_apart(together, span[first], span[first + 1], table[first], table[first + 1])


@njit(nogil=True, cache=True, inline="always")
def _most_hashes(first_row, last_row, rows_at_once, first_hash):
    most = 0
    for first in range(first_row, last_row, rows_at_once):
        most = max(most, first_hash[min(first + rows_at_once, last_row)] - first_hash[first])
    return most


@njit(nogil=True, cache=True, inline="always")
def _project_many(points, start, length, first, last, coefficient, offset, panel, values):
    """values[h - first, :length] = a.x + b for the hashes from first to last, which have every coordinate."""
    for h in range(first, last):
        values[h - first] = offset[h]
    inner_products(points, start, length, coefficient, first * points.shape[0], last - first, panel, values)


@njit(nogil=True, cache=True)
def _read(points, first_query, last_query, group_of_row, rows_at_once, block, many, hashes, table, background, out):
    first_hash, first_term, coordinate, coefficient, offset, side, cells, multiplier, addend, rehashed, width = hashes
    d, rows = points.shape[0], len(first_hash) - 1
    panel = np.empty((min(d, DEPTH) if many else 1, block))
    values = np.empty((_most_hashes(0, rows, rows_at_once, first_hash) if many else 1, block))
    key = np.empty(block, np.uint64)
    inside = np.empty(block, np.bool_)
    gain = 1.0 / (1.0 - 1.0 / width) if width > 1 else 1.0
    for start in range(first_query, last_query, block):
        length = min(block, last_query - start)
        for r in range(rows):
            first = r - r % rows_at_once
            if many and r == first:
                last = min(first + rows_at_once, rows)
                a, b = first_hash[first], first_hash[last]
                _project_many(points, start, length, a, b, coefficient, offset, panel, values)
            key[:length] = addend[r]
            inside[:length] = True
            for h in range(first_hash[r], first_hash[r + 1]):
                value = values[h - first_hash[first] if many else 0]
                if not many:
                    a, b = first_term[h], first_term[h + 1]
                    project(points, start, length, a, b, coordinate, coefficient, offset[h], value)
                top = np.float64(cells[h])
                factor = multiplier[h]
                for i in range(length):
                    v = _wrap(value[i], cells[h])
                    if side[h]:
                        v = min(max(v, 0.0), 1.0)
                    elif not 0.0 <= v < top:
                        inside[i] = False
                        v = 0.0
                    key[i] += factor * np.uint64(np.uint32(np.int32(v)))
            counters = table[r]
            sums = out[group_of_row[r]]
            if rehashed[r]:
                for i in range(length):
                    if inside[i]:
                        column = ((key[i] >> np.uint64(32)) * width) >> np.uint64(32)
                        sums[start + i] += (counters[column] - background) * gain
            else:
                for i in range(length):
                    if inside[i]:
                        sums[start + i] += counters[key[i]]


def pour(points: np.ndarray, columns: Columns, table: np.ndarray) -> None:
    """Add one to the counter of every point in every row of ``table``.

    `points`: float64 (n, d), each coordinate contiguous (Fortran order), every point inside the public bounds. `table`:
    int64 (R, columns.width), changed in place.
    """
    facts = _facts(columns)
    by_coordinate = np.ascontiguousarray(points.T)
    many, rows_at_once, block = _tiling(columns, len(by_coordinate))
    span = None if many or len(points) < WORTHWHILE else spans_together(columns)
    if span is None:
        span = np.zeros(len(table), np.int64)
    else:
        rows_at_once = 2

    def rows(start: int, stop: int) -> None:
        _pour(by_coordinate, start, stop, rows_at_once, block, many, facts, span, table)

    over_ranges(len(table), rows)


def read(
    points: np.ndarray, columns: Columns, table: np.ndarray, group_of_row: np.ndarray, background: float
) -> np.ndarray:
    """Sum, over the rows of each group, of the counters that each query falls in.

    A query in a cell that no record inside the bounds can reach is given 0 for that row, without noise. In rehashed
    rows the expected count of records from other cells is taken off: (counter - background) / (1 - 1/W), where the
    background is N/W. Returns float64 (groups, n). `points`: float64 (n, d). `table`: int64 (R, columns.width).
    `group_of_row`: int64 (R,), the group of each row. `background`: expected records from other cells in a counter of a
    rehashed row.
    """
    facts = _facts(columns)
    by_coordinate = np.ascontiguousarray(points.T)
    many, rows_at_once, block = _tiling(columns, len(by_coordinate))
    out = np.zeros((int(group_of_row.max()) + 1, len(points)))

    def queries(start: int, stop: int) -> None:
        _read(by_coordinate, start, stop, group_of_row, rows_at_once, block, many, facts, table, float(background), out)

    over_ranges(len(points), queries, at_least=256)
    return out


def _facts(columns: Columns) -> tuple[Any, ...]:
    """What the compiled loops take of hashes and columns, in their order."""
    h = columns.hashes
    terms = (columns.first_hash, h.first_term, h.coordinate, h.coefficient, h.offset, h.side)
    return *terms, columns.cells, columns.multiplier, columns.addend, columns.rehashed, np.uint64(columns.width)


def spans_together(columns: Columns) -> np.ndarray | None:
    """int64 (R,), columns that a row's records can fall in, 0 for rehashed rows; None where few pairs fit."""
    span = np.where(columns.rehashed, 0, columns.reachable)
    pairs = span[:-1] * span[1:]
    return span if 2 * np.count_nonzero((pairs > 0) & (pairs <= CACHED)) > len(span) else None


def fused(columns: Columns, dimensions: int) -> bool:
    """Whether a projection is a chain of fused multiply-adds, rather than one of products and sums."""
    return dimensions >= MANY and columns.hashes.every_coordinate == dimensions


def _tiling(columns: Columns, dimensions: int) -> tuple[bool, int, int]:
    """Whether hashes are projected on many at a time, and how many rows and points are taken together."""
    if not fused(columns, dimensions):
        return False, max(1, CACHED // columns.width), BLOCK
    most = int(np.diff(columns.first_hash).max())
    return True, max(1, PROJECTED // most), records_at_once(dimensions)
