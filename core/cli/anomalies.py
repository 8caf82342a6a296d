"""`anomalies`: how unusual places are."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from .output import check_table, say, write_table
from .reading import (
    BandwidthOption,
    ClassOption,
    LevelOption,
    PartOption,
    QueriesArgument,
    ReleaseArgument,
    TableOption,
    opened,
    read_queries,
)

FIGURES = ("density", "low", "high", "score", "anomalous", "certain")


def anomalies(
    release: ReleaseArgument,
    queries: QueriesArgument,
    out: TableOption = None,
    level: LevelOption = 0.95,
    threshold: Annotated[
        float | None,
        Option(
            help="A density below which places are anomalous, in place of --share.",
            show_default=False,
        ),
    ] = None,
    share: Annotated[
        float, Option(help="Share of the population whose places, the emptiest ones, are anomalous.")
    ] = 0.05,
    seed: Annotated[int, Option(help="Seed of the made-up population that places are compared with.")] = 0,
    of_class: ClassOption = None,
    part: PartOption = None,
    bandwidth: BandwidthOption = None,
) -> None:
    """Score places: the columns of QUERIES, and beside them how unusual each place is.

    They are density with its interval, score (the share of people who lie in a place at most as dense), anomalous (in
    one of the emptiest places, where --share of the people are, ordinary ones too), and certain (the whole interval
    says so). Sets are compared with the other sets of QUERIES.
    """
    from ..sources.public_tables import beside, told_apart
    from ..tasks.anomalies import score

    check_table(out)
    asked = opened(release, of_class, part, bandwidth)
    table = read_queries(queries, asked.domain)
    scores = score(asked, table, level, threshold, seed, share)
    write_table(beside(told_apart(table, asked.domain), {name: getattr(scores, name) for name in FIGURES}), out)
    say(
        f"Places whose density is below {scores.threshold:.3g} are called anomalous: {int(scores.anomalous.sum()):,} "
        f"of {len(scores.score):,}, and {int(scores.certain.sum()):,} of them for certain."
    )
