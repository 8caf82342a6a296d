"""An older copy in the ledger's place is noticed by a second place that knows how far the ledger had come."""

import shutil

import pytest

from core.errors import RequestError
from core.privacy.ledger import witness as module
from core.privacy.ledger.ledger import Ledger
from core.privacy.ledger.ledger_store import LedgerDamaged
from core.privacy.ledger.witness import FileWitness
from tests.privacy.ledger.test_ledger import pure
from tests.privacy.ledger.test_postgres_under_load import server  # noqa: F401


@pytest.fixture
def places(tmp_path):
    return tmp_path / "ledger.sqlite", str(tmp_path / "elsewhere")


@pytest.mark.parametrize("before", [1, 2])
def test_an_older_copy_is_refused_whatever_is_asked_of_it(places, before):
    where, elsewhere = places
    book = Ledger(where, elsewhere)
    book.register("visits", 1)
    spendings = [pure("0.25")] * before
    for cost in spendings[:-1]:
        book.spend("visits", cost)
    copy = where.with_name("copy")
    shutil.copyfile(where, copy)
    book.spend("visits", spendings[-1])
    shutil.copyfile(copy, where)
    Ledger(where).status("visits")  # whole in itself
    for deed in (
        lambda: Ledger(where, elsewhere),
        lambda: book.status("visits"),
        lambda: book.spend("visits", pure("0.25")),
    ):
        with pytest.raises(LedgerDamaged, match="second place knows of what it lacks"):
            deed()
    assert len(Ledger(where).entries("visits")) == before - 1


def test_a_ledger_that_was_begun_again_is_refused(places):
    where, elsewhere = places
    Ledger(where, elsewhere).register("visits", 1)
    where.unlink()
    with pytest.raises(LedgerDamaged):
        Ledger(where, elsewhere)
    other = Ledger(where)
    other.register("visits", 5)
    with pytest.raises(LedgerDamaged):
        Ledger(where, elsewhere)


def test_several_who_write_do_not_accuse_each_other(places):
    where, elsewhere = places
    one, other = Ledger(where, elsewhere), Ledger(where, elsewhere)
    one.register("visits", 1)
    for book in (one, other, other, one):
        book.spend("visits", pure("0.125"))
        lines = where.with_name("elsewhere").read_text().splitlines()
    where.with_name("elsewhere").write_text("\n".join([*lines[:-2], lines[-1], lines[-2]]) + "\n")
    assert len(Ledger(where, elsewhere).entries("visits")) == 4  # the farthest line was not written last
    one.spend("visits", pure("0.125"))


def test_what_cannot_be_written_there_is_spent_and_not_released(places, monkeypatch):
    where, elsewhere = places
    book = Ledger(where, elsewhere)
    book.register("visits", 1)

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(module.os, "fsync", full)
        with pytest.raises(RequestError, match="is spent, and no release is made of it"):
            book.spend("visits", pure("0.25"))
    assert len(book.entries("visits")) == 1
    book.spend("visits", pure("0.25"))
    assert len(Ledger(where, elsewhere).entries("visits")) == 2


def test_a_place_that_cannot_be_used_is_said_before_anything_is_spent(places, tmp_path):
    where, elsewhere = places
    with pytest.raises(RequestError, match="cannot be read and written"):
        Ledger(where, str(tmp_path / "missing" / "place"))
    book = Ledger(where, elsewhere)
    book.register("visits", 1)
    place = where.with_name("elsewhere")
    place.write_text(place.read_text() + "something else\n")
    with pytest.raises(RequestError, match="none of its own"):
        book.spend("visits", pure("0.25"))
    assert Ledger(where).entries("visits") == ()


def test_only_the_end_of_a_long_file_is_read(places, monkeypatch):
    where, elsewhere = places
    book = Ledger(where, elsewhere)
    book.register("visits", 1)
    monkeypatch.setattr(module, "TAIL", 200)
    for _ in range(5):
        book.spend("visits", pure("0.125"))
    assert FileWitness(where.with_name("elsewhere")).farthest() == (6, book.log.lines()[-1].link)


@pytest.mark.deep
def test_a_table_in_a_database_notices_it_too(server, tmp_path):  # noqa: F811
    server.ledger()
    where, copy = tmp_path / "ledger.sqlite", tmp_path / "copy"
    book = Ledger(where, server.address)
    book.register("visits", 1)
    shutil.copyfile(where, copy)
    book.spend("visits", pure("0.25"))
    assert len(Ledger(where, server.address).entries("visits")) == 1
    shutil.copyfile(copy, where)
    with pytest.raises(LedgerDamaged, match="second place"):
        Ledger(where, server.address)
