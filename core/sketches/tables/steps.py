"""Values that lie on public steps: how many there are, and which of them are a cell together.

Where a column has steps, such as whole numbers or days, a cell holds whole values, never a part of one: a cut lies
half-way between two values. So a range of values is answered by the values in it. Dates are cut where a calendar is:
at days, Mondays, beginnings of months or years.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...domain import Column, Dates, Numeric
from ...domain.dates import STEPS
from ...domain.texts_and_items import TextLength

MOST_VALUES = 1 << 40
"""Beyond which steps are too fine to matter."""
HOUR, DAY = 3_600, 86_400
CALENDAR = (
    *(("s", every, 1) for every in (1, 5, 15, 30)),
    *(("m", every, 60) for every in (1, 5, 15, 30)),
    *(("h", every, HOUR) for every in (1, 2, 3, 6, 12)),
    ("D", 1, DAY),
    *(("W", every, 7 * DAY) for every in (1, 2)),
    *(("M", every, 30 * DAY) for every in (1, 2, 3, 6)),
    *(("Y", every, 365 * DAY) for every in (1, 2, 5, 10, 20, 50, 100)),
)
"""Where a calendar may be cut, from the finest: a unit of NumPy's, how many of them, and its seconds, about."""
ORIGIN = {"W": 4, "Y": -1970}
"""NumPy counts days, months and years from 1970; its weeks begin on Thursdays."""
FEWEST = 3
"""Cells: a calendar that has fewer, or fewer than half of those that there may be, is not followed."""


@dataclass(frozen=True)
class Steps:
    """The values low, low + step, low + 2 step ….

    Attributes
    ----------
    low, step : float
        The first value, and what lies between two of them.
    span : float
        Steps between the bounds of the column, which need not be a whole number.
    count : int
        How many values there are.
    """

    low: float
    step: float
    span: float
    count: int

    def value(self, number: np.ndarray) -> np.ndarray:
        """The values of these numbers, counted from 0."""
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
    where that many fit.

    Parameters
    ----------
    column, steps : Column, Steps
        What is cut.
    most : int
        How many cells there may be.
    """
    cells = min(most, steps.count)
    found = _by_calendar(column, steps, cells) if isinstance(column, Dates) and cells < steps.count else None
    each = -(-steps.count // cells)
    return found or (*range(0, steps.count, each), steps.count)


def halved(starts: tuple[int, ...], halvings: int) -> np.ndarray:
    """The same of the cells that each of them falls into, int64: as even as can be; of some nothing may be left."""
    first, last = (np.array(ends, np.int64)[:, None] for ends in (starts[:-1], starts[1:]))
    parts = np.arange(1 << halvings, dtype=np.int64)
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
