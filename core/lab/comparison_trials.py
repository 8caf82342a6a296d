"""Trials: the real mechanism on public data, with noise that can be repeated, and how far off it was."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import lru_cache
from time import perf_counter
from typing import cast
from weakref import WeakKeyDictionary

import numpy as np

from ..privacy.budget import Budget
from ..privacy.noise.randomness import SeededSource
from ..releases.engine.building import ExactTable, check_room
from ..releases.forecast.sketch_sizes import choose_size
from ..releases.job import release
from ..releases.release import Release
from ..releases.seal import seal
from ..sketches.adaptive import Adaptive
from ..sketches.linear import LinearSketch
from .comparison_methods import Method
from .comparison_plan import Trial
from .public_data import PublicData

__all__ = ["Trial", "released", "released_functions", "run_trial"]

UPPER = 95.0  # Percentile of the relative errors beside their mean.
# Exact tables that are remembered, and bytes of the largest: under another ε, the same hashes give the same sums.
MOST_KEPT, LARGEST_KEPT = 32, 1 << 21


def run_trial(
    data: PublicData, method: Method, size: int | None, budget: Budget, repetition: int, tuning: bool = False
) -> Trial:
    """Release, save, ask every held-out query, and compare with the truth.

    `size`: of the method; None leaves it to public facts, as in a private release.
    """
    made = _make(data, method, size, budget, repetition, tuning)
    start = perf_counter()
    answers = made.release.answer_points(data.queries).estimate
    seconds_query = made.first_asked((perf_counter() - start) / len(data.queries))
    errors = np.abs(answers - data.truth) / data.truth
    error_l2 = None
    if data.grid is not None and data.grid_truth is not None:
        error_l2 = _l2_error(made.release.estimates_at(data.grid), data.grid_truth)
    return Trial(
        method.card.name,
        size,
        float(budget.epsilon),
        float(budget.delta),
        repetition,
        tuning,
        float(errors.mean()),
        float(np.percentile(errors, UPPER)),
        error_l2,
        made.seconds,
        made.seconds_noise,
        seconds_query,
        len(made.release.to_bytes(teaching=True)),
    )


def released(data: PublicData, method: Method, size: int | None, budget: Budget, repetition: int = 0) -> Release:
    """The release of a trial, to draw what it says; its noise can be repeated, so it does not call itself private."""
    return _make(data, method, size, budget, repetition, False).release


def released_functions(
    data: PublicData, method: Method, size: int | None, budget: Budget, points: np.ndarray, draws: int
) -> np.ndarray:
    """What several releases say at encoded points, float64 (draws, points): the same hashes, noise drawn anew."""
    sketch = method.build(data.domain, data.question, budget, size, _seed("hashes", method.card.name, 0, False))
    if sketch.chooses:
        several = (released(data, method, size, budget, draw) for draw in range(draws))
        return np.stack([one.estimates_at(points) for one in several])
    if not sketch.sized:
        sketch = cast(LinearSketch, _sized(sketch, budget, len(data.records)))
    filled = _filled(sketch, data)
    sketch, table = filled.sketch, filled.exact
    sources = (SeededSource(_seed("noise", method.card.name, size, budget, draw, False)) for draw in range(draws))
    return np.stack([seal(sketch, table.copy(), budget, noise_source=one).estimates_at(points) for one in sources])


@dataclass(eq=False)
class _Filled:
    """A sketch with the exact sums of the records, and how long they took the first time; ``asked`` once known."""

    sketch: LinearSketch
    exact: ExactTable
    seconds: float
    asked: float | None = None


@dataclass(frozen=True)
class _Made:
    """A release and how long it took."""

    release: Release
    seconds: float
    seconds_noise: float
    filled: _Filled | None = None

    def first_asked(self, seconds: float) -> float:
        """Seconds for a question to the first release of these sums: whoever asks another finds some work done."""
        if self.filled is None:
            return seconds
        if self.filled.asked is None:
            self.filled.asked = seconds
        return self.filled.asked


def _make(data: PublicData, method: Method, size: int | None, budget: Budget, repetition: int, tuning: bool) -> _Made:
    noise = SeededSource(_seed("noise", method.card.name, size, budget, repetition, tuning))
    built = method.build(
        data.domain, data.question, budget, size, _seed("hashes", method.card.name, repetition, tuning)
    )
    if not built.sized:
        built = _sized(_first_equal(built), budget, len(data.records))
    if built.chooses:
        frame = data.domain.decode_points(data.records, data.metric)
        start = perf_counter()
        once = release(built, frame, budget, noise_source=noise, records=len(data.records))
        return _Made(once, perf_counter() - start, 0.0)
    filled = _filled(built, data)
    start = perf_counter()
    made = seal(filled.sketch, filled.exact.copy(), budget, noise_source=noise)
    seconds = perf_counter() - start
    return _Made(made, filled.seconds + seconds, seconds, filled)


@lru_cache(maxsize=16)
def _first_equal(sketch: LinearSketch | Adaptive) -> LinearSketch | Adaptive:
    """The first sketch that equals this one, as it may remember what it worked out for its sizes."""
    return sketch


@lru_cache(maxsize=64)
def _sized(sketch: LinearSketch | Adaptive, budget: Budget, records: int) -> LinearSketch | Adaptive:
    """A sketch with the size that public facts choose; the number of records is taken as known."""
    return choose_size(sketch, budget, records)


def _filled(sketch: LinearSketch, data: PublicData) -> _Filled:
    check_room(sketch, len(data.records))
    if math.prod(sketch.shape) * np.dtype(np.int64).itemsize > LARGEST_KEPT:
        return _fill(sketch, data)
    known = _remembered.setdefault(data, {})
    filled = known.get(sketch) or _fill(sketch, data)
    known[sketch] = filled
    while len(known) > MOST_KEPT:
        known.pop(next(iter(known)), None)
    return filled


def _fill(sketch: LinearSketch, data: PublicData) -> _Filled:
    start = perf_counter()
    table = sketch.zeros()
    sketch.add(table, data.records)
    exact = ExactTable(table, np.asarray(sketch.count(data.records)))
    return _Filled(sketch, exact, perf_counter() - start)


# Exact sums of records, which may only be kept because these are public, and no longer than the records are: a
# visitor's file, and what was summed of it, go with the visitor's session.
_remembered: WeakKeyDictionary[PublicData, dict[LinearSketch, _Filled]] = WeakKeyDictionary()


def _l2_error(answers: np.ndarray, truth: np.ndarray) -> float:
    """The L2 norm of a difference by the trapezoidal rule on the even grid, relative to that of the exact function."""
    return float(np.sqrt(np.trapezoid((answers - truth) ** 2) / np.trapezoid(truth**2)))


def _seed(*facts: object) -> int:
    """A seed of 128 bits that belongs to these facts alone."""
    return int.from_bytes(hashlib.sha256(repr(facts).encode()).digest()[:16])
