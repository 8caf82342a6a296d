"""Forecasts against what releases then did."""

from dataclasses import replace

import numpy as np
import pytest

from core.domain import Domain
from core.errors import RequestError
from core.geometry.kernels import Angular, Euclidean, Laplacian, Manhattan, Mixture
from core.privacy.budget import Budget
from core.privacy.noise.randomness import SeededSource
from core.releases.engine.building import ExactTable
from core.releases.forecast.forecast import error_curve, forecast
from core.releases.forecast.one_trial import _unshared
from core.releases.forecast.reference_population import reference_population
from core.releases.forecast.sketch_sizes import sized_rows
from core.releases.seal import seal
from core.sketches.race import Race
from tests.depth import crossed, deep

DOMAIN = Domain.of(a=(0, 100), b=(0, 100))
KERNELS = [Euclidean(4.0), Manhattan(4.0), Laplacian(6.0), Angular(3), Mixture((Euclidean(4.0), Angular()), (0.5, 0.5))]


def clusters(n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centres = rng.uniform(20, 80, (5, 2))
    return np.asfortranarray((centres[rng.integers(0, 5, n)] + rng.normal(0, 6, (n, 2))).clip(0, 100))


def measured(sketch: Race, budget: Budget, data: np.ndarray, queries: np.ndarray, releases: int) -> float:
    exact = sketch.kernel.evaluate(queries, data).sum(axis=1)
    errors = []
    for seed in range(1_000, 1_000 + releases):  # seeded hashes and noise: the same figures on every run
        fresh = replace(sketch, seed=seed)
        table = fresh.zeros()
        fresh.add(table, data)
        made = seal(fresh, ExactTable(table, len(data)), budget, noise_source=SeededSource(seed))
        errors.append(np.mean(np.abs(made.answer_points(queries).estimate - exact) / exact))
    return float(np.mean(errors))


@pytest.mark.deep
@pytest.mark.parametrize("budget", [deep(Budget("0.05")), Budget(1), deep(Budget(1, "1e-6"))])
def test_with_a_public_sample_the_forecast_is_within_15_percent(budget):
    data, queries, sample = clusters(20_000, 1), clusters(100, 1), clusters(4_000, 1)
    sketch = Race(DOMAIN, Euclidean(4.0), rows=400)
    expected = forecast(sketch, budget, len(data), sample=sample)
    error = measured(sketch, budget, data, queries, 60)
    assert expected.relative_error == pytest.approx(error, rel=0.15)


@pytest.mark.thorough
def test_where_noise_rules_the_forecast_is_exact():
    """At a stated density and a tiny epsilon the error is the noise."""
    data = clusters(2_000, 2)
    sketch = Race(DOMAIN, Euclidean(4.0), rows=50, seed=1)
    budget = Budget("0.01")
    expected = forecast(sketch, budget, len(data), density=0.1)
    exact = Euclidean(4.0).evaluate(data[:1], data).sum()
    table = sketch.zeros()
    sketch.add(table, data)
    exact_table = ExactTable(table, len(data))
    made = [seal(sketch, exact_table.copy(), budget, noise_source=SeededSource(seed)) for seed in range(400)]
    errors = [release.answer_points(data[:1]).estimate[0] - exact for release in made]
    assert np.std(errors) == pytest.approx(expected.noise_error, rel=0.15)


@pytest.mark.few(1)
@pytest.mark.parametrize(("density", "kernel"), crossed([0.2, 0.08, 0.4], KERNELS), ids=str)
def test_the_reference_population_has_the_stated_density_and_stays_inside(kernel, density):
    points = reference_population(DOMAIN, kernel.metric, kernel, density)
    assert points.min() >= 0 and points.max() <= 100
    values = kernel.evaluate(points[:400], points[400:800])
    assert forecast(Race(DOMAIN, kernel, rows=64), Budget(1), 1000, density).density == pytest.approx(density)
    if not isinstance(kernel, (Angular, Mixture)):  # angles cannot be made as rare as one likes in a box
        assert values.mean() == pytest.approx(density, rel=0.25)


def test_more_budget_and_more_records_never_hurt():
    sketch = Race(DOMAIN, Euclidean(4.0), rows=200)
    curve = error_curve(sketch, 10_000, [0.01, 0.1, 1, 10])
    assert (np.diff(curve) < 0).all()
    few, many = (forecast(sketch, Budget("0.1"), records) for records in (1_000, 100_000))
    assert many.relative_error < few.relative_error and many.noise_error == few.noise_error


@pytest.mark.deep
@pytest.mark.parametrize("epsilon", [deep("0.02"), "0.3", deep("3")])
def test_chosen_rows_are_about_the_best(epsilon):
    """Against brute force over actual releases: within a quarter of the least error of all sizes."""
    data, queries = clusters(5_000, 3), clusters(60, 3)
    budget = Budget(epsilon)
    sketch = Race(DOMAIN, Euclidean(4.0))
    density = float(Euclidean(4.0).evaluate(queries, data).mean())
    chosen = sized_rows(sketch, budget, len(data), density).rows
    errors = {rows: measured(sketch.with_rows(rows), budget, data, queries, 6) for rows in (50, 200, 800, 2800, chosen)}
    assert errors[chosen] < 1.3 * min(errors.values())


@pytest.mark.thorough
def test_slack_lets_rows_grow():
    sketch = Race(DOMAIN, Euclidean(4.0))
    assert sized_rows(sketch, Budget("0.1", "1e-6"), 10_000).rows > 2 * sized_rows(sketch, Budget("0.1"), 10_000).rows


def test_the_forecast_speaks_in_round_numbers():
    words = forecast(Race(DOMAIN, Euclidean(4.0), rows=400), Budget(1), 100_000, 0.1).sentence
    assert "A typical answer is 10,000 ± " in words


@pytest.mark.parametrize("guess", [{"records": 0}, {"records": 1e20}, {"density": 0.0}, {"density": 2.0}])
def test_impossible_guesses_are_refused(guess):
    with pytest.raises(RequestError):
        forecast(Race(DOMAIN, Euclidean(4.0), rows=50), Budget(1), **guess)


@pytest.mark.parametrize("array", [np.full((300, 2), 55.0), np.full((300, 3), 0.5), np.full(300, 0.5)])
def test_an_array_that_is_no_encoded_sample_is_refused(array):
    """Raw ages and sizes beside columns that are compared as shares of their bounds would foretell nonsense."""
    domain = Domain.of(age=(0, 100), size=(0, 200), scale="box")
    with pytest.raises(RequestError, match="encoded"):
        forecast(Race(domain, Euclidean(0.1), rows=50), Budget(1), 1000, sample=array)


def test_a_tiny_sample_is_refused():
    with pytest.raises(RequestError):
        forecast(Race(DOMAIN, Euclidean(4.0), rows=50), Budget(1), sample=clusters(10, 1))


@pytest.mark.deep
def test_categories_may_have_a_bandwidth_of_their_own():
    """A category has several coordinates and one bandwidth; equal bandwidths are forecast like a common one."""
    domain = Domain.of(a=(0, 100), city=["x", "y", "z"])
    each = forecast(Race(domain, Euclidean((4.0, 4.0)), rows=100, width=100, seed=0), Budget(1), 9000, density=0.05)
    common = forecast(Race(domain, Euclidean(4.0), rows=100, width=100, seed=0), Budget(1), 9000, density=0.05)
    assert each == common
    assert sized_rows(Race(domain, Laplacian((4.0, 0.5)), width=50), Budget(1), 9000).rows > 0


def test_reference_points_have_a_category_each_and_spread_over_numbers_however_fine_the_kernel():
    domain = Domain.of(a=(0, 100), b=(0, 1), city=["x", "y", "z"], kind=["p", "q"])
    for kernel, density in ((None, None), (Laplacian((0.01, 1.0, 0.5, 0.5)), None), (Laplacian(4.0), 0.05)):
        points = reference_population(domain, "l1", kernel, density)
        assert (points == domain.encode_queries(domain.decode_points(points, "l1"), "l1")).all()
        for block in (points[:, 2:5], points[:, 5:]):
            assert (block > 0).mean(axis=0).min() > 0.1
    spread = reference_population(domain, "l1", Laplacian((0.01, 1.0, 0.5, 0.5)), None)[:, :2].std(axis=0)
    assert spread / spread.max() == pytest.approx((1.0, 0.01), rel=1.0) and spread[0] > 2.0


def test_groups_tried_together_share_no_error_by_chance_and_keep_their_bias():
    """Means of 10 of 24 groups drawn again and again are as wide as means of 10 fresh groups."""
    random = np.random.default_rng(0)
    spread, biased = [], []
    for _ in range(300):
        errors = random.normal(0, 1, (24, 40))
        batches = np.zeros((50, 24))
        np.add.at(batches, (np.arange(50)[:, None], random.integers(0, 24, (50, 10))), 0.1)
        spread.append(np.mean((batches @ _unshared(errors)) ** 2))
        biased.append(_unshared(errors + 2.0).mean())
    assert np.mean(spread) == pytest.approx(0.1, rel=0.1)
    assert np.mean(biased) == pytest.approx(2.0, rel=0.03)
