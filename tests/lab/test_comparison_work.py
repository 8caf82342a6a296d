"""The thread behind a comparison: tried once, remembered, stopped at a word, and never for nobody."""

from dataclasses import replace
from decimal import Decimal
from threading import Event

import numpy as np
import pytest

from core.errors import RequestError
from core.lab import comparison_work
from core.lab.comparison_plan import Advice, Outcome, Plan, Step, Trial
from core.lab.comparison_work import COMPARISONS, FAULT, Bench, Results, Task, Turns, bundled, keep
from core.releases.forecast.recommendation import Closeness
from core.runtime.environment import Attendance, cores
from core.sources.public_tables import sample
from core.ui.compare_choices import first_plan, first_shown
from core.ui.compare_subject import sample_subject
from tests.depth import sampled
from tests.releases.forecast.conftest import usual_trials  # noqa: F401  what is bundled was measured with them

PLAN = Plan(("a", "b"), (Decimal(1), Decimal(2)), Decimal(0), False)
THERE = Attendance(lambda: True)
STEPS = 5
"""Both methods at both ε, and what is recommended."""
PATIENCE = 30


class Work:
    """Counts what is tried; waits for the gate where there is one."""

    def __init__(self, gate=None, problem=None):
        self.tried, self.cores, self.gate, self.problem = [], [], gate, problem
        self.begun = Event()

    def __call__(self, step):
        self.tried.append(step)
        self.cores.append(cores())
        self.begun.set()
        if self.gate is not None:
            assert self.gate.wait(PATIENCE)
        if self.problem is not None:
            raise self.problem
        return step.method


def finish(bench):
    worker = bench._worker
    if worker is not None:
        worker.join(PATIENCE)
    assert not bench.running


def test_everything_is_tried_once_on_one_core_and_remembered():
    work, bench = Work(), Bench(Turns(), THERE)
    bench.aim(Task("data", PLAN, work))
    finish(bench)
    bench.aim(Task("data", PLAN, work))
    assert not bench.running and len(work.tried) == len(set(work.tried)) == STEPS and set(work.cores) == {1}
    assert {outcome.value for outcome in bench.known("data").values()} == {"a", "b", ""}


def test_what_one_visitor_found_is_there_for_the_next_unless_it_is_their_own():
    turns, work = Turns(), Work()
    first, second, own = Bench(turns, THERE), Bench(turns, THERE), Bench(turns, THERE, Results())
    first.aim(Task("sample", PLAN, work))
    finish(first)
    second.aim(Task("sample", PLAN, work))
    assert not second.running and len(work.tried) == STEPS
    own.aim(Task("file", PLAN, work))
    finish(own)
    assert not first.known("file") and len(own.known("file")) == STEPS


def test_stopping_keeps_what_is_known_and_one_can_go_on():
    gate = Event()
    work, bench = Work(gate), Bench(Turns(), THERE)
    bench.aim(Task("data", PLAN, work))
    assert work.begun.wait(PATIENCE)
    bench.stop()
    gate.set()
    finish(bench)
    assert len(bench.known("data")) == 1
    bench.aim(Task("data", PLAN, work))
    assert not bench.running, "the same again is no reason to go on"
    bench.go_on()
    finish(bench)
    assert len(bench.known("data")) == STEPS


def test_a_moved_control_changes_what_is_tried_and_ends_a_stop():
    gate = Event()
    work, bench = Work(gate), Bench(Turns(), THERE)
    bench.aim(Task("data", PLAN, work))
    assert work.begun.wait(PATIENCE)
    bench.stop()
    bench.aim(Task("other", Plan(("c",), (Decimal(3),), Decimal(0), False), work))
    assert not bench.stopped
    gate.set()
    finish(bench)
    assert [step.method for step in work.tried] == ["a", "c", ""] and len(bench.known("other")) == 2


def test_a_method_that_refuses_or_fails_does_not_end_the_others(caplog):
    bench = Bench(Turns(), THERE)
    bench.aim(Task("refused", PLAN, Work(problem=RequestError("Too many columns."))))
    finish(bench)
    assert {outcome.problem for outcome in bench.known("refused").values()} == {"Too many columns."}
    bench.aim(Task("failed", PLAN, Work(problem=ZeroDivisionError("private"))))
    finish(bench)
    assert {outcome.problem for outcome in bench.known("failed").values()} == {FAULT}
    assert "Comparing a failed" in caplog.text


def test_nothing_is_tried_for_someone_who_left():
    clock = iter((0.0, 1e9, 2e9, 3e9))
    work, bench = Work(), Bench(Turns(), Attendance(lambda: False, lambda: next(clock)))
    assert not bench._attendance.present
    bench.aim(Task("data", PLAN, work))
    finish(bench)
    assert work.tried == []


def test_visitors_take_turns():
    gate, turns = Event(), Turns()
    held, waiting = Work(gate), Work()
    first, second = Bench(turns, THERE), Bench(turns, THERE)
    first.aim(Task("one", PLAN, held))
    assert held.begun.wait(PATIENCE)
    second.aim(Task("two", PLAN, waiting))
    assert second.doing is None and not waiting.tried
    gate.set()
    finish(first)
    finish(second)
    assert len(held.tried) == len(waiting.tried) == STEPS


@pytest.mark.parametrize(("compared", "steps"), [(30, 1), (1, 30)])
def test_memory_is_bounded(monkeypatch, compared, steps):
    monkeypatch.setattr(comparison_work, "MOST_COMPARED", 4)
    monkeypatch.setattr(comparison_work, "MOST_STEPS", 5)
    results = Results()
    for i in range(compared):
        for j in range(steps):
            results.keep(str(i), Step("a", Decimal(j), Decimal(0)), Outcome(None, None, 0.0))
    kept = [len(results.of(str(i))) for i in range(compared)]
    assert sum(size > 0 for size in kept) <= 4 and max(kept) <= 5 and kept[-1] > 0


STEP = Step("race", Decimal("0.05"), Decimal(0), 100, 2, True)
TRIAL = Trial("race", 100, 0.05, 0.0, 2, True, 0.5, 0.75, None, 2.0, 0.25, 0.125, 1234)
KNOWN = {
    STEP: Outcome(TRIAL, None, 1.5),
    replace(STEP, size=None): Outcome(None, "It cannot be.", 0.5),
    Step("race", Decimal("0.05"), Decimal(0), sizing=True): Outcome((None, 100, 500), None, 0.0),
    Step("", Decimal(1), Decimal(0), advising=True): Outcome(Advice("race", "It is best."), None, 0.25),
}
FLAGSHIP = "city"
BUNDLED = sorted(path.stem for path in COMPARISONS.glob("*.parquet"))


def test_what_is_read_is_what_was_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(comparison_work, "COMPARISONS", tmp_path)
    keep(tmp_path / "some.parquet", {"some question": KNOWN, "some other": {STEP: Outcome(None, "No.", 0.0)}})
    assert bundled("some question") == KNOWN
    assert bundled("some third") == bundled("none question") == {}


def test_functions_are_kept_to_a_thousandth_and_three_draws_of_them(tmp_path, monkeypatch):
    monkeypatch.setattr(comparison_work, "COMPARISONS", tmp_path)
    step, draws = replace(STEP, drawn=True), np.random.default_rng(1).normal(0, 1e6, (8, 40))
    keep(tmp_path / "some.parquet", {"some question": {step: Outcome(draws, None, 1.0)}})
    found = bundled("some question")[step].value
    assert found.shape == (3, 40) and np.abs(found - draws[:3]).max() <= np.abs(draws[:3]).max() / 1999
    keep(tmp_path / "some.parquet", {"some question": {step: Outcome(np.zeros((1, 40)), None, 1.0)}})
    assert not bundled("some question")[step].value.any()


def test_what_comes_with_the_app_is_known_to_everyone_and_what_is_tried_is_put_with_it():
    asked = []
    results = Results(lambda identity: asked.append(identity) or dict(KNOWN))
    assert results.of("some question") == KNOWN == results.of("some question") and asked == ["some question"]
    results.keep("some question", replace(STEP, repetition=9), Outcome(TRIAL, None, 1.0))
    assert len(results.of("some question")) == len(KNOWN) + 1 and len(KNOWN) == 4


@pytest.mark.deep
@pytest.mark.parametrize("name", sampled(BUNDLED, FLAGSHIP))
def test_a_bundled_comparison_has_every_curve_and_is_what_would_be_measured(name):
    known = sample(name)
    subject = sample_subject(known, Closeness(known.kernel))
    plan, found = first_plan(subject), bundled(subject.identity)
    answered = {(step.method, step.epsilon) for step, outcome in found.items() if outcome.problem is None}
    refused = {step.method for step, outcome in found.items() if outcome.problem is not None}
    for method in set(plan.methods) - refused - plan.slow(found):
        assert {(method, epsilon) for epsilon in plan.epsilons} <= answered
    assert refused < set(plan.methods) and found[plan.advising].value is not None
    assert plan.next_step(found) is None
    shown = first_shown(subject).next_step(found)
    assert shown is None or shown.drawn
    # The method that is advised, and what was tried at one ε: at others, tables of other sizes.
    advised = found[plan.advising].value.method
    for epsilon in {Decimal(1), min(step.epsilon for step in found if step.method == advised)}:
        _is_measured_again(subject, found, Step(advised, epsilon, Decimal(0)))


def _is_measured_again(subject, found, step):
    """Errors come of the same seeds, so they are the same but for rounding."""
    measured = subject.work(step)
    for error in ("relative_error", "upper_error"):
        assert getattr(found[step].value, error) == pytest.approx(getattr(measured, error), rel=1e-4)
    assert found[step].value.file_bytes == pytest.approx(measured.file_bytes, rel=0.01)


@pytest.mark.parametrize(("name", "method"), [("flights", "histogram"), ("stars", "features")])
def test_what_compare_shows_of_a_sketch_is_what_it_has_today(name, method):
    """At the least ε, where the size of a table depends most on how it is chosen."""
    subject = sample_subject(sample(name), Closeness(sample(name).kernel))
    found = bundled(subject.identity)
    least = min(step.epsilon for step in found if step.method == method)
    _is_measured_again(subject, found, Step(method, least, Decimal(0)))
