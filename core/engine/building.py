"""Filling a table from a stream of batches, in one pass and constant memory.

The exact table lives here and nowhere else, between the last record and the noise. It is never written to disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..errors import RequestError
from ..sketches.linear import LinearSketch
from .exact import Exact

if TYPE_CHECKING:  # who explores a released file never needs what reads private data
    from ..sources import Source

BATCH_ROWS = 1 << 16


class Building:
    """The filling of one table, batch by batch, so that a caller can show progress and stop in between.

    Iterate to do the work; each step yields the number of rows read so far. Stopping early leaves nothing behind: no
    budget is spent before the noise is drawn.

    Examples
    --------
    >>> building = Building(sketch, source)  # doctest: +SKIP
    >>> for rows in building: show(rows)  # doctest: +SKIP
    >>> exact = building.exact  # doctest: +SKIP
    """

    def __init__(self, sketch: LinearSketch, source: Source):
        self.sketch = sketch
        self.source = source
        self._table = sketch.zeros()
        self._records = np.zeros(sketch.count_shape, dtype=np.int64)
        self._exact: Exact | None = None

    def __iter__(self) -> Iterator[int]:
        rows = 0
        for batch in self.source.batches(self.sketch.domain, rows=BATCH_ROWS):
            points = self.sketch.domain.encode(batch, self.sketch.metric)
            check_room(self.sketch, int(self._records.sum()) + len(points))
            self.sketch.add(self._table, points)
            self._records += self.sketch.count(points)
            rows += batch.num_rows
            yield rows
        self._exact = Exact(self._table, self._records)

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
