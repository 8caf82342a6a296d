"""The ledger of the samples: apart from its owner's, and the only one that begins again."""

from pathlib import Path

import pandas as pd
import pytest

from core.domain import Domain
from core.geometry.kernels import Euclidean
from core.privacy.budget import Budget
from core.privacy.ledger.ledger import Ledger
from core.releases.job import release
from core.releases.release_store import shelf_of
from core.releases.sandbox import Sandbox
from core.sketches.hashed.race import Race


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
