"""How fine a grid is, and a released one read with any bandwidth: intervals at each, and the one that suits it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from core.domain import Domain, Numeric
from core.errors import RequestError
from core.geometry.kernels import Euclidean, Gaussian, Laplacian
from core.privacy.budget import Budget
from core.privacy.noise.randomness import SeededSource
from core.releases.job import release
from core.releases.release import Release, load
from core.sketches.classes import Classes
from core.sketches.grid_axes import Axis
from core.sketches.histogram import Histogram
from core.sketches.histogram_sizes import around, estimated_risks
from core.sketches.race import Race
from tests.depth import deep, draws

LINE = Domain.of(x=(0, 100))
AXES = (Axis(0, 0.0, 1.0, 100, 0),)
MIDDLE = np.array([50.0])
TRIED = (1.0, 3.0, 12.0)
HUMPS = ((0.5, 30.0, 8.0), (0.5, 70.0, 8.0))


def made(values, finest: float = 0.25, epsilon: float = 1.0, seed: int = 0, bandwidth: float = 8.0) -> Release:
    sketch = Histogram(LINE, Gaussian(bandwidth), finest=finest)
    return release(sketch, {"x": values}, Budget(epsilon), noise_source=SeededSource(seed))


@pytest.mark.thorough
def test_estimated_risks_are_right_on_average():
    """Over draws of records and of noise, against the risk itself. False alarms: less than 1e-6 (six deviations)."""
    random, records, deviation = np.random.default_rng(3), 2_000, 3.0
    places = np.linspace(0.0, 100.0, 101)
    truth = sum(share * norm.pdf(places, middle, spread) for share, middle, spread in HUMPS)
    kernels = tuple(Gaussian(one) for one in TRIED)
    rounds = draws(25, 600)
    found, real = np.empty((2, rounds, len(TRIED)))
    for number in range(rounds):
        of = random.integers(2, size=records)
        values = np.array([30.0, 70.0])[of] + 8.0 * random.normal(size=records)
        counts = Histogram(LINE, Gaussian(8.0), (100,))
        table = counts.zeros()
        counts.add(table, np.asfortranarray(np.clip(values, 0.0, 100.0)[:, None]))
        noisy = table / counts.scale + deviation * random.normal(size=table.shape)
        found[number] = estimated_risks(noisy, AXES, kernels, MIDDLE, records, deviation**2)
        for place, kernel in enumerate(kernels):
            read = Histogram(LINE, kernel, (100,)).smoothing
            sums = read.read([np.rint(noisy * counts.scale)], places[:, None])[0]
            real[number, place] = ((sums / records / kernel.bandwidth / np.sqrt(2 * np.pi) - truth) ** 2).sum()
    # What the narrowest of them smooths away is in none of the risks, and differences are what a choice is made by.
    wrong = np.diff(found - real, axis=1)
    error = wrong.std(axis=0) / np.sqrt(rounds)
    assert (np.abs(wrong.mean(axis=0)) < 6.0 * error + 2e-5 * np.abs(np.diff(real.mean(axis=0)))).all()


RUNS, HELD = draws((24, 14), (60, 45))


@pytest.mark.deep
@pytest.mark.parametrize("bandwidth", [2.0, deep(5.0), deep(8.0), deep(20.0)])
def test_intervals_hold_the_exact_sums_at_every_bandwidth(bandwidth):
    """45 of 60 intervals of 95% at least, or 14 of 24. False alarms: 1e-7."""
    values = np.random.default_rng(1).normal(50.0, 10.0, 500).clip(0, 100)
    place, held = np.array([[45.0]]), 0
    exact = Gaussian(bandwidth).evaluate(place, values[:, None]).sum()
    for seed in range(RUNS):
        low, high = made(values, seed=seed).smoothed(bandwidth).interval(place)
        held += int(low[0] <= exact <= high[0])
    assert held >= HELD


@pytest.mark.thorough
def test_intervals_hold_after_the_choice():
    """As above, where the noisy counts have chosen the bandwidth."""
    values = np.random.default_rng(1).normal(50.0, 10.0, 500).clip(0, 100)
    place, held = np.array([[45.0]]), 0
    for seed in range(RUNS):
        read = made(values, seed=seed).smoothed()
        low, high = read.interval(place)
        exact = Gaussian(read.sketch.kernel.bandwidth).evaluate(place, values[:, None]).sum()
        held += int(low[0] <= exact <= high[0])
    assert held >= HELD


def test_spikes_are_looked_at_closely_and_one_hump_from_afar():
    random = np.random.default_rng(2)
    spikes = random.choice(np.arange(10.0, 95.0, 10.0), 5_000) + random.normal(0.0, 0.2, 5_000)
    hump = random.normal(50.0, 15.0, 5_000).clip(0, 100)
    near, far = (made(values, 1 / 16).smoothed().sketch.kernel.bandwidth for values in (spikes, hump))
    assert near < 1.5
    assert far > 2.0  # a hump of 5,000 people has 1.06 * 15 / 5000^(1/5) = 2.9 by the rule of thumb


def test_a_bandwidth_is_read_like_a_histogram_made_for_it():
    one = made(np.linspace(10, 90, 300))
    places = np.array([[20.0], [55.0]])
    other = Histogram(LINE, Gaussian(3.0), one.sketch.cells)
    straight = other.answer(one.counters, one.records, places, one.privacy.counter_variance, 0.95)
    np.testing.assert_array_equal(one.smoothed(3.0).estimate(places), straight.estimate)
    assert one.smoothed(8.0) == one


@pytest.mark.thorough
def test_a_file_says_it_only_where_bandwidths_are_open():
    one, fixed = made([1.0, 2.0]), made([1.0, 2.0], finest=1.0)
    assert load(one.to_bytes(teaching=True)).sketch.finest == 0.25
    assert "finest" not in fixed.sketch.parameters()
    assert load(fixed.to_bytes(teaching=True)) == fixed
    assert fixed.smoothed() == fixed
    again = load(one.smoothed(4.0).to_bytes(teaching=True))
    assert (again.sketch.kernel.bandwidth, again.sketch.finest) == (4.0, 0.5)


def test_classes_are_read_with_one_bandwidth():
    domain = Domain.of(x=(0, 100), kind=["a", "b"])
    sketch = Classes(domain, "kind", Histogram(LINE, Gaussian(8.0), finest=0.25))
    values = {"x": [10.0, 20.0, 30.0, 90.0], "kind": ["a", "b", "a", "b"]}
    one = release(sketch, values, Budget(50), noise_source=SeededSource(0))
    assert one.smoothed(3.0).of_class("a") == one.of_class("a").smoothed(3.0)
    assert one.smoothed().sketch.inner.kernel.bandwidth in [8.0 * factor for factor in one.sketch.bandwidths]


def test_what_cannot_be_smoothed_says_so():
    race = release(Race(LINE, Euclidean(5.0), 20, 10), {"x": [1.0]}, Budget(1), noise_source=SeededSource(0))
    with pytest.raises(RequestError, match="fixed in a release of the mechanism 'race'"):
        race.smoothed(3.0)
    assert race.smoothed() == race
    with pytest.raises(RequestError, match="too coarse"):
        made([1.0]).smoothed(0.5)
    with pytest.raises(RequestError, match="Only one grid"):
        Histogram(LINE, Gaussian(8.0), (16,), 1, 0.5, finest=0.5)


def test_bandwidths_go_through_the_own_one():
    assert 1.0 in around(0.25, 3.0)
    assert min(around(0.25, 3.0)) == pytest.approx(0.25)
    assert max(around(0.25, 3.0)) <= 3.0


def test_values_on_public_steps_have_counters_of_their_own():
    domain = Domain((Numeric("age", 0, 100, step=1.0),))
    random = np.random.default_rng(5)
    ages = random.choice(np.arange(10, 95, 5), 4_000).astype(float)
    sketch = Histogram(domain, Gaussian(4.0), finest=1 / 8)
    one = release(sketch, {"age": ages}, Budget(1), noise_source=SeededSource(0))
    assert one.sketch.cells == (0,)
    assert one.smoothed().sketch.kernel.bandwidth < 1.0
    smooth = release(
        sketch, {"age": random.normal(50, 15, 4_000).clip(0, 100)}, Budget(1), noise_source=SeededSource(0)
    )
    assert smooth.smoothed().sketch.kernel.bandwidth > 1.5


def test_two_columns():
    domain = Domain((Numeric("x", 0, 10), Numeric("y", 0, 10)))
    random = np.random.default_rng(4)
    heaps = random.choice(np.arange(1.0, 10.0, 2.0), (4_000, 2)) + random.normal(0.0, 0.12, (4_000, 2))
    sketch = Histogram(domain, Gaussian(1.0), finest=0.25)
    one = release(sketch, {"x": heaps[:, 0], "y": heaps[:, 1]}, Budget(2), noise_source=SeededSource(0))
    assert one.smoothed().sketch.kernel.bandwidth < 0.6


def error_of(sketch, budget, points, queries):
    """Root mean square of noise and of what the grid misses, exact."""
    table = sketch.zeros()
    sketch.add(table, points)
    told, gain, _ = sketch.smoothing.read(sketch.grids(table), queries)
    off = told - sketch.point_kernel.evaluate(queries, points).sum(axis=1)
    return float(np.sqrt(np.mean(gain) * sketch.counter_noise(budget).variance + np.mean(off**2)))


@pytest.mark.thorough
@pytest.mark.parametrize("kernel", [Laplacian(0.1), Gaussian(0.1)], ids=str)
def test_a_small_budget_buys_no_fine_grid_for_crowds_that_may_not_be_there(kernel):
    """Three columns of smooth records had 3.7 times the error of the best grid, as every column might have a crowd."""
    cube = Domain(tuple(Numeric(name, -4, 4) for name in "abc"), scale="box")
    records = np.random.default_rng(5).normal(0, 1, (6_000, 3)).clip(-4, 4)
    sketch, budget = Histogram(cube, kernel), Budget("0.1")
    points = cube.encode_queries(records, sketch.metric)
    queries, points = points[:100], points[100:]
    best = min(error_of(Histogram(cube, kernel, (cells,) * 3), budget, points, queries) for cells in (6, 9, 12))
    assert error_of(sketch.sized_for(budget, 6_000), budget, points, queries) < 1.5 * best


@pytest.mark.thorough
def test_a_crowd_at_one_value_is_not_missed_by_a_grid_for_smooth_records():
    line = Domain((Numeric("a", 0, 100),), scale="box")
    random = np.random.default_rng(6)
    records = np.where(random.random(6_000) < 0.5, 30.0, random.gamma(2, 15, 6_000).clip(0, 100))[:, None]
    sketch, budget = Histogram(line, Laplacian(0.1)), Budget(1)
    points = line.encode_queries(records, sketch.metric)
    queries, points = points[:100], points[100:]
    sizes = [(cells << halvings, halvings) for cells in (10, 20) for halvings in range(8)]
    several = [replace(sketch, cells=(cells,), halvings=k, fine=0.5 if k else 1.0) for cells, k in sizes]
    best = min(error_of(one, budget, points, queries) for one in several)
    assert error_of(sketch.sized_for(budget, 6_000), budget, points, queries) < 2.0 * best


@pytest.mark.thorough
def test_records_in_a_corner_of_many_columns_are_not_missed_by_a_grid_for_scattered_ones():
    wide = Domain(tuple(Numeric(name, 0, 60) for name in "abcde"), scale="box")
    records = np.exp(np.random.default_rng(7).normal(0, 1, (3_000, 5))).clip(0, 60)
    sketch, budget = Histogram(wide, Gaussian(0.15)), Budget(1)
    points = wide.encode_queries(records, sketch.metric)
    queries, points = points[:50], points[50:]
    best = min(error_of(Histogram(wide, Gaussian(0.15), (cells,) * 5), budget, points, queries) for cells in (3, 5, 8))
    assert error_of(sketch.sized_for(budget, 3_000), budget, points, queries) < 2.1 * best
