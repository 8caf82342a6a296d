"""Commands as scripts elsewhere call them, by names that stay: each was missing, or refused what it is called with."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core import Budget, load
from core.auditing import purchase_trials
from core.cli.release_command import _plan
from core.cli.shared_options import DataOptions, GuessOptions
from core.cli.sketch_options import SketchOptions
from tests.cli.conftest import refused

DECLARED = """
record: person
columns:
  age:       {kind: number, low: 17, high: 90, step: 1, unit: years}
  pay:       {kind: number, low: 0, high: 100000, missing: ["n/a"], on_missing: category}
  hour:      {kind: cyclic, of: joined_at, part: hour}
  sex:       {kind: category, values: [Female, Male]}
"""


@pytest.fixture
def table(command):
    random = np.random.default_rng(1)
    Path("F.yaml").write_text(DECLARED)
    pay = random.integers(0, 100_000, 400).astype(str)
    pay[:3] = "n/a"
    columns = {
        "age": random.integers(17, 91, 400),
        "pay": pay,
        "joined_at": [f"2024-01-01 {hour:02d}:10" for hour in random.integers(0, 24, 400)],
        "sex": random.choice(["Female", "Male"], 400),
    }
    pd.DataFrame(columns).to_csv("t.csv", index=False)
    return "t.csv"


@pytest.mark.thorough
def test_parts_are_released_without_a_number_of_records_and_moments_say_every_regression(command, table):
    """A density by forecast needed --records, moments took no circle, and `regress` had other options."""
    parts = ("--part", "tables:singles", "--part", "moments")
    promise = ("--epsilon", "50", "--delta", "1e-9", "--dataset", "D", "--out", "R.npz")
    made = command("release", table, "--declaration", "F.yaml", *parts, *promise)
    assert made.exit_code == 0, made.output
    assert "of all columns but hour" in made.stderr and load("R.npz").privacy.epsilon == 50
    facts = DataOptions(bounds=["x=0:10", "y=0:1"]), SketchOptions(part=["density:x", "distance:y"])
    plan = _plan(*facts, GuessOptions(), Budget(1), None)
    assert [(stage.name, stage.of.names) for stage in plan.stages if stage.name == "count"] == [("count", ("x", "y"))]
    done = command("regress", "R.npz", "--predict", "pay", "--from", "age,sex", "--out", "c.csv")
    assert done.exit_code == 0, done.output
    found = pd.read_csv("c.csv")
    assert {"name", "estimate", "low", "high"} <= set(found) and list(found["name"]) == [
        "age",
        "sex=Female",
        "sex=Male",
    ]
    assert "--predict COLUMN" in refused(command("regress", "R.npz"))
    asked = command("ask", "R.npz", "SELECT sex, COUNT(*) AS n, AVG(age) FROM records GROUP BY sex", "--out", "a.csv")
    assert asked.exit_code == 0 and {"n", "n_low", "n_high"} <= set(pd.read_csv("a.csv"))


@pytest.mark.thorough
def test_a_model_is_inspected_and_predicts_what_it_was_trained_on_with_gaps_left_empty(command, table):
    """Its file was no release, the hour of a time was no column, and one gap refused everybody."""
    promise = ("--epsilon", "5", "--delta", "1e-6", "--dataset", "T", "--out", "M.json")
    trained = command("train", table, "--declaration", "F.yaml", "--target", "sex", "--method", "amp", *promise)
    assert trained.exit_code == 0, trained.output
    assert "It predicts sex (Female, Male) from age, pay, hour." in command("inspect", "M.json").stdout
    assert "--verify" in refused(command("inspect", "M.json", "--verify"))
    done = command("predict", "M.json", table, "--out", "P.csv")
    assert done.exit_code == 0 and "3 rows of 400 miss a value" in done.stderr
    found = pd.read_csv("P.csv")
    assert found["predicted"].isna().tolist() == [True] * 3 + [False] * 397
    assert (found["hour"] == found["joined_at"].str[11:13].astype(int)).all()
    # The same by the hour's own name.
    found.drop(columns=["joined_at", "predicted", "probability of Female", "probability of Male"]).to_csv("own.csv")
    again = command("predict", "M.json", "own.csv", "--out", "Q.csv")
    assert again.exit_code == 0, again.output
    pd.testing.assert_series_equal(pd.read_csv("Q.csv")["predicted"], found["predicted"])


@pytest.mark.thorough
def test_an_exact_audit_takes_parts_without_columns_and_what_is_found_out(command, monkeypatch):
    done = command("audit", "--exact", "--part", "moments", "--epsilon", "1")
    assert done.exit_code == 0 and "at most ε = 1 was used" in done.stdout
    asked = []
    monkeypatch.setattr(purchase_trials, "discoveries", lambda budget: asked.append(budget) or [])
    assert command("audit", "--exact", "--discover", "--epsilon", "1", "--delta", "1e-6").exit_code == 0
    assert [str(one.delta) for one in asked] == ["0.000001"]
