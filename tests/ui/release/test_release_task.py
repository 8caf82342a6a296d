"""What must happen once happens once, whatever is clicked how often; and nothing is spent before the noise is due."""

import logging
from dataclasses import replace
from decimal import Decimal
from threading import Event, Thread

import numpy as np
import pandas as pd
import pytest

import core.releases.seal
from core.domain import Domain
from core.geometry.kernels import Euclidean
from core.privacy.budget import Budget
from core.privacy.choosing.private_bounds import plan_bounds
from core.privacy.ledger.ledger import Ledger
from core.releases.engine.building import TableBuilder
from core.releases.release import load
from core.releases.release_store import shelf_of
from core.runtime import faults
from core.runtime.environment import PATIENCE, Attendance, Line
from core.sketches.plan import plan
from core.sketches.race import Race
from core.sources import open_source
from core.ui.release.progress import progress
from core.ui.release.release_task import ReleaseRequest, ReleaseSession, ReleaseTask, Stage

DOMAIN = Domain.of(x=(0, 1))
NAME = "visits"


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.sqlite")


@pytest.fixture
def drawn(monkeypatch):
    """How often noise was drawn, and what the ledger had spent by then."""
    calls = []
    real = core.releases.seal.add_noise

    def counted(table, scale, *more):
        calls.append(scale)
        return real(table, scale, *more)

    monkeypatch.setattr(core.releases.seal, "add_noise", counted)
    return calls


def order(ledger, epsilon=1, total=3, source=None, domain=DOMAIN):
    records = open_source(pd.DataFrame({"x": np.linspace(0, 1, 500)})) if source is None else source
    sketch = Race(domain, Euclidean(0.1), rows=16, width=50, seed=1)
    return ReleaseRequest(records, sketch, Budget(epsilon), ledger, NAME, None if total is None else Budget(total))


def read(making):
    while making.read_on():
        pass
    return making


def draws_of(order):
    planned = plan(order.sketch, order.budget)
    return 2 if planned.count_noise is not None else 1


def test_a_confirmed_order_becomes_one_release_that_is_paid_for(ledger, drawn):
    desk = ReleaseSession()
    asked = desk.ask(order(ledger))
    desk.confirm(asked.ticket)
    making = read(desk.making)
    assert making.stage is Stage.READING and making.pace.rows == 500 and not drawn and ledger.names() == []
    making.finish()
    assert making.stage is Stage.MADE and making.release.private and making.release.sketch == asked.sketch
    status = ledger.status(NAME)
    assert [entry.cost.epsilon for entry in status.releases] == [1] and status.left == 2
    assert status.releases[0].note["parameters"]["rows"] == 16


def test_no_second_click_confirms_draws_or_spends_again(ledger, drawn):
    desk = ReleaseSession()
    asked = desk.ask(order(ledger))
    desk.confirm(asked.ticket)
    making = desk.making
    desk.confirm(asked.ticket)
    assert desk.making is making
    read(making)
    for _ in range(3):
        making.finish()
        desk.confirm(asked.ticket)
    table = making.release.counters
    making.finish()
    assert desk.making is making and making.release.counters is table
    assert len(drawn) == draws_of(asked) and len(ledger.status(NAME).releases) == 1


def test_only_the_order_that_was_asked_for_last_can_be_confirmed(ledger):
    desk = ReleaseSession()
    first = desk.ask(order(ledger))
    second = desk.ask(order(ledger, epsilon=2))
    desk.confirm(first.ticket)
    assert desk.making is None
    desk.confirm(second.ticket)
    assert desk.making.order is second
    desk.clear()
    third = desk.ask(order(ledger))
    desk.decline()
    desk.confirm(third.ticket)
    assert desk.making is None


def test_stopping_while_reading_costs_nothing_and_is_final(ledger, drawn):
    making = ReleaseTask(order(ledger))
    assert making.read_on()
    making.stop()
    assert making.stage is Stage.STOPPED and not making.read_on()
    making.finish()
    assert making.release is None and not drawn and ledger.names() == []


def test_stopping_after_the_price_is_paid_changes_nothing(ledger):
    making = read(ReleaseTask(order(ledger)))
    making.finish()
    making.stop()
    assert making.stage is Stage.MADE and making.release is not None


def test_half_a_table_is_never_released(ledger, drawn):
    making = ReleaseTask(order(ledger))
    with pytest.raises(RuntimeError, match="not finished"):
        making.finish()
    assert not drawn and ledger.names() == []


def test_what_the_ledger_refuses_draws_no_noise(ledger, drawn):
    ledger.register(NAME, 1)
    making = read(ReleaseTask(order(ledger, epsilon="1.000001", total=None)))
    making.finish()
    assert making.stage is Stage.FAILED and not drawn and not making.spent
    assert "nothing was spent" in making.problem and ledger.status(NAME).releases == ()


def test_the_price_is_written_down_before_the_noise_is_drawn(ledger, monkeypatch):
    spent_by_then = []
    real = core.releases.seal.add_noise

    def looking(table, scale, *more):
        spent_by_then.append(len(ledger.status(NAME).releases))
        return real(table, scale, *more)

    monkeypatch.setattr(core.releases.seal, "add_noise", looking)
    read(ReleaseTask(order(ledger))).finish()
    assert spent_by_then and set(spent_by_then) == {1}


def test_what_was_paid_for_is_kept_beside_the_ledger(ledger):
    """A page that is loaded anew forgets its visitor, and the release with it."""
    making = read(ReleaseTask(order(ledger)))
    making.finish()
    (entry,) = shelf_of(ledger).entries()
    assert entry.dataset == NAME and shelf_of(ledger).load(entry.name) == making.release


def test_a_budget_that_is_too_small_is_refused_before_anything_is_read(ledger, gated):
    ledger.register(NAME, 1)
    making = ReleaseTask(order(ledger, epsilon=2, total=None, source=gated))
    assert not making.read_on() and making.stage is Stage.FAILED and not gated.waiting.is_set()


def test_a_fault_after_the_price_says_that_it_is_spent_and_is_not_tried_again(ledger, monkeypatch):
    def broken(*_):
        raise MemoryError

    monkeypatch.setattr(core.releases.seal, "add_noise", broken)
    making = read(ReleaseTask(order(ledger)))
    with pytest.raises(MemoryError):
        making.finish()
    monkeypatch.undo()
    making.finish()
    assert making.stage is Stage.FAILED and making.release is None and "ε = 1 is spent" in making.problem
    assert len(ledger.status(NAME).releases) == 1


def test_data_that_cannot_be_read_to_its_end_costs_nothing(ledger, drawn):
    rows = open_source(pd.DataFrame({"x": [0.5, np.nan, 0.2]}))
    making = read(ReleaseTask(order(ledger, source=rows, domain=Domain.of(x=(0, 1), missing="refuse"))))
    making.finish()
    assert making.stage is Stage.FAILED and making.problem.endswith("nothing was spent.") and "row 2" in making.problem
    assert not drawn and ledger.names() == []


def test_many_at_once_make_one_release(ledger, drawn):
    making = read(ReleaseTask(order(ledger)))
    threads = [Thread(target=making.finish) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert making.stage is Stage.MADE and len(drawn) == draws_of(making.order)
    assert len(ledger.status(NAME).releases) == 1


def test_the_exact_table_is_let_go_of(ledger):
    made, stopped = read(ReleaseTask(order(ledger))), ReleaseTask(order(ledger))
    made.finish()
    stopped.stop()
    held = [value for making in (made, stopped) for value in vars(making).values()]
    assert not any(isinstance(value, TableBuilder) or hasattr(value, "gi_frame") for value in held)


def test_the_file_promises_what_its_bounds_have_cost_as_well(ledger):
    bounds = plan_bounds(1, Budget("0.1")).cost
    making = read(ReleaseTask(replace(order(ledger), bought=(bounds,))))
    making.finish()
    made = load(making.release.to_bytes())
    assert made.privacy.epsilon == made.privacy.overlap_epsilon == making.order.promised.epsilon == Decimal("1.1")
    assert made.privacy.rho == making.order.cost.rho + bounds.rho
    assert ledger.status(NAME).spent == pytest.approx(1)  # the bounds were paid for when they were bought


def test_what_no_file_can_promise_is_refused_before_it_is_paid_for(ledger):
    bounds = plan_bounds(1, Budget("0.1")).cost
    making = read(ReleaseTask(replace(order(ledger, epsilon=100, total=100), bought=(bounds,))))
    making.finish()
    assert making.stage is Stage.FAILED and "nothing was spent" in making.problem
    assert NAME not in ledger.names()


def test_the_work_is_done_in_the_background_and_begins_once(ledger, drawn, gated):
    making = ReleaseTask(order(ledger, source=gated))
    for _ in range(3):
        making.start()
    assert gated.waiting.wait(60) and making.running and not making.wait(0)
    assert not drawn and ledger.names() == []
    gated.gate.set()
    assert making.wait(60) and making.stage is Stage.MADE and making.pace.rows == making.pace.total == 1000
    assert len(drawn) == draws_of(making.order) and len(ledger.status(NAME).releases) == 1
    making.start()
    assert making.stage is Stage.MADE and len(ledger.status(NAME).releases) == 1


def test_stopping_does_not_wait_for_what_is_being_read(ledger, drawn, gated):
    making = ReleaseTask(order(ledger, source=gated))
    making.start()
    assert gated.waiting.wait(60)
    making.stop()  # would hang here, as the gate is closed
    assert making.stage is Stage.STOPPED and making.wait(0)
    gated.gate.set()
    assert gated.left.wait(60), "the exact table is let go of by the reading that held it"
    assert making.stage is Stage.STOPPED and making.release is None and not drawn and ledger.names() == []


def test_several_owners_build_at_once_and_one_who_stops_stops_nobody_else(ledger, drawn, gated):
    mine, theirs = ReleaseTask(order(ledger, source=gated)), ReleaseTask(order(ledger))
    for making in (mine, theirs):
        making.start()
    assert theirs.wait(60) and theirs.stage is Stage.MADE and mine.running
    mine.stop()
    assert theirs.release is not None and len(ledger.status(NAME).releases) == 1


def test_others_wait_their_turn_and_are_told_so(ledger, drawn, gated):
    line = Line(1)
    first, second, third = (
        ReleaseTask(order(ledger, source=gated)),
        ReleaseTask(order(ledger)),
        ReleaseTask(order(ledger)),
    )
    first.start(line=line)
    assert gated.waiting.wait(60)
    for making, ahead in ((second, 1), (third, 2)):
        making.start(line=line)
        while making.ahead != ahead:
            making.wait(0.01)
    assert progress(second)[1].startswith("Waiting until another one has been made")
    assert "until 2 others have been made" in progress(third)[1]
    second.stop()
    second._worker.join(60)
    assert second.stage is Stage.STOPPED and not drawn and third.running
    gated.gate.set()
    assert third.wait(60) and third.stage is Stage.MADE and third.ahead == 0 and first.stage is Stage.MADE
    assert len(ledger.status(NAME).releases) == 2


def test_whoever_stays_away_gives_up_their_place_in_the_line(ledger, gated):
    line, clock = Line(1), Clock()
    first, second = ReleaseTask(order(ledger, source=gated)), ReleaseTask(order(ledger))
    first.start(line=line)
    assert gated.waiting.wait(60)
    second.start(Attendance(lambda: False, clock), line)
    while not second.ahead:
        second.wait(0.01)
    clock.now = PATIENCE + 1
    assert second.wait(60) and second.left_alone and second.stage is Stage.STOPPED
    first.stop()
    gated.gate.set()


def test_a_fault_of_the_program_in_the_background_is_told_and_ends_the_waiting(ledger, monkeypatch, gated):
    monkeypatch.setattr(gated, "rows_total", lambda: 1 // 0)
    monkeypatch.setattr("threading.excepthook", lambda *_: None)
    making = ReleaseTask(order(ledger, source=gated))
    making.start()
    assert making.wait(60) and making.stage is Stage.FAILED
    assert "fault of the program" in making.problem and making.problem.endswith("nothing was spent.")


def test_a_fault_that_quotes_a_value_is_logged_by_its_type(ledger, monkeypatch, gated, caplog):
    def quoting():
        raise ValueError("Anna earns 51,300")

    monkeypatch.setattr(gated, "rows_total", quoting)
    monkeypatch.setattr("threading.excepthook", faults._ended)
    monkeypatch.setattr("logging._logRecordFactory", faults._silent(logging.getLogRecordFactory()))
    making = ReleaseTask(order(ledger, source=gated))
    making.start()
    assert making.wait(60)
    making._worker.join(60)
    assert "ValueError" in caplog.text and "test_release_task.py" in caplog.text
    assert "Anna" not in caplog.text + making.problem


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_nothing_is_paid_for_while_nobody_is_there_and_all_is_kept_for_a_while(ledger, drawn):
    there, clock = Event(), Clock()
    making = ReleaseTask(order(ledger))
    making.start(Attendance(there.is_set, clock))
    while making.pace.rows < 500:
        making.wait(0.01)
    assert not making.wait(0.2) and making.stage is Stage.READING and not drawn and ledger.names() == []
    there.set()
    assert making.wait(60) and making.stage is Stage.MADE and len(ledger.status(NAME).releases) == 1


@pytest.mark.parametrize("when", ["while reading", "before paying"])
def test_whoever_stays_away_is_not_waited_for(ledger, drawn, gated, when):
    clock = Clock()
    attendance = Attendance(lambda: False, clock)
    assert not attendance.ended
    making = ReleaseTask(order(ledger, source=gated if when == "while reading" else None))
    making.start(attendance)
    clock.now = PATIENCE + 1
    gated.gate.set()
    assert making.wait(60) and making.stage is Stage.STOPPED and making.left_alone
    assert not drawn and ledger.names() == []


def test_whoever_comes_back_in_time_has_not_been_away():
    there, clock = Event(), Clock()
    attendance = Attendance(there.is_set, clock)
    for seconds in (0, PATIENCE - 1):
        clock.now = seconds
        assert not attendance.present and not attendance.ended
    there.set()
    assert attendance.present
    there.clear()
    clock.now = 3 * PATIENCE
    assert not attendance.ended, "away only since now"
    clock.now += PATIENCE + 1
    assert attendance.ended
