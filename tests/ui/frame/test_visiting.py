"""Who may name a path on the server and see its ledger: only those who own it."""

import pytest

from core.ui.frame import visiting

HOSTS = ["127.0.0.1", "localhost"]
HERE = {"Host": "localhost:8501", "Origin": "http://localhost:8501"}


@pytest.mark.parametrize("address", ["127.0.0.1", "localhost", "::1"])
@pytest.mark.parametrize("host", ["127.0.0.1:8501", "localhost", "[::1]:8501", "LOCALHOST.:80"])
def test_this_computer_alone_is_the_owner(address, host):
    assert visiting.foreign(address, HOSTS, {"Host": host}) is None
    assert visiting.foreign(address, HOSTS, {"Host": host, "Origin": f"http://{host}"}) is None


@pytest.mark.parametrize("address", ["0.0.0.0", "192.168.1.7", "::", None, "", "unix:///run/app.sock"])
def test_a_server_that_others_reach_is_anyones(address):
    assert "other computers" in visiting.foreign(address, HOSTS, HERE)


@pytest.mark.parametrize("hosts", [["*"], [*HOSTS, "data.example.org"], [*HOSTS, None], ["*.localhost"]])
def test_a_server_with_other_names_is_anyones(hosts):
    assert "other names" in visiting.foreign("127.0.0.1", hosts, HERE)


@pytest.mark.parametrize(
    "name",
    [
        "X-Forwarded-For",
        "x-forwarded-host",
        "X-FORWARDED-PROTO",
        "Forwarded",
        "Via",
        "X-Real-IP",
        "X-Client-IP",
        "CF-Connecting-IP",
        "True-Client-IP",
        "X-Original-Host",
        "X-Envoy-External-Address",
        "X-Cluster-Client-IP",
        "X-ProxyUser-Ip",
    ],
)
def test_what_a_proxy_handed_on_is_anyones_whatever_it_says(name):
    assert "proxy" in visiting.foreign("127.0.0.1", HOSTS, HERE | {name: "127.0.0.1"})


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Host": ""},
        {"Host": "data.example.org"},
        {"Host": "127.0.0.1.example.org"},
        {"Host": "localhost@example.org"},
        {"Host": "[broken"},
        HERE | {"Origin": "https://data.example.org"},
        HERE | {"Origin": "null"},
        HERE | {"Origin": "http://[broken"},
    ],
)
def test_a_visit_under_another_name_is_anyones(headers):
    assert "another name" in visiting.foreign("127.0.0.1", HOSTS, headers)


@pytest.mark.parametrize(
    ("address", "said", "allowed"),
    [
        ("127.0.0.1", None, True),
        ("0.0.0.0", None, False),
        ("0.0.0.0", "1", True),
        ("127.0.0.1", "0", False),
        ("127.0.0.1", "no", False),
        ("0.0.0.0", " True ", True),
        ("127.0.0.1", "", True),
        ("0.0.0.0", "anything", False),
    ],
)
def test_the_variable_overrules_everything(monkeypatch, address, said, allowed):
    options = {"server.address": address, "server.allowedHosts": HOSTS, "browser.serverAddress": "localhost"}
    monkeypatch.setattr(visiting.st, "get_option", options.__getitem__)
    monkeypatch.delenv(visiting.VARIABLE, raising=False)
    if said is not None:
        monkeypatch.setenv(visiting.VARIABLE, said)
    assert (visiting.stranger() is None) is allowed


def test_every_run_looks_at_its_own_request(request_headers):
    assert visiting.stranger() is None
    request_headers["X-Forwarded-For"] = "203.0.113.9"
    assert "proxy" in visiting.stranger()
