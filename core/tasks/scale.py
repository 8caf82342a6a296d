"""How far a step is: the distance over which a release's kernel fades, coordinate by coordinate.

Nothing smaller than a bandwidth can be seen in a kernel sum, so searches measure their steps in it.
"""

from __future__ import annotations

import numpy as np

from ..sketches.linear import LinearSketch
from .box import Box

LARGEST_SHARE = 0.25
"""A kernel that hardly fades inside the bounds is searched in quarters of them."""
HALVINGS = 30
MOST_PLACES = 2_000
"""Along one curve."""
AT_ONCE = 256
"""Coordinates that are tried at once: each takes a point of all coordinates."""


def half_widths(sketch: LinearSketch) -> np.ndarray:
    """Distance along each coordinate of numbers at which the kernel has fallen to one half, float64 (coordinates,).

    It is found by bisection, so any kernel will do; at most a quarter of the coordinate's range, which is also the
    answer for a sketch without a kernel.
    """
    box = Box.of(sketch)
    low, high = box.bounds
    kernel = getattr(sketch, "point_kernel", None)
    if kernel is None:
        return LARGEST_SHARE * (high - low)[box.numeric]
    # Not the middle, as that may be the origin, where an angle is not defined.
    origin = low + 0.75 * (high - low)
    widths = [np.empty(0)]
    for start in range(0, len(box.numeric), AT_ONCE):
        coordinates = box.numeric[start : start + AT_ONCE]
        near, far = np.zeros(len(coordinates)), LARGEST_SHARE * (high - low)[coordinates]
        for _ in range(HALVINGS):
            tried = (near + far) / 2.0
            moved = np.tile(origin, (len(coordinates), 1))
            moved[np.arange(len(coordinates)), coordinates] += tried
            close = kernel.evaluate(origin[None, :], moved)[0] > 0.5
            near, far = np.where(close, tried, near), np.where(close, far, tried)
        widths.append(far)
    return np.concatenate(widths)


def places_along(sketch: LinearSketch, column: str, usual: int) -> int:
    """How many places show a curve along a column without leaving out what is as narrow as the kernel.

    Parameters
    ----------
    sketch : LinearSketch
        What is asked.
    column : str
        Of numbers or dates; of any other, of none that is there, and of sums of distances, the usual number is enough.
    usual : int
        As many at least.
    """
    box = Box.of(sketch)
    if column not in box.places:
        return usual
    coordinates = np.arange(box.bounds[0].size)[box.places[column]]
    where = np.flatnonzero(np.isin(box.numeric, coordinates))
    if sketch.answers != "closeness" or len(coordinates) != 1 or not len(where):
        return usual
    span = float((box.bounds[1] - box.bounds[0])[coordinates[0]])
    return int(min(max(usual, 2.0 * span / half_widths(sketch)[where[0]]), max(usual, MOST_PLACES)))
