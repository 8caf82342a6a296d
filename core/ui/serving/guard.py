"""What every request passes before Streamlit sees it; what no rule here allows is refused.

Strangers get one page with the way to sign in, and nothing else: no socket, no upload, no file. Who has signed in gets
what their role may see. The same is asked again at every message of an open page, as the page may show parts that run
without it (fragments, callbacks) and a socket outlives the cookie it was opened by.

Every answer has headers that tell browsers what pages may do.
"""

import asyncio
import json
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from starlette.requests import ClientDisconnect
from streamlit.user_info import generate_login_redirect_url
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME
from streamlit.web.server.starlette.starlette_websocket import _get_signed_cookie_with_chunks

from ...formatting.escapes import in_html
from .door import (
    FULL,
    TOKEN_HEADER,
    App,
    Full,
    Headers,
    Message,
    Person,
    Receive,
    Send,
    SessionManager,
    Visitor,
    from_claims,
    from_headers,
)
from .settings import Settings

# Nothing from elsewhere. Streamlit's own scripts need three exceptions: what draws a part of a page by itself, such as
# a table, comes with the page and is handed to the browser as a blob.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' {sockets}; worker-src 'self' blob:; "
    "object-src 'none'; base-uri 'self'; form-action 'self'{frames}"
)
NO_FRAME = "; frame-ancestors 'none'"  # No other page around this one.


def protected(headers: Headers, sockets: str, *, secure: bool, shared: bool, framed: bool = False) -> Headers:
    """The headers of an answer, with what browsers are told.

    `sockets`: where pages may open sockets, beside where they come from: not every browser takes the one for the other.
    `secure`: whether browsers reach the app over TLS alone. `shared`: whether the answer is the same for everyone, so
    that it may be kept. `framed`: whether another page may show this one inside itself.
    """
    said = {
        b"content-security-policy": POLICY.format(sockets=sockets, frames="" if framed else NO_FRAME).encode(),
        b"x-content-type-options": b"nosniff",
        b"referrer-policy": b"same-origin",
        b"cross-origin-opener-policy": b"same-origin",
        b"cross-origin-resource-policy": b"same-origin",
        b"permissions-policy": b"camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    }
    if not framed:
        said[b"x-frame-options"] = b"DENY"
    if secure:
        said[b"strict-transport-security"] = b"max-age=31536000"
    if not shared:
        said[b"cache-control"] = b"no-store"
    kept = [(name, value) for name, value in headers if name.lower() not in said]
    marked = [(name, _secure(value) if secure and name.lower() == b"set-cookie" else value) for name, value in kept]
    return marked + list(said.items())


def protecting(send: Send, sockets: str, *, secure: bool, shared: bool, framed: bool = False) -> Send:
    """What sends an answer with these headers; the arguments are those of `protected`."""

    async def protects(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", ()))
            message = {**message, "headers": protected(headers, sockets, secure=secure, shared=shared, framed=framed)}
        await send(message)

    return protects


async def answer(send: Send, status: int, sentence: str) -> None:
    """Answer with a sentence and nothing else."""
    await _send(send, status, sentence.encode(), [], kind=b"text/plain")


def _secure(cookie: bytes) -> bytes:
    """A cookie that browsers send over TLS alone."""
    return cookie if b"; secure" in cookie.lower() else cookie + b"; Secure"


def person_of(headers: list[tuple[bytes, bytes]], settings: Settings) -> Person | None:
    """Who sent a request, or None for nobody who is known.

    `headers`: of a request whose sender was found to be a proxy already, where a proxy says who asks. `settings`: how
    people sign in.
    """
    read = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in headers]
    if settings.proxy is not None:
        return from_headers(read, settings.proxy, time.time())
    assert settings.sign_in is not None
    claims = _claims([value for name, value in read if name == "cookie"], settings.public)
    return None if claims is None else from_claims(claims, settings.sign_in, time.time())


def _claims(cookies: list[str], public: str) -> dict[str, Any] | None:
    """What the signed cookie of a sign-in says, where its signature is this server's and it was made for this address.

    Streamlit signs it after it has checked the provider's token (`st.login`), and reads it by the same function.
    """
    jar: SimpleCookie = SimpleCookie()
    try:
        for line in cookies:
            jar.load(line)
        signed = _get_signed_cookie_with_chunks({name: one.value for name, one in jar.items()}, USER_COOKIE_NAME)
        claims = None if signed is None else json.loads(signed)
    except (CookieError, ValueError, KeyError, TypeError):
        return None
    return claims if isinstance(claims, dict) and claims.get("origin") == public else None


SIGN_IN, SIGN_OUT = "/sign-in", "/auth/logout"
SIGN = Path(__file__).parents[1] / "frame" / "logo.svg"
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Frostglass</title><style>
:root {{ color-scheme: light dark; }}
body {{ font: 1.05rem/1.6 system-ui, sans-serif; margin: 0; min-height: 100vh; display: grid; place-items: center;
  background: light-dark(#F9FBFA, #11171A); color: light-dark(#1B262B, #E4EBEC); }}
main {{ max-width: 27rem; padding: 2rem 1.5rem; }}
svg {{ width: 3.2rem; height: 3.2rem; }}
h1 {{ font: 450 2rem/1.2 Georgia, serif; margin: 1rem 0 0.6rem; }}
a {{ display: inline-block; margin-top: 0.8rem; padding: 0.5rem 1.2rem; border-radius: 0.4rem; text-decoration: none;
  background: light-dark(#2F4048, #5F747E); color: #fff; }}
a:focus-visible {{ outline: 2px solid; outline-offset: 2px; }}
</style></head><body><main>{sign}<h1>{title}</h1><p>{words}</p>{way}</main></body></html>
"""


async def page_for(visitor: Visitor, settings: Settings, path: str, send: Any) -> None:
    """Answer somebody without a role; what they asked for is not even looked up."""
    if settings.sign_in is not None and path == SIGN_IN and not visitor.known:
        # What Streamlit's `st.login` sends a browser to; it holds for two minutes, so it is made when it is used.
        location = generate_login_redirect_url("default").encode()
        await _send(send, 302, b"", [(b"location", location)])
        return
    body = PAGE.format(sign=SIGN.read_text(encoding="utf-8"), **_said(visitor, settings)).encode()
    await _send(send, 403 if visitor.known else 401, body, [])


def _said(visitor: Visitor, settings: Settings) -> dict[str, str]:
    if visitor.known:
        words = (
            f"You have signed in as {in_html(visitor.name)}, and the people who run this server have given that name "
            "no part in it."
        )
        way = f'<a href="{SIGN_OUT}">Sign out</a>' if settings.sign_in is not None else ""
        return {"title": "Nothing here for you yet", "words": words, "way": way}
    if settings.sign_in is None:
        words = "The proxy in front of this server has not said who you are."
        return {"title": "Who are you?", "words": words, "way": ""}
    words = "What people have released here, and the data behind it, are for those who have signed in."
    return {"title": "Frostglass", "words": words, "way": f'<a href="{SIGN_IN}">Sign in</a>'}


async def _send(
    send: Any, status: int, body: bytes, headers: list[tuple[bytes, bytes]], kind: bytes = b"text/html"
) -> None:
    usual = [(b"content-type", kind + b"; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": usual + headers})
    await send({"type": "http.response.body", "body": body})


STREAM, UPLOAD, MEDIA, HEALTH = "/_stcore/stream", "/_stcore/upload_file/", "/media/", "/_stcore/health"
LOGIN, LOGOUT, CALLBACK = "/auth/login", "/auth/logout", "/oauth2callback"
PROGRAM = "/static/"
# With what lies under `PROGRAM`, the same for everyone: the program that runs in browsers, its sign and its host.
ALIKE = frozenset({"/favicon.png", "/_stcore/host-config"})
# Of these nothing is served that no line above names: figures about the server, and ways in for programs.
INNER = ("/_stcore/", "/component/", "/_stcore", "/component", "/app/static")
POLICY_VIOLATION, TRY_AGAIN = 1008, 1013
# Of an upload: for its next piece, and bytes a second on average; what is slower only holds a place and memory.
SECONDS_FOR_A_PIECE, SLOWEST = 30.0, 4_096


class Guard:
    """An ASGI middleware around the app.

    `door`: Who is in, and who may be. `downloaded`: Told who is about to get which file, before they do; what it raises
    keeps the file back. `came`: Told who has opened a page. `sessions_with`: the sessions whose pages show or offer a
    file.
    """

    def __init__(
        self,
        app: App,
        door: SessionManager,
        downloaded: Callable[[str, str], None],
        came: Callable[[Person], None],
        sessions_with: Callable[[str], Collection[str]],
    ) -> None:
        self._app, self._door, self._downloaded, self._came = app, door, downloaded, came
        self._sessions_with = sessions_with

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one request, one socket, or the server's beginning and end."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._socket(scope, receive, send)
        elif scope["type"] == "http":
            settings, shared = self._door.started, _shared(scope["path"])
            sockets = settings.public.replace("http", "ws", 1)
            told = protecting(send, sockets, secure=settings.secure, shared=shared)
            await self._request(scope, receive, told)

    async def _request(self, scope: Message, receive: Receive, send: Send) -> None:
        path, settings = scope["path"], self._door.started
        if path == HEALTH and scope["method"] in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        if (why := refused(scope, settings)) is not None:
            await answer(send, 403, why)
            return
        if _shared(path) or (settings.sign_in is not None and path in (LOGIN, CALLBACK)):
            await self._app(scope, receive, send)
            return
        visitor = self._door.judge(person_of(scope["headers"], settings))
        if path == LOGOUT and settings.sign_in is not None:
            if visitor.known:
                self._door.sign_out(visitor.person)
            await self._app(scope, receive, send)
        elif not visitor.roles:
            await page_for(visitor, settings, path, send)
        elif path.startswith(UPLOAD) and not self._door.owns(_session_in(path), visitor.person):
            await answer(send, 403, "This upload is for a page that is not yours.")
        elif path.startswith(UPLOAD):
            await self._upload(scope, receive, send)
        elif path.startswith(INNER):
            await answer(send, 404, "There is nothing here.")
        elif path.startswith(MEDIA) and not self._holds(visitor.person, path.removeprefix(MEDIA)):
            await answer(send, 404, "There is nothing here.")
        elif path.startswith(MEDIA):
            await self._app(scope, receive, self._watching(send, visitor.name))
        else:
            await self._app(scope, receive, send)

    async def _upload(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass an upload on, which lies in memory, as long as it comes at all and there is memory for it."""
        upload = _Upload(receive, send, self._door)
        with suppress(ClientDisconnect):
            await self._app(scope, upload.receive, upload.send)

    def _holds(self, person: Person, file: str) -> bool:
        """Whether a file may be this person's: one that a page of theirs shows, or that no page shows.

        What a button makes when it is pressed is shown by none, and its address is told to who has pressed it alone.
        """
        sessions = self._sessions_with(file.partition(".")[0])
        return not sessions or any(self._door.owns(session, person) for session in sessions)

    def _watching(self, send: Send, name: str) -> Send:
        """Write down what is handed out as a file, before it is."""

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = dict(message["headers"]).get(b"content-disposition", b"").decode("latin-1")
                if given.startswith("attachment"):
                    await asyncio.to_thread(self._downloaded, name, _file_name(given))
            await send(message)

        return watched

    async def _socket(self, scope: Message, receive: Receive, send: Send) -> None:
        settings = self._door.started
        person = person_of(scope["headers"], settings)
        visitor = self._door.judge(person)
        if scope["path"] != STREAM or refused(scope, settings) is not None or not visitor.roles:
            await send({"type": "websocket.close", "code": POLICY_VIOLATION})
            return
        try:
            token = self._door.enter(visitor.person)
        except Full:
            await send({"type": "websocket.close", "code": TRY_AGAIN})
            return
        try:
            await asyncio.to_thread(self._came, visitor.person)
            scope = {**scope, "headers": self._with_token(scope["headers"], token, visitor.person)}
            await self._app(scope, self._asking(receive, send, token), send)
        finally:
            self._door.leave(token)

    def _asking(self, receive: Receive, send: Send, token: str) -> Receive:
        """Look again at every message whether whoever sends it may."""

        async def asked() -> Message:
            message = await receive()
            if message["type"] == "websocket.receive" and not self._door.unchanged(token):
                await send({"type": "websocket.close", "code": POLICY_VIOLATION})
                return {"type": "websocket.disconnect", "code": POLICY_VIOLATION}
            return message

        return asked

    def _with_token(self, headers: Headers, token: str, person: Person) -> Headers:
        """The headers with the token, and without a session that is somebody else's to come back to."""
        kept = [(name, value) for name, value in headers if name.lower() != TOKEN_HEADER.encode()]
        kept = [
            (name, self._own_session(value, person) if name.lower() == b"sec-websocket-protocol" else value)
            for name, value in kept
        ]
        return [*kept, (TOKEN_HEADER.encode(), token.encode())]

    def _own_session(self, protocols: bytes, person: Person) -> bytes:
        """Streamlit's third protocol is the session that a browser was in before."""
        entries = [entry.strip() for entry in protocols.decode("latin-1").split(",")]
        if len(entries) > 2 and not self._door.owns(entries[2], person):
            entries = entries[:2]
        return ", ".join(entries).encode("latin-1")


class _Upload:
    """An upload on its way, which is ended where it comes too slowly or the server is full."""

    def __init__(self, receive: Receive, send: Send, door: SessionManager) -> None:
        self._receive, self._send, self._door = receive, send, door
        self._begun, self._come, self._ended = time.monotonic(), 0, False

    async def receive(self) -> Message:
        """The next piece of it, or its end."""
        if self._ended or self._door.full:
            return await self._end(503, FULL)
        try:
            message = await asyncio.wait_for(self._receive(), SECONDS_FOR_A_PIECE)
        except TimeoutError:
            return await self._end(408, "This upload came too slowly.")
        self._come += len(message.get("body", b""))
        if self._come < SLOWEST * (time.monotonic() - self._begun - SECONDS_FOR_A_PIECE):
            return await self._end(408, "This upload came too slowly.")
        return message

    async def send(self, message: Message) -> None:
        """Hand on what the app answers, unless it was answered that the upload is over."""
        if not self._ended:
            await self._send(message)

    async def _end(self, status: int, why: str) -> Message:
        if not self._ended:
            self._ended = True
            await answer(self._send, status, why)
        return {"type": "http.disconnect"}


def refused(scope: Message, settings: Settings) -> str | None:
    """Why a request is not even looked at: where it comes from, or what it was meant for; None when it may be."""
    given = [(name.lower(), value.decode("latin-1")) for name, value in scope["headers"]]
    client = scope.get("client")
    if settings.proxy is not None and not settings.proxy.trusts(client[0] if client else None):
        return "This server answers its proxy alone."
    if [value.lower() for name, value in given if name == b"host"] != [settings.host]:
        return "This server does not answer under this name."
    origins = [value.lower() for name, value in given if name == b"origin"]
    needed = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD", "OPTIONS")
    # Browsers say so of links and pictures too, which have no origin.
    elsewhere = scope["path"] == LOGOUT and {b"cross-site", b"same-site"} & {
        value for name, value in scope["headers"] if name.lower() == b"sec-fetch-site"
    }
    if elsewhere or ((needed or origins) and origins != [settings.public]):
        return "This request was made by a page of somewhere else."
    if scope["type"] == "http" and scope["method"] not in ("GET", "HEAD", "OPTIONS", "PUT", "DELETE"):
        return "There is nothing here that this could be sent to."
    if scope["type"] == "http" and scope["method"] in ("PUT", "DELETE") and not scope["path"].startswith(UPLOAD):
        return "There is nothing here that this could be sent to."
    return None


def _shared(path: str) -> bool:
    """Whether everyone gets the same there, and nothing on the way leads up and out of it."""
    return path in ALIKE or (path.startswith(PROGRAM) and ".." not in path.split("/"))


def _session_in(path: str) -> str:
    return path.removeprefix(UPLOAD).partition("/")[0]


def _file_name(disposition: str) -> str:
    """The name under which a file is handed out."""
    name = disposition.partition("=")[2].strip('"')
    return unquote(name.removeprefix("utf-8''"))
