"""Options of a sketch: the mechanism, what closeness or distance means to it, how it counts, and how large it is."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from typer import Option

from ..sketches.registry import command_names
from .shared_options import sets_option

sketch_option = partial(Option, rich_help_panel="The sketch")
closeness_option = partial(Option, rich_help_panel="Closeness")
distance_option = partial(Option, rich_help_panel="Distance")
size_option = partial(Option, rich_help_panel="Size and seed")
classes_option = partial(Option, rich_help_panel="One table a class")
reduction_option = partial(Option, rich_help_panel="Many dimensions")
tables_option = partial(Option, rich_help_panel="Tables of counts")


@dataclass(frozen=True)
class ReductionOptions:
    """What is done first where there are many dimensions, such as embeddings."""

    project: Annotated[
        int | None,
        reduction_option(
            metavar="DIMENSIONS",
            help="Project records and queries at random to so many dimensions first; for kernels of "
            "the straight-line distance or the angle.",
        ),
    ] = None
    projection: Annotated[
        Literal["fast", "gaussian", "orthogonal"], reduction_option(help="The kind of random projection.")
    ] = "fast"
    radius: Annotated[
        float | None,
        reduction_option(
            metavar="LENGTH",
            help="Move records that are farther than this from the middle of the bounds towards it; less "
            "noise is needed then.",
        ),
    ] = None


@dataclass(frozen=True)
class ClassOptions:
    """Which column says the class of a record, where each class gets a table of its own."""

    label: Annotated[
        str | None,
        classes_option(
            metavar="COLUMN",
            help="The column that says the class of a record: each class gets a table of its own, under one promise.",
        ),
    ] = None
    classes: Annotated[str | None, classes_option(metavar="A,B,C", help="The public list of classes.")] = None


@dataclass(frozen=True)
class SizeOptions:
    """How large the table is, and its public random numbers."""

    rows: Annotated[
        int | None, size_option(help="Rows of the table; without it, the forecast chooses from the public guesses.")
    ] = None
    width: Annotated[
        int | None,
        size_option(help="Most columns of a race table (1,000 without it) or columns of a minhash table (10,000)."),
    ] = None
    size: Annotated[
        int | None,
        size_option(
            help="Bins of every number, of tables; or how fine a rival from a paper is: its terms, lattice points, "
            "cells, synthetic points or rounds. Public facts choose without it."
        ),
    ] = None
    groups: Annotated[
        int | None,
        size_option(help="Independent groups of rows, from whose spread intervals are made; 4 to 10 by default."),
    ] = None
    seed: Annotated[
        str | None,
        size_option(
            metavar="SEED",
            help="Public seed of hashes, frequencies and projections; fresh without it. It has nothing to "
            "do with the noise.",
        ),
    ] = None


@dataclass(frozen=True)
class SetOptions:
    """How sets are hashed."""

    scheme: Annotated[
        Literal["classic", "one-permutation"],
        sets_option(help="classic, or one-permutation, which is faster where sets have hundreds of items."),
    ] = "classic"
    longest: Annotated[
        int | None,
        sets_option(
            metavar="ITEMS", help="Keep at most so many different items of a set, chosen by public random numbers."
        ),
    ] = None


@dataclass(frozen=True)
class TableOptions:
    """Which columns are counted together."""

    tables: Annotated[
        str | None,
        tables_option(
            metavar="singles|pairs|chosen|A,B;C",
            help="The tables that are counted: of single columns, of all pairs (so without it), or of the named "
            "columns, such as 'age,city,sex;age,pay'. Their margins are known too. Where there are too few people for "
            "all pairs, 'chosen' spends a tenth of the budget on choosing those that hang together most. Under a pure "
            "promise that is usual, and asks the records how many.",
        ),
    ] = None
    by: Annotated[
        str | None,
        tables_option(
            metavar="COLUMN,…",
            help="Columns to count the others by: of all pairs, only those with one of them. Fewer pairs have less "
            "noise; without it, those of few cells and of the first columns are counted, as far as noise lets them be "
            "seen.",
        ),
    ] = None
    halvings: Annotated[
        int | None,
        tables_option(
            metavar="TIMES",
            help="How often the bins of a number are halved in its own table, for ranges and quantiles.",
        ),
    ] = None
    cut_for: Annotated[
        Literal["questions", "samples"] | None,
        tables_option(
            help="What numbers are cut for where no --size says how finely: questions, or samples, where records will "
            "be drawn and models trained on them, which need fewer cells."
        ),
    ] = None


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
        closeness_option(
            help="What closeness means: euclidean without --mechanism or with race, jaccard for sets, gaussian "
            "otherwise."
        ),
    ] = None
    bandwidth: Annotated[
        str | None,
        closeness_option(
            metavar="NUMBER",
            help="The distance at which closeness fades: one number, or one a column, such as "
            "R=5,G=5,B=10. With --scale box it is a share of the bounds. It may be left out with --mechanism auto and "
            "the gaussian kernel.",
        ),
    ] = None
    power: Annotated[int, closeness_option(help="Raise the kernel to this power.")] = 1


@dataclass(frozen=True)
class NormOptions:
    """What distance means."""

    norm: Annotated[
        str | None,
        distance_option(
            metavar="NORM",
            help="Release sums of distances instead of closeness: l1 (differences of all columns added "
            "up), l2 (straight lines), squared (their squares), lp:P (P-th powers, such as lp:1.5), capped:C (nobody "
            "counts more than C a column), above or below (how far records lie on that side).",
        ),
    ] = None


@dataclass(frozen=True)
class SketchOptions(TableOptions, SetOptions, SizeOptions, ClassOptions, ReductionOptions, NormOptions, KernelOptions):
    """The public map from records to counters; fields of the last base come first."""

    mechanism: Annotated[
        str | None,
        sketch_option(
            parser=known_mechanism,
            metavar=f"<{'|'.join(mechanisms())}>",
            help="What kind of table is released: race (rows of hashed counters), minhash (the same of sets), features "
            "(random waves), histogram (a grid; best in one to three columns), distance (with --norm), directions "
            "(cosines), tables (counts of columns taken together), or auto, the one with the least forecast error. "
            "Without it: race, or features where the "
            "kernel is not one of race, minhash for sets, distance with --norm, or the one that another option belongs "
            "to alone, such as tables with --tables. The others are rivals from papers, to compare "
            "with: docs/rivals.md says what each is.",
        ),
    ] = None
    part: Annotated[
        list[str] | None,
        sketch_option(
            metavar="[NAME=]WHAT[:COLUMNS]",
            help="One of several questions under one promise: density:age,pay, distance:pay, or a mechanism, with "
            "options of its own after ';' such as 'pay by sex=density:pay;label=sex;weight=2'. Repeat it for each. The "
            "forecast shares the budget so that noise blurs all of them alike, by weight.",
        ),
    ] = None
    like: Annotated[
        Path | None,
        sketch_option(
            metavar="FILE",
            help="Take everything public from a release file, seeds included, so that both can be merged.",
        ),
    ] = None
