"""The paper's sum of exponentials: its terms, its slow reference, its promise, and what the random scale gains."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain import Domain
from core.errors import RequestError
from core.geometry.kernels import Gaussian, Smooth, SmoothL1, SmoothSquared
from core.lab.published.exponential_sum import ExponentialSum, exponential_terms
from core.privacy.budget import Budget, Neighbours
from core.privacy.calibration import calibrate
from core.releases.forecast.sketch_sizes import sized_rows
from core.releases.job import release
from core.releases.release import load
from core.sketches import linear
from core.sketches.features import Features
from core.sketches.mechanism_audit import audit_sketch
from core.sketches.phases import waves
from core.sketches.registry import sketch_from_parameters
from tests.depth import draws
from tests.sketches.checking import poured

DOMAIN = Domain.of(x=(-3, 3), y=(-3, 3))
KERNELS = [Smooth(1.0), SmoothSquared((0.5, 2.0)), SmoothL1(1.0)]


def points(n: int, seed: int = 5) -> np.ndarray:
    return np.asfortranarray(np.random.default_rng(seed).normal(0, 1, (n, 2)).clip(-3, 3))


@pytest.mark.parametrize("error", [0.1, 0.03, 1e-2, 1e-3, 1e-4])
def test_the_terms_are_as_close_as_they_say(error):
    z = np.concatenate([[0.0], np.geomspace(1e-6, 1e9, 20_000)])
    weights, rates = exponential_terms(error)
    assert np.abs(np.exp(-np.outer(z, rates)) @ weights - 1.0 / (1.0 + z)).max() <= error
    assert (weights > 0).all() and len(rates) < 8.0 * np.log10(1.0 / error)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_exact_answer_is_the_sum_and_near_the_kernel(kernel):
    sketch = ExponentialSum(DOMAIN, kernel, 60, error=1e-3, seed=1)
    data = points(300)
    exact = kernel.evaluate(data[:20], data).sum(axis=1)
    assert np.abs(sketch.exact(data[:20], data) - exact).max() <= 1e-3 * 300
    assert np.abs(sketch.exact(data[:20], data) - exact).max() > 0


@given(st.sampled_from(KERNELS), st.integers(0, 2**64))
def test_tables_and_answers_equal_the_slow_reference(kernel, seed):
    sketch = ExponentialSum(DOMAIN, kernel, 31, error=0.1, seed=seed, groups=3)
    data, queries = points(7, seed % 1000), points(3, 1 + seed % 1000)
    frequencies, circle = sketch.frequencies, waves("circle")
    expected = sketch.zeros()
    for point in data:
        for row, (wave, phase) in enumerate(zip(frequencies.waves, frequencies.phases, strict=True)):
            turns = float(phase) + float(wave[0]) * float(point[0]) + float(wave[1]) * float(point[1])
            expected[row] += circle.points[int((turns - np.floor(turns)) * circle.steps) % circle.steps]
    table = poured(sketch, data)
    assert (table == expected).all()
    weights, rates = exponential_terms(0.1)
    answers = np.zeros(3)
    row = 0
    for weight, rows in zip(weights, [8, 8, 8, 7], strict=True):
        for size in np.array_split(np.arange(rows), 3):
            for _ in size:
                angle = 2.0 * np.pi * (queries @ frequencies.waves[row] + frequencies.phases[row] - circle.delay)
                both = table[row, 0] * np.cos(angle) + table[row, 1] * np.sin(angle)
                answers += weight / 3.0 / len(size) * both / circle.gain
                row += 1
    assert row == 31 and len(rates) == 4
    estimates, shares = sketch.group_estimates(table, 7, queries)
    assert shares @ estimates == pytest.approx(answers, abs=1e-8)


@pytest.mark.thorough
@pytest.mark.few(1)
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_answers_are_unbiased_for_the_sum(kernel):
    """Mean over 40 seeds within 7.5 of its own standard errors: false alarm below 1e-6 (t, 39 degrees, 15 means)."""
    data = points(400)
    answers = []
    for seed in range(40):
        sketch = ExponentialSum(DOMAIN, kernel, 130, seed=seed)
        estimates, weights = sketch.group_estimates(poured(sketch, data), 400, data[:5])
        answers.append(weights @ estimates)
    error = np.std(answers, axis=0, ddof=1) / np.sqrt(len(answers))
    assert (np.abs(np.mean(answers, axis=0) - sketch.exact(data[:5], data)) < 7.5 * error).all()


@given(st.sampled_from(KERNELS), st.integers(0, 2**64), st.sampled_from(list(Neighbours)))
def test_neighbours_stay_within_the_declared_bound(kernel, seed, neighbours):
    sketch = ExponentialSum(DOMAIN, kernel, 40, error=0.1, seed=seed)
    one, other = points(2, seed % 1000)
    difference = poured(sketch, one[None])
    if neighbours is Neighbours.REPLACE_ONE:
        difference = difference - poured(sketch, other[None])
    declared = sketch.sensitivity(neighbours)
    assert np.abs(difference).sum() <= declared.l1 and (difference**2).sum() <= declared.l2_squared
    assert declared.l1 <= 1.6 * np.abs(poured(sketch, points(1))).sum() * (2 if neighbours != "add_remove" else 1)


@pytest.mark.thorough
def test_noise_is_that_of_the_weighted_rows_and_above_the_random_scale():
    """Relative error of a variance from 4000 draws is 0.022, from 800 0.05; 0.15 and 0.33 are over six times that."""
    sketch = ExponentialSum(DOMAIN, Smooth(1.0), 104, seed=1)
    noise = np.random.default_rng(1).integers(-1000, 1001, (draws(800, 4000), 104, 2))
    answers = [sketch.group_estimates(table, 1.0, points(1))[0].mean() for table in noise]
    variance = (2001**2 - 1) / 12
    assert np.var(answers) == pytest.approx(sketch.noise_variance(variance), rel=draws(33, 15) / 100)
    mixture = Features(DOMAIN, Smooth(1.0), 104, seed=1, wave="circle")
    terms = exponential_terms(sketch.error)[0]
    factor = len(terms) * (terms**2).sum()
    assert sketch.noise_variance(variance) == pytest.approx(factor * mixture.noise_variance(variance), rel=0.05)
    assert factor > 3.0


def test_intervals_allow_for_the_approximation():
    sketch = ExponentialSum(DOMAIN, Smooth(1.0), 60, error=0.05, seed=1)
    data = points(500)
    answers = sketch.answer(poured(sketch, data), 500, data[:4], 0.0, 0.95)
    estimates, weights = sketch.group_estimates(poured(sketch, data), 500, data[:4])
    assert (answers.high - answers.estimate > 0.05 * 500).all()
    assert answers.estimate == pytest.approx(weights @ estimates)


@pytest.mark.thorough
def test_a_release_survives_its_file_and_the_forecast_chooses_rows():
    data = np.array(points(2000))
    sketch = ExponentialSum(DOMAIN, SmoothSquared(1.0), seed=2)
    rows = sized_rows(sketch, Budget(1), 2000).rows
    made = release(sketch.with_rows(rows), data, Budget(1))
    read = load(made.to_bytes())
    assert read.sketch == made.sketch and (read.counters == made.counters).all()
    assert (poured(made.sketch, data[:700]) + poured(made.sketch, data[700:]) == poured(made.sketch, data)).all()


@pytest.mark.deep
@pytest.mark.parametrize("neighbours", Neighbours)
def test_the_mechanism_keeps_its_promise(neighbours):
    sketch = ExponentialSum(DOMAIN, Smooth(1.0), 8, error=0.1, seed=1, groups=2)
    assert audit_sketch(sketch, Budget(1, 0, neighbours), runs=20_000, level=1 - 1e-8).passed


@pytest.mark.deep
def test_a_tenth_of_the_noise_is_caught(monkeypatch):
    """Eight rows share the loss, so it takes more than half the noise for all of them to show it."""

    def tenth(sensitivity, epsilon, delta):
        return calibrate(sensitivity, 10 * epsilon, delta)

    monkeypatch.setattr(linear, "calibrate", tenth)
    sketch = ExponentialSum(DOMAIN, Smooth(1.0), 8, error=0.1, seed=1, groups=2)
    assert not audit_sketch(sketch, Budget(1), runs=40_000, level=1 - 1e-8).passed


def test_parameters_rebuild_the_sketch():
    for kernel in KERNELS:
        sketch = ExponentialSum(DOMAIN, kernel, 60, error=0.01)
        assert sketch_from_parameters("exponential-sum", DOMAIN, sketch.parameters()) == sketch


@pytest.mark.parametrize(
    "change",
    [
        {"kernel": Gaussian(1.0).to_dict()},
        {"kernel": Smooth(1.0, power=2).to_dict()},
        {"rows": None},
        {"rows": 5},
        {"rows": 10**8},
        {"error": 0},
        {"error": float("nan")},
        {"error": 1e-300},
        {"error": "small"},
        {"groups": 1},
        {"seed": "0"},
        {"more": 1},
    ],
)
def test_hostile_parameters_are_refused(change):
    facts = ExponentialSum(DOMAIN, Smooth(1.0), 60).parameters() | change
    with pytest.raises(RequestError) as refusal:
        sketch_from_parameters("exponential-sum", DOMAIN, facts)
    assert "\n" not in str(refusal.value)
