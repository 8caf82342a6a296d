"""The app on one's own computer answers under that computer's names, and tells browsers what its pages may do."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from streamlit import config

from core.ui.serving.alone import OwnComputer

NAMES = ("127.0.0.1", "localhost")


@pytest.fixture(autouse=True)
def usual():
    """The names that `.streamlit/config.toml` allows, whatever an earlier test has set."""
    before = config.get_option("server.allowedHosts")
    config.set_option("server.allowedHosts", list(NAMES))
    yield
    config.set_option("server.allowedHosts", before)


async def _inner(scope, receive, send):
    headers = [(b"content-type", b"text/html"), (b"Referrer-Policy", b"unsafe-url")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"the app"})


def ask(path="/", query="", hosts=("127.0.0.1:8501",)):
    """The answer to a request: its status, its headers and its body."""
    said = []

    async def send(message):
        said.append(message)

    headers = [(b"Host", host.encode()) for host in hosts]
    scope = {"type": "http", "method": "GET", "path": path, "query_string": query.encode(), "headers": headers}
    with ThreadPoolExecutor(1) as thread:  # of its own: another test's browser may have left a loop in this one
        thread.submit(asyncio.run, OwnComputer(_inner)(scope, None, send)).result()
    begun, body = said
    given = [name.decode().lower() for name, _ in begun["headers"]]
    assert len(set(given)) == len(given)
    return begun["status"], {name.decode().lower(): value.decode() for name, value in begun["headers"]}, body["body"]


@pytest.mark.parametrize("host", ["127.0.0.1:8501", "localhost:8501", "LOCALHOST", "localhost."])
def test_it_answers_under_its_own_names_and_protects_its_pages(host):
    status, headers, body = ask(hosts=[host])
    assert (status, body) == (200, b"the app")
    policy = headers["content-security-policy"]
    assert "default-src 'self'" in policy and "frame-ancestors 'none'" in policy and f"ws://{host} " in policy
    assert headers["x-frame-options"] == "DENY" and headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin" and headers["cache-control"] == "no-store"
    assert "strict-transport-security" not in headers


@pytest.mark.parametrize(
    "hosts",
    [
        [],
        ["evil.example.org:8501"],
        ["127.0.0.1.evil.example.org"],
        ["evil.example.org@127.0.0.1"],
        ["127.0.0.1:8501", "evil.example.org"],
        ["127.0.0.1; script-src *"],
    ],
)
def test_under_no_other_name_is_anything_said(hosts):
    for path in ("/", "/media/x.npz", "/_stcore/health", "/static/index.js"):
        status, headers, body = ask(path, hosts=hosts)
        assert status == 403 and b"the app" not in body
        assert "script-src *" not in headers["content-security-policy"]


def test_a_name_that_was_allowed_cannot_write_the_policy():
    config.set_option("server.allowedHosts", ["*"])
    status, headers, _ = ask(hosts=["a;script-src"])
    assert status == 200 and "a;script-src" not in headers["content-security-policy"]


def test_other_pages_may_show_a_released_picture_and_nothing_else():
    for path in ("/explore", "/explore/"):
        _, headers, _ = ask(path, "release=abc&embed=true")
        assert "frame-ancestors" not in headers["content-security-policy"] and "x-frame-options" not in headers
        assert headers["x-content-type-options"] == "nosniff"
    for path, query in (
        ("/explore", ""),
        ("/explore", "embed=false"),
        ("/explore", "embed=true&embed=false"),
        ("/release", "embed=true"),
        ("/", "embed=true"),
        ("/explorer", "embed=true"),
        ("/release/explore", "embed=true"),
    ):
        assert ask(path, query)[1]["x-frame-options"] == "DENY"


def test_the_program_that_browsers_run_may_be_kept():
    assert "cache-control" not in ask("/static/js/index.js")[1]
