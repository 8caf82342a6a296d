"""A graphics processor against this machine's processor, where CuPy finds one; the tables are the same."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from core.domain.item_sets import Sets
from core.releases.engine.device import device_arrays, on_device
from core.sketches.hashed.minhash import MinHash
from core.sketches.linear import LinearSketch

from .graphs import NEIGHBOURS, made_up
from .measuring import Comparison, NotMeasured, Rival, Settings
from .power_law_graph import SLASHDOT
from .race_reference import RECORDS, colours, race
from .timing import in_turn


def run(settings: Settings) -> Iterator[Comparison]:
    """Batches from memory: to the device, and the counts back."""
    records = settings.size(RECORDS, 5_000)
    yield _compared(f"fill a RACE table, {records:,} × 3, R = W = 1,000", race(), colours(records), settings)
    sets = made_up(SLASHDOT, settings)
    sketch = MinHash(NEIGHBOURS, rows=settings.size(1000, 100), width=1000, seed=1)
    work = f"fill a MinHash table, {len(sets):,} lists, R = {sketch.rows:,}, W = 1,000"
    yield _compared(work, sketch, sets, settings)


def _compared(work: str, sketch: LinearSketch, records: np.ndarray | Sets, settings: Settings) -> Comparison:
    arrays = device_arrays()
    if arrays is None:
        raise NotMeasured("there is no graphics processor that CuPy can use")
    add = on_device(sketch, arrays)
    tables = {"device": sketch.zeros(), "processor": sketch.zeros()}
    add(tables["device"], records)
    sketch.add(tables["processor"], records)
    if not np.array_equal(*tables.values()):
        raise RuntimeError("Both must give the same table, or their times mean nothing.")
    ways = {
        "on the device": lambda: add(tables["device"], records),
        "on the processor": lambda: sketch.add(tables["processor"], records),
    }
    seconds = in_turn(ways, settings.repeats(5))
    rival = Rival("Frostglass on the processor", seconds["on the processor"])
    return Comparison(f"{work}, on the device", seconds["on the device"], rivals=(rival,))
