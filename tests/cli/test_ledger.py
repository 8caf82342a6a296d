"""The ledger from the command line."""

from __future__ import annotations

import json
import shutil
from decimal import Decimal
from pathlib import Path

import pytest

from core import Ledger, RequestError
from tests.cli.conftest import SKETCH, refused
from tests.privacy.ledger.test_ledger import pure


def test_a_total_is_promised_once_and_for_all(command, ledger):
    promise = ("--epsilon", "1.50", "--delta", "1e-6", "--neighbours", "replace_one", "--unit", "id:3")
    result = command("ledger", "add", "patients", *promise)
    assert result.exit_code == 0
    assert result.stdout == ""
    dataset = Ledger(ledger).dataset("patients")
    assert (dataset.epsilon, dataset.delta) == (Decimal("1.5"), Decimal("0.000001"))
    assert (dataset.neighbours, dataset.unit) == ("replace_one", "id:3")
    assert command("ledger", "add", "patients", *promise).exit_code == 0
    assert "cannot be changed" in refused(command("ledger", "add", "patients", "--epsilon", "2"))


def test_what_was_spent_is_shown(command, source):
    assert command("ledger", "add", "people", "--epsilon", "1").exit_code == 0
    assert command("ledger", "add", "untouched", "--epsilon", "2").exit_code == 0
    options = ("--epsilon", "0.3", "--out", "people.npz", "--dataset", "people")
    assert command("release", source, *SKETCH, *options).exit_code == 0
    listed = json.loads(command("ledger", "list", "--json").stdout)
    assert [(entry["name"], entry["left"], entry["releases"]) for entry in listed] == [
        ("people", "0.7", 2),  # whether records fit, and the table
        ("untouched", "2", 0),
    ]
    shown = json.loads(command("ledger", "show", "people", "--json").stdout)
    assert [one["cost"]["epsilon"] for one in shown["releases"]] == ["0.003", "0.297"]
    assert [one["note"]["mechanism"] for one in shown["releases"]] == ["fitting", "race"]
    words = command("ledger", "list").stdout
    assert "untouched" in words
    assert "0.7" in words
    words = command("ledger", "show", "people").stdout
    assert shown["releases"][0]["id"] in words
    assert "Left: ε = 0.7." in words


def test_an_unknown_data_set(command):
    assert "'nobody'" in refused(command("ledger", "show", "nobody"))


def test_an_empty_ledger(command):
    assert json.loads(command("ledger", "list", "--json").stdout) == []
    assert command("ledger", "list").exit_code == 0


def test_a_damaged_ledger_releases_nothing(command, source, ledger, tmp_path):
    ledger.write_bytes(b"no ledger at all" * 100)
    result = command("release", source, *SKETCH, "--epsilon", "1", "--out", "people.npz")
    assert "damaged" in refused(result)
    assert not (tmp_path / "people.npz").exists()


def test_a_name_is_no_markup(command):
    assert command("ledger", "add", "[red]x[/red]", "--epsilon", "1").exit_code == 0
    assert "[red]x[/red]" in command("ledger", "list").stdout


@pytest.mark.thorough
def test_a_ledger_that_forgot_a_release_is_told_from_one_that_did_not(command, ledger, source, tmp_path):
    options = ("--epsilon", "0.3", "--dataset", "people", "--overwrite")
    assert command("ledger", "add", "people", "--epsilon", "1").exit_code == 0
    older = tmp_path / "older.sqlite"
    shutil.copy(ledger, older)
    assert command("release", source, *SKETCH, *options, "--out", "people.npz").exit_code == 0
    assert "2 releases, 1 of them kept" in command("ledger", "verify").stderr
    shutil.copy(older, ledger)
    assert "older copy" in refused(command("ledger", "verify"))
    assert "older copy" in refused(command("release", source, *SKETCH, *options, "--out", "again.npz"))


def test_a_second_place_is_asked_where_it_is_named(command, ledger, tmp_path):
    place, older = tmp_path / "elsewhere", tmp_path / "older.sqlite"
    verify = ("ledger", "verify", "--witness", str(place))
    assert command("ledger", "add", "people", "--epsilon", "1").exit_code == 0
    assert "knows of no ledger yet" in refused(command(*verify))
    assert not place.exists()  # a name that was mistyped begins no second place
    Ledger(ledger, str(place)).register("patients", 1)
    assert "agrees, and knows 2 of the 2 lines" in command(*verify).stderr
    shutil.copy(ledger, older)
    Ledger(ledger, str(place)).register("visits", 1)
    written = place.read_text()
    place.write_text("".join(written.splitlines(keepends=True)[:-1]))  # as a crash leaves it
    assert (
        "knows 2 of the 3 lines of its log; the next change of the ledger tells it the rest" in command(*verify).stderr
    )
    place.write_text(written)
    shutil.copy(older, ledger)
    assert command("ledger", "verify").exit_code == 0  # whole in itself
    assert "knows of what it lacks" in refused(command(*verify))
    assert place.read_text() == written


@pytest.mark.thorough
def test_every_command_asks_the_second_place_before_it_spends(command, source, ledger, tmp_path, monkeypatch):
    place, older = tmp_path / "elsewhere", tmp_path / "older.sqlite"
    spend = (
        "release",
        source,
        *SKETCH,
        "--epsilon",
        "0.25",
        "--dataset",
        "people",
        "--overwrite",
        "--out",
        "people.npz",
    )
    add = ("ledger", "add", "people", "--epsilon", "1", "--witness", str(place))
    assert command(*add).exit_code == 0
    shutil.copy(ledger, older)
    assert "second place" in refused(command(*spend))  # by somebody who does not name it
    assert "second place" in refused(command("ledger", "add", "towns", "--epsilon", "1"))
    with pytest.raises(RequestError, match="FROSTGLASS_WITNESS"):
        Ledger(ledger).check("people", pure("0.25"))
    assert Ledger(ledger).status("people").spent == 0
    monkeypatch.setenv("FROSTGLASS_WITNESS", str(place))
    assert command(*spend).exit_code == 0
    assert len(place.read_text().splitlines()) == 3  # what says whether records fit was paid for too
    shutil.copy(older, ledger)
    shutil.rmtree(Path(f"{ledger}.releases"), ignore_errors=True)  # so that no release beside it tells
    assert "knows of what it lacks" in refused(command(*spend))
    assert Ledger(ledger).status("people").spent == 0 and len(place.read_text().splitlines()) == 3
