"""`log`: who did what with a ledger."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from .grouped import grouped
from .options.promise import LedgerOptions
from .output import check_writable, print_json, print_table, say

if TYPE_CHECKING:
    from ..privacy.ledger.log import Line

commands = typer.Typer(help="Who declared, released, approved and downloaded what; never a value of the data.")


@commands.command()
@grouped
def show(
    payer: LedgerOptions,
    last: Annotated[int, Option(min=1, help="So many lines, the latest.")] = 20,
    json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the latest lines of the log, which is checked as a whole before."""
    lines = payer.open().log.lines()[-last:]
    if json:
        print_json([_facts(line) for line in lines])
        return
    print_table(
        ("line", "when (UTC)", "who", "did", "about"),
        [
            (str(line.number), f"{line.when:%Y-%m-%d %H:%M}", line.who, line.did, _words(line))
            for line in lines
        ],
    )  # fmt: skip


@commands.command()
@grouped
def export(
    payer: LedgerOptions,
    out: Annotated[Path, Option(metavar="FILE", help="The file to write: a line of JSON each.")],
    overwrite: Annotated[bool, Option("--overwrite", help="Replace an existing file.")] = False,
) -> None:
    """Write the whole log to a file, with the links of its chain."""
    import json

    check_writable(out, overwrite)
    lines = payer.open().log.lines()
    text = "".join(json.dumps(_facts(line), ensure_ascii=True, sort_keys=True) + "\n" for line in lines)
    out.write_text(text, encoding="utf-8")
    say(f"Wrote {out}: {len(lines):,} lines.")


@commands.command()
@grouped
def verify(payer: LedgerOptions) -> None:
    """Check the log's chain, and that it holds all that the ledger says of it."""
    book = payer.open()
    say(f"The log of {book.where} is whole: {book.log.verify():,} lines.")


def _words(line: Line) -> str:
    return ", ".join(f"{name} {value}" for name, value in line.about.items())


def _facts(line: Line) -> dict[str, object]:
    return {
        "line": line.number,
        "when": line.when.isoformat(),
        "who": line.who,
        "did": line.did,
        "about": line.about,
        "link": line.link,
    }
