"""A ledger on PostgreSQL that many processes spend from, while its server is killed and started again."""

from decimal import Decimal

import pytest

from benchmarks import shared_ledger


@pytest.fixture
def server():
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    if shared_ledger.programs() is None:
        pytest.skip("no PostgreSQL is installed")
    with shared_ledger.server("--no-sync") as server:
        yield server


@pytest.mark.deep
def test_none_is_lost_and_none_is_overspent_though_the_server_is_killed(server):
    came = shared_ledger.attempt(server, processes=6, attempts=180, sets=1, total=Decimal("0.4"), kills=2)
    assert came.faults(server.ledger()) == []
    assert len(came.paid) + len(came.refused) + came.lost == 180
    assert len(came.paid) <= 40 <= len(came.paid) + came.lost  # more is asked for than there is


@pytest.mark.deep
def test_what_was_cut_or_doubled_is_found(server):
    ledger = server.ledger()
    ledger.register("set 0", "0.4")
    came = shared_ledger.Outcome(paid=[("set 0", "0" * 16)])
    assert "not there" in came.faults(ledger)[0]
    came = shared_ledger.Outcome(refused=["set 0"])
    assert "refused what it had" in came.faults(ledger)[0]
