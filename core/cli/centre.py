"""`centre`: the place that everyone is least far away from."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from .output import check_table, say, write_table
from .reading import ClassOption, PartOption, ReleaseArgument, TableOption, opened

FIGURES = ("share", "mean", "mean_low", "mean_high")


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

    from ..sources.public_tables import beside
    from ..tasks.centres import described, find_centres

    check_table(out)
    asked = opened(release, of_class, part)
    found = find_centres(asked, points, level, seed)
    places: dict[str, list] = {}
    for name in asked.domain.names:
        places[name] = [one.position[name] for one in found]
        if name in found[0].low:
            places |= {f"{name}_{end}": [getattr(one, end)[name] for one in found] for end in ("low", "high")}
    figures = {name: np.array([getattr(one, name) for one in found]) for name in FIGURES}
    known = {name: values for name, values in figures.items() if not np.isnan(values).any()}
    write_table(beside(pa.Table.from_pandas(pd.DataFrame(places), preserve_index=False), known), out)
    say(described(asked, points))
    if points == 1 and asked.sketch.answers != "closeness" and asked.sketch.distance_norm == "l1":
        say("Medians bought by themselves, by `quantiles`, are several times sharper for the same budget.")
