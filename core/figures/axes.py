"""One axis of a figure: a column of the domain, with the places at which it is asked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import plotly.graph_objects as go

from ..domain import Categorical, Column
from ..words.escapes import in_plotly
from ..words.numbers import rounded
from ..words.phrases import shortened

THOUSANDS_FROM = 10_000
"""Numbers below it go without separators, so that years read as years."""


@dataclass(frozen=True)
class Axis:
    """A column as an axis.

    Attributes
    ----------
    name, unit : str
        Of the column; the unit may be "".
    values : np.ndarray
        float64 (n,), increasing and evenly spaced places in the column's own unit; for a column of categories 0 … n −
        1.
    low, high : float
        Where the axis ends.
    categories : tuple[str, ...]
        The categories at ``values``; empty for a column of numbers.
    """

    name: str
    values: np.ndarray
    low: float
    high: float
    unit: str = ""
    categories: tuple[str, ...] = ()

    @classmethod
    def of(cls, column: Column, values: np.ndarray) -> Axis:
        """The axis of a column: the ``values`` of a picture of it, in the column's own unit or its categories."""
        if isinstance(column, Categorical):
            places = np.arange(len(values), dtype=np.float64)
            return cls(column.name, places, -0.5, len(values) - 0.5, "", tuple(str(value) for value in values))
        return cls(column.name, np.asarray(values, dtype=np.float64), column.low, column.high, column.unit)

    @property
    def title(self) -> str:
        """Name with unit."""
        return f"{self.name} ({self.unit})" if self.unit else self.name

    @cached_property
    def half_step(self) -> float:
        """Half the distance between neighbouring places."""
        if len(self.values) < 2:
            return (self.high - self.low) / 2.0
        return float(self.values[1] - self.values[0]) / 2.0

    def words(self, value: float) -> str:
        """A place on the axis in words: its category, or its number with unit, to a five-hundredth of the axis."""
        if self.categories:
            return str(self.value(value))
        text = rounded(value, (self.high - self.low) / 500.0)
        if abs(value) < THOUSANDS_FROM:
            text = text.replace(",", "")
        return f"{text} {self.unit}".strip()

    def place(self, value: object) -> float:
        """Where a value in natural units (a number, or a category's text) lies on the axis."""
        return float(self.categories.index(str(value))) if self.categories else float(value)

    def value(self, place: float) -> object:
        """The value in natural units at a place on the axis: the nearest category, or the number."""
        return self.categories[min(max(round(place), 0), len(self.categories) - 1)] if self.categories else float(place)

    def layout(self) -> dict:
        """How Plotly draws the axis."""
        facts: dict = {"title": {"text": in_plotly(self.title)}, "range": [self.low, self.high], "zeroline": False}
        if self.categories:
            labels = [in_plotly(shortened(category)) for category in self.categories]
            return facts | {"tickmode": "array", "tickvals": self.values, "ticktext": labels, "showgrid": False}
        large = max(abs(self.low), abs(self.high)) >= THOUSANDS_FROM
        return facts | {"tickformat": "," if large else "", "exponentformat": "none", "showgrid": False, "nticks": 7}


def apply(figure: go.Figure, x: Axis, y: Axis | None = None) -> None:
    """Give a figure its axes."""
    figure.update_xaxes(x.layout())
    if y is not None:
        figure.update_yaxes(y.layout())
