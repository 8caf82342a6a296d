"""What a release says of places: `query`, `line`, `grid`, `modes`, `centre` and `anomalies`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, cast

from typer import Argument, Option

from ..errors import RequestError
from .asked_release import (
    ANSWERS,
    AtOption,
    ClassOption,
    LevelOption,
    PartOption,
    QueriesArgument,
    ReleaseArgument,
    TableOption,
    WhomOptions,
    answer_columns,
    opened,
    read_places,
    read_queries,
)
from .output import check_table, progress, say, write_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from ..analysis.densest_cells import Intersection
    from ..analysis.modes import Mode
    from ..releases.release import Release
    from ..sketches.race import Race

AT_ONCE = 1 << 16  # Queries answered between two steps of the progress bar.


def query(
    release: ReleaseArgument,
    queries: QueriesArgument,
    whom: WhomOptions,
    out: TableOption = None,
    level: LevelOption = 0.95,
    together: Annotated[
        bool, Option("--together", help="Make intervals so long that all of them hold at once with the level.")
    ] = False,
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
    asked = whom.opened(release)
    if median_of_means is not None and not asked.sketch.has_cells:
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
                race = cast("Race", release.sketch)  # it has cells
                part["median_of_means"] = race.median_of_means(release.counters, release.records, some, delta)
            parts.append(part)
            bars.update(bar, advance=len(some))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def line(
    release: ReleaseArgument,
    column: Annotated[str, Argument(metavar="COLUMN", help="A column of numbers or categories.")],
    whom: WhomOptions,
    at: AtOption = None,
    points: Annotated[
        int | None, Option(help="Places along a column of numbers; without it 200, or more where the kernel is narrow.")
    ] = None,
    level: LevelOption = 0.95,
    out: TableOption = None,
) -> None:
    """Follow density or distance along one column; columns that --at does not hold are averaged over their bounds."""
    import pyarrow as pa

    from ..analysis.answerable import places_along
    from ..analysis.density import marginal_line
    from ..analysis.differences import POINTS
    from ..sources.public_tables import beside

    check_table(out)
    asked = whom.opened(release)
    points = places_along(asked.sketch, column, POINTS) if points is None else points
    curve = marginal_line(asked, column, read_places(at, asked.domain), points, level)
    places = pa.table({column: pa.array(curve.values)})
    write_table(beside(places, answer_columns(asked, curve)), out)


AXIS = "A column of numbers or categories."


def grid(
    release: ReleaseArgument,
    x: Annotated[str, Argument(metavar="X", help=AXIS)],
    y: Annotated[str, Argument(metavar="Y", help=AXIS)],
    whom: WhomOptions,
    at: AtOption = None,
    size: Annotated[int, Option(help="Cells along a column of numbers.")] = 48,
    level: LevelOption = 0.95,
    out: TableOption = None,
) -> None:
    """Map density or distance over two columns, a cell a row; columns that --at does not hold are averaged over."""
    import numpy as np
    import pyarrow as pa

    from ..analysis.density import marginal_grid
    from ..sources.public_tables import beside

    check_table(out)
    asked = whom.opened(release)
    heatmap = marginal_grid(asked, x, y, read_places(at, asked.domain), size, level)
    across = np.tile(heatmap.x_values, len(heatmap.y_values))
    up = np.repeat(heatmap.y_values, len(heatmap.x_values))
    places = pa.table({x: pa.array(across), y: pa.array(up)})
    write_table(beside(places, answer_columns(asked, heatmap)), out)


MODE_FIGURES = {
    "search": (*ANSWERS, "density", "prominence", "prominence_error", "significant"),
    "cells": (*ANSWERS, "density", "rows", "satisfied", "weight"),
}


def modes(
    release: ReleaseArgument,
    whom: WhomOptions,
    out: TableOption = None,
    method: Annotated[
        Literal["search", "cells"],
        Option(
            help="Climb the density from many places, or intersect the cells with the largest counters, which finds "
            "one "
            "mode."
        ),
    ] = "search",
    count: Annotated[int, Option(help="Most modes to list.")] = 10,
    starts: Annotated[int, Option(help="Places that the search climbs from.")] = 128,
    level: Annotated[
        float, Option(help="Probability with which no bump of noise is called significant, all modes together.")
    ] = 0.95,
) -> None:
    """List places with no denser place beside them, one a row, and whether each stands out above the noise."""
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    from ..analysis.densest_cells import intersect_partitions
    from ..analysis.modes import find_modes
    from ..figures.answer_sentences import MODES_OF_RECORDS
    from ..sources.public_tables import beside

    check_table(out)
    asked = whom.opened(release)
    found: Sequence[Mode | Intersection] = (
        find_modes(asked, count, starts, level) if method == "search" else [intersect_partitions(asked, level)]
    )
    if method == "search" and len(found) == count and all(getattr(mode, "significant", False) for mode in found):
        say(f"All {count} modes stand out from the noise, so there may be more: ask for them with --count.")
    if whom.population:
        say(MODES_OF_RECORDS)
    places = pd.DataFrame([mode.position for mode in found], columns=list(asked.domain.names))
    figures = {name: np.array([getattr(mode, name) for mode in found]) for name in MODE_FIGURES[method]}
    write_table(beside(pa.Table.from_pandas(places, preserve_index=False), figures), out)


CENTRE_FIGURES = ("share", "mean", "mean_low", "mean_high")


def centre(
    release: ReleaseArgument,
    points: Annotated[
        int,
        Option(
            "--points",
            "-n",
            help="How many centres; more than one needs a release of L1 distances of one column, or of closeness.",
        ),
    ] = 1,
    level: Annotated[float, Option("--level", help="Probability with which an interval holds what it is for.")] = 0.95,
    seed: Annotated[int, Option(help="Seed of the synthetic population that closeness is turned into.")] = 0,
    of_class: ClassOption = None,
    part: PartOption = None,
    out: TableOption = None,
) -> None:
    """Find the median or mean of a release, a centre a row, and how far noise may have moved it.

    Beside each column of numbers stand the ends of an interval for it; then the share of records that are nearest to
    the centre, and their mean distance from it with its interval.
    """
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    from ..analysis.centres import described, find_centres
    from ..sources.public_tables import beside

    check_table(out)
    asked = opened(release, of_class, part)
    found = find_centres(asked, points, level, seed)
    places: dict[str, list] = {}
    for name in asked.domain.names:
        places[name] = [one.position[name] for one in found]
        if name in found[0].low:
            places |= {f"{name}_{end}": [getattr(one, end)[name] for one in found] for end in ("low", "high")}
    figures = {name: np.array([getattr(one, name) for one in found]) for name in CENTRE_FIGURES}
    known = {name: values for name, values in figures.items() if not np.isnan(values).any()}
    write_table(beside(pa.Table.from_pandas(pd.DataFrame(places), preserve_index=False), known), out)
    say(described(asked, points))
    if points == 1 and asked.sketch.answers != "closeness" and asked.sketch.distance_norm == "l1":
        say("Medians bought by themselves, by `quantiles`, are several times sharper for the same budget.")


ANOMALY_FIGURES = ("density", "low", "high", "score", "anomalous", "certain")


def anomalies(
    release: ReleaseArgument,
    queries: QueriesArgument,
    whom: WhomOptions,
    out: TableOption = None,
    level: LevelOption = 0.95,
    threshold: Annotated[
        float | None, Option(help="A density below which places are anomalous, in place of --share.")
    ] = None,
    share: Annotated[
        float, Option(help="Share of the population whose places, the emptiest ones, are anomalous.")
    ] = 0.05,
    seed: Annotated[int, Option(help="Seed of the made-up population that places are compared with.")] = 0,
) -> None:
    """Score places: the columns of QUERIES, and beside them how unusual each place is.

    They are density with its interval, score (the share of people who lie in a place at most as dense), anomalous (in
    one of the emptiest places, where --share of the people are, ordinary ones too), and certain (the whole interval
    says so). Sets are compared with the other sets of QUERIES.
    """
    from ..analysis.anomalies import score
    from ..sources.public_tables import beside, told_apart

    check_table(out)
    asked = whom.opened(release)
    table = read_queries(queries, asked.domain)
    scores = score(asked, table, level, threshold, seed, share)
    write_table(beside(told_apart(table, asked.domain), {name: getattr(scores, name) for name in ANOMALY_FIGURES}), out)
    say(
        f"Places whose density is below {scores.threshold:.3g} are called anomalous: {int(scores.anomalous.sum()):,} "
        f"of {len(scores.score):,}, and {int(scores.certain.sum()):,} of them for certain."
    )
