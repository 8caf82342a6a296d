"""Going down an estimated sum of distances: Weiszfeld's steps with slopes taken over a distance.

The sum of straight-line distances is convex, and near its least value D n (n records at an average distance D) it bends
like n/D in every direction; so q - slope * D / n is a good next place (Weiszfeld 1937). What is read off a noisy table
has small ripples on top, so slopes are differences over a step that is wide at first and ends above the ripples.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Sum = Callable[[np.ndarray], np.ndarray]
"""Estimated sums of distances, float64 (n,), at encoded points, float64 (n, dimensions)."""

WIDEST, HALVINGS = 1.0 / 8.0, 4
"""The first step of a slope, in ranges of the coordinate, and how often it is halved."""
ROUNDS = 6
"""Places tried at each step."""


def least_place(
    total: Sum, low: np.ndarray, high: np.ndarray, start: np.ndarray, records: float, halvings: range = range(HALVINGS)
) -> np.ndarray:
    """A place (d,) near which the sum is least, inside the bounds.

    Parameters
    ----------
    total : Sum
        What to go down.
    low, high : np.ndarray
        The bounds, (d,).
    start : np.ndarray
        Where to begin.
    records : float
        Their number.
    halvings : range
        The widths of slopes, as halvings of the widest; only the narrowest where ``start`` is close already.
    """
    place, here = start, float(total(start[None, :])[0])
    for halving in halvings:
        width = WIDEST * 0.5**halving * (high - low)
        for _ in range(ROUNDS):
            slope = _slopes(total, place, width, low, high)
            reach = 1.0
            while reach > 0.05:
                moved = np.clip(place - reach * slope * max(here, 0.0) / records**2, low, high)
                there = float(total(moved[None, :])[0])
                if there < here:
                    break
                reach /= 2.0
            else:
                break
            place, here = moved, there
    return place


def _slopes(total: Sum, place: np.ndarray, width: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Slopes of the sum along each coordinate, over a width on either side as far as the bounds allow."""
    ahead, behind = (np.tile(place, (len(place), 1)) for _ in range(2))
    diagonal = np.arange(len(place))
    ahead[diagonal, diagonal] = np.minimum(place + width, high)
    behind[diagonal, diagonal] = np.maximum(place - width, low)
    values = total(np.asfortranarray(np.concatenate([ahead, behind])))
    rise = values[: len(place)] - values[len(place) :]
    return rise / (ahead[diagonal, diagonal] - behind[diagonal, diagonal])
