"""The axes of tables: every category of a column is a cell, and a number is cut at public edges between its bounds.

Ordered categories and values around a circle are categories here, and dates are numbers. Where numbers have steps,
cells hold whole values (`Steps`). Where those who have no number have a category, they are one cell more, behind all
others.

Each record is in exactly one cell of an axis, whatever its value: which one is a function of that value and of public
facts alone. All sensitivities rest on this, and on nothing else of an axis but its number of cells: they are maxima
over every cell and every two (`core.sketches.tables.table_weights`), so a neighbour who gains or loses a value is
among them.

Values that lie on public steps: how many there are, and which of them are a cell together.

Where a column has steps, such as whole numbers or days, a cell holds whole values, never a part of one: a cut lies
half-way between two values. So a range of values is answered by the values in it. Dates are cut where a calendar is:
at days, Mondays, beginnings of months or years.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...domain import Categorical, Column, Cyclic, Dates, Domain, Numeric, Ordered
from ...domain.dates import STEPS
from ...domain.texts_and_items import TextLength
from ...errors import RequestError
from ..grid_axes import Ruler, find_cells

MOST_VALUES = 1 << 40  # Beyond which steps are too fine to matter.
HOUR, DAY = 3_600, 86_400
# Where a calendar may be cut, from the finest: a unit of NumPy's, how many of them, and its seconds, about.
CALENDAR = (
    *(("s", every, 1) for every in (1, 5, 15, 30)),
    *(("m", every, 60) for every in (1, 5, 15, 30)),
    *(("h", every, HOUR) for every in (1, 2, 3, 6, 12)),
    ("D", 1, DAY),
    *(("W", every, 7 * DAY) for every in (1, 2)),
    *(("M", every, 30 * DAY) for every in (1, 2, 3, 6)),
    *(("Y", every, 365 * DAY) for every in (1, 2, 5, 10, 20, 50, 100)),
)
ORIGIN = {"W": 4, "Y": -1970}  # NumPy counts days, months and years from 1970; its weeks begin on Thursdays.
FEWEST = 3  # Cells: a calendar that has fewer, or fewer than half of those that there may be, is not followed.


@dataclass(frozen=True)
class Steps:
    """The values low, low + step, low + 2 step …."""

    # The first value, and what lies between two of them.
    low: float
    step: float
    span: float  # Steps between the bounds of the column, which need not be a whole number.
    count: int  # How many values there are.

    def value(self, number: np.ndarray) -> np.ndarray:
        return self.low + self.step * np.asarray(number, dtype=np.float64)

    def first_from(self, value: float) -> int:
        """The number of the first value that is not below another one; that of values for one beyond them all."""
        if not math.isfinite(value):
            return 0 if value < 0.0 else self.count
        near = 1e-9  # an end that is a value, but for rounding, is this value
        return min(max(math.ceil((value - self.low) / self.step - near), 0), self.count)


def steps_of(column: Column) -> Steps | None:
    """The values of a column that has steps; None where any number may occur."""
    if not isinstance(column, (Numeric, Dates, TextLength)):
        return None
    step = column.step if isinstance(column, Numeric) else 1.0
    if not step:
        return None
    span = (column.high - column.low) / step
    return Steps(column.low, step, span, math.floor(span + 1e-9) + 1) if span < MOST_VALUES else None


def cut_values(column: Column, steps: Steps, most: int) -> tuple[int, ...]:
    """The number of the first value of each cell, and that of all values at the end.

    Each cell has as many values as any other, but for the last, so that counts of cells can be compared: one each,
    where that many fit. `most`: how many cells there may be.
    """
    cells = min(most, steps.count)
    if isinstance(column, Numeric) and column.scale and cells < steps.count:
        return _by_doublings(column, steps, cells)
    found = _by_calendar(column, steps, cells) if isinstance(column, Dates) and cells < steps.count else None
    each = -(-steps.count // cells)
    return found or (*range(0, steps.count, each), steps.count)


def _by_doublings(column: Numeric, steps: Steps, most: int) -> tuple[int, ...]:
    """Cells of amounts, each about as many doublings wide, or of one value where that is wider; up to so many."""
    ends = column.placed(steps.value(np.array([0, steps.count])))
    found: tuple[int, ...] = ()
    for cells in range(most, 4 * most, max(1, most // 16)):
        starts = np.unique(_first_values(column, steps, np.linspace(ends[0], ends[1], cells + 1)))
        if found and len(starts) - 1 > most:
            break
        found = tuple(starts.tolist())
    return found


def _first_values(column: Numeric, steps: Steps, places: np.ndarray) -> np.ndarray:
    """The number of the first value that is not below each place on the scale of amounts, int64."""
    numbers = (column.between(places) - steps.low) / steps.step
    return np.clip(np.ceil(numbers - 1e-6), 0, steps.count).astype(np.int64)


def halved(
    starts: tuple[int, ...], halvings: int, column: Column | None = None, steps: Steps | None = None
) -> np.ndarray:
    """The same of the cells that each of them falls into, int64: as even as can be; of some nothing may be left."""
    first, last = (np.array(ends, np.int64)[:, None] for ends in (starts[:-1], starts[1:]))
    parts = np.arange(1 << halvings, dtype=np.int64)
    if isinstance(column, Numeric) and column.scale and steps is not None:
        low, high = (column.placed(steps.value(ends)) for ends in (first, last))
        inner = np.clip(_first_values(column, steps, low + (high - low) * (parts / len(parts))), first, last)
        inner = np.maximum.accumulate(inner, axis=1)
    else:
        inner = first + -(-parts * (last - first) >> halvings)
    return np.append(inner.reshape(-1), starts[-1])


def enough_halvings(starts: tuple[int, ...]) -> int:
    """How often cells can be halved until each holds one value at most."""
    return int(np.diff(starts).max() - 1).bit_length()


def _by_calendar(column: Dates, steps: Steps, most: int) -> tuple[int, ...] | None:
    """Cells that begin where the finest calendar does that has no more; None where that has much fewer."""
    seconds = STEPS[column.step]
    first, last = (column.between(np.array([end], dtype=np.float64))[0] for end in (0, steps.count - 1))
    for unit, every, about in CALENDAR:
        if every * about < seconds or steps.count * seconds > 2 * most * every * about:
            continue
        begins = np.arange(first.astype(f"M8[{unit}]"), last.astype(f"M8[{unit}]") + 1)
        if unit == "W":
            begins = np.arange(first.astype("M8[D]"), last.astype("M8[D]") + 1)
            begins = begins[(begins.astype(np.int64) - ORIGIN[unit]) % (7 * every) == 0]
        else:
            begins = begins[(begins.astype(np.int64) - ORIGIN.get(unit, 0)) % every == 0]
        numbers = column.numbers_of(begins.astype("M8[s]")).astype(np.int64) if len(begins) else np.zeros(0, np.int64)
        inside = numbers[(numbers > 0) & (numbers < steps.count)]
        if len(inside) < most:
            starts = (0, *inside.tolist(), steps.count)
            return starts if len(starts) - 1 >= max(FEWEST, most / 2) else None
    return None


MOST_CELLS = 1 << 16  # Of an axis, fine ones counted: the number of one fits 16 bits.
METRIC = "l2"  # In which the domain encodes categories; every other would do, as only the largest coordinate counts.
MOST_LOOKED_UP = 1 << 20  # Values whose cells are kept in a table; of more, each is searched for.


@dataclass(frozen=True)
class Axis:
    """One axis: a coordinate of numbers, or the categories of a column."""

    name: str  # Of the column; of a vector with the place in it, such as "v[3]".
    column: Column
    coordinate: int  # The (first) encoded coordinate.
    # Bounds in the column's own unit; 0 and the number of categories for those.
    low: float
    high: float
    cells: int  # Of the tables of several columns: m, that of missing values among them.
    halvings: int  # How often each of them is halved where the axis is alone.
    categories: tuple[str, ...]  # Of a column of categories, else none.
    steps: Steps | None = None
    starts: tuple[int, ...] = ()  # Then, the number of the first value of each cell, and that of all values.
    # What those who have no value are called, who are in the last cell; "" where a number has no such cell.
    missing: str = ""

    @property
    def valued(self) -> int:
        """Cells of values: all but the one of those who have none."""
        return self.cells - bool(self.missing)

    def beside_missing(self, weights: np.ndarray, fine: bool = False, missing: float = 0.0) -> np.ndarray:
        """Weights of the cells of values along the last axis, with one for those who have none behind them."""
        if not self.missing:
            return weights
        more = 1 << self.halvings if fine else 1
        return np.concatenate([weights, np.full((*weights.shape[:-1], more), missing, weights.dtype)], axis=-1)

    @property
    def fine(self) -> int:
        """Cells where the axis is alone."""
        return self.cells << self.halvings

    @cached_property
    def _fine_starts(self) -> np.ndarray:
        return halved(self.starts, self.halvings, self.column, self.steps)

    @property
    def amounts(self) -> Numeric | None:
        """The column, where it is one of amounts, whose coordinate is the logarithm of its numbers."""
        return self.column if isinstance(self.column, Numeric) and self.column.scale else None

    def values(self, fine: bool = False) -> np.ndarray:
        """The number of the first value of each cell, and that of all, int64 (cells + 1,); where there are steps.

        Of fine cells, some may hold no value: they lie behind the one that has the value before theirs.
        """
        return self._fine_starts if fine else np.array(self.starts)

    def edges(self, fine: bool = False) -> np.ndarray:
        """Where the cells of values begin and the last one ends, in the column's own unit, float64 (cells + 1,).

        A cell holds its lower end and not its upper one. Where there are steps, it begins at its first value.
        """
        if self.steps is not None:
            return self.steps.value(self.values(fine))
        cells = self.valued << self.halvings if fine else self.valued
        shares = np.arange(cells + 1) / cells
        if self.amounts is not None:
            low, high = self.amounts.bounds(1.0)
            inner: np.ndarray = self.amounts.between(low + (high - low) * shares)
            inner[[0, -1]] = self.low, self.high
            return inner
        return self.low + (self.high - self.low) * shares

    def sides(self, fine: bool = False, ends: tuple[float, float] | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The least and the greatest value of each cell of values, as far as it lies between two ends, float64 each."""
        edges = self.edges(fine) if ends is None else np.clip(self.edges(fine), *ends)
        if self.steps is None:
            return edges[:-1], edges[1:]
        greatest = edges[1:] - self.steps.step
        return np.minimum(edges[:-1], greatest), greatest

    @property
    def of_single_values(self) -> bool:
        return self.steps is not None and self.valued == self.steps.count

    @property
    def of_places(self) -> bool:
        """Whether the categories are at 0, 1, 2 … of one coordinate."""
        return isinstance(self.column, Ordered) and not self.column.positions

    def ruler(self, low: float, high: float) -> Ruler:
        """How its encoded coordinate, with these bounds, becomes a fine cell."""
        if self.of_places:
            return Ruler(self.coordinate, low, high, self.cells - 1, self.cells, True)
        nowhere = self._nowhere
        if self.steps is None or self.amounts is not None:
            raised = isinstance(self.column, Categorical) and self.column.width == len(self.categories)
            cells = self.valued << self.halvings
            return Ruler(self.coordinate, low, high, cells, cells, categories=cells if raised else 0, nowhere=nowhere)
        most, looked_up = self.steps.count, None
        if not self.of_single_values and most <= MOST_LOOKED_UP:
            looked_up = self.cell_of(np.arange(most))
        most, span = min(most, MOST_LOOKED_UP), self.steps.span
        return Ruler(self.coordinate, low, high, span, most, True, cells=looked_up, nowhere=nowhere)

    def cell_of(self, numbers: np.ndarray) -> np.ndarray:
        """The fine cells of values by their numbers; of NaN, the one of those who have none."""
        found = np.searchsorted(self._fine_starts[:-1], numbers, side="right") - 1
        return np.where(np.isnan(numbers), self._nowhere, found)

    @property
    def _nowhere(self) -> int:
        """The fine cell of those who have no value: the first part of the last cell."""
        return self.valued << self.halvings if self.missing else 0


def is_number(column: Column) -> bool:
    """Whether the values of a column are cut into cells, and not each a cell of its own."""
    return not isinstance(column, (Categorical, Ordered))


def number_axes(domain: Domain) -> int:
    return sum(column.width for column in domain.columns if is_number(column))


def narrow(domain: Domain) -> Domain:
    """The same records with one coordinate for each column of categories, which is quicker to write and to read."""
    columns = tuple(
        Ordered(
            column.name,
            column.categories,
            (),
            column.written,
            column.missing,
            column.missing_category,
            column.unknown_category,
        )
        if type(column) is Categorical
        else column
        for column in domain.columns
    )
    return replace(domain, columns=columns, scale="none")


def axes_of(domain: Domain, bins: Sequence[int], halvings: Sequence[int], by_values: bool = True) -> tuple[Axis, ...]:
    """The axes of a domain, in the order of its coordinates.

    `domain`: columns that have coordinates. `bins`, `halvings`: one a coordinate of numbers; no more are made than its
    values can be told apart by. `by_values`: whether cells hold whole values where there are steps, which they do not
    in files of earlier versions.
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
                low, high = (column.low, column.high) if isinstance(column, Numeric) else column.bounds(1.0)
                cells, often = next(numbers)
                steps = steps_of(column) if by_values else None
                starts = () if steps is None else cut_values(column, steps, cells)
                if starts:
                    cells, often = len(starts) - 1, min(often, enough_halvings(starts))
                missing = getattr(column, "missing_category", "")
                cells += bool(missing)
                axes.append(Axis(name, column, coordinate + place, low, high, cells, often, (), steps, starts, missing))
        coordinate += column.width
    if any(axis.fine > MOST_CELLS for axis in axes):
        raise RequestError(f"A column may be cut into {MOST_CELLS:,} cells at most; use fewer bins or halvings.")
    return tuple(axes)


def cut(points: np.ndarray, domain: Domain, axes: Sequence[Axis]) -> np.ndarray:
    """The fine cell of every encoded point along every axis.

    `points`: float64 (n, dimensions). What lies outside the bounds is in the outermost cell; the category is the one of
    the largest coordinate, the first of several, or the one with the nearest place. `domain`, `axes`: how they were
    encoded, and the axes of the domain.

    Returns uint16 (axes, n). Cells hold their lower end, and the last one both.
    """
    low, high = domain.bounds(METRIC)
    found = np.empty((len(axes), len(points)), np.uint16)
    rulers = [axis.ruler(float(low[axis.coordinate]), float(high[axis.coordinate])) for axis in axes]
    find_cells(points, rulers, found)
    for row, (axis, ruler) in enumerate(zip(axes, rulers, strict=True)):
        column = axis.column
        if axis.steps is not None and (axis.amounts is not None or axis.steps.count > MOST_LOOKED_UP):
            shares = (points[:, axis.coordinate] - ruler.low) / (ruler.high - ruler.low)
            numbers = shares * axis.steps.span
            if axis.amounts is not None:  # whose coordinates may be divided by their range, as the bounds say
                first, last = axis.amounts.bounds(1.0)
                numbers = (axis.amounts.between(first + (last - first) * shares) - axis.low) / axis.steps.step
            found[row] = axis.cell_of(np.clip(np.floor(numbers + 0.5), 0, axis.steps.count - 1))
        elif (
            isinstance(column, (Cyclic, Ordered)) and not axis.of_places
        ):  # whose categories have places around a circle, or on a line
            shift, width = column.scaling(domain.scale)
            places = points[:, axis.coordinate : axis.coordinate + column.width] * width + shift
            found[row] = column.nearest(places)
    return found
