"""`ledger`: data sets, their total budgets, and what was spent of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from . import notation
from .grouped import grouped
from .options.promise import LedgerOptions, PromiseOptions
from .output import print_json, print_table, say

if TYPE_CHECKING:
    from ..privacy.ledger.ledger import Entry, Status

commands = typer.Typer(help="Register data sets with their total budgets, and see what was spent of them.")
NameArgument = Annotated[str, Argument(metavar="NAME", help="The data set.", show_default=False)]
JsonOption = Annotated[bool, Option("--json", help="Print JSON.")]


@commands.command()
@grouped
def add(
    name: NameArgument,
    promise: PromiseOptions,
    payer: LedgerOptions,
    unit: Annotated[
        str | None,
        Option(
            metavar="COLUMN:RECORDS",
            help="Whom the total protects, as in release --unit; without it, one record.",
        ),
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


@commands.command("list")
@grouped
def list_datasets(payer: LedgerOptions, json: JsonOption = False) -> None:
    """List all data sets with what was promised, spent and is left."""
    from ..privacy.unit import unit_in_words

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
                f"{status.left:f}",
                str(len(status.releases)),
            )
            for status in statuses
        ],
    )


@commands.command()
@grouped
def show(name: NameArgument, payer: LedgerOptions, json: JsonOption = False) -> None:
    """Show what was promised for a data set, and every release of it."""
    status = payer.open().status(name)
    if json:
        print_json(_facts(status) | {"releases": [_entry_facts(entry) for entry in status.releases]})
        return
    print(f"{status.name}: {_total(status)}, registered {status.created:%Y-%m-%d %H:%M} UTC.")
    print(f"Spent so far: ε = {status.spent:.6g}. Left for one more pure release: ε = {status.left:f}.")
    if status.releases:
        print_table(
            ("release", "made (UTC)", "spent", "mechanism", "rows"),
            [
                (
                    entry.id,
                    f"{entry.when:%Y-%m-%d %H:%M}",
                    _amount(entry.cost.epsilon, entry.cost.delta),
                    str(entry.note.get("mechanism", "")),
                    str(entry.note.get("parameters", {}).get("rows", "")),
                )
                for entry in status.releases
            ],
        )


@commands.command()
@grouped
def verify(payer: LedgerOptions) -> None:
    """Check every link of the ledger, its log, and that it knows the releases that are kept beside it."""
    from ..privacy.ledger.witness import known_to
    from ..releases.remembered import check_all_remembered

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
    from ..privacy.unit import unit_in_words

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
