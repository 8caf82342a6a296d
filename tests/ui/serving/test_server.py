"""How the server is begun: Streamlit takes what the configuration says, under any public name."""

import socket

import pytest
from streamlit import config
from streamlit.web.bootstrap import load_config_options
from streamlit.web.server.starlette.starlette_websocket import _is_origin_allowed
from websockets.sync.client import connect

from core.ui.serving.app_server import options
from core.ui.serving.settings import read_settings

PUBLIC = "https://frostglass.example.org"
RULES = """
[proxy]
addresses = ["127.0.0.1"]
email_header = "X-Forwarded-Email"
[roles]
owner = ["ann@example.org"]
[limits]
upload_megabytes = 77
"""


def test_streamlit_takes_every_option_under_a_public_name(tmp_path, monkeypatch):
    (tmp_path / "serving.toml").write_text(f'[server]\npublic = "{PUBLIC}"\nfolder = "{tmp_path}"\n{RULES}')
    wanted = options(read_settings(tmp_path / "serving.toml"))
    monkeypatch.setattr(config, "_config_options", config._config_options)  # as it was, for the tests after this one
    load_config_options(wanted)
    assert {name: config.get_option(name) for name in wanted} == wanted
    assert config.get_option("server.maxUploadSize") == 77
    assert _is_origin_allowed(PUBLIC, "frostglass.example.org")
    for origin, host in ((PUBLIC, "localhost"), ("https://elsewhere.example.org", "frostglass.example.org")):
        assert not _is_origin_allowed(origin, host)


@pytest.mark.deep
def test_a_server_with_a_public_name_opens_sockets(tmp_path):
    served = pytest.importorskip("tests.ui.serving.served")
    one = served.Served(tmp_path, RULES, served.free_port())
    text = one.config.read_text().replace(one.url, PUBLIC)
    one.config.write_text(text)
    with one.running():
        line = socket.create_connection(("127.0.0.1", one.port))
        with connect(
            "ws://frostglass.example.org/_stcore/stream",
            sock=line,
            origin=PUBLIC,
            subprotocols=["streamlit", "none"],
            additional_headers={"X-Forwarded-Email": "ann@example.org"},
            max_size=None,
        ) as channel:
            assert "Frostglass" in served.run_page(channel)[0]
