"""A served app with a real OpenID Connect provider beside it, and visitors who speak HTTP and its socket to it."""

import os
import re
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
from oidc_provider_mock import User, run_server_in_thread
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

ROOT = Path(__file__).parents[3]
PEOPLE = {
    "ann": {"email": "ann@example.org", "email_verified": True, "groups": []},
    "bob": {"email": "bob@example.org", "email_verified": True, "groups": ["staff"]},
    "sue": {"email": "sue@example.org", "email_verified": True, "groups": []},
    "eve": {"email": "ann@example.org", "email_verified": False, "groups": []},
    "tom": {"email": "tom@example.org", "email_verified": True, "groups": []},
}
"""Ann owns data, Bob's group explores, Sue approves; Eve only says that she is Ann, and Tom has no role."""
ROLES = """
[roles]
owner = ["ann@example.org"]
analyst = ["group:staff"]
steward = ["sue@example.org"]
"""


def free_port():
    """A port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextmanager
def provider():
    """A provider that knows `PEOPLE`; the address of its description."""
    users = [User(sub=name, claims=claims) for name, claims in PEOPLE.items()]
    with run_server_in_thread(user_claims=users) as server:
        yield f"http://localhost:{server.server_port}/.well-known/openid-configuration"


class Served:
    """A server of the app in a folder of its own."""

    def __init__(self, folder, rules, port):
        self.folder, self.port = folder, port
        self.url = f"http://localhost:{port}"
        self.config = folder / "serving.toml"
        (folder / "state").mkdir()
        self.write(rules)

    def write(self, rules):
        """Write the configuration, which a server that runs takes up by itself."""
        place = self.folder / "state"
        head = f'[server]\nport = {self.port}\npublic = "{self.url}"\nfolder = "{place}"\n'
        draft = self.config.with_suffix(".draft")
        draft.write_text(head + rules)
        draft.chmod(0o600)
        draft.replace(self.config)

    @contextmanager
    def running(self):
        """The server, until the end of the block."""
        environment = os.environ | {"HOME": str(self.folder), "XDG_DATA_HOME": str(self.folder / "data")}
        command = [sys.executable, "-W", "ignore", "-m", "core", "serve", "--config", str(self.config)]
        with (self.folder / "server.log").open("wb") as log:
            server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT)
            try:
                self._wait(server)
                yield self
            finally:
                server.terminate()
                try:
                    server.wait(20)
                except subprocess.TimeoutExpired:
                    server.kill()
                    server.wait()

    def _wait(self, server):
        for _ in range(600):
            if server.poll() is not None:
                raise AssertionError(self.log())
            try:
                if httpx.get(self.url + "/_stcore/health").status_code == 200:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.1)
        raise AssertionError("The server did not begin.")

    def log(self):
        """What the server has said so far."""
        return (self.folder / "server.log").read_text()


class Client:
    """One browser, without the drawing."""

    def __init__(self, served, **headers):
        self.served = served
        self.http = httpx.Client(base_url=served.url, headers=headers, timeout=60)

    def sign_in(self, name):
        """Follow the way to the provider and back; the page at its end."""
        answer = self.http.get("/sign-in", follow_redirects=True)
        assert answer.status_code == 200, answer.text
        where = re.search(r'<form[^>]*action="([^"]*)"', answer.text)
        target = answer.url if where is None or not where[1] else answer.url.join(where[1].replace("&amp;", "&"))
        back = self.http.post(target, data={"sub": name}, follow_redirects=False)
        assert back.status_code in (302, 303), back.text
        return self.http.get(back.headers["location"], follow_redirects=True)

    @property
    def cookie(self):
        """The header that a browser would send."""
        return "; ".join(f"{one.name}={one.value}" for one in self.http.cookies.jar)

    def socket(self, session=None, **headers):
        """Open the app's socket; what refuses it is raised."""
        given = {"Cookie": self.cookie, "Origin": self.served.url, **headers}
        origin = given.pop("Origin")
        protocols = ["streamlit", self.http.cookies.get("_streamlit_xsrf", "none")] + ([session] if session else [])
        given = {name: value for name, value in given.items() if value}
        address = self.served.url.replace("http", "ws", 1) + "/_stcore/stream"
        return connect(address, origin=origin, subprotocols=protocols, additional_headers=given, max_size=None)


def run_page(channel, page="", query=""):
    """Ask for a run of a page, as a browser does; every text that it drew, and the session's name."""
    message = BackMsg()
    message.rerun_script.page_name = page
    message.rerun_script.query_string = query
    channel.send(message.SerializeToString())
    drawn, session = [], None
    while True:
        said = ForwardMsg.FromString(channel.recv(timeout=120))
        kind = said.WhichOneof("type")
        if kind == "new_session":
            session = said.new_session.initialize.session_id
        elif kind == "delta":
            drawn.append(str(said.delta))
        elif kind == "script_finished":
            return "\n".join(drawn), session
