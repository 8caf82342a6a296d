"""The nearest numbers that are not negative, or that lie between ends, and have a given sum."""

from __future__ import annotations

import numpy as np


def nearest_with_total(values: np.ndarray, total: float) -> np.ndarray:
    """The nearest numbers in squared distance that are not negative and have this sum, float64 (c,).

    Projection on a simplex (Held, Wolfe, Crowder 1974): all numbers are lowered by the same, and cut off at zero.
    """
    falling = np.sort(values)[::-1]
    lowered = (np.cumsum(falling) - total) / np.arange(1, len(falling) + 1)
    return np.maximum(values - lowered[falling >= lowered][-1], 0.0)


HALVINGS = 60


def nearest_between(values: np.ndarray, low: np.ndarray, high: np.ndarray, total: float) -> np.ndarray:
    """The nearest numbers in squared distance between ends with this sum along the last side, or next to it.

    All numbers of a row are lowered by the same and held between their ends; by how much is halved in. Where the ends
    allow no such sum, all are at those that come nearest to it. `values`, `low`, `high`: of one shape, low <= high.
    """
    under, over = (values - high).min(axis=-1, keepdims=True), (values - low).max(axis=-1, keepdims=True)
    for _ in range(HALVINGS):
        lowered = (under + over) / 2.0
        much = np.clip(values - lowered, low, high).sum(axis=-1, keepdims=True) > total
        under, over = np.where(much, lowered, under), np.where(much, over, lowered)
    return np.clip(values - (under + over) / 2.0, low, high)
