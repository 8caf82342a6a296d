"""How uncertain an answer is: outcomes that are equally likely, and independent estimates out of one release.

People read chances off countable outcomes better than off error bars (Kay, Kola, Hullman, Munson, CHI 2016).

Searches need independent estimates as judges, and averages need them for an error. Grouped sketches are made of them. A
table that is not (a histogram, a tree of distances) is split by its noise instead: with T the released table, Z_k fresh
noise of the same law and Z their mean, T_k = T + sqrt(K) (Z_k - Z). The noise of T_k has K times the variance, the
covariance of two of them is v + K v (0 - 1/K) = 0, and their mean is T again (data thinning; Neufeld, Dharamshi, Gao,
Witten 2024). Gaussian noises that are uncorrelated are independent; Laplace noises are nearly so once an answer adds up
some counters. All of it is post-processing, with a public seed.

How likely the class with the highest noisy score has the highest score without noise.

A score that leads by two standard errors is not simply the right one in 98 of 100 cases: where nothing is to be seen,
scores lead by noise alone. How far classes lie apart is learned from the scores themselves (empirical Bayes). At every
place the K true scores scatter with a standard deviation tau around a middle of the place's own, and in some places one
class, any of them, stands out by some tau; tau is one of a grid from far below the noise to far above it, and the
places share the weights of grid and leads. For two classes this is adaptive shrinkage, and one less the chance its
local false sign rate (Stephens, "False discovery rates: a new deal", Biostatistics 2017), with a prior that may have
two peaks.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np
from scipy.special import ndtr, stdtrit

from ..errors import RequestError
from ..privacy.calibration import NoiseScale
from ..privacy.noise.noise import add_noise
from ..privacy.noise.randomness import SeededSource
from ..releases.release import Release
from ..runtime.compiled_code import njit
from ..runtime.environment import one_thread, over_ranges
from ..runtime.parameters import check_integer
from ..sketches.answers import Answers
from ..sketches.grouped import GroupedSketch

ROOT = 3
PARTS = ROOT * ROOT  # K, a square, so that whole numbers stay whole.
SEED = 2  # Public seed of the splitting noise.


@dataclass(frozen=True, eq=False)
class Splitting:
    """Independent, equally distributed estimates of what a release answers."""

    release: Release

    @property
    def grouped(self) -> bool:
        """Whether the sketch itself is made of independent groups, whose spread shows all of the error."""
        return self.release.sketch.in_groups

    @property
    def readings(self) -> int:
        """How often a table is read for estimates and their error."""
        return 1 if self.grouped else PARTS + 2

    @cached_property
    def noise_variance(self) -> float:
        """Variance that noise alone gives a typical answer of the whole release."""
        return float(self.release.sketch.noise_variance(self.release.privacy.counter_variance))

    def estimates(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Estimates at encoded points (n, d), float64 (G, n), and the weights (G,) with which they make the answer."""
        release = self.release
        if self.grouped:
            return cast(GroupedSketch, release.sketch).group_estimates(release.counters, release.records, points)
        variance = PARTS * release.privacy.counter_variance
        return release.sketch.estimates(self._tables, release.counts, points, variance), np.full(PARTS, 1.0 / PARTS)

    def mean(self, points: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """The mean of the chosen estimates, bool (G,), at encoded points (n, d), float64 (n,)."""
        if self.grouped:
            estimates, weights = self.estimates(points)
            return weights[chosen] @ estimates[chosen] / weights[chosen].sum()
        key = chosen.tobytes()
        if key not in self._means:
            tables = [table for table, wanted in zip(self._tables, chosen, strict=True) if wanted]
            self._means[key] = np.rint(np.mean(tables, axis=0)).astype(np.int64)
        release, variance = self.release, PARTS / chosen.sum() * self.release.privacy.counter_variance
        return release.sketch.estimates((self._means[key],), release.counts, points, variance)[0]

    def unseen_variance(self, points: np.ndarray) -> np.ndarray:
        """Variance of the answers that the spread of the estimates does not show, float64 (n,): that of a grid, say."""
        if self.grouped:
            return np.zeros(len(points))
        variance = self.release.privacy.counter_variance
        noise = self.release.sketch.noise_variance(variance, points)
        known = np.isfinite(noise)  # no formula says it of answers that follow from choices made under noise
        alone = replace(self.release, population=None)  # the luck of a draw is no error of the release
        rest = alone.answer_points(points).standard_error ** 2 - np.where(known, noise, 0.0)
        return np.where(known, np.maximum(rest, 0.0), np.inf)

    @cached_property
    def _means(self) -> dict[bytes, np.ndarray]:
        """Means of chosen parts, as an answer is linear in the table: one reading in place of many."""
        return {}

    @cached_property
    def _tables(self) -> list[np.ndarray]:
        """The parts T_k, int64; the last one makes up for what the others were rounded by."""
        table = self.release.counters
        source = SeededSource(SEED)
        noises = [like_noise(self.release, source) for _ in range(PARTS)]
        mean = np.rint(np.mean(noises, axis=0)).astype(np.int64)
        parts = [table + ROOT * (noise - mean) for noise in noises[:-1]]
        return [*parts, PARTS * table - np.sum(parts, axis=0)]


def like_noise(release: Release, source: SeededSource) -> np.ndarray:
    """Fresh noise of the law that the release's table has, int64 of its shape.

    What local reports leave is a sum over thousands of people, which is normal as nearly as matters here.
    """
    noise = np.zeros_like(release.counters)
    for scale in release.privacy.noise:
        law = NoiseScale("discrete_gaussian", scale.parameter) if scale.local else scale
        noise = add_noise(noise, law, source)
    return noise


MOST_OUTCOMES = 10_000


def quantile_dots(answers: Answers, index: int, count: int = 50) -> np.ndarray:
    """Equally likely values of one exact sum, given what the release says: quantiles at (i - 1/2) / count.

    The estimate less the exact sum, in standard errors, follows Student's t (the normal distribution where the error
    is known and not measured); so the exact sum is the estimate plus as many standard errors, and the interval of
    `Answers` at 95% holds 95% of a great many dots.

    Returns float64 (count,), increasing: sums, as the answers are.
    """
    check_integer(count, "The number of outcomes", 1, MOST_OUTCOMES)
    check_integer(index, "The query", 0, len(answers.estimate) - 1)
    if answers.degrees < 1:
        raise RequestError("A release with a single group of rows does not know its own error.")
    steps = stdtrit(answers.degrees, (np.arange(count) + 0.5) / count)
    return answers.estimate[index] + answers.standard_error[index] * steps


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

    `value`, `variance`: float64 (n, K), scores and the variance of their independent, roughly normal noise.
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
