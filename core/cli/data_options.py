"""Options that several commands share: what is publicly known about the columns, and what is guessed of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Option

if TYPE_CHECKING:
    import pyarrow as pa

    from ..domain import Domain

DATA, SKETCH, PROMISE, GUESS, PAYER = "The data, in public", "The sketch", "The promise", "Public guesses", "The budget"
CLOSENESS, DISTANCE, SIZE = "Closeness", "Distance", "Size and seed"
CLASSES, REDUCTION, SETS = "One table a class", "Many dimensions", "Sets"
TABLES = "Tables of counts"


@dataclass(frozen=True)
class DataOptions:
    """What is publicly known about the columns, and who one person is."""

    declaration: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="A YAML file that declares the columns, who one person is, and the rules for records that do not fit; "
            "'declare' writes a draft.",
            rich_help_panel=DATA,
            show_default=False,
        ),
    ] = None
    columns: Annotated[
        str | None,
        Option(
            metavar="A,B,C",
            help="Columns to use, in this order; without it, those of --declaration, or of --bounds and --categories.",
            rich_help_panel=DATA,
        ),
    ] = None
    bounds: Annotated[
        list[str] | None,
        Option(
            metavar="COLUMN=LOW:HIGH",
            help="Public bounds of a column of numbers, such as R=0:255; LOW:HIGH alone holds "
            "for every column that has none of its own. Repeat it for each column.",
            rich_help_panel=DATA,
        ),
    ] = None
    categories: Annotated[
        list[str] | None,
        Option(
            metavar="COLUMN=A,B,C",
            help="Public list of a column's categories, such as city=Bern,Basel.",
            rich_help_panel=DATA,
        ),
    ] = None
    vector: Annotated[
        list[str] | None,
        Option(
            metavar="COLUMN=LENGTH",
            help="A column that holds lists of LENGTH numbers, all between its --bounds.",
            rich_help_panel=DATA,
        ),
    ] = None
    items: Annotated[
        str | None,
        Option(
            metavar="COLUMN",
            help="A record is a set of items, in a column of lists; no other columns are used.",
            rich_help_panel=SETS,
            show_default=False,
        ),
    ] = None
    gathered: Annotated[
        bool,
        Option(
            "--gathered",
            help="Every row holds one item in --items, and all rows of one value of the --unit column are "
            "one set, such as the edges of a graph.",
            rich_help_panel=SETS,
        ),
    ] = False
    separator: Annotated[
        str | None,
        Option(
            metavar="TEXT",
            help="Cut the texts in --items into items at TEXT, such as ';'.",
            rich_help_panel=SETS,
            show_default=False,
        ),
    ] = None
    bounds_from_sample: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="A public file with the same columns: its ranges and categories fill what was not given. "
            "Never use the private file.",
            rich_help_panel=DATA,
        ),
    ] = None
    unit: Annotated[
        str | None,
        Option(
            metavar="COLUMN:RECORDS",
            help="Protect the person that COLUMN names and keep at most RECORDS of each person's "
            "records, chosen at random; without it, one record is protected.",
            rich_help_panel=DATA,
        ),
    ] = None
    outside: Annotated[
        Literal["clamp", "drop"],
        Option(
            help="Values outside the bounds are moved to the nearest bound, or their records are left out.",
            rich_help_panel=DATA,
        ),
    ] = "clamp"
    missing: Annotated[
        Literal["drop", "refuse", "category"],
        Option(
            help="Records that miss a value are left out, or stop the command, or the value counts as a category of "
            "its own where a column can have one.",
            rich_help_panel=DATA,
        ),
    ] = "drop"
    unknown: Annotated[
        Literal["rule", "category"],
        Option(
            help="Values that are not on the list of their column's categories are missing ones (rule), or count as a "
            "category of their own, other.",
            rich_help_panel=DATA,
        ),
    ] = "rule"
    scale: Annotated[
        Literal["none", "box"] | None,
        Option(
            help="Compare columns in their own units (none, as it is without it), or each as a share of its bounds.",
            rich_help_panel=DATA,
            show_default=False,
        ),
    ] = None
    category_distance: Annotated[
        float, Option(help="Distance between two different categories of a column.", rich_help_panel=DATA)
    ] = 1.0


@dataclass(frozen=True)
class GuessOptions:
    """What is guessed about the data from public knowledge; it moves rows and forecasts, never the promise."""

    records: Annotated[
        float | None,
        Option(
            metavar="NUMBER",
            help="How many records there are at least, from public knowledge; forecasts need it, and a release "
            "without it buys a count with a share of its budget first.",
            rich_help_panel=GUESS,
        ),
    ] = None
    density: Annotated[
        float | None,
        Option(
            metavar="SHARE",
            help="Average closeness of two records, between 0 and 1; without it, records spread "
            "over a sixth of the bounds, in several ways.",
            rich_help_panel=GUESS,
        ),
    ] = None
    set_size: Annotated[
        float | None,
        Option(
            metavar="ITEMS",
            help="About how many items a set has on average; 4, 12 and 36 are tried without it.",
            rich_help_panel=GUESS,
            show_default=False,
        ),
    ] = None
    spread: Annotated[
        float | None,
        Option(
            metavar="SHARE",
            help="How far records lie from the middle of them all in a typical column, as a share of its bounds: a "
            "standard deviation. It decides the bandwidth where that is left out and there are more than three "
            "columns; a release without it buys it with 2 to 5% of epsilon.",
            rich_help_panel=GUESS,
            show_default=False,
        ),
    ] = None
    sample: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="A public table that lies as the private one is thought to, at least 200 records; sharpens the "
            "forecast.",
            rich_help_panel=GUESS,
            show_default=False,
        ),
    ] = None

    def public_sample(self, domain: Domain) -> pa.Table | None:
        """What the public sample says of the domain's columns, in a random order."""
        from .asked_release import shuffled

        return None if self.sample is None else shuffled(self.sample, domain)
