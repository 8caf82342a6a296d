"""A sketch asked some queries about some records without noise: how far its random rows or its grid are off.

The error of an average over n records has two parts. What the hashes do to *pairs* of records stays however many there
are; what they do to each record by itself averages out like 1/n. Trials have a thousand records or so and stand for
many more, so both parts are told apart: the table is filled in two halves by the same hashes, and what the errors of
the halves have in common is the part that stays.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...domain.item_sets import Encoded
from ...geometry.hashing.uniforms import PublicRandom
from ...sketches.grouped import GroupedSketch
from ...sketches.linear import LinearSketch

# Rows and groups of rows that a trial draws: more make a steadier forecast, fewer a quicker one.
TRIAL_ROWS, LEAST_GROUPS, MOST_GROUPS = 4_000, 24, 200
LARGEST_SIMULATED = 200_000  # Hash coefficients that a trial may draw; larger groups of rows are tried small and scaled
RESAMPLES = 200
# As many as a sketch is asked whose answers have one law everywhere: reading a grid is most of its trial.
GRID_QUERIES = 60
GROUPED_RECORDS = 500  # Records that random rows are tried on: enough, as the part that averages out is told apart.
MEAN_TO_RMS = math.sqrt(2.0 / math.pi)


@dataclass(frozen=True)
class Trial:
    """How a sketch without noise did on public records."""

    relative: float  # Error of an answer relative to it, root mean square.
    absolute: float  # Error of an average over the records, root mean square.
    # Share of the squared errors that comes from each record by itself and averages out where there are more.
    single: float
    records: int  # How many records were tried.
    densities: tuple[float, ...]  # Exact averages at the queries that were tried.
    gains: tuple[float, ...]  # What the variance of a counter's noise is multiplied by at these queries.

    def of(self, records: float, density: float | None = None) -> Trial:
        """The trial as it would be with so many records, and with averages of the stated mean.

        A population may miss the stated average closeness for lack of room in the bounds.
        """
        kept = math.sqrt(max(1.0 - self.single * (1.0 - min(1.0, self.records / records)), 0.0))
        scale = 1.0 if density is None else density / float(np.mean(self.densities))
        return replace(
            self,
            relative=kept * self.relative,
            absolute=kept * scale * self.absolute,
            densities=tuple(scale * value for value in self.densities),
        )


def root_mean_square(values: Sequence[float]) -> float:
    """Of errors that are alike likely."""
    return math.sqrt(float(np.mean(np.square(values))))


def plain_trial(sketch: LinearSketch, queries: np.ndarray, records: np.ndarray, exact: np.ndarray) -> Trial:
    queries, exact = np.asfortranarray(queries[:GRID_QUERIES]), exact[:GRID_QUERIES]
    table = sketch.zeros()
    sketch.add(table, records)
    errors = np.abs(sketch.answer(table, len(records), queries, 0.0, 0.95).estimate - exact)
    return Trial(
        max(float(np.mean(errors / exact)) / MEAN_TO_RMS, 1e-6),
        math.sqrt(float(np.mean(errors**2))) / len(records),
        0.0,
        len(records),
        tuple(exact / len(records)),
        tuple(np.asarray(sketch.noise_variance(1.0, queries))),
    )


def of_many_groups(sketch: GroupedSketch) -> GroupedSketch:
    """Groups of the sketch's kind, many more than it has; those of many rows are tried small."""
    wanted = math.ceil(sketch.rows / sketch.groups)
    each = sketch.domain.dimensions * getattr(sketch.kernel, "power", 1)
    size = max(1, min(wanted, LARGEST_SIMULATED // (LEAST_GROUPS * each)))
    groups = min(max(min(TRIAL_ROWS, LARGEST_SIMULATED // each) // size, LEAST_GROUPS), MOST_GROUPS)
    return sketch.with_rows(size * groups, groups, seed=0)


def grouped_trial(
    sketch: GroupedSketch, trial: GroupedSketch, queries: np.ndarray, records: np.ndarray, exact: np.ndarray
) -> Trial:
    """Root mean square errors of the mean over a sketch's groups, and gains, found on groups of its kind.

    The sketch's groups are independent draws of the same law, so the error of the mean over G of them follows from how
    far single groups fall from the truth. Many more groups than G are tried, and their errors resampled G at a time: in
    one dimension single groups are too heavy-tailed for a mean square. The gain of a mean is one over its rows times
    that of one row.
    """
    records = np.asfortranarray(records[:GROUPED_RECORDS])
    exact = np.maximum(sketch.exact(queries, records), 1e-9 * len(records))
    half = len(records) // 2
    first, second = (group_errors(trial, queries, np.asfortranarray(part)) for part in (records[:half], records[half:]))
    single = averaged_out(first, second, half, len(records) - half)
    means = errors_of_means(sketch, trial, first + second)
    return Trial(
        max(float(np.mean(means / exact)), 1e-6),
        float(np.mean(means)) / len(records),
        single,
        len(records),
        tuple(exact / len(records)),
        tuple(np.asarray(trial.noise_variance(1.0, queries)) * (trial.rows / sketch.rows)),
    )


def group_errors(trial: GroupedSketch, queries: Encoded, records: Encoded) -> np.ndarray:
    """How far the answers of the groups of a trial are off, without noise, float64 (groups, queries)."""
    table = trial.zeros()
    trial.add(table, records)
    estimates, _ = trial.group_estimates(table, len(records), queries)
    return estimates - trial.exact(queries, records)


def errors_of_means(sketch: GroupedSketch, trial: GroupedSketch, errors: np.ndarray) -> np.ndarray:
    """How far a sketch's means over its groups may be off, by the errors of many single groups of a trial.

    Float64 (RESAMPLES, queries): absolute errors of resampled means, in multiples of what they are on average for a
    normal error of standard deviation 1, so that their mean is a standard deviation.
    """
    groups = trial.groups
    batches = PublicRandom(0, 8).words(RESAMPLES, sketch.groups) % np.uint64(groups)
    chosen = np.zeros((RESAMPLES, groups))
    np.add.at(chosen, (np.arange(RESAMPLES)[:, None], batches.astype(np.int64)), 1.0 / sketch.groups)
    fewer = math.sqrt(trial.rows / groups * sketch.groups / sketch.rows)
    means: np.ndarray = np.abs(chosen @ _unshared(errors)) / MEAN_TO_RMS * fewer
    return means


def averaged_out(first: np.ndarray, second: np.ndarray, half: int, other: int) -> float:
    """The share of squared errors that comes from each record by itself, of the errors of two halves of the records.

    What the halves' averages have in common is what hashes do to pairs of records; the rest averages out.
    """
    together = float(np.mean(first * second)) / (half * other)
    squared = max(float(np.mean((first + second) ** 2)), 1e-300)
    return min(max(1.0 - together * (half + other) ** 2 / squared, 0.0), 1.0)


def _unshared(errors: np.ndarray) -> np.ndarray:
    """The errors (groups, queries) of single groups of a trial, without what they have in common by chance.

    Batches drawn from the same n groups share the mean of these, whose variance is 1/n of a group's: with G of 24 that
    made forecasts sqrt(1 + G/24) times too high. A mean that is larger than that is a bias, as a projection has, and
    its excess stays.
    """
    groups = len(errors)
    mean, variance = errors.mean(axis=0), errors.var(axis=0, ddof=1)
    by_chance = float(variance.sum()) / groups
    bias = math.sqrt(max(0.0, 1.0 - by_chance / max(float((mean**2).sum()), 1e-300)))
    return (errors - mean) * math.sqrt(groups / (groups - 1)) + bias * mean
