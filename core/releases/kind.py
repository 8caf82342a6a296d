"""What differs between the kinds of releases: how they plan, how often they read, and where noise goes.

`core.releases.job` drives them all alike: price, read, pay, draw noise, keep.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..privacy.accounting import Cost
from ..privacy.budget import Budget
from ..privacy.calibration import NoiseScale
from ..privacy.noise.noise import has_room
from ..privacy.noise.randomness import Source as NoiseSource
from ..runtime import strict_json
from ..sketches.adaptive import Adaptive
from ..sketches.linear import LinearSketch
from ..sources import Source
from .engine.building import ExactTable
from .engine.engine_choice import LOCAL, building_on
from .engine.resuming import Keeping
from .release import Release

BESIDE_THE_TABLE = 1 << 20
"""Bytes that the rest of a file takes at most, beside its counters and its manifest."""
Held = tuple[np.ndarray, "int | np.ndarray"]
"""Exact sums and number of records, handed over by `ExactTable.use_up`."""


class Filling(Protocol):
    """One reading of the source; iterate to do the work, each step yields the rows read so far."""

    def __iter__(self) -> Iterator[int]: ...

    @property
    def exact(self) -> ExactTable:
        """What was summed; only after the last step."""


@dataclass
class Reader:
    """Reads a source as often as a release needs.

    Attributes
    ----------
    source : Source
        The private records.
    engine : str
        Who reads them; see `core.releases.engine.engine_choice`.
    keeping : Keeping | None
        Where the first reading is written down, if anywhere.
    say : Callable[[str], object]
        Tells the owner about that.
    progress : Callable[[int], object]
        Called with the rows read so far, in all readings together.
    rows : int
        Rows that were read.
    """

    source: Source
    engine: str = LOCAL
    keeping: Keeping | None = None
    say: Callable[[str], object] = lambda words: None
    progress: Callable[[int], object] = lambda rows: None
    rows: int = 0

    def filling(self, sketch: LinearSketch) -> Filling:
        """The first reading of the source, into the table of a sketch; it has not begun."""
        return building_on(self.engine, sketch, self.source, self.keeping, self.say)

    def read(self, sketch: LinearSketch) -> Held:
        """The exact table of a sketch, by one further reading, handed over to who draws its noise."""
        before, building = self.rows, building_on(self.engine, sketch, self.source)
        for rows in building:
            self.rows = before + rows
            self.progress(self.rows)
        return building.exact.use_up()


class Kind(Protocol):
    """One kind of release, of one sketch under one budget. Everything here but `noised` follows from public facts.

    Attributes
    ----------
    sketch : LinearSketch | Adaptive
        What is released, of a settled size; the ledger's note names it.
    budget : Budget
        The promise of everything together.
    readings : int
        How often the source is read, as far as that is known beforehand.
    """

    @property
    def sketch(self) -> LinearSketch | Adaptive: ...

    @property
    def budget(self) -> Budget: ...

    @property
    def readings(self) -> int: ...

    @property
    def cost(self) -> Cost:
        """Of everything; the ledger gets it as one entry. RequestError when the promise cannot be kept."""

    @property
    def noises(self) -> tuple[NoiseScale | None, ...]:
        """All noise that will be drawn, and None where there is none."""

    @property
    def table(self) -> LinearSketch:
        """A sketch of the size of the released table, as far as it is known before anything is read."""

    def first(self, reader: Reader) -> Filling:
        """The reading before anything is paid for. Whatever has to be refused comes out in it."""

    def check(self, records: int) -> None:
        """RequestError when so many records, which the first reading found, have no room in a later one."""

    def noised(self, held: Held, reader: Reader, noise_source: NoiseSource | None) -> Release:
        """Draw all noise, and read again where that is needed. Called once, after `cost` was written to the ledger."""


def most_bytes(kind: Kind) -> int:
    """Bytes that the file of a release takes at most, from public facts."""
    sketch = kind.table
    widest = all(noise is None or has_room(np.dtype(sketch.counter_type), noise) for noise in kind.noises)
    counter = np.dtype(sketch.counter_type).itemsize if widest else 8
    table = counter * math.prod(sketch.shape) + 8 * math.prod(sketch.count_shape)
    facts = strict_json.dumps([sketch.parameters(), sketch.domain.to_dict()])
    return table + table // 500 + 4 * len(facts) + BESIDE_THE_TABLE  # four bytes a character, and packing may add a bit
