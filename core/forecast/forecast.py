"""How good a release will be, from public facts alone, before anything is spent.

The noise part of the error is exact: its variance follows from the budget. The rest (random hashes, rounding to a grid)
depends on how the records lie, which nobody may look at. So the sketch itself, with fresh public seeds and without
noise, is tried on a *reference population* whose average closeness is the stated one. A public sample, where there is
one, takes the place of the reference population and makes the forecast sharp. Where answers are not linear in the
table, noise cannot be kept apart, and the whole is rehearsed with it (`core.forecast.rehearsal`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache
from typing import cast

import numpy as np

from ..domain.sets import Sets
from ..errors import RequestError
from ..geometry.hashing.uniforms import PublicRandom
from ..geometry.kernels import Kernel
from ..privacy.budget import Budget
from ..privacy.calibration import NoiseScale, calibrate
from ..privacy.neighbours import Neighbours
from ..sketches.adaptive import Adaptive, AdaptivePlan
from ..sketches.grouped import GroupedSketch
from ..sketches.hashed.minhash import MinHash
from ..sketches.linear import LinearSketch
from ..sketches.plan import Plan, plan
from .reference_population import REFERENCE_POINTS, reference_population
from .reference_sets import QUERIES, reference_sets
from .rehearsal import Rehearsal, rehearse, rehearse_adaptive
from .sizing import TRIED, Rows, Trials, best_rows, building_seconds

REFERENCE_QUERIES = 150
TRIAL_ROWS, LEAST_GROUPS, MOST_GROUPS = 12_000, 24, 200
"""Rows and groups of rows that a trial draws: more make a steadier forecast, fewer a quicker one."""
DEFAULT_RECORDS = 10_000
LARGEST_SIMULATED = 600_000
"""Hash coefficients that a trial may draw; larger groups of rows are tried small and scaled."""
LARGEST_TRIAL = 1 << 26
"""Counters that a trial may have, likewise: half a gigabyte."""
RESAMPLES = 200
SET_TRIAL_ROWS = 400
"""Rows that a trial on made-up sets draws, each a group of its own."""
OUTSKIRTS = 0.03
"""Reference queries below this share of the average density are left out: a relative error means little there."""
MEAN_TO_RMS = math.sqrt(2.0 / math.pi)


@dataclass(frozen=True)
class Forecast:
    """What to expect of a release; errors are standard deviations of one answer (a sum) unless said otherwise.

    Attributes
    ----------
    answers : str
        What is summed, "closeness" or "distance".
    rows, columns : int
        Size of the table; of one class where the release has classes.
    records : float
        The public guess of the number of records that an answer sums; of one class's where there are classes.
    density : float
        Average closeness of two records, between 0 and 1, stated or assumed; or their average distance.
    estimate : float
        A typical answer, density times records.
    noise_error, sampling_error, standard_error : float
        From privacy noise, from the choice of hashes or grid, from both.
    relative_error : float
        Expected |error| / answer, averaged over places where records are.
    low, high : float
        A band that holds 95% of typical answers.
    empty_below : float
        Sums below this cannot be told from zero (95%, one-sided).
    records_error : float
        Standard deviation of the released number of records; 0 when it is public.
    file_bytes, seconds : int, float
        Rough size of the file and time to make it on two cores.
    """

    answers: str
    rows: int
    columns: int
    records: float
    density: float
    estimate: float
    noise_error: float
    sampling_error: float
    standard_error: float
    relative_error: float
    low: float
    high: float
    empty_below: float
    records_error: float
    file_bytes: int
    seconds: float

    @property
    def sentence(self) -> str:
        """The forecast in words."""
        if self.answers == "distance":
            mean, band = self.density, 1.96 * self.standard_error / self.records
            places = max(0, 1 - math.floor(math.log10(max(band, 1e-12))))
            return f"The average distance from a typical place is {mean:,.{places}f} ± {band:,.{places}f}."
        places = 1 - max(0, math.floor(math.log10(max(self.standard_error, 1.0))) + 1)
        estimate, band, empty = (
            round(value, places) for value in (self.estimate, 1.96 * self.standard_error, self.empty_below)
        )
        return (
            f"A typical answer is {estimate:,.0f} ± {band:,.0f} records; "
            f"a place with fewer than about {empty:,.0f} looks empty."
        )


@dataclass(frozen=True)
class _Sampling:
    """How a sketch without noise does on a reference population.

    Attributes
    ----------
    error : float
        Relative error, root mean square.
    densities : tuple[float, ...]
        Exact averages at the queries that were tried.
    gains : tuple[float, ...]
        What the variance of a counter's noise is multiplied by at these queries.
    """

    error: float
    densities: tuple[float, ...]
    gains: tuple[float, ...]


def forecast(
    sketch: LinearSketch | Adaptive,
    budget: Budget,
    records: float | None = None,
    density: float | None = None,
    sample: np.ndarray | Sets | None = None,
    set_size: float | None = None,
) -> Forecast:
    """Forecast the error of a release.

    Parameters
    ----------
    sketch : LinearSketch | Adaptive
        With or without a number of rows; without, `choose_rows` gives it one. Of a mechanism that chooses before it
        measures, the forecast is a rehearsal.
    budget : Budget
        The promise.
    records : float | None
        A public guess of their number, 10,000 when None.
    density : float | None
        A public guess of the average closeness of two records, 0 to 1; when None, the reference population spreads over
        a sixth of the bounds.
    sample : np.ndarray | Sets | None
        Encoded public points, float64 (n, dimensions), at least 200, that lie as the private ones are thought to; takes
        the place of ``density``. Sets where the sketch is of sets.
    set_size : float | None
        A public guess of how many items a set has on average, for sketches of sets; 12 when None.

    Raises
    ------
    RequestError
        When a guess is out of range.
    """
    if not sketch.sized:
        sketch = choose_size(sketch, budget, records, density, sample, set_size)
    records = checked_records(records)
    if isinstance(sketch, Adaptive):
        return _rehearsed_choices(sketch, budget, records, density, sample)
    planned = plan(sketch, budget)
    one, share = sketch.one_answer
    records *= share
    if not one.linear_decode:
        return _rehearsed(sketch, planned, records, density, sample)
    sampling = _sampling_error(one, density, sample, records, set_size)
    noise = np.sqrt(planned.noise.variance * np.array(sampling.gains))
    densities = _scaled_to(density, sampling.densities)
    answers = records * densities
    typical = float(densities.mean())
    noise_error = math.sqrt(float(np.mean(noise**2)))
    sampling_error = sampling.error * records * typical
    standard_error = math.hypot(sampling_error, noise_error)
    counters = int(np.prod(sketch.shape))
    return Forecast(
        answers=one.answers,
        rows=one.shape[0],
        columns=one.shape[-1],
        records=records,
        density=typical,
        estimate=records * typical,
        noise_error=noise_error,
        sampling_error=sampling_error,
        standard_error=standard_error,
        relative_error=float(np.mean(MEAN_TO_RMS * np.hypot(sampling.error, noise / answers))),
        low=max(0.0, records * typical - 1.96 * standard_error),
        high=records * typical + 1.96 * standard_error,
        empty_below=1.645 * noise_error,
        records_error=_records_error(one, planned, planned.noise),
        file_bytes=_file_bytes(counters, planned.noise),
        seconds=0.2 + _seconds(one, records / share, counters),
    )


def _rehearsed(
    sketch: LinearSketch, planned: Plan, records: float, density: float | None, sample: np.ndarray | None
) -> Forecast:
    """The forecast of a mechanism whose answers are not linear in its table."""
    one, _ = sketch.one_answer
    if sample is None:
        checked_density(density)
        tried = _reference_rehearsal(one.reseeded(0), planned.noise, records, density)
    else:
        _check_sample(sample)
        tried = _rehearse(one, planned.noise, records, sample[: 4 * REFERENCE_POINTS])
    counters = int(np.prod(sketch.shape))
    return _forecast_of(tried, records, counters, _records_error(one, planned, planned.noise))


def _rehearsed_choices(
    mechanism: Adaptive, budget: Budget, records: float, density: float | None, sample: np.ndarray | None
) -> Forecast:
    """The forecast of a mechanism that chooses before it measures."""
    planned = mechanism.plan(budget)
    if sample is None:
        checked_density(density)
        tried = _reference_choices(mechanism, planned, records, density)
    else:
        _check_sample(sample)
        tried = _rehearse_choices(mechanism, planned, records, sample[: 4 * REFERENCE_POINTS])
    counters = int(np.prod(tried.sketch.shape))
    return _forecast_of(tried, records, counters, _records_error(tried.sketch, planned, tried.noise))


def _forecast_of(tried: Rehearsal, records: float, counters: int, records_error: float) -> Forecast:
    typical = float(tried.exact.mean())
    return Forecast(
        answers=tried.sketch.answers,
        rows=tried.sketch.shape[0],
        columns=tried.sketch.shape[-1],
        records=records,
        density=typical / records,
        estimate=typical,
        noise_error=tried.noise_error,
        sampling_error=tried.systematic_error,
        standard_error=tried.standard_error,
        relative_error=tried.relative_error,
        low=max(0.0, typical - 1.96 * tried.standard_error),
        high=typical + 1.96 * tried.standard_error,
        empty_below=1.645 * tried.noise_error,
        records_error=records_error,
        file_bytes=_file_bytes(counters, tried.noise),
        seconds=0.2 + tried.seconds_read * records + tried.seconds,
    )


@lru_cache(maxsize=64)
def _reference_rehearsal(sketch: LinearSketch, noise: NoiseScale, records: float, density: float | None) -> Rehearsal:
    """Cached, as `_reference_error` is."""
    return _rehearse(sketch, noise, records, _reference(sketch.domain, sketch.metric, _kernel_of(sketch), density))


def _rehearse(sketch: LinearSketch, noise: NoiseScale, records: float, points: np.ndarray) -> Rehearsal:
    queries, kept, _ = _queries_and_records(sketch, points)
    return rehearse(sketch, noise, records, kept, queries)


@lru_cache(maxsize=64)
def _reference_choices(mechanism: Adaptive, planned: AdaptivePlan, records: float, density: float | None) -> Rehearsal:
    """Cached, as `_reference_error` is."""
    points = _reference(mechanism.domain, mechanism.metric, _kernel_of(mechanism), density)
    return _rehearse_choices(mechanism, planned, records, points)


def _rehearse_choices(mechanism: Adaptive, planned: AdaptivePlan, records: float, points: np.ndarray) -> Rehearsal:
    queries, kept, _ = _queries_and_records(mechanism, points)
    return rehearse_adaptive(mechanism, planned, records, kept, queries)


def _records_error(sketch: LinearSketch, planned: Plan | AdaptivePlan, noise: NoiseScale) -> float:
    """Standard deviation of the released number of records, where every counter has the noise."""
    if planned.counts:
        return 0.0 if planned.count_noise is None else math.sqrt(planned.count_noise.variance)
    return math.sqrt(sketch.total_variance(noise.variance))


def choose_size(
    sketch: LinearSketch | Adaptive,
    budget: Budget,
    records: float | None = None,
    density: float | None = None,
    sample: np.ndarray | Sets | None = None,
    set_size: float | None = None,
) -> LinearSketch | Adaptive:
    """The sketch with the size of the least forecast error, from public facts alone; see `forecast`."""
    records = checked_records(records)
    if isinstance(sketch, Adaptive):
        return sketch.sized_for(budget, records)
    one, _ = sketch.one_answer
    if one.in_groups:
        return sketch.with_rows(choose_rows(sketch, budget, records, density, sample, set_size))
    return sketch.sized_for(budget, records)


def choose_rows(
    sketch: LinearSketch,
    budget: Budget,
    records: float | None = None,
    density: float | None = None,
    sample: np.ndarray | Sets | None = None,
    set_size: float | None = None,
) -> int:
    """The number of rows that serves best, from public facts alone; see `core.forecast.sizing`."""
    return sized_rows(sketch, budget, records, density, sample, set_size).rows


def sized_rows(
    sketch: LinearSketch,
    budget: Budget,
    records: float | None = None,
    density: float | None = None,
    sample: np.ndarray | Sets | None = None,
    set_size: float | None = None,
) -> Rows:
    """The number of rows that serves best, and what stopped it from being larger; see `core.forecast.sizing`.

    The number of records is that of all classes.
    """
    records = checked_records(records)
    one, share = sketch.one_answer
    trial = one.with_rows(128)

    def sampling(rows: int) -> _Sampling:
        return _sampling_error(one.with_rows(rows), density, sample, records * share, set_size)

    @cache
    def noise(rows: int) -> NoiseScale:
        return calibrate(
            one.with_rows(rows).sensitivity(budget.neighbours), Fraction(budget.epsilon), Fraction(budget.delta)
        )

    # Noise of a mean of rows: known for every size from one of them, so that no size but those tried needs its hashes.
    one_row = trial.noise_variance(1.0) * trial.shape[0]
    counters = int(np.prod(sketch.with_rows(128).shape)) // trial.shape[0]
    trials = Trials(
        lambda rows: sampling(rows).error,
        lambda rows: math.sqrt(noise(rows).variance * one_row / rows),
        lambda rows: _file_bytes(counters * rows, noise(rows)),
        counters,
        records * share * _scaled_to(density, sampling(TRIED[0]).densities),
    )
    return best_rows(one, records, trials)


def error_curve(
    sketch: LinearSketch,
    records: float | None,
    epsilons: Sequence[float],
    delta: float = 0,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
    density: float | None = None,
) -> np.ndarray:
    """Forecast relative errors of the same sketch for several epsilons, float64 (len(epsilons),)."""
    return np.array(
        [forecast(sketch, Budget(epsilon, delta, neighbours), records, density).relative_error for epsilon in epsilons]
    )


def _scaled_to(density: float | None, densities: tuple[float, ...]) -> np.ndarray:
    """Densities with the stated mean, which the reference population itself may miss for lack of room."""
    values = np.array(densities)
    return values if density is None else values * (density / values.mean())


def checked_records(records: float | None) -> float:
    """A public guess of the number of records, 10,000 when None; RequestError when it is out of range."""
    if records is None:
        return float(DEFAULT_RECORDS)
    if not 1 <= records <= 1e15:
        raise RequestError("The guess of the number of records must lie between 1 and 1e15.")
    return float(records)


def checked_density(density: float | None) -> None:
    """RequestError when a guess of the average closeness of records is out of range."""
    if density is not None and not 0.0 < density < 1.0:
        raise RequestError("The density level must lie strictly between 0 and 1: the average closeness of records.")


def _file_bytes(counters: int, noise: NoiseScale) -> int:
    """The noise is most of what a counter holds, and noise does not compress: its entropy, and a fifth on top."""
    bits = max(1.0, 0.5 * math.log2(2.0 * math.pi * math.e * max(noise.variance, 0.1)))
    return 2_000 + int(1.2 * counters * bits / 8)


def _seconds(sketch: LinearSketch, records: float, counters: int) -> float:
    if sketch.in_groups:
        return building_seconds(sketch, records, counters)
    return sketch.shape[0] * records / 1.5e9 + counters * 1.5e-7


def _sampling_error(
    sketch: LinearSketch,
    density: float | None,
    sample: np.ndarray | Sets | None,
    records: float,
    set_size: float | None,
) -> _Sampling:
    if sketch.domain.holds_sets:
        return _set_error(cast(MinHash, sketch), density, sample, records, set_size)
    if sample is None:
        if sketch.answers == "closeness":
            checked_density(density)
        return _reference_error(sketch.reseeded(0), None if density is None else float(f"{density:.3g}"))
    _check_sample(sample)
    return _simulate(sketch, *_queries_and_records(sketch, sample[: 4 * REFERENCE_POINTS]))


def _set_error(
    sketch: MinHash, density: float | None, sample: Sets | None, records: float, set_size: float | None
) -> _Sampling:
    """Of sets: the error of a mean of rows, which are as good as independent, from the variance of one."""
    trial = sketch.with_rows(SET_TRIAL_ROWS, SET_TRIAL_ROWS, seed=0)
    if sample is None:
        checked_density(density)
        if set_size is not None and not 1.0 <= set_size <= 1e6:
            raise RequestError("The guess of how many items a set has must lie between 1 and a million.")
        deviations, densities = _reference_set_errors(
            trial, None if density is None else float(f"{density:.3g}"), float(f"{records:.3g}"), set_size
        )
    elif len(sample) < 200:
        raise RequestError("A public sample needs at least 200 sets to forecast from.")
    else:
        deviations, densities = _row_deviations(trial, sample[:QUERIES], sample, records)
    gain = sketch.noise_variance(1.0)
    return _Sampling(float(np.mean(deviations)) / math.sqrt(sketch.rows), densities, (gain,) * len(densities))


@lru_cache(maxsize=64)
def _reference_set_errors(
    trial: MinHash, density: float | None, records: float, set_size: float | None
) -> tuple[np.ndarray, tuple[float, ...]]:
    """Cached, as several sizes of a table are tried on the same made-up sets."""
    sets = reference_sets(records, density, set_size)
    return _row_deviations(trial, sets[:QUERIES], sets, records)


def _row_deviations(trial: MinHash, queries: Sets, sets: Sets, records: float) -> tuple[np.ndarray, tuple[float, ...]]:
    """Standard deviations of single rows at queries, relative to the answers, and the answers as shares of all sets.

    There is a column for as many sets as in the table that is forecast.
    """
    trial = replace(trial, width=max(2, round(trial.width * min(1.0, len(sets) / records))))
    table = trial.zeros()
    trial.add(table, sets)
    rows, _ = trial.group_estimates(table, len(sets), queries)
    exact = np.maximum(trial.exact(queries, sets), 1e-9)
    return np.sqrt(np.mean((rows - exact) ** 2, axis=0)) / exact, tuple(exact / len(sets))


@lru_cache(maxsize=256)
def _reference_error(sketch: LinearSketch, density: float | None) -> _Sampling:
    """Cached, as the app asks again at every move of a slider; arguments are public, and so is the answer."""
    points = _reference(sketch.domain, sketch.metric, _kernel_of(sketch), density)
    return _simulate(sketch, *_queries_and_records(sketch, points))


def _kernel_of(sketch: LinearSketch | Adaptive) -> Kernel | None:
    """What closeness is to a sketch; None for sums of distances."""
    return getattr(sketch, "kernel", None)


def _check_sample(sample: np.ndarray) -> None:
    if len(sample) < 200:
        raise RequestError("A public sample needs at least 200 points to forecast from.")


_reference = lru_cache(maxsize=4)(reference_population)
"""Kept for the several sizes of a sketch that are tried on it."""


def _queries_and_records(
    sketch: LinearSketch | Adaptive, points: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Some of the points as queries, the others as records, and the exact sums."""
    queries, records = np.asfortranarray(points[:REFERENCE_QUERIES]), np.asfortranarray(points[REFERENCE_QUERIES:])
    exact = np.maximum(sketch.exact(queries, records), 1e-9 * len(records))
    inhabited = exact >= OUTSKIRTS * exact.mean()
    return np.asfortranarray(queries[inhabited]), records, exact[inhabited]


def _simulate(sketch: LinearSketch, queries: np.ndarray, records: np.ndarray, exact: np.ndarray) -> _Sampling:
    """Try the sketch on public points, of which some are queries."""
    if sketch.in_groups:
        error, gains = _grouped_error(sketch, queries, records, exact)
    else:
        error, gains = _plain_error(sketch, queries, records, exact), sketch.noise_variance(1.0, queries)
    return _Sampling(max(error, 1e-6), tuple(exact / len(records)), tuple(gains))


def _plain_error(sketch: LinearSketch, queries: np.ndarray, records: np.ndarray, exact: np.ndarray) -> float:
    table = sketch.zeros()
    sketch.add(table, records)
    answers = sketch.answer(table, len(records), queries, 0.0, 0.95)
    return float(np.mean(np.abs(answers.estimate / exact - 1.0))) / MEAN_TO_RMS


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


def _grouped_error(
    sketch: GroupedSketch, queries: np.ndarray, records: np.ndarray, exact: np.ndarray
) -> tuple[float, np.ndarray]:
    """Root mean square error of the mean over a sketch's groups, and gains, found on groups of its kind.

    The sketch's groups are independent draws of the same law, so the error of the mean over G of them follows from how
    far single groups fall from the truth. Many more groups than G are tried, and their errors resampled G at a time: in
    one dimension single groups are too heavy-tailed for a mean square. The gain of a mean is one over its rows times
    that of one row.
    """
    wanted = math.ceil(sketch.rows / sketch.groups)
    each = queries.shape[1] * getattr(sketch.kernel, "power", 1)
    most = max(LEAST_GROUPS, min(LARGEST_SIMULATED // each, LARGEST_TRIAL // getattr(sketch, "width", 1)))
    size = max(1, min(wanted, most // LEAST_GROUPS))
    groups = min(max(min(TRIAL_ROWS, most) // size, LEAST_GROUPS), MOST_GROUPS)
    trial = sketch.with_rows(size * groups, groups, seed=0)
    table = trial.zeros()
    trial.add(table, records)
    estimates, _ = trial.group_estimates(table, len(records), queries)
    batches = PublicRandom(0, 8).words(RESAMPLES, sketch.groups) % np.uint64(groups)
    chosen = np.zeros((RESAMPLES, groups))
    np.add.at(chosen, (np.arange(RESAMPLES)[:, None], batches.astype(np.int64)), 1.0 / sketch.groups)
    errors = _unshared((estimates - exact) / exact)
    error = float(np.mean(np.abs(chosen @ errors))) / MEAN_TO_RMS * math.sqrt(size / wanted)
    return error, trial.noise_variance(1.0, queries) * (trial.rows / sketch.rows)
