"""How many random rows a sketch should have: as many as pay, within stated costs.

Under pure epsilon the noise of a mean of R rows grows with R while the sampling error falls: there is a best R (CCS
2021, Corollary 3.5). Under (epsilon, delta) the record's L2 sensitivity is sqrt(R), so the noise of the mean does not
depend on R, and rows are worth their cost for as long as they lower the sampling error.

Sampling errors are tried at sizes four times apart, and taken to be powers of R between them: in few dimensions rows
drawn together cover the space evenly and errors fall faster than the square root at first and, where directions are
drawn in blocks, with it later, so no single power would do from 128 rows to 128,000.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from ..errors import RequestError
from ..sketches.grouped import MAX_ROWS, GroupedSketch

TRIED = tuple(128 * 4**k for k in range(7))
"""Numbers of rows at which the sampling error is tried, as far as they are needed."""
ROWS_OFFERED = tuple(
    rows
    for decade in (50, 500, 5_000, 50_000, 500_000)
    for step in (1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0)
    if (rows := round(decade * step)) <= MAX_ROWS
)
WORTHWHILE = 1.05
"""Twice the rows must lower the error by this factor where nothing but their cost speaks against them."""
MOST_SECONDS = 60.0
"""Of building a release, on two cores."""
MOST_FILE_BYTES = 32_000_000
MOST_QUERY_SECONDS = 1e-3
"""Of one core, for one query among many."""
MOST_MEMORY = 1 << 30
"""Bytes that drawing the rows may take, half of what opening a file may."""
CORES = 2
"""For which times of building are stated."""
COUNTER_SECONDS = 1.5e-7
"""Of one core, for drawing a counter's noise and writing it down."""
FREE = 1 / 60
"""This share of every limit is no cost worth speaking of: a second, half a megabyte, some microseconds."""
FLAT = 1.01
"""An error within one per cent of the least is as good, at the least cost."""


@dataclass(frozen=True)
class Rows:
    """A number of rows, and why there are not more of them.

    Attributes
    ----------
    rows : int
        R.
    stopped_by : str
        "noise" where further rows would add noise, "gain" where they would hardly lower the error, and otherwise the
        cost that they would exceed: "time" of building, "file", "query" (time of one), "memory", or "limit", the most
        rows that any sketch may have.
    """

    rows: int
    stopped_by: str


@dataclass(frozen=True)
class Trials:
    """What the forecast knows about a sketch before its size is chosen.

    Attributes
    ----------
    sampling : Callable[[int], float]
        Relative sampling error with so many rows, root mean square.
    noise : Callable[[int], float]
        Standard deviation of an answer's noise with so many rows.
    file_bytes : Callable[[int], float]
        Size of the file with so many rows.
    counters : int
        Of one row, in all classes.
    answers : np.ndarray
        Typical answers.
    """

    sampling: Callable[[int], float]
    noise: Callable[[int], float]
    file_bytes: Callable[[int], float]
    counters: int
    answers: np.ndarray


def best_rows(sketch: GroupedSketch, records: float, trials: Trials) -> Rows:
    """The number of rows with the least forecast error, or from which on more are not worth their cost.

    Parameters
    ----------
    sketch : GroupedSketch
        With any number of rows or none.
    records : float
        A public guess of their number, in all classes.
    trials : Trials
        Errors and sizes of files by the number of rows.
    """
    sampling = cache(trials.sampling)
    tried = [rows for rows in TRIED if _resized(sketch, rows)] or TRIED[:1]
    errors: dict[int, float] = {}
    free = ROWS_OFFERED[0]
    for rows in ROWS_OFFERED:
        share, stopped_by = _dearest(sketch, rows, records, trials)
        if share > 1.0 and errors:
            return _worthwhile(errors, free, stopped_by)
        noise = trials.noise(rows) / trials.answers
        if errors and float(np.mean(noise)) > FLAT * min(errors.values()):
            return Rows(_flat(errors), "noise")
        errors[rows] = float(np.mean(np.hypot(between_trials(sampling, tried, rows), noise)))
        free = rows if share <= FREE else free
        if errors[rows] <= FLAT * float(np.mean(noise)):
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

    It falls with the square root of R or faster (`core.geometry.hashing.coverage`), and with the square root beyond the
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
