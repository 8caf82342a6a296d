"""`modes`: where a release says that people gather."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from typer import Option

from .output import check_table, say, write_table
from .reading import ANSWERS, BandwidthOption, ClassOption, PartOption, ReleaseArgument, TableOption, opened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..tasks.densest_cells import Intersection
    from ..tasks.modes import Mode

FIGURES = {
    "search": (*ANSWERS, "density", "prominence", "prominence_error", "significant"),
    "cells": (*ANSWERS, "density", "rows", "satisfied", "weight"),
}


def modes(
    release: ReleaseArgument,
    out: TableOption = None,
    method: Annotated[
        Literal["search", "cells"],
        Option(
            help="Climb the density from many places, or intersect the cells with the largest counters, which finds "
            "one "
            "mode.",
        ),
    ] = "search",
    count: Annotated[int, Option(help="Most modes to list.")] = 10,
    starts: Annotated[int, Option(help="Places that the search climbs from.")] = 128,
    level: Annotated[
        float, Option(help="Probability with which no bump of noise is called significant, all modes together.")
    ] = 0.95,
    of_class: ClassOption = None,
    part: PartOption = None,
    bandwidth: BandwidthOption = None,
) -> None:
    """List places with no denser place beside them, one a row, and whether each stands out above the noise."""
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    from ..sources.public_tables import beside
    from ..tasks.densest_cells import intersect_partitions
    from ..tasks.modes import find_modes

    check_table(out)
    asked = opened(release, of_class, part, bandwidth)
    found: Sequence[Mode | Intersection] = (
        find_modes(asked, count, starts, level) if method == "search" else [intersect_partitions(asked, level)]
    )
    if method == "search" and len(found) == count and all(getattr(mode, "significant", False) for mode in found):
        say(f"All {count} modes stand out from the noise, so there may be more: ask for them with --count.")
    places = pd.DataFrame([mode.position for mode in found], columns=list(asked.domain.names))
    figures = {name: np.array([getattr(mode, name) for mode in found]) for name in FIGURES[method]}
    write_table(beside(pa.Table.from_pandas(places, preserve_index=False), figures), out)
