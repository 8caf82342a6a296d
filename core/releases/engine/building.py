"""Filling a table from a stream of batches, in one pass and constant memory.

The exact table lives here and nowhere else, between the last record and the noise. It is never written to a disk but as
a checkpoint, which its owner alone can read (`core.releases.engine.checkpoint`).

Reading ahead: the next batches are made on a thread of their own while the present one is worked on. `Pace` says how
fast a long reading goes, and how long it will still take.

Noise is written over the exact sums, so that a table of 1e9 counters need not be in memory twice, and so that no exact
sum outlives its release. An `ExactTable` is used up by that: a second release from it would add noise to noise and call
it a release of the records.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import islice, repeat, takewhile
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ...domain import Domain
from ...domain.encoding import ROWS_READ
from ...domain.item_sets import Sets
from ...errors import RequestError
from ...runtime.environment import cores, in_order
from ...sketches.linear import LinearSketch
from .device import adding

if TYPE_CHECKING:
    from ...sources import Source

Item = TypeVar("Item")
DEPTH = 2
"""Items that are made ahead: one to work on next, and one more for when the two kinds of work take turns in being
slower. Memory holds so many, and the one that is worked on."""


def read_ahead(items: Generator[Item, None, None], depth: int = DEPTH) -> Generator[Item, None, None]:
    """The same items in the same order, made by another thread, at most ``depth`` before they are asked for.

    The first is made by the caller's own: it may come after a long sort, which Ctrl-C reaches on the main thread alone.
    What the generator raises is raised here, in its place. Whoever stops early closes what this returns: no further
    item is begun, the thread ends, and the generator is closed.
    """
    end = object()
    with closing(items):
        yield from islice(items, 1)
        with closing(in_order(repeat(partial(next, items, end)), 1, depth)) as made:
            yield from takewhile(lambda item: item is not end, made)


class ExactTable:
    """A table before noise, and how many records it counts: private, both of them.

    It owns the table from here on: the array that was given holds noisy counters once a release was made of it.

    TypeError when noise cannot be written over such a table.

    `table`: Of the sketch's shape and `counter_type`, in C order and writable. `records`: Records that were kept, of
    the sketch's `count_shape`; those left out by the domain's rules are not counted.
    """

    def __init__(self, table: np.ndarray, records: int | np.ndarray):
        if table.dtype not in (np.int64, np.int32) or not (table.flags.c_contiguous and table.flags.writeable):
            raise TypeError("An exact table is a writable array of int64 or int32 in C order.")
        self._held: tuple[np.ndarray, int | np.ndarray] | None = (table, records)
        self._handing_over = Lock()

    @property
    def table(self) -> np.ndarray:
        """The exact counters; RuntimeError once they are used up."""
        return self._unused()[0]

    @property
    def records(self) -> int | np.ndarray:
        """The exact number of records; RuntimeError once it is used up."""
        return self._unused()[1]

    def copy(self) -> ExactTable:
        """The same numbers once more, for who makes several releases of them and pays for each."""
        table, records = self._unused()
        return ExactTable(table.copy(), np.copy(records) if isinstance(records, np.ndarray) else records)

    def use_up(self) -> tuple[np.ndarray, int | np.ndarray]:
        """Table and number of records, handed over to who adds the noise; they can be had this way once."""
        with self._handing_over:
            held, self._held = self._unused(), None
        return held

    def give_back(self, held: tuple[np.ndarray, int | np.ndarray]) -> None:
        """Undo `use_up`, for who could not pay and has drawn no noise."""
        self._held = held

    def _unused(self) -> tuple[np.ndarray, int | np.ndarray]:
        if self._held is None:
            raise RuntimeError(
                "A release was made of this exact table already, and its counters hold noise: seal a copy() of it "
                "first where several releases are made, each of which has its price."
            )
        return self._held


BATCH_ROWS = 1 << 17
"""Most records of a batch: so many that starting threads costs nothing beside the work."""
BATCH_BYTES = 1 << 25
"""Of the points of a batch, so that memory stays flat where records are long."""
FEWEST_ROWS = 1 << 10


@dataclass(frozen=True)
class Begun:
    """What a building holds between two batches: the sums of the first ``rows`` rows of its source, and no others.

    As private as an exact table, and never to be released: it is part of one.
    """

    table: np.ndarray  # Of the sketch's shape and `counter_type`; the building goes on to change it.
    records: np.ndarray  # Records that were kept, int64 of the sketch's `count_shape`.
    rows: int  # Rows that were read.


class TableBuilder:
    """The filling of one table, batch by batch, so that a caller can show progress and stop in between.

    Iterate to do the work; each step yields the number of rows of the source read so far. Batches are read and encoded
    on a thread of their own, ahead of those that are added; what was not yielded is not in the table. Stopping early
    (closing the iterator) ends that thread and leaves nothing behind: no budget is spent before the noise is drawn.

    `begun`: Where an earlier building of the same sketch and source stood; it goes on from there.

    Examples
    --------
    >>> building = Building(sketch, source)  # doctest: +SKIP
    >>> for rows in building: show(rows)  # doctest: +SKIP
    >>> exact = building.exact  # doctest: +SKIP
    """

    def __init__(self, sketch: LinearSketch, source: Source, begun: Begun | None = None):
        self.sketch = sketch
        self.source = source
        self._table = sketch.zeros() if begun is None else begun.table
        self._records = np.zeros(sketch.count_shape, dtype=np.int64) if begun is None else begun.records
        self._rows = 0 if begun is None else begun.rows
        self._exact: ExactTable | None = None

    def __iter__(self) -> Iterator[int]:
        batches, add = self._encoded(), adding(self.sketch)
        with closing(read_ahead(batches) if self._reads_ahead else batches) as ready:
            for points, rows, read in ready:
                check_room(self.sketch, int(self.sketch.records_in(self._records)) + len(points))
                add(self._table, points)
                self._records += self.sketch.count(points)
                self._rows += rows
                yield read
        self._exact = ExactTable(self._table, self._records)

    @property
    def _reads_ahead(self) -> bool:
        """Not on one core, where two threads would only take turns."""
        return cores() > 1

    def _encoded(self) -> Generator[tuple[np.ndarray | Sets, int, int], None, None]:
        """Points of every batch that is not yet in the table, its records, and the rows of the source read so far.

        They differ where a record is a set that was gathered from many rows.
        """
        domain = self.sketch.read_as
        read = 0 if domain.gathers else self._rows
        start = {"start": self._rows} if self._rows else {}
        for batch in self.source.batches(domain, rows=_rows_of_a_batch(domain), **start):
            read += int((batch.schema.metadata or {}).get(ROWS_READ, batch.num_rows))
            yield self.sketch.encode(batch), batch.num_rows, read

    @property
    def begun(self) -> Begun:
        """Where it stands, between two steps; the arrays are the building's own, which the next step changes."""
        return Begun(self._table, self._records, self._rows)

    @property
    def exact(self) -> ExactTable:
        """The finished table; only after the last batch, as half a table must never be released by mistake."""
        if self._exact is None:
            raise RuntimeError("The table is not finished: iterate over the building to its end first.")
        return self._exact


def check_room(sketch: LinearSketch, records: int) -> None:
    """No counter can overflow: it holds at most so many records times the largest integer that one adds."""
    kind = np.iinfo(sketch.counter_type)
    if records * sketch.largest_entry > kind.max:
        raise RequestError(
            f"There are more records than {kind.bits}-bit counters can hold at this precision; release them in several "
            "parts."
        )


def _rows_of_a_batch(domain: Domain) -> int:
    return min(BATCH_ROWS, max(FEWEST_ROWS, BATCH_BYTES // (8 * max(1, domain.dimensions))))


WINDOW = 10.0
"""Seconds that a rate is taken over: long enough to be calm, short enough to follow a disk that slows down."""
SETTLED = 1.0
"""Seconds before the first rate is given; earlier ones say how a reading begins and not how it goes on."""


class Pace:
    """Rows a second over the last seconds, from marks set as the rows are read.

    One thread marks, and any may ask.

    `total`: Rows that there are, or None where nobody knows; then no time left is ever given. `clock`: Seconds on a
    clock that never goes back. `rows`: Rows that were read before, by an earlier reading that this one continues.
    """

    def __init__(self, total: int | None = None, clock: Callable[[], float] = monotonic, rows: int = 0):
        self.total, self._clock = total, clock
        self._marks: deque[tuple[float, int]] = deque([(clock(), rows)])

    def mark(self, rows: int) -> None:
        """Say that so many rows have been read by now, all together."""
        now = self._clock()
        self._marks.append((now, rows))
        while len(self._marks) > 2 and self._marks[1][0] <= now - WINDOW:
            self._marks.popleft()

    @property
    def rows(self) -> int:
        """Rows read by the last mark."""
        return self._marks[-1][1]

    @property
    def rate(self) -> float | None:
        """Rows a second; None while it cannot be told yet."""
        (began, before), (now, rows) = self._marks[0], self._marks[-1]
        return (rows - before) / (now - began) if now - began >= SETTLED and rows > before else None

    @property
    def seconds_left(self) -> float | None:
        """Seconds until all rows are read at this rate; None while it cannot be told."""
        rate = self.rate
        return None if rate is None or self.total is None else max(0, self.total - self.rows) / rate
