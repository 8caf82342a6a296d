"""The experiments of "Efficiently Computing Similarities to Private Datasets" (ICLR 2024), against its own algorithms.

The paper's figures are curves without numbers, so its algorithms run here beside ours (`core.lab.published`):
distance sums (section 11.1), kernel sums of embeddings with and without a projection (11.2), and smooth kernels
(section 8). Classification by average distance (11.3) is `embeddings_classifier`. Errors are relative errors of sums,
one for every draw of points, hashes and noise; all of them count. Each experiment alone, at more sizes:
`distance_sums`, `projected_kernels`, `smooth_kernels`, `nearest_mean` and `classification`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from core.domain import Domain, Vector
from core.geometry.kernels import Gaussian, SmoothSquared
from core.lab.published.dyadic_trees import IntervalTree
from core.lab.published.exponential_sum import ExponentialSum
from core.privacy.budget import Budget
from core.sketches.distance import Distance
from core.sketches.features import Features
from core.sketches.linear import LinearSketch
from core.sketches.projected import Projected

from .distance_sums import LINE, POPULATIONS, RECORDS, repeated
from .measuring import ERROR, Comparison, Rival, Settings
from .smooth_kernels import errors, kernel_sums
from .timing import in_turn

BUDGET = Budget(1)
ROWS = 400
PROJECTED = 256


def run(settings: Settings) -> Iterator[Comparison]:
    """Errors of distance sums and of smooth kernels, times of projections and of distance sums."""
    yield _distance_errors(settings)
    yield from _distance_times(settings)
    yield _smooth_errors(settings)
    yield from _projections(settings)


def _distance_errors(settings: Settings) -> Comparison:
    """1000 uniform points, 41 questions."""
    sketches = {
        "Frostglass": Distance(LINE),
        "the paper's algorithms 1–3, α = 0.1": IntervalTree(LINE, 0.1),
        "the paper's algorithms 1–3, α = 0.5": IntervalTree(LINE, 0.5),
    }
    draws = settings.repeats(40)
    found = {
        name: tuple(repeated(sketch, BUDGET, POPULATIONS["uniform"], draws)[0]) for name, sketch in sketches.items()
    }
    return _compared(f"sums of distances of {RECORDS:,} points in [0, 1], ε = 1: error", found, ERROR)


def _distance_times(settings: Settings) -> Iterator[Comparison]:
    """The same sketches on many points: filling, and asking."""
    records, asked = settings.size(1_000_000, 10_000), settings.size(10_000, 500)
    random = np.random.default_rng(1)
    points, queries = (np.asfortranarray(random.random((count, 1))) for count in (records, asked))
    ours, theirs = Distance(LINE).sized_for(BUDGET, records), IntervalTree(LINE, 0.1).sized_for(BUDGET, records)
    yield _timed(
        f"sums of distances: fill with {records:,} points",
        {"Frostglass": _filled(ours, points), "the paper's algorithms 1–3, α = 0.1": _filled(theirs, points)},
        settings,
    )
    ways = {"Frostglass": _asked(ours, points, queries), "the paper's, α = 0.1": _asked(theirs, points, queries)}
    yield _timed(f"sums of distances: {asked:,} questions", ways, settings)


def _smooth_errors(settings: Settings) -> Comparison:
    """1/(1 + |x - y|²) in eight dimensions, at the same budget and rows."""
    records = np.random.default_rng(2).normal(size=(settings.size(20_000, 1_000), 8)).clip(-4, 4)
    domain = Domain.of(**{f"c{number}": (-4, 4) for number in range(8)})
    kernel = SmoothSquared(2.0)
    points = domain.encode_queries(records, kernel.metric)
    queries = np.asfortranarray(points[:200])
    exact = kernel_sums(domain, kernel, queries, points)
    sketches = {
        "Frostglass": Features(domain, kernel, rows=ROWS, seed=0),
        "the paper's sum of exponentials": ExponentialSum(domain, kernel, rows=ROWS, seed=0),
    }
    draws = settings.repeats(12)
    found = {
        name: tuple(errors(sketch, points, queries, exact, [BUDGET], draws)[:, 1].tolist())
        for name, sketch in sketches.items()
    }
    return _compared(f"sums of 1/(1 + |x − y|²), {len(records):,} × 8, R = {ROWS}, ε = 1: error", found, ERROR)


def _projections(settings: Settings) -> Iterator[Comparison]:
    """Gaussian kernel sums of embeddings of 2048 numbers, as many as a class of CIFAR-10 has, by random features."""
    records, asked, source = settings.size(5_000, 500), settings.size(1_000, 100), settings.size(2048, 512)
    random = np.random.default_rng(3)
    vectors = random.normal(size=(records + asked, source)) + 2.0 * random.normal(size=source)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    points, queries = (np.asfortranarray(part) for part in (vectors[:records], vectors[records:]))
    domain, kernel = Domain((Vector("vector", source, -1.0, 1.0),)), Gaussian(0.5)
    short = Projected.of(domain, kernel, Features, PROJECTED, kind="fast", radius=1.0, rows=ROWS, seed=1)
    whole = Features(domain, kernel, rows=ROWS, seed=1)
    ways = {"Frostglass": _filled(short, points), "without a projection": _filled(whole, points)}
    yield _timed(f"fill with {records:,} × {source}, projected to {PROJECTED}", ways, settings)
    ways = {"Frostglass": _asked(short, points, queries), "without a projection": _asked(whole, points, queries)}
    yield _timed(f"{asked:,} questions of {source} numbers, projected to {PROJECTED}", ways, settings)


def _filled(sketch: LinearSketch, points: np.ndarray) -> Callable[[], None]:
    return lambda: sketch.add(sketch.zeros(), points)


def _asked(sketch: LinearSketch, points: np.ndarray, queries: np.ndarray) -> Callable[[], object]:
    table = sketch.zeros()
    sketch.add(table, points)
    return lambda: sketch.answer(table, len(points), queries, 1.0, 0.95)


def _timed(work: str, ways: dict[str, Callable], settings: Settings) -> Comparison:
    return _compared(work, in_turn(ways, settings.repeats(5)))


def _compared(work: str, found: dict[str, tuple[float, ...]], unit: str = "seconds") -> Comparison:
    """The first is ours."""
    ours, *others = found.items()
    return Comparison(work, ours[1], unit, rivals=tuple(Rival(*pair) for pair in others))
