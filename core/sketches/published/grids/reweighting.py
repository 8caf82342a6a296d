"""Multiplicative weights: a distribution over cells that agrees with measured averages of functions of the cell.

The update of one measurement is A(x) <- A(x) exp(step q(x)), normalised (Hardt, Ligett, McSherry 2012, figure 1). All
measurements so far are updated for again and again, until they agree within their error or a number of times is
reached: the improvement of their section 2.3, which costs no privacy.

The paper's step is half the difference between what was measured and what A says. It suits every q with values in
[0, 1], and is far too short for the kernel of a place: that is near zero in most cells and hardly moves. The step here
is the difference over the variance of q under A, eight times the paper's or more: Newton's, for the step at which A
agrees, which is also the one that brings A closest to every distribution that does (Csiszár 1975).
"""

from __future__ import annotations

import numpy as np

from ....machine.compiled_code import njit

CYCLES = 10
"""Times that all measurements are gone through after each new one, at most."""
LARGEST_STEP = 2.0
"""An average that no distribution over the cells has, as noise may ask for, is come nearer to by no more at a time."""


def reweighted(
    weights: np.ndarray, values: np.ndarray, averages: np.ndarray, error: float, known: int = 0
) -> np.ndarray:
    """The distribution after measurements, which are taken up one after the other.

    Parameters
    ----------
    weights : np.ndarray
        float64 (cells,), they add up to 1.
    values : np.ndarray
        float64 (measurements, cells), in [0, 1]: the functions that were averaged.
    averages : np.ndarray
        float64 (measurements,), what was measured.
    error : float
        Differences up to this are agreement.
    known : int
        How many of the measurements, the first ones, the weights know already.

    Returns
    -------
    np.ndarray
        float64 (cells,), new.
    """
    found = np.array(weights, dtype=np.float64)
    values, averages = np.ascontiguousarray(values), np.clip(averages, 0.0, 1.0)
    for newest in range(known, len(averages)):  # one call each, so that a long imitation can be interrupted
        _take_up(found, values, averages, float(error), newest)
    return found


@njit(nogil=True, cache=True)
def _take_up(weights, values, averages, error, newest):
    for _ in range(CYCLES):
        agreed = True
        for i in range(newest, -1, -1):
            value = values[i]
            mean, square = 0.0, 0.0
            for x in range(len(weights)):
                part = weights[x] * value[x]
                mean += part
                square += part * value[x]
            off = averages[i] - mean
            if abs(off) <= error:
                continue
            agreed = False
            step = off / max(square - mean * mean, 1e-30)
            step = min(max(step, -LARGEST_STEP), LARGEST_STEP)
            total = 0.0
            for x in range(len(weights)):
                weights[x] *= np.exp(step * value[x])
                total += weights[x]
            for x in range(len(weights)):
                weights[x] /= total
        if agreed:
            break
