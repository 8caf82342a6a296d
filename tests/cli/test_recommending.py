"""Recommendations from the command line."""

from __future__ import annotations

import json

from core import load
from tests.cli.conftest import BOUNDS, refused

FACTS = (*BOUNDS, "--epsilon", "1", "--records", "2000")


def test_the_list_has_a_reason_for_every_mechanism(command):
    result = command("recommend", *FACTS, "--bandwidth", "1")
    assert result.exit_code == 0, result.output
    assert "is best here" in result.stdout and "race: The gaussian kernel" in result.stdout


def test_as_json(command):
    result = command("recommend", *FACTS, "--bandwidth", "1", "--kernel", "laplacian", "--json")
    found = json.loads(result.stdout)
    errors = [one["forecast"]["relative_error"] for one in found]
    assert errors == sorted(errors) and {one["mechanism"] for one in found} == {"histogram", "race", "features"}


def test_distances_and_classes(command):
    assert "moments" in command("recommend", *FACTS, "--norm", "squared", "--radius", "3").stdout
    result = command("recommend", *FACTS, "--norm", "l1", "--label", "g", "--classes", "a,b")
    assert "2 classes" in " ".join(result.stdout.split())


def test_the_first_of_the_list_is_what_auto_takes(command, source, tmp_path):
    shape = ("--mechanism", "auto", "--bandwidth", "1")
    result = command("release", source, *FACTS, *shape, "--out", "a.npz")
    assert result.exit_code == 0, result.output
    first = json.loads(command("recommend", *FACTS, "--bandwidth", "1", "--json").stdout)[0]
    assert load(tmp_path / "a.npz").sketch.name == first["mechanism"]
    assert first["reason"] in result.stderr


def test_nothing_is_spent(command, ledger):
    command("recommend", *FACTS, "--bandwidth", "1")
    assert not ledger.exists()


def test_bad_requests(command):
    assert "--bandwidth" in refused(command("recommend", *FACTS))
    assert "--norm asks for distances" in refused(command("recommend", *FACTS, "--norm", "l1", "--bandwidth", "1"))
    assert "number of records" in refused(command("recommend", *FACTS, "--bandwidth", "1", "--records", "0"))
