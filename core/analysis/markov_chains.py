"""Drawing from a density known up to a factor, in many dimensions, by Markov chains that learn from each other.

Differential evolution Markov chains (ter Braak 2006) step along differences of other chains, so that steps have the
shape of the density. Half of the chains move while the other half stands still, which keeps each step reversible
(Goodman, Weare 2010). All chains of a half take their step together: one step is one call of the compiled reader.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import RequestError
from ..geometry.hashing.uniforms import PublicRandom, scrambled_sobol
from .box import Box
from .climbing import NUMBERS_AT_ONCE, SEARCH_SEED, Height

CHAINS = 256
BURN_IN = 200
THINNING = 5
FEWEST_KEPT = 64  # Kept states a chain, at least: fewer say nothing about convergence.
TRIALS = 1 << 14
LONG_JUMPS = 0.1  # Share of steps by a whole difference of two chains, which leads from mode to mode.
SHORT_STEP = 0.1  # Size, in half-widths of the kernel, of the random part that lets chains reach every place.
# Shares of the coordinates that a step moves, one of them chosen at random for each step.
COORDINATES_MOVED = (0.25, 0.5, 1.0)
CATEGORY_CHANGES = 0.3


@dataclass(frozen=True)
class Chains:
    """States of all chains after the burn-in."""

    states: np.ndarray  # float64 (kept, chains, dimensions), encoded.
    r_hat: float  # Largest split R-hat of any coordinate (Gelman et al. 2013, section 11.4); near 1 when chains agree.
    effective: float  # Smallest effective number of independent draws of any coordinate.


def run_chains(box: Box, density: Height, widths: np.ndarray, kept: int, random: np.random.Generator) -> Chains:
    """Draw states from a density; negative estimates count as zero.

    Parameters
    ----------
    density : Height
        Estimated kernel sums at encoded points, up to any factor.
    """
    points = _starts(box, density, random)
    heights = density(points)
    halves = np.arange(CHAINS) < CHAINS // 2
    states = np.empty((kept, *points.shape))
    for step in range(BURN_IN + kept * THINNING):
        for half in (halves, ~halves):
            proposed = _proposals(box, points[half], points[~half], widths, random)
            reached = density(proposed)
            accepted = random.random(len(proposed)) * heights[half] < reached
            places = np.flatnonzero(half)[accepted]
            points[places], heights[places] = proposed[accepted], reached[accepted]
        if step >= BURN_IN and (step - BURN_IN) % THINNING == 0:
            states[(step - BURN_IN) // THINNING] = points
    return Chains(states, *_diagnostics(states))


def _starts(box: Box, density: Height, random: np.random.Generator) -> np.ndarray:
    """Evenly spread points, taken as often as the density there says."""
    count = max(CHAINS, min(TRIALS, NUMBERS_AT_ONCE // box.domain.dimensions))
    trials = box.uniform(scrambled_sobol(count, box.uniforms_needed(), PublicRandom(SEARCH_SEED)))
    weights = np.maximum(density(trials), 0.0)
    if not weights.any():
        raise RequestError("The estimated density is nowhere above zero, as noise drowns it, so nothing can be drawn.")
    return trials[random.choice(count, CHAINS, p=weights / weights.sum())]


def _proposals(
    box: Box, points: np.ndarray, others: np.ndarray, widths: np.ndarray, random: np.random.Generator
) -> np.ndarray:
    """Where each point might go, (n, dimensions); going there and coming back are equally likely."""
    n, numbers = len(points), len(box.numeric)
    share = random.choice(COORDINATES_MOVED, n)[:, None]
    moving = random.random((n, numbers)) < share
    jump = np.where(random.random((n, 1)) < LONG_JUMPS, 1.0, 2.38 / np.sqrt(2.0 * np.maximum(1, numbers * share)))
    first = random.integers(len(others), size=n)
    second = (first + random.integers(1, len(others), size=n)) % len(others)
    difference = (others[first] - others[second])[:, box.numeric]
    step = jump * difference + SHORT_STEP * widths * random.standard_normal((n, numbers))
    proposed = points.copy()
    proposed[:, box.numeric] = box.folded(points[:, box.numeric] + np.where(moving, step, 0.0))
    for block in box.blocks:
        box.raise_some(proposed, block, random.random(n) < CATEGORY_CHANGES, random)
    return proposed


def _diagnostics(states: np.ndarray) -> tuple[float, float]:
    """Largest split R-hat and smallest effective sample size (Gelman et al. 2013, sections 11.4 and 11.5)."""
    kept, chains, _ = states.shape
    length = kept // 2
    halves = np.concatenate([states[:length], states[length : 2 * length]], axis=1)
    within = halves.var(axis=0, ddof=1).mean(axis=0)
    between = length * halves.mean(axis=0).var(axis=0, ddof=1)
    varying = within > 0
    if not varying.any():
        return 1.0, float(kept * chains)
    total = (length - 1) / length * within + between / length
    r_hat = np.sqrt(total[varying] / within[varying])
    effective = [_effective(halves[:, :, c], total[c]) for c in np.flatnonzero(varying)]
    return float(r_hat.max()), float(min(effective))


def _effective(series: np.ndarray, variance: float) -> float:
    """Effective number of draws of series (length, chains); autocorrelations from variograms, summed until odd."""
    length, chains = series.shape
    correlation_sum, lag = 0.0, 1
    while lag + 1 < length:
        pair = sum(1.0 - ((series[at:] - series[:-at]) ** 2).mean() / (2.0 * variance) for at in (lag, lag + 1))
        if pair < 0.0:
            break
        correlation_sum += pair
        lag += 2
    return min(length * chains / (1.0 + 2.0 * correlation_sum), float(length * chains))
