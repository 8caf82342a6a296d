"""Filling a table from a stream of batches, in one pass and constant memory.

The exact table lives here and nowhere else, between the last record and the noise. It is never written to a disk but as
a checkpoint, which its owner alone can read (`core.engine.checkpoint`).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..domain import Domain
from ..domain.batches import ROWS_READ
from ..domain.item_sets import Sets
from ..errors import RequestError
from ..machine.threads import cores
from ..sketches.linear import LinearSketch
from .ahead import read_ahead
from .device import adding
from .exact import Exact

if TYPE_CHECKING:  # who explores a released file never needs what reads private data
    from ..sources import Source

BATCH_ROWS = 1 << 17
"""Most records of a batch: so many that starting threads costs nothing beside the work."""
BATCH_BYTES = 1 << 25
"""Of the points of a batch, so that memory stays flat where records are long."""
FEWEST_ROWS = 1 << 10


@dataclass(frozen=True)
class Begun:
    """What a building holds between two batches: the sums of the first ``rows`` rows of its source, and no others.

    As private as an exact table, and never to be released: it is part of one.

    Attributes
    ----------
    table : np.ndarray
        Of the sketch's shape and `counter_type`; the building goes on to change it.
    records : np.ndarray
        Records that were kept, int64 of the sketch's `count_shape`.
    rows : int
        Rows that were read.
    """

    table: np.ndarray
    records: np.ndarray
    rows: int


class Building:
    """The filling of one table, batch by batch, so that a caller can show progress and stop in between.

    Iterate to do the work; each step yields the number of rows of the source read so far. Batches are read and encoded
    on a thread of their own, ahead of those that are added; what was not yielded is not in the table. Stopping early
    (closing the iterator) ends that thread and leaves nothing behind: no budget is spent before the noise is drawn.

    Parameters
    ----------
    sketch, source : LinearSketch, Source
        The public map, and the private records.
    begun : Begun | None
        Where an earlier building of the same sketch and source stood; it goes on from there.

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
        self._exact: Exact | None = None

    def __iter__(self) -> Iterator[int]:
        before, batches, add = self.source.fingerprint(), self._encoded(), adding(self.sketch)
        with closing(read_ahead(batches) if self._reads_ahead else batches) as ready:
            for points, rows, read in ready:
                check_room(self.sketch, int(self.sketch.records_in(self._records)) + len(points))
                add(self._table, points)
                self._records += self.sketch.count(points)
                self._rows += rows
                yield read
        # A file that was replaced meanwhile may have given a record before and again after.
        if self.source.fingerprint() != before:
            raise RequestError(f"What is in {self.source.label} has changed while it was read; start again.")
        self._exact = Exact(self._table, self._records)

    @property
    def _reads_ahead(self) -> bool:
        """Not on one core, where two threads would only take turns."""
        return cores() > 1

    def _encoded(self) -> Generator[tuple[np.ndarray | Sets, int, int], None, None]:
        """Points of every batch that is not yet in the table, its records, and the rows of the source read so far.

        They differ where a record is a set that was gathered from many rows.
        """
        domain = self.sketch.domain
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
    def exact(self) -> Exact:
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
