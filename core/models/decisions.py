"""What a trained model says of places, in the form of what released groups say, so that both are drawn alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..analysis.box import Box
from ..analysis.classification import TRAINED
from ..analysis.decision_map import DecisionMap, map_axes, map_grid
from ..errors import RequestError
from ..formatting.numbers import listed
from ..releases.release import Release
from .linear_model import LinearModel


def probabilities_in_order(model: LinearModel, queries: object, classes: Sequence[str]) -> np.ndarray:
    """Of n places, float64 (n, K), with the classes in an order that may be another than the model's."""
    return model.probabilities(queries)[:, _order(model, classes)]


def model_map(
    model: LinearModel,
    x: str,
    y: str,
    held: Mapping[str, object] | None = None,
    resolution: int = 96,
    classes: Sequence[str] | None = None,
) -> DecisionMap:
    """The likeliest class in every cell of two columns.

    A model says nothing of how far its noise decides, so each of its answers stands as certain.

    Parameters
    ----------
    model : LinearModel
        Of classes.
    x, y : str
        Columns of numbers or categories.
    held : Mapping[str, object] | None
        A value for every other column.
    resolution : int
        Cells along a column of numbers.
    classes : Sequence[str] | None
        The order of the classes; None for the model's own.

    Raises
    ------
    RequestError
        When a column cannot be drawn, or another one has no value.
    """
    box, classes = Box.of(model.task.encoding), tuple(classes or model.categories)
    missing = [name for name in box.columns if name not in {x, y, *(held or {})}]
    if missing:
        raise RequestError(f"A model needs a value for every column that is not drawn, such as {missing[0]!r}.")
    x_values, y_values = map_axes(box, x, y, resolution)
    points = map_grid(box, x, y, x_values, y_values, held)
    found = model.shares(model.decision_points(points))[:, _order(model, classes)]
    shape, codes = (len(y_values), len(x_values)), found.argmax(axis=1)
    sure, shares = np.ones(shape), found.reshape(*shape, -1)
    return DecisionMap(
        x, y, x_values, y_values, classes, TRAINED, codes.reshape(shape), sure, sure > 0, shares, dict(held or {}), ()
    )


def unlike(model: LinearModel, release: Release) -> str:
    """Why a model and a release with groups cannot be asked about the same places; "" where they can."""
    sketch = release.sketch
    if not sketch.classes:
        return "The file tells no groups apart."
    if set(model.categories) != set(sketch.classes):
        return (
            f"The file tells {listed(sorted(sketch.classes), 6)} apart, and the model "
            f"{listed(sorted(model.categories), 6)}, so they cannot be compared."
        )
    columns = {column.name: type(column) for column in sketch.query_domain.columns}
    needed = {column.name: type(column) for column in model.features.columns}
    if columns != needed:
        odd = sorted({name for name, kind in (columns.items() ^ needed.items())})
        return f"The file and the model are asked by different columns, such as {odd[0]!r}, so they cannot be compared."
    return ""


def _order(model: LinearModel, classes: Sequence[str]) -> list[int]:
    return [model.categories.index(name) for name in classes]
