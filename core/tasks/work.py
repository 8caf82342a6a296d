"""How much work an answer is, so that pictures and searches stay within what a person waits for."""

from __future__ import annotations

import math

from ..releases.release import Release

READS = 5e8
"""Counters that one picture may read: about half a second on two cores."""
WHOLE_TABLE = 16.0
"""Reads that a counter is worth where every answer weighs all counters of a table."""
FEWEST_CELLS = 16
"""Cells along a side of a map, below which it says nothing."""


def counters_read(release: Release, queries: float) -> float:
    """Work of that many queries, in reads of a counter; a long projection costs more than the read itself."""
    sketch = release.sketch
    if sketch.in_groups:
        return queries * sketch.shape[0] * (1.0 + release.domain.dimensions / 16.0)
    return queries * WHOLE_TABLE * math.prod(sketch.shape)


def map_size(release: Release, most: int, places: int = 1) -> int:
    """Cells along a side of a map: ``most``, or as many as may be read where answers are expensive.

    Parameters
    ----------
    release : Release
        What is asked.
    most : int
        More would not be seen.
    places : int
        Answers that are averaged for each cell, at least.
    """
    if places == 1 and release.sketch.by_axis:
        return most
    affordable = READS / counters_read(release, places)
    return int(min(most, max(FEWEST_CELLS, math.isqrt(int(affordable)))))
