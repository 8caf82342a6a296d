"""`ask`: questions in SQL to a release of tables."""

from __future__ import annotations

from typing import Annotated

from typer import Argument

from .output import check_table, write_table
from .reading import LevelOption, PartOption, ReleaseArgument, TableOption


def ask(
    release: ReleaseArgument,
    question: Annotated[
        str,
        Argument(metavar="SQL", help='Such as "SELECT city, COUNT(*) AS n, AVG(age) FROM records GROUP BY city".'),
    ],
    out: TableOption = None,
    level: LevelOption = 0.95,
    part: PartOption = None,
) -> None:
    """Ask a release of tables in SQL: one row a group, and for each aggregate its name, NAME_low and NAME_high.

    SELECT takes columns, COUNT(*), SUM, AVG, MEDIAN and QUANTILE(column, share); WHERE takes conditions joined by AND.
    Numbers are grouped by their cells. Of several parts, the one that is tables is asked.
    """
    import pandas as pd
    import pyarrow as pa

    from ..releases.release import load
    from ..tasks.sql import ask_sql

    check_table(out)
    asked = load(release)
    answer = ask_sql(asked if part is None else asked.part(part), question, level)
    cells = [name for name in answer.columns if isinstance(answer[name].dtype, pd.CategoricalDtype)]
    answer = answer.assign(**{name: answer[name].astype(str) for name in cells})
    write_table(pa.Table.from_pandas(answer, preserve_index=False), out)
