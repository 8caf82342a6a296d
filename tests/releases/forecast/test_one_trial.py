"""Forecasts by rehearsal, for mechanisms whose answers are not linear in their table."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from core.domain import Domain
from core.errors import RequestError
from core.geometry.kernels import Gaussian
from core.lab.published.huang_roth import HuangRoth
from core.privacy.budget import Budget
from core.privacy.noise.randomness import SeededSource
from core.releases.engine.building import ExactTable
from core.releases.forecast.forecast import forecast
from core.releases.forecast.one_trial import rehearse, scaled_table
from core.releases.job import release
from core.releases.seal import seal
from core.sketches.histogram import Histogram
from core.sketches.plan import plan

DOMAIN = Domain.of(x=(0, 10))


@dataclass(frozen=True)
class Rehearsed(Histogram):
    """A histogram that does not say that its answers are linear."""

    linear_decode: ClassVar[bool] = False


@dataclass(frozen=True)
class Thresholded(Rehearsed):
    """One that takes small counts for none, which moves all answers downwards."""

    def answer(self, table, records, points, counter_variance, level):
        kept = np.where(np.abs(table) > 5 * counter_variance**0.5, table, 0)
        return super().answer(kept, records, points, counter_variance, level)


def sketch(kind: type[Histogram]) -> Histogram:
    return kind(DOMAIN, Gaussian(0.5), (64,))


@pytest.mark.thorough
def test_of_a_linear_sketch_the_rehearsal_says_what_the_formulas_say():
    budget = Budget("0.2")
    known, tried = (forecast(sketch(kind), budget, 5_000, density=0.1) for kind in (Histogram, Rehearsed))
    assert tried.noise_error == pytest.approx(known.noise_error, rel=0.25)
    assert tried.relative_error == pytest.approx(known.relative_error, rel=0.25)
    assert tried.estimate == pytest.approx(known.estimate, rel=0.3)
    assert (tried.records_error, tried.file_bytes) == (known.records_error, known.file_bytes)
    assert tried.low < tried.estimate < tried.high


@pytest.mark.thorough
def test_with_a_public_sample_it_foretells_what_a_threshold_does():
    rng = np.random.default_rng(1)
    points = np.asfortranarray(np.clip(rng.normal(5, 1, (6_000, 1)), 0, 10))
    queries, kept = points[:100], np.asfortranarray(points[100:])
    thresholded, budget = sketch(Thresholded), Budget("0.05")
    exact, table = thresholded.exact(queries, kept), thresholded.zeros()
    queries, exact = queries[exact > 0.03 * exact.mean()], exact[exact > 0.03 * exact.mean()]
    thresholded.add(table, kept)
    held = ExactTable(table, len(kept))
    made = [seal(thresholded, held.copy(), budget, noise_source=SeededSource(1_000 + seed)) for seed in range(40)]
    errors = [np.mean(np.abs(one.answer_points(queries).estimate - exact) / exact) for one in made]
    expected, without = (forecast(sketch(kind), budget, len(kept), sample=points) for kind in (Thresholded, Rehearsed))
    assert expected.relative_error == pytest.approx(float(np.mean(errors)), rel=0.15)
    assert expected.relative_error > 1.5 * without.relative_error
    assert expected.sampling_error > 3 * without.sampling_error


@pytest.mark.thorough
def test_points_stand_for_as_many_records_as_are_stated():
    points = np.asfortranarray(np.linspace(0, 10, 200)[:, None])
    histogram = sketch(Rehearsed)
    table = histogram.zeros()
    histogram.add(table, points)
    assert np.array_equal(scaled_table(histogram, points, 200 * 5_000), table * 5_000)
    noise = plan(histogram, Budget(100)).noise
    few, many = (rehearse(histogram, noise, records, points, points[:50]) for records in (200, 200_000))
    assert np.allclose(many.exact, 1_000 * few.exact)
    assert many.relative_error < few.relative_error


def test_a_rehearsal_is_the_same_every_time_and_each_run_has_noise_of_its_own():
    points = np.asfortranarray(np.linspace(0, 10, 200)[:, None])
    histogram = sketch(Rehearsed)
    noise = plan(histogram, Budget(1)).noise
    first, again = (rehearse(histogram, noise, 200, points, points[:20]) for _ in range(2))
    assert np.array_equal(first.errors, again.errors)
    assert len(np.unique(first.errors[:, 0])) == len(first.errors)
    # Of few runs the variance, which takes one off their number, may be above the mean square.
    whole = max(first.standard_error, first.noise_error) ** 2
    assert whole == pytest.approx(first.noise_error**2 + first.systematic_error**2)


@pytest.mark.thorough
def test_a_mechanism_that_chooses_is_rehearsed_with_its_choices():
    """On a public sample, against real releases of it with other noise."""
    rng = np.random.default_rng(1)
    points = np.asfortranarray(np.clip(rng.normal(5, 1, (3_000, 1)), 0, 10))
    queries, kept = points[:100], np.asfortranarray(points[100:])
    mechanism, budget = HuangRoth(DOMAIN), Budget(1)
    sized = mechanism.sized_for(budget, len(kept))
    made = [release(sized, kept, budget, noise_source=SeededSource(100 + seed)) for seed in range(12)]
    exact = sized.exact(queries, kept)
    errors = [np.mean(np.abs(one.answer_points(queries).estimate - exact) / exact) for one in made]
    expected = forecast(mechanism, budget, len(kept), sample=points)
    assert expected.answers == "distance" and expected.seconds > 0
    assert expected.relative_error == pytest.approx(float(np.mean(errors)), rel=0.4)
    assert forecast(mechanism, Budget(10), len(kept), sample=points).relative_error < expected.relative_error / 2
    assert forecast(mechanism, budget, len(kept), density=None) == forecast(mechanism, budget, len(kept))


@pytest.mark.thorough
def test_guesses_out_of_range_are_refused():
    with pytest.raises(RequestError, match="density level"):
        forecast(sketch(Rehearsed), Budget(1), 1_000, density=2.0)
    with pytest.raises(RequestError, match="at least 200 points"):
        forecast(sketch(Rehearsed), Budget(1), 1_000, sample=np.zeros((10, 1)))
    unsized = replace(sketch(Rehearsed), cells=None)
    assert forecast(unsized, Budget(1), 1_000).rows > 1
