"""Whether the first values of a text table can be read as they are declared at all, for its owner's eyes alone.

Dates that are declared as numbers, or are written in another way than was said, would all be missing values: a release
would be paid for that holds nobody. Like the kind of a column, which is guessed from the same rows, what is found here
is told to whoever has the records, before anything is paid, and is in no release.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeGuard

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..domain import Column, Coordinate, Dates, Numeric
from ..domain.column import to_numpy
from ..domain.written import are_words
from ..errors import RequestError

FIRST, FEWEST = 1_000, 20
"""Rows that are looked at, and how many of them must have a value, so that a few odd ones refuse nothing."""


LookedAt = Numeric | Coordinate | Dates


def is_looked_at(column: Column) -> TypeGuard[LookedAt]:
    """Whether a column is read from texts that may not be what they are declared as."""
    return isinstance(column, (Numeric, Coordinate, Dates)) and column.as_written


def check_first(column: LookedAt, texts: pa.Array, no_value: tuple[str, ...]) -> None:
    """Refuse a column of numbers or dates when none of its first values is one.

    Parameters
    ----------
    column : LookedAt
        One that `is_looked_at`.
    texts : pa.Array
        Its first values, as they are written.
    no_value : tuple[str, ...]
        Texts that stand for no value in any column.

    Raises
    ------
    RequestError
        One sentence that says what can be done, and repeats no value.
    """
    words = column.missing if isinstance(column, Dates) else getattr(column.reading, "missing", ())
    present = ~to_numpy(pc.fill_null(are_words(texts, (*words, *no_value)), True))
    many = int(present.sum())
    if many < FEWEST or not np.isnan(column.numbers(texts.filter(pa.array(present)))).all():
        return
    what, advice = "number", "declare it as what it is, such as a date or categories, or say which words mean missing"
    if isinstance(column, Dates):
        what, advice = "date", "say how dates are written in it, such as %d.%m.%Y, or declare it as what it is"
    raise RequestError(
        f"None of the first {many:,} values of the column {column.name!r} can be read as a {what}: {advice}."
    )


def text_columns(rows: list[tuple], names: list[str]) -> Mapping[str, pa.Array]:
    """The first rows of a table as texts, by the name of the column."""
    return {name: pa.array([row[place] for row in rows], pa.large_string()) for place, name in enumerate(names)}
