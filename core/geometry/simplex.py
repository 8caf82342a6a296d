"""The nearest numbers that are not negative and have a given sum."""

from __future__ import annotations

import numpy as np


def nearest_with_total(values: np.ndarray, total: float) -> np.ndarray:
    """The nearest numbers in squared distance that are not negative and have this sum, float64 (c,).

    Projection on a simplex (Held, Wolfe, Crowder 1974): all numbers are lowered by the same, and cut off at zero.
    """
    falling = np.sort(values)[::-1]
    lowered = (np.cumsum(falling) - total) / np.arange(1, len(falling) + 1)
    return np.maximum(values - lowered[falling >= lowered][-1], 0.0)
