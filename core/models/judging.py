"""How good a model is on records that are public, or of people who are not in it: what it gets right, and how far off.

A test file is read as training reads records: by the same columns, bounds and rule for missing values. Figures made
from private records tell about them, and no promise covers that; so nobody may hand in the records of the training.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..analysis.classification import TRAINED, Confusion, Rate, counted
from ..errors import RequestError
from .linear_model import LinearModel
from .number_model import NumberModel
from .opening import Model
from .records import Task

if TYPE_CHECKING:  # whoever draws what was judged must not reach private records by it
    from ..sources import Source

BINS = 10
LEAST_TESTED = 2
LEAST_SHARE = 1e-12
"""Of a probability or a variance, so that nothing is infinite."""


@dataclass(frozen=True, eq=False)
class Tested:
    """A test file as a model sees it.

    Attributes
    ----------
    scores : np.ndarray
        float64 (n, rows).
    truth : np.ndarray
        The places of the true classes, int64 (n,), or the true numbers in the column's own unit, float64 (n,).
    left_out : int
        Rows that miss something, or lie where the public rule leaves records out.
    """

    scores: np.ndarray
    truth: np.ndarray
    left_out: int


@dataclass(frozen=True, eq=False)
class Reliability:
    """Whether probabilities mean what they say: answers in bins of how likely the model calls them.

    Attributes
    ----------
    said : np.ndarray
        The mean probability that the model gave to its answers in each bin that has any, float64 (b,).
    right : Rate
        The share of them that was right, with its interval, (b,).
    counts : np.ndarray
        How many there are, int64 (b,).
    off : float
        The mean distance between both, by answers: 0 where probabilities mean what they say.
    log_loss : float
        Mean of minus the logarithm of the probability that the true class got.
    """

    said: np.ndarray
    right: Rate
    counts: np.ndarray
    off: float
    log_loss: float


@dataclass(frozen=True, eq=False)
class ClassVerdict:
    """How good a model of classes is.

    Attributes
    ----------
    confusion : Confusion
        What was said of each true class.
    reliability : Reliability
        Whether its probabilities mean what they say.
    common : float
        The share that is right of always the most common class of the file.
    """

    confusion: Confusion
    reliability: Reliability
    common: float


@dataclass(frozen=True, eq=False)
class NumberVerdict:
    """How good a model of numbers is, in the unit of its column.

    Attributes
    ----------
    typical, absolute, above : float
        Root of the mean squared error, mean of its size, and by how much predictions are too high on average.
    of_mean : float
        The first of always the mean of the file.
    predicted, true, low, high : np.ndarray
        In bins of equal size, float64 (b,): the mean prediction, the mean of the truth, and its tenth and ninetieth
        percentile.
    """

    typical: float
    absolute: float
    above: float
    of_mean: float
    predicted: np.ndarray
    true: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @property
    def explained(self) -> float:
        """The share of how the file's numbers differ that the model explains; below 0 where their mean is better."""
        return 1.0 - self.typical**2 / max(self.of_mean**2, LEAST_SHARE)


def read_test(model: Model, source: Source) -> Tested:
    """Ask a model about every record of a test file.

    Raises
    ------
    RequestError
        When the file misses a column or holds too few records.
    """
    task, scores, truth, read = model.task, [], [], 0
    for batch in source.batches(task.domain):
        points = np.asarray(task.domain.encode(batch))
        read += batch.num_rows
        scores.append(model.decision_points(points[:, ~task.places]))
        truth.append(_truth(task, points[:, task.places]))
    rows = sum(map(len, truth))
    if rows < LEAST_TESTED:
        raise RequestError(f"There are fewer than {LEAST_TESTED} records in {source.label} that can be asked about.")
    return Tested(np.concatenate(scores), np.concatenate(truth), read - rows)


def _truth(task: Task, points: np.ndarray) -> np.ndarray:
    if task.categories:
        return np.argmax(points, axis=1)
    return task.goal.middle + task.goal.half * task.between(points)


def judge_classes(model: LinearModel, tested: Tested, level: float = 0.95) -> ClassVerdict:
    """What a model of classes gets right of a test file."""
    shares = model.shares(tested.scores)
    said = shares.argmax(axis=1)
    certain = np.ones(len(said), dtype=bool)
    common = np.bincount(tested.truth, minlength=len(model.categories)).max() / len(said)
    found = counted(model.categories, TRAINED, said, certain, tested.truth, level)
    return ClassVerdict(found, reliability(shares, tested.truth, level), float(common))


def reliability(shares: np.ndarray, truth: np.ndarray, level: float = 0.95) -> Reliability:
    """Answers in bins of a tenth of how likely they are called.

    Parameters
    ----------
    shares : np.ndarray
        Probabilities, float64 (n, K).
    truth : np.ndarray
        The places of the true classes, int64 (n,).
    level : float
        Of the intervals.
    """
    answers = shares.argmax(axis=1)
    likely = shares[np.arange(len(shares)), answers]
    bins = np.minimum((likely * BINS).astype(np.int64), BINS - 1)
    counts = np.bincount(bins, minlength=BINS)
    hits = np.bincount(bins, weights=answers == truth, minlength=BINS).astype(np.int64)
    total = np.bincount(bins, weights=likely, minlength=BINS)
    kept = counts > 0
    off = float(np.abs(total - hits)[kept].sum()) / len(shares)
    of_truth = np.maximum(shares[np.arange(len(shares)), truth], LEAST_SHARE)
    right = Rate.of(hits[kept], counts[kept], level)
    return Reliability(total[kept] / counts[kept], right, counts[kept], off, float(-np.log(of_truth).mean()))


def judge_numbers(model: NumberModel, tested: Tested) -> NumberVerdict:
    """How far a model of numbers is off on a test file."""
    found, truth = model.numbers_of(tested.scores), tested.truth
    error = found - truth
    order = np.array_split(np.argsort(found, kind="stable"), min(BINS, len(found)))
    ends = np.array([np.quantile(truth[part], (0.1, 0.9)) for part in order])
    return NumberVerdict(
        float(np.sqrt(np.mean(error**2))),
        float(np.mean(np.abs(error))),
        float(np.mean(error)),
        float(truth.std()),
        np.array([found[part].mean() for part in order]),
        np.array([truth[part].mean() for part in order]),
        ends[:, 0],
        ends[:, 1],
    )
