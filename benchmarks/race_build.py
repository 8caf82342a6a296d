"""Filling a RACE table: 241,000 colours, R = W = 1000, as in table 3 of the RACE paper."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from core.privacy.budget import Budget
from core.releases.job import release

from .limits import increments
from .measuring import Comparison, Rival, Settings, Target
from .race_reference import BUILD_PUBLISHED, EPSILON, RECORDS, ROWS, WIDTH, NumpyRace, colours, race
from .timing import in_turn


def run(settings: Settings) -> Iterator[Comparison]:
    """The table alone against NumPy, then everything up to the released table against the paper's procedure."""
    records = settings.size(RECORDS, 5_000)
    data, sketch = colours(records), race()
    numpy = NumpyRace.of(sketch)
    size = f"{records:,} × 3, R = {ROWS:,}, W = {WIDTH:,}"

    if not np.array_equal(numpy.blocked(data[:1000]), numpy.by_rows(data[:1000])):
        raise RuntimeError("All ways must give the same table, or their times mean nothing.")

    def build() -> np.ndarray:
        table = sketch.zeros()
        sketch.add(table, data)
        return table

    ways = {
        "Frostglass": build,
        "NumPy, blocked": lambda: numpy.blocked(data),
        "NumPy, blocked, by an expert": lambda: numpy.by_rows(data),
        f"increments alone, at known places of {sketch.shape[1]} columns": lambda: increments(sketch.zeros(), records),
    }
    seconds = in_turn(ways, settings.repeats(7))
    rival, expert, limit = (Rival(name, seconds[name]) for name in list(ways)[1:])
    built = Comparison(f"fill a table, {size}", seconds["Frostglass"], rivals=(rival, expert), limits=(limit,))
    rate = records * ROWS / built.median / 1e9
    targets = (
        Target("times as fast as blocked NumPy", built.ratio(rival), 25.0, at_least=True),
        Target("× 10⁹ increments a second", rate, 1.4, at_least=True),
    )
    yield replace(built, targets=targets, facts={"× 10⁹ increments/s": rate})

    ways = {
        "Frostglass": lambda: release(sketch, data, Budget(EPSILON)),
        "the paper's procedure, NumPy row by row": lambda: numpy.released(data),
    }
    seconds = in_turn(ways, settings.repeats(3))
    yield Comparison(
        f"from an array to a release, {size}, ε = {EPSILON}",
        seconds.pop("Frostglass"),
        rivals=tuple(Rival(*pair) for pair in seconds.items()),
        published=BUILD_PUBLISHED,
    )
