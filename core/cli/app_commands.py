"""`app` and `serve`: the pages in a browser, for this computer alone or for others who sign in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option


def app(
    port: Annotated[int, Option(min=1, max=65_535, help="Where the app listens on this computer.")] = 8501,
    headless: Annotated[bool, Option("--headless", help="Open no browser.")] = False,
) -> None:
    """Open the app in a browser: describe data, release it, explore what was released. Ctrl-C ends it."""
    from ..runtime.environment import become, check_extra
    from .output import say

    check_extra("streamlit", "app", "The app")
    say(f"Frostglass opens at http://127.0.0.1:{port} (Ctrl-C ends it).")
    become("ui.serving.alone", str(port), "headless" if headless else "shown")


def serve(
    config: Annotated[
        Path, Option(metavar="FILE.toml", help="Who may do what, and how they sign in; see docs/serving.md.")
    ],
    port: Annotated[
        int | None,
        Option(min=1, max=65_535, help="Where it listens, in place of what the file says: one of several processes."),
    ] = None,
    check: Annotated[bool, Option("--check", help="Only say whether the file can be used.")] = False,
) -> None:
    """Serve the app to others, who sign in by OpenID Connect or by a proxy. Ctrl-C ends it."""
    from ..runtime.environment import become, check_extra
    from ..serving.settings import read_settings
    from .output import say

    settings = read_settings(config)
    for module in ("streamlit", "authlib", "httpx"):
        check_extra(module, "serve", "Serving the app to others")
    if check:
        say(f"The configuration {str(config)!r} can be used.")
        return
    listens = settings.port if port is None else port
    say(f"Frostglass serves {settings.public} at {settings.address}, port {listens} (Ctrl-C ends it).")
    become("ui.serving", str(config.absolute()), str(listens))
