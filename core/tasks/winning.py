"""How likely the class with the highest noisy score has the highest score without noise.

A score that leads by two standard errors is not simply the right one in 98 of 100 cases: where nothing is to be seen,
scores lead by noise alone. How far classes lie apart is learned from the scores themselves (empirical Bayes). At every
place the K true scores scatter with a standard deviation tau around a middle of the place's own, and in some places one
class, any of them, stands out by 3 tau; tau is one of a grid from far below the noise to far above it, and the places
share the weights of grid and standing out. For two classes this is adaptive shrinkage, and one less the chance its
local false sign rate (Stephens, "False discovery rates: a new deal", Biostatistics 2017), with a prior that may have
two peaks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp, ndtr

LEAST_SCATTER = 0.1
"""Of the grid, in standard errors: scores that lie closer together than this are as good as equal."""
STEP = 1.5
LEAD = 3.0
"""How far a class stands out where one does, in deviations of the scatter."""
MOST_LEARNED = 4_000
"""Places that the weights are learned from; evenly spread ones where there are more."""
FAITH = 10.0
"""How many places the even weights that one starts with are worth, so that a single place can be asked too."""
ITERATIONS = 200
NEGLIGIBLE = 1e-4
"""Explanations of less than this share of a place are left out of its chance."""
AT_ONCE = 1 << 19
"""Numbers in a block of places by classes by explanations."""
NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(24)
SHARES = NODE_WEIGHTS / NODE_WEIGHTS.sum()


@dataclass(frozen=True)
class Scatter:
    """What is known beforehand about how far the true scores of the classes lie apart at a place.

    Attributes
    ----------
    deviation : float64 (J,), standard deviations around the middle of a place.
    weight : float64 (J, 2), the share of the places that have each, with no class standing out and with one; they add
        up to 1.
    """

    deviation: np.ndarray
    weight: np.ndarray


def learned_scatter(value: np.ndarray, variance: np.ndarray) -> Scatter:
    """The weights that explain the scores best, by expectation and maximisation from even ones.

    Parameters
    ----------
    value, variance : float64 (n, K), scores and the variance of their noise.
    """
    chosen = np.unique(np.linspace(0, len(value) - 1, min(len(value), MOST_LEARNED)).astype(np.int64))
    value, variance = value[chosen], _positive(variance[chosen])
    noise = np.sqrt(variance)
    reach = np.abs(value - value.mean(axis=1, keepdims=True)).max()
    least, most = LEAST_SCATTER * noise.min(), max(2.0 * reach, 8.0 * noise.max())
    deviation = np.geomspace(least, most, 2 + int(np.log(most / least) / np.log(STEP)))
    # Which class stands out is any of them, so their likelihoods are averaged once and for all.
    log_likelihood = np.hstack([_both_kinds(value, variance, tau) for tau in deviation])
    likelihood = np.exp(log_likelihood - log_likelihood.max(axis=1, keepdims=True))
    even = np.full(likelihood.shape[1], 1.0 / likelihood.shape[1])
    weight = even
    for _ in range(ITERATIONS):
        share = likelihood * weight
        share /= share.sum(axis=1, keepdims=True)
        weight = (share.sum(axis=0) + FAITH * even) / (len(value) + FAITH)
    return Scatter(deviation, weight.reshape(-1, 2))


def chance_of_winning(value: np.ndarray, variance: np.ndarray, scatter: Scatter) -> np.ndarray:
    """Probability that the class of the largest value has the largest true score, float64 (n,).

    Parameters
    ----------
    value, variance : float64 (n, K), scores and the variance of their independent, roughly normal noise.
    scatter : what is known beforehand.
    """
    variance = _positive(variance)
    size = max(1, AT_ONCE // (value.shape[1] * len(scatter.deviation)))
    starts = range(0, len(value), size)
    chances = (_chance(value[a : a + size], variance[a : a + size], scatter) for a in starts)
    return np.concatenate([np.empty(0), *chances])


def _chance(value: np.ndarray, variance: np.ndarray, scatter: Scatter) -> np.ndarray:
    explained = [
        np.hstack([plain[:, None] + np.log(weight[0]), standing + np.log(weight[1] / value.shape[1])])
        for (plain, standing), weight in (
            (_log_likelihoods(value, variance, tau), weight)
            for tau, weight in zip(scatter.deviation, scatter.weight, strict=True)
        )
    ]
    log_share = np.stack(explained, axis=1)
    share = np.exp(log_share - logsumexp(log_share, axis=(1, 2), keepdims=True))
    share = np.where(share > NEGLIGIBLE, share, 0.0)
    winner = value.argmax(axis=1)
    chance = np.zeros(len(value))
    for j, k in zip(*np.nonzero(share.any(axis=0)), strict=True):
        places = np.flatnonzero(share[:, j, k])
        leader = None if k == 0 else k - 1
        mean, deviation = _shrunk(value[places], variance[places], scatter.deviation[j], leader)
        chance[places] += share[places, j, k] * _largest(mean, deviation, winner[places])
    return chance / share.sum(axis=(1, 2))


def _positive(variance: np.ndarray) -> np.ndarray:
    """A release almost without noise has variances that round to zero."""
    return np.maximum(variance, 1e-200)


def _both_kinds(value: np.ndarray, variance: np.ndarray, tau: float) -> np.ndarray:
    """Log densities (n, 2) of the scores where no class stands out, and where any does."""
    plain, standing = _log_likelihoods(value, variance, tau)
    return np.column_stack([plain, logsumexp(standing, axis=1) - np.log(value.shape[1])])


def _log_likelihoods(value: np.ndarray, variance: np.ndarray, tau: float) -> tuple[np.ndarray, np.ndarray]:
    """Log densities of scores around an unknown middle, (n,), and with each class standing out, (n, K)."""
    weight = 1.0 / (variance + tau**2)
    total = weight.sum(axis=1, keepdims=True)
    offset = value - (weight * value).sum(axis=1, keepdims=True) / total
    plain = 0.5 * (np.log(weight).sum(axis=1) - np.log(total[:, 0]) - (weight * offset**2).sum(axis=1))
    lead = LEAD * tau
    return plain, plain[:, None] + lead * weight * (offset - 0.5 * lead * (1.0 - weight / total))


def _shrunk(
    value: np.ndarray, variance: np.ndarray, tau: float, leader: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard deviations (n, K) of the true scores, given the noisy ones and which class stands out."""
    expected = np.zeros(value.shape[1])
    if leader is not None:
        expected[leader] = LEAD * tau
    weight = 1.0 / (variance + tau**2)
    expected = expected + (weight * (value - expected)).sum(axis=1, keepdims=True) / weight.sum(axis=1, keepdims=True)
    kept = tau**2 * weight
    return expected + kept * (value - expected), np.sqrt(kept * variance)


def _largest(mean: np.ndarray, deviation: np.ndarray, winner: np.ndarray) -> np.ndarray:
    """Probability (n,) that one of K independent normal numbers is the largest, by Gaussian quadrature over its own."""
    rows = np.arange(len(mean))
    own = mean[rows, winner][:, None] + deviation[rows, winner][:, None] * NODES
    below = np.ones(own.shape)
    for k in range(mean.shape[1]):
        beaten = ndtr((own - mean[:, k, None]) / deviation[:, k, None])
        below *= np.where((winner == k)[:, None], 1.0, beaten)
    return below @ SHARES
