"""Noisy counts moved towards what may be expected of them, and then to margins that are known.

Unbiased counts x of a table have noise of variance s^2 in every cell, whether a cell holds thousands or nobody. What is
known beside them is that most tables are nearly what their margins say, e, the more nearly the fewer people e expects.
So the difference of the truth and e is taken to be normal of variance t e^g in each cell, with t and g chosen for the
table as what makes its x most likely (empirical Bayes), and x is moved towards e by s^2 / (s^2 + t e^g): nearly all the
way where nobody is expected, and hardly at all where many are. Then the cells are moved as little as can be, the
uncertain ones more, until none is negative and the margins are those that were guessed before. The nearest numbers
that are possible and have a given sum are found here, too.

Of many pairs most may have nothing beyond their margins. How common each e, t and g is, is learnt of all measured pairs
together, and x is moved as they say on average, weighted by how likely each is. With few pairs the likeliest is taken.
"""

import math
from collections.abc import Sequence

import numpy as np

POWERS = (1.0, 1.5, 2.0)  # g: people scatter around e by chance (1), or tables are off by a share of it (2).
STRENGTHS = np.geomspace(1e-5, 1e4, 28)  # Mean of t e^g that are tried, in units of s^2.
ROUNDS = 15  # Of moving cells to their margins.
NEGLIGIBLE = 1e-6  # How likely a way is that is left aside.
HALVINGS = 60  # In which it is found by how much numbers are lowered.
LEARNT_IN = 30  # Rounds in which it is learnt how common each way is.


def towards(
    found: np.ndarray,
    expected: Sequence[np.ndarray],
    variance: float,
    fitted: float = 0.0,
    common: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Noisy counts moved towards expected ones, and the variance that is left in each cell.

    `found`, `expected`: of one shape; the former with noise of this variance in every cell, and each of the latter what
    may be expected. `variance`: s^2; with 0 nothing is moved. `fitted`: how much too likely, in logarithms, the second
    makes the counts. `common`: how common each way is; where that is not known, the likeliest alone is gone.
    """
    if variance <= 0.0:
        return found, np.ones_like(found)
    logs = ways(found, expected, variance, fitted)
    if logs.max() == -math.inf:  # as noise is far less than any number's own rounding
        return found, np.zeros_like(found)
    if common is None:
        weights = (logs == logs.max()).astype(float)
    else:
        weights = np.exp(logs - logs.max()) * common.reshape(-1, *logs.shape[1:])[: len(logs)]
    weights /= weights.sum()
    moved, kept = np.zeros(found.shape), np.zeros(found.shape)
    for wanted, of_one in zip(expected, weights, strict=True):
        its = np.zeros(found.shape)
        for power, strength in np.argwhere(of_one > NEGLIGIBLE):
            variances = STRENGTHS[strength] * _spread(wanted, POWERS[power])
            its += of_one[power, strength] * variances / (1.0 + variances)
        moved += of_one.sum() * wanted + its * (found - wanted)
        kept += its
    return moved, kept * variance


def ways(found: np.ndarray, expected: Sequence[np.ndarray], variance: float, fitted: float) -> np.ndarray:
    """The logarithm of how likely counts are, by what is expected, and by the power and strength of differences."""
    logs = []
    for wanted in expected:
        squares = (found - wanted) ** 2 / variance
        for power in POWERS:
            spread = _spread(wanted, power)
            for variances in (1.0 + strength * spread for strength in STRENGTHS):
                logs.append(-0.5 * float((np.log(variances) + squares / variances).sum()))
    likely = np.array(logs).reshape(len(expected), len(POWERS), len(STRENGTHS))
    likely[1:] -= fitted
    return likely


def _spread(wanted: np.ndarray, power: float) -> np.ndarray:
    """How much more differences vary in each cell than in others, 1 on average."""
    spread: np.ndarray = np.maximum(wanted, 0.0) ** power + 1e-12
    return spread / spread.mean()


def common_of(logs: np.ndarray) -> np.ndarray:
    """How common each way is among several tables, by how likely each is in each of them: one more of each at first."""
    likely = np.exp(logs - logs.max(axis=1, keepdims=True))
    common = np.full(logs.shape[1], 1.0 / logs.shape[1])
    for _ in range(LEARNT_IN):
        each = likely * common
        common = (each / each.sum(axis=1, keepdims=True)).sum(axis=0) + 1.0 / len(common)
        common /= common.sum()
    return common


def moved_to(values: np.ndarray, uncertain: np.ndarray, margins: dict[tuple[int, ...], np.ndarray]) -> np.ndarray:
    """Values without negative ones and with these margins, moved in proportion to how uncertain they are.

    Returns float64, not negative; the last margins are met exactly, and the others nearly.

    `values`, `uncertain`: of one shape; the latter the variance of each value. `margins`: by the sides that are kept,
    what is left when the others are added up.
    """
    values = np.maximum(values, 0.0)
    uncertain = uncertain + 1e-9 * (uncertain.mean() + 1.0)
    for _ in range(ROUNDS):
        for kept, wanted in margins.items():
            others = tuple(side for side in range(values.ndim) if side not in kept)
            lacking = np.expand_dims((wanted - values.sum(axis=others)) / uncertain.sum(axis=others), others)
            values = np.maximum(values + uncertain * lacking, 0.0)
    for kept, wanted in margins.items():
        others = tuple(side for side in range(values.ndim) if side not in kept)
        have = values.sum(axis=others)
        values = values * np.expand_dims(np.divide(wanted, have, out=np.zeros_like(have), where=have > 0), others)
    return values


def nearest_with_total(values: np.ndarray, total: float) -> np.ndarray:
    """The nearest numbers in squared distance that are not negative and have this sum, float64 (c,).

    Projection on a simplex (Held, Wolfe, Crowder 1974): all numbers are lowered by the same, and cut off at zero.
    """
    falling = np.sort(values)[::-1]
    lowered = (np.cumsum(falling) - total) / np.arange(1, len(falling) + 1)
    return np.maximum(values - lowered[falling >= lowered][-1], 0.0)


def nearest_between(values: np.ndarray, low: np.ndarray, high: np.ndarray, total: float) -> np.ndarray:
    """The nearest numbers in squared distance between ends with this sum along the last side, or next to it.

    All numbers of a row are lowered by the same and held between their ends; by how much is halved in. Where the ends
    allow no such sum, all are at those that come nearest to it. `values`, `low`, `high`: of one shape, low <= high.
    """
    under, over = (values - high).min(axis=-1, keepdims=True), (values - low).max(axis=-1, keepdims=True)
    for _ in range(HALVINGS):
        lowered = (under + over) / 2.0
        much = np.clip(values - lowered, low, high).sum(axis=-1, keepdims=True) > total
        under, over = np.where(much, lowered, under), np.where(much, over, lowered)
    return np.clip(values - (under + over) / 2.0, low, high)
