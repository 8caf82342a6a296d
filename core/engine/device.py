"""Adding batches on a graphics processor, where one is there and gives the same tables.

Only RACE and MinHash are worth it, and only their hashing goes there: the columns of a batch are found and counted on
the device, block of rows by block of rows, and the counts come back. Nothing stays there between batches.

* A batch is added to the table when all its counts are there, and not before. If anything fails meanwhile, the device's
  memory most likely, the table is as it was, the compiled loops add the whole batch, and those that follow too. So no
  record is lost or counted twice.
* Before it may count records, a device counts public random ones: for the very sketch, and for one whose cells are as
  narrow as floating point can tell, so that a single bit that is rounded otherwise gives another column. Unless its
  tables are those of the compiled loops to the last counter, it is not used. (Every step is an operation that IEEE 754
  or integers define, so they should be; see `device_cells`. This was tested with NumPy in the place of the device's
  arrays, and never measured on a device.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Protocol, Self, cast

import numpy as np

from ..domain.item_sets import Encoded, Sets
from ..geometry.hashing.uniforms import PublicRandom
from ..geometry.kernels import Euclidean
from ..sketches.hashed.minhash import MinHash
from ..sketches.hashed.race import Race
from ..sketches.linear import LinearSketch
from ..sketches.parts import Parts
from .arrays import Arrays, device_arrays
from .device_cells import RaceOnDevice
from .device_least import MinHashOnDevice

Add = Callable[[np.ndarray, Any], None]
MOST_COUNTERS = 1 << 25
"""Of a table: the counts of a batch are sent back and added one by one."""
SAMPLE = 512
"""Public random records that a device is tried with."""


class Blocks(Protocol):
    """A sketch on a device."""

    def pieces(self, points: Any) -> Iterator[Any]:
        """The records in pieces, one after the other, of which the device can hold a few rows at least."""
        ...

    def blocks(self, points: Any) -> Iterator[tuple[int, int, Any]]:
        """Rows from one to before another, and the columns, uint64 (rows, n), of all records in them."""
        ...


def adding(sketch: LinearSketch) -> Add:
    """What adds batches to a table of the sketch: its own loops, or a device that gives the same tables."""
    arrays = device_arrays()
    if arrays is None:
        return sketch.add
    if not sketch.parts:
        return on_device(sketch, arrays)
    adders = [on_device(part.sketch, arrays) for part in sketch.parts]
    return lambda table, points: cast(Parts, sketch).add_by(adders, table, points)


def on_device(sketch: LinearSketch, arrays: Arrays) -> Add:
    """The same for given arrays."""
    if type(sketch) not in BLOCKS or math.prod(sketch.shape) > MOST_COUNTERS:
        return sketch.add
    return _Adding.of(sketch, arrays)


BLOCKS: dict[type[LinearSketch], Callable[[Any, Arrays], Blocks]] = {Race: RaceOnDevice, MinHash: MinHashOnDevice}
"""What finds the columns of a sketch on a device; one of another type, though it be a subclass, adds by itself."""


class _Adding:
    """Adds batches of one sketch on a device for as long as nothing fails."""

    def __init__(self, sketch: LinearSketch, blocks: Blocks, arrays: Arrays):
        self._sketch, self._blocks, self._arrays = sketch, blocks, arrays
        self._usable: bool | None = None

    @classmethod
    def of(cls, sketch: LinearSketch, arrays: Arrays) -> Self:
        """With what finds the columns of such a sketch."""
        return cls(sketch, BLOCKS[type(sketch)](sketch, arrays), arrays)

    def __call__(self, table: np.ndarray, points: Encoded) -> None:
        """Add a batch to a table, once, here or there."""
        counts = None
        # A batch with fewer records than a row has columns is added sooner than its counts are sent.
        if self._usable is not False and len(points) >= self._sketch.shape[1]:
            if self._usable is None:
                self._usable = self._agrees()
            counts = self._counts(points) if self._usable else None
        if counts is None:
            self._sketch.add(table, points)
        else:
            table += counts

    def _counts(self, points: Encoded) -> np.ndarray | None:
        """The batch's own table; None when the device failed, which is then left alone."""
        xp, (rows, width) = self._arrays.xp, self._sketch.shape
        try:
            counts = np.zeros((rows, width), self._sketch.counter_type)
            for piece in self._blocks.pieces(points):
                for start, stop, columns in self._blocks.blocks(piece):
                    row = xp.asarray(np.arange(stop - start, dtype=np.int64)[:, None] * width)
                    found = xp.bincount((columns.astype(np.int64) + row).ravel(), minlength=(stop - start) * width)
                    counts[start:stop] += self._arrays.to_host(found).reshape(stop - start, width)
        except Exception:  # a device's library has exceptions of its own for want of memory, a lost device, and so on
            self._usable = False
            return None
        return counts

    def _agrees(self) -> bool:
        """Whether the device counts public random records as the compiled loops do."""
        tried = [self, *([_Adding.of(_finest(self._sketch), self._arrays)] if self._sketch.has_cells else [])]
        return all(one._agrees_on(_public_sample(one._sketch)) for one in tried)

    def _agrees_on(self, sample: Encoded) -> bool:
        here = self._sketch.zeros()
        self._sketch.add(here, sample)
        there = self._counts(sample)
        return there is not None and np.array_equal(here, there)


def _finest(race: LinearSketch) -> Race:
    """A sketch of the same domain whose cells are about as wide as the last bit of a projection."""
    reach = max(1e-200, *np.abs(race.domain.bounds("l2")).ravel())
    return Race(race.domain, Euclidean(float(reach) * 2.0**-53), rows=8, width=1 << 12, seed=0)


def _public_sample(sketch: LinearSketch) -> Encoded:
    """Public random records of the sketch's domain, always the same."""
    random = PublicRandom(0, SAMPLE)
    if sketch.domain.holds_sets:
        sizes = (random.words(SAMPLE) >> np.uint64(60)).astype(np.int64) + 1
        return Sets.of_sizes(sizes, random.words(int(sizes.sum())))
    low, high = sketch.domain.bounds(sketch.metric)
    share = random.uniforms(SAMPLE, len(low))
    return np.asfortranarray(np.clip(low * (1.0 - share) + high * share, low, high))
