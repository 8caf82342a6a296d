"""The log beside a ledger: only ever appended to, and whoever changes it is noticed."""

import sqlite3

import pytest

from core.errors import RequestError
from core.privacy.ledger.ledger import Ledger
from core.privacy.ledger.ledger_store import LedgerDamaged, Store
from core.privacy.ledger.log import LONGEST_WORD, Did
from tests.privacy.ledger.test_ledger import pure


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def ledger(path):
    """Two data sets, three releases, and five more things that were done."""
    ledger = Ledger(path)
    ledger.who = "ann@example.org"
    for name in ("skin", "bank"):
        ledger.register(name, 3)
    for name in ("skin", "bank", "skin"):
        ledger.spend(name, pure("0.1"), {"mechanism": "race", "columns": ["age"], "parameters": {"rows": 2}})
        ledger.log.write("bob@example.org", Did.DOWNLOADED, {"file": "release.npz"})
    return ledger


def change(path, *statements):
    with sqlite3.connect(path) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def test_it_says_who_did_what(ledger):
    lines = ledger.log.lines()
    assert [line.number for line in lines] == list(range(1, 9)) and ledger.log.verify() == 8
    assert [line.did for line in lines[:4]] == [Did.REGISTERED, Did.REGISTERED, Did.RELEASED, Did.DOWNLOADED]
    assert lines[2].who == "ann@example.org"
    said = lines[2].about
    assert [said[name] for name in ("dataset", "epsilon", "mechanism")] == ["skin", "0.1", "race"]
    assert said["columns"] == ["age"] and said["entry"] == ledger.status("skin").releases[0].id
    assert [line.number for line in ledger.log.lines(after=6)] == [7, 8]


@pytest.mark.few(4)
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE frostglass_log SET who = 'eve@example.org' WHERE number = 3",
        "UPDATE frostglass_log SET about = '{}' WHERE number = 8",
        "UPDATE frostglass_log SET created = '2020-01-01T00:00:00+00:00' WHERE number = 1",
        "DELETE FROM frostglass_log WHERE number = 8",
        "DELETE FROM frostglass_log WHERE number = 4",
        "DELETE FROM frostglass_log",
        "DELETE FROM frostglass_log_book",
        "UPDATE frostglass_log_book SET lines = 7",
        "UPDATE frostglass_log SET number = number + 100 WHERE number = 5",
    ],
)
def test_whoever_changes_a_line_is_noticed(ledger, path, statement):
    change(path, statement)
    with pytest.raises(LedgerDamaged):
        Ledger(path).log.verify()


def test_lines_in_another_order_are_noticed(ledger, path):
    change(
        path,
        "UPDATE frostglass_log SET number = 99 WHERE number = 4",
        "UPDATE frostglass_log SET number = 4 WHERE number = 6",
        "UPDATE frostglass_log SET number = 6 WHERE number = 99",
    )
    with pytest.raises(LedgerDamaged):
        ledger.log.verify()


@pytest.mark.parametrize("kept", [0, 1, 4, 7])
def test_a_log_that_was_cut_with_its_count_contradicts_the_ledger(ledger, path, kept):
    links = {line.number: line.link for line in ledger.log.lines()} | {0: ""}
    change(
        path,
        f"DELETE FROM frostglass_log WHERE number > {kept}",
        f"UPDATE frostglass_log_book SET lines = {kept}, head = '{links[kept]}'",
    )
    if kept == 7:  # the last line was no release's, and nobody noted it: an export or the next release would
        assert ledger.log.verify() == 7
        return
    with pytest.raises(LedgerDamaged, match="log"):
        ledger.log.verify()


def test_a_ledger_of_an_earlier_version_gets_a_log(ledger, path):
    change(path, "DROP TABLE frostglass_log", "DROP TABLE frostglass_log_book")
    old = Ledger(path)
    assert old.log.lines() == []
    old.spend("skin", pure("0.1"))
    assert [line.did for line in old.log.lines()] == [Did.RELEASED]
    with pytest.raises(LedgerDamaged):  # earlier releases have noted a log that is gone
        old.log.verify()


def test_there_is_no_place_for_a_value(ledger):
    with pytest.raises(ValueError, match="no place"):
        ledger.log.write("ann@example.org", Did.DECLARED, {"mean": 3.7})


def test_what_it_says_can_be_printed(ledger):
    ledger.log.write("a\x1b[2J\nb", Did.DECLARED, {"dataset": "x\u202e\x00" + "y" * 1000, "columns": ["a\nb"]})
    line = ledger.log.lines()[-1]
    assert line.who.isprintable() and line.about["dataset"].isprintable() and line.about["columns"][0].isprintable()
    assert len(line.about["dataset"]) == LONGEST_WORD


def test_what_cannot_be_written_down_is_refused(ledger, path):
    store = Store(path)
    path.unlink()
    with pytest.raises(RequestError):
        ledger.log.write("ann@example.org", Did.DECLARED)
    assert store.where == str(path)
