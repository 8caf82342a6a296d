"""One ledger for several owners: none of them reaches another one's budget, or learns that there is one.

Which files an owner who has signed in may name.
"""

from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from threading import Barrier
from time import sleep

import numpy as np
import pandas as pd
import pytest

from benchmarks import shared_ledger
from core import Domain, release
from core.errors import BudgetError, RequestError
from core.geometry.kernels import Gaussian
from core.privacy.budget import Budget
from core.privacy.ledger.ledger import Ledger
from core.privacy.ledger.log import Did
from core.releases.payment import check_all_remembered
from core.sketches.histogram import Histogram
from core.ui.serving.approvals import State, plan_of
from core.ui.serving.owners import REFUSED, OwnLedger, check_found, check_named
from core.ui.serving.settings import Approval
from tests.privacy.ledger.test_ledger import pure

ANN, EVE, SUE, TOM = "ann@example.org", "eve@example.org", "sue@example.org", "tom@example.org"
NOTE = {"mechanism": "race", "parameters": {"rows": 4, "seed": 1, "inner": [{"seed": 2, "width": 3}]}}


@pytest.fixture
def where(tmp_path):
    return tmp_path / "ledger.sqlite"


def test_each_owner_has_names_of_their_own(where):
    ann, eve = OwnLedger(where, ANN), OwnLedger(where, EVE)
    ann.register("visits", 1)
    eve.register("visits", 2)
    ann.spend("visits", pure("0.75"))
    assert (ann.names(), eve.names()) == (["visits"], ["visits"])
    assert ann.status("visits").name == ann.dataset("visits").name == "visits"
    assert (ann.status("visits").left, eve.status("visits").left) == (Decimal("0.25"), 2)
    assert ann.known("visits") == ann.status("visits") and ann.known(f"{EVE}: visits") is None
    with pytest.raises(BudgetError):
        ann.spend("visits", pure("0.5"))
    assert Ledger(where).names() == [f"{ANN}: visits", f"{EVE}: visits"]


@pytest.mark.parametrize("name", [f"{ANN}: visits", "visits", f": {ANN}: visits", "", " ", f"../{ANN}: visits"])
def test_no_name_reaches_somebody_elses(where, name):
    OwnLedger(where, ANN).register("visits", 1)
    eve = OwnLedger(where, EVE)
    assert eve.names() == []
    for deed in (eve.status, eve.dataset, lambda name: eve.spend(name, pure("0.1"))):
        with pytest.raises(RequestError):
            deed(name)
    assert OwnLedger(where, ANN).status("visits").left == 1


def test_a_name_that_is_taken_by_somebody_else_says_nothing(where):
    OwnLedger(where, ANN).register("visits", 1)
    eve = OwnLedger(where, EVE)
    eve.register("Visits", 3)  # which looks like Ann's
    eve.check("anything", pure("0.1"))
    assert eve.names() == ["Visits"]


def test_an_owners_name_has_no_blanks(where):
    for owner in ("", "a b", "ann@example.org: visits"):
        with pytest.raises(RequestError):
            OwnLedger(where, owner)


def limited(where, owner=ANN, people=1):
    return OwnLedger(where, owner, Approval(0.5, people))


def asked(ledger, cost, note=NOTE):
    return ledger.plan("visits", Budget(3), cost, note)


def test_above_the_limit_somebody_else_has_to_say_yes(where):
    ledger, cost = limited(where), pure("0.6")
    ledger.register("visits", 3)
    with pytest.raises(RequestError, match="steward"):
        ledger.spend("visits", cost, NOTE)
    number = ledger.approvals.ask(ANN, asked(ledger, cost))
    assert ledger.approvals.ask(ANN, asked(ledger, cost)) == number
    with pytest.raises(RequestError, match="themselves"):
        ledger.approvals.answer(ANN, number, True)
    with pytest.raises(RequestError, match="steward"):
        ledger.spend("visits", cost, NOTE)
    ledger.approvals.answer(SUE, number, True)
    ledger.spend("visits", cost, NOTE)
    with pytest.raises(RequestError, match="steward"):  # it counted once
        ledger.spend("visits", cost, NOTE)
    assert ledger.status("visits").spent == pytest.approx(0.6)


def test_many_small_releases_are_no_way_around(where):
    ledger = limited(where)
    ledger.register("visits", 3)
    ledger.spend("visits", pure("0.3"), NOTE)
    with pytest.raises(RequestError, match="steward"):
        ledger.spend("visits", pure("0.3"), NOTE)


@pytest.mark.parametrize(
    "changed",
    [
        {"mechanism": "histogram"},
        {"parameters": {"rows": 5, "inner": [{"width": 3}]}},
        {"parameters": NOTE["parameters"] | {"seeds": [0, 9]}},
        {"columns": ["age"]},
    ],
)
def test_a_yes_holds_for_what_was_asked_and_nothing_else(where, changed):
    ledger, cost = limited(where), pure("0.6")
    ledger.register("visits", 3)
    ledger.register("others", 3)
    ledger.approvals.answer(SUE, ledger.approvals.ask(ANN, asked(ledger, cost)), True)
    for name, price, note in (("visits", cost, NOTE | changed), ("others", cost, NOTE), ("visits", pure("0.7"), NOTE)):
        with pytest.raises(RequestError, match="steward"):
            ledger.spend(name, price, note)
    eve = limited(where, EVE)
    eve.register("visits", 3)
    with pytest.raises(RequestError, match="steward"):
        eve.spend("visits", cost, NOTE)
    seeded = {"mechanism": "race", "parameters": {"rows": 4, "seed": 9, "inner": [{"seed": 8, "width": 3}]}}
    ledger.spend("visits", cost, seeded)


def test_two_people_are_two_people(where):
    ledger, cost = limited(where, people=2), pure("0.6")
    ledger.register("visits", 3)
    number = ledger.approvals.ask(ANN, asked(ledger, cost))
    ledger.approvals.answer(SUE, number, True)
    with pytest.raises(RequestError, match="already"):
        ledger.approvals.answer(SUE, number, True)
    with pytest.raises(RequestError, match="2 stewards have"):
        ledger.spend("visits", cost, NOTE)
    ledger.approvals.answer(TOM, number, True)
    ledger.spend("visits", cost, NOTE)


def test_a_no_ends_it(where):
    ledger, cost = limited(where), pure("0.6")
    ledger.register("visits", 3)
    number = ledger.approvals.ask(ANN, asked(ledger, cost))
    ledger.approvals.answer(SUE, number, True)
    ledger.approvals.answer(TOM, number, False)
    with pytest.raises(RequestError, match="no longer"):
        ledger.approvals.answer(SUE, number, True)
    with pytest.raises(RequestError, match="steward"):
        ledger.spend("visits", cost, NOTE)
    assert ledger.approvals.latest(ANN, asked(ledger, cost)).state is State.DECLINED
    assert ledger.approvals.waiting() == []


def test_what_is_asked_for_is_what_stewards_see(where):
    ledger, cost = limited(where), pure("0.6")
    ledger.approvals.ask(ANN, asked(ledger, cost))
    (request,) = ledger.approvals.waiting()
    assert request.plan == plan_of(f"{ANN}: visits", ("3", "0"), cost.to_dict(), NOTE)
    assert "seed" not in str(request.plan)


def test_all_of_it_is_in_the_log(where):
    ledger, cost = limited(where), pure("0.6")
    ledger.register("visits", 3)
    ledger.approvals.answer(SUE, ledger.approvals.ask(ANN, asked(ledger, cost)), True)
    ledger.spend("visits", cost, NOTE)
    lines = [(line.who, line.did) for line in ledger.log.lines()]
    assert lines == [(ANN, Did.REGISTERED), (ANN, Did.ASKED), (SUE, Did.APPROVED), (ANN, Did.RELEASED)]
    assert ledger.log.verify() == 4


@pytest.fixture
def postgres():
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    if shared_ledger.programs() is None:
        pytest.skip("no PostgreSQL is installed")
    with shared_ledger.server("--no-sync") as server:
        server.ledger()
        yield server


@pytest.mark.deep
def test_a_yes_counts_once_for_two_sessions_at_once_on_postgresql(postgres):
    limited(postgres.address).register("visits", 30)
    for _ in range(5):
        asking = limited(postgres.address)
        asking.approvals.answer(SUE, asking.approvals.ask(ANN, asked_of(asking, 30)), True)
        before, sessions = len(asking.status("visits").releases), Barrier(4)

        def spend(place, sessions=sessions):
            own = limited(postgres.address)
            sessions.wait()
            try:
                own.spend("visits", pure("0.6"), NOTE)
            except RequestError as refusal:
                return str(refusal)
            return None

        with ThreadPoolExecutor(4) as threads:
            said = list(threads.map(spend, range(4)))
        assert said.count(None) == 1 and all("steward" in one for one in said if one)
        assert len(asking.status("visits").releases) == before + 1


@pytest.mark.deep
def test_releases_of_two_sessions_survive_a_kill_of_postgresql_and_none_is_overspent_or_unpaid(postgres, tmp_path):
    """Every release that came out is kept and paid for; what was lost is spent and said, and all goes on afterwards."""
    people, sketch = pd.DataFrame({"x": np.linspace(0, 10, 200)}), Histogram(Domain.of(x=(0, 10)), Gaussian(1.0), (16,))
    own = OwnLedger(postgres.address, ANN)
    own.register("visits", 3)

    def session(place):
        made, said = 0, []
        for _ in range(12):
            try:
                mine = OwnLedger(postgres.address, ANN)
                mine.shelf = tmp_path / "shelf"
                release(sketch, people, Budget("0.1"), ledger=mine, dataset="visits")
                made += 1
            except RequestError as refusal:
                said.append(str(refusal))
                sleep(0.2)
        return made, said

    with ThreadPoolExecutor(2) as threads:
        running = [threads.submit(session, place) for place in range(2)]
        sleep(1.0)
        postgres.kill()
        sleep(0.5)
        postgres.start()
        came = [one.result() for one in running]
    postgres.ledger()
    status, files = own.status("visits"), list((tmp_path / "shelf").glob("*.npz"))
    assert status.spent <= 3 and sum(made for made, _ in came) == len(files) <= len(status.releases) <= 30
    assert all(refusal.endswith(".") and "\n" not in refusal for _, said in came for refusal in said)
    assert check_all_remembered(shelved(own, tmp_path)) == len(files)
    if status.left >= Decimal("0.1"):
        release(sketch, people, Budget("0.1"), ledger=shelved(own, tmp_path), dataset="visits")


def shelved(ledger, folder):
    ledger.shelf = folder / "shelf"
    return ledger


def asked_of(ledger, total):
    return ledger.plan("visits", Budget(total), pure("0.6"), NOTE)


PLACES = ("/srv/ann", "s3://bucket/ann/")


@pytest.mark.parametrize(
    "name",
    ["/srv/ann/a.csv", "/srv/ann/*/b.parquet", "/srv/ann/x.duckdb::t", "s3://bucket/ann/a.parquet", "/srv/ann//a.csv"],
)
def test_what_lies_inside_may_be_named(name):
    check_named(name, PLACES)


@pytest.mark.few(5)
@pytest.mark.parametrize(
    "name",
    [
        "/srv/ann/../eve/a.csv",
        "/srv/annabel/a.csv",
        "/srv/*/a.csv",
        "/etc/passwd",
        "~/a.csv",
        "a.csv",
        "/srv/ann/a\n.csv",
        "s3://bucket/annabel/a.parquet",
        "s3://bucket/ann/../eve/a.parquet",
        "s3://bucket/ann/%2e%2e/a.parquet",
        "s3://bucket/ann/a.parquet?x=s3://other",
        "S3://bucket/ann/a.parquet",
        "http://169.254.169.254/latest",
        "file:///etc/passwd",
        "",
    ],
)
def test_all_else_is_refused_by_the_same_sentence(name):
    with pytest.raises(RequestError, match=REFUSED):
        check_named(name, PLACES)
    with pytest.raises(RequestError, match=REFUSED):
        check_named(name, ())


def test_a_link_out_of_a_place_is_refused(tmp_path):
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir(), outside.mkdir()
    (outside / "secret.csv").write_text("x\n1\n")
    (inside / "own.csv").write_text("x\n1\n")
    (inside / "link.csv").symlink_to(outside / "secret.csv")
    (inside / "folder").symlink_to(outside)
    check_found([str(inside / "own.csv")], [str(inside)])
    for name in ("link.csv", "folder/secret.csv"):
        with pytest.raises(RequestError, match=REFUSED):
            check_found([str(inside / "own.csv"), str(inside / name)], [str(inside)])
