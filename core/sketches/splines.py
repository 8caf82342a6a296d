"""Cubic B-splines on an even grid: how a record is shared between grid points, and how a kernel is read off them.

A number between its bounds is shared between the four nearest grid points in the proportions of the cubic B-spline.
They are never negative and add up to 1, so a record is as private as if it fell into one cell: its L1 norm is 1. A
kernel K(q, .) is read as the combination of splines that comes closest to it in the mean square. For a smooth kernel
that misses by the fourth power of the pitch, where cells miss by the first power: a pitch of three quarters of a
Gaussian bandwidth leaves an error of 0.2%. The coarser the grid, the fewer counters' noise an answer adds up.

Source of the splines: Unser, Aldroubi, Eden 1993, "B-spline signal processing".
"""

from threading import Lock

import numpy as np
from scipy.linalg import solveh_banded

from ..runtime.compiled_code import njit
from ..runtime.environment import over_ranges

ORDER = 4  # Grid points that share a number.
# Grid points beyond either end to which a kernel is fitted, so that the ends of the grid are like its middle.
MARGIN = 8
POINTS_A_CELL = 4  # Points in a cell at which the fit is made, where there is no reason to have fewer.


@njit(nogil=True, cache=True)
def _share(points, coordinate, low, pitch, cells, categories, values, stride, scale, first, last, table):
    """Add ``scale`` to the flat table for every record of the range, shared between 4^(axes on a grid) counters.

    Shares are truncated, and what is left over goes to the largest, so that every record adds up to ``scale`` exactly.
    """
    axes = len(coordinate)
    width = np.empty(axes, np.int64)
    start = np.empty(axes, np.int64)
    share = np.empty((axes, ORDER), np.float64)
    position = np.empty(axes, np.int64)
    for i in range(first, last):
        combinations = 1
        for a in range(axes):
            if categories[a] > 0:
                width[a] = 1
                share[a, 0] = 1.0
                start[a] = 0
                for c in range(1, categories[a]):
                    if points[coordinate[a] + c, i] > points[coordinate[a] + start[a], i]:
                        start[a] = c
            elif values[a] > 0:
                width[a] = 1
                share[a, 0] = 1.0
                nearest = np.int64(np.floor((points[coordinate[a], i] - low[a]) / pitch[a] + 0.5))
                start[a] = min(max(nearest, 0), values[a] - 1)
            else:
                width[a] = ORDER
                u = (points[coordinate[a], i] - low[a]) / pitch[a]
                cell = min(max(np.int64(np.floor(u)), 0), cells[a] - 1)
                t = min(max(u - cell, 0.0), 1.0)
                r = 1.0 - t
                start[a] = cell
                share[a, 0] = r * r * r / 6.0
                share[a, 1] = (4.0 - 6.0 * t * t + 3.0 * t * t * t) / 6.0
                share[a, 2] = (4.0 - 6.0 * r * r + 3.0 * r * r * r) / 6.0
                share[a, 3] = t * t * t / 6.0
            position[a] = 0
            combinations *= width[a]
        left, largest, place_of_largest = scale, -1.0, 0
        for _ in range(combinations):
            weight = 1.0
            place = 0
            for a in range(axes):
                weight *= share[a, position[a]]
                place += (start[a] + position[a]) * stride[a]
            amount = np.int64(weight * scale)
            table[place] += amount
            left -= amount
            if weight > largest:
                largest, place_of_largest = weight, place
            a = axes - 1
            while a >= 0:
                position[a] += 1
                if position[a] < width[a]:
                    break
                position[a] = 0
                a -= 1
        table[place_of_largest] += left


def share_records(points: np.ndarray, axes: tuple, scale: int, table: np.ndarray) -> None:
    """Add records to a table, ``scale`` in all for each.

    `points`: float64 (n, d) in Fortran order. `axes`: of the table, each a `grids.Axis`. `scale`: what one record adds.
    `table`: int64, one counter a combination of grid points and categories, changed in place.
    """
    rows, lines = [points.T], []
    for axis in axes:
        if axis.radius:  # the number of the value around the circle becomes one more coordinate
            lines.append(axis.unrolled(sum(map(len, rows))))
            rows.append(axis.nearest(points)[None])
        else:
            lines.append(axis)
    by_coordinate = np.vstack(rows) if len(rows) > 1 else np.ascontiguousarray(points.T)
    coordinate = np.array([axis.coordinate for axis in lines])
    low = np.array([axis.low for axis in lines])
    pitch = np.array([axis.pitch for axis in lines])
    cells = np.array([axis.cells for axis in lines])
    categories = np.array([axis.categories for axis in lines])
    values = np.array([axis.values for axis in lines])
    stride = np.array(table.strides) // table.itemsize
    lock = Lock()

    def records(start: int, stop: int) -> None:
        # Whole numbers add up to the same in any order, so each thread has a table of its own.
        mine = np.zeros(table.size, np.int64)
        _share(by_coordinate, coordinate, low, pitch, cells, categories, values, stride, scale, start, stop, mine)
        with lock:
            np.add(table, mine.reshape(table.shape), out=table)

    over_ranges(by_coordinate.shape[1], records, at_least=max(4096, table.size // 4))


def fitting_points(cells: int, a_cell: int) -> np.ndarray:
    """Where a kernel is fitted, in pitches from the lower bound, float64 (points,)."""
    first, last = -(MARGIN + 1), cells + 1 + MARGIN
    return first + np.arange((last - first) * a_cell + 1) / a_cell


def coefficients(values: np.ndarray, cells: int, a_cell: int) -> np.ndarray:
    """Coefficients of the splines whose combination is closest to functions in the mean square.

    Returns float64 (n, cells + 3), those of the splines that reach inside the bounds. `values`: float64 (n, points),
    the functions at `fitting_points`.
    """
    nodes = np.linspace(0.0, 1.0, cells + 3 + 2 * MARGIN)
    steps = np.linspace(0.0, 1.0, values.shape[1])
    # Straight lines are their own coefficients. Without one the rest is zero at both ends, where the fit is cut off.
    rest = values - _line(values, steps)
    taps = bspline(np.arange(-2 * a_cell, 2 * a_cell + 1) / a_cell)
    padded = np.pad(rest, [(0, 0), (2 * a_cell, 2 * a_cell)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, len(taps), axis=1)[:, ::a_cell]
    bands = np.zeros((ORDER, len(nodes)))
    for shift in range(ORDER):
        bands[ORDER - 1 - shift, shift:] = taps[: len(taps) - shift * a_cell] @ taps[shift * a_cell :]
    fitted = solveh_banded(bands, (windows @ taps).T).T + _line(values, nodes)
    return fitted[:, MARGIN : MARGIN + cells + 3]


def _line(values: np.ndarray, steps: np.ndarray) -> np.ndarray:
    return values[:, :1] + (values[:, -1:] - values[:, :1]) * steps


def combined(weights: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Combinations (n, cells + 3) of splines at places in pitches from the lower bound, float64 (n, places)."""
    cell = np.minimum(np.floor(places), weights.shape[1] - ORDER).astype(np.int64)
    return sum(weights[:, cell + place] * bspline(places - cell + 1.0 - place) for place in range(ORDER))


def gathered(counts: np.ndarray, places: np.ndarray, counters: int) -> np.ndarray:
    """The transpose of `combined`: (n, places) to (n, counters), with the same sums of products."""
    cell = np.minimum(np.floor(places), counters - ORDER).astype(np.int64)
    found = np.zeros((counters, len(counts)))
    for place in range(ORDER):
        np.add.at(found, cell + place, (counts * bspline(places - cell + 1.0 - place)).T)
    return found.T


def refined(weights: np.ndarray, halvings: int) -> np.ndarray:
    """The same combinations as splines of a pitch 2^halvings times smaller, (n, cells + 3) to (n, finer cells + 3).

    A cubic B-spline is the sum of those of half its pitch, weighted 1, 4, 6, 4, 1 over 8.
    """
    for _ in range(halvings):
        finer = np.empty((len(weights), 2 * weights.shape[1] - ORDER + 1))
        finer[:, 0::2] = (weights[:, :-1] + weights[:, 1:]) / 2.0
        finer[:, 1::2] = (weights[:, :-2] + 6.0 * weights[:, 1:-1] + weights[:, 2:]) / 8.0
        weights = finer
    return weights


def coarsened(counts: np.ndarray, halvings: int) -> np.ndarray:
    """The transpose of `refined`: (n, finer cells + 3) to (n, cells + 3), with the same sums of products."""
    for _ in range(halvings):
        even, odd = counts[:, 0::2] / 2.0, counts[:, 1::2] / 8.0
        coarser = np.zeros((len(counts), even.shape[1] + 1))
        coarser[:, :-1] += even
        coarser[:, 1:] += even
        coarser[:, :-2] += odd
        coarser[:, 1:-1] += 6.0 * odd
        coarser[:, 2:] += odd
        counts = coarser
    return counts


def bspline(x: np.ndarray) -> np.ndarray:
    """The cubic B-spline, 2/3 at 0 and 0 beyond 2."""
    x = np.abs(x)
    return np.where(x < 1.0, (4.0 - 6.0 * x**2 + 3.0 * x**3) / 6.0, np.maximum(2.0 - x, 0.0) ** 3 / 6.0)
