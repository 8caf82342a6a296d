"""What pure and Gaussian events cost together, by convolving their privacy loss distributions."""

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from dp_accounting.pld import privacy_loss_distribution as pld
from scipy.stats import binom

from .unit_shifts import lattice_slack

# Set aside for the errors of the convolutions, which are exact to about 1e-14 in delta.
PLD_DELTA_ERROR = 1e-12
# Losses are rounded up to a grid this much finer than the answer, once for each kind of event.
GRID_POINTS = 2_000


@lru_cache(maxsize=4096)
def composed_epsilon(
    pure: frozenset[tuple[Fraction, int]], tables: frozenset[tuple[tuple[int, float], int]], delta: float, rough: float
) -> float:
    """Compose privacy loss distributions; `rough` is an upper bound that sets the grid of losses."""
    slack = lattice_slack([table for table, count in tables for _ in range(count)])
    if slack.log_factor > 1:
        return math.inf
    within = delta * math.exp(-slack.log_factor) - math.expm1(slack.log_mass) - PLD_DELTA_ERROR
    kinds = len(pure) + bool(tables)
    grid = rough / min(GRID_POINTS * kinds, 50 * GRID_POINTS)
    losses = [_randomised_response_losses(float(epsilon), count, grid) for epsilon, count in sorted(pure)]
    if tables:
        mu = math.sqrt(math.fsum(count * l2_squared / sigma2 for (l2_squared, sigma2), count in tables))
        losses.append(pld.from_gaussian_mechanism(1 / mu, value_discretization_interval=grid))
    total = losses[0]
    for loss in losses[1:]:
        total = total.compose(loss)
    return float(total.get_epsilon_for_delta(within)) + slack.epsilon


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
