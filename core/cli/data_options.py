"""Options that several commands share: what is publicly known about the columns, and what is guessed of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Option

if TYPE_CHECKING:
    import pyarrow as pa

    from ..domain import Domain

DATA, PAYER = "The data, in public", "The budget"
# Each stands under its heading in the help of a command.
data_option = partial(Option, rich_help_panel=DATA)
sets_option = partial(Option, rich_help_panel="Sets")
guess_option = partial(Option, rich_help_panel="Public guesses")


@dataclass(frozen=True)
class DataOptions:
    """What is publicly known about the columns, and who one person is."""

    declaration: Annotated[
        Path | None,
        data_option(
            metavar="FILE",
            help="A YAML file that declares the columns, who one person is, and the rules for records that do not fit; "
            "'declare' writes a draft.",
            show_default=False,
        ),
    ] = None
    columns: Annotated[
        str | None,
        data_option(
            metavar="A,B,C",
            help="Columns to use, in this order; without it, those of --declaration, or of --bounds and --categories.",
        ),
    ] = None
    bounds: Annotated[
        list[str] | None,
        data_option(
            metavar="COLUMN=LOW:HIGH",
            help="Public bounds of a column of numbers, such as R=0:255; LOW:HIGH alone holds "
            "for every column that has none of its own. Repeat it for each column.",
        ),
    ] = None
    categories: Annotated[
        list[str] | None,
        data_option(metavar="COLUMN=A,B,C", help="Public list of a column's categories, such as city=Bern,Basel."),
    ] = None
    vector: Annotated[
        list[str] | None,
        data_option(
            metavar="COLUMN=LENGTH", help="A column that holds lists of LENGTH numbers, all between its --bounds."
        ),
    ] = None
    items: Annotated[
        str | None,
        sets_option(
            metavar="COLUMN",
            help="A record is a set of items, in a column of lists; no other columns are used.",
            show_default=False,
        ),
    ] = None
    gathered: Annotated[
        bool,
        sets_option(
            "--gathered",
            help="Every row holds one item in --items, and all rows of one value of the --unit column are "
            "one set, such as the edges of a graph.",
        ),
    ] = False
    separator: Annotated[
        str | None,
        sets_option(
            metavar="TEXT", help="Cut the texts in --items into items at TEXT, such as ';'.", show_default=False
        ),
    ] = None
    bounds_from_sample: Annotated[
        Path | None,
        data_option(
            metavar="FILE",
            help="A public file with the same columns: its ranges and categories fill what was not given. "
            "Never use the private file.",
        ),
    ] = None
    unit: Annotated[
        str | None,
        data_option(
            metavar="COLUMN:RECORDS",
            help="Protect the person that COLUMN names and keep at most RECORDS of each person's "
            "records, chosen at random; without it, one record is protected.",
        ),
    ] = None
    outside: Annotated[
        Literal["clamp", "drop"],
        data_option(help="Values outside the bounds are moved to the nearest bound, or their records are left out."),
    ] = "clamp"
    missing: Annotated[
        Literal["drop", "refuse", "category"],
        data_option(
            help="Records that miss a value are left out, or stop the command, or the value counts as a category of "
            "its own where a column can have one."
        ),
    ] = "drop"
    unknown: Annotated[
        Literal["rule", "category"],
        data_option(
            help="Values that are not on the list of their column's categories are missing ones (rule), or count as a "
            "category of their own, other."
        ),
    ] = "rule"
    scale: Annotated[
        Literal["none", "box"] | None,
        data_option(
            help="Compare columns in their own units (none, as it is without it), or each as a share of its bounds.",
            show_default=False,
        ),
    ] = None
    category_distance: Annotated[float, data_option(help="Distance between two different categories of a column.")] = (
        1.0
    )


@dataclass(frozen=True)
class GuessOptions:
    """What is guessed about the data from public knowledge; it moves rows and forecasts, never the promise."""

    records: Annotated[
        float | None,
        guess_option(
            metavar="NUMBER",
            help="How many records there are at least, from public knowledge; forecasts need it, and a release "
            "without it buys a count with a share of its budget first.",
        ),
    ] = None
    density: Annotated[
        float | None,
        guess_option(
            metavar="SHARE",
            help="Average closeness of two records, between 0 and 1; without it, records spread "
            "over a sixth of the bounds, in several ways.",
        ),
    ] = None
    set_size: Annotated[
        float | None,
        guess_option(
            metavar="ITEMS",
            help="About how many items a set has on average; 4, 12 and 36 are tried without it.",
            show_default=False,
        ),
    ] = None
    spread: Annotated[
        float | None,
        guess_option(
            metavar="SHARE",
            help="How far records lie from the middle of them all in a typical column, as a share of its bounds: a "
            "standard deviation. It decides the bandwidth where that is left out and there are more than three "
            "columns; a release without it buys it with 2 to 5% of epsilon.",
            show_default=False,
        ),
    ] = None
    sample: Annotated[
        Path | None,
        guess_option(
            metavar="FILE",
            help="A public table that lies as the private one is thought to, at least 200 records; sharpens the "
            "forecast.",
            show_default=False,
        ),
    ] = None

    def public_sample(self, domain: Domain) -> pa.Table | None:
        """What the public sample says of the domain's columns, in a random order."""
        from .asked_release import shuffled

        return None if self.sample is None else shuffled(self.sample, domain)
