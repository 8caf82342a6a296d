"""Rounds over HTTPS: the coordinator gets the files of a round, from whoever may send them, after any crash."""

import json
import os
import signal
import socket
import time

import httpx
import numpy as np
import pytest
from starlette.testclient import TestClient

from core import Budget, release
from core.errors import BudgetError, RequestError
from core.privacy.ledger.ledger import Ledger
from core.releases.rounds import owner_steps, round_messages
from core.releases.rounds.convenor_steps import put_round_together
from core.releases.rounds.coordinator import Coordinator, Stage
from core.releases.rounds.live import Invitation, Participant, application, bearer, invite, join, serve, token_of
from core.releases.rounds.owner_steps import exact_of, payer_of_round
from tests.depth import draws
from tests.releases.owners_for_tests import CONVENOR, Owners

SECRET = bytes(32)
URL = "https://coordinator.test"


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "coordinator"
    made.mkdir()
    return made


def called(owners, coordinator, name, secret=SECRET):
    headers = bearer(token_of(secret, owners.plan, name))
    return TestClient(application(coordinator, secret), base_url=URL, headers=headers)


def participant(owners, client, name):
    account = payer_of_round(owners.plan, owners.ledger(name), name)
    read = lambda: exact_of(owners.plan, owners.records(name), lambda rows: None)  # noqa: E731
    return Participant(owners.plan, owners.keys[name], account, client, read)


def everyone(owners, coordinator, gone=()):
    return {
        name: participant(owners, called(owners, coordinator, name), name) for name in owners.keys if name not in gone
    }


def rounds_of(people, coordinator, most=6):
    """Let everyone step until all have a release."""
    for _ in range(most):
        found = [one.step() for one in people.values()]
        if all(found):
            return found
    raise AssertionError(coordinator.problem or coordinator.stage())


@pytest.mark.thorough
def test_a_hundred_owners_of_whom_ten_drop_out_once_they_have_said_hello(tmp_path, folder, monkeypatch):
    count, gone = draws((8, 2), (100, 10))
    _check_signatures_once(monkeypatch)
    owners = Owners(tmp_path, count=count, said={"least": count - gone, "honest": count - gone})
    coordinator = Coordinator(owners.plan, folder, wait=1_000)
    lost = [f"owner {place}" for place in range(gone)]
    for name in lost:
        assert called(owners, coordinator, name).put("/hello", content=owners.hellos[name]).status_code == 204
    people = everyone(owners, coordinator, lost)
    assert not any(one.step() for _ in range(2) for one in people.values())
    assert coordinator.stage() == Stage.SHARE
    coordinator.wait = 0
    found = rounds_of(people, coordinator)
    assert found[0].combined.shares == count - gone and all(one == found[0] for one in found)
    assert abs(found[0].records - 400 * (count - gone)) < 400
    late = called(owners, coordinator, lost[0]).put(
        "/share", content=owners.share(lost[0], hellos=coordinator.hellos())
    )
    assert late.status_code == 409 and "goes on without" in late.json()["problem"]


def _check_signatures_once(monkeypatch):
    """As all owners are in one process: each of them checks everybody's signatures, which takes most of the time."""
    known = {}

    def read_once(written, digest, keys):
        if written not in known:
            known[written] = round_messages.read_message(written, digest, keys)
        return known[written]

    monkeypatch.setattr(owner_steps, "read_message", read_once)


@pytest.mark.thorough
@pytest.mark.parametrize("way", ["full", "shared", "masked"])
def test_a_coordinator_learns_more_than_the_convenor_of_a_round_by_files(tmp_path, folder, way):
    """Every body that it gets is a file that would go by mail, and records are read before anybody calls."""
    owners, sent, order = Owners(tmp_path, way), {}, []
    coordinator = Coordinator(owners.plan, folder, key=CONVENOR if way == "shared" else None)
    taken = coordinator.take
    coordinator.take = lambda owner, kind, content: (
        sent.__setitem__((owner, kind), content),
        taken(owner, kind, content),
    )
    records = owners.records
    owners.records = lambda name: order.append("read") or records(name)
    people = {}
    for name in owners.keys:
        client = called(owners, coordinator, name)
        client.event_hooks = {"request": [lambda request: order.append("call")]}
        people[name] = participant(owners, client, name)
    found = rounds_of(people, coordinator)
    assert order[:4] == ["read"] * 4 and "read" not in order[4:]
    kept = {
        (name, kind)
        for name in owners.keys
        for kind in (("hello", "share", "unmask") if way == "masked" else ("share",))
    }
    assert set(sent) == kept
    by_mail = {path.read_bytes() for path in tmp_path.rglob("round-*") if path.is_file()}
    assert set(sent.values()) == by_mail
    by_hand = put_round_together(owners.plan, sent.values(), CONVENOR)
    assert np.array_equal(by_hand.counters, found[0].counters)


def test_strangers_and_owners_of_other_rounds_see_nothing(tmp_path, folder):
    owners, others = Owners(tmp_path), Owners(tmp_path)
    app = application(Coordinator(owners.plan, folder), SECRET)
    for headers in (
        {},
        bearer("0" * 64),
        bearer(token_of(SECRET, others.plan, "owner 0")),
        {"Authorization": "Basic x"},
    ):
        stranger = TestClient(app, base_url=URL, headers=headers)
        for method, path in (
            ("GET", "/"),
            ("GET", "/hellos"),
            ("GET", "/release"),
            ("PUT", "/share"),
            ("POST", "/share"),
            ("HEAD", "/"),
            ("OPTIONS", "/"),
            ("GET", "/docs"),
        ):
            answer = stranger.request(method, path)
            assert (answer.status_code, answer.content) == (404, b"")
    mine = called(owners, Coordinator(owners.plan, folder), "owner 0")
    assert [mine.get(path).status_code for path in ("/", "/hellos", "/request", "/../plan.json")] == [
        200,
        409,
        409,
        404,
    ]


def test_what_is_too_large_foreign_doubled_or_of_somebody_else_is_refused_at_the_door(tmp_path, folder):
    owners = Owners(tmp_path, "full")
    coordinator = Coordinator(owners.plan, folder)
    mine = called(owners, coordinator, "owner 0")
    share, again = owners.share("owner 0"), owners.share("owner 0", ledger=str(tmp_path / "second"))
    assert mine.put("/share", content=share + bytes(1 << 20)).status_code == 413
    assert "came in place of" in mine.put("/share", content=owners.share("owner 1")).json()["problem"]
    assert "cut short" in mine.put("/share", content=b"nothing").json()["problem"]
    assert "does not take a hello" in mine.put("/hello", content=_signed(owners, "hello")).json()["problem"]
    assert "does not hold" in mine.put("/share", content=_signed(owners, "share", {"heard": ""})).json()["problem"]
    assert [mine.put("/share", content=share).status_code for _ in range(2)] == [204, 204]
    assert "Another share" in mine.put("/share", content=again).json()["problem"]
    assert len(list(folder.glob("*.share"))) == 1


def _signed(owners, kind, facts=None):
    return owners.keys["owner 0"].message(kind, owners.plan.digest, "owner 0", facts or {}, b"")


def test_a_coordinator_that_tells_two_stories_after_a_crash(tmp_path, folder):
    """Once hellos or shares are closed, another process that goes on in the folder closes them no other way."""
    owners = Owners(tmp_path, count=5, said={"least": 4, "honest": 3})
    for name in list(owners.keys)[:4]:
        Coordinator(owners.plan, folder).take(name, "hello", owners.hellos[name])
    assert Coordinator(owners.plan, folder, wait=1_000).stage() == Stage.HELLO
    assert Coordinator(owners.plan, folder).stage() == Stage.SHARE
    with pytest.raises(RequestError, match="does not take a hello now"):
        Coordinator(owners.plan, folder, wait=1_000).take("owner 4", "hello", owners.hellos["owner 4"])
    heard = Coordinator(owners.plan, folder).hellos()
    for name in list(owners.keys)[:4]:
        Coordinator(owners.plan, folder).take(name, "share", owners.share(name, hellos=heard))
    one, two = Coordinator(owners.plan, folder), Coordinator(owners.plan, folder, wait=1_000)
    assert one.stage() == two.stage() == Stage.UNMASK and one.request() == two.request()


def test_shares_that_are_closed_stay_closed_and_what_would_spoil_the_sum_is_refused(tmp_path, folder):
    owners = Owners(tmp_path, count=5, said={"least": 4, "honest": 3})
    with pytest.raises(RequestError):
        Coordinator(owners.plan, folder).take("owner 0", "hello", _signed(owners, "hello"))
    for name, hello in owners.hellos.items():
        Coordinator(owners.plan, folder, wait=1_000).take(name, "hello", hello)
    heard = Coordinator(owners.plan, folder, wait=1_000)
    heard.stage()
    for name in list(owners.keys)[:4]:
        heard.take(name, "share", owners.share(name, hellos=heard.hellos()))
    assert heard.stage() == Stage.SHARE and Coordinator(owners.plan, folder).stage() == Stage.UNMASK
    patient = Coordinator(owners.plan, folder, wait=1_000)
    assert patient.stage() == Stage.UNMASK
    with pytest.raises(RequestError, match="does not take a share now"):
        patient.take("owner 4", "share", owners.share("owner 4", hellos=patient.hellos()))
    missing = owners.keys["owner 4"].message("unmask", owners.plan.digest, "owner 4", {}, b"")
    with pytest.raises(RequestError, match="did not come, so nothing is asked"):
        patient.take("owner 4", "unmask", missing)
    with pytest.raises(RequestError):
        patient.take("owner 0", "unmask", _signed(owners, "unmask"))
    assert not list(folder.glob("*.unmask"))


def test_a_coordinator_that_answers_too_much_or_of_another_round(tmp_path, folder):
    owners, others = Owners(tmp_path), Owners(tmp_path)
    client = called(others, Coordinator(others.plan, folder), "owner 0")
    with pytest.raises(RequestError, match="another plan than this one"):
        participant(owners, client, "owner 0").step()
    flood = httpx.Client(
        base_url=URL, transport=httpx.MockTransport(lambda request: httpx.Response(200, content=bytes(1 << 20)))
    )
    with pytest.raises(RequestError, match="answers more than a round has"):
        participant(owners, flood, "owner 0").step()
    said = json.dumps({"problem": "\x1b[2Jno" + "x" * 1_000}).encode()
    rude = httpx.Client(base_url=URL, transport=httpx.MockTransport(lambda request: httpx.Response(409, content=said)))
    with pytest.raises(RequestError) as refused:
        participant(owners, rude, "owner 0").step()
    assert "\x1b" not in str(refused.value) and len(str(refused.value)) < 400
    assert not Ledger(owners.ledger("owner 0")).names()


def test_records_are_not_even_read_where_the_ledger_has_no_room_for_the_round(tmp_path):
    owners = Owners(tmp_path)
    Ledger(owners.ledger("owner 0")).register("owner 0", "0.1")
    owners.records = None  # nobody calls it
    with pytest.raises(BudgetError):
        participant(owners, None, "owner 0")


def test_an_owner_is_told_that_another_release_is_this_round_or_that_it_goes_on_without_its_share(tmp_path):
    owners = Owners(tmp_path)

    def told(stage, answer):
        state = json.dumps({"round": owners.plan.digest, "stage": stage}).encode()
        answers = httpx.MockTransport(
            lambda request: httpx.Response(200, content=state if request.url.path == "/" else answer)
        )
        return participant(owners, httpx.Client(base_url=URL, transport=answers), "owner 0")

    other = release(owners.plan.sketch, owners.records("owner 0"), Budget(1)).to_bytes()
    with pytest.raises(RequestError, match="no release of this round"):
        told("done", other).step()
    with pytest.raises(RequestError, match="which came too late"):
        told("unmask", json.dumps({"came": ["owner 1", "owner 2", "owner 3"]}).encode()).step()


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills real processes")
def test_a_killed_coordinator_over_tls_that_is_resumed(tmp_path, folder):
    """A process that really serves, with a certificate of its own, killed between hellos and shares."""
    owners = Owners(tmp_path, count=3)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    secret, invitations = invite(owners.plan, folder, f"https://127.0.0.1:{port}", True)
    assert invite(owners.plan, folder, f"https://127.0.0.1:{port}", True) == (secret, invitations)
    people = {}
    for name, place in zip(owners.keys, invitations, strict=True):
        assert place.stat().st_mode & 0o077 == 0
        people[name] = participant(owners, Invitation.load(place).client(), name)
    first = _serving(owners, folder, secret, port)
    try:
        assert [_patiently(one) for one in people.values()] == [None] * 3
        strange = invite(owners.plan, tmp_path / "other", f"https://127.0.0.1:{port}", True)[1][0]
        with pytest.raises(httpx.ConnectError):  # whoever trusts another certificate
            Invitation.load(strange).client().get("/")
    finally:
        os.kill(first, signal.SIGKILL)
        os.waitpid(first, 0)
    assert len(list(folder.glob("*.hello"))) == 3
    second = _serving(owners, folder, secret, port)
    try:
        while not all(found := [_patiently(one) for one in people.values()]):
            pass
        assert found[0].combined.shares == 3
        assert join(people["owner 0"], patience=0) == found[0]
        with pytest.raises(httpx.ConnectError):  # of whoever trusts the system's certificates alone
            httpx.get(f"https://127.0.0.1:{port}/")
    finally:
        os.kill(second, signal.SIGTERM)
        os.waitpid(second, 0)


def _serving(owners, folder, secret, port):
    child = os.fork()
    if not child:
        try:
            serve(Coordinator(owners.plan, folder), secret, "127.0.0.1", port, folder / "tls.pem", folder / "tls.key")
        finally:
            os._exit(0)
    return child


def _patiently(one):
    from core.releases.rounds.live import Unreachable

    for _ in range(200):
        try:
            return one.step()
        except Unreachable:
            time.sleep(0.05)
    raise AssertionError("nobody serves")
