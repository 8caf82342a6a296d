"""`query`: what a release says at given places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

from typer import Option

from ..errors import RequestError
from .output import check_table, progress, write_table
from .reading import (
    BandwidthOption,
    ClassOption,
    LevelOption,
    PartOption,
    QueriesArgument,
    ReleaseArgument,
    TableOption,
    answer_columns,
    opened,
    read_queries,
)

if TYPE_CHECKING:
    import numpy as np

    from ..releases.release import Release
    from ..sketches.hashed.race import Race

AT_ONCE = 1 << 16
"""Queries answered between two steps of the progress bar."""


def query(
    release: ReleaseArgument,
    queries: QueriesArgument,
    out: TableOption = None,
    level: LevelOption = 0.95,
    together: Annotated[
        bool, Option("--together", help="Make intervals so long that all of them hold at once with the level.")
    ] = False,
    of_class: ClassOption = None,
    part: PartOption = None,
    bandwidth: BandwidthOption = None,
    median_of_means: Annotated[
        float | None,
        Option(
            metavar="DELTA",
            help="Add a column with the median of means (of race), for which the paper bounds the error "
            "except with probability DELTA.",
        ),
    ] = None,
) -> None:
    """Ask a release: the columns of QUERIES, and beside them the answers.

    They are estimate (a sum over all records: how many records' worth of closeness there is, or how far all of them
    are together), low and high (an interval for it), and the estimate divided by the number of records: density, or
    the mean distance. Sets may be asked as lists, as texts that are cut, or gathered from one item a row like the data;
    the answers then stand beside the id.

    The errors of all answers of one release move together: of many releases 95% cover a place, but one of them may
    cover far fewer of its places. With --together, all intervals hold at once in 95% of releases.
    """
    from ..sketches.answers import level_of_each
    from ..sources.public_tables import beside, told_apart

    check_table(out)
    asked = opened(release, of_class, part, bandwidth)
    if median_of_means is not None and asked.sketch.name != "race":
        raise RequestError("Only the mechanism race has a median of means, as it is made of rows of counters.")
    domain = asked.sketch.query_domain
    table = read_queries(queries, domain)
    points = domain.encode_queries(table, asked.sketch.metric)
    level = level_of_each(level, len(points)) if together else level
    write_table(beside(told_apart(table, domain), _answers(asked, points, level, median_of_means)), out)


def _answers(release: Release, points: np.ndarray, level: float, delta: float | None) -> dict[str, np.ndarray]:
    """The answers by name, float64 (n,) each."""
    import numpy as np

    parts: list[dict[str, np.ndarray]] = []
    with progress() as bars:
        bar = bars.add_task("Answering", total=len(points))
        for start in range(0, len(points), AT_ONCE):
            some = points[start : start + AT_ONCE]
            part = answer_columns(release, release.answer_points(some, level))
            if delta is not None:
                race = cast("Race", release.sketch)  # its name was looked at
                part["median_of_means"] = race.median_of_means(release.counters, release.records, some, delta)
            parts.append(part)
            bars.update(bar, advance=len(some))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
