"""The one page for who may not see the app: the way to sign in, or why signing in did not help."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from streamlit.user_info import generate_login_redirect_url

from ...serving.door import Visitor
from ...serving.settings import Settings
from ...words.escapes import in_html

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
    sign = SIGN.read_text(encoding="utf-8")
    body = PAGE.format(sign=sign, **_said(visitor, settings)).encode()
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


async def _send(send: Any, status: int, body: bytes, headers: list[tuple[bytes, bytes]]) -> None:
    usual = [(b"content-type", b"text/html; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": usual + headers})
    await send({"type": "http.response.body", "body": body})
