"""A sketch tried out on reference populations or a public sample: what rows or a grid add to the error of an answer.

Mechanisms are chosen by populations as close together as the kernel that is asked with suggests, too.

A bandwidth is public, and says on which scale records lie: whoever asks with it expects it to tell some of them from
others, neither all nor none. Bounds say the same only where records fill them. Pay, prices, counts and durations lie in
a small corner of bounds that hold everybody, and there a grid that is fine enough for the whole of the bounds may be
too coarse for everyone in it. Two shapes, each so close that two records average SEEN where the bounds leave room:

* *gathered*: log-normal columns at the lower bound, and many of the records exactly there in every column, as with
  gains, visits and other things that most people have none of; fewer where records of the usual spread are about as
  close already, as then the bandwidth fits the bounds and a corner of them is less likely;
* *heap*: one bell at a public random place.

On 68 settings of three to six columns (log-normal, exponential, beta, normal and public ones; Gaussian and Laplacian
kernels of .3 to 1.5 times the median distance), with two of five records at the bound always, the first choice was
within 1.3 times the best one's error in 97%, and at worst 2.5 times it; without the two in 90%, and at worst 5.2 times;
with one alone in 93% and 90%.
"""

import math
from dataclasses import replace
from functools import lru_cache, partial
from typing import cast

import numpy as np
from scipy.special import ndtri

from ...domain import Domain
from ...domain.item_sets import Encoded, Sets
from ...errors import RequestError
from ...geometry.kernels import Kernel, of_coordinates
from ...geometry.uniforms import PublicRandom
from ...privacy.budget import Budget
from ...sketches.adaptive import Adaptive
from ...sketches.grouped import GroupedSketch
from ...sketches.linear import LinearSketch
from ...sketches.minhash import MinHash
from ...sketches.plan import plan
from .one_trial import Trial, checked_density, grouped_trial, of_many_groups, plain_trial
from .public_records import OUTSKIRTS, PublicRecords, sampled_set_trial, sampled_trial
from .reference_population import (
    DEFAULT_SPREAD,
    QUERIES,
    REFERENCE_POINTS,
    SIZES,
    gathered_population,
    mean_closeness,
    placed_close,
    reference_population,
    reference_populations,
    reference_sets,
)

REFERENCE_QUERIES = 150
SET_TRIAL_ROWS = 400  # Rows that a trial on made-up sets draws, each a group of its own.
LEAST_SAMPLE = 200
# Of the skewed population, and how many of them are queries: one number is read off it, and it should cost little.
SKEWED_POINTS, SKEWED_QUERIES = 560, 60


def trials(
    sketch: LinearSketch,
    records: float,
    density: float | None = None,
    sample: object = None,
    set_size: float | None = None,
) -> tuple[Trial, ...]:
    """One trial on a public sample, or one on every kind of reference population.

    RequestError when a guess is out of range, or the sample is too small. `sketch`: of a settled size; the one that an
    answer is read off. `records`: A public guess of the number of records that the trials stand for. `density`,
    `sample`, `set_size`: see `core.releases.forecast.forecast.forecast`.
    """
    if isinstance(sample, PublicRecords):
        return (sample.trial(sketch, lambda: _on_sample(sketch, encoded(sketch, sample))).of(records),)
    known = None if sample is None else encoded(sketch, sample)
    if sketch.domain.holds_sets:
        tried = _set_trials(cast(MinHash, sketch), density, known, records, set_size)
    elif known is None:
        if sketch.answers == "closeness":
            checked_density(density)
        tried = _reference_trials(sketch.reseeded(0), None if density is None else float(f"{density:.3g}"))
    else:
        tried = (_on_sample(sketch, known),)
    return tuple(trial.of(records, density if sample is None else None) for trial in tried)


def _on_sample(sketch: LinearSketch, known: np.ndarray) -> Trial:
    check_sample(known)
    return sampled_trial(sketch, known[: 4 * REFERENCE_POINTS])


def kernel_of(sketch: LinearSketch | Adaptive) -> Kernel | None:
    """What closeness is to a sketch; None for sums of distances."""
    return getattr(sketch, "kernel", None)


def encoded(sketch: LinearSketch | Adaptive, sample: object) -> Encoded:
    """A public sample as the sketch reads records; one that is encoded already stays as it is.

    RequestError when an array cannot be encoded records, as most of it lies beyond the bounds of every record.
    """
    if isinstance(sample, Sets):
        return sample
    if isinstance(sample, PublicRecords):
        return sample.encoded(sketch.domain, sketch.metric)
    if not isinstance(sample, np.ndarray):
        return sketch.domain.encode_queries(sample, sketch.metric)
    low, high = sketch.domain.bounds(sketch.metric)
    if sample.ndim != 2 or sample.shape[1] != len(low) or np.mean((sample >= low) & (sample <= high)) < 0.5:
        raise RequestError(
            "A public sample that is an array must hold encoded records, which lie within the encoded bounds; values "
            "as they were measured are given as a table with named columns."
        )
    return sample


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


@lru_cache(maxsize=256)
def _reference_trials(sketch: LinearSketch, density: float | None) -> tuple[Trial, ...]:
    """Cached, as the app asks again at every move of a slider; arguments are public, and so is the answer."""
    return tried_on(sketch, _populations(sketch.domain, sketch.metric, kernel_of(sketch), density))


# Kept for the several sizes of a sketch that are tried on them.
_populations = lru_cache(maxsize=4)(reference_populations)


def skewed_trial(sketch: LinearSketch, records: float) -> Trial | None:
    """A trial on records at one end of their bounds, for a forecast that knows nothing of how records lie.

    Sizes are not made for them: what that gains there, records in the middle of the bounds lose. None for
    sets, and for grids of closeness, whose error is that of the worst crowd that they are tried on already.
    """
    if sketch.domain.holds_sets or (sketch.answers == "closeness" and not sketch.in_groups):
        return None
    return _skewed_trial(sketch.reseeded(0)).of(records)


@lru_cache(maxsize=64)
def _skewed_trial(sketch: LinearSketch) -> Trial:
    """Cached, as the others are."""
    points = _gathered(sketch.domain, sketch.metric)[:SKEWED_POINTS]
    return tried_on(sketch, (points,), SKEWED_QUERIES)[0]


_gathered = lru_cache(maxsize=4)(gathered_population)


def tried_on(
    sketch: LinearSketch, populations: tuple[np.ndarray, ...], asked: int = REFERENCE_QUERIES
) -> tuple[Trial, ...]:
    """Trials on several populations of public points, of each of which the first so many are queries."""
    parts = [queries_and_records(sketch, points, asked) for points in populations]
    if not sketch.in_groups:
        return tuple(plain_trial(sketch, *part) for part in parts)
    grouped = cast(GroupedSketch, sketch)
    trial = of_many_groups(grouped)
    return tuple(grouped_trial(grouped, trial, *part) for part in parts)


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
        return (sampled_set_trial(sketch, trial, sample),)
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


SEEN = 0.3  # Average closeness of two records, where bounds leave room for as little.
# Share of the gathered records that lie at the lower bound in every column, and where the bandwidth fits the bounds.
# The more there are, the less often a histogram is put first that a kernel with a peak would make wrong there, and the
# more ordinary records pay for it.
NONE, FEWER = 0.4, 0.25
FITTING = 0.2  # Average closeness of two records of the usual spread from which on the bandwidth fits the bounds.
WIDEST_MEDIAN = 0.1  # Median of the others, in shares of the bounds, at most.
ROOM = 0.15  # Share of the bounds at either end that the middle of a heap keeps away from.


def close_errors(sketch: LinearSketch, budget: Budget, records: float) -> tuple[float, ...]:
    """Errors of a sum, root mean square, on both populations; none where closeness of points is not what is asked.

    `sketch`: of a settled size. `records`: how many there are, in all classes.
    """
    one, share = sketch.one_answer
    if one.domain.holds_sets or one.answers != "closeness" or not one.linear_decode:
        return ()
    variance, summed = plan(sketch, budget).noise.variance, records * share
    tried = [trial.of(summed) for trial in _trials(one.reseeded(0))]
    noises = [variance * float(np.mean(trial.gains)) for trial in tried]
    return tuple(
        math.hypot(trial.absolute * summed, math.sqrt(noise)) for trial, noise in zip(tried, noises, strict=True)
    )


@lru_cache(maxsize=64)
def _trials(sketch: LinearSketch) -> tuple[Trial, ...]:
    """Cached, as the app asks again at every move of a slider; arguments are public, and so is the answer."""
    kernel = kernel_of(sketch)
    if kernel is None:
        return ()
    populations = _close_populations(sketch.domain, sketch.metric, kernel)
    return tried_on(sketch, tuple(points[:SKEWED_POINTS] for points in populations), SKEWED_QUERIES)


@lru_cache(maxsize=4)
def _close_populations(domain: Domain, metric: str, kernel: Kernel) -> tuple[np.ndarray, ...]:
    """Public random points of both shapes, float64 (REFERENCE_POINTS, d) each, inside the bounds."""
    dimensions = domain.dimensions
    closeness = of_coordinates(kernel, domain.widths)
    usual = reference_population(domain, metric, kernel, None)
    none = FEWER if mean_closeness(closeness, usual) >= FITTING else NONE
    middle = ROOM + (1.0 - 2.0 * ROOM) * PublicRandom(0, 42, dimensions).uniforms(dimensions)
    return (
        placed_close(domain, metric, kernel, SEEN, partial(_at_the_bound, none), np.zeros(dimensions)),
        placed_close(domain, metric, kernel, SEEN, _heap, middle),
    )


def _at_the_bound(none: float, dimensions: int) -> np.ndarray:
    """In standard deviations of the usual spread from the lower bound."""
    random = PublicRandom(0, 41, dimensions)
    some = np.exp(ndtri(random.uniforms(REFERENCE_POINTS, dimensions))) * WIDEST_MEDIAN / DEFAULT_SPREAD
    return np.where(random.uniforms(REFERENCE_POINTS)[:, None] < none, 0.0, some)


def _heap(dimensions: int) -> np.ndarray:
    """In standard deviations of the usual spread from its middle."""
    return ndtri(PublicRandom(0, 43, dimensions).uniforms(REFERENCE_POINTS, dimensions))
