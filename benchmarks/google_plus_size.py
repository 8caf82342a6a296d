"""A made-up graph of the size of Google Plus, 13 M edges, R = 2000, W = 100,000 (table 4 of the RACE paper)."""

from __future__ import annotations

from collections.abc import Iterator

from core.sketches.minhash import MinHash

from .graphs import NEIGHBOURS, made_up, measured, one_permutation
from .measuring import Comparison, Settings
from .power_law_graph import GOOGLE_PLUS

ROWS, WIDTH = 2000, 100_000


def run(settings: Settings) -> Iterator[Comparison]:
    """Filling by both ways to hash, and asking."""
    sketch = MinHash(NEIGHBOURS, rows=settings.size(ROWS, 200), width=settings.size(WIDTH, 1_000), seed=1)
    sets = made_up(GOOGLE_PLUS, settings)
    name = "made-up, of the size of Google Plus"
    yield from measured(name, sets, sketch, 31.0, 238e-6, 6.0, settings)
    yield one_permutation(name, sets, sketch, settings)
