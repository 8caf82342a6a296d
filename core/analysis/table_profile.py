"""What is said of a table besides its counts: its cells in words, what is missing, and which columns are places.

All of it is post-processing: it costs no privacy.
"""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..domain import Coordinate, Cyclic, Dates, Domain, Ordered
from ..domain.columns import as_places
from ..domain.round_columns import LATITUDE, LONGITUDE
from ..formatting.numbers import in_rising_order, listed, shortened
from ..sketches.tables.table_answers import TableAnswers
from ..sketches.tables.table_axes import Axis


def measured(answers: TableAnswers, names: Sequence[str]) -> bool:
    """Whether columns were measured together."""
    places = {axis.name: place for place, axis in enumerate(answers.axes)}
    return tuple(sorted(places[name] for name in names)) in answers.reading.noise.by_columns


def missing_in_words(domain: Domain) -> str:
    """What a release can tell of the values that are missing, column by column, in a sentence."""
    own = [column.name for column in domain.columns if getattr(column, "missing_category", "")]
    others = [shortened(column.name) for column in domain.columns if column.name not in own]
    if not others:
        return "Values that are missing are counted in every column, as a category of their own."
    named = listed(others, 4, "or") if own else "any column"
    if domain.missing == "refuse":
        return f"No value of {named} is missing, as records that miss one were not accepted."
    of = f" of {named}" if own else ""
    return f"Records that miss a value{of} were left out, and how many they are is not in the release."


def place_columns(answers: TableAnswers) -> tuple[str, str] | None:
    """The columns of a map, longitude and latitude, where they were measured together."""
    columns = as_places([axis.column for axis in answers.axes])
    found = {column.axis: column.name for column in columns if isinstance(column, Coordinate)}
    if len(found) < 2:
        return None
    names = (found[LONGITUDE], found[LATITUDE])
    return names if measured(answers, names) else None


def words_for_cells(axis: Axis, cells: Sequence[int]) -> str:
    """Some cells of a column in words: "Lyon or Nice", "30 to 39", "2024-01-01 to 2024-03-31"."""
    if axis.categories:
        return listed([shortened(axis.categories[cell]) for cell in cells], 4, "or")
    if max(cells) >= axis.valued:
        return shortened(axis.missing)
    low, high = axis.sides()
    ends = [written(axis, value) for value in (low[min(cells)], high[max(cells)])]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def written(axis: Axis, value: float) -> str:
    """A value of a column as people write it, in the digits that its cells support."""
    column = axis.column
    if isinstance(column, Dates):
        return column.text(value)
    if not math.isfinite(value):
        return "?"
    if isinstance(column, Coordinate):
        value = float(column.present(np.array(value)))
    step = axis.steps.step if axis.steps is not None else (axis.high - axis.low) / 500.0
    if axis.amounts is not None:  # whose cells are shares of the value
        step = max(step if axis.steps is not None else 0.0, abs(value) / 200.0)
    digits = max(0, -math.floor(math.log10(step + 1e-300)))
    text = f"{value:,.{min(digits, 9)}f}" if abs(value) >= 10_000 else f"{value:.{min(digits, 9)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def as_number(axis: Axis, value: object) -> float:
    """A value as a number of the axis; NaN where there is none."""
    if isinstance(axis.column, Dates):
        return math.nan if pd.isna(value) else float(axis.column.numbers_of([value])[0])
    return float(value)  # type: ignore[arg-type]


def in_order(axis: Axis) -> bool:
    """Whether the cells of a column have an order of their own, as hours, months and answers from 1 to 5 have, too."""
    ordered = not axis.categories or isinstance(axis.column, (Ordered, Cyclic))
    return ordered or in_rising_order(axis.categories) == list(axis.categories)
