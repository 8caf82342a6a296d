"""`recommend`: which mechanism suits a question, before anything is spent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Option

from ..words.numbers import size
from .declaring import declared_domain, evenly_compared, warn_of_wide_column
from .grouped import grouped
from .mechanisms import check_options, leaves_bandwidth, question, supposing
from .options.data import DataOptions
from .options.guess import GuessOptions
from .options.promise import PromiseOptions
from .options.size import ClassOptions
from .options.sketch import KernelOptions, NormOptions, SketchOptions
from .output import print_json, print_table, say

if TYPE_CHECKING:
    from ..forecast.recommendation import Recommendation


@grouped
def recommend(
    promise: PromiseOptions,
    data: DataOptions,
    kernel: KernelOptions,
    norm: NormOptions,
    classes: ClassOptions,
    guess: GuessOptions,
    radius: Annotated[
        float | None,
        Option(
            metavar="LENGTH",
            help="Records farther than this from the middle of the bounds are moved towards it.",
            show_default=False,
        ),
    ] = None,
    json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
) -> None:
    """Forecast every mechanism for a question from public facts, and list the best first: nothing is read or spent.

    With --norm the question is how far everyone is from a place, otherwise how many are close to it, by --kernel and
    --bandwidth; without a bandwidth, one to three columns of numbers are released so finely as the noise allows, and
    whoever has the file chooses it, and of more columns it is half of how far records lie apart by --spread. The first
    of the list is what --mechanism auto takes.
    """
    from ..forecast.recommendation import recommend as ranked
    from ..forecast.words import size_limit

    asked = SketchOptions(**vars(kernel), **vars(norm), **vars(classes), radius=radius, mechanism="auto")
    check_options(asked, "auto")
    domain = evenly_compared(data, declared_domain(data, classes), norm.norm, radius)
    if not leaves_bandwidth(asked, domain):
        warn_of_wide_column(data, domain, kernel.bandwidth)
    sample = guess.public_sample(domain if classes.label is None else domain.without(classes.label))
    what, how_finely = question(asked, domain, promise.budget(), supposing(asked, domain, guess))
    for sentence in how_finely:
        say(sentence)
    found = ranked(
        domain,
        guess.records,
        promise.budget(),
        what,
        label=classes.label,
        density=guess.density,
        sample=sample,
        set_size=guess.set_size,
    )
    if json:
        print_json([_facts(one) for one in found])
        return
    print_table(
        ("mechanism", "error", "relative error", "file", "time", "table"), [_row(one) for one in found if one.forecast]
    )
    for one in found:
        print(one.reason if one is found[0] else f"{one.name}: {one.reason}")
    if limit := size_limit(found[0].stopped_by):
        print(limit)


def _row(one: Recommendation) -> tuple[str, ...]:
    from ..figures.report.meaning import table

    seen = one.outlook
    return (
        one.name,
        seen.error_words,
        seen.relative_words,
        size(seen.file_bytes),
        f"{seen.seconds:,.1f} s",
        table(one.answering),
    )


def _facts(one: Recommendation) -> dict[str, object]:
    from dataclasses import asdict

    return {
        "mechanism": one.name,
        "reason": one.reason,
        "stopped_by": one.stopped_by,
        "parameters": None if one.sketch is None else one.sketch.parameters(),
        "forecast": None if one.forecast is None else asdict(one.forecast),
    }
