"""Adding batches on a graphics processor, where one is there and gives the same tables.

Only RACE and MinHash are worth it, and only their hashing goes there: the columns of a batch are found and counted on
the device, block of rows by block of rows, and the counts come back. Nothing stays there between batches.

* A batch is added to the table when all its counts are there, and not before. If anything fails meanwhile, the device's
  memory most likely, the table is as it was, the compiled loops add the whole batch, and those that follow too. So no
  record is lost or counted twice.
* Before it may count records, a device counts public random ones: for the very sketch, and for one whose cells are as
  narrow as floating point can tell, so that a single bit that is rounded otherwise gives another column. Unless its
  tables are those of the compiled loops to the last counter, it is not used. (Every step is an operation that IEEE 754
  or integers define, so they should be. This was tested with NumPy in the place of the device's
  arrays, and never measured on a device.)

The arrays of a graphics processor, where there is one: CuPy, which speaks NumPy's language.

It is never needed, and nothing installs it: `pip install cupy-cuda12x` (or the one for another CUDA) does, and then it
is found. The environment variable FROSTGLASS_DEVICE=cpu leaves it alone.

RACE on a graphics processor: columns of records from hashes, as operations on whole arrays.

Every step is one operation of IEEE 754 in float64, or one of integers modulo 2^64, on one element each: a product, then
a sum, each rounded by itself (or a fused multiply-add where the compiled loop has one), in the compiled loop's order
(`core.sketches.hashed.race_counting`). An operation on whole arrays is a program of its own on the device, so its
compiler cannot fuse a product with the sum after it, which is what makes the same source give other bits there. So a
record falls in the same cell as on the processor, and its column depends on nothing but itself and the hashes.

MinHash on a graphics processor: columns of sets from the words of their items, as operations on whole arrays.

All of it is integers modulo 2^32 or 2^64 and minima, so it is the same everywhere; see
`core.geometry.hashing.min_hashing` for what it means and for the compiled loops that it repeats.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from types import ModuleType
from typing import Any, Protocol, Self, cast

import numpy as np

from ...domain.item_sets import Encoded, Sets
from ...geometry.hashing.hash_cells import MAX_CELLS
from ...geometry.hashing.min_hashing import MOST_ROWS, shortened
from ...geometry.hashing.uniforms import PublicRandom
from ...geometry.kernels import Euclidean
from ...sketches.hashed.minhash import MinHash
from ...sketches.hashed.race import Race
from ...sketches.hashed.race_counting import fused
from ...sketches.linear import LinearSketch
from ...sketches.parts import Parts

DEVICE = "FROSTGLASS_DEVICE"


@dataclass(frozen=True)
class Arrays:
    """A library of arrays with NumPy's names, and three operations for which libraries have names of their own."""

    xp: ModuleType  # The module, `numpy` or `cupy`.
    fused: Callable[[Any, Any, Any], Any]  # Fused(a, x, s) is a x + s in float64, rounded once.
    # least_at(out, places, values) sets each out[place] to the least of itself and its values, in place.
    least_at: Callable[[Any, Any, Any], object]
    to_host: Callable[[Any], Any]  # An array as NumPy's.


def device_arrays() -> Arrays | None:
    """Those of the first CUDA device; None where there is none, no CuPy, or they are not wanted."""
    return None if os.environ.get(DEVICE, "").lower() == "cpu" else _cupy()


@cache
def _cupy() -> Arrays | None:
    try:
        import cupy
        import cupyx

        if cupy.cuda.runtime.getDeviceCount() < 1:
            return None
    except Exception:  # no library, no driver, no device: of many types, and all the same here
        return None
    # The function of the device, not the operators of its language, which its compiler may fuse or not.
    fused = cupy.ElementwiseKernel("float64 a, float64 x, float64 s", "float64 y", "y = fma(a, x, s)", "fused")
    return Arrays(cupy, fused, cupyx.scatter_min, cupy.asnumpy)


BLOCK = 1 << 22
"""Numbers in a block of rows and records: 32 MiB an array, of which a few are held."""


class RaceOnDevice:
    """The columns of records in the rows of a RACE sketch."""

    def __init__(self, race: Race, arrays: Arrays):
        self._columns = race.columns
        self._arrays = arrays
        self._fused = fused(race.columns, race.domain.dimensions)

    @property
    def _xp(self) -> ModuleType:
        return self._arrays.xp

    @cached_property
    def _most_hashes(self) -> int:
        return int(np.diff(self._columns.first_hash).max())

    def pieces(self, points: np.ndarray) -> Iterator[np.ndarray]:
        """The points, as many at a time as a row of many hashes leaves room for."""
        step = max(1, BLOCK // self._most_hashes)
        return (points[start : start + step] for start in range(0, len(points), step))

    def blocks(self, points: np.ndarray) -> Iterator[tuple[int, int, Any]]:
        """Rows from one to before another, and the columns, uint64 (rows, n), of all points in them."""
        by_coordinate = self._xp.asarray(np.ascontiguousarray(points.T))
        tallest = max(1, BLOCK // max(len(points) * self._most_hashes, self._columns.width))
        rows = len(self._columns.rehashed)
        for start in range(0, rows, tallest):
            stop = min(start + tallest, rows)
            yield start, stop, self._columns_of(by_coordinate, start, stop)

    def _columns_of(self, points: Any, start: int, stop: int) -> Any:
        xp, columns = self._xp, self._columns
        first, last = int(columns.first_hash[start]), int(columns.first_hash[stop])
        cell = self._cells(points, first, last)
        begin, end = columns.first_hash[start:stop] - first, columns.first_hash[start + 1 : stop + 1] - first
        key = xp.zeros((stop - start, points.shape[1]), np.uint64) + xp.asarray(columns.addend[start:stop, None])
        for place in range(int((end - begin).max())):
            rows = begin + place < end
            hashes = begin[rows] + place
            factor, having = xp.asarray(columns.multiplier[first + hashes][:, None]), self._places(rows)
            key[having] = key[having] + factor * cell[xp.asarray(hashes)]
        if columns.rehashed[start:stop].any():
            half, rehashed = np.uint64(32), self._places(columns.rehashed[start:stop])
            key[rehashed] = ((key[rehashed] >> half) * np.uint64(columns.width)) >> half
        return key

    def _cells(self, points: Any, first: int, last: int) -> Any:
        """The cell of every point in the atomic hashes from first to last, uint64 (hashes, n)."""
        xp, columns, hashes = self._xp, self._columns, self._columns.hashes
        begin, end = hashes.first_term[first:last], hashes.first_term[first + 1 : last + 1]
        value = xp.zeros((last - first, points.shape[1])) + xp.asarray(hashes.offset[first:last, None])
        for place in range(int((end - begin).max())):
            longer = begin + place < end
            terms, having = begin[longer] + place, self._places(longer)
            a, x = xp.asarray(hashes.coefficient[terms][:, None]), points[xp.asarray(hashes.coordinate[terms])]
            value[having] = self._arrays.fused(a, x, value[having]) if self._fused else value[having] + a * x
        cells = columns.cells[first:last, None]
        if (cells == MAX_CELLS).any():
            wrapping = self._places(cells[:, 0] == MAX_CELLS)
            value[wrapping] = value[wrapping] - xp.floor(value[wrapping] / MAX_CELLS) * MAX_CELLS
        top = xp.asarray((cells - 1).astype(np.float64))
        return xp.minimum(xp.maximum(value, 0.0), top).astype(np.uint64)

    def _places(self, chosen: np.ndarray) -> Any:
        """The places that are marked, as the device indexes by them; all of them need not be copied."""
        return slice(None) if chosen.all() else self._xp.asarray(np.flatnonzero(chosen))


ITEM_BLOCK = 1 << 22
"""Numbers of items in a block of rows: 32 MiB an array, of which a few are held."""
_NONE = np.uint64(0xFFFFFFFFFFFFFFFF)
_LARGEST = np.uint64(0xFFFFFFFF)
_TURN = 0x9E3779B97F4A7C15


class MinHashOnDevice:
    """The columns of sets in the rows of a MinHash sketch."""

    def __init__(self, sketch: MinHash, arrays: Arrays):
        self._sketch = sketch
        self._arrays = arrays

    def pieces(self, points: Sets) -> Iterator[Sets]:
        """The sets, as many at a time as a block of rows leaves room for, and one at least."""
        sets = shortened(points, self._sketch.longest, self._sketch.seed)
        most = ITEM_BLOCK // MOST_ROWS if self._sketch.hashes.thrown else ITEM_BLOCK
        start = 0
        while start < len(sets):
            room = int(np.searchsorted(sets.first, sets.first[start] + most, side="right")) - 1
            stop = min(max(start + 1, room), start + most)
            yield sets[start:stop]
            start = stop

    def blocks(self, sets: Sets) -> Iterator[tuple[int, int, Any]]:
        """Rows from one to before another, and the columns, uint64 (rows, n), of all sets in them."""
        hashes, xp = self._sketch.hashes, self._arrays.xp
        elements = xp.asarray(sets.elements)
        owner = xp.asarray(np.repeat(np.arange(len(sets)), sets.sizes))
        blocks = hashes.blocks_of_at_most(max(1, ITEM_BLOCK // max(len(sets.elements), hashes.width)))
        for number, group in enumerate(blocks.group):
            start, stop = int(blocks.first[number]), int(blocks.first[number + 1])
            factor, addend = hashes.seeds[group]
            words = _mixed(elements * factor + addend)
            least = self._least(words, owner, len(sets), int(blocks.start[number]), stop - start)
            own = slice(start, stop)
            multiplier, constant = xp.asarray(hashes.multiplier[own, None]), xp.asarray(hashes.addend[own, None])
            half = np.uint64(32)
            key = multiplier * least + constant
            yield start, stop, ((key >> half) * np.uint64(hashes.width)) >> half

    def _least(self, words: Any, owner: Any, sets: int, first_row: int, rows: int) -> Any:
        """The least number of every set in consecutive rows of a group, uint64 (rows, sets)."""
        xp = self._arrays.xp
        row = xp.asarray(np.arange(first_row, first_row + rows, dtype=np.uint64)[:, None])
        numbers = ((words & _LARGEST) + row * (words >> np.uint64(32))) & _LARGEST
        places = xp.asarray(np.arange(rows, dtype=np.int64)[:, None] * sets) + owner
        least = xp.full(rows * sets, _LARGEST, np.uint64)
        self._arrays.least_at(least, places.ravel(), numbers.ravel())
        if self._sketch.hashes.thrown:
            turned = _mixed(words + np.uint64((first_row + 1) * _TURN & int(_NONE)))
            bins = (((turned & _LARGEST) * np.uint64(rows)) >> np.uint64(32)).astype(np.int64)
            thrown = xp.full(rows * sets, _NONE, np.uint64)
            self._arrays.least_at(thrown, bins * sets + owner, turned >> np.uint64(32))
            least = xp.where(thrown == _NONE, least, thrown)
        return least.reshape(rows, sets)


def _mixed(word: Any) -> Any:
    """The finalizer of MurmurHash3 (Appleby), as in the compiled loop."""
    word = (word ^ (word >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    word = (word ^ (word >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return word ^ (word >> np.uint64(33))


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
    if sketch.device_loop not in BLOCKS or math.prod(sketch.shape) > MOST_COUNTERS:
        return sketch.add
    return _Adding.of(sketch, arrays)


BLOCKS: dict[str, Callable[[Any, Arrays], Blocks]] = {"cells": RaceOnDevice, "sets": MinHashOnDevice}
"""What finds the columns of a sketch on a device, by the loop that it names; one that names none adds by itself."""


class _Adding:
    """Adds batches of one sketch on a device for as long as nothing fails."""

    def __init__(self, sketch: LinearSketch, blocks: Blocks, arrays: Arrays):
        self._sketch, self._blocks, self._arrays = sketch, blocks, arrays
        self._usable: bool | None = None

    @classmethod
    def of(cls, sketch: LinearSketch, arrays: Arrays) -> Self:
        """With what finds the columns of such a sketch."""
        return cls(sketch, BLOCKS[sketch.device_loop](sketch, arrays), arrays)

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
