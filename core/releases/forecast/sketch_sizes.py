"""How many random rows a sketch should have: as many as pay, within stated costs.

Under pure epsilon the noise of a mean of R rows grows with R while the sampling error falls: there is a best R (CCS
2021, Corollary 3.5). Under (epsilon, delta) the record's L2 sensitivity is sqrt(R), so the noise of the mean does not
depend on R, and rows are worth their cost for as long as they lower the sampling error.

Sampling errors are tried at sizes four times apart, and taken to be powers of R between them: in few dimensions rows
drawn together cover the space evenly and errors fall faster than the square root at first and, where directions are
drawn in blocks, with it later, so no single power would do from 128 rows to 128,000.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import numpy as np

from ...errors import RequestError
from ...privacy.budget import Budget
from ...privacy.calibration import NoiseScale
from ...sketches.adaptive import Adaptive
from ...sketches.grouped import MAX_ROWS, GroupedSketch, in_groups
from ...sketches.linear import LinearSketch
from ...sketches.plan import plan
from .one_trial import checked_records, root_mean_square
from .trial import trials

# Numbers of rows at which the sampling error is tried, as far as they are needed.
TRIED = tuple(128 * 4**k for k in range(7))
ROWS_OFFERED = tuple(
    rows
    for decade in (50, 500, 5_000, 50_000, 500_000)
    for step in (1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0)
    if (rows := round(decade * step)) <= MAX_ROWS
)
WORTHWHILE = 1.05  # Twice the rows must lower the error by this factor where nothing but their cost speaks against them
MOST_SECONDS = 60.0  # Of building a release, on two cores.
MOST_FILE_BYTES = 32_000_000
MOST_QUERY_SECONDS = 1e-3  # Of one core, for one query among many.
MOST_MEMORY = 1 << 30  # Bytes that drawing the rows may take, half of what opening a file may.
CORES = 2  # For which times of building are stated.
COUNTER_SECONDS = 1.5e-7  # Of one core, for drawing a counter's noise and writing it down.
FREE = 1 / 60  # This share of every limit is no cost worth speaking of: a second, half a megabyte, some microseconds.
# For sketches whose size follows from the promise, and from their number as well where that is said.
ANY_RECORDS = 10_000.0
FLAT = 1.01  # An error within one per cent of the least is as good, at the least cost.


@dataclass(frozen=True)
class Rows:
    """A number of rows, and why there are not more of them."""

    rows: int  # R.
    # "noise" where further rows would add noise, "gain" where they would hardly lower the error, and otherwise the cost
    # that they would exceed: "time" of building, "file", "query" (time of one), "memory", or "limit", the most rows
    # that any sketch may have.
    stopped_by: str


@dataclass(frozen=True)
class Trials:
    """What the forecast knows about a sketch before its size is chosen."""

    sampling: Callable[[int], float]  # Sampling error of an average with so many rows, root mean square.
    noise: Callable[[int], float]  # Standard deviation of an answer's noise with so many rows.
    file_bytes: Callable[[int], float]  # Size of the file with so many rows.
    counters: int  # Of one row, in all classes.
    records: float  # How many records an answer sums.


def best_rows(sketch: GroupedSketch, records: float, trials: Trials) -> Rows:
    """The number of rows with the least forecast error, or from which on more are not worth their cost.

    `sketch`: with any number of rows or none. `records`: A public guess of their number, in all classes. `trials`:
    errors and sizes of files by the number of rows.
    """
    sampling = cache(trials.sampling)
    tried = [rows for rows in TRIED if _resized(sketch, rows)] or TRIED[:1]
    errors: dict[int, float] = {}
    free = ROWS_OFFERED[0]
    for rows in ROWS_OFFERED:
        share, stopped_by = _dearest(sketch, rows, records, trials)
        if share > 1.0 and errors:
            return _worthwhile(errors, free, stopped_by)
        noise = trials.noise(rows) / trials.records
        if errors and noise > FLAT * min(errors.values()):
            return Rows(_flat(errors), "noise")
        errors[rows] = math.hypot(between_trials(sampling, tried, rows), noise)
        free = rows if share <= FREE else free
        if errors[rows] <= FLAT * noise:
            return _worthwhile(errors, free, "gain")
    return _worthwhile(errors, free, "limit")


def _flat(errors: dict[int, float]) -> int:
    """The smallest size that is as good as the best."""
    return next(rows for rows, error in errors.items() if error <= FLAT * min(errors.values()))


def _worthwhile(errors: dict[int, float], free: int, stopped_by: str) -> Rows:
    """The smallest size that no larger one betters by enough; of those that cost nothing to speak of, the best."""
    enough = next(
        rows
        for rows, error in errors.items()
        if all(
            error <= less * WORTHWHILE ** math.log2(larger / rows) for larger, less in errors.items() if larger >= rows
        )
    )
    chosen = max(enough, min(_flat(errors), free))
    return Rows(chosen, stopped_by if chosen == max(errors) else "gain")


def between_trials(sampling: Callable[[int], float], tried: Sequence[int], rows: int) -> float:
    """The sampling error with so many rows, from those at the nearest sizes that are tried.

    It falls with the square root of R or faster (`core.geometry.uniforms`), and with the square root beyond the
    largest size.
    """
    above = next((size for size in tried if size >= rows), None)
    if above is None or above == tried[0]:
        nearest = above or tried[-1]
        return sampling(nearest) * math.sqrt(nearest / rows)
    below = above // 4
    power = max(0.5, math.log(sampling(below) / sampling(above), 4.0))
    return sampling(above) * (above / rows) ** power


def building_seconds(sketch: GroupedSketch, records: float, counters: float) -> float:
    """Time to draw the rows, add the records and draw the noise, on two cores."""
    return sketch.setup_seconds + (sketch.record_seconds * records + COUNTER_SECONDS * counters) / CORES


def _dearest(sketch: GroupedSketch, rows: int, records: float, trials: Trials) -> tuple[float, str]:
    """The cost that comes closest to its limit, as a share of it, and its name."""
    sized = _resized(sketch, rows)
    if sized is None:
        return math.inf, "limit"
    shares = {
        "time": building_seconds(sized, records, rows * trials.counters) / MOST_SECONDS,
        "file": trials.file_bytes(rows) / MOST_FILE_BYTES,
        "query": sized.query_seconds / MOST_QUERY_SECONDS,
        "memory": sized.setup_bytes / MOST_MEMORY,
    }
    return max((share, cost) for cost, share in shares.items())


def _resized(sketch: GroupedSketch, rows: int) -> GroupedSketch | None:
    """The sketch with so many rows; None where these are more counters than its kind may have."""
    try:
        return sketch.with_rows(rows)
    except RequestError:
        return None


def choose_size(
    sketch: LinearSketch | Adaptive,
    budget: Budget,
    records: float | None = None,
    density: float | None = None,
    sample: object = None,
    set_size: float | None = None,
) -> LinearSketch | Adaptive:
    """The sketch with the size of the least forecast error, from public facts alone; see
    `core.releases.forecast.forecast`."""
    return limited_size(sketch, budget, records, density, sample, set_size)[0]


def limited_size(
    sketch: LinearSketch | Adaptive,
    budget: Budget,
    records: float | None = None,
    density: float | None = None,
    sample: object = None,
    set_size: float | None = None,
) -> tuple[LinearSketch | Adaptive, str]:
    """The same, with what stopped its rows from being more (`Rows.stopped_by`), "" where it has none.

    What keeps ε keeps (ε, δ) too, so under a delta the size for the pure promise is forecast too, and taken where it
    errs less: sizes are chosen by rules of thumb and within tolerances, by which a delta could else do harm. Tables
    weigh both kinds of noise themselves.
    """
    guesses = (records, density, sample, set_size)
    made, stopped_by = _limited(sketch, budget, *guesses)
    if budget.pure or records is None or made.chooses or made.weighs_pure or not made.one_answer[0].linear_decode:
        return made, stopped_by
    try:
        purely, purely_stopped_by = _limited(sketch, Budget(budget.epsilon, 0, budget.neighbours), *guesses)
    except RequestError:  # it only exists under a delta
        return made, stopped_by
    if purely.chooses or _error(made, budget, *guesses) <= _error(purely, budget, *guesses):
        return made, stopped_by
    return purely, purely_stopped_by


def _error(sketch: LinearSketch, budget: Budget, records: float | None, *guesses: Any) -> float:
    """The error of one answer, noise included, that the forecast promises."""
    one, share = sketch.one_answer
    summed, variance = checked_records(records) * share, plan(sketch, budget).noise.variance
    tried = trials(one, summed, *guesses)
    return root_mean_square(
        [math.hypot(trial.absolute * summed, math.sqrt(variance * float(np.mean(trial.gains)))) for trial in tried]
    )


def _limited(
    sketch: LinearSketch | Adaptive, budget: Budget, records: float | None, *guesses: Any
) -> tuple[LinearSketch | Adaptive, str]:
    """The size that a budget suits by the sketch's own rule."""
    if not sketch.needs_records and records is None:
        return sketch.sized_for(budget, ANY_RECORDS), ""
    records = checked_records(records)
    if sketch.chooses:
        return sketch.sized_for(budget, records), ""
    one, _ = sketch.one_answer
    if one.in_groups:
        rows = sized_rows(sketch, budget, records, *guesses)
        return sketch.with_rows(rows.rows), rows.stopped_by
    return sketch.sized_for(budget, records), ""


def sized_rows(
    sketch: LinearSketch,
    budget: Budget,
    records: float | None = None,
    density: float | None = None,
    sample: object = None,
    set_size: float | None = None,
) -> Rows:
    """The number of rows that serves best, and what stopped it from being larger.

    The number of records is that of all classes.
    """
    one, _ = sketch.one_answer
    return rows_under(
        sketch, lambda rows: one.with_rows(rows).counter_noise(budget), records, density, sample, set_size
    )


def rows_under(
    sketch: LinearSketch,
    noise_of: Callable[[int], NoiseScale],
    records: float | None = None,
    density: float | None = None,
    sample: object = None,
    set_size: float | None = None,
) -> Rows:
    """The same where it is known which noise a counter has when there are so many rows."""
    records = checked_records(records)
    one, share = sketch.one_answer
    trial = one.with_rows(128)

    @cache
    def sampling(rows: int) -> float:
        tried = trials(one.with_rows(rows), records * share, density, sample, set_size)
        return root_mean_square([trial.absolute for trial in tried])

    noise = cache(noise_of)
    # Noise of a mean of rows: known for every size from one of them, so that no size but those tried needs its hashes.
    one_row = float(trial.noise_variance(1.0)) * trial.shape[0]
    counters = int(np.prod(sketch.with_rows(128).shape)) // trial.shape[0]
    facts = Trials(
        sampling,
        lambda rows: math.sqrt(noise(rows).variance * one_row / rows),
        lambda rows: file_bytes(counters * rows, noise(rows)),
        counters,
        records * share,
    )
    return best_rows(cast(GroupedSketch, one), records, facts)  # as it has rows


def file_bytes(counters: int, noise: NoiseScale) -> int:
    """The noise is most of what a counter holds, and noise does not compress: its entropy, and a fifth on top."""
    bits = max(1.0, 0.5 * math.log2(2.0 * math.pi * math.e * max(noise.variance, 0.1)))
    return 2_000 + int(1.2 * counters * bits / 8)


def seconds_to_make(sketch: LinearSketch, records: float, counters: int) -> float:
    """Rough time to make a release on two cores."""
    if in_groups(sketch):
        return building_seconds(sketch, records, counters)
    return sketch.shape[0] * records / 1.5e9 + counters * 1.5e-7
