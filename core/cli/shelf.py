"""`shelf`: public files kept beside a ledger: list, add, name, describe and remove them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from .grouped import grouped
from .options.promise import LedgerOptions
from .output import print_json, print_table, say

if TYPE_CHECKING:
    from ..releases.shelf import Shelf

commands = typer.Typer(help="Keep public files beside the ledger: what was released, and what was put there.")
FileArgument = Annotated[str, Argument(metavar="NAME", help="Its name, or 12 digits of its SHA-256.")]


def _shelf(payer: LedgerOptions) -> Shelf:
    from ..privacy.ledger.store import default_place
    from ..releases.shelf import shelf_beside

    return shelf_beside(payer.ledger or default_place())


def _found(shelf: Shelf, name: str) -> str:
    """The name of a file on a shelf; RequestError where there is none."""
    path = shelf.find(name)
    return (path or shelf.path(name)).name


@commands.command("list")
@grouped
def list_files(payer: LedgerOptions, json: Annotated[bool, Option("--json", help="Print JSON.")] = False) -> None:
    """List what is on the shelf, the latest first; what has a name is on show in the app."""
    shelf = _shelf(payer)
    entries = shelf.entries()
    if json:
        facts = [
            {"name": one.name, "shown": one.shown, "bytes": one.size, "created": one.created.isoformat()}
            | {"description": one.description}
            for one in entries
        ]
        print_json({"folder": str(shelf.folder), "files": facts})
        return
    rows = [
        (
            one.name,
            "on show" if one.shown else "yours",
            f"{one.size:,}",
            f"{one.created:%Y-%m-%d %H:%M}",
            one.description,
        )
        for one in entries
    ]
    print_table(("file", "seen", "bytes", "since", "description"), rows, str(shelf.folder))


@commands.command()
@grouped
def add(
    file: Annotated[Path, Argument(metavar="FILE", help="A release, a model, or counted local reports.")],
    payer: LedgerOptions,
    name: Annotated[str | None, Option(help="Put it on show under this name.", show_default=False)] = None,
) -> None:
    """Put a copy of a public file on the shelf."""
    from ..errors import RequestError
    from ..figures.share.shared_page import ending, read_public

    try:
        data = file.read_bytes()
    except OSError as problem:
        raise RequestError(f"The file {str(file)!r} cannot be read: {problem.strerror or problem}.") from None
    read_public(data)
    shelf = _shelf(payer)
    kept = shelf.put(file.stem, ending(data), data).name
    if name is not None and Path(kept).stem != name:
        kept = shelf.rename(kept, name)
    say(f"{kept} is on the shelf.")


@commands.command()
@grouped
def rename(
    name: FileArgument,
    title: Annotated[str, Argument(metavar="TITLE", help="What it is called from now on.")],
    payer: LedgerOptions,
) -> None:
    """Give a file a name, under which it is on show in the app."""
    shelf = _shelf(payer)
    say(f"It is {shelf.rename(_found(shelf, name), title)} now, and on show.")


@commands.command()
@grouped
def describe(
    name: FileArgument,
    words: Annotated[str, Argument(metavar="WORDS", help='What it is; "" takes the description away.')],
    payer: LedgerOptions,
) -> None:
    """Say what a file is, for those who see the list."""
    shelf = _shelf(payer)
    shelf.describe(_found(shelf, name), words)


@commands.command()
@grouped
def remove(name: FileArgument, payer: LedgerOptions) -> None:
    """Take a file off the shelf, for ever; what was paid for it stays in the ledger."""
    shelf = _shelf(payer)
    found = _found(shelf, name)
    shelf.remove(found)
    say(f"{found} is gone.")
