"""Distances from few asked places: sums against slow ones, sensitivities measured, and choices that were paid for."""

from fractions import Fraction
from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchmarks.papers import guaranteed_queries
from benchmarks.papers.guaranteed_queries import GuaranteedQueries, findings_for, guarantee
from core import Budget, Domain, Ledger, load, release
from core.domain import PrivacyUnit, Vector
from core.errors import RequestError
from core.lab.published import huang_roth as module
from core.lab.published.asked_distances import (
    SCALE,
    STEPS,
    UNASKED,
    AskedDistances,
    distances_from,
    every_place,
    fitted_weights,
    places_sensitivity,
    reach_of,
    records_in,
)
from core.lab.published.dyadic_trees import IntervalTree
from core.lab.published.huang_roth import HuangRoth
from core.privacy.attacks import audit
from core.privacy.budget import Neighbours
from core.privacy.calibration import NoiseScale
from core.privacy.noise.randomness import SeededSource
from core.releases.forecast.forecast import forecast
from core.sketches.mechanism_audit import audit_sketch
from tests.depth import draws

LINE = Domain.of(x=(0, 1))
PLANE = Domain.of(x=(-3, 5), y=(0, 10))
places = st.lists(st.integers(0, STEPS), min_size=1, max_size=6).map(tuple)
shares = st.one_of(st.floats(0, 1), st.integers(0, STEPS).map(lambda place: place / STEPS))


def filled(sketch, rows) -> np.ndarray:
    table = sketch.zeros()
    if len(rows):
        sketch.add(table, np.asfortranarray(np.array(rows, float).reshape(-1, sketch.domain.dimensions)))
    return table


@given(places, st.lists(shares, max_size=20))
def test_counters_are_sums_of_distances_in_whole_numbers(asked, values):
    table = filled(AskedDistances(LINE, (asked,)), values)
    for counter, place in zip(table[0].tolist(), asked, strict=True):
        exact = [abs(Fraction(value) - Fraction(place, STEPS)) / Fraction(reach_of(place)) * SCALE for value in values]
        # A distance that floating point rounds up to a whole number of units counts as that.
        assert sum(exact) - 2 * len(values) <= counter <= sum(map(ceil, exact))


@given(st.lists(st.tuples(shares, shares), max_size=30), st.lists(st.integers(0, 30), max_size=3))
def test_any_split_gives_the_same_table_and_the_exact_number_of_records(rows, cuts):
    rows = np.array(rows, float).reshape(-1, 2) * (8, 10) - (3, 0)
    sketch = every_place(PLANE)
    whole, parts = filled(sketch, rows), sketch.zeros()
    for part in np.split(rows, sorted(min(cut, len(rows)) for cut in cuts)):
        sketch.add(parts, np.asfortranarray(part))
    assert (whole == parts).all()
    assert [records_in(row) for row in whole] == [len(rows)] * 2


@given(st.lists(places.map(lambda row: (*row, 0)[:4]), min_size=2, max_size=2), st.booleans(), shares, shares, shares)
def test_no_neighbours_are_further_apart_than_declared(rows, ends, base, one, other):
    rows = [((0, STEPS, *row) if ends else row) + (7,) * 6 for row in rows]
    sketch = AskedDistances(PLANE, tuple(row[:6] for row in rows))
    at = [
        filled(sketch, [(8 * t - 3, 10 * t) for t in values]).astype(object)
        for values in ([base], [base, one], [base, other])
    ]
    for relation, moved in ((Neighbours.ADD_REMOVE, at[1] - at[0]), (Neighbours.REPLACE_ONE, at[1] - at[2])):
        declared = sketch.sensitivity(relation)
        assert np.abs(moved).sum() <= declared.l1 and (moved**2).sum() <= declared.l2_squared
        assert np.abs(moved).max() <= SCALE


def test_some_neighbours_reach_the_declared_bounds():
    near_one_end = AskedDistances(PLANE, ((0, STEPS, 3, 64),) * 2)
    declared = near_one_end.sensitivity(Neighbours.ADD_REMOVE)
    moved = filled(near_one_end, [(5, 10)]).astype(object)
    assert np.abs(moved).sum() == declared.l1 == 6 * SCALE and (moved**2).sum() == declared.l2_squared
    without = AskedDistances(PLANE, ((0, 3, 64, 5),) * 2)
    moved = filled(without, [(5, 10)]).astype(object)
    assert np.abs(moved).sum() == without.sensitivity(Neighbours.ADD_REMOVE).l1 == 8 * SCALE
    at_ends = AskedDistances(PLANE, ((0, STEPS, 0, STEPS),) * 2)
    declared = at_ends.sensitivity(Neighbours.REPLACE_ONE)
    moved = (filled(at_ends, [(5, 10)]) - filled(at_ends, [(-3, 0)])).astype(object)
    assert np.abs(moved).sum() == declared.l1 == 8 * SCALE and (moved**2).sum() == declared.l2_squared
    nearly = AskedDistances(PLANE, ((0, STEPS, 1, STEPS - 1),) * 2)
    moved = (filled(nearly, [(5, 10)]) - filled(nearly, [(-3, 0)])).astype(object)
    assert np.abs(moved).sum() > 0.98 * declared.l1


@given(st.lists(st.integers(0, STEPS), min_size=1, max_size=8, unique=True), st.lists(shares, min_size=1, max_size=30))
def test_without_noise_the_function_runs_through_the_answers_and_lies_above_between(asked, values):
    sketch = AskedDistances(LINE, ((0, STEPS, *asked),))
    table = filled(sketch, values)
    exact = lambda q: np.abs(np.subtract.outer(np.atleast_1d(q), values)).sum(axis=1)  # noqa: E731
    found = lambda q: sketch.answer(table, 1, np.atleast_1d(q)[:, None], 0.0, 0.95).estimate  # noqa: E731
    knots = np.array(sorted({0, STEPS, *asked})) / STEPS
    assert found(knots) == pytest.approx(exact(knots), abs=1e-6 * len(values))
    between = np.linspace(-0.5, 1.5, 81)
    inside = (between >= 0) & (between <= 1)
    straight = np.interp(between, knots, exact(knots))
    assert found(between)[inside] == pytest.approx(straight[inside], abs=1e-6 * len(values))
    assert (found(between)[inside] >= exact(between)[inside] - 1e-6 * len(values)).all()
    assert found(between)[~inside] == pytest.approx(exact(between)[~inside], abs=1e-6 * len(values))


def test_with_every_place_asked_and_no_noise_it_is_the_exact_sum():
    random = np.random.default_rng(1)
    rows = random.integers(0, STEPS + 1, (300, 2)) / STEPS * (8, 10) - (3, 0)
    queries = np.asfortranarray(random.uniform((-6, -4), (8, 14), (60, 2)))
    sketch = every_place(PLANE)
    places = np.rint((queries - (-3, 0)) / (8, 10) * STEPS) / STEPS * (8, 10) + (-3, 0)
    found = sketch.answer(filled(sketch, rows), 300, places, 0.0, 0.95)
    assert found.estimate == pytest.approx(sketch.exact(places, rows), rel=1e-6)
    assert sketch.total(filled(sketch, rows)) == pytest.approx(300)


def quiet(monkeypatch):
    """No noise at all: neither in measurements nor in comparisons."""
    monkeypatch.setattr(module, "add_noise", lambda table, scale, source: np.array(table))
    monkeypatch.setattr(module.SparseVector, "_drawn", lambda self, scale, count: [0] * count)


def test_without_noise_the_learner_asks_where_the_function_bends(monkeypatch):
    quiet(monkeypatch)
    data = np.concatenate([np.full(500, 0.1875), np.full(500, 0.875)])[:, None]
    made = release(HuangRoth(LINE, 9), data, Budget(1), noise_source=SeededSource(0))
    asked = made.sketch.places[0]
    assert {0, STEPS, 24, 112} <= set(asked)  # the others lie on the way to these
    queries = np.linspace(-0.2, 1.2, 57)[:, None]
    assert made.estimate(queries) == pytest.approx(made.sketch.exact(queries, data), rel=1e-6)


def test_the_learner_never_needs_more_findings_than_the_bound(monkeypatch):
    quiet(monkeypatch)
    random = np.random.default_rng(0)
    for error in (0.3, 0.1, 0.03, 0.01):
        for values in (random.uniform(0, 1, 400), random.beta(0.3, 5, 400), random.choice([0.2, 0.21, 0.7], 400)):
            mechanism = GuaranteedQueries(LINE, STEPS + 1, 400 * error)
            made = release(mechanism, values[:, None], Budget(1), noise_source=SeededSource(0))
            found = [place for place in made.sketch.places[0] if place != UNASKED]
            assert len(found) <= findings_for(error)
            queries = np.linspace(0, 1, STEPS + 1)[:, None]
            # A counter is the sum over its place's reach, so the threshold is for that.
            off = np.abs(made.estimate(queries) - made.sketch.exact(queries, values[:, None]))
            assert off.max() <= 400 * error + 1e-3


def test_the_guarantee_returns_zero_everywhere_where_the_iclr_paper_says_so():
    """Section 11.1: a thousand points, epsilon up to 1; with many more points it learns."""
    random = np.random.default_rng(4)
    queries = np.linspace(0, 1, 21)[:, None]
    few, many = random.uniform(0, 1, (1000, 1)), random.uniform(0, 1, (50_000, 1))
    for epsilon in (0.1, 1):
        budget = Budget(epsilon)
        trivial = release(GuaranteedQueries(LINE).sized_for(budget, 1000), few, budget)
        assert (trivial.estimate(queries) == 0).all() and set(trivial.sketch.places[0]) == {UNASKED}
        assert trivial.counted is not None
    learnt = release(GuaranteedQueries(LINE).sized_for(budget, 50_000), many, budget)
    exact = learnt.sketch.exact(queries, many)
    assert np.mean(np.abs(learnt.estimate(queries) - exact) / exact) < 0.2
    asked, threshold = guarantee(1.0, 1000)
    assert threshold > 1000 and asked < guarantee(1.0, 1e6)[0]


@pytest.mark.deep
@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_the_practical_constants_beat_the_tree_of_the_paper(neighbours):
    data = np.random.default_rng(5).uniform(0, 1, (1000, 1))
    queries = np.linspace(0, 1, 41)[:, None]
    exact = np.abs(queries - data.T).sum(axis=1)
    budget, noises, errors = Budget(1, neighbours=neighbours), SeededSource(2), {}
    for name, sketch in (("asked", HuangRoth(LINE)), ("tree", IntervalTree(LINE))):
        runs = [release(sketch.sized_for(budget, 1000), data, budget, noise_source=noises) for _ in range(8)]
        errors[name] = np.mean([np.abs(run.estimate(queries) - exact) / exact for run in runs])
    assert errors["asked"] < 0.1 and errors["asked"] < errors["tree"] / 3


@pytest.mark.few(2)
@pytest.mark.parametrize("budget", [Budget(1), Budget(1, "1e-6"), Budget(2, neighbours="replace_one")])
@pytest.mark.parametrize("kind", [HuangRoth, GuaranteedQueries])
def test_a_release_is_paid_for_saved_and_read(tmp_path, budget, kind):
    ledger = Ledger(tmp_path / "ledger")
    domain = Domain.of(x=(-3, 5), y=(0, 10), missing="refuse", unit=PrivacyUnit())
    data = np.random.default_rng(6).uniform((-3, 0), (5, 10), (4000, 2))
    mechanism = kind(domain).sized_for(budget, 4000)
    made = release(mechanism, data, budget, ledger=ledger, dataset="people")
    assert made.private and made.privacy.epsilon == budget.epsilon
    (entry,) = ledger.status("people").releases
    assert entry.cost == mechanism.plan(budget).cost
    again = load(made.to_bytes())
    assert again.sketch == made.sketch and (again.counters == made.counters).all()
    assert (again.answer(data[:9]).estimate == made.answer(data[:9]).estimate).all()
    if budget.neighbours is Neighbours.REPLACE_ONE:
        assert made.counted == 4000 and made.count_is_public
    if kind is HuangRoth:
        exact = made.sketch.exact(data[:50], data)
        assert made.answer(data[:50]).estimate == pytest.approx(exact, rel=0.5)


def test_prices_add_up_to_the_promise():
    for budget in (Budget(1), Budget(3, "1e-6"), Budget(1, neighbours="replace_one")):
        for made in (HuangRoth(PLANE, 7), GuaranteedQueries(PLANE, 7, 50.0)):
            planned = made.plan(budget)
            if budget.pure:
                assert planned.cost.pure_epsilon == budget.epsilon
            # Twice the comparisons, or the measurements without noise enough, would not be within the promise.
            moved = places_sensitivity(2, 7, made.borders, budget.neighbours)
            assert planned.noises[0].fits(moved)


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize("kind", [HuangRoth, GuaranteedQueries])
def test_comparisons_are_paid_for_what_a_person_moves(neighbours, kind, monkeypatch):
    """Three records a person move a counter by three; only sums that all grow, asked from above, are monotone."""
    made = []
    honest = module.SparseVector

    def watched(sensitivity, epsilon, findings, monotone, source):
        made.append((sensitivity, epsilon, findings, monotone))
        return honest(sensitivity, epsilon, findings, monotone, source)

    monkeypatch.setattr(module, "SparseVector", watched)
    domain = Domain.of(x=(0, 1), y=(0, 1), unit=PrivacyUnit("who", 3))
    mechanism = HuangRoth(domain, 6) if kind is HuangRoth else kind(domain, 6, 9.0)
    planned = mechanism.plan(Budget(1, neighbours=neighbours))
    exact = filled(every_place(domain), np.full((90, 2), 0.3))
    mechanism.run(lambda sketch: exact.copy(), planned, SeededSource(0))
    monotone = (neighbours, kind) == ("add_remove", HuangRoth)
    findings = 4 if kind is HuangRoth else 6
    assert made == [(3 * SCALE, price, findings, monotone) for price in planned.choices]
    assert planned.cost.events[0].epsilon == planned.choices[0] and planned.cost.events[0].count == 2


def test_a_forecast_is_near_what_is_measured():
    budget = Budget(1)
    told = forecast(HuangRoth(LINE).sized_for(budget, 5000), budget, 5000)
    assert 0.002 < told.relative_error < 0.1 and told.records_error < 50
    assert told.answers == "distance"


def runs_of(mechanism, budget, noises):
    def outputs(values: np.ndarray) -> np.ndarray:
        exact = filled(mechanism.first, values)
        made = mechanism.run(lambda sketch: exact.copy(), mechanism.plan(budget), noises)
        order = [made.sketch.places[0].index(place) if place in made.sketch.places[0] else -1 for place in (0, 128, 64)]
        return np.array([made.table[0][k] / SCALE if k >= 0 else -99.0 for k in order])

    return outputs


@pytest.mark.deep
@pytest.mark.parametrize("kind", [HuangRoth, GuaranteedQueries])
def test_the_audit_passes_and_catches_comparisons_that_are_free(kind, monkeypatch):
    """One person more makes a place worth asking; planted: comparisons with hardly any noise."""
    monkeypatch.setattr(guaranteed_queries, "coarse_to_fine", lambda: [0, STEPS, 64])
    mechanism = HuangRoth(LINE, 3) if kind is HuangRoth else kind(LINE, 3, 6.0)
    one, other, noises = np.array([0.5] * 12), np.array([0.5] * 12 + [1.0]), SeededSource(7)
    outputs = runs_of(mechanism, Budget(1), noises)
    sums = lambda values: [np.abs(values - place).sum() / max(place, 1 - place) for place in (0, 1, 0.5)]  # noqa: E731
    assert audit(outputs, one, other, 1.0, exact=sums, runs=draws(150, 250)).passed
    if kind is GuaranteedQueries:
        honest = module.SparseVector._drawn
        tiny = NoiseScale("discrete_laplace", Fraction(SCALE, 50))
        monkeypatch.setattr(module.SparseVector, "_drawn", lambda self, scale, count: honest(self, tiny, count))
        assert not audit(outputs, one, other, 1.0, exact=sums, runs=draws(150, 250)).passed


def test_the_audit_of_the_released_table_passes():
    assert audit_sketch(AskedDistances(LINE, ((0, STEPS, 40),)), Budget(1), runs=3000, level=1 - 1e-8).passed


@pytest.mark.deep
def test_what_was_not_asked_is_noise_alone():
    budget = Budget(1)
    mechanism = GuaranteedQueries(LINE, 5, 1e9)
    planned, exact = mechanism.plan(budget), filled(every_place(LINE), [0.5] * 1000)
    tables = [mechanism.run(lambda sketch: exact, planned, SeededSource(seed)).table for seed in range(150)]
    noise = np.concatenate([table[0] for table in tables])
    scale = float(planned.noises[0].parameter)
    assert stats.kstest(noise, stats.laplace(scale=scale).cdf).pvalue > 1e-8


def test_weights_are_never_negative_and_empty_answers_give_zero():
    nodes, weights = fitted_weights([0, 64, STEPS], np.array([5.0, -40.0, 3.0]) * SCALE)
    assert (weights >= 0).all()
    assert (distances_from(*fitted_weights([], np.empty(0)), np.array([0.3, 2.0])) == 0).all()
    assert len(nodes) == 3


def test_parameters_rebuild_the_sketch():
    sketch = AskedDistances(PLANE, ((0, STEPS, UNASKED), (5, 6, 7)))
    assert AskedDistances.from_parameters(PLANE, sketch.parameters()) == sketch


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"places": None},
        {"places": [[0, 1]]},
        {"places": [[0, 1], [0]]},
        {"places": [[], []]},
        {"places": [[0, 129], [0, 1]]},
        {"places": [[0, -2], [0, 1]]},
        {"places": [[0, 1.0], [0, 1]]},
        {"places": [[0, True], [0, 1]]},
        {"places": [0, 1]},
        {"places": [[UNASKED] * (STEPS + 2)] * 2},
        {"places": [[0, 1], [0, 1]], "more": 1},
    ],
)
def test_a_strangers_parameters_are_refused_in_one_sentence(parameters):
    with pytest.raises(RequestError) as refusal:
        AskedDistances.from_parameters(PLANE, parameters)
    assert str(refusal.value).count("\n") == 0


@pytest.mark.parametrize("facts", [{"asked": 2}, {"asked": STEPS + 2}, {"domain": Domain((Vector("v", 65, 0, 1),))}])
def test_requests_that_cannot_be_are_refused(facts):
    with pytest.raises(RequestError) as refusal:
        HuangRoth(**({"domain": LINE} | facts))
    assert str(refusal.value).count("\n") == 0


@pytest.mark.parametrize("threshold", [-1.0, float("nan")])
def test_thresholds_that_cannot_be_are_refused(threshold):
    with pytest.raises(RequestError):
        GuaranteedQueries(LINE, threshold=threshold)
