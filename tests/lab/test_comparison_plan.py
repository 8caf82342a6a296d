"""What a comparison tries next: something of every method first, nothing twice, and no method for ever."""

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from core.domain import Domain
from core.geometry.kernels import Euclidean
from core.lab.comparison_plan import (
    AT_FIRST,
    METHODS,
    MOST_SECONDS,
    REPETITIONS,
    TUNING,
    Advice,
    Outcome,
    Plan,
    Step,
    Trial,
    best_sizes,
    curves,
)
from core.lab.comparison_trials import of_points, run_trial
from core.privacy.budget import Budget
from core.releases.forecast.recommendation import Closeness

EPSILONS = tuple(map(Decimal, ("0.1", "0.5", "1", "10")))
PLAN = Plan(("quick", "slow"), EPSILONS, Decimal(0), True, Decimal("0.5"), 100)
SIZES = (None, 10, 20)


def trial(step, error=1.0, seconds_query=1e-6):
    return Trial(
        step.method,
        step.size,
        float(step.epsilon),
        0.0,
        step.repetition,
        step.tuning,
        error,
        error,
        None,
        0.1,
        0.0,
        seconds_query,
        100,
    )


def run(plan, seconds=None, problem=None, error=lambda step: 1.0, sizes=SIZES, seconds_query=1e-6):
    """Try everything a plan asks for; the steps in their order, and what is known then."""
    known, order = {}, []
    while (step := plan.next_step(known)) is not None:
        assert step not in known and len(order) < 1000
        order.append(step)
        value = trial(step, error(step), seconds_query)
        if step.sizing or step.advising:
            value = sizes if step.sizing else Advice("quick", "It is quick.")
        fault = problem(step) if problem else None
        known[step] = Outcome(None if fault else value, fault, (seconds or {}).get(step.method, 0.0))
    return order, known


def test_every_method_shows_something_before_any_is_repeated():
    order, _ = run(PLAN)
    first = order[:6]
    assert {(step.method, step.epsilon) for step in first} == {
        (method, epsilon) for method in PLAN.methods for epsilon in PLAN.coarse
    }
    assert {step.method for step in order[:2]} == set(PLAN.methods)
    assert all(step.drawn and step.epsilon == Decimal("0.5") for step in order[6:8])


def test_all_repetitions_are_tried_and_progress_ends_with_them():
    order, known = run(PLAN)
    plain = {(s.method, s.epsilon, s.repetition) for s in order if s.size is None and not (s.tuning or s.drawn)}
    assert len([one for one in plain if one[0] == "quick"]) >= len(EPSILONS) * REPETITIONS
    assert PLAN.progress({}) == 0 and PLAN.progress(known) == 1


def test_the_best_size_is_found_on_draws_of_its_own_and_then_reported():
    order, _ = run(PLAN, error=lambda step: 0.5 if step.size == 20 else 1.0)
    tried = [step for step in order if step.tuning and step.method == "quick" and step.epsilon == EPSILONS[0]]
    assert sorted(tried, key=lambda s: (s.size or 0, s.repetition)) == [
        Step("quick", EPSILONS[0], Decimal(0), size, repetition, tuning=True)
        for size in SIZES
        for repetition in range(TUNING)
    ]
    reported = [step for step in order if step.size is not None and not step.tuning]
    assert {step.size for step in reported} == {20} and {step.epsilon for step in reported} == set(PLAN.coarse)
    assert sum(step.epsilon == EPSILONS[0] and step.method == "quick" for step in reported) == AT_FIRST


def test_the_best_size_by_each_error_is_reported():
    """Size 20 has the least average error, and size 10 the fewest bad answers: each has a curve of its own."""
    known = {}
    while (step := PLAN.next_step(known)) is not None:
        made = trial(step, 0.5 if step.size == 20 else 1.0)
        made = replace(made, upper_error=0.1 if step.size == 10 else 1.0)
        known[step] = Outcome(SIZES if step.sizing else made, None, 0.0)
    reported = {step.size for step in known if step.method == "quick" and not (step.tuning or step.sizing)}
    assert reported == {None, 10, 20}


def test_what_is_recommended_is_asked_once_at_the_epsilon_that_is_looked_at():
    for plan, at in ((PLAN, "0.5"), (replace(PLAN, measured=False, shown_at=None), "1")):
        order, _ = run(plan)
        (asked,) = (step for step in order if step.advising)
        assert asked.epsilon == Decimal(at) and not asked.method


def test_a_method_with_one_setting_is_not_tuned():
    order, _ = run(PLAN, sizes=(None,))
    assert not any(step.tuning for step in order)


def test_a_slow_method_waits_for_the_others_and_ends_after_its_share_of_time():
    seconds = {"slow": MOST_SECONDS / 3, "quick": 0.01}
    order, known = run(PLAN, seconds)
    assert sum(step.method == "slow" and not step.drawn for step in order) == 3
    assert PLAN.slow(known) == {"slow"} and order[2].method == "quick"
    assert any(step.method == "slow" and step.drawn for step in order), "a picture is worth a moment more"


def test_a_method_that_cannot_answer_is_tried_once():
    order, _ = run(PLAN, problem=lambda step: "It cannot." if step.method == "slow" else None)
    assert [step for step in order if step.method == "slow"] == [Step("slow", PLAN.coarse[0], Decimal(0))]


def test_a_size_that_cannot_be_made_is_passed_over():
    order, _ = run(PLAN, problem=lambda step: "Too large." if step.size == 10 else None)
    assert Step("quick", EPSILONS[-1], Decimal(0), repetition=REPETITIONS - 1) in order


def test_without_being_asked_functions_are_drawn_beside_what_is_known_and_nothing_is_measured():
    shown = replace(PLAN, shown_at=PLAN.epsilons[-1], places=10, asked=False)
    assert shown.next_step({}) is None and shown.seconds_left({}) == MOST_SECONDS * len(PLAN.methods)
    first = Step("slow", PLAN.epsilons[0], PLAN.delta)
    known, steps = {first: Outcome(trial(first), None, 1.0)}, []
    while (step := shown.next_step(known)) is not None:
        known[step] = Outcome(None, "It was tried.", 0.0)
        steps.append(step)
    assert steps == [shown.drawing("slow"), shown.advising] and shown.progress(known) == 1


def test_a_method_that_answers_too_slowly_is_not_drawn():
    order, known = run(PLAN, seconds_query=1.0)
    assert not any(step.drawn for step in order) and PLAN.undrawn(known) == set(PLAN.methods)


def test_forecasts_are_made_once_each():
    plan = Plan(("quick",), EPSILONS, Decimal(0), False)
    order, _ = run(plan)
    forecasts = [step for step in order if not step.advising]
    assert sorted(forecasts, key=lambda step: step.epsilon) == [Step("quick", e, Decimal(0)) for e in EPSILONS]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_epsilons_are_fine(count):
    plan = Plan(("quick",), EPSILONS[:count], Decimal(0), True, EPSILONS[0], 10)
    order, known = run(plan)
    assert {step.epsilon for step in order} == set(EPSILONS[:count]) and plan.progress(known) == 1


def trial_of_comparison_results(
    method="m", size=None, epsilon=1.0, repetition=0, tuning=False, error=0.1, l2=None
) -> Trial:
    return Trial(method, size, epsilon, 0.0, repetition, tuning, error, 2 * error, l2, 1.0, 0.1, 1e-6, 1000)


def test_a_curve_has_means_and_percentiles_of_the_reported_trials():
    errors = np.random.default_rng(1).uniform(size=40)
    trials = [
        trial_of_comparison_results(epsilon=2.0, repetition=place, error=error) for place, error in enumerate(errors)
    ]
    trials += [
        trial_of_comparison_results(epsilon=0.5, error=0.3),
        trial_of_comparison_results(epsilon=2.0, tuning=True, error=99.0),
    ]
    (curve, *_) = curves(trials)
    assert curve.epsilons == (0.5, 2.0) and not curve.tuned
    assert curve.centres == pytest.approx((0.3, errors.mean()))
    assert (curve.lows[1], curve.highs[1]) == pytest.approx(tuple(np.percentile(errors, [10, 90])))
    assert curve.paid == curve.epsilons and curve.sizes == (None, None)


def test_the_best_size_is_chosen_on_tuning_draws_and_reported_on_others():
    """Size 10 was lucky when it is reported, and size 20 when sizes were chosen: 20 is taken, with its true figure."""
    trials = [
        trial_of_comparison_results(size=size, tuning=True, error=error)
        for size, error in ((None, 0.5), (10, 0.3), (20, 0.2))
    ]
    trials += [
        trial_of_comparison_results(error=0.5),
        trial_of_comparison_results(size=10, error=0.01),
        trial_of_comparison_results(size=20, error=0.4),
    ]
    assert best_sizes(trials) == {("m", 1.0): 20}
    plain, tuned = curves(trials)
    assert (plain.tuned, plain.centres) == (False, (0.5,))
    assert (tuned.tuned, tuned.centres, tuned.sizes) == (True, (0.4,), (20,))
    assert tuned.tried == (3,) and tuned.paid == (4.0,)


def test_trials_without_a_measure_make_no_curve_and_methods_stay_in_order():
    trials = [trial_of_comparison_results("b", error=0.2), trial_of_comparison_results("a", error=0.1, l2=0.05)]
    assert [curve.method for curve in curves(trials)] == ["b", "a"]
    assert [curve.method for curve in curves(trials, "l2_error")] == ["a"]


def test_sizes_are_tried_on_other_draws_than_those_that_are_reported():
    points = np.random.default_rng(3).normal(5, 1, (600, 1)).clip(0, 10)
    data = of_points("made up", Domain.of(x=(0, 10)), Closeness(Euclidean(1.0)), points)
    race, budget = METHODS["race"], Budget("0.1")
    tried = [run_trial(data, race, size, budget, n, tuning=True) for size in (None, 20, 2000) for n in (0, 1)]
    best = best_sizes(tried)["race", 0.1]
    assert best != 2000
    shown = [run_trial(data, race, size, budget, n) for size in dict.fromkeys((None, best)) for n in (0, 1)]
    assert all(one.tuning for one in tried) and not any(one.tuning for one in shown)
    assert not {one.relative_error for one in tried} & {one.relative_error for one in shown}
