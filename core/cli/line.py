"""`line`: a released density along one column."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from .output import check_table, write_table
from .reading import ANSWERS, AtOption, LevelOption, ReleaseArgument, TableOption, read_places


def line(
    release: ReleaseArgument,
    column: Annotated[str, Argument(metavar="COLUMN", help="A column of numbers or categories.", show_default=False)],
    at: AtOption = None,
    points: Annotated[int, Option(help="Places along a column of numbers.")] = 200,
    level: LevelOption = 0.95,
    out: TableOption = None,
) -> None:
    """Follow the density along one column; columns that --at does not hold are averaged over their bounds."""
    import pyarrow as pa

    from ..release_file import load
    from ..sources.queries import beside
    from ..tasks.density import marginal_line

    check_table(out)
    opened = load(release)
    curve = marginal_line(opened, column, read_places(at, opened.domain), points, level)
    places = pa.table({column: pa.array(curve.values)})
    write_table(beside(places, {name: getattr(curve, name) for name in ANSWERS}), out)
