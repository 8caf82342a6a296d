"""`query`: what a release says at given places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Option

from .output import check_table, progress, write_table
from .reading import ANSWERS, LevelOption, QueriesArgument, ReleaseArgument, TableOption, read_queries

if TYPE_CHECKING:
    import numpy as np

    from ..releases import Release

AT_ONCE = 1 << 16
"""Queries answered between two steps of the progress bar."""


def query(
    release: ReleaseArgument,
    queries: QueriesArgument,
    out: TableOption = None,
    level: LevelOption = 0.95,
    median_of_means: Annotated[float | None, Option(
        metavar="DELTA", help="Add a column with the median of means, for which the paper bounds the error except with "
        "probability DELTA.",
    )] = None,
) -> None:
    """Ask a release: the columns of QUERIES, and beside them the answers.

    They are estimate (the kernel sum: how many records' worth of closeness there is), low and high (an interval for
    it), and density (the estimate divided by the number of records).
    """
    from ..release_file import load
    from ..sources.queries import beside

    check_table(out)
    opened = load(release)
    table = read_queries(queries, opened.domain)
    points = opened.domain.encode_queries(table, opened.sketch.metric)
    write_table(beside(table, _answers(opened, points, level, median_of_means)), out)


def _answers(release: Release, points: np.ndarray, level: float, delta: float | None) -> dict[str, np.ndarray]:
    """The answers by name, float64 (n,) each."""
    import numpy as np

    parts: list[dict[str, np.ndarray]] = []
    with progress() as bars:
        bar = bars.add_task("Answering", total=len(points))
        for start in range(0, len(points), AT_ONCE):
            some = points[start : start + AT_ONCE]
            answers = release.answer_points(some, level)
            part = {name: getattr(answers, name) for name in ANSWERS}
            if delta is not None:
                part["median_of_means"] = release.sketch.median_of_means(release.table, release.records, some, delta)
            parts.append(part)
            bars.update(bar, advance=len(some))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
