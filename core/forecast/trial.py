"""A sketch tried out on public records, without noise: what its random rows or its grid add to the error of an answer.

The error of an average over n records has two parts. What the hashes do to *pairs* of records stays however many there
are; what they do to each record by itself averages out like 1/n. Trials have a thousand records or so and stand for
many more, so both parts are told apart: the table is filled in two halves by the same hashes, and what the errors of
the halves have in common is the part that stays.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import cast

import numpy as np

from ..domain.sets import Encoded, Sets
from ..errors import RequestError
from ..geometry.hashing.uniforms import PublicRandom
from ..geometry.kernels import Kernel
from ..sketches.adaptive import Adaptive
from ..sketches.grouped import GroupedSketch
from ..sketches.hashed.minhash import MinHash
from ..sketches.linear import LinearSketch
from .gathered_population import gathered_population
from .guesses import checked_density
from .reference_population import REFERENCE_POINTS, far_and_near, reference_populations
from .reference_sets import QUERIES, SIZES, reference_sets

REFERENCE_QUERIES = 150
GRID_QUERIES = 60
"""Of these, as many as a sketch is asked whose answers have one law everywhere: reading a grid is most of its trial."""
TRIAL_ROWS, LEAST_GROUPS, MOST_GROUPS = 4_000, 24, 200
"""Rows and groups of rows that a trial draws: more make a steadier forecast, fewer a quicker one."""
LARGEST_SIMULATED = 200_000
"""Hash coefficients that a trial may draw; larger groups of rows are tried small and scaled."""
RESAMPLES = 200
SET_TRIAL_ROWS = 400
"""Rows that a trial on made-up sets draws, each a group of its own."""
OUTSKIRTS = 0.03
"""Reference queries below this share of the average density are left out: a relative error means little there."""
MEAN_TO_RMS = math.sqrt(2.0 / math.pi)
LEAST_SAMPLE = 200
FEW = 300
"""Points of the far and the near population between which answers are averaged."""
CLOSE_SETS = 0.1
"""Average similarity of sets that share staples, as texts share the words of a language."""
GROUPED_RECORDS = 500
"""Records that random rows are tried on: enough, as the part that averages out is told apart."""
SKEWED_POINTS, SKEWED_QUERIES = 560, 60
"""Of the skewed population, and how many of them are queries: one number is read off it, and it should cost little."""


@dataclass(frozen=True)
class Trial:
    """How a sketch without noise did on public records.

    Attributes
    ----------
    relative : float
        Error of an answer relative to it, root mean square.
    absolute : float
        Error of an average over the records, root mean square.
    single : float
        Share of the squared errors that comes from each record by itself and averages out where there are more.
    records : int
        How many records were tried.
    densities : tuple[float, ...]
        Exact averages at the queries that were tried.
    gains : tuple[float, ...]
        What the variance of a counter's noise is multiplied by at these queries.
    """

    relative: float
    absolute: float
    single: float
    records: int
    densities: tuple[float, ...]
    gains: tuple[float, ...]

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


def trials(
    sketch: LinearSketch,
    records: float,
    density: float | None = None,
    sample: object = None,
    set_size: float | None = None,
) -> tuple[Trial, ...]:
    """One trial on a public sample, or one on every kind of reference population.

    Parameters
    ----------
    sketch : LinearSketch
        Of a settled size; the one that an answer is read off.
    records : float
        A public guess of the number of records that the trials stand for.
    density, sample, set_size : float | None, object, float | None
        See `core.forecast.forecast.forecast`.

    Raises
    ------
    RequestError
        When a guess is out of range, or the sample is too small.
    """
    known = None if sample is None else encoded(sketch, sample)
    if sketch.domain.holds_sets:
        tried = _set_trials(cast(MinHash, sketch), density, known, records, set_size)
    elif known is None:
        if sketch.answers == "closeness":
            checked_density(density)
        tried = _reference_trials(sketch.reseeded(0), None if density is None else float(f"{density:.3g}"))
    else:
        check_sample(known)
        tried = _tried_on(sketch, (known[: 4 * REFERENCE_POINTS],))
    return tuple(trial.of(records, density if sample is None else None) for trial in tried)


def root_mean_square(values: Sequence[float]) -> float:
    """Of errors that are alike likely."""
    return math.sqrt(float(np.mean(np.square(values))))


def kernel_of(sketch: LinearSketch | Adaptive) -> Kernel | None:
    """What closeness is to a sketch; None for sums of distances."""
    return getattr(sketch, "kernel", None)


def encoded(sketch: LinearSketch | Adaptive, sample: object) -> Encoded:
    """A public sample as the sketch reads records; one that is encoded already stays as it is."""
    if isinstance(sample, (np.ndarray, Sets)):
        return sample
    return sketch.domain.encode_queries(sample, sketch.metric)


def check_sample(sample: np.ndarray | Sets) -> None:
    """RequestError when a public sample is too small to forecast from."""
    if len(sample) < LEAST_SAMPLE:
        records = "sets" if isinstance(sample, Sets) else "points"
        raise RequestError(
            f"A public sample needs at least {LEAST_SAMPLE} {records} to forecast from, as fewer say little of how all "
            "of them lie."
        )


def queries_and_records(
    sketch: LinearSketch | Adaptive, points: np.ndarray, asked: int = REFERENCE_QUERIES
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The first so many of the points as queries, the others as records, and the exact sums."""
    queries, records = np.asfortranarray(points[:asked]), np.asfortranarray(points[asked:])
    exact = np.maximum(sketch.exact(queries, records), 1e-9 * len(records))
    inhabited = exact >= OUTSKIRTS * exact.mean()
    return np.asfortranarray(queries[inhabited]), records, exact[inhabited]


@lru_cache(maxsize=64)
def extremes(sketch: LinearSketch, records: float) -> tuple[tuple[float, ...], ...]:
    """Averages over records far apart, and over records close together: between them is nearly all ordinary data.

    Of sets over close ones alone: those far apart are hidden by the noise.
    """
    if sketch.domain.holds_sets:
        sets = reference_sets(records, CLOSE_SETS, SIZES[1])
        return (tuple(sketch.exact(sets[:QUERIES], sets) / len(sets)),)
    return tuple(
        tuple(sketch.exact(points[:REFERENCE_QUERIES], points[-FEW:]) / FEW)
        for points in map(np.asfortranarray, far_and_near(sketch.domain, sketch.metric))
    )


@lru_cache(maxsize=256)
def _reference_trials(sketch: LinearSketch, density: float | None) -> tuple[Trial, ...]:
    """Cached, as the app asks again at every move of a slider; arguments are public, and so is the answer."""
    return _tried_on(sketch, _populations(sketch.domain, sketch.metric, kernel_of(sketch), density))


_populations = lru_cache(maxsize=4)(reference_populations)
"""Kept for the several sizes of a sketch that are tried on them."""


def skewed_trial(sketch: LinearSketch, records: float) -> Trial | None:
    """A trial on records at one end of their bounds, for a forecast that knows nothing of how records lie.

    Sizes and choices are not made for them: what that gains there, records in the middle of the bounds lose. None for
    sets, and for grids of closeness, whose error is that of the worst crowd that they are tried on already.
    """
    if sketch.domain.holds_sets or (sketch.answers == "closeness" and not sketch.in_groups):
        return None
    return _skewed_trial(sketch.reseeded(0)).of(records)


@lru_cache(maxsize=64)
def _skewed_trial(sketch: LinearSketch) -> Trial:
    """Cached, as the others are."""
    points = _gathered(sketch.domain, sketch.metric)[:SKEWED_POINTS]
    return _tried_on(sketch, (points,), SKEWED_QUERIES)[0]


_gathered = lru_cache(maxsize=4)(gathered_population)


def _tried_on(
    sketch: LinearSketch, populations: tuple[np.ndarray, ...], asked: int = REFERENCE_QUERIES
) -> tuple[Trial, ...]:
    """Trials on public points, of which the first so many are queries."""
    parts = [queries_and_records(sketch, points, asked) for points in populations]
    if not sketch.in_groups:
        return tuple(_plain_trial(sketch, *part) for part in parts)
    grouped = cast(GroupedSketch, sketch)
    trial = _of_many_groups(grouped)
    return tuple(_grouped_trial(grouped, trial, *part) for part in parts)


def _plain_trial(sketch: LinearSketch, queries: np.ndarray, records: np.ndarray, exact: np.ndarray) -> Trial:
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


def _of_many_groups(sketch: GroupedSketch) -> GroupedSketch:
    """Groups of the sketch's kind, many more than it has; those of many rows are tried small."""
    wanted = math.ceil(sketch.rows / sketch.groups)
    each = sketch.domain.dimensions * getattr(sketch.kernel, "power", 1)
    size = max(1, min(wanted, LARGEST_SIMULATED // (LEAST_GROUPS * each)))
    groups = min(max(min(TRIAL_ROWS, LARGEST_SIMULATED // each) // size, LEAST_GROUPS), MOST_GROUPS)
    return sketch.with_rows(size * groups, groups, seed=0)


def _grouped_trial(
    sketch: GroupedSketch, trial: GroupedSketch, queries: np.ndarray, records: np.ndarray, exact: np.ndarray
) -> Trial:
    """Root mean square errors of the mean over a sketch's groups, and gains, found on groups of its kind.

    The sketch's groups are independent draws of the same law, so the error of the mean over G of them follows from how
    far single groups fall from the truth. Many more groups than G are tried, and their errors resampled G at a time: in
    one dimension single groups are too heavy-tailed for a mean square. The gain of a mean is one over its rows times
    that of one row.
    """
    records = records[:GROUPED_RECORDS]
    records = np.asfortranarray(records)
    exact = np.maximum(sketch.exact(queries, records), 1e-9 * len(records))
    half = len(records) // 2
    errors = []
    for part in (records[:half], records[half:]):
        table = trial.zeros()
        trial.add(table, np.asfortranarray(part))
        estimates, _ = trial.group_estimates(table, len(part), queries)
        errors.append(estimates - sketch.exact(queries, np.asfortranarray(part)))
    both, single = errors[0] + errors[1], _averaged_out(errors[0], errors[1], half, len(records) - half)
    groups = trial.groups
    batches = PublicRandom(0, 8).words(RESAMPLES, sketch.groups) % np.uint64(groups)
    chosen = np.zeros((RESAMPLES, groups))
    np.add.at(chosen, (np.arange(RESAMPLES)[:, None], batches.astype(np.int64)), 1.0 / sketch.groups)
    means = (
        np.abs(chosen @ _unshared(both)) / MEAN_TO_RMS * math.sqrt(trial.rows / groups * sketch.groups / sketch.rows)
    )
    return Trial(
        max(float(np.mean(means / exact)), 1e-6),
        float(np.mean(means)) / len(records),
        single,
        len(records),
        tuple(exact / len(records)),
        tuple(np.asarray(trial.noise_variance(1.0, queries)) * (trial.rows / sketch.rows)),
    )


def _averaged_out(first: np.ndarray, second: np.ndarray, half: int, other: int) -> float:
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


def _set_trials(
    sketch: MinHash, density: float | None, sample: Sets | None, records: float, set_size: float | None
) -> tuple[Trial, ...]:
    """Of sets: the error of a mean of rows, which are as good as independent, from the variance of one."""
    trial = sketch.with_rows(SET_TRIAL_ROWS, SET_TRIAL_ROWS, seed=0)
    if sample is None:
        checked_density(density)
        if set_size is not None and not 1.0 <= set_size <= 1e6:
            raise RequestError("The guess of how many items a set has must lie between 1 and a million.")
        shown = None if density is None else float(f"{density:.3g}")
        sizes = SIZES if set_size is None else (set_size,)
        tried = [_reference_set_errors(trial, shown, float(f"{records:.3g}"), size) for size in sizes]
    else:
        check_sample(sample)
        return (_sampled_sets(sketch, trial, sample),)
    gain = float(sketch.noise_variance(1.0))
    return tuple(
        Trial(
            float(np.mean(deviations)) / math.sqrt(sketch.rows),
            float(np.sqrt(np.mean((deviations * densities) ** 2))) / math.sqrt(sketch.rows),
            0.0,
            int(min(records, 1e15)),
            tuple(densities),
            (gain,) * len(densities),
        )
        for deviations, densities in tried
    )


def _sampled_sets(sketch: MinHash, trial: MinHash, sample: Sets) -> Trial:
    """On a public sample, of which a third is asked about the others, so that nobody is compared with themselves.

    A sample is so much smaller than what it stands for that the part of the errors that averages out has to be told
    apart, as for points.
    """
    asked = min(QUERIES, len(sample) // 3)
    queries, kept = sample[:asked], sample[asked:]
    half, exact, errors = len(kept) // 2, trial.exact(queries, kept), []
    for part in (kept[:half], kept[half:]):
        table = trial.zeros()
        trial.add(table, part)
        rows, _ = trial.group_estimates(table, len(part), queries)
        errors.append(rows - trial.exact(queries, part))
    deviations = np.sqrt(np.mean((errors[0] + errors[1]) ** 2, axis=0) / sketch.rows)
    told = exact >= max(OUTSKIRTS * float(exact.mean()), 1e-9)
    return Trial(
        float(np.mean(deviations[told] / exact[told])) if told.any() else 1.0,
        root_mean_square(deviations) / len(kept),
        _averaged_out(errors[0], errors[1], half, len(kept) - half),
        len(kept),
        tuple(np.maximum(exact[told], 1e-9) / len(kept)) if told.any() else (1e-9,),
        (float(sketch.noise_variance(1.0)),) * max(int(told.sum()), 1),
    )


@lru_cache(maxsize=64)
def _reference_set_errors(
    trial: MinHash, density: float | None, records: float, set_size: float
) -> tuple[np.ndarray, np.ndarray]:
    """Cached, as several sizes of a table are tried on the same made-up sets."""
    sets = reference_sets(records, density, set_size)
    return _row_deviations(trial, sets[:QUERIES], sets, records)


def _row_deviations(trial: MinHash, queries: Sets, sets: Sets, records: float) -> tuple[np.ndarray, np.ndarray]:
    """Standard deviations of single rows at queries, relative to the answers, and the answers as shares of all sets.

    There is a column for as many sets as in the table that is forecast.
    """
    trial = replace(trial, width=max(2, round(trial.width * min(1.0, len(sets) / records))))
    table = trial.zeros()
    trial.add(table, sets)
    rows, _ = trial.group_estimates(table, len(sets), queries)
    exact = np.maximum(trial.exact(queries, sets), 1e-9)
    return np.sqrt(np.mean((rows - exact) ** 2, axis=0)) / exact, exact / len(sets)
