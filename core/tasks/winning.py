"""How likely the class with the highest noisy score has the highest score without noise.

A score that leads by two standard errors is not simply the right one in 98 of 100 cases: where nothing is to be seen,
scores lead by noise alone. How far classes lie apart is learned from the scores themselves (empirical Bayes): at every
place the K true scores scatter around a middle with a standard deviation that is itself unknown, one of a grid from far
below the noise to far above it, with weights that all places share. That is adaptive shrinkage (Stephens, "False
discovery rates: a new deal", Biostatistics 2017, whose local false sign rate this is for two classes), with a random
effect for the middle.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp, ndtr

LEAST_SPREAD = 0.1
"""Of the grid, in standard errors: scores that lie closer together than this are as good as equal."""
STEP = 1.5
MOST_LEARNED = 4_000
"""Places that the weights are learned from; evenly spread ones where there are more."""
FAITH = 10.0
"""How many places the even weights that one starts with are worth, so that a single place can be asked too."""
ITERATIONS = 200
NEGLIGIBLE = 1e-4
BLOCK = 1 << 12
NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(24)
SHARES = NODE_WEIGHTS / NODE_WEIGHTS.sum()


@dataclass(frozen=True)
class Spreads:
    """What is known beforehand about how far the true scores of the classes lie apart at a place.

    Attributes
    ----------
    deviation : float64 (J,), standard deviations around the middle of a place.
    weight : float64 (J,), how many of the places have each; they add up to 1.
    """

    deviation: np.ndarray
    weight: np.ndarray


def learned_spreads(value: np.ndarray, variance: np.ndarray) -> Spreads:
    """The weights that explain the scores best, by expectation and maximisation from even ones.

    Parameters
    ----------
    value, variance : float64 (n, K), scores and the variance of their noise.
    """
    chosen = np.unique(np.linspace(0, len(value) - 1, min(len(value), MOST_LEARNED)).astype(np.int64))
    value, variance = value[chosen], variance[chosen]
    noise = np.sqrt(np.maximum(variance, np.finfo(float).tiny))
    reach = np.abs(value - value.mean(axis=1, keepdims=True)).max()
    least = LEAST_SPREAD * float(noise.min())
    most = max(2.0 * reach, 8.0 * float(noise.max()))
    deviation = np.geomspace(least, most, 2 + int(np.log(most / least) / np.log(STEP)))
    likelihood = _log_likelihood(value, variance, deviation)
    likelihood = np.exp(likelihood - likelihood.max(axis=1, keepdims=True))
    even = np.full(len(deviation), 1.0 / len(deviation))
    weight = even
    for _ in range(ITERATIONS):
        shares = likelihood * weight
        shares /= shares.sum(axis=1, keepdims=True)
        weight = (shares.sum(axis=0) + FAITH * even) / (len(value) + FAITH)
    return Spreads(deviation, weight)


def chance_of_winning(value: np.ndarray, variance: np.ndarray, spreads: Spreads) -> np.ndarray:
    """Probability that the class of the largest value has the largest true score, float64 (n,).

    Parameters
    ----------
    value, variance : float64 (n, K), scores and the variance of their independent, roughly normal noise.
    spreads : what is known beforehand.
    """
    variance = np.maximum(variance, np.finfo(float).tiny)
    blocks = [slice(start, start + BLOCK) for start in range(0, len(value), BLOCK)]
    return np.concatenate([np.empty(0), *(_chance(value[block], variance[block], spreads) for block in blocks)])


def _chance(value: np.ndarray, variance: np.ndarray, spreads: Spreads) -> np.ndarray:
    log_weight = np.log(np.maximum(spreads.weight, 1e-300)) + _log_likelihood(value, variance, spreads.deviation)
    share = np.exp(log_weight - logsumexp(log_weight, axis=1, keepdims=True))
    winner = value.argmax(axis=1)
    chance = np.zeros(len(value))
    for j, deviation in enumerate(spreads.deviation):
        places = np.flatnonzero(share[:, j] > NEGLIGIBLE)
        if len(places):
            mean, scatter = _shrunk(value[places], variance[places], deviation)
            chance[places] += share[places, j] * _largest(mean, scatter, winner[places])
    covered = np.where(share > NEGLIGIBLE, share, 0.0).sum(axis=1)
    return chance / covered


def _log_likelihood(value: np.ndarray, variance: np.ndarray, deviation: np.ndarray) -> np.ndarray:
    """Log density (n, J) of scores whose truths scatter with each deviation around an unknown middle."""
    found = np.empty((len(value), len(deviation)))
    for j, tau in enumerate(deviation):
        weight = 1.0 / (variance + tau**2)
        total = weight.sum(axis=1)
        middle = (weight * value).sum(axis=1) / total
        squares = (weight * (value - middle[:, None]) ** 2).sum(axis=1)
        found[:, j] = 0.5 * (np.log(weight).sum(axis=1) - np.log(total) - squares)
    return found


def _shrunk(value: np.ndarray, variance: np.ndarray, deviation: float) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard deviations (n, K) of the true scores, given the noisy ones."""
    weight = 1.0 / (variance + deviation**2)
    middle = ((weight * value).sum(axis=1) / weight.sum(axis=1))[:, None]
    kept = deviation**2 * weight
    return middle + kept * (value - middle), np.sqrt(kept * variance)


def _largest(mean: np.ndarray, deviation: np.ndarray, winner: np.ndarray) -> np.ndarray:
    """Probability (n,) that one of K independent normal numbers is the largest, by Gaussian quadrature over its own."""
    rows = np.arange(len(mean))
    own = mean[rows, winner][:, None] + deviation[rows, winner][:, None] * NODES
    below = np.ones(own.shape)
    for k in range(mean.shape[1]):
        beaten = ndtr((own - mean[:, k, None]) / deviation[:, k, None])
        below *= np.where((winner == k)[:, None], 1.0, beaten)
    return below @ SHARES
