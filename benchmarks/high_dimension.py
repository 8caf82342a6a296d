"""784 columns: filling a RACE table of 1000 rows against the matrix product that its projections alone would be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from core.domain import Domain, Vector
from core.geometry.kernels import Euclidean
from core.sketches.race import Race

from .measuring import Comparison, Rival, Settings, Target
from .race_reference import NumpyRace
from .timing import in_turn

DIMENSIONS, ROWS = 784, 1000


def run(settings: Settings) -> Iterator[Comparison]:
    """Made-up images of 784 numbers between 0 and 1."""
    records = settings.size(50_000, 2_000)
    sketch = Race(Domain((Vector("image", DIMENSIONS, 0.0, 1.0),)), Euclidean(5.0), rows=ROWS, width=1000, seed=1)
    data = np.asfortranarray(np.random.default_rng(0).random((records, DIMENSIONS)))
    directions = np.ascontiguousarray(NumpyRace.of(sketch).directions.T)
    ways = {
        "Frostglass": lambda: sketch.add(sketch.zeros(), data),
        "BLAS, the matrix product alone": lambda: data @ directions,
    }
    seconds = in_turn(ways, settings.repeats(5))
    ours = seconds.pop("Frostglass")
    limits = tuple(Rival(*pair) for pair in seconds.items())
    found = Comparison(f"fill a table, {records:,} × {DIMENSIONS}, R = {ROWS:,}", ours, limits=limits)
    slower = Target("times as long as the product alone", 1.0 / found.ratio(limits[0]), 1.5)
    gigaflops = 2 * records * DIMENSIONS * ROWS / found.median / 1e9
    yield replace(found, targets=(slower,), facts={"× 10⁹ operations/s": gigaflops})
