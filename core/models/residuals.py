"""What a record says at given scores: the slopes of its loss, whole numbers that its length is cut by.

Every function here works on a record's row element by element, by operations that IEEE 754 fixes, so what a record says
is a function of that record and of the scores alone, bit for bit, whoever is beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .certified_logistic import LOG2_HIGH, LOG2_LOW, TERMS, logistic_weights

LOSSES = ("logistic", "svm")
RESIDUAL_BITS = 12
RESIDUAL_UNIT = 1 << RESIDUAL_BITS
HUBER = 0.1
LOWEST = -40.0
AT_ONCE = 1 << 14


def residuals(scores: np.ndarray, codes: np.ndarray, loss: str, most: np.ndarray) -> np.ndarray:
    """Slopes of the loss, whole numbers of 2^-12, cut toward zero, float64 (n, rows).

    Parameters
    ----------
    scores : np.ndarray
        float64 (n, rows): log odds or margins of the second class where there is one row, otherwise of each class.
    codes : np.ndarray
        The records' classes, int64 (n,).
    loss : str
        One of `LOSSES`.
    most : np.ndarray
        The largest squared length of each record's residuals in their units, int64 (n,).
    """
    return cut(slopes_of(scores, codes, loss), most)


def offsets(scores: np.ndarray, goals: np.ndarray, most: np.ndarray) -> np.ndarray:
    """Slopes of half the squared error, as `residuals` has them: scores less what they should be.

    Parameters
    ----------
    scores : np.ndarray
        float64 (n, 1).
    goals : np.ndarray
        Whole numbers of 2^-12, int64 (n,).
    most : np.ndarray
        As of `residuals`.
    """
    return cut(scores - np.ldexp(goals.astype(np.float64), -RESIDUAL_BITS)[:, None], most)


def cut(found: np.ndarray, most: np.ndarray) -> np.ndarray:
    """Slopes (n, rows) in whole units, shortened where their squared length in them exceeds ``most``, int64 (n,)."""
    square = np.zeros(len(found))
    for column in found.T:
        square += column * column
    bound = np.sqrt(most.astype(np.float64)) / RESIDUAL_UNIT
    shorter = np.minimum(1.0, bound / np.maximum(np.sqrt(square), 1e-12))
    whole = np.trunc(found * (RESIDUAL_UNIT * shorter)[:, None])
    while (long := np.flatnonzero((whole * whole).sum(axis=1) > most)).size:
        whole[long] -= np.sign(whole[long])
    return whole


def sums_of_slopes(
    units: np.ndarray, weights: np.ndarray, unit: float, said: Callable[[np.ndarray, slice], np.ndarray]
) -> np.ndarray:
    """The exact sum of residuals times records, int64 (rows, m), at whole coefficients.

    Parameters
    ----------
    units : np.ndarray
        Records in whole units, float64 (n, m).
    weights : np.ndarray
        Whole multiples of a unit of the scores, float64 (rows, m).
    unit : float
        What a record of length 1 and a coefficient of 1 together count; scores are divided by it.
    said : Callable[[np.ndarray, slice], np.ndarray]
        Whole residuals of some records, from their scores and their places.
    """
    table = np.zeros(weights.shape)
    for start in range(0, len(units), AT_ONCE):
        here = slice(start, start + AT_ONCE)
        table += said(units[here] @ weights.T / unit, here).T @ units[here]
    return table.astype(np.int64)


def slopes_of(scores: np.ndarray, codes: np.ndarray, loss: str) -> np.ndarray:
    """Derivatives of each record's loss by its scores, float64 (n, rows)."""
    rows = scores.shape[1]
    if rows == 1:
        sign = np.where(codes == 1, 1.0, -1.0)
        margins = scores[:, 0] * sign
        return (-sign * (logistic_weights(margins) if loss == "logistic" else hinge_weights(margins)))[:, None]
    if loss == "svm":
        signs = np.where(codes[:, None] == np.arange(rows), 1.0, -1.0)
        return -signs * hinge_weights(scores * signs)
    shares = softmax_shares(scores)
    shares[np.arange(len(codes)), codes] -= 1.0
    return shares


def hinge_weights(margins: np.ndarray) -> np.ndarray:
    """Minus the slope of Huber's smooth hinge: 1 below 1 - h, 0 above 1 + h, and straight between."""
    return np.clip((1.0 + HUBER - margins) / (2.0 * HUBER), 0.0, 1.0)


def softmax_shares(scores: np.ndarray) -> np.ndarray:
    """Softmax of (n, K), element by element and class by class, so that no row depends on those beside it."""
    most = scores[:, 0].copy()
    for column in scores.T:
        np.maximum(most, column, out=most)
    powers = np.stack([power(np.maximum(column - most, LOWEST)) for column in scores.T], axis=1)
    total = np.zeros(len(scores))
    for column in powers.T:
        total += column
    return powers / total[:, None]


def power(values: np.ndarray) -> np.ndarray:
    """e^x, element by element, for x between -40 and 0, as `certified_logistic` computes it."""
    whole = np.rint(values / math.log(2))
    rest = (values - whole * LOG2_HIGH) - whole * LOG2_LOW
    power = np.ones_like(rest)
    for term in range(TERMS, 0, -1):
        power = 1.0 + (rest / term) * power
    return np.ldexp(power, whole.astype(np.int64))
