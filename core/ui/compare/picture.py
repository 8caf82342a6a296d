"""Where functions are drawn: along one column, over two, or along a way between two records where columns have no axis.

What is not drawn is held at what is usual in the public records: a comparison never has any others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...domain import Categorical, Column, Scalar, Vector
from ...experiments.public_data import PublicData, exact_sums
from ...figures.figure_axes import Axis
from ...forecast.recommendation import Closeness
from ...words.numbers import significant

ALONG = 400
"""Places along one column."""
SIDE = 36
"""Places along a side of a map."""
WAY = "from one record to another"


@dataclass(frozen=True, eq=False)
class Picture:
    """Places at which functions are drawn, with the exact answers there.

    Attributes
    ----------
    axes : tuple[Axis, ...]
        One, or two with x first.
    points : np.ndarray
        float64 (n, dimensions), encoded; of a map row by row, y first.
    exact : np.ndarray
        float64 of the picture's shape, (places,) or (y places, x places).
    answer : str
        What an answer is, for an axis.
    held : str
        What the other columns are held at, in words; "" where there are none.
    scale : float
        What answers are multiplied by: distances are shown as averages.
    """

    axes: tuple[Axis, ...]
    points: np.ndarray
    exact: np.ndarray
    answer: str
    held: str
    scale: float

    def shaped(self, answers: np.ndarray) -> np.ndarray:
        """Answers at the points, (n,), as the picture has them."""
        return (self.scale * answers).reshape(self.exact.shape)


def picture_of(data: PublicData, show: Sequence[str]) -> Picture:
    """The picture of public data.

    Parameters
    ----------
    show : Sequence[str]
        The one or two columns to draw, where they have an axis.
    """
    columns = {column.name: column for column in data.domain.columns if not isinstance(column, Vector)}
    drawn = [columns[name] for name in show if name in columns]
    if not drawn:
        axes, points, held = *_way(data), ""
    else:
        axes, points, held = _places(data, drawn)
    closeness = isinstance(data.question, Closeness)
    scale = 1.0 if closeness else 1.0 / len(data.records)
    exact = scale * exact_sums(data.domain, data.question, points, data.records)
    shape = tuple(len(axis.values) for axis in reversed(axes))
    return Picture(
        axes, points, exact.reshape(shape), "records close by" if closeness else "average distance", held, scale
    )


def _places(data: PublicData, drawn: list[Column]) -> tuple[tuple[Axis, ...], np.ndarray, str]:
    natural = data.domain.decode_points(data.records, data.metric)
    values = [_values(column, ALONG if len(drawn) == 1 else SIDE) for column in drawn]
    grid = np.meshgrid(*values, indexing="xy")
    frame = {column.name: part.ravel() for column, part in zip(drawn, grid, strict=True)}
    usual = {name: _usual(natural[name]) for name in natural.columns if name not in frame}
    count = len(next(iter(frame.values())))
    table = pd.DataFrame(frame | {name: [value] * count for name, value in usual.items()})
    points = data.domain.encode_queries(table[list(natural.columns)], data.metric)
    axes = tuple(Axis.of(column, part) for column, part in zip(drawn, values, strict=True))
    held = ", ".join(f"{name} {_said(value)}" for name, value in usual.items())
    return axes, np.asfortranarray(points), held


def _way(data: PublicData) -> tuple[tuple[Axis, ...], np.ndarray]:
    """The straight way from one held-out record to another."""
    share = np.linspace(0.0, 1.0, ALONG)
    points = (1 - share[:, None]) * data.queries[0] + share[:, None] * data.queries[-1]
    return (Axis(WAY, share, 0.0, 1.0),), np.asfortranarray(points)


def _values(column: Column, places: int) -> np.ndarray:
    if isinstance(column, Categorical):
        return np.array(column.categories, dtype=object)
    assert isinstance(column, Scalar)
    return np.linspace(column.low, column.high, places)


def _usual(values: pd.Series) -> object:
    """The median of numbers, each by itself in vectors, and the most frequent category."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        return values.mode()[0]
    return np.median(np.stack(values), axis=0) if values.dtype == object else float(values.median())


def _said(value: object) -> str:
    if isinstance(value, np.ndarray):
        return "at its middle"
    return significant(value, 3) if isinstance(value, float) else str(value)
