"""`release`: the one command that reads private data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from .declaring import declared_sketch, like, with_rows
from .grouped import grouped
from .options import PAYER, DataOptions, GuessOptions, LedgerOptions, PromiseOptions, SketchOptions
from .output import check_writable, progress, say
from .payment import Account, billed, dataset_name, uninterrupted

if TYPE_CHECKING:
    from ..engine.building import Exact
    from ..sketches.linear import LinearSketch
    from ..sources import Source

ROOM = 8
"""Bytes a counter takes in a file at most; beside it the manifest is small."""


@grouped
def release(
    source: Annotated[str, Argument(
        metavar="SOURCE", help="CSV, TSV, Parquet, Arrow, .npy or .npz files (a pattern names several), a table as "
        "file.duckdb::table or file.sqlite::table, or the address of a Parquet file.", show_default=False,
    )],
    out: Annotated[Path, Option(metavar="FILE", help="The release file to write.")],
    promise: PromiseOptions,
    data: DataOptions,
    shape: SketchOptions,
    guess: GuessOptions,
    payer: LedgerOptions,
    dataset: Annotated[str | None, Option(
        metavar="NAME", help="The data set in the ledger; without it, the name of SOURCE. A data set that the ledger "
        "does not know is registered with exactly what this release spends.", rich_help_panel=PAYER,
    )] = None,
    overwrite: Annotated[bool, Option("--overwrite", help="Replace an existing file.")] = False,
) -> None:
    """Release private data: read it once, spend the budget, add noise, and write a file that anyone may ask for ever.

    Everything that can be refused is refused before anything is spent.
    """
    from ..figures.rounding import rounded
    from ..releases import plan, seal, unit_words
    from ..sources import open_source

    with billed() as bill:
        check_writable(out, overwrite)
        opened = open_source(source)
        budget = promise.budget("add_remove" if shape.like is None else like(shape).privacy.neighbours.value)
        sketch = with_rows(declared_sketch(data, shape), budget, guess)
        check_writable(out, overwrite, room=ROOM * sketch.shape[0] * sketch.shape[1])
        bill.account = account = Account(
            payer.open(), dataset or _named_after(source), budget, unit_words(sketch.domain.unit)
        )
        account.check(plan(sketch, budget).cost)
        exact = _read(sketch, opened)
        note = {"mechanism": sketch.name, "parameters": sketch.parameters()}
        with uninterrupted():
            made = seal(sketch, exact, budget, lambda cost: account.spend(cost, note))
            made.save(out)
    about = rounded(made.records, made.records_error)
    say(f"Wrote {out}: {sketch.shape[0]:,} rows of {sketch.shape[1]:,} columns, about {about} records.")
    say(f"Spent {account.price}, of which ε = {account.ledger.status(account.dataset).left:f} is left.")


def _named_after(source: str) -> str:
    name = dataset_name(source)
    say(f"No --dataset was named, so the budget is that of the data set {name!r}, after the source.")
    return name


def _read(sketch: LinearSketch, source: Source) -> Exact:
    """The exact table, which nobody sees."""
    from ..engine.building import Building

    building = Building(sketch, source)
    with progress() as bars:
        bar = bars.add_task("Reading records", total=source.rows_total())
        for rows in building:
            bars.update(bar, completed=rows)
    return building.exact
