"""`quantiles`: medians and other quantiles of columns, bought by themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ..errors import RequestError
from . import notation
from .declaring import declared_domain
from .grouped import grouped
from .options.data import DataOptions
from .options.panels import DATA, PAYER
from .options.promise import LedgerOptions, PromiseOptions
from .options.typed import refuse_typed, typed
from .output import check_table, check_writable, reading, say, write_table
from .payment import billed, dataset_name

NO_USE = ("--vector", "--items", "--gathered", "--separator", "--scale", "--category-distance")
"""Options on data that columns of numbers have no use for."""


@grouped
def quantiles(
    source: Annotated[
        str, Argument(metavar="SOURCE", help="Private records, as those of `release`.", show_default=False)
    ],
    promise: PromiseOptions,
    data: DataOptions,
    books: LedgerOptions,
    quantile: Annotated[
        list[str] | None,
        Option(
            metavar="SHARE",
            help="Share of the records below what is asked for, between 0 and 1; repeat it for several. The median, "
            "0.5, without it.",
            show_default=False,
        ),
    ] = None,
    step: Annotated[
        list[str] | None,
        Option(
            metavar="COLUMN=STEP",
            help="A column has the values LOW, LOW + STEP and so on alone, such as age=1 for whole years.",
            rich_help_panel=DATA,
        ),
    ] = None,
    dataset: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="The data set in the ledger; without it, the name of SOURCE. A data set that the ledger does not know "
            "is registered with exactly what this spends.",
            rich_help_panel=PAYER,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        Option(metavar="FILE", help="Write to a .csv, .tsv or .parquet file; without it, CSV goes to standard output."),
    ] = None,
    overwrite: Annotated[bool, Option("--overwrite", help="Replace an existing file.")] = False,
) -> None:
    """Buy medians or other quantiles of columns of numbers: read the data once, spend the budget, and choose.

    The table has a row for each column and quantile: column, quantile, value, and rank_error, the most records that
    lie between the value and the exact quantile, with 95% probability.
    """
    import pandas as pd
    import pyarrow as pa

    from ..privacy.budget import Budget
    from ..releases.payment import Payer, unit_words
    from ..releases.private_quantiles import ColumnQuantiles
    from ..sources import open_source

    with billed() as bill:
        check_table(out)
        if out is not None:
            check_writable(out, overwrite)
        refuse_typed([option for option in typed(data) if option in NO_USE], "quantiles are of columns of numbers")
        if data.bounds_from_sample is not None and data.bounds_from_sample.resolve() == Path(source).resolve():
            raise RequestError(
                "--bounds-from-sample names the private file itself, whose bounds would give people away; name a "
                "public one."
            )
        opened = open_source(source)
        budget: Budget = promise.budget()
        asked = ColumnQuantiles(declared_domain(data), budget, quantile or ("0.5",), steps=_steps(step or ()))
        name = dataset or dataset_name(source)
        bill.payer = payer = Payer(books.open(), name, budget, unit_words(asked.domain.unit))
        with reading("Reading records", opened.rows_total()) as show:
            found = asked.buy(opened, payer, progress=show)
        write_table(pa.Table.from_pandas(pd.DataFrame([vars(one) for one in found]), preserve_index=False), out)
    if payer.registered:
        say(
            f"The ledger did not know the data set {name!r} and registered it with a total of {asked.cost.describe()}, "
            "exactly what these quantiles spend."
        )
    say(f"Spent {bill.price} on all these quantiles together, of which ε = {payer.ledger.status(name).left:f} is left.")


def _steps(texts: list[str] | tuple[str, ...]) -> dict[str, float]:
    """Steps by column."""
    steps = notation.parse_places(texts)
    return {name: notation.parse_number(text, f"The step of {name!r}") for name, text in steps.items()}
