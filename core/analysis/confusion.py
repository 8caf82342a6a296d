"""How often a release is right about places of known class: public points, or ones that it was not made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from scipy.special import betainccinv, betaincinv

from ..errors import RequestError
from ..releases.release import Release
from ..sketches.answers import check_level
from ..sketches.classes import Classes
from .class_scores import classes_of
from .classification import Classification, classify

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


def confusion(
    release: Release, queries: object, labels: Sequence, rule: str | None = None, level: float = 0.95
) -> Confusion:
    """Classify places whose class is known, and count.

    The places must be public, or independent of the release's own records: a release is better at what it was made of,
    and comparing it with private records tells about them.

    Parameters
    ----------
    labels : Sequence
        The n true classes, by name (numbers and truth values as a column of categories reads them).
    level : float
        Of certainty, and of the intervals of all rates.

    Raises
    ------
    RequestError
        When a query or label cannot be read, or there are not as many of both.
    """
    codes = label_codes(classes_of(release), labels)
    return confusion_of(classify(release, queries, rule, level), codes, level)


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
    """The numbers of the classes that labels name, int64 (n,).

    Raises
    ------
    RequestError
        When a label is missing or not one of the classes; its row is named.
    """
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
