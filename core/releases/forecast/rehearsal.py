"""The whole mechanism tried out on a reference population, for mechanisms whose error no formula tells.

Where answers are linear in the table, the variance of an answer follows from that of the noise, and
`core.releases.forecast.forecast` needs no noise for it. Clipping, sampling, optimisation and choices made under noise
break that. Here such a mechanism runs as it would on the records, several times, with noise that can be repeated, on
public points of ordinary shape; how far its answers were off is the forecast. Nothing private is looked at.

The points stand for more records than there are of them: their exact table is multiplied, which is what it would be if
every point were so many records. So a rehearsal takes as long for a billion records as for a thousand.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np

from ...privacy.calibration import NoiseScale
from ...privacy.noise.noise import add_noise
from ...privacy.noise.randomness import SeededSource
from ...sketches.adaptive import Adaptive, AdaptivePlan
from ...sketches.linear import LinearSketch

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
