"""Where over two columns each class is what a release answers, and where the noise decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..errors import RequestError
from ..releases.release import Release
from ..runtime.parameters import check_integer
from .answerable import READS, Box
from .class_scores import Scores, checked_rule, class_scores, classes_of, scores_of_sums
from .classification import decided
from .density import MAX_POINTS, axis, marginal_grid


@dataclass(frozen=True)
class DecisionMap:
    """Answers over two columns; arrays (len(y_values), len(x_values))."""

    x: str
    y: str
    # Centres of the cells, which tile the bounds; or the categories.
    x_values: np.ndarray
    y_values: np.ndarray
    classes: tuple[str, ...]
    rule: str
    codes: np.ndarray  # int64, the class of each cell, by its number.
    confidence: np.ndarray  # Probability that the same release without its noise would give the same class.
    certain: np.ndarray  # bool, whether that reaches the level; elsewhere it is not known which class it is.
    probabilities: np.ndarray  # float64 (len(y_values), len(x_values), K).
    at: Mapping[str, object]  # The columns held at one value, in natural units.
    averaged: tuple[str, ...]  # The columns averaged over their bounds and categories.


def decision_map(
    release: Release,
    x: str,
    y: str,
    held: Mapping[str, object] | None = None,
    resolution: int = 96,
    rule: str | None = None,
    level: float = 0.95,
) -> DecisionMap:
    """Classify every cell of two columns.

    `held`: Values of other columns, in natural units. Where all are held, a cell is classified as a place is; scores
    are averaged over the bounds and categories of those that are not. `resolution`: Cells along a column of numbers; a
    category is one cell.
    """
    rule = checked_rule(release, rule)
    box = Box.of(classes_of(release).inner)
    x_values, y_values = map_axes(box, x, y, resolution)
    others = tuple(name for name in box.columns if name not in {x, y, *(held or {})})
    if others:
        scores = _averaged(release, x, y, held, resolution, rule)
    else:
        scores = class_scores(release, map_grid(box, x, y, x_values, y_values, held), rule)
    found = decided(release, scores, rule, level)
    shape = (len(y_values), len(x_values))
    return DecisionMap(
        x,
        y,
        x_values,
        y_values,
        found.classes,
        rule,
        found.codes.reshape(shape),
        found.confidence.reshape(shape),
        found.certain.reshape(shape),
        found.probabilities.reshape(*shape, -1),
        dict(held or {}),
        others,
    )


def map_axes(box: Box, x: str, y: str, resolution: int) -> tuple[np.ndarray, np.ndarray]:
    """Centres of the cells along two columns; RequestError where they cannot be drawn."""
    check_integer(resolution, "The resolution of a map", 2, int(MAX_POINTS**0.5))
    if x == y:
        raise RequestError(f"A map needs two different columns, and both are {x!r}.")
    x_values, y_values = (axis(box, name, resolution, ends=False) for name in (x, y))
    if len(x_values) * len(y_values) > MAX_POINTS:
        raise RequestError(f"A map has at most {MAX_POINTS:,} cells, and {x!r} by {y!r} would have more.")
    return x_values, y_values


def map_grid(
    box: Box, x: str, y: str, x_values: np.ndarray, y_values: np.ndarray, held: Mapping[str, object] | None
) -> np.ndarray:
    """Encoded centres of all cells, row by row; all columns that are not drawn are held."""
    values = box.encode_fixed(held)
    for name in (x, y):
        if name in values:
            raise RequestError(f"The column {name!r} is drawn, so it cannot be held at one value too.")
    points = np.empty((len(x_values) * len(y_values), box.domain.dimensions), order="F")
    points[:, box.places[x]] = np.tile(box.encode(x, x_values), (len(y_values), 1))
    points[:, box.places[y]] = np.repeat(box.encode(y, y_values), len(x_values), axis=0)
    for name, coordinates in values.items():
        points[:, box.places[name]] = coordinates
    return points


def _averaged(
    release: Release, x: str, y: str, held: Mapping[str, object] | None, resolution: int, rule: str
) -> Scores:
    """Scores of sums that are averaged over the other columns, whose errors their groups of rows tell.

    Few groups tell them badly: a cell where they happen to agree is not surer than the middle one.
    """
    if rule in ("mean", "discriminant", "direction"):
        raise RequestError(f"The rule {rule!r} needs a value for every column that is not drawn.")
    names = classes_of(release).categories
    maps = [marginal_grid(release.of_class(name), x, y, held, resolution, reads=READS / len(names)) for name in names]
    sums = np.column_stack([heatmap.estimate.ravel() for heatmap in maps])
    variance = np.column_stack([heatmap.standard_error.ravel() ** 2 for heatmap in maps])
    return scores_of_sums(release, sums, np.maximum(variance, np.median(variance, axis=0)), rule)
