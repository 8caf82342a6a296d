"""All commands, under one name: `python -m core`, or `frostglass` once installed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from . import combining, ledger_commands, living_commands, local_commands, spending
from .asking_places import anomalies, centre, grid, line, modes, query
from .audit import audit
from .before_spending import forecast, recommend
from .discovering import declare, discover
from .local_surveys import poll
from .model_context import model_context
from .other_purchases import quantiles, top_up, train
from .predictions import classify, judge, predict, regress
from .release_command import release
from .released_files import ask, compare, inspect, merge, passport, publish, sample, share
from .spending import Commands


def open_app(
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
    from ..ui.serving.settings import read_settings
    from .output import say

    settings = read_settings(config)
    for module in ("streamlit", "authlib", "httpx"):
        check_extra(module, "serve", "Serving the app to others")
    if check:
        say(f"The configuration {str(config)!r} can be used.")
        return
    listens = settings.port if port is None else port
    say(f"Frostglass serves {settings.public} at {settings.address}, port {listens} (Ctrl-C ends it).")
    become("ui.serving.app_server", str(config.absolute()), str(listens))


OPENING, MAKING, ASKING, CHECKING = "In a browser", "Make a release", "Ask a release", "Budgets and checks"

app = typer.Typer(
    cls=Commands,
    add_completion=False,
    epilog="Exit codes: 0 done; 1 a fault of the program, or an audit that failed; 2 the request cannot be met; "
    "3 the budget does not allow it; 130 stopped.",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def frostglass(
    context: typer.Context, version: Annotated[bool, Option("--version", help="Print the version.")] = False
) -> None:
    """See the shape, not the people.

    A release is a small noisy table of private data; once it is made, asking it anything costs no privacy.
    """
    if version:
        from ..runtime.environment import SOFTWARE

        print(SOFTWARE)
    elif context.invoked_subcommand is None:
        print(context.get_help())


app.command("app", rich_help_panel=OPENING)(open_app)
app.command("poll", rich_help_panel=OPENING)(poll)
app.command("serve", rich_help_panel=OPENING)(serve)
app.command("mcp", rich_help_panel=ASKING)(model_context)
for panel, commands in {
    MAKING: (declare, discover, recommend, forecast, release, top_up, quantiles, train, merge),
    ASKING: (
        inspect,
        ask,
        regress,
        query,
        line,
        grid,
        modes,
        centre,
        anomalies,
        classify,
        compare,
        sample,
        predict,
        judge,
        share,
        publish,
        passport,
    ),
    CHECKING: (audit,),
}.items():
    for command in commands:
        app.command(rich_help_panel=panel)(command)
app.add_typer(local_commands.commands, name="local", rich_help_panel=MAKING)
app.add_typer(combining.commands, name="combine", rich_help_panel=MAKING)
app.add_typer(living_commands.commands, name="living", rich_help_panel=MAKING)
app.add_typer(ledger_commands.shelf_commands, name="shelf", rich_help_panel=ASKING)
app.add_typer(ledger_commands.ledger_commands, name="ledger", rich_help_panel=CHECKING)
app.add_typer(ledger_commands.log_commands, name="log", rich_help_panel=CHECKING)
app.add_typer(spending.commands, name="checkpoints", rich_help_panel=CHECKING)
