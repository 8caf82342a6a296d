"""How much work an answer is, so that pictures and searches stay within what a person waits for."""

from __future__ import annotations

from ..releases import Release

READS = 5e8
"""Counters that one picture may read: about half a second on two cores."""


def counters_read(release: Release, queries: float) -> float:
    """Work of that many queries, in reads of a counter; a long projection costs more than the read itself."""
    return queries * release.sketch.shape[0] * (1.0 + release.domain.dimensions / 16.0)
