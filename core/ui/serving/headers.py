"""Headers of every answer of a served app, which tell browsers what pages may do."""

from __future__ import annotations

from ...serving.settings import Settings
from ...serving.web import Headers

POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' {socket}; worker-src 'self' blob:; "
    "object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'"
)
"""Nothing from elsewhere, and no other page around this one. Streamlit's own scripts need the two exceptions."""


def protected(headers: Headers, settings: Settings, shared: bool) -> Headers:
    """The headers of an answer, with what browsers are told.

    Parameters
    ----------
    headers : Headers
        As the app made them.
    settings : Settings
        Where it is served.
    shared : bool
        Whether the answer is the same for everyone, so that it may be kept.
    """
    socket = settings.public.replace("http", "ws", 1)
    said = {
        b"content-security-policy": POLICY.format(socket=socket).encode(),
        b"x-frame-options": b"DENY",
        b"x-content-type-options": b"nosniff",
        b"referrer-policy": b"same-origin",
        b"cross-origin-opener-policy": b"same-origin",
        b"cross-origin-resource-policy": b"same-origin",
        b"permissions-policy": b"camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    }
    if settings.secure:
        said[b"strict-transport-security"] = b"max-age=31536000"
    if not shared:
        said[b"cache-control"] = b"no-store"
    kept = [(name, value) for name, value in headers if name.lower() not in said]
    if settings.secure:
        kept = [(name, _secure(value) if name.lower() == b"set-cookie" else value) for name, value in kept]
    return kept + list(said.items())


def _secure(cookie: bytes) -> bytes:
    """A cookie that browsers send over TLS alone."""
    return cookie if b"; secure" in cookie.lower() else cookie + b"; Secure"
