"""The options that several commands share: what is declared about the data, what is promised, and who pays.

Each group is a frozen dataclass; `grouped` turns its fields into options, and its methods turn what was typed into the
values of the library. Nothing heavy is imported before a method is called, so that help appears at once.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Option

from ..errors import RequestError
from ..sketches.registry import command_names
from . import notation

if TYPE_CHECKING:
    import pyarrow as pa
    from _typeshed import DataclassInstance

    from ..domain import Domain
    from ..privacy.budget import Budget
    from ..privacy.ledger.ledger import Ledger
    from ..releases.bounded import BoundsPurchase

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
        Literal["drop", "refuse"],
        Option(
            help="Records that miss a value are left out, or stop the command.",
            rich_help_panel=DATA,
        ),
    ] = "drop"
    scale: Annotated[
        Literal["none", "box"] | None,
        Option(
            help="Compare columns in their own units (none, as it is without it), or each as a share of its bounds.",
            rich_help_panel=DATA,
            show_default=False,
        ),
    ] = None
    category_distance: Annotated[
        float,
        Option(
            help="Distance between two different categories of a column.",
            rich_help_panel=DATA,
        ),
    ] = 1.0


def mechanisms() -> tuple[str, ...]:
    """What may be named as a mechanism; none of them is loaded for it."""
    return ("auto", *command_names())


def known_mechanism(name: str) -> str:
    """The name itself; ValueError, of which Typer makes a sentence, where it is not a mechanism's."""
    if name not in mechanisms():
        raise ValueError(f"{name!r} is not one of {', '.join(map(repr, mechanisms()))}")
    return name


KernelName = Literal[
    "euclidean",
    "manhattan",
    "angular",
    "laplacian",
    "gaussian",
    "exponential",
    "smooth",
    "smooth-squared",
    "smooth-l1",
    "jaccard",
]


@dataclass(frozen=True)
class KernelOptions:
    """What closeness means."""

    kernel: Annotated[
        KernelName | None,
        Option(
            help="What closeness means: euclidean without --mechanism or with race, jaccard for sets, gaussian "
            "otherwise.",
            rich_help_panel=CLOSENESS,
            show_default=False,
        ),
    ] = None
    bandwidth: Annotated[
        str | None,
        Option(
            metavar="NUMBER",
            help="The distance at which closeness fades: one number, or one a column, such as "
            "R=5,G=5,B=10. With --scale box it is a share of the bounds.",
            rich_help_panel=CLOSENESS,
        ),
    ] = None
    power: Annotated[int, Option(help="Raise the kernel to this power.", rich_help_panel=CLOSENESS)] = 1


@dataclass(frozen=True)
class NormOptions:
    """What distance means."""

    norm: Annotated[
        str | None,
        Option(
            metavar="NORM",
            help="Release sums of distances instead of closeness: l1 (differences of all columns added "
            "up), l2 (straight lines), squared (their squares), lp:P (P-th powers, such as lp:1.5), capped:C (nobody "
            "counts more than C a column), above or below (how far records lie on that side).",
            rich_help_panel=DISTANCE,
        ),
    ] = None


@dataclass(frozen=True)
class ReductionOptions:
    """What is done first where there are many dimensions, such as embeddings."""

    project: Annotated[
        int | None,
        Option(
            metavar="DIMENSIONS",
            help="Project records and queries at random to so many dimensions first; for kernels of "
            "the straight-line distance or the angle.",
            rich_help_panel=REDUCTION,
            show_default=False,
        ),
    ] = None
    projection: Annotated[
        Literal["fast", "gaussian", "orthogonal"],
        Option(
            help="The kind of random projection.",
            rich_help_panel=REDUCTION,
        ),
    ] = "fast"
    radius: Annotated[
        float | None,
        Option(
            metavar="LENGTH",
            help="Move records that are farther than this from the middle of the bounds towards it; less "
            "noise is needed then.",
            rich_help_panel=REDUCTION,
            show_default=False,
        ),
    ] = None


@dataclass(frozen=True)
class ClassOptions:
    """Which column says the class of a record, where each class gets a table of its own."""

    label: Annotated[
        str | None,
        Option(
            metavar="COLUMN",
            help="The column that says the class of a record: each class gets a table of its own, under one promise.",
            rich_help_panel=CLASSES,
        ),
    ] = None
    classes: Annotated[
        str | None,
        Option(
            metavar="A,B,C",
            help="The public list of classes.",
            rich_help_panel=CLASSES,
        ),
    ] = None


@dataclass(frozen=True)
class SizeOptions:
    """How large the table is, and its public random numbers."""

    rows: Annotated[
        int | None,
        Option(
            help="Rows of the table; without it, the forecast chooses from the public guesses.",
            rich_help_panel=SIZE,
            show_default=False,
        ),
    ] = None
    width: Annotated[
        int | None,
        Option(
            help="Most columns of a race table (1,000 without it) or columns of a minhash table (10,000).",
            rich_help_panel=SIZE,
            show_default=False,
        ),
    ] = None
    size: Annotated[
        int | None,
        Option(
            help="Bins of every number, of tables; or how fine a rival from a paper is: its terms, lattice points, "
            "cells, synthetic points or rounds. Public facts choose without it.",
            rich_help_panel=SIZE,
            show_default=False,
        ),
    ] = None
    groups: Annotated[
        int | None,
        Option(
            help="Independent groups of rows, from whose spread intervals are made; 4 to 10 by default.",
            rich_help_panel=SIZE,
            show_default=False,
        ),
    ] = None
    seed: Annotated[
        str | None,
        Option(
            metavar="SEED",
            help="Public seed of hashes, frequencies and projections; fresh without it. It has nothing to "
            "do with the noise.",
            rich_help_panel=SIZE,
        ),
    ] = None


@dataclass(frozen=True)
class SetOptions:
    """How sets are hashed."""

    scheme: Annotated[
        Literal["classic", "one-permutation"],
        Option(
            help="classic, or one-permutation, which is faster where sets have hundreds of items.",
            rich_help_panel=SETS,
        ),
    ] = "classic"
    longest: Annotated[
        int | None,
        Option(
            metavar="ITEMS",
            help="Keep at most so many different items of a set, chosen by public random numbers.",
            rich_help_panel=SETS,
            show_default=False,
        ),
    ] = None


@dataclass(frozen=True)
class TableOptions:
    """Which columns are counted together."""

    tables: Annotated[
        str | None,
        Option(
            metavar="singles|pairs|A,B;C",
            help="The tables that are counted: of single columns, of all pairs (so without it), or of the named "
            "columns, such as 'age,city,sex;age,pay'. Their margins are known too.",
            rich_help_panel=TABLES,
            show_default=False,
        ),
    ] = None
    halvings: Annotated[
        int | None,
        Option(
            metavar="TIMES",
            help="How often the bins of a number are halved in its own table, for ranges and quantiles.",
            rich_help_panel=TABLES,
            show_default=False,
        ),
    ] = None


@dataclass(frozen=True)
class SketchOptions(TableOptions, SetOptions, SizeOptions, ClassOptions, ReductionOptions, NormOptions, KernelOptions):
    """The public map from records to counters; fields of the last base come first."""

    mechanism: Annotated[
        str | None,
        Option(
            parser=known_mechanism,
            metavar=f"<{'|'.join(mechanisms())}>",
            help="What kind of table is released: race (rows of hashed counters), minhash (the same of sets), features "
            "(random waves), histogram (a grid; best in one to three columns), distance (with --norm), directions "
            "(cosines), tables (counts of columns taken together), or auto, the one with the least forecast error. "
            "Without it: race, or features where the "
            "kernel is "
            "not one of race, minhash for sets, or distance with --norm. The others are rivals from papers, to compare "
            "with: docs/rivals.md says what each is.",
            rich_help_panel=SKETCH,
            show_default=False,
        ),
    ] = None
    part: Annotated[
        list[str] | None,
        Option(
            metavar="[NAME=]WHAT[:COLUMNS]",
            help="One of several questions under one promise: density:age,pay, distance:pay, or a mechanism, with "
            "options of its own after ';' such as 'pay by sex=density:pay;label=sex;weight=2'. Repeat it for each. The "
            "forecast shares the budget so that noise blurs all of them alike, by weight.",
            rich_help_panel=SKETCH,
            show_default=False,
        ),
    ] = None
    like: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="Take everything public from a release file, seeds included, so that both can be merged.",
            rich_help_panel=SKETCH,
        ),
    ] = None


@dataclass(frozen=True)
class BoundsOptions:
    """Bounds that nobody knows, bought with a share of the budget."""

    private_bounds: Annotated[
        list[str] | None,
        Option(
            metavar="COLUMN=LOW:HIGH",
            help="Buy the bounds of a column, between which most records lie, within a range "
            "that is beyond doubt, such as pay=0:1e7.",
            rich_help_panel=PROMISE,
        ),
    ] = None
    bounds_share: Annotated[
        str,
        Option(
            metavar="SHARE",
            help="Part of epsilon that pays for all --private-bounds together.",
            rich_help_panel=PROMISE,
        ),
    ] = "0.1"

    def purchase(self) -> BoundsPurchase | None:
        """What is to be bought, if anything."""
        if not self.private_bounds:
            refuse_typed(typed(self), "no --private-bounds are to be bought")
            return None
        from ..privacy.quantiles import Grid
        from ..releases.bounded import BoundsPurchase

        grids: dict[str, Grid] = {}
        for name, low, high in map(notation.parse_bounds, self.private_bounds):
            if name is None or name in grids:
                raise RequestError("Bounds are bought column by column, each once: --private-bounds COLUMN=LOW:HIGH.")
            grids[name] = Grid(low, high, spacing="log")
        return BoundsPurchase(grids, self.bounds_share)


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
        from .reading import shuffled

        return None if self.sample is None else shuffled(self.sample, domain)


@dataclass(frozen=True)
class PromiseOptions:
    """How much privacy each person keeps."""

    epsilon: Annotated[
        str,
        Option(
            metavar="NUMBER",
            help="Privacy loss, above 0 and at most 100, counted exactly as written.",
            rich_help_panel=PROMISE,
        ),
    ]
    delta: Annotated[
        str,
        Option(
            metavar="NUMBER",
            help="Probability with which the promise may fail; 0 is a pure promise.",
            rich_help_panel=PROMISE,
        ),
    ] = "0"
    neighbours: Annotated[
        Literal["add_remove", "replace_one"] | None,
        Option(
            help="Hide whether someone is in the data at all (add_remove, the default), or what their records say "
            "(replace_one).",
            rich_help_panel=PROMISE,
            show_default=False,
        ),
    ] = None

    def budget(self, otherwise: str = "add_remove") -> Budget:
        """The promise, with a relation of neighbours for when none was typed."""
        from ..privacy.budget import Budget

        return Budget(self.epsilon, self.delta, self.neighbours or otherwise)


@dataclass(frozen=True)
class LedgerOptions:
    """Where spent budgets are written down."""

    ledger: Annotated[
        str | None,
        Option(
            metavar="FILE-or-URL",
            envvar="FROSTGLASS_LEDGER",
            help="The privacy ledger: a file or postgresql://HOST/NAME; without it, a file in your data folder.",
            rich_help_panel=PAYER,
            show_default=False,
        ),
    ] = None

    def open(self) -> Ledger:
        """The ledger; it is created where there is none."""
        from ..privacy.ledger.ledger import Ledger

        return Ledger(self.ledger or None)


def typed(group: DataclassInstance) -> list[str]:
    """Names of the options of a group that differ from their defaults, as they are typed."""
    return [
        f"--{field.name.replace('_', '-')}" for field in fields(group) if getattr(group, field.name) != field.default
    ]


def refuse_typed(options: list[str], why: str) -> None:
    """Refuse options that contradict another one."""
    if options:
        raise RequestError(f"{options[0]} cannot be given here, as {why}.")
