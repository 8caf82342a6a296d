"""A sketch asked some queries about some records without noise: how far its random rows or its grid are off.

The error of an average over n records has two parts. What the hashes do to *pairs* of records stays however many there
are; what they do to each record by itself averages out like 1/n. Trials have a thousand records or so and stand for
many more, so both parts are told apart: the table is filled in two halves by the same hashes, and what the errors of
the halves have in common is the part that stays.

The whole mechanism tried out on a reference population, for mechanisms whose error no formula tells.

Where answers are linear in the table, the variance of an answer follows from that of the noise, and
`core.releases.forecast.forecast` needs no noise for it. Clipping, sampling, optimisation and choices made under noise
break that. Here such a mechanism runs as it would on the records, several times, with noise that can be repeated, on
public points of ordinary shape; how far its answers were off is the forecast. Nothing private is looked at.

The points stand for more records than there are of them: their exact table is multiplied, which is what it would be if
every point were so many records. So a rehearsal takes as long for a billion records as for a thousand.

What an owner may say of the records beforehand, checked: how many there are, how far apart, and how close.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from ...domain.item_sets import Encoded
from ...errors import RequestError
from ...geometry.uniforms import PublicRandom
from ...privacy.calibration import NoiseScale
from ...privacy.noise.noise import add_noise
from ...privacy.noise.randomness import SeededSource
from ...sketches.adaptive import Adaptive, AdaptivePlan
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


# Times that a sketch and a mechanism that chooses run, each with noise of its own; choosing takes longer.
RUNS, CHOOSING_RUNS = 24, 8
LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """How far off a mechanism was, in sums over the stated number of records."""

    # What was released in the last run, and the noise of each of its counters.
    sketch: LinearSketch
    noise: NoiseScale
    errors: np.ndarray  # Answers less the exact sums, float64 (runs, queries).
    exact: np.ndarray  # The exact sums, (queries,).
    seconds_read: float  # For one record.
    seconds: float  # Of one run, from the exact table to the answers.

    @property
    def noise_error(self) -> float:
        """Standard deviation of an answer over runs, root mean square over the queries."""
        return float(np.sqrt(self.errors.var(axis=0, ddof=1).mean()))

    @property
    def standard_error(self) -> float:
        """Root mean square of all errors."""
        return float(np.sqrt(np.mean(self.errors**2)))

    @property
    def systematic_error(self) -> float:
        """What is left of `standard_error` without the noise: grids, random hashes, what a model cannot express."""
        return max(0.0, self.standard_error**2 - self.noise_error**2) ** 0.5

    @property
    def relative_error(self) -> float:
        """Mean of |error| / exact sum over runs and queries."""
        return float(np.mean(np.abs(self.errors) / self.exact))


def rehearse(
    sketch: LinearSketch, noise: NoiseScale, records: float, points: np.ndarray, queries: np.ndarray
) -> Rehearsal:
    """Run a sketch's noise and decoding on public points.

    `sketch`: with a size. `noise`: of every counter, as a plan has it. `records`: how many records the points stand
    for. `points`, `queries`: encoded public points, float64 (n, d) and (m, d) in Fortran order.
    """
    table, seconds_read = _read(sketch, records, points)
    exact = sketch.exact(queries, points) * (records / len(points))
    errors = []
    start = perf_counter()
    for run in range(RUNS):
        noisy = add_noise(table, noise, SeededSource(run))
        answers = sketch.answer(noisy, records, queries, noise.variance, LEVEL)
        errors.append(answers.estimate - exact)
    return Rehearsal(sketch, noise, np.stack(errors), exact, seconds_read, (perf_counter() - start) / RUNS)


def rehearse_adaptive(
    mechanism: Adaptive, plan: AdaptivePlan, records: float, points: np.ndarray, queries: np.ndarray
) -> Rehearsal:
    """Run a mechanism that chooses before it measures, choices included; see `rehearse`."""
    tables: dict[LinearSketch, np.ndarray] = {}
    tables[mechanism.first], seconds_read = _read(mechanism.first, records, points)

    def read(sketch: LinearSketch) -> np.ndarray:
        if sketch not in tables:
            tables[sketch] = scaled_table(sketch, points, records)
        return tables[sketch].copy()

    exact = mechanism.exact(queries, points) * (records / len(points))
    errors = []
    start = perf_counter()
    for run in range(CHOOSING_RUNS):
        made = mechanism.run(read, plan, SeededSource(run))
        known = max(1.0, made.sketch.total(made.table) if made.count is None else made.count)
        answers = made.sketch.answer(made.table, known, queries, made.noise.variance, LEVEL)
        errors.append(answers.estimate - exact)
    seconds = (perf_counter() - start) / CHOOSING_RUNS
    return Rehearsal(made.sketch, made.noise, np.stack(errors), exact, seconds_read, seconds)


def _read(sketch: LinearSketch, records: float, points: np.ndarray) -> tuple[np.ndarray, float]:
    """The table, and the seconds that one record takes."""
    sketch.add(sketch.zeros(), points[:1])  # what is made at the first record is no part of the time of the others
    start = perf_counter()
    table = scaled_table(sketch, points, records)
    return table, (perf_counter() - start) / len(points)


def scaled_table(sketch: LinearSketch, points: np.ndarray, records: float) -> np.ndarray:
    """The exact table of points that count as so many records, in whole numbers."""
    table = sketch.zeros()
    sketch.add(table, points)
    return np.rint(table * (records / len(points))).astype(table.dtype)


def checked_records(records: float | None) -> float:
    """A public number of records, at least so many as are said; RequestError when it is left out or out of range."""
    if records is None:
        raise RequestError(
            "How many records there are at least must be said (records=...), as errors and sizes follow from it; a "
            "number that anybody may know, not one that was counted."
        )
    if not 1 <= records <= 1e15:
        raise RequestError("The guess of the number of records must lie between 1 and 1e15.")
    return float(records)


def checked_density(density: float | None) -> None:
    """RequestError when a guess of the average closeness of records is out of range."""
    if density is not None and not 0.0 < density < 1.0:
        raise RequestError("The density level must lie strictly between 0 and 1: the average closeness of records.")


def checked_spread(spread: float) -> float:
    """A guess of a column's standard deviation as a share of its bounds; RequestError when it is out of range."""
    if not 0.001 <= spread <= 0.5:
        raise RequestError(
            "The spread of the records must lie between 0.001 and 0.5: a typical column's standard deviation as a "
            "share of its bounds, which cannot be more than half of them."
        )
    return float(spread)
