"""Which sketch is released: the mechanism, what closeness or distance means to it, and how large it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from typer import Option

from ...sketches.registry import command_names
from .panels import CLOSENESS, DISTANCE, SKETCH
from .size import ClassOptions, ReductionOptions, SetOptions, SizeOptions, TableOptions


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
            "R=5,G=5,B=10. With --scale box it is a share of the bounds. It may be left out with --mechanism auto and "
            "the gaussian kernel.",
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
            "kernel is not one of race, minhash for sets, distance with --norm, or the one that another option belongs "
            "to alone, such as tables with --tables. The others are rivals from papers, to compare "
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
