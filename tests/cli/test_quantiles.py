"""Medians that are bought from the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core import Ledger
from tests.cli.conftest import BOUNDS, people, refused

KNOWN = Path(__file__).parents[1] / "known_releases"


@pytest.mark.thorough
@pytest.mark.parametrize("delta", ["0", "1e-6"])
def test_medians_and_quartiles_are_one_entry_in_the_ledger(command, source, ledger, delta):
    asked = ("--quantile", "0.25", "--quantile", "0.5", "--epsilon", "2", "--delta", delta, "--dataset", "D")
    result = command("quantiles", source, *BOUNDS, *asked, "--out", "found.csv")
    assert result.exit_code == 0, result.output
    found = pd.read_csv("found.csv")
    assert list(found) == ["column", "quantile", "value", "rank_error", "low", "high"]
    assert found["column"].tolist() == ["x", "x", "y", "y"]
    exact = people()[["x", "y"]].quantile([0.25, 0.5])
    assert abs(found["value"] - [*exact["x"], *exact["y"]]).max() < 0.3
    assert "Spent ε = 2" in result.stderr and "nothing is left" in result.stderr
    (entry,) = Ledger(ledger).status("D").releases
    assert entry.note["mechanism"] == "quantiles"
    said = refused(command("quantiles", source, *BOUNDS, "--epsilon", "1", "--dataset", "D"), 3)
    assert "nothing was spent" in said


def test_whole_numbers_and_people_with_two_records(command, source):
    rounded = people().round()
    rounded.to_parquet(source)
    options = ("--step", "x=1", "--unit", "id:2", "--epsilon", "5", "--neighbours", "replace_one")
    result = command("quantiles", source, "--bounds", "x=0:10", *options)
    assert result.exit_code == 0, result.output
    head, row = result.stdout.splitlines()
    assert head == "column,quantile,value,rank_error,low,high"
    assert row.split(",")[1:3] == ["0.5", f"{rounded['x'].median():.0f}"]
    assert "registered it with a total of ε = 5" in result.stderr


def test_amounts_in_wide_bounds_are_found_by_a_scale_of_ratios(command, source):
    frame = people()
    frame.assign(x=np.floor(np.exp(frame["x"])) + 100).to_parquet(source)
    options = ("--scale", "x=log", "--step", "x=1", "--epsilon", "5")
    row = command("quantiles", source, "--bounds", "x=0:1e9", *options).stdout.splitlines()[1]
    exact = pd.read_parquet(source)["x"].median()
    assert float(row.split(",")[2]) == pytest.approx(exact, rel=0.1)
    assert "no column of numbers" in refused(
        command("quantiles", source, "--bounds", "x=0:1e9", "--scale", "z=log", "--epsilon", "1")
    )


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ((*BOUNDS, "--quantile", "1"), "strictly between"),
        ((*BOUNDS, "--quantile", "half"), "finite number"),
        ((*BOUNDS, "--step", "z=1"), "'z'"),
        ((*BOUNDS, "--step", "x=one"), "finite numbers"),
        ((*BOUNDS, "--scale", "box"), "--scale"),
        ((*BOUNDS, "--out", "found.txt"), ".csv"),
        ((*BOUNDS, "--bounds-from-sample", "people.parquet"), "--bounds-from-sample"),
        (("--columns", "x"), "public bounds"),
        (("--bounds", "q=0:1"), "q"),
    ],
)
def test_what_cannot_be_bought(command, source, ledger, options, sentence):
    said = refused(command("quantiles", source, *options, "--epsilon", "1"))
    assert sentence in said and "nothing was spent" in said
    assert not ledger.exists() or Ledger(ledger).names() == []


def test_a_file_is_not_replaced_unasked(command, source, tmp_path):
    (tmp_path / "found.csv").write_text("mine")
    asked = ("quantiles", source, *BOUNDS, "--epsilon", "1", "--out", "found.csv")
    assert "--overwrite" in refused(command(*asked))
    assert (tmp_path / "found.csv").read_text() == "mine"
    assert command(*asked, "--overwrite").exit_code == 0


@pytest.mark.deep
def test_medians_read_off_distances_name_the_sharper_way(command):
    result = command("centre", KNOWN / "distance-1.npz")
    assert result.exit_code == 0, result.output
    assert "several times sharper" in result.stderr
    assert "sharper" not in command("centre", KNOWN / "histogram-1.npz").stderr
