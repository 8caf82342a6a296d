"""A ledger that was rolled back to an older copy contradicts the releases that lie beside it, and pays for nothing."""

import shutil
from decimal import Decimal
from fractions import Fraction

import pytest

from core import Budget, Domain, Ledger, Race, release
from core.errors import RequestError
from core.geometry.kernels import Euclidean
from core.privacy.accounting import Cost, Gaussian, Reserve
from core.privacy.composition import PureParts
from core.privacy.ledger.ledger_store import LedgerDamaged
from core.releases.payment import LedgerAccount, check_all_remembered, check_remembered, with_columns
from core.releases.release_store import NAMED, public_name, shelf_of

PLANE = Domain.of(x=(0, 1), y=(0, 1))
SKETCH = Race(PLANE, Euclidean(0.2), rows=4, width=4, seed=1)
DATA = {"x": [0.1, 0.2, 0.7], "y": [0.5, 0.6, 0.9]}
LONG = "ü" * 99


@pytest.fixture
def ledger(tmp_path):
    made = Ledger(tmp_path / "ledger.sqlite")
    made.register("people", 10)
    return made


def made(ledger, dataset="people"):
    return release(SKETCH, DATA, Budget(1), ledger=ledger, dataset=dataset)


def rolled_back(ledger, older):
    shutil.copy(older, ledger.where)
    return Ledger(ledger.where)


@pytest.fixture
def older(ledger, tmp_path):
    """A copy of the ledger after its first release; it makes a second one afterwards."""
    made(ledger)
    copy = tmp_path / "older.sqlite"
    shutil.copy(ledger.where, copy)
    made(ledger)
    return copy


def test_an_older_copy_pays_for_nothing_more(ledger, older):
    assert check_all_remembered(ledger) == 2
    book = rolled_back(ledger, older)
    with pytest.raises(LedgerDamaged, match="older copy that has forgotten what was spent"):
        made(book)
    assert len(book.status("people").releases) == 1
    with pytest.raises(LedgerDamaged):
        check_all_remembered(book)
    made(book, "others")  # which it has forgotten nothing of


def test_a_ledger_that_was_begun_again_pays_for_nothing_more(ledger, tmp_path):
    made(ledger)
    (tmp_path / "ledger.sqlite").unlink()
    book = Ledger(ledger.where)
    with pytest.raises(LedgerDamaged):
        made(book)
    assert book.names() == []


def test_the_last_word_is_that_of_the_moment_of_paying(ledger, older):
    """A ledger that is replaced while the data is read is noticed when the price is due."""
    payer = LedgerAccount(ledger, "people", Budget(1), "record")
    cost = ledger.status("people").releases[0].cost
    payer.check(cost)
    payer.ledger = rolled_back(ledger, older)
    with pytest.raises(LedgerDamaged):
        payer.spend(cost, SKETCH)
    assert payer.spent is False


def test_it_is_whole_again_once_the_latest_is_restored_or_the_release_is_taken_away(ledger, older, tmp_path):
    shutil.copy(ledger.where, tmp_path / "latest.sqlite")
    book = rolled_back(ledger, older)
    with pytest.raises(LedgerDamaged):
        check_remembered(book, "people")
    check_remembered(rolled_back(ledger, tmp_path / "latest.sqlite"), "people")
    book = rolled_back(ledger, older)
    shelf = shelf_of(book)
    shelf.remove(shelf.entries()[0].name)
    if check_is_refused(book):
        shelf.remove(shelf.entries()[0].name)
    check_remembered(book, "people")


def check_is_refused(book):
    """Two releases of one second have no order, so the other one may have to go."""
    try:
        check_remembered(book, "people")
    except RequestError:
        return True
    return False


def test_files_that_were_opened_here_are_nobodys_word_against_the_ledger(ledger):
    shelf = shelf_of(ledger)
    shelf.put("people", ".npz", made(ledger).to_bytes() + b"another")
    earlier = next(shelf.folder.glob("*.npz"))
    shutil.copy(earlier, shelf.folder / "people-20240101T000000Z-0123abcd.npz")  # by an earlier version
    check_remembered(ledger, "people")
    made(ledger)


@pytest.mark.thorough
def test_names_that_are_cut_alike_are_not_taken_for_each_other(ledger):
    for last in "aba":
        ledger.register(LONG + last, 10)
        made(ledger, LONG + last)
    assert len({NAMED.fullmatch(entry.name)["dataset"] for entry in shelf_of(ledger).entries()}) == 1


def test_what_marks_a_release_says_nothing_of_its_data_set(ledger):
    made(ledger)
    made(ledger, "others")
    marks = {NAMED.fullmatch(entry.name)["mark"] for entry in shelf_of(ledger).entries()}
    assert len(marks) == 2 and all(len(mark) == 16 for mark in marks)
    for name in ("people", "others"):
        (entry,) = ledger.status(name).releases
        assert name not in entry.note["file"] and entry.id not in entry.note["file"]
        assert entry.note["file"] in {public_name(kept.name) for kept in shelf_of(ledger).entries()}


def test_nothing_is_given_back_of_one_entry_once_more_than_the_first_was_drawn_of_it(ledger):
    """A second stage was drawn of the same price, and would have cost nothing."""
    budget = Budget(1, "0.001")
    reserve, payer = Reserve(budget, Fraction("0.1")), LedgerAccount(ledger, "others", budget, "record")
    whole = Cost((*reserve.first_cost.events, reserve.rest), budget.epsilon, budget.delta)
    payer.prepay(whole, SKETCH)
    payer.drawn = reserve.first_cost, SKETCH, "columns"
    second = Cost((Gaussian(reserve.first_rho / 10),), "0.5", "0.0001")
    payer.spend_part(second, SKETCH, "how far records lie apart")
    payer.give_back()
    assert [entry.cost for entry in ledger.entries("others")] == [whole]
    assert payer.prepaid == (Fraction(1, 2), Fraction(9, 10_000))


def test_a_data_set_of_the_same_columns_is_found_whatever_was_bought_of_it(ledger):
    for name, note in (
        ("a", {"columns": ["x", "y"]}),
        ("b", {"parameters": {"columns": ["x", "z"]}}),
        ("c", {"columns": ["x"]}),
    ):
        ledger.register(name, 1)
        ledger.spend(name, Cost((PureParts(Fraction(1)),), Decimal(1)), note)
    assert with_columns(ledger, ["x", "y", "w"]) == ["a"] and with_columns(ledger, ["x", "y", "z"]) == ["a", "b"]
    assert with_columns(ledger, ["x"]) == []
