"""The app on one's own computer, where nobody signs in: `frostglass app` becomes this process.

Streamlit asks of sockets alone under which name they were opened. Here all of HTTP is asked, so that a page of
somewhere else whose name was made to mean this computer (DNS rebinding) reads nothing, and browsers are told what they
are told of a served app.
"""

import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from threading import Timer
from typing import Any
from urllib.parse import parse_qs

from ...runtime.environment import APP, beside
from .door import App, Headers, Message, Receive, Send
from .guard import answer, protecting

SHARED = "/static/"  # The program that runs in browsers, the same for everyone.
# The page that others may show where its address says ``embed=true``, as no click there spends anything.
EMBEDDED = "/explore"
HOST = re.compile(r"[A-Za-z0-9.:\[\]-]{1,255}")
LISTENING = 0.5  # Seconds until a browser is sent to a server that is about to listen.


class OwnComputer:
    """An ASGI middleware around the app."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one request, one socket, or the server's beginning and end."""
        if scope["type"] != "http":  # of sockets Streamlit asks the same
            await self._app(scope, receive, send)
            return
        host = _host(scope["headers"])
        sockets = f"ws://{host} wss://{host}" if HOST.fullmatch(host or "") else ""
        shared = scope["path"].startswith(SHARED)
        told = protecting(send, sockets, secure=False, shared=shared, framed=_embedded(scope))
        if _known(host):
            await self._app(scope, receive, told)
        else:
            await answer(told, 403, "This app does not answer under this name.")


def _host(headers: Headers) -> str | None:
    """The name under which a request was made; None unless it has exactly one."""
    given = [value.decode("latin-1") for name, value in headers if name.lower() == b"host"]
    return given[0] if len(given) == 1 else None


def _known(host: str | None) -> bool:
    """Whether the app answers under a name: this computer's own, unless `server.allowedHosts` says otherwise."""
    from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

    return is_host_allowed(host)


def _embedded(scope: Message) -> bool:
    """Whether a page is asked for as others may show it."""
    query = parse_qs(scope["query_string"].decode("latin-1"))
    return scope["path"].rstrip("/") == EMBEDDED and query.get("embed") == ["true"]


def serve(port: int, headless: bool) -> None:
    """Serve this computer at a port until the process is told to end, and show it in a browser."""
    import streamlit as st
    from starlette.middleware import Middleware
    from streamlit.cli_util import open_browser

    from .app_server import keep_uploads_in_memory

    @asynccontextmanager
    async def opening(app: st.App) -> AsyncIterator[dict[str, Any] | None]:
        if not headless:
            Timer(LISTENING, open_browser, [f"http://127.0.0.1:{port}"]).start()
        beside("ui.serving.warming", "--beside")  # not before, as it would take time from the first page
        yield None

    keep_uploads_in_memory()
    app = st.App(APP / "app.py", middleware=[Middleware(OwnComputer)], lifespan=opening)
    app.run(config={"server.port": port, "server.headless": headless})


if __name__ == "__main__":
    port, headless = int(sys.argv[1]), sys.argv[2] == "headless"
    serve(port, headless)
