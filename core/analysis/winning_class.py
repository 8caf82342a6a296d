"""How likely the class with the highest noisy score has the highest score without noise.

A score that leads by two standard errors is not simply the right one in 98 of 100 cases: where nothing is to be seen,
scores lead by noise alone. How far classes lie apart is learned from the scores themselves (empirical Bayes). At every
place the K true scores scatter with a standard deviation tau around a middle of the place's own, and in some places one
class, any of them, stands out by some tau; tau is one of a grid from far below the noise to far above it, and the
places share the weights of grid and leads. For two classes this is adaptive shrinkage, and one less the chance its
local false sign rate (Stephens, "False discovery rates: a new deal", Biostatistics 2017), with a prior that may have
two peaks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from ..runtime.compiled_code import njit
from ..runtime.threads import one_thread, over_ranges

# The least scatter of true scores that is considered, in standard errors: closer scores are as good as equal.
LEAST_SCATTER = 0.03
STEP = 2.0
LEADS = np.array([2.0, 6.0])  # How far a class may stand out, in deviations of the scatter.
MOST_LEARNED = 4_000  # Places that the weights are learned from; evenly spread ones where there are more.
FAITH = 10.0  # How many places the even weights that one starts with are worth, so that a single place can be asked too
ITERATIONS = 200
NEGLIGIBLE = 1e-3  # Explanations that are so much less likely than the likeliest one are left out of a chance.
LOG_NEGLIGIBLE = math.log(NEGLIGIBLE)
UNSEEN = -40.0  # Log of a share in a sum that double precision hardly sees.
ORDINARY = 1e-100  # A number between this and its inverse has a product with another such one that is a number too.
CLEARLY = 5.0  # Standard errors between two numbers of which one is taken to be the larger.
NODES, _SHARES = np.polynomial.hermite_e.hermegauss(16)
SHARES = _SHARES / _SHARES.sum()
EDGE, FINENESS = 8, 256
# The normal distribution function in steps; straight between them, which is right to two millionths.
NORMAL = ndtr(np.arange(-EDGE * FINENESS, EDGE * FINENESS + 2) / FINENESS)


@dataclass(frozen=True)
class Scatter:
    """What is known beforehand about how far the true scores of the classes lie apart at a place."""

    deviation: np.ndarray  # float64 (J,), standard deviations around the middle of a place.
    # float64 (J, 1 + len(LEADS)), the share of the places that have each, with no class standing out and with one by
    # each lead; they add up to 1.
    weight: np.ndarray


def learned_scatter(value: np.ndarray, variance: np.ndarray) -> Scatter:
    """The weights that explain the scores best, by expectation and maximisation from even ones."""
    chosen = np.unique(np.linspace(0, len(value) - 1, min(len(value), MOST_LEARNED)).astype(np.int64))
    value, variance = value[chosen], _positive(variance[chosen])
    noise = np.sqrt(variance)
    reach = np.abs(value - value.mean(axis=1, keepdims=True)).max()
    least, most = LEAST_SCATTER * noise.min(), max(2.0 * reach, 8.0 * noise.max())
    deviation = np.geomspace(least, most, 2 + int(np.log(most / least) / np.log(STEP)))
    log_likelihood = np.empty((len(value), len(deviation) * (1 + len(LEADS))))
    value, variance = np.ascontiguousarray(value), np.ascontiguousarray(variance)

    def places(first: int, last: int) -> None:
        _tell_apart(value, variance, deviation, first, last, log_likelihood)

    over_ranges(len(value), places, at_least=64)
    likelihood = np.exp(log_likelihood - log_likelihood.max(axis=1, keepdims=True))
    even = np.full(likelihood.shape[1], 1.0 / likelihood.shape[1])
    weight = even
    with one_thread():  # small matrices
        for _ in range(ITERATIONS):
            # A place's share in an explanation is likelihood * weight, divided by its sum over the explanations.
            shares = weight * ((1.0 / (likelihood @ weight)) @ likelihood)
            weight = (shares + FAITH * even) / (len(value) + FAITH)
    return Scatter(deviation, weight.reshape(len(deviation), -1))


@njit(nogil=True, cache=True)
def _tell_apart(value, variance, deviation, first, last, out):
    """Log densities of the scores under every deviation, where no class stands out and where any does by each lead."""
    classes, kinds = value.shape[1], 1 + len(LEADS)
    even = np.zeros(kinds)
    even[1:] = -np.log(classes)
    explained = np.empty((kinds, classes))
    for i in range(first, last):
        for j in range(len(deviation)):
            _explain(value[i], variance[i], deviation[j], even, explained)
            for kind in range(kinds):
                most = explained[kind].max()
                total = 0.0
                for k in range(classes):
                    if explained[kind, k] > most + UNSEEN:
                        total += np.exp(explained[kind, k] - most)
                out[i, j * kinds + kind] = most + np.log(total)


def chance_of_winning(value: np.ndarray, variance: np.ndarray, scatter: Scatter) -> np.ndarray:
    """Probability that the class of the largest value has the largest true score, float64 (n,).

    Parameters
    ----------
    value, variance : np.ndarray
        float64 (n, K), scores and the variance of their independent, roughly normal noise.
    """
    value, variance = np.ascontiguousarray(value), np.ascontiguousarray(_positive(variance))
    log_weight = np.log(scatter.weight)
    log_weight[:, 1:] -= np.log(value.shape[1])  # any of the K classes may be the one that stands out
    chance = np.empty(len(value))

    def places(first: int, last: int) -> None:
        _chances(value, variance, scatter.deviation, log_weight, first, last, chance)

    over_ranges(len(value), places, at_least=64)
    return chance


def _positive(variance: np.ndarray) -> np.ndarray:
    """A release almost without noise has variances that round to zero."""
    return np.maximum(variance, 1e-200)


@njit(nogil=True, cache=True)
def _chances(value, variance, deviation, log_weight, first, last, chance):
    """Explanation by explanation of each place: how likely it is, and then how likely the leader leads in truth."""
    classes, kinds = value.shape[1], 1 + len(LEADS)
    log_share = np.empty((len(deviation), kinds, classes))
    mean, error = np.empty(classes), np.empty(classes)
    for i in range(first, last):
        winner = np.argmax(value[i])
        for j in range(len(deviation)):
            _explain(value[i], variance[i], deviation[j], log_weight[j], log_share[j])
        most = log_share.max()
        total = wins = 0.0
        for j in range(len(deviation)):
            for kind in range(kinds):
                for k in range(classes):
                    if log_share[j, kind, k] > most + LOG_NEGLIGIBLE:  # before an exponential, as few are
                        share = np.exp(log_share[j, kind, k] - most)
                        lead = LEADS[kind - 1] * deviation[j] if kind else 0.0
                        _shrink(value[i], variance[i], deviation[j], lead, k, mean, error)
                        total += share
                        wins += share * _is_largest(mean, error, winner)
        chance[i] = min(wins / total, 1.0)


@njit(nogil=True, cache=True)
def _explain(value, variance, tau, log_weight, out):
    """Log probabilities, but for a constant, that no class stands out, out[0, 0], or class k by each lead, out[1:, k].

    Known noise and scatter make a score normal with variance v + tau^2 around a middle of which nothing is known.
    """
    total = middle = logs = squares = 0.0
    product = 1.0
    for k in range(len(value)):
        weight = 1.0 / (variance[k] + tau * tau)
        total += weight
        middle += weight * value[k]
        # One logarithm of many weights, for as long as their product is far from the ends of the numbers.
        if ORDINARY < weight < 1.0 / ORDINARY:
            product *= weight
        else:
            logs += np.log(weight)
        if not ORDINARY < product < 1.0 / ORDINARY:
            logs += np.log(product)
            product = 1.0
    logs += np.log(product)
    middle /= total
    for k in range(len(value)):
        squares += (value[k] - middle) ** 2 / (variance[k] + tau * tau)
    plain = 0.5 * (logs - np.log(total) - squares)
    out[0] = -np.inf
    out[0, 0] = plain + log_weight[0]
    for k in range(len(value)):
        weight = 1.0 / (variance[k] + tau * tau)
        for kind in range(len(LEADS)):
            lead = LEADS[kind] * tau
            gain = lead * weight * (value[k] - middle - 0.5 * lead * (1.0 - weight / total))
            out[1 + kind, k] = plain + gain + log_weight[1 + kind]


@njit(nogil=True, cache=True)
def _shrink(value, variance, tau, lead, leader, mean, error):
    """Means and standard errors (K,) of the true scores, given the noisy ones and which class stands out by how far."""
    total = middle = 0.0
    for k in range(len(value)):
        weight = 1.0 / (variance[k] + tau * tau)
        total += weight
        middle += weight * (value[k] - (lead if k == leader else 0.0))
    middle /= total
    for k in range(len(value)):
        kept = tau * tau / (variance[k] + tau * tau)
        expected = middle + (lead if k == leader else 0.0)
        mean[k] = expected + kept * (value[k] - expected)
        error[k] = np.sqrt(kept * variance[k])


@njit(nogil=True, cache=True)
def _normal(z):
    """The normal distribution function, off a table: it is asked for every rival of every explanation of a place."""
    place = (min(max(z, -EDGE), EDGE) + EDGE) * FINENESS
    step = int(place)
    return NORMAL[step] + (place - step) * (NORMAL[step + 1] - NORMAL[step])


@njit(nogil=True, cache=True)
def _is_largest(mean, error, winner):
    """Probability that one of K independent normal numbers is the largest, by Gaussian quadrature over its own."""
    rivals, close = np.empty(len(mean), np.int64), 0
    for k in range(len(mean)):
        apart = math.hypot(error[k], error[winner])
        if k == winner or mean[winner] - mean[k] > CLEARLY * apart:
            continue
        if mean[k] - mean[winner] > CLEARLY * apart:
            return 0.0
        rivals[close] = k
        close += 1
    found = 0.0
    for node in range(len(NODES)):
        own = mean[winner] + error[winner] * NODES[node]
        below = SHARES[node]
        for k in rivals[:close]:
            below *= _normal((own - mean[k]) / error[k])
        found += below
    return found
