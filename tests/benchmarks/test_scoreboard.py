"""The scoreboard: who counts as ahead, what is measured again, and that a slow library ends."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.scoreboard import __main__ as board
from benchmarks.scoreboard import board_page, fetched_sets
from benchmarks.scoreboard.contests import CONTESTS, domain_of, means, medians
from benchmarks.scoreboard.cut_contests import REAL, Cut, samples
from benchmarks.scoreboard.rounds import Round
from core import Budget


def fetched(n=3000):
    random = np.random.default_rng(1)
    age, pay = random.integers(20, 60, n).astype(float), random.gamma(2, 1000, n)
    frame = pd.DataFrame({"age": age, "pay": pay, "kind": np.where(pay > 1500, "a", "b")})
    ends = {"age": (20.0, 60.0), "pay": (0.0, 30_000.0)}
    return fetched_sets.FetchedSet("made-up", frame, ends, {"kind": ("a", "b")})


def row(errors, **more):
    return {"errors": errors, **more}


def test_a_rival_is_ahead_by_more_than_a_twentieth_and_by_more_than_luck():
    steady, lucky = [0.90, 0.91, 0.89, 0.90], [0.2, 1.9, 0.4, 1.1]
    results = {
        ("means", "one", "1", "0", "frostglass"): row([1.0, 1.01, 0.99, 1.0], over=[2.1, 2.1], inside=[0.9, 1.0]),
        ("means", "one", "1", "0", "near"): row(steady),
        ("means", "one", "1", "0", "lucky"): row(lucky),
        ("means", "one", "1", "0", "even"): row([0.97, 0.98, 0.96, 0.97]),
    }
    every = {one.who: one for one in board_page.compared(results)}
    assert {who for who, one in every.items() if one.ahead} == {"near"}
    page = "\n".join(board_page._lines(list(every.values()), results))
    assert "| means | one | ε = 1 | near | 0.90 ± 0.01 |" in page
    assert "| means | 2.10 | 2.10 | 2.10 | 0% | 0% | 1 of 1 | 95.0% | 95% |" in page
    assert board_page._picture(list(every.values())).count("<circle") == 3


def test_draws_go_on_until_their_mean_is_known_to_a_tenth():
    assert not board.enough([1.0] * (board.FEWEST - 1))
    assert board.enough([1.0] * board.FEWEST)
    assert not board.enough([0.1, 2.0] * (board.FEWEST // 2))
    assert board.enough([0.1, 2.0] * (board.MOST // 2))


@pytest.mark.thorough
def test_our_answers_are_those_of_a_stranger_and_their_errors_fall_with_the_promise():
    for contest in (means, medians):
        one = contest(fetched())
        loose, tight = (np.mean([one.ours["frostglass"](Budget(e), 0)[0] for _ in range(5)]) for e in ("5", "0.05"))
        assert loose < tight
        assert one.error(np.array([30.0, 2000.0])) > loose
    assert domain_of(fetched()).columns[0].step == 1


@pytest.mark.thorough
def test_models_of_made_up_records_know_what_those_of_real_ones_do_at_a_loose_promise():
    table = fetched()
    table.records["kind"] = np.where(table.records["age"] >= 40, "a", "b")  # an edge of eight cells
    one = samples(table)
    assert one.ours[REAL](Budget(1), 0)[0] == 0.0
    assert one.ours["frostglass"](Budget(5), 0)[0] < 0.02
    cells = Cut.of(table).cells[:, table.training]
    assert one.error(cells.ravel()) == 0.0  # as rivals hand them in
    assert one.error(np.where(np.arange(3)[:, None] == 0, 1 - cells, cells).ravel()) == 1.0


@pytest.mark.parametrize("contest", CONTESTS, ids=lambda one: one.name)
def test_who_needs_a_delta_or_keeps_none_is_asked_so(contest):
    one = Round({"frostglass": None, **dict.fromkeys(contest.without)})
    asked = list(board.cells_of(contest, fetched(), one))
    for cell, budget in asked:
        assert not (cell.who in contest.loose and budget.pure)
        assert not (cell.who in contest.pure and not budget.pure)
    assert {cell.who for cell, _ in asked} == {"frostglass", *contest.without, *contest.rivals}


def test_a_library_that_fails_is_told_by_its_last_words_and_one_that_never_ends_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(board, "HERE", tmp_path)
    one = Round({}, {"x": np.zeros(1)}, {}, lambda answer: float(answer.sum()))
    rival = Path(tmp_path) / "rival.py"
    rival.write_text("raise SystemExit('no such method')")
    assert board.elsewhere(one, "them", Path(sys.executable), Budget(1), 1) == {"refused": "no such method"}
    rival.write_text("import time\nfor _ in range(99): print('answer [1, 2]', flush=True)\ntime.sleep(600)")
    assert board.elsewhere(one, "them", Path(sys.executable), Budget(1), 1)["errors"] == [3.0] * board.FEWEST
    rival.write_text(
        "import json, sys, time\nprint('answer', [json.load(open(sys.argv[3]))['first']], flush=True)\ntime.sleep(600)"
    )
    more = board.elsewhere(one, "them", Path(sys.executable), Budget(1), 0.1, row([3.0, 3.0]))
    assert more["errors"] == [3.0, 3.0, 2.0]  # goes on with the third draw of those that were made before
    rival.write_text("import time\nprint('answer [1, 2]', flush=True)\ntime.sleep(600)")
    assert board.elsewhere(one, "them", Path(sys.executable), Budget(1), 0.1)["errors"] == [3.0]


def test_what_was_measured_is_read_back(tmp_path, monkeypatch):
    monkeypatch.setattr(board, "RESULTS", tmp_path / "results.jsonl")
    cell = board.Cell("means", "one", "1", "0", "them")
    board.keep(cell, row([0.5], seconds=1))
    assert board.measured() == {cell: row([0.5], seconds=1)}
    assert json.loads((tmp_path / "results.jsonl").read_text())["who"] == "them"
    assert not board.whole(None) and not board.whole(row([0.5])) and board.whole({"refused": "never"})
    board.keep(cell, row([0.5] * board.FEWEST, seconds=1))
    assert board.whole(board.measured()[cell])


def test_the_page_says_where_ours_is_worse_than_the_mean():
    results = {
        ("numbers", name, "0.1", "0", "frostglass"): row([error, error + 0.02])
        for name, error in (("a", 1.2), ("b", 0.7))
    }
    told = list(board_page._worse_than_the_mean(results))
    assert "| a | ε = 0.1 | 1.21 ± 0.01 |" in told and not any("| b |" in line for line in told)
