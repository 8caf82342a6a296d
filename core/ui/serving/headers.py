"""Headers of every answer of the app, which tell browsers what pages may do."""

from __future__ import annotations

from .door import Headers, Message, Send

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
    frames = "" if framed else NO_FRAME
    said = {
        b"content-security-policy": POLICY.format(sockets=sockets, frames=frames).encode(),
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
    if secure:
        kept = [(name, _secure(value) if name.lower() == b"set-cookie" else value) for name, value in kept]
    return kept + list(said.items())


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
    body = sentence.encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _secure(cookie: bytes) -> bytes:
    """A cookie that browsers send over TLS alone."""
    return cookie if b"; secure" in cookie.lower() else cookie + b"; Secure"
