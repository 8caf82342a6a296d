"""`app`: the pages in a browser, served to this computer alone."""

from __future__ import annotations

from typing import Annotated

from typer import Option


def app(
    port: Annotated[int, Option(min=1, max=65_535, help="Where the app listens on this computer.")] = 8501,
    headless: Annotated[bool, Option("--headless", help="Open no browser.")] = False,
) -> None:
    """Open the app in a browser: describe data, release it, explore what was released. Ctrl-C ends it."""
    from ..machine.environment import become, check_extra
    from .output import say

    check_extra("streamlit", "app", "The app")
    say(f"Frostglass opens at http://127.0.0.1:{port} (Ctrl-C ends it).")
    become("ui.serving.alone", str(port), "headless" if headless else "shown")
