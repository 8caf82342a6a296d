"""Forecasts and audits from the command line."""

from __future__ import annotations

import json

import pytest

from core import Budget, Domain, Race
from core.geometry import kernels
from core.releases.forecast.forecast import forecast
from tests.cli.conftest import BOUNDS, SKETCH, refused


@pytest.mark.thorough
def test_a_forecast_is_that_of_the_library(command):
    guesses = ("--records", "5000", "--density", "0.2", "--seed", "1")
    result = command("forecast", *SKETCH, "--epsilon", "0.5", *guesses, "--json")
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    sketch = Race(Domain.of(x=(0, 10), y=(0, 10)), kernels.Euclidean(2), 60, 64, seed=1)
    for name, delta in (("pure", 0), ("with_delta", "1e-6")):
        assert facts[name]["standard_error"] == forecast(sketch, Budget("0.5", delta), 5000, 0.2).standard_error
    assert [entry["epsilon"] for entry in facts["curve"]] == ["0.05", "0.15", "0.5", "1.5", "5"]
    errors = [entry["pure"] for entry in facts["curve"]]
    assert errors == sorted(errors, reverse=True)


def test_a_forecast_in_words_shows_both_promises_side_by_side(command):
    result = command("forecast", *SKETCH, "--epsilon", "2", "--delta", "1e-5", "--records", "10000")
    assert result.exit_code == 0, result.output
    assert "ε = 2, δ = 0.00001" in result.stdout
    assert "10,000 records" in result.stdout
    assert result.stderr == ""


@pytest.mark.thorough
def test_a_mechanism_that_chooses_first_is_forecast_by_a_table_of_its_size(command, monkeypatch):
    monkeypatch.setattr("core.lab.published.synthetic_records.POINTS", 64)  # enough for a table in words
    shape = ("--mechanism", "privbayes", "--kernel", "gaussian", "--bandwidth", "2", "--size", "4")
    result = command("forecast", *BOUNDS, *shape, "--epsilon", "1", "--records", "3000")
    assert result.exit_code == 0, result.output
    assert "16 counters" in result.stdout


def test_a_forecast_of_the_same_again(command, released):
    assert command("forecast", "--like", released, "--epsilon", "1", "--json").exit_code == 0


def test_a_forecast_spends_nothing(command, ledger):
    assert command("forecast", *SKETCH, "--epsilon", "1", "--records", "500").exit_code == 0
    assert not ledger.exists()


@pytest.mark.few(8)
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--density", "0", "--records", "500"), "density"),
        (("--density", "1.5", "--records", "500"), "density"),
        (("--records", "0"), "number of records"),
        ((), "records there are at least"),
        (("--epsilon", "0"), "Epsilon must be above 0"),
        (("--epsilon", "101"), "at most 100"),
        (("--epsilon", "nan"), "finite"),
        (("--epsilon", "much"), "finite number"),
        (("--delta", "0.5"), "Delta must be"),
        (("--rows", "0"), "number of rows"),
        (("--width", "1"), "width"),
        (("--rows", "1000000", "--width", "1000000"), "counters"),
        (("--power", "99"), "power"),
        (("--bandwidth", "0"), "bandwidth"),
        (("--seed", "x"), "seed"),
        (("--bounds", "z=3:1"), "smallest value of 'z'"),
        (("--bounds", "x=0:1"), "twice"),
        (("--columns", "x,y,z"), "'z' has none"),
        (("--columns", "x"), "'y' is described but"),
        (("--vector", "z=3"), "'z' is described but"),
        (("--categories", "x=a,b"), "declared twice"),
        (("--kernel", "angular"), "no bandwidth"),
    ],
)
def test_what_cannot_be_forecast(command, options, sentence):
    assert sentence in refused(command("forecast", "--epsilon", "1", *SKETCH, *options))


def test_a_bandwidth_is_never_guessed(command):
    assert "--bandwidth" in refused(command("forecast", "--epsilon", "1", *BOUNDS))


def test_columns_are_never_guessed(command):
    assert "--bounds COLUMN=LOW:HIGH" in refused(command("forecast", "--epsilon", "1", "--bandwidth", "1"))


@pytest.mark.deep
def test_an_audit_of_what_is_kept(command):
    """A sound mechanism fails with probability 1 - level at most, so one in ten million here."""
    result = command("audit", "--epsilon", "1", "--level", "0.9999999", "--json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["verdict"] == "pass"
    assert report["epsilon_lower"] <= 1
    assert report["runs"] == 20_000
    assert report["exact"] and all(one["failed"] == 0 for one in report["exact"])
    words = command("audit", *SKETCH, "--epsilon", "1", "--runs", "200", "--level", "0.9999999").stdout
    replayed, attacked = words.splitlines()
    assert replayed.startswith("race: nothing escaped in") and attacked.startswith("Passed: in 200 runs")


@pytest.mark.deep
def test_an_audit_of_what_is_broken_is_no_success(command, monkeypatch):
    from core.sketches import mechanism_audit

    add_noise = mechanism_audit.add_noise
    # Noise of a quarter of the scale, as if someone had forgotten the rows.
    monkeypatch.setattr(mechanism_audit, "add_noise", lambda table, scale: table + (add_noise(0 * table, scale)) // 4)
    result = command("audit", "--epsilon", "1", "--runs", "4000")
    assert result.exit_code == 1
    replayed, attacked = result.stdout.splitlines()
    assert replayed.startswith("race: nothing escaped") and attacked.startswith("Failed")  # on the law's word alone


def test_an_audit_with_too_few_runs(command):
    assert "runs" in refused(command("audit", "--epsilon", "1", "--runs", "5"))


@pytest.mark.thorough
def test_the_promise_follows_from_what_is_needed_and_is_what_is_spent(command, tmp_path):
    rows = "\n".join(f"{place % 10},{place % 7}" for place in range(300))
    (tmp_path / "people.csv").write_text(f"x,y\n{rows}\n")
    need = ("--mechanism", "tables", "--records", "300", "--dataset", "people", "--out", "people.npz")
    made = command("release", "people.csv", *BOUNDS, *need, "--error", "5%")
    assert made.exit_code == 0, made.output
    said = made.stderr.split("With 300 records, ε = ")[1].split(" ")[0]
    assert f"Spent ε = {said} " in made.stderr
    seen = json.loads(command("inspect", "people.npz", "--json").stdout)
    assert seen["privacy"]["epsilon"] == said


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ((), "--epsilon"),
        (("--epsilon", "1", "--error", "2%"), "--error cannot be given here"),
        (("--error", "2%"), "needs --records"),
        (("--harm", "3%:1%"), "two chances"),
        (("--harm", "1%"), "two chances"),
        (("--error", "much", "--records", "100"), "An error is a share"),
        (("--error", "0.0001%", "--records", "100"), "No promise up to"),
        (("--harm", "1%:2%", "--visible", "5"), "--visible cannot be given here"),
    ],
)
def test_needs_that_decide_nothing_are_refused_before_anything_is_read(command, ledger, options, sentence):
    assert sentence in refused(command("forecast", *SKETCH, *options))
    assert not ledger.exists()
