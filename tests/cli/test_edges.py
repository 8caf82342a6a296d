"""Edges from the command line: released as lists, and asked about as edges, with answers beside the ids."""

from __future__ import annotations

import pandas as pd
import pytest


@pytest.mark.thorough
def test_edges_in_any_order_are_asked_about_as_edges(command, tmp_path):
    rows = [(f"p{place % 60}", place // 60) for place in range(240)]
    people = pd.DataFrame(rows, columns=["who", "likes"])
    people.loc[people.who == "p7", "likes"] = 99
    people.sample(frac=1, random_state=2).to_csv(tmp_path / "people.csv", index=False)
    made = ("--items", "likes", "--gathered", "--unit", "who:1", "--rows", "60", "--width", "300", "--epsilon", "100")
    result = command("release", "people.csv", *made, "--out", "likes.npz")
    assert result.exit_code == 0, result.output
    assert (
        "One record is one set: everything in likes that is listed under one value of who."
        in command("inspect", "likes.npz").stdout
    )
    asked = pd.DataFrame({"who": ["b", "a", "b", "b", "b"], "likes": [0, 500, 2, 1, 3], "note": "x"})
    asked.to_csv(tmp_path / "asked.csv", index=False)
    assert command("query", "likes.npz", "asked.csv", "--out", "answers.csv").exit_code == 0
    answers = pd.read_csv(tmp_path / "answers.csv")
    assert list(answers.columns) == ["who", "estimate", "low", "high", "density"]
    assert sorted(answers.who) == ["a", "b"]
    assert answers.set_index("who").estimate["b"] == pytest.approx(59, abs=15)
    scored = command("anomalies", "likes.npz", "asked.csv", "--threshold", "0.5")
    assert scored.exit_code == 0
    lines = dict(line.split(",", 1) for line in scored.stdout.replace('"', "").splitlines()[1:])
    assert lines["a"].endswith("true") and lines["b"].endswith("false")
