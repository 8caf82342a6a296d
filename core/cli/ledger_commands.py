"""`ledger`, `log` and `shelf`: data sets and their budgets, who did what with them, and public files kept beside."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from . import notation
from .output import check_writable, content_of, print_json, print_table, say
from .shared_options import CommandGroup, LedgerOptions, PromiseOptions

if TYPE_CHECKING:
    from ..privacy.ledger.account import Status
    from ..privacy.ledger.ledger import Entry
    from ..privacy.ledger.log import Line
    from ..releases.release_store import Shelf

ledger_commands = CommandGroup(help="Register data sets with their total budgets, and see what was spent of them.")
NameArgument = Annotated[str, Argument(metavar="NAME", help="The data set.")]
JsonOption = Annotated[bool, Option("--json", help="Print JSON.")]


@ledger_commands.command()
def add(
    name: NameArgument,
    promise: PromiseOptions,
    payer: LedgerOptions,
    unit: Annotated[
        str | None,
        Option(metavar="COLUMN:RECORDS", help="Whom the total protects, as in release --unit; without it, one record."),
    ] = None,
) -> None:
    """Promise a total for all releases of a data set that there will ever be; it cannot be changed later."""
    from ..domain import PrivacyUnit
    from ..releases.payment import unit_words

    protected = PrivacyUnit() if unit is None else PrivacyUnit(*notation.parse_unit(unit))
    total = promise.budget()
    book = payer.open()
    book.register(name, total.epsilon, total.delta, total.neighbours, unit_words(protected))
    say(f"The ledger {book.where} knows {name!r}: {_total(book.status(name))}.")


@ledger_commands.command("list")
def list_datasets(payer: LedgerOptions, json: JsonOption = False) -> None:
    """List all data sets with what was promised, spent and is left."""
    from ..privacy.budget import unit_in_words
    from ..privacy.ledger.account import left_of_total

    book = payer.open()
    statuses = [book.status(name) for name in book.names()]
    if json:
        print_json([_facts(status) for status in statuses])
        return
    heads = ("data set", "total", "protects", "spent ε", "left ε", "releases")
    print_table(
        heads,
        [
            (
                status.name,
                _amount(status.epsilon, status.delta),
                f"{unit_in_words(status.unit)}, {status.neighbours}",
                f"{status.spent:.4g}",
                left_of_total(status).removeprefix("ε = "),
                str(len(status.releases)),
            )
            for status in statuses
        ],
    )


@ledger_commands.command()
def show(name: NameArgument, payer: LedgerOptions, json: JsonOption = False) -> None:
    """Show what was promised for a data set, and every release of it."""
    from ..privacy.ledger.account import left_of_total

    status = payer.open().status(name)
    if json:
        print_json(_facts(status) | {"releases": [_entry_facts(entry) for entry in status.releases]})
        return
    print(f"{status.name}: {_total(status)}, registered {status.created:%Y-%m-%d %H:%M} UTC.")
    print(f"Spent so far: ε = {status.spent:.6g}. Left: {left_of_total(status)}.")
    if status.delta:
        print(f"Of that one more pure release may spend ε = {status.left:f}.")
    if status.releases:
        print_table(
            ("release", "made (UTC)", "spent", "mechanism", "rows"),
            [
                (
                    entry.id,
                    f"{entry.when:%Y-%m-%d %H:%M}",
                    _amount(entry.cost.epsilon, entry.cost.delta) + status.unspent(entry),
                    str(entry.note.get("mechanism", "")),
                    str(entry.note.get("parameters", {}).get("rows", "")),
                )
                for entry in status.releases
            ],
        )


@ledger_commands.command()
def verify(payer: LedgerOptions) -> None:
    """Check every link of the ledger, its log, and that it knows the releases that are kept beside it."""
    from ..privacy.ledger.witness import known_to
    from ..releases.payment import check_all_remembered

    known = known_to(payer.witness) if payer.witness else None
    book = payer.open()
    entries = sum(len(book.entries(name)) for name in book.names())
    lines = book.log.verify()
    kept = check_all_remembered(book)
    say(f"The ledger {book.where} is whole: {entries:,} releases, {kept:,} of them kept beside it.")
    if known is not None:
        say(
            f"Its second place agrees, and knows {known[0]:,} of the {lines:,} lines of its log{_behind(known, lines)}."
        )


def _behind(known: tuple[int, str], lines: int) -> str:
    return "; the next change of the ledger tells it the rest" if known[0] < lines else ""


def _total(status: Status) -> str:
    from ..privacy.budget import unit_in_words

    total, unit = _amount(status.epsilon, status.delta), unit_in_words(status.unit)
    return f"a total of {total} to {unit}, which hides {status.neighbours.hides}"


def _amount(epsilon: Any, delta: Any) -> str:
    return f"ε = {epsilon:f}" + (f", δ = {delta:g}" if delta else "")


def _facts(status: Status) -> dict[str, object]:
    """Exact decimals as text, as in every file."""
    return {
        "name": status.name,
        "epsilon": f"{status.epsilon:f}",
        "delta": f"{status.delta:f}",
        "neighbours": str(status.neighbours),
        "unit": status.unit,
        "created": status.created.isoformat(),
        "spent": status.spent,
        "left": f"{status.left:f}",
        "releases": len(status.releases),
    }


def _entry_facts(entry: Entry) -> dict[str, object]:
    return {"id": entry.id, "when": entry.when.isoformat(), "cost": entry.cost.to_dict(), "note": entry.note}


log_commands = CommandGroup(help="Who declared, released, approved and downloaded what; never a value of the data.")


@log_commands.command("show")
def show_log(
    payer: LedgerOptions,
    last: Annotated[int, Option(min=1, help="So many lines, the latest.")] = 20,
    json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the latest lines of the log, which is checked as a whole before."""
    lines = payer.open().log.lines()[-last:]
    if json:
        print_json([_log_facts(line) for line in lines])
        return
    print_table(
        ("line", "when (UTC)", "who", "did", "about"),
        [
            (str(line.number), f"{line.when:%Y-%m-%d %H:%M}", line.who, line.did, _words(line))
            for line in lines
        ],
    )  # fmt: skip


@log_commands.command()
def export(
    payer: LedgerOptions,
    out: Annotated[Path, Option(metavar="FILE", help="The file to write: a line of JSON each.")],
    overwrite: Annotated[bool, Option("--overwrite", help="Replace an existing file.")] = False,
) -> None:
    """Write the whole log to a file, with the links of its chain."""
    import json

    check_writable(out, overwrite)
    lines = payer.open().log.lines()
    text = "".join(json.dumps(_log_facts(line), ensure_ascii=True, sort_keys=True) + "\n" for line in lines)
    out.write_text(text, encoding="utf-8")
    say(f"Wrote {out}: {len(lines):,} lines.")


@log_commands.command("verify")
def verify_log(payer: LedgerOptions) -> None:
    """Check the log's chain, and that it holds all that the ledger says of it."""
    book = payer.open()
    say(f"The log of {book.where} is whole: {book.log.verify():,} lines.")


def _words(line: Line) -> str:
    return ", ".join(f"{name} {value}" for name, value in line.about.items())


def _log_facts(line: Line) -> dict[str, object]:
    return {
        "line": line.number,
        "when": line.when.isoformat(),
        "who": line.who,
        "did": line.did,
        "about": line.about,
        "link": line.link,
    }


shelf_commands = CommandGroup(help="Keep public files beside the ledger: what was released, and what was put there.")
FileArgument = Annotated[str, Argument(metavar="NAME", help="Its name, or 12 digits of its SHA-256.")]


def _shelf(payer: LedgerOptions) -> Shelf:
    from ..privacy.ledger.ledger_store import default_place
    from ..releases.release_store import shelf_beside

    return shelf_beside(payer.ledger or default_place())


def _found(shelf: Shelf, name: str) -> str:
    """The name of a file on a shelf; RequestError where there is none."""
    path = shelf.find(name)
    return (path or shelf.path(name)).name


@shelf_commands.command("list")
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


@shelf_commands.command("add")
def add_file(
    file: Annotated[Path, Argument(metavar="FILE", help="A release, a model, or counted local reports.")],
    payer: LedgerOptions,
    name: Annotated[str | None, Option(help="Put it on show under this name.")] = None,
) -> None:
    """Put a copy of a public file on the shelf."""
    from ..figures.share.described import read_public
    from ..figures.share.shared_page import ending

    data = content_of(file)
    read_public(data)
    shelf = _shelf(payer)
    kept = shelf.put(file.stem, ending(data), data).name
    if name is not None and Path(kept).stem != name:
        kept = shelf.rename(kept, name)
    say(f"{kept} is on the shelf.")


@shelf_commands.command()
def rename(
    name: FileArgument,
    title: Annotated[str, Argument(metavar="TITLE", help="What it is called from now on.")],
    payer: LedgerOptions,
) -> None:
    """Give a file a name, under which it is on show in the app."""
    shelf = _shelf(payer)
    say(f"It is {shelf.rename(_found(shelf, name), title)} now, and on show.")


@shelf_commands.command()
def describe(
    name: FileArgument,
    words: Annotated[str, Argument(metavar="WORDS", help='What it is; "" takes the description away.')],
    payer: LedgerOptions,
) -> None:
    """Say what a file is, for those who see the list."""
    shelf = _shelf(payer)
    shelf.describe(_found(shelf, name), words)


@shelf_commands.command()
def remove(name: FileArgument, payer: LedgerOptions) -> None:
    """Take a file off the shelf, for ever; what was paid for it stays in the ledger."""
    shelf = _shelf(payer)
    found = _found(shelf, name)
    shelf.remove(found)
    say(f"{found} is gone.")
