"""Adding batches on a graphics processor, where one is there and gives the same tables.

RACE, MinHash and random features are worth it. The loops of `device_loops.cu` hash a batch and count it there, and the
batch's own table comes back; nothing stays there between batches.

* A batch is added to the table when its counts are there, and not before. If anything fails meanwhile, the device's
  memory most likely, the table is as it was, the compiled loops add the whole batch, and those that follow too. So no
  record is lost or counted twice.
* A record falls where it falls on the processor, and that depends on nothing but itself and the hashes: every operation
  on real numbers is one of IEEE 754 in float64, asked for by name and rounded once, in the order of the compiled loops
  (`core.sketches`), a product and the sum after it apart or fused as there; all else is whole numbers.
* It is tried before it is trusted: a device first counts public random records, for the very sketch and for one in
  which the last bit of a projection decides. Unless its tables are those of the compiled loops to the last counter, it
  is not used.

CuPy compiles and starts the loops. It is never needed, and nothing installs it: the extra `device` does, and then it is
found. The environment variable FROSTGLASS_DEVICE=cpu leaves it alone.
"""

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np

from ...domain.item_sets import Encoded, Sets
from ...geometry.frequencies import Frequencies
from ...geometry.kernels import Euclidean, Gaussian
from ...geometry.min_hashing import MOST_ROWS, shortened
from ...geometry.uniforms import PublicRandom
from ...runtime.inner_products import MANY
from ...sketches.features import Features
from ...sketches.linear import LinearSketch
from ...sketches.minhash import MinHash
from ...sketches.parts import Parts
from ...sketches.race import Race
from ...sketches.race_counting import fused

DEVICE = "FROSTGLASS_DEVICE"
LOOPS = Path(__file__).with_name("device_loops.cu")
THREADS = 256  # Of a block.
BLOCKS = 2048  # As many as keep a large device busy.
OWN_BYTES = 48 << 10  # Of the memory that a block's threads share, which every device has.
TOGETHER = 8  # Records that a thread of `add_waves` takes at once, as the loop says too.


@dataclass(frozen=True)
class Device:
    """Where the loops run: arrays there and back, and the starting of a loop."""

    to_device: Callable[[np.ndarray], Any]
    zeros: Callable[[tuple[int, ...], Any], Any]
    to_host: Callable[[Any], np.ndarray]
    # start(name, (blocks across, blocks down), threads of a block, its shared bytes, arrays and NumPy's numbers)
    start: Callable[[str, tuple[int, int], int, int, Sequence[Any]], object]


def device_at_hand() -> Device | None:
    """The first CUDA device; None where there is none, no CuPy, or it is not wanted."""
    return None if os.environ.get(DEVICE, "").lower() == "cpu" else _cupy()


@cache
def _cupy() -> Device | None:
    try:
        import cupy

        if cupy.cuda.runtime.getDeviceCount() < 1:
            return None
    except Exception:  # no library, no driver, no device: of many types, and all the same here
        return None
    module = cupy.RawModule(code=LOOPS.read_text(encoding="utf-8"), options=("--std=c++17", "--fmad=false"))

    def start(name: str, blocks: tuple[int, int], threads: int, shared: int, given: Sequence[Any]) -> None:
        module.get_function(name)(blocks, (threads,), tuple(given), shared_mem=shared)

    return Device(cupy.asarray, cupy.zeros, cupy.asnumpy, start)


class Loop(Protocol):
    """A sketch on a device."""

    def counts(self, points: Any) -> np.ndarray:
        """The table of a batch alone."""
        ...

    def finest(self) -> Iterator[LinearSketch]:
        """Sketches of the same domain in which the last bit decides."""
        ...


class CellsLoop:
    """RACE: the columns of records in its rows."""

    def __init__(self, race: Race, device: Device):
        self._race, self._device = race, device

    @cached_property
    def _facts(self) -> list[Any]:
        """What the loop takes of hashes and columns, in its order, on the device."""
        columns = self._race.columns
        h = columns.hashes
        facts = columns.first_hash, h.first_term, h.coordinate, h.coefficient, h.offset, columns.cells
        return [self._device.to_device(fact) for fact in (*facts, columns.multiplier, columns.addend, columns.rehashed)]

    def counts(self, points: np.ndarray) -> np.ndarray:
        """The table of a batch alone, int32 (rows, width). Blocks down take rows, blocks across take records."""
        (rows, width), n = self._race.shape, len(points)
        at_once = min(64, rows, max(1, OWN_BYTES // 4 // width))
        own = 4 * at_once * width <= OWN_BYTES
        down = -(-rows // at_once)
        across = max(1, min(-(-n // (4 * THREADS)), BLOCKS // down))
        there = self._device.to_device(np.ascontiguousarray(points.T))
        counts = self._device.zeros((rows, width), np.int32)
        sizes = np.int64(n), np.int64(n), np.int32(rows), np.int32(at_once), np.uint64(width)
        flags = np.int32(fused(self._race.columns, points.shape[1])), np.int32(own)
        given = [there, *sizes, *self._facts, *flags, counts]
        self._device.start("add_cells", (across, down), THREADS, 4 * at_once * width if own else 0, given)
        return self._device.to_host(counts)

    def finest(self) -> Iterator[LinearSketch]:
        """Cells about as wide as the last bit of a projection."""
        width = max(1e-200, *np.abs(self._race.domain.bounds("l2")).ravel()) * 2.0**-53
        yield Race(self._race.domain, Euclidean(float(width)), rows=8, width=1 << 12, seed=0)


class WavesLoop:
    """Random features with dense frequencies: the entries of records' phases."""

    def __init__(self, features: Features, device: Device):
        self._features, self._device = features, device

    @cached_property
    def _facts(self) -> list[Any]:
        """Frequencies one column a row, phases, and the table of entries, on the device."""
        drawn = cast(Frequencies, self._features.frequencies)
        facts = np.ascontiguousarray(drawn.waves.T), drawn.phases, self._features.entries.packed
        return [self._device.to_device(fact) for fact in facts]

    def counts(self, points: np.ndarray) -> np.ndarray:
        """The table of a batch alone, int64 (rows, 2). Blocks down take rows, blocks across take records."""
        (n, d), rows = points.shape, self._features.shape[0]
        stride = -(-n // TOGETHER) * TOGETHER
        there = self._device.zeros((d, stride), np.float64)
        there[:, :n] = self._device.to_device(np.ascontiguousarray(points.T))
        down = -(-rows // THREADS)
        across = max(1, min(stride // (16 * TOGETHER), BLOCKS // down))
        sums = self._device.zeros((rows, 2), np.uint64)
        sizes = np.int64(stride), np.int64(n), np.int32(d), np.int32(rows)
        flags = np.int32(self._features.entries.steps), np.int32(d >= MANY)
        self._device.start("add_waves", (across, down), THREADS, 0, [there, *sizes, *self._facts, *flags, sums])
        return self._device.to_host(sums).view(np.int64)

    def finest(self) -> Iterator[LinearSketch]:
        """So many turns across the bounds that the last bit of a phase is a step of the finest table of entries."""
        reach = max(1e-200, *np.abs(self._features.domain.bounds("l2")).ravel())
        yield Features(self._features.domain, Gaussian(float(reach) * 2.0**-36), rows=8, seed=0, wave="circle")


class SetsLoop:
    """MinHash: the columns of sets in its rows."""

    def __init__(self, sketch: MinHash, device: Device):
        self._sketch, self._device = sketch, device

    def counts(self, points: Sets) -> np.ndarray:
        """The table of a batch alone, int32 (rows, width): block of rows by block of rows."""
        hashes, device = self._sketch.hashes, self._device
        sets = shortened(points, self._sketch.longest, self._sketch.seed)
        first, elements = device.to_device(sets.first), device.to_device(sets.elements)
        words = device.zeros(sets.elements.shape, np.uint64)
        counts = device.zeros(self._sketch.shape, np.int32)
        items, many, width = np.int64(len(sets.elements)), np.int64(len(sets)), np.uint64(hashes.width)
        blocks = hashes.blocks
        for number, group in enumerate(blocks.group):
            if number == 0 or group != blocks.group[number - 1]:
                across = max(1, min(-(-int(items) // THREADS), BLOCKS))
                device.start("mix_items", (across, 1), THREADS, 0, [elements, items, *hashes.seeds[group], words])
            own = slice(int(blocks.first[number]), int(blocks.first[number + 1]))
            rows = own.stop - own.start
            mixing = device.to_device(hashes.multiplier[own]), device.to_device(hashes.addend[own])
            start, flag = np.uint32(blocks.start[number]), np.int32(hashes.thrown)
            given = [first, many, words, start, np.int32(rows), *mixing, width, flag, counts[own]]
            device.start("add_sets", (max(1, min(len(sets), BLOCKS)), 1), THREADS, 8 * MOST_ROWS, given)
        return device.to_host(counts)

    def finest(self) -> Iterator[LinearSketch]:
        """None: all of it is whole numbers."""
        return iter(())


Add = Callable[[np.ndarray, Any], None]
MOST_COUNTERS = 1 << 25  # Of a table: the counts of a batch are sent back and added one by one.
FEWEST = 2_048  # Records of a batch: fewer are added sooner than they are sent.
SAMPLE = 512  # Public random records that a device is tried with.
KINDS: dict[str, Callable[[Any, Device], Loop]] = {"cells": CellsLoop, "waves": WavesLoop, "sets": SetsLoop}
"""What counts for a sketch on a device, by the loop that it names; one that names none adds by itself."""


def adding(sketch: LinearSketch) -> Add:
    """What adds batches to a table of the sketch: its own loops, or a device that gives the same tables."""
    device = device_at_hand()
    if device is None:
        return sketch.add
    if not sketch.parts:
        return on_device(sketch, device)
    adders = [on_device(part.sketch, device) for part in sketch.parts]
    return lambda table, points: cast(Parts, sketch).add_by(adders, table, points)


def on_device(sketch: LinearSketch, device: Device) -> Add:
    """The same for a given device."""
    if sketch.device_loop not in KINDS or math.prod(sketch.shape) > MOST_COUNTERS:
        return sketch.add
    return _Adding(sketch, device)


class _Adding:
    """Adds batches of one sketch on a device for as long as nothing fails."""

    def __init__(self, sketch: LinearSketch, device: Device):
        self._sketch, self._device = sketch, device
        self._loop = KINDS[sketch.device_loop](sketch, device)
        self._usable: bool | None = None

    def __call__(self, table: np.ndarray, points: Encoded) -> None:
        """Add a batch to a table, once, here or there."""
        counts = None
        if self._usable is not False and len(points) >= max(FEWEST, self._sketch.shape[1]):
            if self._usable is None:
                self._usable = self._agrees()
            counts = self._counts(points) if self._usable else None
        if counts is None:
            self._sketch.add(table, points)
        else:
            table += counts

    def _counts(self, points: Encoded) -> np.ndarray | None:
        """The batch's own table; None when the device failed, which is then left alone."""
        try:
            return self._loop.counts(points)
        except Exception:  # a device's library has exceptions of its own for want of memory, a lost device, and so on
            self._usable = False
            return None

    def _agrees(self) -> bool:
        """Whether the device counts public random records as the compiled loops do."""
        tried = [self, *(_Adding(finest, self._device) for finest in self._loop.finest())]
        return all(one._agrees_on(_public_sample(one._sketch)) for one in tried)

    def _agrees_on(self, sample: Encoded) -> bool:
        here = self._sketch.zeros()
        self._sketch.add(here, sample)
        there = self._counts(sample)
        return there is not None and np.array_equal(here, there)


def _public_sample(sketch: LinearSketch) -> Encoded:
    """Public random records of the sketch's domain, always the same."""
    random = PublicRandom(0, SAMPLE)
    if sketch.domain.holds_sets:
        sizes = (random.words(SAMPLE) >> np.uint64(60)).astype(np.int64) + 1
        return Sets.of_sizes(sizes, random.words(int(sizes.sum())))
    low, high = sketch.domain.bounds(sketch.metric)
    share = random.uniforms(SAMPLE, len(low))
    return np.asfortranarray(np.clip(low * (1.0 - share) + high * share, low, high))
