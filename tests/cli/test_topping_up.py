"""`top-up` and `merge --same-records`: one file of two releases of the same records, each of which was paid for."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core import Ledger, load


@pytest.fixture
def people(tmp_path, command):
    pd.DataFrame({"x": np.random.default_rng(1).uniform(0, 8, 500)}).to_csv("people.csv", index=False)
    Ledger("ledger.sqlite").register("people", 1)
    made = command(
        *("release", "people.csv", "--bounds", "x=0:8", "--mechanism", "race", "--bandwidth", "2", "--rows", "8"),
        *("--width", "16", "--epsilon", "0.1", "--ledger", "ledger.sqlite", "--out", "first.npz"),
    )
    assert made.exit_code == 0, made.output


@pytest.mark.thorough
def test_a_forecast_spends_nothing_and_what_is_paid_after_it_makes_one_file(people, command):
    asked = ("top-up", "first.npz", "people.csv", "--epsilon", "0.9", "--ledger", "ledger.sqlite", "--out", "both.npz")
    before = len(Ledger("ledger.sqlite").entries("people"))
    said = command(*asked, "--forecast")
    assert said.exit_code == 0 and "made at once" in said.stderr and not Path("both.npz").exists()
    assert len(Ledger("ledger.sqlite").entries("people")) == before
    made = command(*asked)
    assert made.exit_code == 0 and "Spent ε = 0.9" in made.stderr and "with less noise" in made.stderr
    both, first = load("both.npz"), load("first.npz")
    assert both.privacy.epsilon == 1 and both.privacy.counter_variance < first.privacy.counter_variance / 50
    # What a crash before the last step leaves beside the ledger is the same file.
    (again,) = [path for path in Path("ledger.sqlite.releases").glob("*.npz") if load(path).privacy.epsilon > 0.5]
    assert load(again) == both
    refused = command(
        "top-up", "first.npz", "people.csv", "--epsilon", "1", "--ledger", "ledger.sqlite", "--out", "c.npz"
    )
    assert refused.exit_code == 3 and not Path("c.npz").exists()


@pytest.mark.thorough
def test_where_nothing_was_kept_a_crash_leaves_the_two_that_are_averaged(people, command):
    for kept in Path("ledger.sqlite.releases").glob("*.finer"):
        kept.unlink()
    made = command(
        *("top-up", "first.npz", "people.csv", "--epsilon", "0.9", "--ledger", "ledger.sqlite", "--out", "both.npz")
    )
    assert made.exit_code == 0 and "is the average of one of" in made.stderr
    (second,) = [path for path in Path("ledger.sqlite.releases").glob("*.npz") if load(path).privacy.epsilon > 0.5]
    again = command("merge", "--same-records", "first.npz", str(second), "--out", "again.npz")
    assert again.exit_code == 0 and np.array_equal(load("again.npz").counters, load("both.npz").counters)
    refused = command("merge", "--same-records", "both.npz", str(second), "--out", "twice.npz")
    assert refused.exit_code == 2 and "a part of it" in refused.stderr and not Path("twice.npz").exists()
