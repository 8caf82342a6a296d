"""The axes of tables: every category of a column is a cell, and a number is cut at public edges between its bounds.

Ordered categories and values around a circle are categories here, and dates are numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...domain import Categorical, Column, Cyclic, Domain, Ordered
from ...errors import RequestError
from ...machine.compiled_code import njit
from ...machine.threads import over_ranges

MOST_CELLS = 1 << 16
"""Of an axis, fine ones counted: the number of one fits 16 bits."""
METRIC = "l2"
"""In which the domain encodes categories; every other would do, as only the largest coordinate counts."""
WORTH_A_THREAD = 1 << 14


@dataclass(frozen=True)
class Axis:
    """One axis: a coordinate of numbers, or the categories of a column.

    Attributes
    ----------
    name : str
        Of the column; of a vector with the place in it, such as "v[3]".
    column : Column
        The column.
    coordinate : int
        The (first) encoded coordinate.
    low, high : float
        Bounds in the column's own unit; 0 and the number of categories for those.
    cells : int
        Of the tables of several columns: m.
    halvings : int
        How often each of them is halved where the axis is alone.
    categories : tuple[str, ...]
        Of a column of categories, else none.
    """

    name: str
    column: Column
    coordinate: int
    low: float
    high: float
    cells: int
    halvings: int
    categories: tuple[str, ...]

    @property
    def fine(self) -> int:
        """Cells where the axis is alone."""
        return self.cells << self.halvings

    def edges(self, fine: bool = False) -> np.ndarray:
        """Where the cells begin and the last one ends, in the column's own unit, float64 (cells + 1,)."""
        cells = self.fine if fine else self.cells
        return self.low + (self.high - self.low) * (np.arange(cells + 1) / cells)


def is_number(column: Column) -> bool:
    """Whether the values of a column are cut into cells, and not each a cell of its own."""
    return not isinstance(column, (Categorical, Ordered))


def number_axes(domain: Domain) -> int:
    """How many axes are coordinates of numbers."""
    return sum(column.width for column in domain.columns if is_number(column))


def axes_of(domain: Domain, bins: Sequence[int], halvings: Sequence[int]) -> tuple[Axis, ...]:
    """The axes of a domain, in the order of its coordinates.

    Parameters
    ----------
    domain : Domain
        Columns that have coordinates.
    bins, halvings : Sequence[int]
        One a coordinate of numbers.
    """
    axes: list[Axis] = []
    numbers = iter(zip(bins, halvings, strict=True))
    coordinate = 0
    for column in domain.columns:
        if isinstance(column, (Categorical, Ordered)):
            count = len(column.categories)
            axes.append(Axis(column.name, column, coordinate, 0.0, float(count), count, 0, column.categories))
        else:
            for place in range(column.width):
                name = column.name if column.width == 1 else f"{column.name}[{place}]"
                low, high = column.bounds(1.0)
                axes.append(Axis(name, column, coordinate + place, low, high, *next(numbers), ()))
        coordinate += column.width
    if any(axis.fine > MOST_CELLS for axis in axes):
        raise RequestError(f"A column may be cut into {MOST_CELLS:,} cells at most; use fewer bins or halvings.")
    return tuple(axes)


def cut(points: np.ndarray, domain: Domain, axes: Sequence[Axis]) -> np.ndarray:
    """The fine cell of every encoded point along every axis.

    Parameters
    ----------
    points : np.ndarray
        float64 (n, dimensions). What lies outside the bounds is in the outermost cell; the category is the one of the
        largest coordinate, the first of several, or the one with the nearest place.
    domain, axes : Domain, Sequence[Axis]
        How they were encoded, and the axes of the domain.

    Returns
    -------
    np.ndarray
        uint16 (axes, n). Cells hold their lower end, and the last one both.
    """
    by_coordinate = np.ascontiguousarray(points.T)
    low, high = domain.bounds(METRIC)
    found = np.empty((len(axes), len(points)), np.uint16)
    coordinate = np.array([axis.coordinate for axis in axes])
    count = np.array([axis.fine for axis in axes])
    raised = [isinstance(axis.column, Categorical) and axis.column.width == len(axis.categories) for axis in axes]
    categories = np.where(raised, [len(axis.categories) for axis in axes], 0)

    def records(first: int, last: int) -> None:
        _find_cells(by_coordinate, coordinate, low, high, count, categories, first, last, found)

    over_ranges(len(points), records, at_least=WORTH_A_THREAD)
    for row, axis in enumerate(axes):
        column = axis.column
        if isinstance(column, (Cyclic, Ordered)):  # whose categories have places around a circle, or on a line
            shift, width = column.scaling(domain.scale)
            places = points[:, axis.coordinate : axis.coordinate + column.width] * width + shift
            found[row] = column.nearest(places)
    return found


@njit(nogil=True, cache=True)
def _find_cells(points, coordinate, low, high, count, categories, first, last, found):
    """found[axis, i] = the cell of point i, of those in the range; points by coordinate."""
    for axis in range(len(coordinate)):
        place = coordinate[axis]
        if categories[axis] > 0:
            for i in range(first, last):
                largest = 0
                for category in range(1, categories[axis]):
                    if points[place + category, i] > points[place + largest, i]:
                        largest = category
                found[axis, i] = largest
        else:
            # Clamped, so that memory is safe whatever comes.
            top = count[axis] - 1.0
            for i in range(first, last):
                share = (points[place, i] - low[place]) / (high[place] - low[place])
                found[axis, i] = np.uint16(min(max(share * count[axis], 0.0), top))
