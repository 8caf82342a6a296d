"""MWEM against a slow direct implementation, maximum entropy by another solver, and audits from end to end."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

from core.analysis.sampling import sample
from core.domain import Domain, PrivacyUnit, Vector
from core.errors import RequestError
from core.geometry.kernels import Angular, Gaussian, Jaccard, Laplacian, Mixture
from core.lab.published.multiplicative_weights import CYCLES, LARGEST_STEP, ONE, MultiplicativeWeights, even, reweighted
from core.lab.published.mwem import MWEM
from core.privacy.attacks import audit
from core.privacy.budget import Budget, Neighbours
from core.privacy.composition import Selections
from core.privacy.noise.randomness import SeededSource
from core.releases.forecast.forecast import forecast
from core.releases.job import release
from core.releases.release import load
from core.sketches.mechanism_audit import audit_sketch
from tests.depth import draws
from tests.sketches.checking import poured

PLANE = Domain.of(x=(-3, 5), y=(0, 10))
MIXED = Domain.of(x=(-3, 5), city=["Bern", "Basel", "Chur"], y=(0, 10))
SKETCH = MultiplicativeWeights(PLANE, Gaussian(2.0), (6, 5), 12, 7, (3, 0, 11, 3, 12))
MIXED_SKETCH = MultiplicativeWeights(MIXED, Laplacian(2.0), (4, 3), 9, 1, (8, 9, 2))


def drawn(sketch, n: int, seed: int = 0) -> np.ndarray:
    """Encoded records, most of them in one corner."""
    return sketch.grid.places(np.random.default_rng(seed).beta(1.0, 3.0, (n, len(sketch.grid.axes))))


def slow_sums(sketch, points) -> np.ndarray:
    """Kernel sums at the picked places, pair by pair; of none, the number of records."""
    sums = []
    for place in sketch.chosen:
        if place == sketch.queries:
            sums.append(float(len(points)))
        else:
            sums.append(sum(sketch.point_kernel.evaluate(sketch.places[place][None], x[None])[0, 0] for x in points))
    return np.array(sums)


def slow_reweighted(weights, values, averages, error) -> np.ndarray:
    """The updates of the paper's figure 1 with this project's step, one cell after the other."""
    weights = list(weights)
    for newest in range(len(averages)):
        for _ in range(CYCLES):
            agreed = True
            for i in reversed(range(newest + 1)):
                mean = math.fsum(w * q for w, q in zip(weights, values[i], strict=True))
                variance = math.fsum(w * (q - mean) ** 2 for w, q in zip(weights, values[i], strict=True))
                off = min(max(averages[i], 0.0), 1.0) - mean
                if abs(off) > error:
                    agreed = False
                    step = min(max(off / max(variance, 1e-30), -LARGEST_STEP), LARGEST_STEP)
                    weights = [w * math.exp(step * q) for w, q in zip(weights, values[i], strict=True)]
                    weights = [w / math.fsum(weights) for w in weights]
            if agreed:
                break
    return np.array(weights)


@pytest.mark.parametrize("sketch", [SKETCH, MIXED_SKETCH], ids=["plane", "mixed"])
def test_sums_are_those_of_every_pair_and_any_split_gives_the_same(sketch):
    records = drawn(sketch, 60)
    table = poured(sketch, records)
    assert table / ONE == pytest.approx(slow_sums(sketch, records), abs=60 * 1e-8)
    parts = sketch.zeros()
    for part in np.split(records, [1, 17, 17, 40]):
        sketch.add(parts, np.asfortranarray(part))
    assert (parts == table).all()


def test_weights_are_changed_as_slowly_written_down():
    random = np.random.default_rng(2)
    values, averages = random.random((4, 9)) ** 3, np.array([0.3, 0.2, 0.5, -0.1])
    start = random.dirichlet(np.ones(9))
    for error in (1e-7, 0.05):
        expected = slow_reweighted(start, values, averages, error)
        assert reweighted(start, values, averages, error) == pytest.approx(expected, abs=1e-9)
    # Measurements that are known already are not gone through again by themselves.
    first = reweighted(start, values[:2], averages[:2], 0.01)
    assert (reweighted(first, values, averages, 0.01, 2) == reweighted(start, values, averages, 0.01)).all()


def test_with_everything_measured_the_imitation_has_the_most_entropy_of_all_that_agree():
    """Against a dual solver of another library; records at centres of cells can be imitated exactly."""
    sketch = MultiplicativeWeights(PLANE, Gaussian(2.0), (6, 5), 5, 7, tuple(range(6)))
    random = np.random.default_rng(3)
    records = sketch.grid.points(np.column_stack([random.integers(0, 6, 200), random.integers(0, 5, 200)]))
    table = poured(sketch, records)
    averages, values = table / (ONE * 200), sketch.values_of_cells
    dual = minimize(lambda a: logsumexp(a @ values) - a @ averages, np.zeros(6), method="BFGS", options={"gtol": 1e-9})
    expected = np.exp(dual.x @ values - logsumexp(dual.x @ values))
    found = even(sketch.grid)
    for _ in range(60):
        found = reweighted(found, values, averages, 1e-9, 5)
    assert found == pytest.approx(expected / expected.sum(), abs=1e-5)


def test_the_imitation_agrees_with_what_was_measured():
    sketch = MultiplicativeWeights(PLANE, Gaussian(2.0), (12, 10), 9, 7, tuple(range(9)))
    records = drawn(sketch, 300)
    table, asked = poured(sketch, records), np.asfortranarray(sketch.places)
    answers = sketch.answer(table, 300, asked, 0.0, 0.95)
    assert answers.estimate == pytest.approx(sketch.exact(asked, records), abs=3.0)
    assert answers.density == pytest.approx(answers.estimate / 300)
    assert np.isinf(answers.standard_error).all() and (answers.low == -np.inf).all()
    assert np.isinf(sketch.noise_variance(1.0, asked)).all() and sketch.noise_variance(1.0) == math.inf


def slow_rounds(mechanism, records, rounds) -> list[int]:
    """The questions that are answered worst, one after the other, without noise and without privacy."""
    sketch = mechanism.first
    truth = sketch.exact(np.asfortranarray(sketch.places), records)
    centres = sketch.grid.centre_points()
    values = sketch.point_kernel.evaluate(sketch.places, centres)
    weights, chosen = even(sketch.grid), []
    for _ in range(rounds):
        chosen.append(int(np.argmax(np.abs(truth - len(records) * values @ weights))))
        weights = slow_reweighted(even(sketch.grid), values[chosen], truth[chosen] / len(records), 1e-4)
    return chosen


def test_with_next_to_no_noise_the_worst_answered_questions_are_measured():
    """Scores of the best and second best differ by tens of records here, and noise by tenths."""
    mechanism = MWEM(PLANE, Gaussian(2.0), 3, cells=(6, 5), queries=12, seed=7)
    records = np.asfortranarray(drawn(mechanism.first, 4000))
    made = release(mechanism, records, Budget(100), noise_source=SeededSource(1))
    assert list(made.sketch.chosen) == slow_rounds(mechanism, records, 3)
    assert made.counters / ONE == pytest.approx(slow_sums_of(made.sketch, records), abs=5.0)
    assert made.records == pytest.approx(4000, abs=20)


def slow_sums_of(sketch, records) -> np.ndarray:
    return sketch.exact(np.asfortranarray(sketch.places[list(sketch.chosen)]), records)


@pytest.mark.parametrize("relation", Neighbours)
def test_a_record_at_the_picked_place_reaches_the_bound_and_none_passes_it(relation):
    sketch = MultiplicativeWeights(PLANE, Gaussian(0.3), (4, 4), 8, 3, (5, 5, 5))
    far = sketch.places[np.argmax(((sketch.places - sketch.places[5]) ** 2).sum(axis=1))]
    low, high = PLANE.bounds()
    anywhere = np.random.default_rng(1).uniform(low, high, (40, 2))
    tables = [poured(sketch, record[None]) for record in (sketch.places[5], far, *anywhere)]
    others = [sketch.zeros()] if relation is Neighbours.ADD_REMOVE else tables
    changes = [(table - other).astype(object) for table in tables for other in others]
    declared = sketch.sensitivity(relation)
    assert max(np.abs(change).sum() for change in changes) == declared.l1 == 3 * ONE
    assert max((change**2).sum() for change in changes) == declared.l2_squared


def test_no_record_adds_more_than_one_unit_whatever_a_kernels_weights_round_to():
    kernel = Mixture((Gaussian(1.0), Gaussian(2.0)), (0.5 + 9.4e-10, 0.5))
    sketch = MultiplicativeWeights(PLANE, kernel, (4, 4), 8, 3, (5, 8))
    assert (poured(sketch, sketch.places[5][None]) <= ONE).all()


@pytest.mark.parametrize("promise", [Budget(1), Budget(1, neighbours="replace_one"), Budget(1, "1e-6")], ids=str)
def test_half_of_the_budget_pays_for_choices_and_half_for_answers(promise):
    closed = Domain(PLANE.columns, missing="refuse")
    plan = MWEM(closed, Gaussian(2.0), 5, cells=(6, 5), queries=12, seed=7).plan(promise)
    public = promise.neighbours is Neighbours.REPLACE_ONE
    assert plan.counts and (plan.count_noise is None) == public
    assert len(plan.choices) == 5 and len(set(plan.choices)) == 1
    chosen, *measured = plan.cost.events
    assert isinstance(chosen, Selections) and chosen.count == 5
    if promise.pure:
        share = 1 if public else 0.98
        assert float(5 * plan.choices[0]) == pytest.approx(0.5 * share)
        assert float(plan.noises[0].parameter) == pytest.approx(10 * ONE / share)
        assert sum(float(event.epsilon * event.count) for event in plan.cost.events) == pytest.approx(1)
    else:
        assert float(chosen.rho) == pytest.approx(float(measured[0].rho), rel=1e-5)


def outputs(mechanism, plan, data, source) -> np.ndarray:
    """What tells most of a release of one round: the sum at the last place, if it was picked."""
    exact = poured(mechanism.first, data)
    made = mechanism.run(lambda sketch: exact, plan, source)
    return np.array([made.table[0] / ONE if made.sketch.chosen[0] == mechanism.queries - 1 else 0.0])


@pytest.mark.deep
def test_the_audit_passes_and_catches_choices_and_answers_that_cost_too_little():
    """One record more, at a place that nobody else is near."""
    mechanism = MWEM(Domain.of(x=(0, 1)), Gaussian(0.05), 1, cells=(4,), queries=2, seed=1)
    crowd, both = mechanism.first.places[:1], mechanism.first.places
    source = SeededSource(4)

    def attacked(plan):
        return audit(lambda data: outputs(mechanism, plan, data, source), crowd, both, 1, runs=draws(120, 600))

    assert attacked(mechanism.plan(Budget(1))).passed
    assert not attacked(mechanism.plan(Budget(draws(16, 8)))).passed


@pytest.mark.parametrize("relation", Neighbours)
def test_a_record_moves_scores_by_the_declared_sensitivity_and_no_more(relation, monkeypatch):
    """Scores of the first round at neighbours, all else that comes out being the same."""
    seen = []
    monkeypatch.setattr("core.lab.published.mwem.noisy_count", lambda records, plan, source: 50)
    monkeypatch.setattr(
        "core.lab.published.mwem.select", lambda scores, sensitivity, *_: seen.append((scores, sensitivity)) or 0
    )
    mechanism = MWEM(PLANE, Gaussian(0.3), 1, cells=(6, 5), queries=12, seed=7)
    crowd, places = drawn(mechanism.first, 50), mechanism.first.places
    plan = mechanism.plan(Budget(1, neighbours=relation))
    neighbours = [np.vstack([crowd, one[None]]) for one in (*places, np.array([5.0, 10.0]))]
    for data in ([crowd] if relation is Neighbours.ADD_REMOVE else []) + neighbours:
        exact = poured(mechanism.first, data)
        mechanism.run(lambda sketch, exact=exact: exact, plan, SeededSource(1))
    moved = [np.abs(one - other).max() for one, _ in seen for other, _ in seen[:1]]
    assert max(moved) <= ONE and max(moved) > ONE * (1 - 1e-6)
    assert {sensitivity for _, sensitivity in seen} == {ONE}


def test_the_released_sums_pass_an_audit_of_their_own_and_halved_noise_fails(monkeypatch):
    sketch = MultiplicativeWeights(PLANE, Angular(), (4, 4), 8, 3, (8, 8))
    assert audit_sketch(sketch, Budget(1), runs=4000, level=1 - 1e-8).passed
    honest = MultiplicativeWeights.record_sensitivity
    less = lambda self, _: type(honest(self, _))(ONE // 2, ONE**2 // 4)  # noqa: E731
    monkeypatch.setattr(MultiplicativeWeights, "record_sensitivity", less)
    assert not audit_sketch(sketch, Budget(1), runs=8000).passed


@pytest.mark.parametrize("domain", [PLANE, MIXED, Domain.of(city=["Bern", "Basel"])], ids=["plane", "mixed", "city"])
def test_a_release_is_made_saved_and_read(domain):
    mechanism = MWEM(domain, Laplacian(2.0), seed=3).sized_for(Budget(30), 500)
    records = drawn(mechanism.first, 500)
    natural = domain.decode_points(records, mechanism.metric)
    made = release(mechanism, natural, Budget(30), noise_source=SeededSource(1))
    again = load(made.to_bytes(teaching=True))
    assert again.sketch == made.sketch
    assert (again.answer(natural[:20]).estimate == made.answer(natural[:20]).estimate).all()
    assert (made.sketch.cell_counts(made.counters, made.records, 1.0) >= 0).all()
    assert sample(again, 50, seed=1).method == "cells"
    exact = mechanism.exact(records[:20], records)
    assert np.mean(np.abs(again.answer(natural[:20]).estimate / exact - 1.0)) < 0.5


def test_a_forecast_is_a_rehearsal():
    mechanism = MWEM(PLANE, Gaussian(2.0), 4, cells=(8, 8), queries=32, seed=3)
    foreseen = [forecast(mechanism, Budget(epsilon), 5000).relative_error for epsilon in ("0.1", 10)]
    assert foreseen[1] < foreseen[0] < math.inf


def test_sizes_follow_public_facts_alone():
    wide, narrow = (MWEM(PLANE, Gaussian(width), seed=1) for width in (2.0, 0.1))
    assert narrow.queries > wide.queries and math.prod(narrow.cells) > math.prod(wide.cells)
    rounds = [wide.sized_for(Budget(epsilon), 10_000).rounds for epsilon in ("0.01", 1, 100)]
    assert rounds == sorted(rounds) and rounds[0] < rounds[-1]
    owned = MWEM(Domain(PLANE.columns, unit=PrivacyUnit("who", 3)), Gaussian(2.0), 2, cells=(6, 5), queries=12, seed=7)
    one = MWEM(PLANE, Gaussian(2.0), 2, cells=(6, 5), queries=12, seed=7)
    assert owned.plan(Budget(1)).noises[0].parameter == 3 * one.plan(Budget(1)).noises[0].parameter


GOOD = SKETCH.parameters()


@pytest.mark.parametrize(
    "wrong",
    [
        {"kernel": Jaccard().to_dict()},
        {"cells": [6]},
        {"cells": [0, 5]},
        {"cells": [1 << 12, 1 << 12]},
        {"cells": "65"},
        {"queries": 0},
        {"queries": 1 << 20},
        {"seed": 7},
        {"chosen": []},
        {"chosen": [13]},
        {"chosen": [-1]},
        {"chosen": [1.0]},
        {"chosen": 3},
        {"chosen": [0] * 2000},
        {"cells": [512, 512], "chosen": [0] * 200},
        {"cells": [64, 256], "chosen": [0] * 1000},
        {"more": 1},
    ],
)
def test_a_strangers_parameters_are_refused_in_one_sentence(wrong):
    assert MultiplicativeWeights.from_parameters(PLANE, GOOD) == SKETCH
    with pytest.raises(RequestError) as refusal:
        MultiplicativeWeights.from_parameters(PLANE, GOOD | wrong)
    assert str(refusal.value).count("\n") == 0


@pytest.mark.parametrize(
    "make",
    [
        lambda: MWEM(Domain((Vector("v", 1000, 0, 1),)), Gaussian(1.0)),
        lambda: MWEM(PLANE, Jaccard()),
        lambda: MWEM(PLANE, Gaussian(1.0), 0),
        lambda: MWEM(PLANE, Gaussian(1.0), 1 << 20),
        lambda: MWEM(PLANE, Gaussian(1.0), cells=(512, 512), queries=4096),
        lambda: MWEM(PLANE, Gaussian(1.0), seed=-1),
    ],
)
def test_what_cannot_be_is_refused(make):
    with pytest.raises(RequestError):
        make()
