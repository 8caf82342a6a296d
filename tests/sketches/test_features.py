"""Random features against their slow reference, their sensitivity on adversarial neighbours, and true answers."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain import Domain, PrivacyUnit, Vector
from core.errors import RequestError
from core.geometry.kernels import (
    Angular,
    Euclidean,
    Exponential,
    Gaussian,
    Laplacian,
    Mixture,
    Product,
    Smooth,
    SmoothL1,
    SmoothSquared,
)
from core.privacy.budget import Budget, Neighbours
from core.privacy.calibration import calibrate
from core.privacy.noise.randomness import SeededSource
from core.releases.forecast.forecast import forecast
from core.releases.job import release
from core.releases.release import load
from core.sketches import linear
from core.sketches.features import Features
from core.sketches.mechanism_audit import audit_sketch
from core.sketches.registry import sketch_from_parameters
from tests.depth import deep, draws
from tests.sketches.checking import poured
from tests.sketches.slow_features import slow_estimates, slow_phases, slow_table

DOMAIN = Domain.of(x=(-3, 3), y=(-3, 3))
RADIAL = [Gaussian(1.0), Gaussian((0.5, 2.0), power=3), Exponential(0.7), Smooth(1.0, power=2), SmoothSquared(0.5)]
KERNELS = [
    *RADIAL,
    Laplacian(1.0),
    SmoothL1((1.0, 0.5)),
    Product((Gaussian(2.0), Laplacian(3.0))),
    Mixture((Smooth(1.0), Gaussian(0.3)), (0.4, 0.6)),
]
VARIANTS = [(kernel, "dense", wave) for kernel in KERNELS for wave in ("circle", "quadrant")] + [
    (kernel, "fast", wave) for kernel in RADIAL for wave in ("circle", "quadrant")
]
variants = st.sampled_from(VARIANTS)
coordinates = st.one_of(st.sampled_from([-3.0, -0.0, 0.0, 3.0, 1e-300, -1e-300]), st.floats(-3, 3))
places = st.tuples(coordinates, coordinates)
records = st.lists(places, min_size=0, max_size=12)
seeds = st.integers(0, 2**128 - 1)


def sketch(variant, rows=9, domain=DOMAIN, **facts) -> Features:
    kernel, transform, wave = variant
    return Features(domain, kernel, rows, transform=transform, wave=wave, **facts)


def points(rows) -> np.ndarray:
    return np.asfortranarray(np.array(rows, dtype=float).reshape(-1, 2))


def filled(features: Features, rows) -> np.ndarray:
    return poured(features, np.asfortranarray(rows, dtype=float).reshape(-1, features.domain.dimensions))


@given(variants, records, seeds)
def test_tables_and_answers_equal_the_slow_reference(variant, rows, seed):
    features = sketch(variant, seed=seed, groups=4)
    table = filled(features, rows)
    assert (table == slow_table(features, rows)).all()
    queries = points([*rows, (0.0, 0.0), (2.0, -1.0), (7.0, 7.0)])
    estimates, weights = features.group_estimates(table, len(rows), queries)
    assert weights @ estimates == pytest.approx(slow_estimates(features, table, queries), abs=1e-8)


def test_many_coordinates_equal_the_slow_reference():
    """More coordinates than a power of two, more rows than a block, more records than fit into one pass."""
    domain = Domain((Vector("v", 37, -1.0, 1.0),))
    data = np.asfortranarray(np.random.default_rng(1).uniform(-1, 1, (40, 37)))
    for transform in ("dense", "fast"):
        features = Features(domain, Gaussian(2.0), 150, seed=3, groups=2, transform=transform)
        assert (filled(features, data) == slow_table(features, data)).all()


@given(variants, records, places, seeds)
def test_adding_a_record_stays_within_the_declared_bound(variant, rows, place, seed):
    features = sketch(variant, seed=seed)
    difference = filled(features, [*rows, place]) - filled(features, rows)
    declared = features.sensitivity(Neighbours.ADD_REMOVE)
    assert np.abs(difference).sum() <= declared.l1 and (difference**2).sum() <= declared.l2_squared
    assert (np.abs(difference).sum(axis=1) <= declared.l1 // declared.parts).all()
    assert np.abs(difference).max() <= features.largest_entry
    if features.wave == "quadrant":
        assert declared.unit_shifts and np.abs(difference).sum() == declared.l1 == declared.l2_squared
    else:
        assert not declared.unit_shifts


@given(variants, records, places, places, seeds)
def test_replacing_a_record_stays_within_the_declared_bound(variant, rows, one, other, seed):
    features = sketch(variant, seed=seed)
    difference = filled(features, [*rows, one]) - filled(features, [*rows, other])
    declared = features.sensitivity(Neighbours.REPLACE_ONE)
    assert np.abs(difference).sum() <= declared.l1 and (difference**2).sum() <= declared.l2_squared
    assert (np.abs(difference).sum(axis=1) <= declared.l1 // declared.parts).all()
    assert not declared.unit_shifts


def with_entry(features: Features, entry: int) -> np.ndarray:
    """A record with that entry of the public table in every row: as many equations as coordinates."""
    turns = (entry + 0.5) / features.entries.steps - features.frequencies.phases
    return np.linalg.solve(features.frequencies.waves, turns)


@pytest.mark.parametrize("transform", ["dense", "fast"])
@pytest.mark.parametrize("wave", ["circle", "quadrant"])
def test_some_neighbours_reach_the_bounds(wave, transform):
    domain = Domain((Vector("v", 8, -1e6, 1e6),))
    features = Features(domain, Gaussian(1.0), 8, seed=5, groups=2, wave=wave, transform=transform)
    entries = features.entries.points
    for norm, sizes in ((1, np.abs(entries).sum(axis=1)), (2, (entries**2).sum(axis=1))):
        worst = int(sizes.argmax())
        opposite = (worst + len(entries) // 2) % len(entries)
        one, other = (filled(features, with_entry(features, entry)) for entry in (worst, opposite))
        for neighbours, difference in ((Neighbours.ADD_REMOVE, one), (Neighbours.REPLACE_ONE, one - other)):
            declared = features.sensitivity(neighbours)
            assert (np.abs(difference) ** norm).sum() == (declared.l1 if norm == 1 else declared.l2_squared)


def test_several_records_a_person_multiply_the_sensitivity_and_reach_it():
    domain = Domain.of(x=(-3, 3), y=(-3, 3), unit=PrivacyUnit("who", 5))
    features = Features(domain, Gaussian(1.0), rows=16, seed=3)
    difference = filled(features, [(1.0, 1.0)] * 5)
    declared = features.sensitivity(Neighbours.ADD_REMOVE)
    assert np.abs(difference).sum() == declared.l1 == 80
    assert (difference**2).sum() == declared.l2_squared == 400


@given(variants, st.data(), seeds)
@settings(max_examples=draws(10, 25))
def test_any_split_and_any_order_give_the_same_table(variant, data, seed):
    rows = np.random.default_rng(seed % 2**32).uniform(-3, 3, (3000, 2))
    features = sketch(variant, seed=seed)
    whole = filled(features, rows)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=6)))
    parts = features.zeros()
    for part in np.split(np.random.default_rng(1).permutation(rows), cuts):
        features.add(parts, points(part))
    assert (parts == whole).all()


@pytest.mark.parametrize("transform", ["dense", "fast"])
def test_what_a_record_adds_does_not_depend_on_the_records_beside_it(transform):
    domain = Domain((Vector("v", 37, -1.0, 1.0),))
    data = np.random.default_rng(1).uniform(-1, 1, (1100, 37))
    features = Features(domain, Smooth(2.0), 64, seed=3, transform=transform, wave="circle")
    for place in (0, 1, 7, 31, 32, 63, 64, 1023, 1024, 1099):
        alone = filled(features, data[[place]])
        assert (filled(features, data) - filled(features, np.delete(data, place, axis=0)) == alone).all()


@pytest.mark.few(3)
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_answers_are_unbiased(variant):
    """Mean over 40 seeds within 7.5 of its own standard errors: false alarm below 1e-6 (t, 39 degrees, 140 means)."""
    data = points(np.random.default_rng(5).normal(0, 1, (400, 2)).clip(-3, 3))
    queries = points([(0.0, 0.0), (1.0, 1.0), (-2.5, 2.0), (2.9, -2.9), (0.3, -1.0)])
    exact = variant[0].evaluate(queries, data).sum(axis=1)
    answers = []
    for seed in range(40):
        features = sketch(variant, rows=64, seed=seed)
        estimates, weights = features.group_estimates(filled(features, data), len(data), queries)
        answers.append(weights @ estimates)
    error = np.std(answers, axis=0, ddof=1) / np.sqrt(len(answers))
    assert (np.abs(np.mean(answers, axis=0) - exact) < 7.5 * error + 1e-9).all()


@pytest.mark.thorough
def test_evenly_spread_rows_vary_less_than_independent_ones():
    """Ten groups of a hundred rows against rows that are all independent: a thousand groups of one."""
    data = points(np.random.default_rng(5).normal(0, 1, (400, 2)).clip(-3, 3))
    exact = Smooth(1.0).evaluate(data[:20], data).sum(axis=1)

    def error(rows: int, groups: int) -> float:
        found = []
        for seed in range(draws(10, 20)):
            features = Features(DOMAIN, Smooth(1.0), rows, seed=seed, groups=groups)
            estimates, weights = features.group_estimates(filled(features, data), 400, data[:20])
            found.append(weights @ estimates - exact)
        return float(np.sqrt(np.mean(np.square(found))))

    assert error(500, 5) < 0.6 * error(500, 500)


@pytest.mark.thorough
def test_intervals_cover_the_truth_as_often_as_they_say():
    """Coverage of nominal 95% intervals over 150 independent sketches with noise, or 50; bounds as of RACE."""
    data = points(np.random.default_rng(5).normal(0, 1, (4000, 2)).clip(-3, 3))
    queries = points(np.random.default_rng(6).normal(0, 1, (50, 2)).clip(-3, 3))
    exact = Smooth(0.5).evaluate(queries, data).sum(axis=1)
    covered = []
    for seed in range(draws(50, 150)):
        made = release(
            Features(DOMAIN, Smooth(0.5), 200, seed=seed), np.array(data), Budget(1), noise_source=SeededSource(seed)
        )
        low, high = made.interval(queries)
        covered.append(np.mean((low <= exact) & (exact <= high)))
    assert draws(86, 90) / 100 < np.mean(covered) < draws(995, 985) / 1000


@pytest.mark.thorough
@pytest.mark.parametrize("variant", [deep(VARIANTS[0]), deep(VARIANTS[1]), (Smooth(1.0), "fast", "quadrant")], ids=str)
def test_the_noise_of_an_answer_is_forecast(variant):
    """Relative error of a variance from 4000 draws is 0.022; 0.15 is more than six times that."""
    features = sketch(variant, rows=32, seed=1)
    noise = np.random.default_rng(1).integers(-10, 11, (4000, 32, 2))
    query = points([(0.4, -1.0)])
    answers = [features.answer(table, 1.0, query, 0.0, 0.9).estimate[0] for table in noise]
    variance = (21**2 - 1) / 12
    assert np.var(answers) == pytest.approx(features.noise_variance(variance), rel=0.15)
    assert features.noise_variance(variance, query) == pytest.approx([features.noise_variance(variance)])


def test_the_better_wave_depends_on_the_noise():
    """Noise of an answer under pure epsilon: the quadrants have (pi/4)^2 = 0.617 of the circle's variance."""

    def noise(wave, delta):
        features = Features(DOMAIN, Gaussian(1.0), 1000, seed=1, wave=wave)
        scale = calibrate(features.sensitivity(Neighbours.ADD_REMOVE), Fraction(1), Fraction(delta))
        return features.noise_variance(scale.variance)

    assert noise("quadrant", 0) / noise("circle", 0) == pytest.approx(np.pi**2 / 16, rel=1e-3)
    assert noise("circle", 0) == pytest.approx(4 * 1000, rel=1e-3)
    assert noise("circle", "1e-6") < 1.01 * noise("quadrant", "1e-6")


def test_far_queries_are_answered_with_numbers():
    features = Features(DOMAIN, Smooth(0.5), 16, seed=1)
    table = filled(features, [(0.0, 0.0)] * 100)
    estimates, _ = features.group_estimates(table, 100, points([(1e300, 0.0), (-1e308, 1e308), (1e17, 1e17)]))
    assert np.isfinite(estimates).all() and (estimates[:, :2] == 0).all()


def test_the_exact_answer_is_the_kernel_of_encoded_points():
    domain = Domain.of(x=(-3, 3), city=["Bern", "Basel", "Chur"])
    features = Features(domain, Gaussian((1.0, 0.5)), 8, seed=1)
    encoded = domain.encode_queries({"x": [0.0, 1.0], "city": ["Bern", "Chur"]}, features.metric)
    assert features.exact(encoded[:1], encoded) == pytest.approx([1.0 + np.exp(-0.5 - 2.0)])


def test_a_release_is_made_read_merged_and_forecast():
    data = np.random.default_rng(5).normal(0, 1, (6000, 2)).clip(-3, 3)
    budget = Budget(1)
    features = Features(DOMAIN, Gaussian(0.7), seed=8)
    made = release(features, data, budget, records=6000)
    assert made.sketch.rows is not None and made.counted is not None
    read = load(made.to_bytes())
    assert read.sketch == made.sketch and (read.counters == made.counters).all()
    exact = Gaussian(0.7).evaluate(data[:100], data).sum(axis=1)
    outlook = forecast(made.sketch, budget, 6000, float(exact.mean() / 6000))
    error = np.sqrt(np.mean((made.estimate(data[:100]) - exact) ** 2))
    assert 0.3 < error / outlook.standard_error < 2.5
    halves = [release(made.sketch, half, budget) for half in (data[:3000], data[3000:])]
    both = halves[0].merged(halves[1])
    assert (both.counters == halves[0].counters + halves[1].counters).all()


@pytest.mark.deep
@pytest.mark.parametrize("wave", ["circle", "quadrant"])
@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize("delta", [0, "1e-5"])
def test_the_mechanism_keeps_its_promise(wave, neighbours, delta):
    features = Features(DOMAIN, Gaussian(1.0), 2, seed=1, groups=2, wave=wave)
    assert audit_sketch(features, Budget(1, delta, neighbours), runs=20_000, level=1 - 1e-8).passed


@pytest.mark.parametrize("wave", ["circle", "quadrant"])
def test_half_the_noise_is_caught(wave, monkeypatch):
    def half(sensitivity, epsilon, delta):
        return calibrate(sensitivity, 2 * epsilon, delta)

    monkeypatch.setattr(linear, "calibrate", half)
    features = Features(DOMAIN, Gaussian(1.0), 2, seed=1, groups=2, wave=wave)
    assert not audit_sketch(features, Budget(1), runs=40_000, level=1 - 1e-8).passed


def test_parameters_rebuild_the_sketch():
    for variant in VARIANTS:
        features = sketch(variant, rows=20)
        assert sketch_from_parameters("features", DOMAIN, features.parameters()) == features


@pytest.mark.parametrize(
    "change",
    [
        {"rows": None},
        {"rows": True},
        {"rows": 10**9},
        {"seed": "xyz"},
        {"seed": 5},
        {"groups": 0},
        {"groups": 10**6},
        {"wave": "square"},
        {"transform": ["dense"]},
        {"kernel": {"name": "angular", "power": 1}},
        {"kernel": "gaussian"},
        {"width": 5},
    ],
)
def test_hostile_parameters_are_refused(change):
    facts = Features(DOMAIN, Gaussian(1.0), 20).parameters() | change
    with pytest.raises(RequestError) as refusal:
        sketch_from_parameters("features", DOMAIN, facts)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"kernel": Euclidean(1.0)}, "mechanism 'race'"),
        ({"kernel": Angular()}, "mechanism 'race'"),
        ({"kernel": Product((Gaussian(1.0), Angular()))}, "mechanism 'race'"),
        ({"kernel": Laplacian(1.0), "transform": "fast"}, "dense transform"),
        ({"kernel": Product((Gaussian(1.0), Gaussian(2.0))), "transform": "fast"}, "dense transform"),
        ({"rows": 1}, "number of rows"),
        ({"seed": -1}, "seed"),
        ({"kernel": Gaussian((1.0, 2.0, 3.0))}, "3 bandwidths"),
    ],
)
def test_bad_requests_are_refused_in_one_sentence(facts, words):
    with pytest.raises(RequestError, match=words) as refusal:
        _ = Features(**{"domain": DOMAIN, "kernel": Gaussian(1.0), "rows": 10} | facts).frequencies
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("transform", ["dense", "fast"])
@pytest.mark.parametrize(("low", "high", "bandwidth"), [(0.9e100, 1e100, 1.0), (1e90, 1.1e90, 1e-110), (0, 1, 1e-17)])
def test_bounds_whose_phases_cannot_be_told_are_refused(transform, low, high, bandwidth):
    with pytest.raises(RequestError, match="too many bandwidths from zero"):
        _ = Features(Domain.of(x=(low, high)), Gaussian(bandwidth), 40, seed=3, transform=transform).frequencies


def test_too_many_numbers_are_refused_before_they_are_drawn():
    wide = Domain((Vector("v", 60_000, -1.0, 1.0),))
    with pytest.raises(RequestError, match="fits into memory"):
        _ = Features(wide, Gaussian(1.0), 10_000, seed=3).frequencies
    with pytest.raises(RequestError, match="fits into memory"):
        _ = Features(wide, Gaussian(1.0), 300_000, seed=3, groups=1000, transform="fast").frequencies
    assert Features(wide, Gaussian(1.0), 10_000, seed=3).setup_bytes > 2**33


def test_the_phases_of_the_reference_are_those_of_the_frequencies():
    """The slow reference adds in a fixed order; a matrix product tells the same up to rounding."""
    for transform in ("dense", "fast"):
        features = Features(DOMAIN, Smooth(0.5), 12, seed=1, transform=transform)
        point = np.array([1.25, -2.0])
        expected = features.frequencies.waves @ point + features.frequencies.phases
        assert slow_phases(features, point) == pytest.approx(expected)
