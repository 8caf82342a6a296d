"""`line`: released densities or distances along one column."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from .output import check_table, write_table
from .reading import (
    AtOption,
    BandwidthOption,
    ClassOption,
    LevelOption,
    PartOption,
    ReleaseArgument,
    TableOption,
    answer_columns,
    opened,
    read_places,
)


def line(
    release: ReleaseArgument,
    column: Annotated[str, Argument(metavar="COLUMN", help="A column of numbers or categories.", show_default=False)],
    at: AtOption = None,
    points: Annotated[
        int | None,
        Option(
            help="Places along a column of numbers; without it 200, or more where the kernel is narrow.",
            show_default=False,
        ),
    ] = None,
    level: LevelOption = 0.95,
    of_class: ClassOption = None,
    part: PartOption = None,
    bandwidth: BandwidthOption = None,
    out: TableOption = None,
) -> None:
    """Follow density or distance along one column; columns that --at does not hold are averaged over their bounds."""
    import pyarrow as pa

    from ..sources.public_tables import beside
    from ..tasks.box import places_along
    from ..tasks.density import marginal_line
    from ..tasks.differences import POINTS

    check_table(out)
    asked = opened(release, of_class, part, bandwidth)
    points = places_along(asked.sketch, column, POINTS) if points is None else points
    curve = marginal_line(asked, column, read_places(at, asked.domain), points, level)
    places = pa.table({column: pa.array(curve.values)})
    write_table(beside(places, answer_columns(asked, curve)), out)
