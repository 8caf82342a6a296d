"""A graphics processor against this machine's processor, where CuPy finds one; the tables are the same."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from core.domain import Domain
from core.domain.item_sets import Sets
from core.geometry.kernels import Euclidean, Gaussian
from core.privacy.calibration import NoiseScale
from core.privacy.noise.noise import add_noise
from core.releases.engine.device import device_at_hand, on_device
from core.sketches.features import Features
from core.sketches.linear import LinearSketch
from core.sketches.minhash import MinHash
from core.sketches.race import Race

from .graphs import NEIGHBOURS, made_up
from .measuring import Comparison, NotMeasured, Rival, Settings
from .power_law_graph import SLASHDOT
from .race_reference import RECORDS, colours, race
from .timing import in_turn

BATCH = 131_072  # Records that a building reads at once.


def run(settings: Settings) -> Iterator[Comparison]:
    """Batches from memory: to the device, and the counts back."""
    records = settings.size(RECORDS, 5_000)
    yield _compared(f"fill a RACE table, {records:,} × 3, R = W = 1,000", race(), colours(records), settings)
    for columns, rows, kernel, make in (
        (64, 1_000, Euclidean(4.0), Race),
        (8, 4_000, Gaussian(1.0), Features),
        (512, 4_000, Gaussian(8.0), Features),
    ):
        n, rows = settings.size(BATCH if columns < 512 else BATCH // 8, 4_096), settings.size(rows, 100)
        sketch = make(Domain.of(**{f"c{place}": (-1, 1) for place in range(columns)}), kernel, rows=rows, seed=1)
        points = np.asfortranarray(np.random.default_rng(1).uniform(-1, 1, (n, columns)))
        yield _compared(f"fill {sketch.described}, {n:,} × {columns}, R = {rows:,}", sketch, points, settings)
    sets = made_up(SLASHDOT, settings)
    sketch = MinHash(NEIGHBOURS, rows=settings.size(1000, 100), width=1000, seed=1)
    work = f"fill a MinHash table, {len(sets):,} lists, R = {sketch.rows:,}, W = 1,000"
    yield _compared(work, sketch, sets, settings)


def _compared(work: str, sketch: LinearSketch, records: np.ndarray | Sets, settings: Settings) -> Comparison:
    device = device_at_hand()
    if device is None:
        raise NotMeasured("there is no graphics processor that CuPy can use")
    add = on_device(sketch, device)
    tables = {"device": sketch.zeros(), "processor": sketch.zeros()}
    add(tables["device"], records)
    sketch.add(tables["processor"], records)
    if not np.array_equal(*tables.values()):
        raise RuntimeError("Both must give the same table, or their times mean nothing.")
    if not getattr(add, "_usable", False):
        raise NotMeasured("the device gave other tables than the processor for public random records, or failed")
    noised = sketch.zeros()
    noise = NoiseScale("discrete_laplace", Fraction(1000))
    ways = {
        "on the device": lambda: add(tables["device"], records),
        "on the processor": lambda: sketch.add(tables["processor"], records),
        "noise for the table, on the processor": lambda: add_noise(noised, noise),
    }
    seconds = in_turn(ways, settings.repeats(5))
    rivals = [Rival(name, values) for name, values in seconds.items() if name != "on the device"]
    import cupy

    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    return Comparison(f"{work}, on one {name}", seconds["on the device"], rivals=tuple(rivals))
