"""Which class a place is like: per-class densities or distances compared, with "don't know" where the noise decides."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from ...errors import RequestError
from ...machine.small_matrices import one_thread
from ...machine.threads import over_ranges
from ...releases.release import Release
from ...sketches.answers import check_level
from .probabilities import class_probabilities
from .scores import Scores, checked_rule, class_scores, classes_of
from .winning import chance_of_winning, learned_scatter

PIECE = 1 << 20
"""Coordinates of queries in an array that are encoded and scored at a time: a third-level cache holds them."""


@dataclass(frozen=True)
class Classification:
    """What a release says about n places.

    Attributes
    ----------
    classes : tuple[str, ...]
        The K classes, in the order of the columns below.
    rule : str
        What decided.
    codes : np.ndarray
        int64 (n,), the class of each place, by its number.
    probabilities : np.ndarray
        float64 (n, K), of each class, as far as the release can tell; they add up to 1.
    confidence : np.ndarray
        float64 (n,), probability that the same release without its noise would give the same class.
    certain : np.ndarray
        bool (n,), whether the confidence reaches the level; where it does not, say that you don't know.
    scores : np.ndarray
        float64 (n, K), what the rule compares, in its own sense: average closeness (likelihood), closeness of all
        records (posterior), average distance (distance), squared distance from the mean (mean), cosine (direction).
    """

    classes: tuple[str, ...]
    rule: str
    codes: np.ndarray
    probabilities: np.ndarray
    confidence: np.ndarray
    certain: np.ndarray
    scores: np.ndarray

    @cached_property
    def labels(self) -> np.ndarray:
        """The classes by name, object (n,)."""
        return np.array(self.classes, dtype=object)[self.codes]


def classify(release: Release, queries: object, rule: str | None = None, level: float = 0.95) -> Classification:
    """Say which class each query is like.

    Parameters
    ----------
    release : Release
        With classes.
    queries : object
        Places, as `Release.answer` takes them, without the column of classes.
    rule : str | None
        "posterior", "likelihood", "distance", "mean" or "direction"; see `core.tasks.classes.scores`. The usual one for
        the release when None.
    level : float
        The confidence from which an answer is certain.

    Raises
    ------
    RequestError
        When the release has no classes, the rule does not suit it, or a query cannot be read.
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
    as_they_are = rule in ("mean", "direction") and sketch.inner.takes_rows and sketch.query_domain.are_encoded(queries)

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
    """The same for encoded points, float64 (n, dimensions)."""
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
