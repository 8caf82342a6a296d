"""The papers' experiments: a tiny run from end to end, going on after a kill, limits of time, and what is kept."""

import math
import os
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.papers import classes, published_constants, published_noise, storm_tables, training_sets
from benchmarks.papers.__main__ import PAGE, RECORDS, main
from benchmarks.papers.catalogue import EXPERIMENTS
from benchmarks.papers.datasets import public_data
from benchmarks.papers.density import Density
from benchmarks.papers.running import TooLong, at_most, done, foretold, run
from benchmarks.papers.store import MOST_BEGUN, Store
from benchmarks.papers.work import DONE, ENDED, LONG, REFUSED, Record, Settings, Work
from core.privacy.integer_shifts import gaussian_delta

ROOT = Path(__file__).parents[2]
WORK = Work("distances", "line", "interval-tree", None, "1", "0", 0, quick=True)
TINY = ["--quick", "--only", "distances", "--method", "interval-tree", "--repetitions", "2", "--workers", "1"]


def settings(folder: Path, **how) -> Settings:
    return Settings(None, folder, **{"quick": True, "repetitions": 2} | how)


def kept(folder: Path) -> int:
    file = folder / RECORDS
    if not file.exists():
        return 0
    with sqlite3.connect(file) as connection:
        return connection.execute("SELECT count(*) FROM records").fetchone()[0]


@pytest.mark.deep
def test_killed_and_started_again_it_goes_on_and_reports(tmp_path, capsys):
    command = [sys.executable, "-m", "benchmarks.papers", *TINY, "--out", str(tmp_path)]
    started = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        while kept(tmp_path) < 3 and started.poll() is None:
            time.sleep(0.02)
    finally:
        if started.poll() is None:
            os.kill(started.pid, signal.SIGKILL)
        started.wait()
    before = kept(tmp_path)
    assert before >= 3
    assert main([*TINY, "--out", str(tmp_path)]) == 0
    assert PAGE in capsys.readouterr().out
    total = kept(tmp_path)
    # Two promises, each with three sizes on two tuning draws, two untuned draws, and two of the best size if it is one.
    assert before < total and 16 <= total + 4 <= 24
    page = (tmp_path / PAGE).read_text()
    assert "Plotly.newPlot" in page and 'src="http' not in page and page.count("plotly.js v") == 1
    assert "Reproduced" in page and str(tmp_path) not in page


@pytest.mark.thorough
def test_what_is_in_the_store_is_not_done_again(tmp_path):
    """No process is needed at all where everything is known."""
    store = Store(tmp_path / RECORDS)
    experiment, told = EXPERIMENTS["distances"], []
    one = settings(tmp_path, methods=("interval-tree",))
    found = {"method": "interval-tree", "delta": 0.0, "upper_error": 0.2, "l2_error": None, "file_bytes": 1}
    found |= {"seconds_build": 1.0, "seconds_noise": 0.1, "seconds_query": 0.1}
    for work in experiment.first(one):
        facts = {"size": work.size, "epsilon": float(work.epsilon), "repetition": work.repetition}
        error = 0.5 if work.size is None else 0.1 * work.size
        store.put(Record(work, DONE, found | facts | {"tuning": work.tuning, "relative_error": error}))
    follow = experiment.then(one, [store.get(work) for work in experiment.first(one)])
    assert {(work.size, work.tuning) for work in follow} == {(4, False)}
    for work in follow:
        store.put(Record(work, LONG, {"limit": 1.0}))
    records = run(experiment, one, store, 1, lambda *numbers: told.append(numbers))
    assert len(records) == len(experiment.first(one)) + len(follow) and told[-1][0] == len(records)
    store.close()
    assert main([*TINY, "--report", "--out", str(tmp_path)]) == 0
    page = (tmp_path / PAGE).read_text()
    assert "Tree of intervals" in page and "At sizes 4: stopped after 1.00 s a piece." in page


def test_the_store_keeps_what_came_of_work_and_gives_up_what_kills_its_process(tmp_path):
    store = Store(tmp_path / RECORDS)
    assert store.get(WORK) is None
    for _ in range(MOST_BEGUN):
        assert store.get(WORK) is None
        store.begin([WORK])
    assert store.get(WORK).outcome == ENDED
    store.put_back([WORK])
    assert store.get(WORK) is None
    store.put(Record(WORK, REFUSED, reason="It cannot."))
    store.close()
    again = Store(tmp_path / RECORDS)
    assert again.get(WORK) == Record(WORK, REFUSED, reason="It cannot.")
    assert again.get(replace(WORK, epsilon="2")) is None and again.get(replace(WORK, tuning=True)) is None
    again.close()


def test_work_that_takes_too_long_is_stopped_and_foretold(tmp_path):
    with pytest.raises(TooLong), at_most(0.02):
        while True:
            time.sleep(0.001)
    with at_most(5.0):
        pass
    assert done("distances", WORK, settings(tmp_path, seconds=1e-6)).outcome == LONG
    told = foretold(lambda work, _: {"seconds_build": 2.0 + 64.0 * work.share}, WORK, settings(tmp_path))
    assert told["foretold"] == pytest.approx(66.0)
    assert foretold(lambda work, _: {"seconds_build": 1.0 - work.share}, WORK, settings(tmp_path)) == {}


def test_a_trial_is_done_or_refused(tmp_path):
    record = done("distances", WORK, settings(tmp_path))
    assert record.outcome == DONE and 0 < record.found["relative_error"] < 2
    refused = done("distances", replace(WORK, method="race"), settings(tmp_path))
    assert refused.outcome == REFUSED and refused.reason.endswith(".")


def test_points_on_the_line_are_drawn_anew_for_tuning_and_every_repetition(tmp_path):
    draws = [replace(WORK, repetition=1), replace(WORK, repetition=2), replace(WORK, repetition=1, tuning=True)]
    first = {public_data(work, settings(tmp_path)).records[0, 0] for work in draws}
    assert len(first) == 3


def test_the_published_noise_is_n_times_too_little(tmp_path):
    work = Work("salaries-nyc", "nyc", published_noise.KEY, None, "0.1", "0", 0, quick=True)
    data = public_data(work, settings(tmp_path))
    count, rows, epsilon = len(data.records), 50, 0.001
    assert published_noise.real_epsilon(data, epsilon) == count * epsilon
    exact, noisy = (
        np.stack([published_noise.estimates(data, rows, one, seed, (data.queries,))[0] for seed in range(12)])
        for one in (1e9, epsilon)
    )
    # A mean of R counters, each with Laplace noise of scale R / (N ε): variance 2 R / (N ε)².
    assert np.std(noisy - exact) == pytest.approx((2 * rows) ** 0.5 / (count * epsilon), rel=0.2)


@pytest.mark.deep
def test_projected_records_keep_the_truth_of_all_columns(tmp_path):
    work = Work("wide", "wide", "race", None, "1", "0", 0, quick=True)
    whole, few = (public_data(replace(work, data=name), settings(tmp_path)) for name in ("wide", "wide/5"))
    assert few.records.shape == (len(whole.records), 5) and np.array_equal(few.truth, whole.truth)
    low, high = few.domain.bounds()
    assert (few.records >= low).all() and (few.records <= high).all()
    part = public_data(replace(work, share=0.1), settings(tmp_path))
    assert len(part.records) == len(whole.records) // 10


def test_every_mechanism_of_a_question_gets_work_and_the_best_setting_is_chosen_by_accuracy():
    methods = ("race", "histogram", "distance", published_noise.KEY)
    one = Settings(None, Path("nowhere"), quick=True, repetitions=1, methods=methods)
    density: Density = Density("salaries-nyc", "nyc", "l2_error", "", "")
    asked = {work.method for work in density.first(one)}
    assert asked == {"race", "histogram", published_noise.KEY}
    trial = Work("classification", "d", "race", 10, "1", "0", 0, True)
    records = [Record(trial, DONE, {"accuracy": 0.8}), Record(replace(trial, size=20), DONE, {"accuracy": 0.9})]
    assert classes.best(records) == {("d", "race", "1"): 20}


def test_unknown_names_are_refused(capsys):
    assert main(["--only", "everything"]) == 2 and main(["--method", "magic"]) == 2
    assert main(["--repetitions", "-1", "--only", "distances"]) == 2
    assert "'everything'" in capsys.readouterr().err


@pytest.mark.deep
def test_promises_with_wrong_constants_keep_less_than_they_say():
    noise = (math.log(4.0 / published_constants.DELTA)) ** 0.5
    kept = published_constants.two_sums(1.0)
    assert gaussian_delta(kept, 2**0.5 / noise) == pytest.approx(published_constants.DELTA) and kept > 1.5
    assert published_constants.hinge(1.0) == pytest.approx(1.0 + 4.0 * 0.99 * (1.0 - 0.9053707))
    assert 35.0 < published_constants.sampled_descent(1.0, 100) < 36.0


def test_made_up_classes_have_the_shares_and_columns_of_what_they_are_like():
    shares = training_sets.COVERTYPE_SHARES
    domain, frame = training_sets.mixed_columns(*training_sets.COVERTYPE_COLUMNS, shares, records=4_000)
    assert tuple(frame.columns) == domain.names and len(domain.names) == 13
    found = frame["y"].value_counts(normalize=True).reindex(domain.columns[-1].categories, fill_value=0.0)
    # Six deviations of a share of 4,000.
    assert np.abs(found.to_numpy() - shares).max() < 6 * (0.25 / 4_000) ** 0.5
    assert frame["x1"].eq(0).mean() > 0.5 and frame.equals(
        training_sets.mixed_columns(*training_sets.COVERTYPE_COLUMNS, shares, records=4_000)[1]
    )


def test_storm_has_its_best_number_of_rows_at_each_promise():
    trial = Work("storm", "d", storm_tables.STORM, 30, "1", "0", 0)
    records = [Record(trial, DONE, {"value": 0.9}), Record(replace(trial, size=200), DONE, {"value": 0.7})]
    assert storm_tables.best(records) == {storm_tables.STORM: {1.0: [0.7]}}
