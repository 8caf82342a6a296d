"""How much work an answer is, so that pictures and searches stay within what a person waits for."""

from __future__ import annotations

import math

from ..releases.release import Release

READS = 5e8
"""Counters that one picture may read: about half a second on two cores."""
WHOLE_TABLE = 16.0
"""Reads that a counter is worth where every answer weighs all counters of a table."""


def counters_read(release: Release, queries: float) -> float:
    """Work of that many queries, in reads of a counter; a long projection costs more than the read itself."""
    sketch = release.sketch
    if sketch.in_groups:
        return queries * sketch.shape[0] * (1.0 + release.domain.dimensions / 16.0)
    return queries * WHOLE_TABLE * math.prod(sketch.shape)
