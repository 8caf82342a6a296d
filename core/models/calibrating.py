"""Probabilities that mean what they say: the scores of a released model stretched and shifted by a public test file.

With scores s of K classes, or of the second of two, probabilities are those of a · s + b: one factor for all and one
shift a row (Platt 1999 for two classes; Guo, Pleiss, Sun, Weinberger 2017 for more, with one factor). They are what
makes the public truth likeliest, with the weight of one record for a = 1 and b = 0: a short file changes little.

What was released and public records alone are used, so this is post-processing: the promise stays what it was. The
result is a model like any other, as its coefficients are a times those that were released.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import minimize

from .judging import LEAST_SHARE, Reliability, Tested, reliability
from .linear_model import CALIBRATED, LinearModel
from .model_file import BITS, LARGEST

WEIGHT = 1.0
"""Of what was there before, in records."""
LARGEST_STRETCH = 5.0
"""Of the logarithm of the factor."""


def calibrated(model: LinearModel, tested: Tested) -> LinearModel:
    """The model with probabilities as a public test file has them.

    Parameters
    ----------
    model : LinearModel
        Of classes.
    tested : Tested
        Public records, by `read_test`.
    """
    factor, shifts = _fitted(model, tested.scores, tested.truth)
    scale = model.scale * factor
    rows = model.rows.copy()
    moved = rows[:, 0] + np.rint(shifts / scale * (1 << BITS))
    rows[:, 0] = np.clip(moved, -(LARGEST >> 1), LARGEST >> 1).astype(np.int64)
    details = {**model.details, CALIBRATED: str(len(tested.truth))}
    return replace(model, scale=scale, rows=rows, details=details)


def calibrated_reliability(model: LinearModel, tested: Tested, level: float = 0.95) -> Reliability:
    """How reliable it would be on records like these: each half of them judged by what the other half said."""
    shares = np.empty((len(tested.truth), len(model.categories)))
    odd = np.arange(len(tested.truth)) % 2 == 1
    for part in (odd, ~odd):
        factor, shifts = _fitted(model, tested.scores[~part], tested.truth[~part])
        shares[part] = model.shares(factor * tested.scores[part] + shifts)
    return reliability(shares, tested.truth, level)


def _fitted(model: LinearModel, scores: np.ndarray, truth: np.ndarray) -> tuple[float, np.ndarray]:
    """The factor above 0 and the shifts, float64 (rows,)."""
    rows, count = scores.shape[1], len(truth)

    def loss(place: np.ndarray) -> float:
        shares = model.shares(np.exp(place[0]) * scores + place[1:])
        likely = np.log(np.maximum(shares[np.arange(count), truth], LEAST_SHARE)).sum()
        return float((0.5 * WEIGHT * (place @ place) - likely) / count)

    bounds = [(-LARGEST_STRETCH, LARGEST_STRETCH)] + [(-50.0, 50.0)] * rows
    found = minimize(loss, np.zeros(rows + 1), method="L-BFGS-B", bounds=bounds).x
    return float(np.exp(found[0])), found[1:]
