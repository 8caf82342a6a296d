"""RACE with the noise of the code that was published with it: N times too little. NOT PRIVATE; to show what it does.

The code adds Laplace noise of scale R / (N ε) to raw counts, as if they were shares of the N records. Counts move by
one in each of R rows, so that noise of scale b keeps ε = R/b: what it says is ε is really N ε. On 245,000 records a
curve that is drawn at ε = 0.1 belongs at ε = 24,500.
"""

from __future__ import annotations

import numpy as np

from core.lab.comparison_trials import PublicData
from core.sketches.race import Race

KEY = "race-published"
TITLE = "RACE with the published noise (NOT PRIVATE)"
SHIFT = 1 << 20
"""Counters are whole numbers and this noise is far below one, so both are multiplied before they are added."""


def estimates(
    data: PublicData, rows: int, epsilon: float, seed: int, places: tuple[np.ndarray, ...]
) -> tuple[np.ndarray, ...]:
    """What such a table says at encoded places."""
    sketch = Race(data.domain, data.question.kernel, rows, seed=seed)
    table = sketch.zeros()
    sketch.add(table, data.records)
    scale = rows / (len(data.records) * epsilon)
    noise = np.random.default_rng(seed).laplace(scale=scale, size=table.shape)
    noisy = np.rint((table + noise) * SHIFT).astype(np.int64)
    return tuple(sketch.answer(noisy, len(data.records), place, 0.0, 0.95).estimate / SHIFT for place in places)


def real_epsilon(data: PublicData, epsilon: float) -> float:
    """The ε that the noise really keeps."""
    return len(data.records) * epsilon
