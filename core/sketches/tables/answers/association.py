"""How strongly two columns hang together, with the noise taken off, and what noise and chance alone would show.

Where columns a and b have nothing to do with each other, a table is what its margins say, e = a b / n, up to chance,
whose variance is about e, and the noise's s^2. The statistic is the sum of (x - e)^2 / (e + s^2) over the cells. What
it would be for columns without any connection is drawn from public random numbers: `alone` is its 95% point. Cramer's V
is made of (x - e)^2 less the noise's share of it: noise does not make it larger, and it is 0 where nothing is left.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from ....errors import RequestError
from ..reading import Reading
from .best_guess import BestGuess
from .conditions import places_of

DRAWS = 200
LEAST = 1.0
"""Records that are expected in a cell at least where it is divided by."""


def associations(reading: Reading, columns: Sequence[str]) -> pd.DataFrame:
    """Every pair of columns that was measured, the one that tells most first; see `TableAnswers.associations`."""
    axes = reading.layout.axes
    places = sorted(places_of(axes, columns)) if columns else range(len(axes))
    pairs = [pair for pair in combinations(places, 2) if pair in reading.noise.by_columns]
    if not pairs:
        raise RequestError("No two of these columns were measured together.")
    guess = BestGuess(reading)
    rows = [_pair(reading, guess, pair) for pair in pairs]
    frame = pd.DataFrame(rows, columns=["column", "other", "cramers_v", "bits", "statistic", "alone", "told"])
    return frame.sort_values("bits", ascending=False, ignore_index=True)


def strengths(reading: Reading, columns: Sequence[str] = (), level: float = 0.95) -> pd.DataFrame:
    """Every pair of columns that was measured with Cramer's V, the noise taken off, and its interval.

    First comes what is surely strongest, by the low ends: where cells are many, noise may make a weak pair look strong,
    and its wide interval says so.

    V is between 0 and 1. Where fewer records are expected in a cell than one standard deviation of the noise, that many
    are taken to be: rare cells, of which the noise would tell nothing, make V smaller and never larger. With x - e as x
    less what margins say, and noise of variance s^2 in each, the sum of ((x - e)^2 - s^2) / e has variance
    2 s^4 / e^2 + 4 s^2 (x - e)^2 / e^2 by noise, added up: the interval is of that.
    """
    axes, noise, guess = reading.layout.axes, reading.noise, BestGuess(reading)
    places = sorted(places_of(axes, columns)) if columns else range(len(axes))
    reach = noise.reach(level)
    rows = []
    for pair in combinations(places, 2):
        if pair not in noise.by_columns:
            continue
        expected = np.outer(*(guess.counts((place,)) for place in pair)) / guess.records
        sides = [axes[place].cells for place in pair]
        variance = noise.variances[pair] * math.prod(float(noise.axis_spread(place).mean()) for place in pair)
        free = math.prod(1.0 - 1.0 / side for side in sides)  # noise of cells is of sum 0 along each side
        divisor = np.maximum(expected, max(LEAST, math.sqrt(variance)))
        squares = (reading.residual(pair) - _interaction(expected)) ** 2
        found = float(((squares - variance) / divisor).sum())
        moved = 2.0 * variance**2 + 4.0 * variance * np.maximum(squares - variance, 0.0)
        error = math.sqrt(float((moved / divisor**2).sum()) / free)
        whole = guess.records * (min(sides) - 1)
        ends = (found, found - reach * error, found + reach * error)
        rows.append((*(axes[place].name for place in pair), *(math.sqrt(min(1.0, max(0.0, q / whole))) for q in ends)))
    frame = pd.DataFrame(rows, columns=["column", "other", "estimate", "low", "high"])
    return frame.sort_values(["low", "estimate"], ascending=False, ignore_index=True)


def _pair(reading: Reading, guess: BestGuess, pair: tuple[int, int]) -> tuple[object, ...]:
    axes, noise = reading.layout.axes, reading.noise
    one, other = (guess.counts((place,)) for place in pair)
    expected = np.outer(one, other) / guess.records
    sides = [axes[place].cells for place in pair]
    spread = math.prod(float(noise.axis_spread(place).mean()) for place in pair)
    variance = noise.variances[pair] * spread  # of the interaction in a cell
    residual = reading.residual(pair)
    difference = residual - _interaction(expected)
    scale = np.maximum(expected, LEAST) + variance
    statistic = float((difference**2 / scale).sum())
    random = np.random.default_rng(0)  # public: nothing is hidden by it
    drawn = random.normal(size=(DRAWS, *sides)) * np.sqrt(expected)
    noisy = random.normal(size=(DRAWS, *sides)) * math.sqrt(variance / math.prod(1.0 - 1.0 / side for side in sides))
    drawn = _interaction(drawn + noisy)
    alone = float(np.quantile((drawn**2 / scale).sum(axis=(1, 2)), 0.95))
    square = float(((difference**2 - variance) / np.maximum(expected, LEAST)).sum())
    cramers_v = math.sqrt(min(1.0, max(0.0, square) / (guess.records * (min(sides) - 1))))
    names = (axes[place].name for place in pair)
    return *names, cramers_v, _bits(guess.counts(pair)), statistic, alone, statistic > alone


def _interaction(values: np.ndarray) -> np.ndarray:
    """What a table, along its last two sides, adds to its margins."""
    values = values - values.mean(axis=-1, keepdims=True)
    return values - values.mean(axis=-2, keepdims=True)


def _bits(counts: np.ndarray) -> float:
    """Mutual information of a guessed table."""
    share = counts / counts.sum()
    even = np.outer(share.sum(axis=1), share.sum(axis=0))
    seen = share > 0
    return float((share[seen] * np.log2(share[seen] / even[seen])).sum())
