"""All commands, under one name: `python -m core`, or `frostglass` once installed."""

from __future__ import annotations

from typing import Annotated

import typer
from typer import Option

from . import ledger_commands, local_commands, spending
from .app_commands import app as open_app
from .app_commands import serve
from .asking_places import anomalies, centre, grid, line, modes, query
from .audit import audit
from .before_spending import declare, forecast, recommend
from .exit_codes import Commands
from .local_surveys import poll
from .other_purchases import quantiles, train
from .predictions import classify, judge, predict, regress
from .release import release
from .released_files import ask, compare, inspect, merge, passport, sample, share

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
        passport,
    ),
    CHECKING: (audit,),
}.items():
    for command in commands:
        app.command(rich_help_panel=panel)(command)
app.add_typer(local_commands.commands, name="local", rich_help_panel=MAKING)
app.add_typer(ledger_commands.shelf_commands, name="shelf", rich_help_panel=ASKING)
app.add_typer(ledger_commands.ledger_commands, name="ledger", rich_help_panel=CHECKING)
app.add_typer(ledger_commands.log_commands, name="log", rich_help_panel=CHECKING)
app.add_typer(spending.commands, name="checkpoints", rich_help_panel=CHECKING)
