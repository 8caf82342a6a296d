"""Which class a place or cell of a map is like: densities or distances compared, "don't know" where the noise decides.

How probabilities of classes come from scores: closeness is a density, so the classes share a place as their densities
do (Bayes' rule, with even priors under the rule of likelihood). A noisy density may fall below zero, which no true one
does. Where the noise decides, each is replaced by its expectation, given the noisy one and that it is not negative:
classes become equally likely where there is nothing to be seen. That favours the rarer class, so where the noise surely
does not decide, densities are taken as they are. In between both are mixed, by the confidence as far as it is above
that of a guess; on three public data sets this took a third to two thirds off the calibration error of the expectation
alone.

Distances are no densities. They become some as if coordinates were independent: a class whose records scatter alike in
d coordinates has, to first order where classes are about as far as they are wide, a density that falls with the
distance D at a place like D^-d (with squares like D^-(d/2)). Coordinates depend on each other, the more the more there
are. For squared distances to means, 2 sqrt(d) independent ones take the place of d: on nine public data sets that made
the logarithmic loss 0.8 to 1.2 times what d makes it in 3 to 13 coordinates, and 0.43, 0.43, 0.15 and 0.08 times in 30,
64, 512 and 784. The order of the classes does not depend on it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import pyarrow as pa
from scipy.special import betainccinv, betaincinv, ndtr, softmax

from ..errors import RequestError
from ..formatting.numbers import percent
from ..releases.release import Release
from ..runtime.environment import one_thread, over_ranges
from ..runtime.parameters import check_integer
from ..sketches.answers import check_level
from ..sketches.classes import Classes
from .answerable import READS, Box
from .class_scores import Scores, checked_rule, class_scores, class_sizes, classes_of, non_negative, scores_of_sums
from .density import MAX_POINTS, axis, marginal_grid
from .uncertainty import chance_of_winning, learned_scatter

LEAST_SHOWN = 1e-3  # A density that seems to be negative is taken to be this share of its standard error.


def class_probabilities(release: Release, scores: Scores, rule: str) -> np.ndarray:
    """Probabilities of the classes, float64 (n, K); each row adds up to 1, and depends on its own place alone."""
    d = release.sketch.query_domain.dimensions
    if rule == "discriminant":
        blur = np.sqrt(1.0 + np.pi / 8.0 * scores.variance.max(axis=1, keepdims=True))  # as in `_by_distance`
        return np.asarray(softmax(scores.value / blur, axis=1))
    if rule == "mean":
        return _by_distance(-scores.value, scores.variance, math.sqrt(d))
    if rule == "direction":  # unit vectors of cosine c are 2 - 2c apart, squared
        return _by_distance(2.0 - 2.0 * scores.value, 4.0 * scores.variance, math.sqrt(d))
    if rule == "distance":
        squared = release.sketch.distance_norm == "squared"
        return _by_distance(-scores.value, scores.variance, d / 2 if squared else d)
    return _by_closeness(scores)


def _by_closeness(scores: Scores) -> np.ndarray:
    """The densities as they are where noise surely does not decide, their expectations where nothing but noise does."""
    deviation = np.sqrt(scores.variance)
    expected = _shared(non_negative(scores.value, deviation))
    plain = _shared(np.maximum(scores.value, LEAST_SHOWN * deviation + np.finfo(float).tiny))
    sure = _surely_ahead(scores)[:, None]
    return sure * plain + (1.0 - sure) * expected


def _surely_ahead(scores: Scores) -> np.ndarray:
    """How much likelier it is that the leader leads the second than the other way round, 0 to 1, float64 (n,).

    Cubed, as the leader was chosen for its noise too: so the largest probabilities are about as large as they are
    right (heart sample at epsilon = 0.1, six draws: 0.71 for 0.73).
    """
    order = np.argsort(scores.value, axis=1)[:, -2:]
    value, variance = (np.take_along_axis(part, order, axis=1) for part in (scores.value, scores.variance))
    error = np.sqrt(variance.sum(axis=1)) + np.finfo(float).tiny
    return (2.0 * ndtr((value[:, 1] - value[:, 0]) / error) - 1.0) ** 3


def _shared(densities: np.ndarray) -> np.ndarray:
    return densities / densities.sum(axis=1, keepdims=True)


def _by_distance(distance: np.ndarray, variance: np.ndarray, power: float) -> np.ndarray:
    """The sharper distances (n, K) are known, the bolder the odds: the probit approximation of MacKay (1992)."""
    distance = np.maximum(distance, np.sqrt(variance) + np.finfo(float).tiny)
    blur = np.sqrt(1.0 + np.pi / 8.0 * variance * (power / distance) ** 2)
    return softmax(-power * np.log(distance) / blur.max(axis=1, keepdims=True), axis=1)


# Coordinates of queries in an array that are encoded and scored at a time: a third-level cache holds them.
PIECE = 1 << 20


@dataclass(frozen=True)
class Classification:
    """What a release says about n places."""

    classes: tuple[str, ...]  # The K classes, in the order of the columns below.
    rule: str
    codes: np.ndarray  # int64 (n,), the class of each place, by its number.
    probabilities: np.ndarray  # float64 (n, K), of each class, as far as the release can tell; they add up to 1.
    # float64 (n,), probability that the same release without its noise would give the same class.
    confidence: np.ndarray
    # bool (n,), whether the confidence reaches the level; where it does not, say that you don't know.
    certain: np.ndarray
    # float64 (n, K), what the rule compares, in its own sense: average closeness (likelihood), closeness of all records
    # (posterior), average distance (distance), squared distance from the mean (mean), log of how likely it is up to
    # what all classes share (discriminant), cosine (direction).
    scores: np.ndarray

    @cached_property
    def labels(self) -> np.ndarray:
        """The classes by name, object (n,)."""
        return np.array(self.classes, dtype=object)[self.codes]


def classify(release: Release, queries: object, rule: str | None = None, level: float = 0.95) -> Classification:
    """Say which class each query is like.

    `queries`: Places, as `Release.answer` takes them, without the column of classes. `rule`: "posterior", "likelihood",
    "distance", "mean", "discriminant" or "direction"; see `core.analysis.class_scores`. The usual one for the release
    when None. `level`: The confidence from which an answer is certain.
    """
    rule = checked_rule(release, rule)
    sketch = release.sketch
    if not (isinstance(queries, np.ndarray) and queries.ndim == 2 and queries.size > PIECE):
        return classify_points(release, sketch.query_domain.encode_queries(queries, sketch.metric), rule, level)
    return decided(release, _scores_in_pieces(release, queries, rule), rule, level)


def _scores_in_pieces(release: Release, queries: np.ndarray, rule: str) -> Scores:
    """The scores of an array of queries, encoded and scored a piece at a time by all processors."""
    sketch, step = classes_of(release), max(1, PIECE // queries.shape[1])
    order: Literal["C", "F"] = "C" if sketch.inner.takes_rows else "F"
    scores = Scores(*np.empty((2, len(queries), len(sketch.categories))))
    by_products = rule in ("mean", "discriminant", "direction") and sketch.inner.takes_rows
    as_they_are = by_products and sketch.query_domain.are_encoded(queries)

    def pieces(first: int, last: int) -> None:
        for start in range(first, last, step):
            part = slice(start, min(start + step, last))
            points = queries[part]
            if not as_they_are:
                points = sketch.query_domain.encode_queries(points, sketch.metric, start, order)
            with np.errstate(invalid="ignore"):  # of what is not finite, as is then seen
                of_part = class_scores(release, points, rule)
            if as_they_are and not np.isfinite(of_part.value).all():
                sketch.query_domain.encode_queries(points, sketch.metric, start)  # refuses what is not finite
            scores.value[part], scores.variance[part] = of_part.value, of_part.variance

    with one_thread():  # matrix products of pieces are small, and have a processor each
        over_ranges(len(queries), pieces, at_least=step)
    return scores


def classify_points(
    release: Release, points: np.ndarray, rule: str | None = None, level: float = 0.95
) -> Classification:
    """Say which class each encoded point is like, float64 (n, dimensions); see `classify`."""
    rule = checked_rule(release, rule)
    return decided(release, class_scores(release, points, rule), rule, level)


def decided(release: Release, scores: Scores, rule: str, level: float) -> Classification:
    """What the scores of a rule decide, and how surely."""
    check_level(level)
    if not len(scores.value):
        raise RequestError("There is no place to classify.")
    scatter = learned_scatter(scores.value, scores.variance)
    confidence = chance_of_winning(scores.value, scores.variance, scatter)
    return Classification(
        release.sketch.classes,
        rule,
        scores.value.argmax(axis=1),
        class_probabilities(release, scores, rule),
        confidence,
        confidence >= level,
        -scores.value if rule in ("distance", "mean") else scores.value,
    )


NAMED = 0.25  # Share of their own frequency below which the other classes are named too seldom to speak of a decision.
# Places of other classes to expect, so that chance alone names a quarter of them or fewer in one case of 300.
FEWEST_OTHERS = 10.0


def drowned_in_largest(release: Release, rule: str, codes: np.ndarray) -> str | None:
    """A sentence where the rule of posterior says the largest class nearly everywhere; None where it does not.

    Multiplied by how frequent a class is, a closeness that hardly differs from class to class says which class is the
    largest and nothing about the place.
    """
    if rule != "posterior":
        return None
    sizes = class_sizes(release).number
    largest = int(sizes.argmax())
    others, said = 1.0 - sizes[largest] / sizes.sum(), float(np.mean(codes == largest))
    if codes.size * others < FEWEST_OTHERS or 1.0 - said > NAMED * others:
        return None
    return (
        f"The rule of posterior says the largest class, {release.sketch.classes[largest]!r}, at {percent(said)} of the "
        f"places, though about {percent(others)} of the records are of others: the bandwidth is too wide for it."
    )


DONT_KNOW = "don't know"
TRAINED = "model"  # The rule of a trained model, which always answers.


@dataclass(frozen=True)
class Rate:
    """A share of independent trials with its interval (Clopper, Pearson 1934), which holds it at least that often."""

    # Between 0 and 1; with no trials the estimate is not a number and anything is possible.
    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, hits: object, trials: object, level: float) -> Rate:
        """The rate of hits in trials, whole numbers of any common shape."""
        hits, trials = np.broadcast_arrays(np.asarray(hits), np.asarray(trials))
        tail = (1.0 - level) / 2.0
        with np.errstate(invalid="ignore"):
            estimate = np.where(trials > 0, hits / np.maximum(trials, 1), np.nan)
            low = np.where(hits > 0, betaincinv(hits, trials - hits + 1, tail), 0.0)
            high = np.where(hits < trials, betainccinv(hits + 1, trials - hits, tail), 1.0)
        return cls(estimate, low, high)


@dataclass(frozen=True)
class Confusion:
    """What was said about places of each true class."""

    classes: tuple[str, ...]
    rule: str
    # int64 (K, K + 1), places by true class and by what was said: a class of which the release is certain, or, in the
    # last column, that it doesn't know.
    counts: np.ndarray
    rates: Rate  # The same as shares of each true class, with intervals.
    accuracy: Rate  # Share of all places whose class is the most likely one, certain or not.
    certain_accuracy: Rate
    certain: Rate


def confusion_of(found: Classification, codes: np.ndarray, level: float = 0.95) -> Confusion:
    """What was said about places that are classified already, beside the numbers of their true classes, int64 (n,)."""
    check_level(level)
    if len(codes) != len(found.codes):
        raise RequestError(f"There are {len(found.codes):,} places and {len(codes):,} labels; each place needs one.")
    return counted(found.classes, found.rule, found.codes, found.certain, codes, level)


def counted(
    classes: tuple[str, ...], rule: str, said: np.ndarray, certain: np.ndarray, codes: np.ndarray, level: float
) -> Confusion:
    """What was said of n places, by the numbers of the classes, int64 (n,), and of which it is certain, bool (n,)."""
    size = len(classes)
    counts = np.zeros((size, size + 1), dtype=np.int64)
    np.add.at(counts, (codes, np.where(certain, said, size)), 1)
    right = said == codes
    return Confusion(
        classes,
        rule,
        counts,
        Rate.of(counts, counts.sum(axis=1, keepdims=True), level),
        Rate.of(right.sum(), len(right), level),
        Rate.of((right & certain).sum(), certain.sum(), level),
        Rate.of(certain.sum(), len(certain), level),
    )


def label_codes(sketch: Classes, labels: Sequence) -> np.ndarray:
    """The numbers of the classes that labels name, int64 (n,)."""
    try:
        array = labels if isinstance(labels, (pa.Array, pa.ChunkedArray)) else pa.array(labels, from_pandas=True)
        array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    except (pa.ArrowException, TypeError, ValueError):
        raise RequestError("The labels must be a list of classes, one a place.") from None
    codes = sketch.label_column.codes(array)
    if (codes < 0).any():
        row = int(np.argmax(codes < 0)) + 1
        raise RequestError(f"The label in row {row:,} is missing or not one of the classes of the release.")
    return codes.astype(np.int64)


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
    codes, confidence, certain = (part.reshape(shape) for part in (found.codes, found.confidence, found.certain))
    odds = found.probabilities.reshape(*shape, -1)
    return DecisionMap(
        x, y, x_values, y_values, found.classes, rule, codes, confidence, certain, odds, dict(held or {}), others
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
