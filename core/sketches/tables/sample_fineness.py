"""How finely numbers are cut where records will be drawn from the tables, and models trained on them: by forecast.

What a reader asks of a table, a count in a range, has the less error the finer its cells. What a model learns from
drawn records is how columns hang together, and noise in many cells buries that: what is left over of it in cells where
nobody is makes records that do not exist. So the forecast is another one. Of two columns that hang together, half-way
or closely, as a normal population in bounds of three deviations does, the released pair is made up with the noise that
every cell will have, and its best guess taken; the error is that of the mean of one column given the other, as a model
would learn it from records drawn in these cells, and the number of cells with the least is taken. Nothing of it is read
from records.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import ndtr

from .best_guess import moved_to, towards

TIED = (0.5, 0.9)  # Correlations of the made-up columns.
WIDE = 3.0  # Standard deviations from the middle to the bounds.
PLACES = 32  # Of the other column, in each cell, at which the mean is compared.
DRAWS = 3  # Of made-up noise, from a public seed.


def bins_for_samples(deviation: Callable[[int], float], records: float, offered: tuple[int, ...]) -> int:
    """Into how many cells a number is cut, of those that are offered in rising order.

    Parameters
    ----------
    deviation : Callable[[int], float]
        Of the noise in a cell of a pair, by how many cells each column has.
    """
    best, least = offered[0], math.inf
    for bins in offered:
        error = float(np.mean([learnt_error(bins, deviation(bins), records, tied) for tied in TIED]))
        if error > 2.0 * least:  # the more cells, the more noise
            break
        if error < least:
            best, least = bins, error
    return best


def learnt_error(bins: int, deviation: float, records: float, tied: float) -> float:
    """The mean squared error of a mean given another column, in squared deviations of the column."""
    places, weights, shares = _population(bins, tied)
    counts = records * shares
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    middles = (np.arange(bins) + 0.5) / bins * 2.0 * WIDE - WIDE
    random, errors = np.random.default_rng(0), []
    for _ in range(DRAWS):
        # Nothing is hidden by this noise: a made-up table is made as inexact as a released one would be.
        found = counts + random.normal(0.0, deviation, counts.shape)
        shrunk, uncertain = towards(found, np.outer(rows, columns) / records, deviation**2)
        guess = moved_to(shrunk, uncertain, {(0,): rows, (1,): columns})
        means = guess @ middles / np.maximum(guess.sum(axis=1), 1e-9)
        errors.append(float(weights @ (np.repeat(means, PLACES) - tied * places) ** 2))
    return float(np.mean(errors))


def _population(bins: int, tied: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places of one normal column and their weights, and the shares of the cells of both together."""
    places = (np.arange(bins * PLACES) + 0.5) / (bins * PLACES) * 2.0 * WIDE - WIDE
    weights = np.exp(-(places**2) / 2.0)
    weights /= weights.sum()
    edges = np.linspace(-WIDE, WIDE, bins + 1)
    edges[[0, -1]] = -math.inf, math.inf
    inside = np.diff(ndtr((edges - tied * places[:, None]) / math.sqrt(1.0 - tied**2)), axis=1)
    return places, weights, (weights[:, None] * inside).reshape(bins, PLACES, bins).sum(axis=1)
