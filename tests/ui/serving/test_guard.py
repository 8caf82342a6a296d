"""What every request passes before Streamlit sees it, without a server: what is not allowed never gets there."""

import asyncio
import itertools
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect

from core.ui.serving import door as doors
from core.ui.serving import guard as guards
from core.ui.serving.app_server import keep_uploads_in_memory
from core.ui.serving.door import TOKEN_HEADER, Person, SessionManager
from core.ui.serving.guard import Guard

HOST = "frostglass.example.org"
PUBLIC = f"https://{HOST}"
FILE = """
[server]
public = "https://frostglass.example.org"
folder = "{folder}"
[sign_in]
provider = "https://login.example.org/.well-known/openid-configuration"
client = "frostglass"
client_secret = "s3cret"
cookie_secret = "c0okie-c0okie-c0okie-c0okie-c0okie-c0okie-"
[roles]
owner = ["ann@example.org"]
analyst = ["group:staff"]
"""
PROXY = """
[server]
public = "https://frostglass.example.org"
folder = "{folder}"
[proxy]
addresses = ["10.0.0.1"]
email_header = "X-Forwarded-Email"
groups_header = "X-Forwarded-Groups"
[roles]
owner = ["ann@example.org"]
"""
ANN = Person("ann@example.org", frozenset(), "a" * 64, float("inf"))
TOM = Person("tom@example.org", frozenset(), "d" * 64, float("inf"))
REACHED = "reached"


class Network:
    """A guard with an app behind it that says what has reached it."""

    def __init__(self, folder, text=FILE):
        self.path = folder / "serving.toml"
        self.path.write_text(text.format(folder=folder))
        self.path.chmod(0o600)
        self.door = SessionManager(self.path)
        self.files, self.came, self.seen = [], [], []
        self.guard = Guard(self.app, self.door, lambda *given: self.files.append(given), self.came.append, self.shown)

    def shown(self, file):
        return ["anns"] if file == "abc" else []

    async def app(self, scope, receive, send):
        self.seen.append(scope)
        if scope["type"] == "websocket":
            await send({"type": "websocket.accept"})
            while (await receive())["type"] == "websocket.receive":
                await send({"type": "websocket.send", "text": REACHED})
            return
        if scope["path"].startswith("/_stcore/upload_file/"):
            while (message := await receive())["type"] == "http.request":
                pass
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
        headers = [(b"content-disposition", b'attachment; filename="a.npz"')] if "/media/" in scope["path"] else []
        headers += [(b"set-cookie", b"a=b"), (b"X-Frame-Options", b"ALLOWALL")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": REACHED.encode()})

    def ask(self, path="/", method="GET", client="203.0.113.9", kind="http", messages=(), **headers):
        """Send a request; what came back."""
        given = {"host": HOST} | ({"origin": PUBLIC} if kind == "websocket" else {})
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        pairs = [(name.encode(), value.encode()) for name, value in given.items() if value is not None]
        scope = {"type": kind, "path": path, "headers": pairs, "client": (client, 1), "query_string": b""}
        if kind == "http":
            scope["method"] = method
        came, back = iter(messages), []

        async def receive():
            found = next(came, {"type": "websocket.disconnect"})
            found = found() if callable(found) else found
            return await found if asyncio.iscoroutine(found) else found

        async def send(message):
            back.append(message)

        # In a thread of its own: a browser that another test has opened keeps a loop running in this one.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, self.guard(scope, receive, send)).result()
        return back

    def reaches(self, *given, **named):
        """Whether a request gets to the app."""
        before = len(self.seen)
        self.ask(*given, **named)
        return len(self.seen) > before


@pytest.fixture
def signed_in(monkeypatch):
    """Who the cookie is of; nobody's at first."""
    people = {"now": None}
    monkeypatch.setattr(guards, "person_of", lambda headers, settings: people["now"])
    return people


@pytest.fixture
def network(tmp_path, signed_in):
    return Network(tmp_path)


MESSAGE = {"type": "websocket.receive", "bytes": b"x"}


def test_a_stranger_gets_the_way_in_and_nothing_else(network):
    for path in (
        "/",
        "/data",
        "/media/abc.npz",
        "/_stcore/metrics",
        "/_stcore/script-health-check",
        "/app/static/x",
        "/_stcore/agent/interact",
        "/component/x/y",
        "/_stcore/upload_file/s/f",
        "/anything?x=1",
    ):
        back = network.ask(path)
        assert back[0]["status"] == 401 and b"Sign in" in back[1]["body"], path
    assert not network.reaches("/_stcore/stream", kind="websocket")
    assert not network.reaches("/_stcore/upload_file/s/f", "PUT", origin=PUBLIC)
    for path in ("/_stcore/health", "/static/js/main.js", "/auth/login", "/oauth2callback"):
        assert network.reaches(path), path


@pytest.mark.parametrize(
    "path",
    [
        "/_stcore/host-configANYTHING",
        "/_stcore/host-config/x",
        "/favicon.png.bak",
        "/static",
        "/static/../media/abc.npz",
    ],
)
def test_what_only_begins_like_what_is_shared_is_not(network, path):
    assert not network.reaches(path)
    assert network.reaches("/_stcore/host-config") and network.reaches("/favicon.png")


def test_who_has_no_role_is_told_so(network, signed_in):
    signed_in["now"] = TOM
    status, body = network.ask("/data")
    assert status["status"] == 403 and b"tom@example.org" in body["body"]
    assert not network.reaches("/_stcore/stream", kind="websocket") and not network.reaches("/media/abc.npz")


def test_who_has_a_role_gets_what_is_shown_and_no_way_in_for_programs(network, signed_in):
    signed_in["now"] = ANN
    assert network.reaches("/") and network.reaches("/data")
    for path in (
        "/_stcore/metrics",
        "/_stcore/agent/mcp",
        "/_stcore/script-health-check",
        "/component/a/b",
        "/_stcore",
    ):
        assert network.ask(path)[0]["status"] == 404
    for method in ("POST", "PATCH", "TRACE", "CONNECT"):
        assert not network.reaches("/", method, origin=PUBLIC)
    assert not network.reaches("/media/abc.npz", "PUT", origin=PUBLIC)


@pytest.mark.parametrize("host", [None, "", "evil.example.org", HOST + ":8501", "x@" + HOST, HOST + ".", "localhost"])
def test_it_answers_under_its_own_name_alone(network, signed_in, host):
    signed_in["now"] = ANN
    assert network.ask("/", host=host)[0]["status"] == 403
    assert not network.reaches("/_stcore/stream", kind="websocket", host=host)


@pytest.mark.parametrize("origin", [None, "", "null", "https://evil.example.org", "http://" + HOST, PUBLIC + ".evil"])
def test_a_socket_is_opened_by_its_own_pages_alone(network, signed_in, origin):
    signed_in["now"] = ANN
    network.door.bind("s", ANN)
    assert not network.reaches("/_stcore/stream", kind="websocket", origin=origin)
    assert not network.reaches("/_stcore/upload_file/s/f", "PUT", origin=origin)
    assert network.reaches("/_stcore/upload_file/s/f", "PUT", origin=PUBLIC)


def test_a_file_goes_to_ones_own_session_alone(network, signed_in):
    signed_in["now"] = ANN
    network.door.bind("anns", ANN)
    network.door.bind("toms", TOM)
    assert network.reaches("/_stcore/upload_file/anns/f", "PUT", origin=PUBLIC)
    for path in ("/_stcore/upload_file/toms/f", "/_stcore/upload_file/none/f", "/_stcore/upload_file/../anns/f"):
        assert not network.reaches(path, "PUT", origin=PUBLIC)


def socket_headers(network):
    return dict(network.seen[-1]["headers"])


PIECE = {"type": "http.request", "body": b"x" * 100, "more_body": True}


def upload(network, *messages):
    """What is answered to an upload that comes so."""
    network.door.bind("anns", ANN)
    back = network.ask("/_stcore/upload_file/anns/f", "PUT", origin=PUBLIC, messages=messages)
    assert sum(message["type"] == "http.response.start" for message in back) == 1
    return back[0]["status"]


def test_an_upload_that_stops_coming_or_trickles_is_ended(network, signed_in, monkeypatch):
    signed_in["now"] = ANN
    assert upload(network, PIECE, PIECE) == 200
    monkeypatch.setattr(guards, "SECONDS_FOR_A_PIECE", 0.02)
    assert upload(network, PIECE, lambda: asyncio.sleep(60, PIECE)) == 408
    monkeypatch.setattr(guards, "SLOWEST", 10**6)
    assert upload(network, *[lambda: asyncio.sleep(0.01, PIECE)] * 1_000) == 408


def test_uploads_fill_no_memory_beyond_the_limit(network, signed_in, monkeypatch):
    """Each lies in memory until its page is run again, and a visitor without a click may send any number of them."""
    signed_in["now"] = ANN
    held = iter([100.0, 100.0, 10**9, 10**9, 10**9])
    monkeypatch.setattr(doors, "_megabytes", lambda: next(held))
    assert upload(network, PIECE, PIECE, PIECE) == 503


def test_uploads_of_many_megabytes_touch_no_disk_while_they_come(monkeypatch):
    from starlette.formparsers import MultiPartParser

    monkeypatch.setattr(MultiPartParser, "spool_max_size", MultiPartParser.spool_max_size)
    keep_uploads_in_memory()
    head = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'

    async def coming():
        yield head
        for _ in range(40):
            yield b"x" * (1 << 17)
        yield b"\r\n--b--\r\n"

    async def read():
        form = await MultiPartParser(Headers({"content-type": "multipart/form-data; boundary=b"}), coming()).parse()
        return form["file"].file._rolled, form["file"].size

    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(asyncio.run, read()).result() == (False, 40 << 17)


def test_the_token_is_the_servers_and_nobody_elses(network, signed_in):
    signed_in["now"] = ANN
    network.ask("/_stcore/stream", kind="websocket", **{TOKEN_HEADER: "forged", TOKEN_HEADER.upper(): "forged"})
    tokens = [value for name, value in network.seen[-1]["headers"] if name.lower() == TOKEN_HEADER.encode()]
    assert len(tokens) == 1 and len(tokens[0]) == 32
    assert network.came == [ANN] and not network.door.visitor(tokens[0].decode()).known  # it has left again


def test_nobody_comes_back_to_somebody_elses_session(network, signed_in):
    signed_in["now"] = ANN
    network.door.bind("anns", ANN)
    network.door.bind("toms", TOM)
    for session, kept in (("anns", True), ("toms", False), ("none", False)):
        protocols = f"streamlit, xsrf, {session}"
        network.ask("/_stcore/stream", kind="websocket", sec_websocket_protocol=protocols)
        assert (session.encode() in socket_headers(network)[b"sec-websocket-protocol"]) is kept


@pytest.mark.parametrize("change", ["sign out", "role"])
def test_an_open_page_is_closed_at_its_next_message(network, signed_in, change):
    signed_in["now"] = ANN

    def then():
        if change == "role":
            network.path.write_text(network.path.read_text().replace("ann@", "eve@"))
        else:
            network.door.sign_out(ANN)
        return MESSAGE

    back = network.ask("/_stcore/stream", kind="websocket", messages=[MESSAGE, then, MESSAGE])
    assert [one["type"] for one in back] == ["websocket.accept", "websocket.send", "websocket.close"]


def test_signing_out_by_the_address_ends_the_sign_in(network, signed_in):
    signed_in["now"] = ANN
    assert network.reaches("/auth/logout") and not network.door.judge(ANN).known


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_nobody_is_signed_out_by_a_picture_or_link_of_somewhere_else(network, signed_in, site):
    signed_in["now"] = ANN
    assert not network.reaches("/auth/logout", sec_fetch_site=site) and network.door.judge(ANN).known
    assert network.reaches("/auth/logout", sec_fetch_site="same-origin") and not network.door.judge(ANN).known


def test_what_is_downloaded_is_written_down_before_it_is_sent(network, signed_in):
    signed_in["now"] = ANN
    network.door.bind("anns", ANN)
    back = network.ask("/media/abc.npz")
    assert network.files == [("ann@example.org", "a.npz")] and back[1]["body"] == REACHED.encode()

    def full(*given):
        raise OSError("disk full")

    network.guard._downloaded = full
    with pytest.raises(OSError):
        network.ask("/media/abc.npz")


def test_a_file_of_a_page_goes_to_who_has_the_page_alone(network, signed_in):
    network.path.write_text(network.path.read_text().replace('owner = ["ann@', 'owner = ["tom@example.org", "ann@'))
    network.door.bind("anns", ANN)
    for person, path, reached in ((ANN, "abc.npz", True), (TOM, "abc.npz", False), (ANN, "made.npz", True)):
        signed_in["now"] = person
        assert network.reaches(f"/media/{path}") is reached


def test_every_answer_says_what_browsers_may_do(network, signed_in):
    for person, path in itertools.product(
        (None, ANN, TOM), ("/", "/data", "/_stcore/health", "/media/a.npz", "/_stcore/metrics")
    ):
        signed_in["now"] = person
        start = network.ask(path)[0]
        headers = {name.lower(): value for name, value in start["headers"]}
        assert len(headers) == len(start["headers"])
        assert (
            headers[b"x-frame-options"] == b"DENY" and b"frame-ancestors 'none'" in headers[b"content-security-policy"]
        )
        assert headers[b"cache-control"] == b"no-store" and headers[b"x-content-type-options"] == b"nosniff"
        assert b"max-age" in headers[b"strict-transport-security"]
        assert b"Secure" in headers.get(b"set-cookie", b"Secure")
    assert b"cache-control" not in {name for name, _ in network.ask("/static/js/main.js")[0]["headers"]}


def test_a_proxy_that_signs_in_is_the_only_one_who_is_answered(tmp_path):
    network = Network(tmp_path, PROXY)
    email = {"x_forwarded_email": "ann@example.org"}
    assert network.reaches("/", client="10.0.0.1", **email)
    assert network.reaches("/_stcore/stream", kind="websocket", client="10.0.0.1", **email)
    assert network.came[-1].name == "ann@example.org"
    for client in ("10.0.0.2", "127.0.0.1", "203.0.113.9"):
        assert not network.reaches("/", client=client, **email)
        assert not network.reaches("/", client=client, x_forwarded_for="10.0.0.1", **email)
        assert not network.reaches("/_stcore/stream", kind="websocket", client=client, **email)
    assert network.ask("/", client="10.0.0.1")[0]["status"] == 401
    assert network.ask("/auth/logout", client="10.0.0.1")[0]["status"] == 401
    assert network.ask("/", client="10.0.0.1", x_forwarded_email="tom@example.org")[0]["status"] == 403
    assert network.reaches("/_stcore/health", client="127.0.0.1")


def test_a_cookie_without_the_servers_signature_is_nobodys(tmp_path, monkeypatch):
    network = Network(tmp_path)
    monkeypatch.setenv("STREAMLIT_SERVER_COOKIE_SECRET", "k" * 40)
    claims = {
        "is_logged_in": True,
        "email": "ann@example.org",
        "email_verified": True,
        "iss": "i",
        "sub": "s",
        "iat": 9e9,
    }
    for cookie in (json.dumps(claims), "x.y.z", "", "=;=;\x00", '"' * 50):
        status = network.ask("/", cookie=f"_streamlit_user={cookie}")[0]["status"]
        assert status == 401
