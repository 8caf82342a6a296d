"""Where the noise of a release hides what there is, as pictures show it."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import uniform_filter

from ..tasks.density import Picture

WINDOWS = 16
"""Specks much smaller than this part of a side follow their surroundings when these are hidden or shown."""


def hidden_by_noise(picture: Picture) -> np.ndarray:
    """Where the noise hides what there is, without specks; bool, of the picture's shape.

    Intervals of 95% let a few cells of noise pass among thousands, and keep back a few of signal. So each place follows
    the majority of the places around it, unless most of its closest neighbours have estimates more than twice as far
    from zero as their intervals reach: then something is there, however small.
    """
    if any(values.dtype == object for values in picture.places):
        return picture.drowned  # categories have no neighbours
    window = [max(1, size // WINDOWS) | 1 for size in picture.drowned.shape]
    certain = ~picture.drowned & (picture.low > picture.estimate - picture.low)
    return _most(picture.drowned, window) & ~_most(certain, [3] * certain.ndim)


def _most(mask: np.ndarray, window: list[int]) -> np.ndarray:
    """Where more than half of the places in a window around are true."""
    return uniform_filter(mask.astype(np.float32), size=window, mode="nearest") > 0.5
