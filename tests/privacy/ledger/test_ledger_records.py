"""Names that look alike are one account."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import RequestError
from core.privacy.ledger.ledger import Ledger
from core.privacy.ledger.ledger_records import look_alike
from tests.tables_for_tests import LETTERS

ALIKE = {
    "capitals": ("survey", "SurVey"),
    "a variation selector": ("d", "d\ufe0f"),
    "a supplementary variation selector": ("d", "d\U000e0100"),
    "fullwidth letters": ("survey", "ｓｕｒｖｅｙ"),
    "letters of Cyrillic": ("Paco", "Расо"),
    "capitals of Cyrillic": ("COBPA", "СОВРА"),
    "letters of Greek": ("KATO", "ΚΑΤΟ"),
    "a ligature": ("office", "oﬃce"),
    "a filler": ("ab", "a\u115fb"),
    "two blanks": ("a b", "a  b"),
    "an accent in two spellings": ("café", "cafe\u0301"),
}


@pytest.mark.parametrize("kind", ALIKE)
def test_a_second_name_for_the_same_people_opens_no_second_account(kind, tmp_path):
    known, other = ALIKE[kind]
    for first, second in ((known, other), (other, known)):
        ledger = Ledger(tmp_path / f"{first == known}.sqlite")
        ledger.register(first, 1)
        before = ledger.names()
        try:
            ledger.register(second, 1)
        except RequestError as refusal:
            assert "look alike" in str(refusal)
        assert ledger.names() == before


@pytest.mark.parametrize("pair", [("café", "cafe"), ("bank", "bank 2"), ("Привет", "Привёт"), ("data1", "datal")])
def test_names_that_look_different_are_different(pair):
    assert not look_alike(*pair)


@given(st.text(LETTERS, max_size=12), st.text(LETTERS, max_size=12))
def test_looking_alike_holds_both_ways_and_of_capitals(one, other):
    assert look_alike(one, one) and look_alike(one, other) == look_alike(other, one)


def test_what_an_older_ledger_knows_twice_stays_two_accounts(tmp_path, monkeypatch):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    monkeypatch.setattr("core.privacy.ledger.ledger.check_new", lambda name, known: None)
    for name in ("survey", "ѕurvey"):
        ledger.register(name, 1)
    monkeypatch.undo()
    assert [ledger.dataset(name).name for name in ledger.names()] == ledger.names()
    with pytest.raises(RequestError, match="look alike"):
        ledger.register("SURVEY", 1)
