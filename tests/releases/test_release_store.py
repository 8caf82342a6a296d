"""Nothing that was paid for is lost: every release is kept beside its ledger."""

import os
import stat
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pandas as pd
import pytest

from core import Ledger
from core.domain import Domain
from core.errors import RequestError
from core.geometry.kernels import Euclidean
from core.privacy.budget import Budget
from core.releases.job import release
from core.releases.release_store import Sandbox, Shelf, shelf_of
from core.sketches.race import Race
from tests.releases_for_tests import npy, small_release, with_manifest, zipped

NAMES = [
    "people",
    "a/b",
    "../up",
    "..",
    "Zürich – Süd",
    "100%",
    "x" * 100,
    "ü" * 100,
    "aü" * 50,
    "aü" * 50,
    "name-20200101T000000Z-00000000",
]


@pytest.fixture
def shelf(tmp_path):
    return Shelf(tmp_path / "shelf")


@pytest.mark.parametrize("name", NAMES)
def test_a_release_is_found_again_by_the_name_of_its_data_set(shelf, name):
    made = small_release()
    path = shelf.keep(made, name)
    (entry,) = shelf.entries()
    assert path.parent == shelf.folder and entry.name == path.name and entry.size == path.stat().st_size
    assert entry.dataset == name or (len(entry.dataset) > 20 and name.startswith(entry.dataset))
    assert abs(entry.created - datetime.now(UTC)) < timedelta(minutes=10)
    assert shelf.load(entry.name) == made
    shelf.remove(entry.name)
    assert shelf.entries() == () and list(shelf.folder.iterdir()) == []


def test_what_is_kept_is_the_file_that_is_handed_out(shelf):
    made = small_release()
    assert shelf.keep(made, "people").read_bytes() == made.to_bytes()


def test_the_latest_comes_first_and_none_takes_the_place_of_another(shelf):
    made = small_release()
    kept = [shelf.keep(made, "people") for _ in range(3)]
    for path, day in zip(kept, "213", strict=True):
        path.rename(shelf.folder / f"people-2026010{day}T000000Z-00000000.npz")
    assert [entry.created.day for entry in shelf.entries()] == [3, 2, 1]


def test_a_shelf_without_a_folder_is_empty(shelf):
    assert shelf.entries() == () and not shelf.folder.exists()


@pytest.mark.parametrize("name", ["../ledger.sqlite", "people.npz", "", ".", "people-20260101T000000Z-00000000.npz"])
def test_only_what_is_on_the_shelf_is_opened_or_removed(shelf, name, tmp_path):
    (tmp_path / "ledger.sqlite").write_bytes(b"")
    shelf.keep(small_release(), "people")
    for act in (shelf.load, shelf.remove):
        with pytest.raises(RequestError, match="no release"):
            act(name)
    assert (tmp_path / "ledger.sqlite").exists() and len(shelf.entries()) == 1


def test_other_files_are_left_alone(shelf):
    shelf.keep(small_release(), "people")
    (shelf.folder / "notes.txt").write_text("mine")
    assert len(shelf.entries()) == 1


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_only_the_owner_may_enter(shelf):
    shelf.keep(small_release(), "people")
    assert stat.S_IMODE(shelf.folder.stat().st_mode) == 0o700


def test_it_lies_beside_the_ledger_s_file(tmp_path):
    assert shelf_of(Ledger(tmp_path / "ledger.sqlite")).folder == tmp_path / "ledger.sqlite.releases"


def test_room_is_there_until_it_is_filled_or_given_back(shelf):
    with shelf.room("people", 1 << 20) as place:
        (held,) = shelf.folder.iterdir()
        assert held.stat().st_blocks * 512 >= 1 << 20 and shelf.entries() == ()
        place.put(small_release())
    assert list(shelf.folder.iterdir()) == [place.path] and place.path.stat().st_size < 1 << 16
    with pytest.raises(ZeroDivisionError), shelf.room("people", 1 << 20):
        raise ZeroDivisionError
    assert list(shelf.folder.iterdir()) == [place.path]


def test_room_that_is_not_there_is_refused_and_takes_none(shelf):
    with pytest.raises(RequestError, match="no room to keep the release"), shelf.room("people", 1 << 60):
        pytest.fail("there is no such disk")
    assert list(shelf.folder.iterdir()) == []


def test_what_has_a_name_is_on_show_and_is_found_by_name_and_digest(shelf):
    made = small_release()
    kept = shelf.keep(made, "people")
    digest = sha256(made.to_bytes()).hexdigest()
    assert shelf.find(digest[:12]) == kept and shelf.find(digest[:11]) is None
    assert shelf.find(digest, shown=True) is None, "nobody else sees what has no name"
    shelf.describe(kept.name, "All  of\nthem")
    renamed = shelf.rename(kept.name, "Everyone 2026")
    (entry,) = shelf.entries()
    assert (entry.name, entry.shown, entry.description) == ("Everyone 2026.npz", True, "All of them")
    assert renamed == entry.name and shelf.find("Everyone 2026", shown=True) == shelf.path(renamed)
    assert shelf.find(digest, shown=True) == shelf.path(renamed) and shelf.load(renamed) == made
    shelf.describe(renamed, "")
    assert shelf.entries()[0].description == ""
    shelf.describe(renamed, "again")
    shelf.remove(renamed)
    assert list(shelf.folder.iterdir()) == []


def test_an_opened_file_is_kept_once(shelf):
    data = small_release().to_bytes()
    kept = shelf.put("from/../elsewhere", ".npz", data)
    assert kept.parent == shelf.folder and shelf.put("other", ".npz", data) == kept
    (entry,) = shelf.entries()
    assert not entry.shown and entry.dataset == "from/../elsewhere"


@pytest.mark.parametrize("title", ["../up", "a/b", ".hidden", "", "x" * 101, " x", "a\nb", "a\u202eb", "con:", "x\x00"])
def test_a_name_that_is_no_plain_name_of_a_file_is_refused(shelf, title):
    kept = shelf.keep(small_release(), "people")
    with pytest.raises(RequestError):
        shelf.rename(kept.name, title)
    assert [entry.name for entry in shelf.entries()] == [kept.name]


@pytest.mark.parametrize("title", ["people", "PEOPLE", "p\u0435ople", "\uff50eople"])
def test_a_name_that_looks_like_another_is_refused(shelf, title):
    made = small_release()
    shelf.rename(shelf.keep(made, "a").name, "people")
    other = shelf.keep(made, "b")
    with pytest.raises(RequestError, match="looks like"):
        shelf.rename(other.name, title)


def test_only_public_files_that_were_put_there_by_hand_are_listed(shelf, tmp_path):
    data = small_release().to_bytes()
    shelf.folder.mkdir()
    (shelf.folder / "good.npz").write_bytes(data)
    (shelf.folder / "good.txt").write_text("By hand")
    (tmp_path / "secret.npz").write_bytes(data)
    (shelf.folder / "link.npz").symlink_to(tmp_path / "secret.npz")
    (shelf.folder / "folder.npz").mkdir()
    for name, content in {
        "cut.npz": data[:-40],
        "empty.npz": b"",
        "table.npz": zipped({"table.npy": npy([1, 2])}),
        "other.npz": with_manifest(data, {"format": "something"}),
        "notes.json": b'{"format": "notes"}',
        "deep.json": b"[" * 100_000,
        "odd\u202e.npz": data,
    }.items():
        (shelf.folder / name).write_bytes(content)
    (entry,) = shelf.entries()
    assert (entry.name, entry.shown, entry.description) == ("good.npz", True, "By hand")
    for name in ("link.npz", "cut.npz", "notes.json"):
        with pytest.raises(RequestError, match="no release"):
            shelf.path(name)
    (shelf.folder / "good.npz").write_bytes(b"changed")
    assert shelf.entries() == ()


@pytest.mark.parametrize("address", ["{}", "sqlite:///{}", "sqlite+pysqlite:///{}"])
def test_it_is_a_file_of_its_own_beside_the_ledger(tmp_path, address):
    place = tmp_path / "ledger.sqlite"
    assert Sandbox.beside(address.format(place)).place == tmp_path / "ledger.sqlite.samples"


def test_a_ledger_in_a_database_has_it_in_the_folder_of_the_user(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    place = Sandbox.beside("postgresql://host/name").place
    assert place == Sandbox.beside(None).place and tmp_path in place.parents


def test_it_never_names_the_file_of_an_owner(tmp_path):
    """Whatever it is given, what it forgets has the ending of samples."""
    owners = tmp_path / "ledger.sqlite"
    Ledger(owners).register("people", 1)
    for sandbox in (Sandbox(owners), Sandbox.beside(owners), Sandbox(Path(f"{owners}.samples"))):
        sandbox.begin_again()
        assert sandbox.place.name == "ledger.sqlite.samples"
    assert Ledger(owners).names() == ["people"]


def test_beginning_again_forgets_what_was_spent_and_what_it_was_spent_on(tmp_path):
    sandbox = Sandbox.beside(tmp_path / "ledger.sqlite")
    assert not sandbox.exists and sandbox.shelf.entries() == ()
    sketch = Race(Domain.of(x=(0, 1)), Euclidean(0.2), rows=10, seed=3)
    release(sketch, pd.DataFrame({"x": [0.5]}), Budget(1), ledger=sandbox.ledger, dataset="play")
    assert sandbox.shelf.folder == shelf_of(sandbox.ledger).folder and len(sandbox.shelf.entries()) == 1
    sandbox.begin_again()
    assert not sandbox.exists and sandbox.shelf.entries() == () and sandbox.ledger.names() == []
