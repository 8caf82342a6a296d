"""How good a model is on records that are public, or of people who are not in it: what it gets right, and how far off.

A test file is read as training reads records: by the same columns, bounds and rule for missing values. Figures made
from private records tell about them, and no promise covers that; so nobody may hand in the records of the training.

Probabilities that mean what they say: the scores of a released model stretched and shifted by a public test file.

With scores s of K classes, or of the second of two, probabilities are those of a · s + b: one factor for all and one
shift a row (Platt 1999 for two classes; Guo, Pleiss, Sun, Weinberger 2017 for more, with one factor). They are what
makes the public truth likeliest, with the weight of one record for a = 1 and b = 0: a short file changes little.

What was released and public records alone are used, so this is post-processing: the promise stays what it was. The
result is a model like any other, as its coefficients are a times those that were released.

What a trained model says of places, in the form of what released groups say, so that both are drawn alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize

from ..analysis.answerable import Box
from ..analysis.classification import TRAINED, Confusion, DecisionMap, Rate, counted, map_axes, map_grid
from ..errors import RequestError
from ..formatting.numbers import listed
from ..releases.release import Release
from .linear_models import CALIBRATED, LinearModel, Model, NumberModel
from .model_file import BITS, LARGEST
from .training_task import Task

if TYPE_CHECKING:
    from ..sources import Source

BINS = 10
LEAST_TESTED = 2
LEAST_SHARE = 1e-12  # Of a probability or a variance, so that nothing is infinite.


@dataclass(frozen=True, eq=False)
class Tested:
    """A test file as a model sees it."""

    scores: np.ndarray  # float64 (n, rows).
    # The places of the true classes, int64 (n,), or the true numbers in the column's own unit, float64 (n,).
    truth: np.ndarray
    left_out: int  # Rows that miss something, or lie where the public rule leaves records out.


@dataclass(frozen=True, eq=False)
class Reliability:
    """Whether probabilities mean what they say: answers in bins of how likely the model calls them."""

    said: np.ndarray  # The mean probability that the model gave to its answers in each bin that has any, float64 (b,).
    right: Rate  # The share of them that was right, with its interval, (b,).
    counts: np.ndarray  # How many there are, int64 (b,).
    off: float  # The mean distance between both, by answers: 0 where probabilities mean what they say.
    log_loss: float  # Mean of minus the logarithm of the probability that the true class got.


@dataclass(frozen=True, eq=False)
class ClassVerdict:
    """How good a model of classes is."""

    confusion: Confusion  # What was said of each true class.
    reliability: Reliability  # Whether its probabilities mean what they say.
    common: float  # The share that is right of always the most common class of the file.


@dataclass(frozen=True, eq=False)
class NumberVerdict:
    """How good a model of numbers is, in the unit of its column."""

    # Root of the mean squared error, mean of its size, and by how much predictions are too high on average.
    typical: float
    absolute: float
    above: float
    of_mean: float  # The first of always the mean of the file.
    # In bins of equal size, float64 (b,): the mean prediction, the mean of the truth, and its tenth and ninetieth
    # percentile.
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

    RequestError when the file misses a column or holds too few records.
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

    `shares`: Probabilities, float64 (n, K). `truth`: The places of the true classes, int64 (n,).
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


WEIGHT = 1.0  # Of what was there before, in records.
LARGEST_STRETCH = 5.0  # Of the logarithm of the factor.


def calibrated(model: LinearModel, tested: Tested) -> LinearModel:
    """The model with probabilities as a public test file has them.

    `tested`: Public records, by `read_test`.
    """
    factor, shifts = _fitted(model, tested.scores, tested.truth)
    scale = model.scale * factor
    rows = model.rows.copy()
    moved = rows[:, 0] + np.rint(shifts / scale * (1 << BITS))
    rows[:, 0] = np.clip(moved, -(LARGEST >> 1), LARGEST >> 1).astype(np.int64)
    details = {**model.details, CALIBRATED: str(len(tested.truth))}
    errors = None if model.term_errors is None else model.term_errors * factor
    return replace(model, scale=scale, rows=rows, details=details, term_errors=errors)


def calibrated_reliability(model: LinearModel, tested: Tested, level: float = 0.95) -> Reliability:
    """How reliable it would be on records like these: each half of them judged by what the other half said."""
    shares = np.empty((len(tested.truth), len(model.categories)))
    odd = np.arange(len(tested.truth)) % 2 == 1
    for part in (odd, ~odd):
        factor, shifts = _fitted(model, tested.scores[~part], tested.truth[~part])
        shares[part] = model.shares(factor * tested.scores[part] + shifts)
    return reliability(shares, tested.truth, level)


def _fitted(model: LinearModel, scores: np.ndarray, truth: np.ndarray) -> tuple[float, np.ndarray]:
    """The factor above 0 and the shifts, float64 (rows,)."""
    rows, count = scores.shape[1], len(truth)

    def loss(place: np.ndarray) -> float:
        shares = model.shares(np.exp(place[0]) * scores + place[1:])
        likely = np.log(np.maximum(shares[np.arange(count), truth], LEAST_SHARE)).sum()
        return float((0.5 * WEIGHT * (place @ place) - likely) / count)

    bounds = [(-LARGEST_STRETCH, LARGEST_STRETCH)] + [(-50.0, 50.0)] * rows
    found = minimize(loss, np.zeros(rows + 1), method="L-BFGS-B", bounds=bounds).x
    return float(np.exp(found[0])), found[1:]


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

    `x`, `y`: Columns of numbers or categories. `held`: A value for every other column. `resolution`: Cells along a
    column of numbers. `classes`: The order of the classes; None for the model's own. RequestError when a column cannot
    be drawn, or another one has no value.
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
