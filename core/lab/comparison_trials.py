"""Trials: the real mechanism on public data, with noise that can be repeated, and how far off it was.

Public data, with the exact answers to some questions about it, is the only data that errors are ever measured on. It
comes from the bundled samples or from a file that its user says is public. Private data is never compared: an error
against the truth, and a setting that was chosen by it, would tell about the records.

*Kernel sums* (`kernel_sums`) are exact, or of as many random records as a stated error needs. Records are drawn without
replacement, more and more of them, until the error is small enough at every question or all are drawn, and the sum is
exact; so it never takes longer than that by more than the shuffling. With m of n drawn, kernel values between 0 and 1,
their mean y and deviation s, Bardenet and Maillard 2015 ("Concentration inequalities for sampling without replacement",
Theorem 4.3, the empirical Bernstein-Serfling inequality) have with probability 1 - 5 δ

    mean of all - y <= s √(2 r L / m) + k L / m,   L = ln(1/δ),  k = 7/3 + 3/√2,

r = 1 - (m-1)/n up to m = n/2 and (1 - m/n) (1 + 1/m) beyond, and the same the other way round. Over both ways, all
questions and all looks it holds with probability 1 - `CHANCE`, if δ is a tenth of that over their numbers.

*Fewer dimensions* (Backurs, Lin, Mahabadi, Silwal, Tarnawski 2024, section 10) would have to be about ln(1/a)/a² for
an error of a times the number of records: 1,200 for a = 1/20, and nothing that is compared here has as many.
"""

import hashlib
import math
from dataclasses import dataclass, replace
from functools import lru_cache
from time import perf_counter
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np

from ..domain import Domain
from ..errors import RequestError
from ..geometry.kernels import Kernel, of_coordinates
from ..privacy.budget import EACH_RECORD, Budget
from ..privacy.noise.randomness import SeededSource
from ..releases.engine.building import ExactTable, check_room
from ..releases.forecast.recommendation import Closeness, Distances
from ..releases.forecast.sketch_sizes import choose_size
from ..releases.job import release
from ..releases.release import Release
from ..releases.seal import seal
from ..runtime.counter_tables import Floats
from ..sketches.adaptive import Adaptive
from ..sketches.linear import LinearSketch
from ..sketches.registry import distance
from ..sources import open_source
from ..sources.public_tables import Sample
from .comparison_plan import Method, Trial

MOST_RECORDS = 50_000
QUERIES = 300
GRID_POINTS = 200  # Places of the even grid on which functions of one column are compared (CCS 2021, section 5.2).
# Queries whose exact sum is below this share of the average are left out: a relative error means little there.
OUTSKIRTS = 0.03
FEWEST_RECORDS = 50
CHANCE = 1e-9  # That any sum of one call is further off than was stated.
FIRST = 1 << 13  # Records that are looked at first, and half as many as next.
BLOCK = 1 << 20  # Pairs of question and record whose closeness is in memory at once.
FACTOR = 7.0 / 3.0 + 3.0 / math.sqrt(2.0)


@dataclass(frozen=True, eq=False)
class PublicData:
    """Encoded public records, questions that were held out of them, and the exact answers."""

    title: str
    domain: Domain
    question: Closeness | Distances
    records: np.ndarray  # float64 (n, dimensions), in Fortran order.
    # float64 (m, dimensions) and the exact sums over the records, (m,).
    queries: np.ndarray
    truth: np.ndarray
    # Of one numeric column, evenly spread points (k, 1) and the exact sums there; else None.
    grid: np.ndarray | None
    grid_truth: np.ndarray | None
    left_out: int  # Held-out queries that were dropped as almost nobody is near them.

    @property
    def metric(self) -> str:
        """The metric in which the records are encoded."""
        return metric_of(self.question)


def metric_of(question: Closeness | Distances) -> str:
    if isinstance(question, Closeness):
        return question.kernel.metric
    return "l2" if question.norm in ("l2", "squared") else "l1"


def of_points(
    title: str,
    domain: Domain,
    question: Closeness | Distances,
    points: np.ndarray,
    *,
    records: int | None = MOST_RECORDS,
    queries: int = QUERIES,
    seed: int = 0,
    span: tuple[float, float] | None = None,
) -> PublicData:
    """Public data from encoded points: shuffled, some held out as queries, and the exact sums over the others.

    `points`: float64 (n, dimensions), encoded in the metric of the question. `records`: most that are kept; None keeps
    all. `queries`: most that are held out; a tenth of the points at most. `span`: Ends of the grid, in encoded units;
    the bounds when None.
    """
    if len(points) < FEWEST_RECORDS:
        raise RequestError(f"A comparison needs at least {FEWEST_RECORDS} public records, and there are {len(points)}.")
    domain = replace(domain, unit=EACH_RECORD)
    order = np.random.default_rng(seed).permutation(len(points))
    held_out = min(queries, len(points) // 10)
    last = None if records is None else held_out + records
    asked, kept = (np.asfortranarray(points[part]) for part in (order[:held_out], order[held_out:last]))
    truth = exact_sums(domain, question, asked, kept)
    inhabited = truth >= OUTSKIRTS * truth.mean()
    grid = _grid(domain, metric_of(question), span)
    return PublicData(
        title,
        domain,
        question,
        kept,
        np.asfortranarray(asked[inhabited]),
        truth[inhabited],
        grid,
        None if grid is None else exact_sums(domain, question, grid, kept),
        int((~inhabited).sum()),
    )


def from_sample(sample: Sample, question: Closeness | Distances | None = None, **how: Any) -> PublicData:
    """Public data from a bundled sample; without a question, its own kernel. See `of_points` for ``how``."""
    return from_file(sample.path, sample.domain, question or Closeness(sample.kernel), title=sample.title, **how)


def from_file(
    data: object, domain: Domain, question: Closeness | Distances, *, title: str = "Public data", **how: Any
) -> PublicData:
    """Public data from whatever `core.sources.open_source` opens; see `of_points` for ``how``.

    Every record counts by itself, also where the domain says that a person has several. RequestError when it cannot be
    read, holds sets, or has too few records.
    """
    domain.check_coordinates()
    domain = replace(domain, unit=EACH_RECORD)
    metric = metric_of(question)
    parts = [domain.encode(batch, metric) for batch in open_source(data).batches(domain)]
    points = np.concatenate(parts) if parts else np.empty((0, domain.dimensions))
    return of_points(title, domain, question, points, **how)


def exact_sums(domain: Domain, question: Closeness | Distances, queries: np.ndarray, records: np.ndarray) -> np.ndarray:
    """The exact sums, float64 (m,), at encoded queries over encoded records, in blocks of records."""
    if isinstance(question, Closeness):
        return kernel_sums(of_coordinates(question.kernel, domain.widths), queries, records)
    sketch = distance(domain, question.norm, radius=question.radius, seed=0)
    step = max(1, BLOCK // max(1, len(queries)))
    starts = range(0, len(records), step)
    return sum((sketch.exact(queries, records[first : first + step]) for first in starts), np.zeros(len(queries)))


def kernel_sums(kernel: Kernel, queries: Floats, records: Floats, error: float = 0.0, seed: int = 0) -> Floats:
    """The sum of a kernel over records at every query, float64 (m,).

    `queries`, `records`: float64 (m, d) and (n, d). `error`: How far a sum may be off, as a share of n; 0 is exact.
    `seed`: Which records are drawn.
    """
    total, sums, squares, drawn = len(records), np.zeros(len(queries)), np.zeros(len(queries)), 0
    order = np.random.default_rng(seed).permutation(total) if error else None
    looks = max(1, math.ceil(math.log2(max(total, 1) / FIRST))) + 1
    log = math.log(10.0 * max(len(queries), 1) * looks / CHANCE)
    step = max(1, BLOCK // max(1, len(queries)))
    for end in [*(FIRST << look for look in range(looks) if error and FIRST << look < total), total]:
        for first in range(drawn, end, step):
            place = slice(first, min(first + step, end))
            values = kernel.evaluate(queries, records[place] if order is None else records[order[place]])
            sums += values.sum(axis=1)
            squares += (values**2).sum(axis=1) if error else 0.0
        drawn = end
        if error and drawn < total and _bound(sums, squares, drawn, total, log) <= error:
            break
    return sums * (total / max(drawn, 1))


def _bound(sums: Floats, squares: Floats, drawn: int, total: int, log: float) -> float:
    """How far the mean of what was drawn is from that of all, at the worst question."""
    mean = sums / drawn
    variance = np.maximum(squares / drawn - mean**2, 0.0).max()
    left = 1.0 - (drawn - 1) / total if 2 * drawn <= total else (1.0 - drawn / total) * (1.0 + 1.0 / drawn)
    return float(math.sqrt(2.0 * variance * left * log / drawn) + FACTOR * log / drawn)


def _grid(domain: Domain, metric: str, span: tuple[float, float] | None) -> np.ndarray | None:
    if domain.dimensions != 1 or not domain.numeric_only:
        return None
    low, high = (float(end[0]) for end in domain.bounds(metric)) if span is None else span
    return np.linspace(low, high, GRID_POINTS)[:, None]


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
