"""`compare`: what two releases differ by."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from typer import Argument, Option

from ..errors import RequestError
from .output import check_table, write_table
from .reading import (
    AtOption,
    BandwidthOption,
    ClassOption,
    LevelOption,
    PartOption,
    ReleaseArgument,
    TableOption,
    opened,
    read_places,
    read_queries,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from ..releases.comparison import Comparison


def compare(
    first: ReleaseArgument,
    second: Annotated[Path, Argument(metavar="RELEASE", help="Another release file.", show_default=False)],
    columns: Annotated[
        str,
        Argument(
            metavar="COLUMNS",
            help="One or two columns to compare along, such as age or age,pay; of tables, those whose cells are "
            "compared. With --queries, none.",
        ),
    ] = "",
    queries: Annotated[
        str | None, Option("--queries", metavar="QUERIES", help="A table of places to compare at.", show_default=False)
    ] = None,
    sums: Annotated[
        bool, Option("--sums", help="Compare sums and numbers of records, and not averages and shares of all.")
    ] = False,
    together: Annotated[
        bool, Option("--together", help="Make bands so long that all of them hold at once with the level.")
    ] = False,
    at: AtOption = None,
    level: LevelOption = 0.95,
    of_class: ClassOption = None,
    part: PartOption = None,
    bandwidth: BandwidthOption = None,
    out: TableOption = None,
) -> None:
    """Compare two releases of the same question: the first less the second, with the noise of both in every band.

    The columns are those of the places (or cells), and beside them estimate, low and high of the difference. A band
    that holds 0 says that noise alone may have made the difference. Of a hundred places without a difference, five lie
    outside their bands at the level 0.95; with --together, none does in 95 of 100 pairs of releases.
    """
    from ..releases.comparison import Comparison

    check_table(out)
    wanted = tuple(name.strip() for name in columns.split(",") if name.strip())
    if (queries is None) == (not wanted) or len(wanted) > 2:
        raise RequestError("Say one or two columns to compare along, or --queries with the places to compare at.")
    both = [opened(path, of_class, part, bandwidth) for path in (first, second)]
    compared = Comparison(both[0], both[1], not sums)
    if queries is not None:
        write_table(_at_places(compared, queries, level, together), out)
        return
    write_table(_along(compared, wanted, read_places(at, both[0].domain), level, together), out)


def _at_places(compared: Comparison, queries: str, level: float, together: bool) -> pa.Table:
    from ..sources.public_tables import beside, told_apart

    domain = compared.first.sketch.query_domain
    table = read_queries(queries, domain)
    answers = compared.answer(table, level, together)
    return beside(told_apart(table, domain), {"estimate": answers.estimate, "low": answers.low, "high": answers.high})


def _along(
    compared: Comparison, columns: tuple[str, ...], at: dict[str, object], level: float, together: bool
) -> pa.Table:
    """Along one column, over two, or of the cells of tables."""
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    from ..sketches.answers import level_of_each
    from ..tasks.density import Curve
    from ..tasks.differences import grid_of_differences, line_of_differences

    if compared.first.sketch.name == "tables":
        if together:
            level = level_of_each(level, len(compared.table(*columns, **cast(Any, at))))
        frame = compared.table(*columns, level=level, **cast(Any, at))
        cells = [name for name in frame.columns if isinstance(frame[name].dtype, pd.CategoricalDtype)]
        return pa.Table.from_pandas(
            frame.assign(**{name: frame[name].astype(str) for name in cells}), preserve_index=False
        )

    def picture(each: float):
        if len(columns) == 1:
            return line_of_differences(compared, columns[0], at, level=each)
        return grid_of_differences(compared, columns[0], columns[1], at, level=each)

    drawn = picture(level)
    if together:
        drawn = picture(level_of_each(level, drawn.estimate.size))
    if isinstance(drawn, Curve):
        places = {columns[0]: drawn.values}
    else:
        x, y = np.meshgrid(drawn.x_values, drawn.y_values)
        places = {drawn.x: x.ravel(), drawn.y: y.ravel()}
    values = {name: getattr(drawn, name).ravel() for name in ("estimate", "low", "high")}
    return pa.table({name: pa.array(one) for name, one in (places | values).items()})
