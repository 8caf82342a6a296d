"""`living`: releases of a stream of periods under one promise, which grow, and runs of their periods."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer
from typer import Option

from ..errors import RequestError
from .asked_release import ReleaseArgument
from .declaring import FileOptions, declared_domain, paid_for_columns, with_size
from .output import check_writable, print_table, reading, say
from .shared_options import CommandGroup, DataOptions, GuessOptions, LedgerOptions, PromiseOptions
from .sketch_options import SketchOptions
from .spending import Commands, DatasetOption, SourceArgument, billed, dataset_name, warn_of_total

commands = CommandGroup(
    cls=Commands, help="Releases that grow period by period under one promise, and sums over any run of periods."
)
OutOption = Annotated[Path, Option(metavar="FILE", help="The release file to write.")]
OverwriteOption = Annotated[bool, Option("--overwrite", help="Replace an existing file.")]
PERIOD = "A period by its name, such as 2024-03, or by its number."


@commands.command()
def begin(
    source: SourceArgument,
    out: OutOption,
    promise: PromiseOptions,
    data: DataOptions,
    file: FileOptions,
    shape: SketchOptions,
    guess: GuessOptions,
    books: LedgerOptions,
    period: Annotated[str, Option(metavar="COLUMN", help="The column of dates or categories that says the period.")],
    every: Annotated[
        Literal["step", "week", "month", "quarter", "year"],
        Option(help="What a period is: a step of the column (a day, a category), 7 days, or one of the calendar."),
    ] = "step",
    until: Annotated[str | None, Option(metavar="PERIOD", help=f"The last one that is over. {PERIOD}")] = None,
    dataset: DatasetOption = None,
    overwrite: OverwriteOption = False,
) -> None:
    """Release the first periods, and pay for all there will ever be.

    Later ones are added by `living go-on`, at no further cost. A record of no period is left out. --records is how many
    there will be in all periods together.
    """
    from ..releases.job import Job
    from ..releases.kind import kind_of
    from ..releases.payment import LedgerAccount, unit_words
    from ..releases.stages import Known
    from ..sketches.living import Living
    from .mechanisms import check_typed, declared_mechanism

    with billed() as bill:
        check_typed(shape)
        check_writable(out, overwrite)
        if shape.part or shape.like or shape.label:
            raise RequestError("A living release is of one question: leave --part, --like and --label.")
        opened, budget = file.open(source), promise.budget()
        domain = declared_domain(data, shape)
        own = domain.without(period) if period in domain.names else domain
        plain = declared_mechanism(shape, own, budget, guess)
        if plain.chooses:
            raise RequestError(f"A living release is of a table that is known beforehand, and {plain.name!r} chooses.")
        inner = with_size(plain, budget, guess, shape.groups)
        if inner.chooses:
            raise RequestError(f"A living release is of a table that is known beforehand, and {inner.name!r} chooses.")
        sketch = Living.of(domain, period, inner, budget, every=every)
        sketch = sketch if until is None else replace(sketch, released=sketch.place_of(until) + 1)
        name = dataset or dataset_name(source, books.names())
        payer = bill.payer = LedgerAccount(books.open(), name, budget, unit_words(domain.unit))
        paid, within = paid_for_columns(data)
        known = Known.having_paid(budget, paid, within=within)
        job = Job(kind_of(sketch, budget), opened, payer, out=out, known=known, say=say)
        with reading("Reading records", opened.rows_total(), job.begin()) as show:
            made = job.run(show)
    warn_of_total(payer, bill.promise, "all periods spend")
    say(f"Wrote {out}: {sketch.released:,} of {sketch.periods:,} periods, {sketch.names[0]} to {_last(made.sketch)}.")
    say(f"Spent {bill.price}, which pays for all periods.")


@commands.command("go-on")
def go_on(
    release: ReleaseArgument,
    source: SourceArgument,
    file: FileOptions,
    books: LedgerOptions,
    until: Annotated[str, Option(metavar="PERIOD", help=f"The last one that is over now. {PERIOD}")],
    out: Annotated[
        Path | None, Option(metavar="FILE", help="Where to; without it the release file itself grows.")
    ] = None,
    dataset: DatasetOption = None,
    overwrite: OverwriteOption = False,
    lost: Annotated[
        bool, Option("--lost", help="Give up periods that were drawn and not kept, as the program was stopped.")
    ] = False,
) -> None:
    """Add the periods that are over since to a living release; it was paid for when it began.

    SOURCE has the records of all periods, as those of earlier ones are part of the sums that are released now. Records
    of earlier periods must not have been moved to others since.
    """
    from ..releases.going_on import go_on as further
    from ..releases.release import load

    with billed():
        before = load(release)
        if out is not None:
            check_writable(out, overwrite)
        opened = file.open(source)
        name = dataset or dataset_name(source, books.names())
        with reading("Reading records", opened.rows_total()) as show:
            more = {"ledger": books.open(), "dataset": name, "lost": lost, "progress": show}
            made = further(before, opened, until, **more)  # type: ignore[arg-type]
        made.save(out or release, teaching=not made.private)
    say(f"Wrote {out or release}: until {_last(made.sketch)}. Nothing more was spent.")


@commands.command()
def run(
    release: ReleaseArgument,
    out: OutOption,
    first: Annotated[
        str | None, Option(metavar="PERIOD", help=f"The first. {PERIOD} Without it, the first of all.")
    ] = None,
    last: Annotated[str | None, Option(metavar="PERIOD", help="The last, likewise.")] = None,
    overwrite: OverwriteOption = False,
) -> None:
    """Write the sum over some periods one after the other as a release file of its own, which everything can ask."""
    from ..formatting.numbers import rounded
    from ..releases.release import load

    check_writable(out, overwrite)
    made = load(release).run(first, last)
    made.save(out, teaching=not made.private)
    say(f"Wrote {out}: about {rounded(made.records, made.records_error)} records.")


@commands.command()
def forecast(
    periods: Annotated[int, typer.Argument(metavar="PERIODS", help="How many there will be.", min=1, max=1_500)],
    promise: PromiseOptions,
    counters: Annotated[
        int,
        Option(
            metavar="NUMBER", help="How many counters a record changes by one: rows of race, pairs of tables.", min=1
        ),
    ] = 1,
) -> None:
    """Say what it costs to go on releasing: errors of runs beside one release of that run under the same promise.

    `by_period` is the error where each period is released by itself, and runs are added up.
    """
    from fractions import Fraction

    from ..privacy.budget import Sensitivity
    from ..privacy.calibration import calibrate
    from ..sketches.factorisation import Factor, cheapest

    budget = promise.budget()

    def variance(factor: Factor) -> float:
        moved = Sensitivity(counters * factor.l1, counters * factor.l2_squared)
        return calibrate(moved, Fraction(budget.epsilon), Fraction(budget.delta)).variance

    factor = cheapest(periods, variance)
    one = Sensitivity(counters, counters, unit_shifts=True)
    of_one, of_all = calibrate(one, Fraction(budget.epsilon), Fraction(budget.delta)).variance, variance(factor)
    _, covariances = factor.readings(periods)
    rows = []
    for length in sorted({1, 7, 30, 90, 365, periods} & set(range(1, periods + 1))):
        sums = [
            covariances[first : first + length, first : first + length].sum() for first in range(periods - length + 1)
        ]
        times = [(of_all * one_run / of_one) ** 0.5 for one_run in sums]
        rows.append([f"{length:,}", f"{sum(times) / len(times):.3g}", f"{max(times):.3g}", f"{length**0.5:.3g}"])
    print_table(["periods", "error", "worst", "by_period"], rows)


def _last(sketch: object) -> str:
    return str(sketch.names[sketch.released - 1])  # type: ignore[attr-defined]
