"""How good a release will be, from public facts alone, before anything is spent.

The noise part of the error is exact: its variance follows from the budget. The sampling part depends on how the
records lie, which nobody may look at. So the sketch itself, with fresh public seeds, is tried on a *reference
population*: public random points whose average closeness is the stated one and whose shape is that of ordinary data
(one long axis, thinner ones across it, some stragglers). Its thickness was set so that sampling errors on six public
data sets of one to eight dimensions come out right on average. A public sample, where there is one, takes the place of
the reference population and makes the forecast sharp.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri

from .domain import Domain
from .errors import RequestError
from .hashing.uniforms import PublicRandom
from .kernels import Angular, Kernel, Mixture, Product, coordinate_bandwidths, of_coordinates
from .privacy.budget import Budget
from .privacy.calibration import NoiseScale, calibrate
from .privacy.neighbours import Neighbours
from .releases import plan
from .sketches.linear import LinearSketch

REFERENCE_POINTS = 1_500
REFERENCE_QUERIES = 150
TRIAL_ROWS, LEAST_GROUPS, MOST_GROUPS = 12_000, 24, 200
"""Rows and groups of rows that a trial draws: more make a steadier forecast, fewer a quicker one."""
STRAGGLER_DEGREES = 6.0
LEAST_THICKNESS = {True: 0.05, False: 0.2}
"""Thickness across the longest axis, in up to three dimensions and above."""
DEFAULT_SPREAD = 1.0 / 6.0
"""Standard deviation along the longest axis, in shares of the bounds, when no density is stated."""
DEFAULT_RECORDS = 10_000
LARGEST_SIMULATED = 600_000
"""Hash coefficients that a trial may draw; larger groups of rows are tried small and scaled."""
RESAMPLES = 200
OUTSKIRTS = 0.03
"""Reference queries below this share of the average density are left out: a relative error means little there."""
MEAN_TO_RMS = math.sqrt(2.0 / math.pi)
ROWS_OFFERED = (50, 70, 100, 140, 200, 280, 400, 560, 800, 1000, 1400, 2000, 2800, 4000, 5600, 8000)
COUNTERS_OFFERED = 4_000_000
"""Automatic sizes stop at tables of about this many counters, so that files stay small."""


@dataclass(frozen=True)
class Forecast:
    """What to expect of a release; errors are standard deviations of a kernel sum unless said otherwise.

    Attributes
    ----------
    rows, columns : size of the table.
    records : the public guess of their number.
    density : average closeness of two records, between 0 and 1, stated or assumed.
    estimate : a typical answer, density times records.
    noise_error, sampling_error, standard_error : from privacy noise, from the choice of hashes, from both.
    relative_error : expected |error| / answer, averaged over places where records are.
    low, high : a band that holds 95% of typical answers.
    empty_below : kernel sums below this cannot be told from zero (95%, one-sided).
    records_error : standard deviation of the released number of records; 0 when it is public.
    file_bytes, seconds : rough size of the file and time to make it on two cores.
    """

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
    """Relative sampling error (root mean square) of a sketch, and the reference's densities at its queries."""

    error: float
    densities: tuple[float, ...]


def forecast(
    sketch: LinearSketch,
    budget: Budget,
    records: float | None = None,
    density: float | None = None,
    sample: np.ndarray | None = None,
) -> Forecast:
    """Forecast the error of a release.

    Parameters
    ----------
    sketch : with or without a number of rows; without, `choose_rows` gives it one.
    budget : the promise.
    records : a public guess of their number, 10,000 when None.
    density : a public guess of the average closeness of two records, 0 to 1; when None, the reference population
        spreads over a sixth of the bounds.
    sample : encoded public points, float64 (n, dimensions), at least 200, that lie as the private ones are thought to;
        takes the place of ``density``.

    Raises
    ------
    RequestError
        When a guess is out of range.
    """
    records = _checked_records(records)
    if getattr(sketch, "rows", 1) is None:
        sketch = sketch.with_rows(choose_rows(sketch, budget, records, density, sample))
    planned = plan(sketch, budget)
    sampling = _sampling_error(sketch, density, sample)
    noise_variance = sketch.noise_variance(planned.noise.variance)
    densities = _scaled_to(density, sampling.densities)
    answers = records * densities
    typical = float(densities.mean())
    estimate = records * typical
    sampling_error = sampling.error * estimate
    standard_error = math.hypot(sampling_error, math.sqrt(noise_variance))
    if planned.counts:
        records_error = 0.0 if planned.count_noise is None else math.sqrt(planned.count_noise.variance)
    else:
        records_error = math.sqrt(sketch.total_variance(planned.noise.variance))
    counters = int(np.prod(sketch.shape))
    return Forecast(
        sketch.shape[0],
        sketch.shape[-1],
        records,
        typical,
        estimate,
        math.sqrt(noise_variance),
        sampling_error,
        standard_error,
        float(np.mean(MEAN_TO_RMS * np.hypot(sampling.error, math.sqrt(noise_variance) / answers))),
        max(0.0, estimate - 1.96 * standard_error),
        estimate + 1.96 * standard_error,
        1.645 * math.sqrt(noise_variance),
        records_error,
        _file_bytes(counters, planned.noise),
        0.2 + sketch.shape[0] * records / 1.5e9 + counters * 1.5e-7,
    )


def choose_rows(
    sketch: LinearSketch,
    budget: Budget,
    records: float | None = None,
    density: float | None = None,
    sample: np.ndarray | None = None,
) -> int:
    """The number of rows with the least forecast error, from public facts alone.

    Under pure epsilon the noise of a mean of R rows has variance 2 R / epsilon^2, which grows with R while the sampling
    error falls: there is a best R (CCS 2021, Corollary 3.5). Under (epsilon, delta) the noise does not depend on R, and
    rows are added until sampling matters little beside it, or the table gets too large.
    """
    records = _checked_records(records)
    trial = sketch.with_rows(128)
    small, large = (_sampling_error(resized, density, sample) for resized in (trial, sketch.with_rows(512)))
    # Sampling errors fall like a power of R between the square root and, with even coverage, a little faster.
    power = min(max(math.log(small.error / large.error) / math.log(4.0), 0.5), 0.75)
    answers = records * _scaled_to(density, large.densities)
    # Noise of a mean of rows: known for every size from one of them, so that no size but two needs its hashes drawn.
    one_row = trial.noise_variance(1.0) * trial.shape[0]
    promise = Fraction(budget.epsilon), Fraction(budget.delta)

    def error(rows: int) -> float:
        noise = calibrate(sketch.with_rows(rows).sensitivity(budget.neighbours), *promise)
        relative_noise = math.sqrt(noise.variance * one_row / rows) / answers
        return float(np.mean(np.hypot(large.error * (512 / rows) ** power, relative_noise)))

    width = trial.shape[-1]
    offered = [rows for rows in ROWS_OFFERED if rows * width <= COUNTERS_OFFERED] or [ROWS_OFFERED[0]]
    errors = [error(rows) for rows in offered]
    # The curve is flat near its least: take the smallest table that is within one per cent of the best.
    return next(rows for rows, value in zip(offered, errors, strict=True) if value <= 1.01 * min(errors))


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


def _checked_records(records: float | None) -> float:
    if records is None:
        return float(DEFAULT_RECORDS)
    if not 1 <= records <= 1e15:
        raise RequestError("The guess of the number of records must lie between 1 and 1e15.")
    return float(records)


def _file_bytes(counters: int, noise: NoiseScale) -> int:
    """The noise is most of what a counter holds, and noise does not compress: its entropy, and a fifth on top."""
    bits = max(1.0, 0.5 * math.log2(2.0 * math.pi * math.e * max(noise.variance, 0.1)))
    return 2_000 + int(1.2 * counters * bits / 8)


def _sampling_error(sketch: LinearSketch, density: float | None, sample: np.ndarray | None) -> _Sampling:
    if sample is None:
        if density is not None and not 0.0 < density < 1.0:
            raise RequestError("The density level must lie strictly between 0 and 1: the average closeness of records.")
        return _reference_error(replace(sketch, seed=0), None if density is None else float(f"{density:.3g}"))
    if len(sample) < 200:
        raise RequestError("A public sample needs at least 200 points to forecast from.")
    return _simulate(sketch, *_queries_and_records(sketch.point_kernel, sample[: 4 * REFERENCE_POINTS]))


@lru_cache(maxsize=256)
def _reference_error(sketch: LinearSketch, density: float | None) -> _Sampling:
    """Cached, as the app asks again at every move of a slider; arguments are public, and so is the answer."""
    return _simulate(sketch, *_reference(sketch.domain, sketch.kernel, sketch.point_kernel, density))


@lru_cache(maxsize=4)
def _reference(
    domain: Domain, kernel: Kernel, point_kernel: Kernel, density: float | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The reference population, split; kept for the several sizes of a sketch that are tried on it."""
    return _queries_and_records(point_kernel, reference_population(domain, kernel, density))


def _queries_and_records(kernel: Kernel, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Some of the points as queries, the others as records, and the exact kernel sums."""
    queries, records = np.asfortranarray(points[:REFERENCE_QUERIES]), np.asfortranarray(points[REFERENCE_QUERIES:])
    return queries, records, np.maximum(kernel.evaluate(queries, records).sum(axis=1), 1e-9 * len(records))


def _simulate(sketch: LinearSketch, queries: np.ndarray, records: np.ndarray, exact: np.ndarray) -> _Sampling:
    """Try groups of rows of the sketch's kind on public points, of which some are queries.

    The sketch's groups are independent draws of the same law, so the error of the mean over G of them follows from how
    far single groups fall from the truth. Many more groups than G are tried, and their errors resampled G at a time: in
    one dimension single groups are too heavy-tailed for a mean square.
    """
    inhabited = exact >= OUTSKIRTS * exact.mean()
    queries, exact = np.asfortranarray(queries[inhabited]), exact[inhabited]
    wanted = math.ceil(sketch.rows / sketch.groups)
    each = queries.shape[1] * getattr(sketch.kernel, "power", 1)
    size = max(1, min(wanted, LARGEST_SIMULATED // (LEAST_GROUPS * each)))
    groups = min(max(min(TRIAL_ROWS, LARGEST_SIMULATED // each) // size, LEAST_GROUPS), MOST_GROUPS)
    trial = replace(sketch, rows=size * groups, groups=groups, seed=0)
    table = trial.zeros()
    trial.add(table, records)
    estimates, _ = trial.group_estimates(table, len(records), queries)
    batches = PublicRandom(0, 8).words(RESAMPLES, sketch.groups) % np.uint64(groups)
    chosen = np.zeros((RESAMPLES, groups))
    np.add.at(chosen, (np.arange(RESAMPLES)[:, None], batches.astype(np.int64)), 1.0 / sketch.groups)
    error = float(np.mean(np.abs(chosen @ ((estimates - exact) / exact)))) / MEAN_TO_RMS * math.sqrt(size / wanted)
    return _Sampling(max(error, 1e-6), tuple(exact / len(records)))


def reference_population(domain: Domain, kernel: Kernel, density: float | None) -> np.ndarray:
    """Public random points of ordinary shape, float64 (REFERENCE_POINTS, d), inside the bounds.

    Their scale is chosen so that the kernel averages ``density`` over pairs, as far as the bounds allow it. Without a
    density the longest axis has a standard deviation of a sixth of the bounds.
    """
    low, high = domain.bounds(kernel.metric)
    shape = _shape(domain.dimensions)
    unit = _units(domain, kernel, low, high)
    centre = (low + high) / 2.0

    def scaled(log_scale: float) -> np.ndarray:
        return np.asfortranarray(np.clip(centre + math.exp(log_scale) * shape * unit, low, high))

    widest = math.log(float(np.min((high - low) / unit)) * DEFAULT_SPREAD)
    if density is None:
        return scaled(widest)

    closeness = of_coordinates(kernel, tuple(column.width for column in domain.columns))

    def excess(points: np.ndarray) -> float:
        few = points[:300]
        pairs = closeness.evaluate(few, few)
        return math.log((pairs.sum() - np.trace(pairs)) / (len(few) * (len(few) - 1.0)) / density)

    # Beyond three times the usual spread most points would lie on the bounds, where they come closer again.
    least, most = -30.0, widest + math.log(3.0)
    if excess(scaled(least)) <= 0.0:
        return scaled(least)
    if excess(scaled(most)) < 0.0:
        return scaled(brentq(lambda log_scale: excess(scaled(log_scale)), least, most, xtol=1e-2))

    # Rarer than a long shape can be: on the way to points that fill the bounds evenly, the rarest there are.
    even = low + (high - low) * PublicRandom(0, 9, domain.dimensions).uniforms(REFERENCE_POINTS, domain.dimensions)

    def blended(share: float) -> np.ndarray:
        return np.asfortranarray((1.0 - share) * scaled(most) + share * even)

    if excess(blended(1.0)) >= 0.0:
        return blended(1.0)
    return blended(brentq(lambda share: excess(blended(share)), 0.0, 1.0, xtol=1e-2))


def _shape(dimensions: int) -> np.ndarray:
    """Points with one long axis in a random direction, thinner ones across it, and Student's t tails; a bell in 1-d."""
    random = PublicRandom(0, 7, dimensions)
    normal = ndtri(random.uniforms(REFERENCE_POINTS, dimensions))
    thickness = np.maximum(np.arange(1.0, dimensions + 1.0) ** -3, LEAST_THICKNESS[dimensions <= 3])
    if dimensions == 1:
        return normal
    # A chi-squared variable with an even number of degrees of freedom is a sum of exponentials.
    mixing = -2.0 * np.log(random.uniforms(REFERENCE_POINTS, int(STRAGGLER_DEGREES) // 2)).sum(axis=1)
    axes, _ = np.linalg.qr(ndtri(random.uniforms(dimensions, dimensions)))
    return (normal * thickness / np.sqrt(mixing / STRAGGLER_DEGREES)[:, None]) @ axes


def _units(domain: Domain, kernel: Kernel, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The length of each coordinate that the kernel treats alike: its bandwidth, or the bounds for angles."""
    while isinstance(kernel, (Product, Mixture)):
        kernel = kernel.parts[0]
    if isinstance(kernel, Angular):
        return high - low
    return coordinate_bandwidths(kernel.bandwidth, tuple(column.width for column in domain.columns))
