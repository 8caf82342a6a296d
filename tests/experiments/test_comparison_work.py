"""The thread behind a comparison: tried once, remembered, stopped at a word, and never for nobody."""

from decimal import Decimal
from threading import Event

import pytest

from core.errors import RequestError
from core.experiments import comparison_work as compare_work
from core.experiments.comparison_plan import Outcome, Plan, Step
from core.experiments.comparison_work import FAULT, Bench, Results, Task, Turns
from core.machine.attendance import Attendance
from core.machine.threads import cores

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
    monkeypatch.setattr(compare_work, "MOST_COMPARED", 4)
    monkeypatch.setattr(compare_work, "MOST_STEPS", 5)
    results = Results()
    for i in range(compared):
        for j in range(steps):
            results.keep(str(i), Step("a", Decimal(j), Decimal(0)), Outcome(None, None, 0.0))
    kept = [len(results.of(str(i))) for i in range(compared)]
    assert sum(size > 0 for size in kept) <= 4 and max(kept) <= 5 and kept[-1] > 0
