"""`grid`: released densities or distances over two columns."""

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

AXIS = "A column of numbers or categories."


def grid(
    release: ReleaseArgument,
    x: Annotated[str, Argument(metavar="X", help=AXIS, show_default=False)],
    y: Annotated[str, Argument(metavar="Y", help=AXIS, show_default=False)],
    at: AtOption = None,
    size: Annotated[int, Option(help="Cells along a column of numbers.")] = 48,
    level: LevelOption = 0.95,
    of_class: ClassOption = None,
    part: PartOption = None,
    bandwidth: BandwidthOption = None,
    out: TableOption = None,
) -> None:
    """Map density or distance over two columns, a cell a row; columns that --at does not hold are averaged over."""
    import numpy as np
    import pyarrow as pa

    from ..sources.public_tables import beside
    from ..tasks.density import marginal_grid

    check_table(out)
    asked = opened(release, of_class, part, bandwidth)
    heatmap = marginal_grid(asked, x, y, read_places(at, asked.domain), size, level)
    across = np.tile(heatmap.x_values, len(heatmap.y_values))
    up = np.repeat(heatmap.y_values, len(heatmap.x_values))
    places = pa.table({x: pa.array(across), y: pa.array(up)})
    write_table(beside(places, answer_columns(asked, heatmap)), out)
