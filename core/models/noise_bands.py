"""How far noise moved what a descent has learnt, told by its own steps: bands of lines, knots and categories.

Every step of a descent is released, and so is how much noise was in it. What nobody released is how quickly the records
pull coefficients back, which is how long a noise of one step is remembered. Coefficients that are pulled by a share g
of their distance in each step (with the momentum that they have) wander in a known way: how far apart they are l steps
from each other, on average (their variogram), grows with l until the noise is forgotten. So the variogram of the second
half of the steps, whose mean is the model, is taken apart into those of a few shares g from 0, where nothing is ever
forgotten, to 1 (least squares with parts of at least 0 that add up to 1), and the same parts of what each share does to
the mean say its variance. This is post-processing of what was paid for.

What is still on its way to where it will end up wanders further than noise alone moves it, and is taken for noise that
is remembered longer: bands get wider by that, as they do where the loss curves less than it did. One walk is short:
parts are told by all knots of a curve together, and by all coefficients of the model together, and the mean of both
variances is taken, of few steps the larger one. On made-up records of ten columns 97 of 100 bands that claim 95 held,
and were 1.6 times as wide as they had to be. They hold what the same method would give without noise; that the records
are a sample of others is not in them.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.optimize import nnls

from .model_file import BITS
from .training_task import Task

MOST_TRACED = 1 << 22  # Numbers of all steps that are kept for it; larger models have no bands.
SHARES = (0.0, *(2.0**power for power in range(-10, 1)))
LEAST_STEPS = 8  # In the second half; fewer say nothing of how noise is remembered.
FEW_STEPS = 16
LEAST = 1e-300  # Of a variance, so that nothing is divided by zero.
SURELY = 100.0  # The weight of the condition that parts add up to 1.


class Trace:
    """Coefficients after each step of a descent, of which the second half's mean is released."""

    def __init__(self, steps: int, shape: tuple[int, int]):
        self._steps, self._taken, self._last = steps, 0, steps - steps // 2
        self._total = np.zeros(shape)
        keeps = self._last >= LEAST_STEPS and self._last * self._total.size <= MOST_TRACED
        self._kept: list[np.ndarray] | None = [] if keeps else None

    def add(self, weights: np.ndarray) -> None:
        """Take down where a step came to: whole multiples of 2^-20, float64 (rows, d + 1)."""
        self._taken += 1
        if self._taken > self._steps - self._last:
            self._total += weights
            if self._kept is not None:
                self._kept.append(weights)

    @property
    def mean(self) -> np.ndarray:
        """Of the second half, float64 (rows, d + 1)."""
        return np.asarray(self._total / self._last)

    def term_errors(
        self, task: Task, natural: float, moves: np.ndarray | float, momentum: float = 0.0
    ) -> np.ndarray | None:
        """Deviations that noise gives the mean of every term of a task, float64 (rows, terms).

        Parameters
        ----------
        natural : float
            What a coefficient of 1 in here is of coordinates between -1 and 1.
        moves : np.ndarray | float
            What the noise of one step moves coefficients by: a deviation for each alike, or the columns of a matrix
            whose product with its transpose is their covariance, (d, k).
        momentum : float
            The share of each step that the next one goes on with.

        Returns
        -------
        np.ndarray | None
            None where the steps were too few to tell, or too much to keep.
        """
        if not self._kept:
            return None
        reading = task.reading[0]
        moved = reading * moves if isinstance(moves, float) else reading @ moves
        innovations = np.maximum((moved**2).sum(axis=1), LEAST)
        lags, apart, of_mean = _ways_to_wander(self._steps, self._last, momentum)
        walks = np.array(self._kept)[:, :, 1:] @ (reading.T * 2.0**-BITS)
        found = np.array([((walks[lag:] - walks[:-lag]) ** 2).mean(axis=0) for lag in lags]) / innovations
        columns, variances = np.array([term.column for term in task.terms]), np.empty(walks.shape[1:])
        for column in set(columns.tolist()):
            own = columns == column
            for row in range(len(variances)):
                variances[row, own] = _variance(found[:, row, own].mean(axis=1), apart, of_mean)
        together = _variance(found.mean(axis=(1, 2)), apart, of_mean)
        both = np.maximum(variances, together) if self._last < FEW_STEPS else (variances + together) / 2.0
        return np.asarray(np.sqrt(both * innovations) * natural)


def _variance(variogram: np.ndarray, apart: np.ndarray, of_mean: np.ndarray) -> float:
    """Of the mean, for innovations of variance 1, by the shares that make such a variogram."""
    weight = 1.0 / apart[:, 0]
    ways = np.vstack([apart * weight[:, None], np.full(len(SHARES), SURELY)])
    parts, _ = nnls(ways, np.append(variogram * weight, SURELY))
    return float(parts @ of_mean)


@lru_cache(maxsize=16)
def _ways_to_wander(steps: int, last: int, momentum: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lags, and of each share the variogram at them, (lags, shares), and the variance of the mean, (shares,)."""
    lags = np.unique(np.rint(2.0 ** np.arange(0.0, np.log2(last * 2.0 / 3.0), 0.5)).astype(int))
    apart, of_mean = [], []
    for share in SHARES:
        answer = _answer(steps, share, momentum)
        # What the noise of each step does to each of the last ones: noise of step s is answered t - s steps later.
        later = np.subtract.outer(np.arange(steps - last, steps), np.arange(steps))
        moved = np.where(later >= 0, answer[np.maximum(later, 0)], 0.0)
        apart.append([((moved[lag:] - moved[:-lag]) ** 2).sum(axis=1).mean() for lag in lags])
        of_mean.append((moved.mean(axis=0) ** 2).sum())
    return lags, np.array(apart).T, np.array(of_mean)


def _answer(steps: int, share: float, momentum: float) -> np.ndarray:
    """Where a coefficient is after each step, when noise of 1 moved it in the first one, float64 (steps,)."""
    place, pace, found = 0.0, 0.0, np.empty(steps)
    for step in range(steps):
        pace = momentum * pace - share * place + (1.0 if step == 0 else 0.0)
        place += pace
        found[step] = place
    return found
