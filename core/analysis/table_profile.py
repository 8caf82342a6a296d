"""The profile of a released table: each column by itself, and the part of it that somebody points at.

A part is some cells of one column, or of several. Every other column then shows its shares in that part, where a table
of all of them was released; where there is none, it says so. All of it is post-processing: it costs no privacy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..domain import Coordinate, Cyclic, Dates, Domain, Ordered
from ..domain.round_columns import LATITUDE
from ..errors import RequestError
from ..formatting.numbers import listed, shortened
from ..sketches.tables.counts import missing_label
from ..sketches.tables.table_answers import TableAnswers
from ..sketches.tables.table_axes import Axis

Part = Mapping[str, Sequence[int]]  # A part of the records: the cells that are pointed at, by name of their column.
QUARTERS = ((0.25, "25% below"), (0.5, "median"), (0.75, "75% below"))


@dataclass(frozen=True)
class Number:
    """One number about a column, with the interval that holds it."""

    name: str
    # In the column's own unit, of dates in steps since the first; NaN where nobody is left to be told from none.
    estimate: float
    low: float
    high: float
    share: bool = False


@dataclass(frozen=True, eq=False)
class Profile:
    """One column: the share of every cell, and numbers."""

    axis: Axis
    # Of each cell of values with its interval, float64 (cells,); NaN where nobody is left to be told from none.
    share: np.ndarray
    low: np.ndarray
    high: np.ndarray
    # Of a column of numbers or dates its mean, median and quartiles; of missing values, where they are a category, the
    # share.
    numbers: tuple[Number, ...] = ()
    chosen: tuple[int, ...] = ()  # The cells that are pointed at, where they are of this column.
    missing: str = ""  # Why there is nothing to show, in one sentence; "" where there is.

    @property
    def name(self) -> str:
        return self.axis.name

    @property
    def told(self) -> np.ndarray:
        """Which cells can be told from empty ones."""
        return np.nan_to_num(self.low, nan=-1.0) > 0.0


@dataclass(frozen=True, eq=False)
class Together:
    """Two columns: the share of every combination of their cells of values, float64 (of the second, of the first)."""

    across: Axis
    up: Axis
    share: np.ndarray
    low: np.ndarray
    high: np.ndarray


def condition(axis: Axis, cells: Sequence[int]) -> object:
    """Some cells of a column as questions take them: categories, or a stretch from the first to the last."""
    if axis.categories:
        return [axis.categories[cell] for cell in cells]
    if max(cells) >= axis.valued:
        return None  # those who have no value
    edges = axis.edges()
    ends = edges[min(cells)], edges[max(cells) + 1]
    # The numbers of dates are asked for as dates, to the second.
    return tuple(axis.column.between(np.array(ends))) if isinstance(axis.column, Dates) else ends


def where_of(answers: TableAnswers, part: Part) -> dict[str, object]:
    """A part as the condition of a question."""
    axes = {axis.name: axis for axis in answers.axes}
    return {name: condition(axes[name], cells) for name, cells in part.items() if cells}


def measured(answers: TableAnswers, names: Sequence[str]) -> bool:
    """Whether columns were measured together."""
    places = {axis.name: place for place, axis in enumerate(answers.axes)}
    return tuple(sorted(places[name] for name in names)) in answers.reading.noise.by_columns


def profile(answers: TableAnswers, name: str, part: Part) -> Profile:
    """A column among the records of a part; what is pointed at in the column itself is left as it is."""
    (axis,) = (axis for axis in answers.axes if axis.name == name)
    others = {one: cells for one, cells in part.items() if one != name and cells}
    chosen = tuple(part.get(name, ()))
    nothing = np.full(axis.valued, math.nan)
    if not measured(answers, [name, *others]):
        asked = " and ".join(shortened(one) for one in others)
        sentence = f"Not measured together with {asked}."
        return Profile(axis, nothing, nothing, nothing, (), chosen, sentence)
    where = where_of(answers, others)
    found = answers.shares(name, where=where)
    share, low, high = (found[end].to_numpy()[: axis.valued] for end in ("estimate", "low", "high"))
    if np.isnan(share).all():
        return Profile(axis, share, low, high, (), chosen, "Too few people are left to be told from none.")
    return Profile(axis, share, low, high, _numbers(answers, axis, where, found), chosen)


def missing_in_words(domain: Domain) -> str:
    """What a release can tell of the values that are missing, column by column, in a sentence."""
    own = [column.name for column in domain.columns if getattr(column, "missing_category", "")]
    others = [shortened(column.name) for column in domain.columns if column.name not in own]
    if not others:
        return "Values that are missing are counted in every column, as a category of their own."
    named = listed(others, 4).replace(" and ", " or ") if own else "any column"
    if domain.missing == "refuse":
        return f"No value of {named} is missing, as records that miss one were not accepted."
    of = f" of {named}" if own else ""
    return f"Records that miss a value{of} were left out, and how many they are is not in the release."


def everyone(answers: TableAnswers, part: Part) -> pd.Series:
    """How many records a part holds, with `estimate`, `low` and `high`."""
    return answers.count(where_of(answers, part)).iloc[0]


def together(answers: TableAnswers, across: str, up: str, part: Part) -> Together:
    """Two columns among the records of a part; RequestError where that was not measured."""
    axes = {axis.name: axis for axis in answers.axes}
    found = answers.shares(up, across, where=where_of(answers, part))
    shape = (axes[up].cells, axes[across].cells)
    valued = (slice(axes[up].valued), slice(axes[across].valued))
    ends = (found[end].to_numpy().reshape(shape)[valued] for end in ("estimate", "low", "high"))
    return Together(axes[across], axes[up], *ends)


@dataclass(frozen=True)
class Association:
    """How two columns of everyone go together, in the numbers of statistics."""

    # The χ² statistic of the released counts, and what noise and chance alone would pass in one of twenty releases of
    # columns that have nothing to do with each other.
    statistic: float
    alone: float
    bits: float  # Mutual information of the best guess.


def association(answers: TableAnswers, one: str, other: str) -> Association:
    """How two columns that were measured together hang together."""
    row = answers.associations(one, other).iloc[0]
    return Association(float(row["statistic"]), float(row["alone"]), float(row["bits"]))


def place_columns(answers: TableAnswers) -> tuple[str, str] | None:
    """The columns of a map, longitude and latitude, where they were measured together."""
    found = {axis.column.axis: axis.name for axis in answers.axes if isinstance(axis.column, Coordinate)}
    if len(found) < 2:
        return None
    names = tuple(name for _, name in sorted(found.items(), key=lambda one: one[0] == LATITUDE))
    return (names[0], names[1]) if measured(answers, names) else None


def words_for_cells(axis: Axis, cells: Sequence[int]) -> str:
    """Some cells of a column in words: "Lyon or Nice", "30 to 39", "2024-01-01 to 2024-03-31"."""
    if axis.categories:
        return listed([shortened(axis.categories[cell]) for cell in cells], 4).replace(" and ", " or ")
    if max(cells) >= axis.valued:
        return shortened(axis.missing)
    low, high = axis.sides()
    ends = [written(axis, value) for value in (low[min(cells)], high[max(cells)])]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def written(axis: Axis, value: float, error: float | None = None) -> str:
    """A value of a column as people write it, in the digits that an error supports; without one, that its cells do."""
    column = axis.column
    if isinstance(column, Dates):
        return column.text(value)
    if not math.isfinite(value):
        return "?"
    step = axis.steps.step if axis.steps is not None else (axis.high - axis.low) / 500.0
    if axis.amounts is not None:  # whose cells are shares of the value
        step = max(step if axis.steps is not None else 0.0, abs(value) / 200.0)
    digits = max(0, -math.floor(math.log10((step if error is None else max(error, step / 100.0)) + 1e-300)))
    text = f"{value:,.{min(digits, 9)}f}" if abs(value) >= 10_000 else f"{value:.{min(digits, 9)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _numbers(
    answers: TableAnswers, axis: Axis, where: Mapping[str, object], shares: pd.DataFrame
) -> tuple[Number, ...]:
    """Mean, median and the like of a column, beside its shares."""
    missing: tuple[Number, ...] = ()
    if label := missing_label(axis):
        row = shares.iloc[axis.categories.index(label) if axis.categories else -1]
        missing = (Number("missing", row.estimate, row.low, row.high, share=True),)
    if axis.categories:
        return missing
    found = [("mean", answers.mean(axis.name, where=where))]
    found += [(words, answers.quantile(axis.name, quarter, where=where)) for quarter, words in QUARTERS]
    numbers = []
    for words, frame in found:
        estimate, low, high = (as_number(axis, frame[end].iloc[0]) for end in ("estimate", "low", "high"))
        numbers.append(Number(words, estimate, low, high))
    return (*numbers, *missing)


def as_number(axis: Axis, value: object) -> float:
    """A value as a number of the axis; NaN where there is none."""
    if isinstance(axis.column, Dates):
        return math.nan if pd.isna(value) else float(axis.column.numbers_of([value])[0])
    return float(value)  # type: ignore[arg-type]


def is_time(axis: Axis) -> bool:
    """Whether a column is a time line."""
    return isinstance(axis.column, Dates)


def in_order(axis: Axis) -> bool:
    """Whether the cells of a column have an order of their own, as hours and months have, too."""
    return not axis.categories or isinstance(axis.column, (Ordered, Cyclic))


def cells_of(answers: TableAnswers, part: Part) -> dict[str, tuple[int, ...]]:
    """A part without what is not in the release; RequestError where a column that is named has no such cell."""
    cells = {axis.name: axis.cells for axis in answers.axes}
    for name, chosen in part.items():
        if name not in cells or not all(0 <= cell < cells[name] for cell in chosen):
            raise RequestError("There is no such part of this table.")
    return {name: tuple(sorted(set(chosen))) for name, chosen in part.items() if chosen}
