"""A ledger of the test's own, which the page Release pays from."""

import pytest

from core.privacy.ledger.ledger import Ledger


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    where = tmp_path / "ledger.sqlite"
    monkeypatch.setenv("FROSTGLASS_LEDGER", str(where))
    return Ledger(where)
