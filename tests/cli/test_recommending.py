"""Recommendations from the command line."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core import load
from tests.cli.conftest import BOUNDS, refused

FACTS = (*BOUNDS, "--epsilon", "1", "--records", "2000")


def test_the_list_has_a_reason_for_every_mechanism(command):
    result = command("recommend", *FACTS, "--bandwidth", "1")
    assert result.exit_code == 0, result.output
    assert "is best here" in result.stdout and "race: The gaussian kernel" in result.stdout


@pytest.mark.thorough
def test_as_json(command):
    result = command("recommend", *FACTS, "--bandwidth", "1", "--kernel", "laplacian", "--json")
    found = json.loads(result.stdout)
    errors = [one["forecast"]["relative_error"] for one in found]
    assert errors == sorted(errors) and {one["mechanism"] for one in found} == {"histogram", "race", "features"}
    assert {one["mechanism"]: one["stopped_by"] for one in found}["race"] == "noise"


def test_distances_and_classes(command):
    assert "moments" in command("recommend", *FACTS, "--norm", "squared", "--radius", "3").stdout
    result = command("recommend", *FACTS, "--norm", "l1", "--label", "g", "--classes", "a,b")
    assert "2 classes" in " ".join(result.stdout.split())


@pytest.mark.deep
def test_the_first_of_the_list_is_what_auto_takes(command, source, tmp_path):
    shape = ("--mechanism", "auto", "--bandwidth", "1")
    result = command("release", source, *FACTS, *shape, "--out", "a.npz")
    assert result.exit_code == 0, result.output
    first = json.loads(command("recommend", *FACTS, "--bandwidth", "1", "--json").stdout)[0]
    assert load(tmp_path / "a.npz").sketch.name == first["mechanism"]
    assert first["reason"] in result.stderr


@pytest.mark.deep
def test_without_a_number_of_records_they_are_counted_first(command, source):
    made = command("release", source, "--bounds", "x=0:10", "--epsilon", 1, "--mechanism", "auto", "--out", "c.npz")
    assert made.exit_code == 0, made.output
    assert "so they were counted first, for ε = 0.0198" in made.stderr
    assert "a total of ε = 1, exactly what this release spends" in made.stderr
    few = command("recommend", "--bounds", "x=0:10", "--epsilon", 1, "--records", 2)
    assert "an error of more than all records is expected" in few.stdout


def test_nothing_is_spent(command, ledger):
    command("recommend", *FACTS, "--bandwidth", "1")
    assert not ledger.exists()


def test_bad_requests(command):
    assert "--bandwidth" in refused(command("recommend", *FACTS, "--kernel", "laplacian"))
    assert "--norm asks for distances" in refused(command("recommend", *FACTS, "--norm", "l1", "--bandwidth", "1"))
    assert "number of records" in refused(command("recommend", *FACTS, "--bandwidth", "1", "--records", "0"))


WIDE = ("--bounds", "x=0:10", "--bounds", "y=0:2000", "--epsilon", "1", "--records", "2000")


@pytest.mark.deep
def test_columns_of_very_different_ranges_are_compared_as_shares_unless_something_was_said(command, source):
    asked = (("recommend", "--norm", "l1"), ("forecast", "--norm", "l1"))
    for what, *shape in (*asked, ("release", source, "--norm", "l1", "--out", "a.npz")):
        result = command(what, *shape, *WIDE)
        assert result.exit_code == 0, result.output
        said = " ".join(result.stderr.split())
        assert "'y' is 200 times that of 'x'" in said and "share of its bounds, and distances are" in said
    assert load("a.npz").domain.scale == "box"
    for scale in ("none", "box"):
        assert "200 times" not in command("recommend", *WIDE, "--norm", "l1", "--scale", scale).stderr


@pytest.mark.deep
def test_a_length_in_the_columns_own_units_keeps_them(command):
    for shape in (("--norm", "capped:5"), ("--norm", "l2", "--radius", "100"), ("--bandwidth", "3")):
        said = " ".join(command("recommend", *WIDE, *shape).stderr.split())
        assert "nearly all distance is along it" in said and "distances are in such shares" not in said
    each = command("recommend", *WIDE, "--kernel", "gaussian", "--bandwidth", "x=1,y=100")
    assert each.exit_code == 0 and "200 times" not in each.stderr
    assert "times that" not in command("recommend", *FACTS, "--bandwidth", "1").stderr


@pytest.mark.thorough
def test_without_a_bandwidth_it_follows_from_the_noise(command, source):
    facts = ["--bounds", "x=0:10", "--records", 2000, "--epsilon", 1]
    listed = command("recommend", *facts)
    assert listed.exit_code == 0, listed.output
    assert "Detail down to spikes" in listed.output
    assert "choose how finely to look" in listed.output
    made = command("release", source, *facts, "--mechanism", "auto", "--out", "x.npz")
    assert made.exit_code == 0, made.output
    Path("places.csv").write_text("x\n3\n8\n")
    read = [
        pd.read_csv(io.StringIO(command("query", "x.npz", "places.csv", *options).stdout))
        for options in ((), ("--bandwidth", "auto"), ("--bandwidth", "2.5"))
    ]
    assert not np.allclose(read[0]["estimate"], read[2]["estimate"])
    assert (read[1]["low"] < read[1]["high"]).all()
    refused = command("query", "x.npz", "places.csv", "--bandwidth", "0.0001")
    assert refused.exit_code == 2
    assert "too coarse" in refused.output


@pytest.mark.deep
def test_the_bandwidth_of_many_columns_follows_from_how_far_apart_records_lie(command, tmp_path):
    """Bounds ten times as wide as the records: bought, and supposed where nothing is spent.

    Their pairs add up to 380 or so, and at the limits to 95 or 1,520, six scales of the noise away or more.
    """
    random = np.random.default_rng(0)
    pd.DataFrame(random.normal(50, 10, (16000, 4)), columns=list("abcd")).to_csv("four.csv")
    bounds = [word for name in "abcd" for word in ("--bounds", f"{name}=0:100")]
    facts = (*bounds, "--records", 16000, "--epsilon", 1)
    made = command("release", "four.csv", *facts, "--mechanism", "auto", "--out", "four.npz")
    assert made.exit_code == 0 and "how far records lie apart was bought first, for ε = 0.0" in made.stderr
    release = load(tmp_path / "four.npz")
    assert 7 < release.sketch.kernel.bandwidth < 28 and float(release.privacy.epsilon) == 1  # 14, and noise
    said = command("recommend", *facts, "--spread", "0.05")
    assert "the bandwidth is 7.07" in said.stderr
    assert "taken to lie 17%" in command("recommend", *facts).stderr
    assert "between 0.001 and 0.5" in refused(command("recommend", *facts, "--spread", "5"))
    assert "with --mechanism auto" in refused(command("release", "four.csv", *facts, "--out", "x.npz"))


@pytest.mark.thorough
def test_the_automatic_distance_of_a_map_is_said_in_km(command, tmp_path):
    """It was a number without a unit, which nobody could hold beside a street."""
    place = "{kind: position, latitude: lat, longitude: lon, south: 45, north: 47, west: 5, east: 8}"
    (tmp_path / "map.yaml").write_text(f"columns:\n  place: {place}\n")
    said = command(
        "recommend", "--declaration", "map.yaml", "--records", 9_000, "--epsilon", 1, "--spread", "0.1"
    ).stderr
    assert "The bandwidth is 3.6 km where readers choose none" in said
