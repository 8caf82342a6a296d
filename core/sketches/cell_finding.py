"""Which cell a record lies in: even cells between bounds, cells of whole steps, and one for every category."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..runtime.compiled_code import njit
from ..runtime.threads import over_ranges

WORTH_A_THREAD = 1 << 14


@dataclass(frozen=True)
class Ruler:
    """How places along one axis become numbers of cells."""

    coordinate: int  # The (first) encoded coordinate.
    low: float
    high: float
    span: float  # How many cells, or steps between values, lie between them.
    most: int  # How many cells there are, or values.
    # Whether a place is that of the nearest value, as where there are steps, or that of the cell around it.
    to_nearest: bool = False
    categories: int = 0  # Of an axis of categories, which have a coordinate each; else 0.
    cells: np.ndarray | None = None  # The cell of each value, where cells hold several.
    nowhere: int = 0  # The cell of whoever has no value, which is NaN.


def find_cells(points: np.ndarray, rulers: Sequence[Ruler], found: np.ndarray) -> None:
    """Write the cell of every point along every axis.

    `points`: encoded, float64 (n, dimensions); what lies outside the bounds is in the outermost cell. The category is
    the one of the largest coordinate, the first of several. `rulers`: one an axis. `found`: of integers, (axes, n).
    Cells hold their lower end, and the last one both.
    """
    by_coordinate = np.ascontiguousarray(points.T)
    whole = np.array([(ruler.coordinate, ruler.most, ruler.categories, ruler.nowhere) for ruler in rulers], np.int64)
    real = np.array([(ruler.low, ruler.high, ruler.span, 0.5 * ruler.to_nearest) for ruler in rulers])
    tables = [np.zeros(0, np.int64) if ruler.cells is None else ruler.cells.astype(np.int64) for ruler in rulers]
    starts = np.cumsum([0, *map(len, tables)])
    cells = np.concatenate(tables)

    def records(first: int, last: int) -> None:
        _find_cells(by_coordinate, whole, real, starts, cells, first, last, found)

    over_ranges(len(points), records, at_least=WORTH_A_THREAD)


@njit(nogil=True, cache=True)
def _find_cells(points, whole, real, starts, cells, first, last, found):
    """found[axis, i] = the cell of point i, of those in the range; points by coordinate."""
    for axis in range(len(whole)):
        place, most, categories, nowhere = whole[axis]
        if categories > 0:
            for i in range(first, last):
                largest = 0
                for category in range(1, categories):
                    if points[place + category, i] > points[place + largest, i]:
                        largest = category
                found[axis, i] = largest
            continue
        low, high, span, shift = real[axis]
        start, width, top = starts[axis], high - low, most - 1.0
        mapped = starts[axis + 1] > start
        for i in range(first, last):
            share = (points[place, i] - low) / width * span + shift
            if share != share:  # NaN
                found[axis, i] = nowhere
                continue
            cell = np.int64(min(max(share, 0.0), top))  # clamped, so that memory is safe whatever comes
            found[axis, i] = cells[start + cell] if mapped else cell
