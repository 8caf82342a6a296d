"""Columns of a shared page: names, bounds, categories and marks of an axis, as its script reads them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...domain import Categorical, Dates, Ordered
from ...tasks.box import Box
from ..axes import Axis, date_ticks


def column_facts(box: Box, name: str) -> dict[str, Any]:
    """One column that can be an axis.

    Parameters
    ----------
    box : Box
        Of all possible records.
    name : str
        The column: numbers, dates or categories.

    Returns
    -------
    dict[str, Any]
        Name, unit and bounds, or categories; ``encoded`` is the coordinate of each category, or that of the
        number 0 and how fast it grows. Of dates ``ticks``, ``origin`` and ``step`` besides, in seconds since
        1970.
    """
    column = box.column(name)
    if isinstance(column, (Categorical, Ordered)):
        encoded = box.encode(name, list(column.categories))
        return category_facts(name, column.categories) | {"encoded": encoded[:, 0].tolist()}
    ends = np.array(column.bounds(1.0))
    low, high = ends.tolist()
    axis = Axis.of(column, column.between(ends) if isinstance(column, Dates) else ends)
    start, end = box.encode(name, ends)[:, 0].tolist()
    facts = {"name": name, "unit": axis.unit, "kind": "number", "low": low, "high": high}
    growth = (end - start) / (high - low)
    facts |= {"encoded": [start - growth * low, growth], "measure": axis.measure, "length": axis.length}
    if isinstance(column, Dates):
        first, second = column.between(np.array([low, low + 1.0])).astype("int64").tolist()
        facts |= {"kind": "date", "ticks": date_ticks(column), "origin": first, "step": second - first}
    return facts


def category_facts(name: str, categories: tuple[str, ...]) -> dict[str, Any]:
    """A column whose places are named one by one."""
    return {"name": name, "unit": "", "kind": "category", "categories": list(categories)}
