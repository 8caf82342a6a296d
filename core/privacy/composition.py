"""What events cost together: the tight sum, by composing privacy loss distributions.

A pure event loses at worst what randomised response does (Kairouz, Oh, Viswanath 2015), and a Gaussian event what the
continuous mechanism does and the slack of `integer_shifts`. Loss distributions of the
worst pairs compose by convolution, also when an output steers what is asked next (Zhu, Dong, Wang 2022, Theorem 10).
What may fail with some probability takes that off delta first, as divergences are convex in mixtures.
"""

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
from dp_accounting.pld import privacy_loss_distribution as pld
from scipy.stats import binom

from .events import Alone, Event, Failure, Gaussian, PureParts, failing, pure_sum, total_rho
from .integer_shifts import Continuous, GaussianTable, continuous_noises, gaussian_delta
from .zcdp import zcdp_epsilon

# The convolutions of privacy loss distributions are exact to about 1e-14 in delta; below this they are not used.
SMALLEST_PLD_DELTA = 1e-10


def epsilon_spent(events: Sequence[Event], delta: float) -> float:
    """Return an epsilon with which all events together are (epsilon, delta)-private: an upper bound, and a tight one.

    The smallest of the plain sum (pure events), the zCDP conversion, and, unless a Gaussian event claims zCDP alone,
    the composition of privacy loss distributions.

    Parameters
    ----------
    events : Sequence[Event]
        In any order; none cost 0.
    delta : float
        0 asks for the pure sum, which is infinite when any event is Gaussian.
    """
    if not events:
        return 0.0
    if (lost := failing(events)) > 0:
        left = Fraction(delta) - lost
        sound = [event for event in events if not isinstance(event, Failure)]
        return epsilon_spent(sound, float(left)) if left >= 0 else math.inf
    if any(isinstance(event, Alone) for event in events):
        return _with_lone_ones(events, delta)
    pure = pure_sum(events)
    plain_sum = math.inf if pure is None else float(pure)
    if delta == 0:
        return plain_sum
    counts: Counter[Fraction] = Counter()
    for event in events:
        if isinstance(event, PureParts):
            counts[event.epsilon] += event.count
    tables = Counter(event.table for event in events if isinstance(event, Gaussian))
    best = min(plain_sum, zcdp_epsilon(float(total_rho(events)), float(delta)))
    if delta >= SMALLEST_PLD_DELTA and None not in tables:
        best = min(best, composed_epsilon(frozenset(counts.items()), frozenset(tables.items()), float(delta), best))
    return best


def _with_lone_ones(events: Sequence[Event], delta: float) -> float:
    """Basic composition (Dwork, Roth 2014, Theorem 3.16), where nothing else is known of some of the events."""
    alone = [event for event in events if isinstance(event, Alone)]
    left = delta - float(sum((event.delta for event in alone), Fraction(0)))
    if left < 0:
        return math.inf
    others = [event for event in events if not isinstance(event, Alone)]
    return float(sum((event.epsilon for event in alone), Fraction(0))) + epsilon_spent(others, left)


# Set aside for the errors of the convolutions, which are exact to about 1e-14 in delta.
PLD_DELTA_ERROR = 1e-12
# Losses are rounded up to a grid this much finer than the answer, once for each kind of event.
GRID_POINTS = 2_000


@lru_cache(maxsize=4096)
def composed_epsilon(
    pure: frozenset[tuple[Fraction, int]], tables: frozenset[tuple[GaussianTable, int]], delta: float, rough: float
) -> float:
    """Compose privacy loss distributions; `rough` is an upper bound that sets the grid of losses.

    Every way to go over to continuous noise is a bound; the one is taken that is best for the tables alone.
    """
    ways = [way for way in continuous_noises(list(Counter(dict(tables)).elements())) if way.slack.log_factor <= 1]
    if not ways:
        return math.inf
    mu, slack = min(ways, key=lambda way: _delta(rough, way))
    within = delta * math.exp(-slack.log_factor) - math.expm1(slack.log_mass) - PLD_DELTA_ERROR
    if within <= 0:
        return math.inf
    kinds = len(pure) + bool(tables)
    grid = rough / min(GRID_POINTS * kinds, 50 * GRID_POINTS)
    losses = [_randomised_response_losses(float(epsilon), count, grid) for epsilon, count in sorted(pure)]
    if tables:
        losses.append(pld.from_gaussian_mechanism(1 / mu, value_discretization_interval=grid))
    total = losses[0]
    for loss in losses[1:]:
        total = total.compose(loss)
    return float(total.get_epsilon_for_delta(within)) + slack.epsilon


def _delta(epsilon: float, way: Continuous) -> float:
    """Of the tables alone."""
    mu, slack = way
    if mu == 0.0:
        return 0.0
    return math.exp(slack.log_factor) * gaussian_delta(epsilon - slack.epsilon, mu) + math.expm1(slack.log_mass)


def _randomised_response_losses(epsilon: float, count: int, grid: float) -> pld.PrivacyLossDistribution:
    """Return the loss of `count` pure mechanisms, rounded up to the grid once.

    The worst of them is randomised response, which loses ±ε (Kairouz, Oh, Viswanath 2015); `count` of them lose
    ε(2J - count) with J binomial. Rounding each of them up, as a library's self-composition of one does, would add up.
    """
    truthful = 1 / (1 + math.exp(-epsilon))
    law = binom(count, truthful)
    least, most = int(law.ppf(1e-15)), int(law.isf(1e-15))
    successes = np.arange(least, most + 1)
    probabilities = law.pmf(successes)
    probabilities[0] = law.cdf(least)
    points = np.ceil(epsilon * (2 * successes - count) / grid).astype(np.int64)
    occupied, position = np.unique(points, return_inverse=True)
    masses = np.bincount(position, probabilities)
    return pld.PrivacyLossDistribution.create_from_rounded_probability(
        dict(zip(occupied.tolist(), masses.tolist(), strict=True)), float(law.sf(most)), grid
    )
