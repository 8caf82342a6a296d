"""All commands, under one name: `python -m core`, or `frostglass` once installed."""

from __future__ import annotations

from typing import Annotated

import typer
from typer import Option

from . import checkpoints, ledger, local, log, shelf
from .anomalies import anomalies
from .app import app as open_app
from .ask import ask
from .audit import audit
from .centre import centre
from .classify import classify
from .compare import compare
from .declare import declare
from .exit_codes import Commands
from .forecast import forecast
from .grid import grid
from .inspect import inspect
from .judge import judge
from .line import line
from .merge import merge
from .modes import modes
from .poll import poll
from .predict import predict
from .quantiles import quantiles
from .query import query
from .recommend import recommend
from .regress import regress
from .release import release
from .sample import sample
from .serve import serve
from .share import share
from .train import train

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
        from ..version import SOFTWARE

        print(SOFTWARE)
    elif context.invoked_subcommand is None:
        print(context.get_help())


app.command("app", rich_help_panel=OPENING)(open_app)
app.command("poll", rich_help_panel=OPENING)(poll)
app.command("serve", rich_help_panel=OPENING)(serve)
for panel, commands in {
    MAKING: (declare, recommend, forecast, release, quantiles, train, merge),
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
    ),
    CHECKING: (audit,),
}.items():
    for command in commands:
        app.command(rich_help_panel=panel)(command)
app.add_typer(local.commands, name="local", rich_help_panel=MAKING)
app.add_typer(shelf.commands, name="shelf", rich_help_panel=ASKING)
app.add_typer(ledger.commands, name="ledger", rich_help_panel=CHECKING)
app.add_typer(log.commands, name="log", rich_help_panel=CHECKING)
app.add_typer(checkpoints.commands, name="checkpoints", rich_help_panel=CHECKING)
