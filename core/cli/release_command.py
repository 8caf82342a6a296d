"""`release`: the one command that reads private data."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ..errors import RequestError
from . import notation
from .declaring import (
    FileOptions,
    declared_domain,
    declared_sketch,
    paid_for_columns,
    pairs_worth_it,
    say_presets,
    with_size,
)
from .discovering import LabelsOption, asked_of, discovery_option, say_found
from .from_the_end import check_said, promised
from .mechanisms import warn_of_wide_column
from .output import check_writable, reading, say, unsaid
from .shared_options import (
    DataOptions,
    GuessOptions,
    LedgerOptions,
    NeedOptions,
    PromiseOptions,
    promise_option,
    refuse_typed,
    typed,
)
from .sketch_options import SketchOptions
from .spending import (
    CheckpointOptions,
    DatasetOption,
    billed,
    check_sample,
    check_source_there,
    named_after_source,
    warn_of_total,
)

if TYPE_CHECKING:
    from ..domain import Domain
    from ..privacy.budget import Budget, PrivacyUnit
    from ..privacy.choosing.private_bounds import Bounds
    from ..releases.bounds_and_centre import BoundsPurchase
    from ..releases.discovery_stage import Discovery
    from ..releases.job import Job
    from ..releases.kind import Kind, TablePlan
    from ..releases.payment import LedgerAccount
    from ..releases.purchase_plan import PurchasePlan
    from ..releases.release import Release
    from ..releases.stages import Known
    from ..sketches.adaptive import Adaptive
    from ..sketches.linear import LinearSketch
    from ..sources import Source

LOCAL = "local"
ROOM = 8  # Bytes a counter takes in a file at most; beside it the manifest is small.
FITTING = 0.9  # Where surely fewer records than this share of those that were said to be there fit, their owner is told


@dataclass(frozen=True)
class BoundsOptions:
    """Bounds that nobody knows, bought with a share of the budget."""

    private_bounds: Annotated[
        list[str] | None,
        promise_option(
            metavar="COLUMN=LOW:HIGH",
            help="Buy the bounds of a column, between which most records lie, within a range "
            "that is beyond doubt, such as pay=0:1e7.",
        ),
    ] = None
    bounds_share: Annotated[
        str, promise_option(metavar="SHARE", help="Part of epsilon that pays for all --private-bounds together.")
    ] = "0.1"

    def purchase(self) -> BoundsPurchase | None:
        """What is to be bought, if anything."""
        if not self.private_bounds:
            refuse_typed(typed(self), "no --private-bounds are to be bought")
            return None
        from ..privacy.choosing.private_bounds import Grid
        from ..releases.bounds_and_centre import BoundsPurchase

        grids: dict[str, Grid] = {}
        for name, low, high in map(notation.parse_bounds, self.private_bounds):
            if name is None or name in grids:
                raise RequestError("Bounds are bought column by column, each once: --private-bounds COLUMN=LOW:HIGH.")
            grids[name] = Grid(low, high, spacing="log")
        return BoundsPurchase(grids, self.bounds_share)


def release(
    source: Annotated[
        str,
        Argument(
            metavar="SOURCE",
            help="Files of CSV, Excel, OpenDocument, JSON lines, SPSS, Stata, SAS, Parquet, Arrow or NumPy (a "
            "pattern names several), a table as file.xlsx::sheet, file.duckdb::table or file.sqlite::table, or the "
            "address of a Parquet file.",
            callback=check_source_there,
        ),
    ],
    out: Annotated[Path, Option(metavar="FILE", help="The release file to write.")],
    promise: PromiseOptions,
    need: NeedOptions,
    bought: BoundsOptions,
    data: DataOptions,
    file: FileOptions,
    shape: SketchOptions,
    guess: GuessOptions,
    books: LedgerOptions,
    kept: CheckpointOptions,
    dataset: DatasetOption = None,
    overwrite: Annotated[bool, Option("--overwrite", help="Replace an existing file.")] = False,
    engine: Annotated[
        str,
        Option(
            metavar="local|dask[:ADDRESS]",
            help="Who reads the records: this process, several processes on this computer "
            "(dask), or a cluster whose Dask scheduler has an address (dask:tls://HOST:PORT). The table is the same.",
        ),
    ] = LOCAL,
    discover: Annotated[
        bool,
        discovery_option(
            "--discover",
            help="Find out first what --declaration does not say: formats, values of categories, ranges, how many. "
            "Tables are released of it unless another mechanism is named.",
        ),
    ] = False,
    discover_share: Annotated[
        str | None,
        discovery_option(
            metavar="SHARE", help="Part of the promise that --discover spends; without it 0.1, or by --records."
        ),
    ] = None,
    labels: LabelsOption = False,
) -> None:
    """Release private data: read it once, spend the budget, add noise, and write a file that anyone may ask for ever.

    Everything that can be refused is refused before anything is spent.
    """
    from ..figures.meaning import table
    from ..formatting.numbers import count, rounded
    from ..privacy.ledger.account import left_of_total
    from ..releases.fitting import Fitting
    from ..releases.job import Job
    from ..releases.kind import check_engine, wide_column
    from ..releases.payment import LedgerAccount, unit_words
    from ..releases.release_store import paid_name
    from .mechanisms import check_typed, leaves_bandwidth

    with billed() as bill:
        if discover and not typed(shape):  # the one that asks for nothing more, and answers most
            shape = replace(shape, mechanism="tables")
        check_said(promise, need)
        check_engine(engine)
        check_typed(shape)
        check_writable(out, overwrite)
        check_sample(data, source, ", or buy bounds with --private-bounds")
        opened = file.open(source)
        if discover:
            decided = [one for one in typed(need) if one != "--harm"]
            refuse_typed(
                decided, "errors follow from columns that are said: `discover` first, then release what it wrote"
            )
        budget = promised(promise, need, data, shape, guess)
        purchase = bought.purchase()
        if purchase is not None and engine != LOCAL:
            raise RequestError("--engine cannot be given beside --private-bounds, which are bought on one computer.")
        if guess.sample is not None and guess.sample.resolve() == Path(source).resolve():
            raise RequestError("--sample names the private file itself, which would choose the size for its records.")
        name = dataset or named_after_source(source, books, [column.name for column in opened.columns])

        def payer_opened(unit: PrivacyUnit) -> LedgerAccount:
            bill.payer = bill.payer or LedgerAccount(books.open(), name, budget, unit_words(unit))
            return bill.payer

        if discover:
            refuse_typed(typed(bought), "--discover finds ranges itself")
            asked = asked_of(source, opened, data, shape, budget, discover_share, guess.records, labels)
            plan = _plan_of_found(asked, shape, guess)
        else:
            plan = _plan(data, shape, guess, budget, purchase)
        ordinary = plan.forecast().made.sketch
        if not discover:
            _say_gaps(ordinary, may_be_kept=shape.like is None)
        if not ordinary.chooses:  # before anything is bought
            check_writable(out, overwrite, room=ROOM * math.prod(ordinary.shape))
        payer = payer_opened(plan.stages[0].of.unit) if plan.stages else None
        if payer is not None:
            payer.file = paid_name(name)
        kind, known = plan.carried_out(opened, payer, lambda settled: (settled.made, settled.known))
        if known.found is not None:
            say_found(known.found)
        sketch = kind.sketch
        say_presets(data)
        compares = purchase is None and shape.like is None and wide_column(sketch) is not None
        if compares and not leaves_bandwidth(shape, sketch.domain):
            warn_of_wide_column(data, sketch.domain, shape.bandwidth)
        if not sketch.chooses:
            check_writable(out, overwrite, room=ROOM * math.prod(sketch.shape))
        payer = payer_opened(sketch.domain.unit)
        keeping = None
        bought_anew = [  # a table differs with what was found
            one for one in known.bought if one.stage != Fitting.name and one not in plan.known.bought
        ]
        if purchase is None and not bought_anew and not sketch.chooses:
            keeping = kept.keeping(payer, any_seed=shape.seed is None and shape.like is None)
        job = Job(kind, opened, payer, out=out, engine=engine, keeping=keeping, known=known, say=say)
        made = _run(job, opened)
    if purchase is not None:
        _say_bounds(purchase.bounds_of(made))
    about = rounded(made.records, made.records_error)
    total = replace(kind.cost, epsilon=budget.epsilon, delta=budget.delta)  # with what a count took
    warn_of_total(payer, total.describe(), "this release spends")
    said = count(len(made.parts), "part") if made.parts else table(made.sketch)
    say(f"Wrote {out}: {said}, about {about} records.")
    if guess.records is not None and made.records + 3.0 * made.records_error < FITTING * guess.records:
        say(
            f"That is less than the {guess.records:,.0f} that were said to be there: records that do not fit "
            "are left out, such as those of a category that is on no list (--unknown category keeps them)."
        )
    say(f"Spent {bill.price}, of which {left_of_total(payer.ledger.status(name))} is left.")


def _say_gaps(sketch: LinearSketch | Adaptive, may_be_kept: bool) -> None:
    """Say beforehand which columns leave out records that miss their value."""
    from ..domain.declarations import with_missing_category
    from ..figures.meaning import has_category_of_missing
    from ..formatting.numbers import listed

    domain, keeps = sketch.domain, getattr(sketch, "keeps_gaps", False)
    own = [column for column in domain.columns if not has_category_of_missing(column, keeps)]
    if domain.holds_sets or domain.missing != "drop" or not own:
        return
    could = any(has_category_of_missing(column, keeps) for column in with_missing_category(tuple(own)))
    kept = " (--missing category counts them)" if could and may_be_kept else ""
    lost = listed([repr(one.name) for one in own], 4, "or")
    say(f"Records that miss a value of {lost} will be left out{kept}.")


def _sketch(
    data: DataOptions, shape: SketchOptions, guess: GuessOptions, budget: Budget, purchase: BoundsPurchase | None
) -> LinearSketch | Adaptive:
    """The sketch as declared; columns whose bounds are bought have their generous ranges."""
    from ..domain import Numeric

    if purchase is None:
        declared = pairs_worth_it(declared_sketch(data, shape, budget, guess), budget)
        return with_size(declared, budget, guess, shape.groups)
    if shape.like is not None:
        raise RequestError("--private-bounds cannot be given here, as --like takes the bounds from the release file.")
    ranges = {name: Numeric(name, grid.low, grid.high) for name, grid in purchase.grids.items()}
    sketch = declared_sketch(data, shape, budget, found=ranges)
    if sketch.chooses:
        raise RequestError(f"--private-bounds cannot be given here, as {sketch.name} shares its budget out by itself.")
    if not sketch.sized:
        raise RequestError(
            "--private-bounds needs a table whose size is known (--rows, of race and features), as the cost is written "
            "down before the bounds are known."
        )
    return sketch


def _plan(
    data: DataOptions, shape: SketchOptions, guess: GuessOptions, budget: Budget, purchase: BoundsPurchase | None
) -> PurchasePlan[Kind | TablePlan]:
    """What is bought before the table, as nobody said it, and what is made then, in view of it and said."""
    from ..releases.fitting import Fitting
    from ..releases.forecast.sketch_sizes import ANY_RECORDS
    from ..releases.kind import kind_of
    from ..releases.purchase_plan import PurchasePlan
    from ..releases.stages import Count, Known, Spread, Stage
    from .mechanisms import needs_spread, recommended, supposing

    chosen, records, stages, sketch = shape.mechanism == "auto", guess.records or 1.0, list[Stage](), None
    if purchase is None and shape.like is None:  # what a released file says, fits other records alike
        stages.append(Fitting(declared_domain(data, shape), say))
    if purchase is None and chosen:
        domain = declared_domain(data, shape)
        stages += [Count(domain)] if guess.records is None else []
        if guess.spread is None and needs_spread(shape, domain):
            stages.append(Spread(domain if shape.label is None else domain.without(shape.label)))
    elif purchase is None and guess.records is None and (of := _domain_of_chosen_parts(data, shape)) is not None:
        stages.append(Count(of))
    elif purchase is None and guess.records is None:
        sketch = declared_sketch(data, shape, budget)
        if not sketch.sized:
            records = ANY_RECORDS
            stages += [Count(sketch.domain)] if sketch.needs_records else []

    def supposed(known: Known) -> GuessOptions:
        seen = replace(guess, records=known.records, spread=guess.spread if known.spread is None else known.spread)
        return supposing(shape, domain, seen) if chosen and purchase is None else seen

    def ordinary(known: Known) -> Kind | TablePlan:
        if sketch is not None:
            return kind_of(sketch, known.left, known.records)
        if chosen and purchase is None:
            return kind_of(recommended(shape, domain, known.left, supposed(known))[0], known.left, known.records)
        with unsaid():
            return kind_of(_sketch(data, shape, supposed(known), known.left, purchase), known.left, bounds=purchase)

    def made(known: Known) -> Kind | TablePlan:
        _say_bought(known, any(isinstance(stage, Spread) for stage in stages))
        return kind_of(_sketch(data, shape, supposed(known), known.left, purchase), known.left, bounds=purchase)

    paid, within = paid_for_columns(data)
    return PurchasePlan(stages, Known.having_paid(budget, paid, records, within), made, ordinary if stages else None)


def _domain_of_chosen_parts(data: DataOptions, shape: SketchOptions) -> Domain | None:
    from .release_parts import domain_of_chosen

    return domain_of_chosen(shape, declared_domain(data, shape)) if shape.part else None


def _plan_of_found(asked: Discovery, shape: SketchOptions, guess: GuessOptions) -> PurchasePlan[Kind | TablePlan]:
    """What is found out first, and what is made of it."""
    from ..releases.discovery import kind_after, plan_after
    from .mechanisms import declared_mechanism, recommended, supposing

    def seen(known: Known) -> tuple[Domain, GuessOptions]:
        if known.found is None:
            raise RuntimeError("Nothing is released of columns that were not found out.")
        domain, guessed = known.found.domain, replace(guess, records=guess.records or known.records)
        return domain, supposing(shape, domain, guessed) if shape.mechanism == "auto" else guessed

    def ordinary(known: Known) -> Kind | TablePlan:
        domain, guessed = seen(known)
        if shape.mechanism == "auto":
            return kind_after(recommended(shape, domain, known.left, guessed)[0], known)
        return kind_after(declared_mechanism(shape, domain, known.left), known)

    def made(known: Known) -> Kind | TablePlan:
        domain, guessed = seen(known)
        sketch = declared_mechanism(shape, domain, known.left, guessed)
        return kind_after(with_size(sketch, known.left, guessed, shape.groups), known)

    return plan_after(asked, made, ordinary)


def _say_bought(known: Known, spread_wanted: bool) -> None:
    """What was bought, for how much, and what was not."""
    from ..releases.stages import Count, Spread

    count, spread = known.of(Count.name), known.of(Spread.name)
    if count is not None:
        price = "at no cost, as their number is public" if count.cost is None else f"for ε = {count.cost.epsilon:f}"
        say(f"No --records says how many there are, so they were counted first, {price}: about {known.records:,.0f}.")
    if spread is not None and spread.cost is not None:
        price = f"for ε = {spread.cost.epsilon:f}"
        say(f"No --bandwidth is said, so how far records lie apart was bought first, {price}.")
    elif spread_wanted:
        say(
            "No --bandwidth is said, and how far records lie apart was not bought, as noise would hide it or the total "
            "has no room for it; --spread says it from public knowledge, and the usual one is supposed."
        )


def _run(job: Job, source: Source) -> Release:
    """Make the release, and show how far it is."""
    start, total, readings = job.begin(), source.rows_total(), job.readings
    words = "Reading records twice" if readings == 2 else "Reading records"
    with reading(words, None if total is None else readings * total, start) as show:
        try:
            for rows in job:
                show(rows)
        except BaseException:
            if job.kept_reading:
                say(
                    "What was read so far is kept: the same command goes on there, and 'checkpoints remove' forgets it."
                )
            raise
        return job.finish(show)


def _say_bounds(found: dict[str, Bounds]) -> None:
    for name, bounds in found.items():
        source_of = "bought" if bounds.found else "the whole range, as nothing narrower stood out of the noise"
        say(f"The bounds of {name!r} are {bounds.low:,.12g} to {bounds.high:,.12g} ({source_of}).")
