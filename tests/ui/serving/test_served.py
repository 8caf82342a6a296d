"""The whole of it: a server in a process of its own, a real provider beside it, and visitors on its sockets."""

import re
from urllib.parse import quote

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from benchmarks import shared_ledger
from core.privacy.ledger.ledger import Ledger
from core.privacy.ledger.log import Did
from core.ui.serving.owners import OwnLedger

served = pytest.importorskip("tests.ui.serving.served")

pytestmark = pytest.mark.deep
PATHS = ("../ledger", "/etc/passwd", "..%2fledger.sqlite", "\0", "a\0b", "x" * 5_000, "*", "[a-z]", "C:\\x", "\u202ex")
SECRET, COOKIE = "the-provider-gave-this-out", "sign-ins-are-signed-by-this-0123456789"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A running server; its log holds no secret at the end, whatever was asked of it."""
    with served.provider() as provider:
        rules = (
            f'[sign_in]\nprovider = "{provider}"\nclient = "frostglass"\nclient_secret = "{SECRET}"\n'
            f'cookie_secret = "{COOKIE}"\n{served.ROLES}'
        )
        one = served.Served(tmp_path_factory.mktemp("served"), rules, served.free_port())
        one.rules = rules
        with one.running():
            yield one
        said = one.log()
        assert SECRET not in said and COOKIE not in said and "Traceback" not in said


@pytest.fixture
def come(server):
    def coming(name):
        client = served.Client(server)
        if name is not None:
            client.sign_in(name)
            client.http.get("/_stcore/host-config")
        return client

    return coming


def refused(client, **named):
    try:
        client.socket(**named).close()
    except InvalidStatus as answer:
        return answer.response.status_code in (400, 403)
    return False


def test_each_gets_the_pages_of_their_roles(come):
    for name, own, others in (("ann", "ledger", "approve"), ("bob", "explore", "data"), ("sue", "approve", "release")):
        with come(name).socket() as channel:
            assert "This page is not for you" not in served.run_page(channel, own)[0]
            assert "This page is not for you" in served.run_page(channel, others)[0]


def test_strangers_and_who_only_says_so_get_no_socket(come, server):
    for name in (None, "eve", "tom"):
        assert refused(come(name))
    for header in ("X-Forwarded-Email", "X-Frostglass-Connection", "X-Forwarded-User", "Remote-User"):
        assert refused(come(None), **{header: "ann@example.org"})
    assert refused(come("ann"), Origin="https://evil.example.org") and refused(come("ann"), Host="evil.example.org")


def test_after_signing_out_an_open_page_and_a_copied_cookie_are_of_no_use(come, server):
    ann = come("ann")
    copied = ann.cookie
    with ann.socket() as channel:
        served.run_page(channel, "ledger")
        ann.http.get("/auth/logout")
        with pytest.raises(ConnectionClosed):
            served.run_page(channel, "ledger")
    assert refused(come(None), Cookie=copied)
    assert httpx.get(server.url + "/data", headers={"Cookie": copied}).status_code == 401


def test_nobody_comes_back_to_the_session_of_another(come):
    with come("ann").socket() as channel:
        _, session = served.run_page(channel, "ledger")
        with come("bob").socket(session=session) as other:
            assert served.run_page(other, "explore")[1] != session


def test_a_file_for_the_session_of_another_is_refused(come, server):
    ann, bob = come("ann"), come("bob")
    with ann.socket() as channel:
        _, session = served.run_page(channel, "data")
        files = {"file": ("a.csv", b"x\n1\n")}
        headers = {"Origin": server.url, "X-Xsrftoken": bob.http.cookies.get("_streamlit_xsrf", "")}
        answer = bob.http.put(f"/_stcore/upload_file/{session}/f", files=files, headers=headers)
        assert answer.status_code == 403


def test_a_file_that_one_page_shows_is_not_given_to_somebody_elses(come):
    ann, bob = come("ann"), come("bob")
    with bob.socket() as channel:
        drawn, _ = served.run_page(channel, "explore")
        shown = set(re.findall(r"/media/[0-9a-f]+\.[a-z0-9]+", drawn))
        assert shown
        for path in shown:
            assert (bob.http.get(path).status_code, ann.http.get(path).status_code) == (200, 404)


def test_a_sign_in_that_another_browser_began_signs_nobody_in(come, server):
    """Else somebody could make a visitor work, and release, under a name that is not theirs."""
    begun = come(None)
    page = begun.http.get("/sign-in", follow_redirects=True)
    back = begun.http.post(page.url, data={"sub": "bob"}, follow_redirects=False)
    other = come(None)
    assert other.http.get(back.headers["location"], follow_redirects=True).status_code == 401
    assert refused(other)
    assert begun.http.get(back.headers["location"], follow_redirects=True).status_code == 200


def test_no_form_or_link_of_somewhere_else_reaches_approvals(come, server):
    sue = come("sue")
    for origin in ("https://evil.example.org", "null", server.url):
        for path in ("/approve", "/", "/_stcore/stream"):
            assert sue.http.post(path, data={"approve": "1"}, headers={"Origin": origin}).status_code == 403
    for origin in ("https://evil.example.org", "null", None, server.url + ".evil.example.org"):
        assert refused(sue, Origin=origin)


@pytest.mark.parametrize("name", PATHS)
def test_a_release_in_an_address_whose_name_is_a_path_is_none(come, name):
    with come("bob").socket() as channel:
        drawn, _ = served.run_page(channel, "explore", f"release={quote(name)}")
        assert "The file of this link is not on the shelf here" in drawn


def test_a_role_that_is_taken_away_ends_open_pages(come, server):
    with come("ann").socket() as channel:
        served.run_page(channel, "ledger")
        server.write(server.rules.replace('owner = ["ann@example.org"]', 'owner = ["x@example.org"]'))
        try:
            with pytest.raises(ConnectionClosed):
                served.run_page(channel, "ledger")
        finally:
            server.write(server.rules)


def test_it_is_in_the_log_who_came(come, server):
    with come("bob").socket():
        pass
    lines = Ledger(server.folder / "state" / "ledger.sqlite").log.lines()
    assert ("bob@example.org", Did.SIGNED_IN) in {(line.who, line.did) for line in lines}


def test_with_its_ledger_on_postgresql_two_sessions_outlive_a_crash_of_the_database(tmp_path):
    """What a page says meanwhile is a sentence without an address, and every page goes on once it is there again."""
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    if shared_ledger.programs() is None:
        pytest.skip("no PostgreSQL is installed")
    with served.provider() as provider, shared_ledger.server("--no-sync") as postgres:
        rules = (
            f'ledger = "{postgres.address}"\n[sign_in]\nprovider = "{provider}"\nclient = "frostglass"\n'
            f'client_secret = "{SECRET}"\ncookie_secret = "{COOKIE}"\n{served.ROLES}'
        )
        postgres.ledger()
        OwnLedger(postgres.address, "ann@example.org").register("visits", 3)
        one = served.Served(tmp_path, rules, served.free_port())
        with one.running():
            ann = served.Client(one)
            ann.sign_in("ann")
            with ann.socket() as first, ann.socket() as second:
                for channel in (first, second):
                    assert "visits" in served.run_page(channel, "ledger")[0]
                postgres.kill()
                for channel in (first, second):
                    drawn, _ = served.run_page(channel, "ledger")
                    assert "privacy ledger" in drawn, drawn
                    assert "Traceback" not in drawn, drawn[drawn.index("Traceback") - 600 :][:1500]
                postgres.start()
                postgres.ledger()
                for channel in (first, second):
                    assert "visits" in served.run_page(channel, "ledger")[0]
        assert "Traceback" not in one.log() and str(postgres.folder) not in one.log()
