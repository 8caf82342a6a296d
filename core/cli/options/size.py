"""How records are reduced, grouped, hashed and counted: the sketch's size and what it is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from typer import Option

from .panels import CLASSES, REDUCTION, SETS, SIZE, TABLES


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
            metavar="singles|pairs|chosen|A,B;C",
            help="The tables that are counted: of single columns, of all pairs (so without it), or of the named "
            "columns, such as 'age,city,sex;age,pay'. Their margins are known too. Where there are too few people for "
            "all pairs, 'chosen' spends a tenth of the budget on choosing those that hang together most; it needs a "
            "--delta.",
            rich_help_panel=TABLES,
            show_default=False,
        ),
    ] = None
    by: Annotated[
        str | None,
        Option(
            metavar="COLUMN,…",
            help="Columns to count the others by: of all pairs, only those with one of them. Fewer pairs have less "
            "noise; without it, those of few cells and of the first columns are counted, as far as noise lets them be "
            "seen.",
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
