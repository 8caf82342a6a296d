"""`release`: the one command that reads private data."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ..errors import RequestError
from .checkpoints import CheckpointOptions
from .declaring import declared_sketch, like, with_size
from .grouped import grouped
from .options import PAYER, BoundsOptions, DataOptions, GuessOptions, LedgerOptions, PromiseOptions, SketchOptions
from .output import check_writable, reading, say
from .payment import Account, billed, dataset_name

if TYPE_CHECKING:
    from ..engine.resuming import Keeping
    from ..privacy.budget import Budget
    from ..releases.bounded import BoundsPurchase
    from ..releases.release import Release
    from ..sketches.adaptive import Adaptive
    from ..sketches.linear import LinearSketch
    from ..sources import Source

LOCAL = "local"
ROOM = 8
"""Bytes a counter takes in a file at most; beside it the manifest is small."""


@grouped
def release(
    source: Annotated[
        str,
        Argument(
            metavar="SOURCE",
            help="CSV, TSV, Parquet, Arrow, .npy or .npz files (a pattern names several), a table as "
            "file.duckdb::table or file.sqlite::table, or the address of a Parquet file.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, Option(metavar="FILE", help="The release file to write.")],
    promise: PromiseOptions,
    bought: BoundsOptions,
    data: DataOptions,
    shape: SketchOptions,
    guess: GuessOptions,
    payer: LedgerOptions,
    kept: CheckpointOptions,
    dataset: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="The data set in the ledger; without it, the name of SOURCE. A data set that the ledger "
            "does not know is registered with exactly what this release spends.",
            rich_help_panel=PAYER,
        ),
    ] = None,
    overwrite: Annotated[bool, Option("--overwrite", help="Replace an existing file.")] = False,
    engine: Annotated[
        str,
        Option(
            metavar="local|dask[:ADDRESS]",
            help="Who reads the records: this process, several processes on this computer "
            "(dask), or a cluster whose Dask scheduler has an address (dask:tls://HOST:PORT). The table is the same.",
        ),
    ] = LOCAL,
) -> None:
    """Release private data: read it once, spend the budget, add noise, and write a file that anyone may ask for ever.

    Everything that can be refused is refused before anything is spent.
    """
    from ..engine.engines import check_engine
    from ..figures.report.meaning import table
    from ..releases.payment import unit_words
    from ..sketches.adaptive import Adaptive
    from ..sketches.registry import sketch_from_parameters
    from ..sources import open_source
    from ..words.numbers import rounded

    with billed() as bill:
        check_engine(engine)
        check_writable(out, overwrite)
        if data.bounds_from_sample is not None and data.bounds_from_sample.resolve() == Path(source).resolve():
            raise RequestError(
                "--bounds-from-sample names the private file itself, whose bounds would give people away; name a "
                "public one, or buy bounds with --private-bounds."
            )
        opened = open_source(source)
        budget = promise.budget("add_remove" if shape.like is None else like(shape).privacy.neighbours.value)
        purchase = bought.purchase()
        if purchase is not None and engine != LOCAL:
            raise RequestError("--engine cannot be given beside --private-bounds, which are bought on one computer.")
        sketch = _sketch(data, shape, guess, budget, purchase)
        adaptive = isinstance(sketch, Adaptive)
        if not adaptive:
            # Whatever could not be read back must be refused before it is paid for.
            sketch_from_parameters(sketch.name, sketch.domain, sketch.parameters())
            check_writable(out, overwrite, room=ROOM * math.prod(sketch.shape))
        name = dataset or _named_after(source)
        bill.account = account = Account(payer.open(), name, budget, unit_words(sketch.domain.unit))
        if adaptive:
            made = _release_adaptive(sketch, opened, account, engine)
            made.save(out)
        elif purchase is None:
            any_seed = shape.seed is None and shape.like is None
            made = _release(sketch, opened, account, engine, kept.keeping(account, any_seed), out)
        else:
            made = _release_bounded(sketch, purchase, opened, account)
            made.save(out)
    about = rounded(made.records, made.records_error)
    say(f"Wrote {out}: {table(made.sketch)}, about {about} records.")
    say(f"Spent {account.price}, of which ε = {account.ledger.status(account.dataset).left:f} is left.")


def _named_after(source: str) -> str:
    name = dataset_name(source)
    say(f"No --dataset was named, so the budget is that of the data set {name!r}, after the source.")
    return name


def _sketch(
    data: DataOptions, shape: SketchOptions, guess: GuessOptions, budget: Budget, purchase: BoundsPurchase | None
) -> LinearSketch | Adaptive:
    """The sketch as declared; columns whose bounds are bought have their generous ranges."""
    from ..domain import Numeric
    from ..sketches.adaptive import Adaptive

    if purchase is None:
        return with_size(declared_sketch(data, shape, budget, guess), budget, guess, shape.groups)
    if shape.like is not None:
        raise RequestError("--private-bounds cannot be given here, as --like takes the bounds from the release file.")
    ranges = {name: Numeric(name, grid.low, grid.high) for name, grid in purchase.grids.items()}
    sketch = declared_sketch(data, shape, budget, found=ranges)
    if isinstance(sketch, Adaptive):
        raise RequestError(f"--private-bounds cannot be given here, as {sketch.name} shares its budget out by itself.")
    if not sketch.sized:
        raise RequestError(
            "--private-bounds needs a table whose size is known (--rows, of race and features), as the cost is written "
            "down before the bounds are known."
        )
    return sketch


def _release(
    sketch: LinearSketch, source: Source, account: Account, engine: str, keeping: Keeping | None, out: Path
) -> Release:
    """Read once, pay, draw noise and save; the exact table is seen by nobody."""
    from ..engine.engines import building_on
    from ..engine.resuming import ResumableBuilding
    from ..releases.seal import seal
    from ..sketches.plan import plan

    account.check(plan(sketch, account.budget).cost)
    building = building_on(engine, sketch, source, keeping, say)
    resumable = building if isinstance(building, ResumableBuilding) else None
    sketch = building.sketch  # of the seeds of the run that is continued
    try:
        with reading("Reading records", source.rows_total(), resumable.rows if resumable else 0) as show:
            for rows in building:
                show(rows)
    except BaseException:
        if resumable is not None and resumable.kept:
            say("What was read so far is kept: the same command goes on there, and 'checkpoints remove' forgets it.")
        raise
    made = seal(sketch, building.exact, account.budget, lambda cost: account.spend(cost, sketch))
    made.save(out)
    if resumable is not None:
        resumable.forget()
    return made


def _release_adaptive(mechanism: Adaptive, source: Source, account: Account, engine: str) -> Release:
    """Read, pay, then choose and measure; what is chosen is part of the release."""
    from ..releases.adaptive import run_planned

    planned = mechanism.plan(account.budget)
    account.check(planned.cost)
    with reading("Reading records", source.rows_total()) as show:
        return run_planned(
            mechanism, planned, source, spend=lambda cost: account.spend(cost, mechanism), progress=show, engine=engine
        )


def _release_bounded(sketch: LinearSketch, purchase: BoundsPurchase, source: Source, account: Account) -> Release:
    """The same, with bounds bought in between."""
    from ..releases.bounded import plan_bounded, release_bounded

    planned = plan_bounded(sketch, purchase, account.budget)
    account.check(planned.cost)
    total = source.rows_total()
    with reading("Reading records twice", None if total is None else 2 * total) as show:
        made, found = release_bounded(
            planned, purchase, source, account.budget, spend=lambda cost: account.spend(cost, sketch), progress=show
        )
    for name, bounds in found.items():
        source_of = "bought" if bounds.found else "as given, as too few records stood out of the noise"
        say(f"The bounds of {name!r} are {bounds.low:,.12g} to {bounds.high:,.12g} ({source_of}).")
    return made
