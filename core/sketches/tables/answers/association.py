"""How strongly two columns hang together, with the noise taken off, and what noise and chance alone would show.

Where columns a and b have nothing to do with each other, a table is what its margins say, e = a b / n, up to chance,
whose variance is about e, and the noise's s^2. The statistic is the sum of (x - e)^2 / (e + s^2) over the cells. What
it would be for columns without any connection is drawn from public random numbers: `alone` is its 95% point. Cramer's V
is made of (x - e)^2 less the noise's share of it: noise does not make it larger, and it is 0 where nothing is left.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from ....errors import RequestError
from ..reading import Reading
from .best_guess import BestGuess
from .counts import places_of

DRAWS = 200
LEAST = 1.0  # Records that are expected in a cell at least where it is divided by.


def associations(reading: Reading, columns: Sequence[str]) -> pd.DataFrame:
    guess = BestGuess(reading)
    rows = [(*pair.names, *_told(pair, guess)) for pair in _measured(reading, guess, columns)]
    if not rows:
        raise RequestError("No two of these columns were measured together.")
    frame = pd.DataFrame(rows, columns=["column", "other", "cramers_v", "bits", "statistic", "alone", "told"])
    return frame.sort_values("bits", ascending=False, ignore_index=True)


def strengths(
    reading: Reading,
    columns: Sequence[str] = (),
    level: float = 0.95,
    least: Mapping[tuple[str, str], float] | None = None,
) -> pd.DataFrame:
    """Every pair of columns that was measured with Cramer's V, the noise taken off, and its interval.

    First comes what is surely strongest, by the low ends: where cells are many, noise may make a weak pair look strong,
    and its wide interval says so.

    V is between 0 and 1. Where fewer records are expected in a cell than one standard deviation of the noise, that many
    are taken to be: rare cells, of which the noise would tell nothing, make V smaller and never larger. With x - e as x
    less what margins say, and noise of variance s^2 in each, the sum of ((x - e)^2 - s^2) / e has variance 2 s^4 / e^2
    + 4 s^2 (x - e)^2 / e^2 by noise, added up: the interval is of that. `reading`, `columns`, `level`: what was
    released, which columns (all, where none is named), and that of the intervals. `least`: of every pair, the share of
    the records that are taken to be expected in a cell at least: `least_shares`, or more, so that two releases of more
    and less noise are asked for the same.
    """
    reach = reading.noise.reach(level)
    rows = []
    for pair in _measured(reading, BestGuess(reading), columns):
        divisor = np.maximum(pair.expected, pair.records * max(pair.least_share, (least or {}).get(pair.names, 0.0)))
        squares, chance = pair.difference**2, pair.variance
        if reading.luck is not None:  # a draw moves a cell where e records are expected with variance d e
            chance = chance + reading.luck.design * np.maximum(pair.expected, 0.0) * pair.free
        found = float(((squares - chance) / divisor).sum())
        moved = 2.0 * chance**2 + 4.0 * chance * np.maximum(squares - chance, 0.0)
        error = math.sqrt(float((moved / divisor**2).sum()) / pair.free)
        rows.append(
            (*pair.names, *(pair.cramers_v(end) for end in (found, found - reach * error, found + reach * error)))
        )
    frame = pd.DataFrame(rows, columns=["column", "other", "estimate", "low", "high"])
    return frame.sort_values(["low", "estimate"], ascending=False, ignore_index=True)


def least_shares(reading: Reading) -> dict[tuple[str, str], float]:
    """Of every pair that was measured, the share of the records that are expected in a cell at least."""
    return {pair.names: pair.least_share for pair in _measured(reading, BestGuess(reading), ())}


@dataclass(frozen=True)
class _Pair:
    """Two columns that were measured together, cell by cell."""

    places: tuple[int, int]
    names: tuple[str, str]
    records: float  # How many records there are.
    expected: np.ndarray  # What the margins say of every cell, e.
    difference: np.ndarray  # What the table adds to its margins, x - e.
    variance: float  # Of the noise in that, s^2.

    @property
    def free(self) -> float:
        """The share of the cells' noise that is free, as it is of sum 0 along each side."""
        return math.prod(1.0 - 1.0 / side for side in self.expected.shape)

    @property
    def least_share(self) -> float:
        return max(LEAST, math.sqrt(self.variance)) / self.records

    def cramers_v(self, square: float) -> float:
        """Cramer's V of a sum of squares over what was expected."""
        return math.sqrt(min(1.0, max(0.0, square / (self.records * (min(self.expected.shape) - 1)))))


def _measured(reading: Reading, guess: BestGuess, columns: Sequence[str]) -> Iterator[_Pair]:
    """Every pair of these columns, or of all, that was measured."""
    axes, noise = reading.layout.axes, reading.noise
    for places in combinations(sorted(places_of(axes, columns)) if columns else range(len(axes)), 2):
        if places not in noise.by_columns:
            continue
        one, other = places
        expected = np.outer(guess.counts((one,)), guess.counts((other,))) / guess.records
        difference = reading.residual(places) - _interaction(expected)
        variance = noise.variances[places] * math.prod(float(noise.axis_spread(place).mean()) for place in places)
        yield _Pair(places, (axes[one].name, axes[other].name), guess.records, expected, difference, variance)


def _told(pair: _Pair, guess: BestGuess) -> tuple[float, float, float, float, bool]:
    """Cramer's V, bits, the statistic, what it would be for columns without any connection, and whether it is more."""
    scale = np.maximum(pair.expected, LEAST) + pair.variance
    statistic = float((pair.difference**2 / scale).sum())
    # What is released has its exact noise already: these are made-up tables that chance and such noise alone would
    # give, drawn from a public seed to compare the released one with. Nothing is hidden by them.
    random = np.random.default_rng(0)
    drawn = random.normal(size=(DRAWS, *pair.expected.shape)) * np.sqrt(pair.expected)
    noisy = random.normal(size=(DRAWS, *pair.expected.shape)) * math.sqrt(pair.variance / pair.free)
    alone = float(np.quantile((_interaction(drawn + noisy) ** 2 / scale).sum(axis=(1, 2)), 0.95))
    square = float(((pair.difference**2 - pair.variance) / np.maximum(pair.expected, LEAST)).sum())
    return pair.cramers_v(square), _bits(guess.counts(pair.places)), statistic, alone, statistic > alone


def _interaction(values: np.ndarray) -> np.ndarray:
    """What a table, along its last two sides, adds to its margins."""
    values = values - values.mean(axis=-1, keepdims=True)
    return values - values.mean(axis=-2, keepdims=True)


def _bits(counts: np.ndarray) -> float:
    share = counts / counts.sum()
    even = np.outer(share.sum(axis=1), share.sum(axis=0))
    seen = share > 0
    return float((share[seen] * np.log2(share[seen] / even[seen])).sum())
