"""Who a request comes from: the sign-in in its cookie, as Streamlit keeps it, or what a trusted proxy says."""

from __future__ import annotations

import json
import time
from http.cookies import CookieError, SimpleCookie
from typing import Any

from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME
from streamlit.web.server.starlette.starlette_websocket import _get_signed_cookie_with_chunks

from ...serving.people import Person, from_claims, from_headers
from ...serving.settings import Settings


def person_of(headers: list[tuple[bytes, bytes]], settings: Settings) -> Person | None:
    """Who sent a request, or None for nobody who is known.

    Parameters
    ----------
    headers : list[tuple[bytes, bytes]]
        Of a request whose sender was found to be a proxy already, where a proxy says who asks.
    settings : Settings
        How people sign in.
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
