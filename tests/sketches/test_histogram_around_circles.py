"""Histograms of columns around a circle, against slow sums over all records."""

import numpy as np
import pandas as pd
import pytest

from core.analysis.density import line
from core.domain import Categorical, Cyclic, Domain, Numeric
from core.errors import RequestError
from core.geometry.kernels import Euclidean, Exponential, Gaussian, Kernel
from core.privacy.budget import Budget, Neighbours
from core.privacy.noise.randomness import SeededSource
from core.releases.engine.building import ExactTable
from core.releases.forecast.forecast import forecast
from core.releases.forecast.scales import in_unit
from core.releases.job import release
from core.releases.release import load
from core.releases.seal import seal
from core.sketches.histogram import Histogram
from core.sketches.histogram_sizes import estimated_risks
from core.sketches.mechanism_audit import audit_sketch
from tests.sketches.checking import poured

HOURS = Domain((Cyclic("hour", part="hour"),))
WIND = Domain((Cyclic("wind", ("N", "E", "S", "W", "calm")),), scale="box")
MIXED = Domain((Cyclic("hour", part="hour"), Numeric("x", 0, 1), Categorical("c", ("a", "b"))), scale="box")
DAY = tuple(map(str, range(24)))


def at_night(n: int) -> np.ndarray:
    """Hours around midnight, as texts."""
    return np.array(DAY)[np.rint(np.random.default_rng(5).normal(24, 2.0, n)).astype(int) % 24]


def encoded(domain: Domain, **columns) -> np.ndarray:
    return domain.encode_queries(pd.DataFrame(columns))


@pytest.mark.parametrize("domain", [HOURS, WIND], ids=["hours", "wind"])
@pytest.mark.parametrize("kernel", [Gaussian(0.7), Exponential(2.0), Euclidean(3.0)], ids=str)
def test_every_value_has_a_counter_and_answers_are_those_of_a_slow_sum(domain: Domain, kernel: Kernel):
    (column,) = domain.columns
    places = encoded(domain, **{column.name: column.categories})
    codes = np.random.default_rng(0).integers(len(places), size=60) // 2
    sketch = Histogram(domain, kernel, ())
    table = poured(sketch, places[codes])
    assert table.tolist() == np.bincount(codes, minlength=len(places)).tolist()
    answers = sketch.answer(table, 60, places, 7.0, 0.95)
    closeness = kernel.evaluate(places, places)
    assert answers.estimate == pytest.approx(closeness[:, codes].sum(axis=1), abs=1e-9)
    assert answers.standard_error**2 == pytest.approx(7.0 * (closeness**2).sum(axis=1))
    assert sketch.noise_variance(7.0) == pytest.approx(7.0 * (closeness[0] ** 2).sum())
    turned = sketch.answer(np.roll(table, 1), 60, places, 7.0, 0.95).estimate
    assert turned == pytest.approx(np.roll(answers.estimate, 1))


def test_a_circle_beside_numbers_and_categories_is_read_truly():
    random, kernel = np.random.default_rng(1), Gaussian(0.15)
    frame = {"hour": at_night(300), "x": random.uniform(0, 1, 300), "c": np.array(["a", "b"])[np.arange(300) % 2]}
    records = encoded(MIXED, **frame)
    sketch = Histogram(MIXED, kernel, (12,))
    answers = sketch.answer(poured(sketch, records), 300, records[:80], 0.0, 0.95)
    assert answers.estimate == pytest.approx(sketch.exact(records[:80], records), abs=0.01 * 300)
    assert np.abs(answers.estimate - sketch.exact(records[:80], records)).mean() < 0.1


@pytest.mark.parametrize("neighbours", Neighbours)
def test_no_neighbours_differ_by_more_than_is_declared_and_some_by_as_much(neighbours: Neighbours):
    sketch = Histogram(HOURS, Gaussian(2.0), ())
    tables = [poured(sketch, encoded(HOURS, hour=[hour])) for hour in DAY]
    others = tables if neighbours is Neighbours.REPLACE_ONE else [np.zeros(24, np.int64)]
    steps = [one - other for one in tables for other in others]
    declared = sketch.record_sensitivity(neighbours)
    assert max(np.abs(step).sum() for step in steps) == declared.l1
    assert max((step**2).sum() for step in steps) == declared.l2_squared


def test_bandwidths_are_read_after_the_release_and_their_risks_are_those_of_whole_matrices():
    sketch = Histogram(HOURS, Gaussian(1.0), (), finest=0.5)
    places, codes = encoded(HOURS, hour=DAY), np.random.default_rng(3).integers(24, size=500)
    table = poured(sketch, places[codes])
    read = sketch.smoothed(2.5)
    exact = Gaussian(2.5).evaluate(places, places[codes]).sum(axis=1)
    assert read.answer(table, 500, places, 0.0, 0.95).estimate == pytest.approx(exact)
    assert in_unit(HOURS, 2.5) == "2.5 hours"
    assert in_unit(Domain((*HOURS.columns, Numeric("pay", 0, 90_000, "EUR"))), 2.5) == "2.5"
    with pytest.raises(RequestError, match="at least"):
        sketch.smoothed(0.01)
    kernels = tuple(Gaussian(wide) for wide in (0.5, 1.0, 3.0))
    risks = estimated_risks(table.astype(float), sketch.axes, kernels, sketch.middle, 500.0, 9.0)
    smooth = [kernel.evaluate(places, places) for kernel in kernels]
    smooth = [closeness / closeness[0].sum() for closeness in smooth]
    for found, closeness in zip(risks, smooth, strict=True):
        missed = closeness - smooth[0]
        by_noise, by_chance = 9.0 / 500**2, 1 / (24 * 500)
        variance = [(by_noise + by_chance) * (part**2).sum() for part in (missed, closeness)]
        assert found == pytest.approx(((missed @ table / 500) ** 2).sum() - variance[0] + variance[1])
    assert sketch.suited(table, 500.0, 9.0).open_bandwidth


@pytest.mark.thorough
def test_intervals_cover_the_truth_across_midnight():
    """Of 100 releases with seeds, 24 answers each; 95% are meant to be covered."""
    sketch = Histogram(HOURS, Gaussian(1.0), ())
    places, records = encoded(HOURS, hour=DAY), encoded(HOURS, hour=at_night(2_000))
    table, exact, held = poured(sketch, records), sketch.exact(places, records), []
    for seed in range(100):
        made = seal(sketch, ExactTable(table.copy(), sketch.count(records)), Budget(1), noise_source=SeededSource(seed))
        answers = made.answer({"hour": DAY})
        held.append((answers.low <= exact) & (exact <= answers.high))
    assert 0.92 < np.mean(held) < 0.98
    curve = line(made, "hour")
    assert list(curve.values) == list(DAY)
    assert 0 < curve.estimate[0] / curve.estimate[23] < 2 and curve.estimate[12] < 0.1 * curve.estimate[0]


@pytest.mark.parametrize("delta", [0, "1e-5"])
def test_it_keeps_its_promise(delta):
    assert audit_sketch(Histogram(HOURS, Gaussian(1.0), ()), Budget(1, delta), level=1 - 1e-8).passed


def test_releases_survive_their_file_and_the_forecast_is_the_noise():
    sketch = Histogram(HOURS, Gaussian(2.0)).sized_for(Budget(1), 2_000)
    made = release(sketch, pd.DataFrame({"hour": at_night(2_000)}), Budget(1))
    again = load(made.to_bytes())
    assert again.sketch == sketch == Histogram(HOURS, Gaussian(2.0), ())
    assert (again.estimate({"hour": DAY}) == made.estimate({"hour": DAY})).all()
    told = forecast(sketch, Budget(1), records=2_000)
    noise = made.answer({"hour": DAY}).standard_error
    assert told.noise_error == pytest.approx(noise.mean(), rel=0.02)
    assert told.sampling_error == pytest.approx(0.0, abs=1e-9)
