"""A cluster of processes on this machine against one process: the same table, and what starting and adding up cost.

On one machine both have the same cores, so the cluster can only be slower. What it costs here it costs anywhere,
and on more machines the reading and hashing is divided among them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from core.domain import Domain
from core.geometry.kernels import Euclidean
from core.releases.engine.building import ExactTable
from core.releases.kind import building_on
from core.sketches.race import Race
from core.sources import open_source

from .measuring import Comparison, Rival, Settings
from .parquet_stream import HIGH, LOW, NAMES, write
from .timing import in_turn

ROWS, SKETCH_ROWS = 10_000_000, 500


def run(settings: Settings) -> Iterator[Comparison]:
    """Filling a table from Parquet files, workers started and stopped every time."""
    rows = int(settings.size(ROWS, 200_000) * settings.scale)
    folder = settings.scratch / "cluster"
    write(folder, rows)
    domain = Domain.of(**{name: (LOW, HIGH) for name in NAMES})
    sketch = Race(domain, Euclidean(50.0), rows=SKETCH_ROWS, width=1000, seed=1)

    def filled(engine: str) -> ExactTable:
        building = building_on(engine, sketch, open_source(str(folder / "*.parquet")))
        for _ in building:
            pass
        return building.exact

    one, many = filled("local"), filled("dask")
    if not np.array_equal(one.table, many.table) or not one.records == many.records == rows:
        raise RuntimeError("Both engines must give the same table, or their times mean nothing.")
    seconds = in_turn({name: lambda name=name: filled(name) for name in ("dask", "local")}, settings.repeats(3))
    yield Comparison(
        f"fill a table from {rows:,} × {len(NAMES)} in Parquet files, R = {SKETCH_ROWS}, on a cluster of this machine",
        seconds["dask"],
        rivals=(Rival("Frostglass, one process", seconds["local"]),),
    )
