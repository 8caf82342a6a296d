"""How good a release will be, from public facts alone, before anything is spent.

The noise part of the error is exact: its variance follows from the budget. The rest (random hashes, rounding to a grid)
depends on how the records lie, which nobody may look at. So the sketch itself, with fresh public seeds and without
noise, is tried on *reference populations* of several kinds, of the stated average closeness or of the usual spread. A
public sample, where there is one, takes their place and makes the forecast sharp. Where answers are not linear in the
table, noise cannot be kept apart, and the whole is rehearsed with it (`core.releases.forecast.one_trial`).

What is promised is the error of a sum (or, divided by the number of records, of an average): it hardly depends on how
many records are close to a place. On 48 settings of six unseen tables it was 0.24 to 1.86 times what was forecast. The
error *relative* to the answer does depend on it: a range that held in nine of ten settings was a factor of 20 wide, and
up to 500, so none is said.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

import numpy as np

from ...formatting.numbers import percent, significant
from ...privacy.budget import Budget, Neighbours
from ...privacy.calibration import NoiseScale
from ...sketches.adaptive import Adaptive, AdaptivePlan
from ...sketches.linear import LinearSketch
from ...sketches.plan import Plan, plan
from .one_trial import (
    MEAN_TO_RMS,
    Rehearsal,
    Trial,
    checked_density,
    checked_records,
    rehearse,
    rehearse_adaptive,
    root_mean_square,
)
from .reference_population import REFERENCE_POINTS, reference_population
from .sketch_sizes import choose_size, file_bytes, seconds_to_make
from .trial import check_sample, encoded, kernel_of, queries_and_records, skewed_trial, trials


@dataclass(frozen=True)
class Forecast:
    """What to expect of a release; errors are standard deviations of one answer (a sum) unless said otherwise."""

    answers: str  # What is summed, "closeness" or "distance".
    # Size of the table; of one class where the release has classes.
    rows: int
    columns: int
    # The public guess of the number of records that an answer sums; of one class's where there are classes.
    records: float
    density: float  # Average closeness of two records, between 0 and 1, stated or assumed; or their average distance.
    estimate: float  # A typical answer, density times records.
    # From privacy noise, from the choice of hashes or grid, from both; root mean square over the kinds of population
    # that records may be like.
    noise_error: float
    sampling_error: float
    standard_error: float
    # `standard_error` for each kind of population that is chosen by: which mechanism is best may depend on it.
    errors: tuple[float, ...]
    # Expected |error| / answer, averaged over places where records are; of the middle one of the populations.
    relative_error: float
    # A band that holds 95% of typical answers.
    low: float
    high: float
    empty_below: float  # Sums below this cannot be told from zero (95%, one-sided).
    records_error: float  # Standard deviation of the released number of records; 0 when it is public.
    # Rough size of the file and time to make it on two cores.
    file_bytes: int
    seconds: float
    relative_noise: float  # What `relative_error` would be by noise alone.
    # `standard_error` for the kind of population that is worst, of all that were tried.
    worst_error: float

    @property
    def promised_error(self) -> float:
        """The typical error that is promised: of closeness as a share of all records, of a distance as one of it."""
        return self.relative_error if self.answers == "distance" else self.standard_error / self.records

    @property
    def promised_noise(self) -> float:
        """What the promised error would be by noise alone, which is all of it that a budget can change."""
        return self.relative_noise if self.answers == "distance" else self.noise_error / self.records

    @property
    def error_words(self) -> str:
        """The promised error with what it is a share of; of a distance in its own unit, as how far records lie decides.

        On five unseen tables an error in its unit was 0.65 to 1.6 times the forecast, and of the distance 0.3 to 7.5.
        """
        if self.answers == "distance":
            return f"{significant(self.standard_error / self.records, 2)} in the distance"
        return (
            f"{percent(self.promised_error)} of all records" if self.promised_error < 1.0 else "more than all records"
        )

    @property
    def answer_words(self) -> str:
        """The standard deviation of one answer in the unit of answers, records or distances."""
        if self.answers == "distance":
            return f"± {significant(self.standard_error / self.records, 2)} in an average"
        return f"± {significant(self.standard_error, 2)} records"

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


def forecast(
    sketch: LinearSketch | Adaptive,
    budget: Budget,
    records: float | None = None,
    density: float | None = None,
    sample: object = None,
    set_size: float | None = None,
) -> Forecast:
    """Forecast the error of a release.

    RequestError when the number of records is left out, or a guess is out of range.

    `sketch`: With or without a number of rows; without, `sized_rows` gives it one. Of a mechanism that chooses before
    it measures, the forecast is a rehearsal. `records`: How many there are at least, as anybody may know; errors follow
    from it, so it is never guessed. `density`: A public guess of the average closeness of two records, 0 to 1; when
    None, the reference populations spread over a sixth of the bounds. `sample`: At least 200 public records that lie as
    the private ones are thought to, in random order: a table as `Domain.encode_queries` takes it, encoded already
    (float64 (n, dimensions), or `Sets`), or `PublicRecords`, which remember how a sketch did on them. Takes the place
    of ``density``. `set_size`: A public guess of how many items a set has on average, for sketches of sets; 4, 12 and
    36 are tried when None.
    """
    sketch.check_budget(budget)
    records = checked_records(records)
    if not sketch.sized:
        sketch = choose_size(sketch, budget, records, density, sample, set_size)
    if sketch.chooses:
        return _rehearsed(sketch, sketch.plan(budget), records, density, sample)
    return forecast_planned(sketch, plan(sketch, budget), records, density, sample, set_size)


def forecast_planned(
    sketch: LinearSketch,
    planned: Plan,
    records: float | None,
    density: float | None = None,
    sample: object = None,
    set_size: float | None = None,
) -> Forecast:
    """The forecast of a release whose noise is planned already, such as one part of several.

    RequestError as `forecast` does. `sketch`: of a settled size. `planned`: its noise, and that of its number of
    records. `records`, `density`, `sample`, `set_size`: as for `forecast`.
    """
    one, share = sketch.one_answer
    records = checked_records(records) * share
    if not one.linear_decode:
        return _rehearsed(sketch, planned, records, density, sample)
    tried = trials(one, records, density, sample, set_size)
    skewed = skewed_trial(one, records) if density is None and sample is None else None
    usual, tried = len(tried), tried if skewed is None else (*tried, skewed)
    sampling = [trial.absolute * records for trial in tried]
    noise = [np.sqrt(planned.noise.variance * np.array(trial.gains)) for trial in tried]
    errors = tuple(math.sqrt(own**2 + float(np.mean(noisy**2))) for own, noisy in zip(sampling, noise, strict=True))
    noise_error = math.sqrt(float(np.mean(np.concatenate(noise) ** 2)))
    standard_error = root_mean_square(errors)
    typical = float(np.median([np.mean(trial.densities) for trial in tried]))
    relative = [_relative_error(trial, records, noisy) for trial, noisy in zip(tried, noise, strict=True)]
    counters = int(np.prod(sketch.shape))
    return Forecast(
        answers=one.answers,
        rows=one.shape[0],
        columns=one.shape[-1],
        records=records,
        density=typical,
        estimate=records * typical,
        noise_error=noise_error,
        sampling_error=root_mean_square(sampling),
        standard_error=standard_error,
        errors=errors[:usual],
        relative_error=float(np.median(relative)),
        low=max(0.0, records * typical - 1.96 * standard_error),
        high=records * typical + 1.96 * standard_error,
        empty_below=1.645 * noise_error,
        records_error=_records_error(one, planned, planned.noise),
        file_bytes=file_bytes(counters, planned.noise),
        seconds=0.2 + seconds_to_make(one, records / share, counters),
        worst_error=max(errors),
        relative_noise=float(np.median([_relative_noise(*pair, records) for pair in zip(tried, noise, strict=True)])),
    )


def _relative_noise(trial: Trial, noise: np.ndarray, records: float) -> float:
    """Expected |error| / answer by noise alone, over the queries of a trial."""
    return float(np.mean(MEAN_TO_RMS * noise / (records * np.array(trial.densities))))


def _relative_error(trial: Trial, records: float, noise: np.ndarray) -> float:
    """Expected |error| / answer over the queries of a trial."""
    return float(np.mean(MEAN_TO_RMS * np.hypot(trial.relative, noise / (records * np.array(trial.densities)))))


def _rehearsed(
    sketch: LinearSketch | Adaptive, planned: Plan | AdaptivePlan, records: float, density: float | None, sample: object
) -> Forecast:
    """The forecast of a mechanism whose answers are not linear in its table, or that chooses before it measures."""
    one = sketch.one_answer[0]
    noise = planned.noise if isinstance(planned, Plan) else planned
    if sample is None:
        checked_density(density)
        tried = _reference_rehearsal(one if one.chooses else one.reseeded(0), noise, records, density)
    else:
        known = encoded(one, sample)
        check_sample(known)
        tried = _rehearse(one, noise, records, known[: 4 * REFERENCE_POINTS])
    counters = int(np.prod((tried.sketch if sketch.chooses else sketch).shape))
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
        errors=(tried.standard_error,),
        relative_error=tried.relative_error,
        low=max(0.0, typical - 1.96 * tried.standard_error),
        high=typical + 1.96 * tried.standard_error,
        empty_below=1.645 * tried.noise_error,
        records_error=records_error,
        file_bytes=file_bytes(counters, tried.noise),
        seconds=0.2 + tried.seconds_read * records + tried.seconds,
        worst_error=tried.standard_error,
        relative_noise=tried.relative_error * tried.noise_error / max(tried.standard_error, 1e-300),
    )


_reference = lru_cache(maxsize=4)(reference_population)  # Kept for the several mechanisms that are rehearsed on it.


@lru_cache(maxsize=64)
def _reference_rehearsal(
    sketch: LinearSketch | Adaptive, noise: NoiseScale | AdaptivePlan, records: float, density: float | None
) -> Rehearsal:
    """Cached, as trials are."""
    return _rehearse(sketch, noise, records, _reference(sketch.domain, sketch.metric, kernel_of(sketch), density))


def _rehearse(
    sketch: LinearSketch | Adaptive, noise: NoiseScale | AdaptivePlan, records: float, points: np.ndarray
) -> Rehearsal:
    queries, kept, _ = queries_and_records(sketch, points)
    if sketch.chooses:
        return rehearse_adaptive(sketch, cast(AdaptivePlan, noise), records, kept, queries)
    return rehearse(sketch, cast(NoiseScale, noise), records, kept, queries)


def _records_error(sketch: LinearSketch, planned: Plan | AdaptivePlan, noise: NoiseScale) -> float:
    """Standard deviation of the released number of records, where every counter has the noise."""
    if planned.counts:
        return 0.0 if planned.count_noise is None else math.sqrt(planned.count_noise.variance)
    return math.sqrt(sketch.total_variance(noise.variance))


def error_curve(
    sketch: LinearSketch,
    records: float | None,
    epsilons: Sequence[float],
    delta: float = 0,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
    density: float | None = None,
    sample: object = None,
) -> np.ndarray:
    """Forecast errors, as they are promised, of the same sketch for several epsilons, float64 (len(epsilons),)."""
    return np.array(
        [
            forecast(sketch, Budget(epsilon, delta, neighbours), records, density, sample).promised_error
            for epsilon in epsilons
        ]
    )
