"""Who may name a path on the server: only those who own it."""

import pytest

from core.ui.frame import paths


@pytest.mark.parametrize(
    ("address", "said", "allowed"),
    [
        ("127.0.0.1", None, True),
        ("localhost", None, True),
        ("::1", None, True),
        ("0.0.0.0", None, False),
        ("192.168.1.7", None, False),
        (None, None, False),
        ("", None, False),
        ("0.0.0.0", "1", True),
        ("127.0.0.1", "0", False),
        ("127.0.0.1", "no", False),
        ("0.0.0.0", " True ", True),
        ("127.0.0.1", "", True),
        ("0.0.0.0", "anything", False),
    ],
)
def test_the_address_decides_and_the_variable_overrules_it(monkeypatch, address, said, allowed):
    monkeypatch.setattr(paths.st, "get_option", lambda name: {"server.address": address}[name])
    monkeypatch.delenv(paths.VARIABLE, raising=False)
    if said is not None:
        monkeypatch.setenv(paths.VARIABLE, said)
    assert paths.paths_allowed() is allowed
