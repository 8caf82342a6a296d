"""Exact distributions of noise, and the chi-square tests that compare draws with them.

Every test here draws from a `SeededSource`, so it gives the same verdict on every run: nothing fails by chance. The
level says what the chance would be under another seed. There are fewer than a hundred such tests, so the false-alarm
rate of all of them together, should the order of draws ever change, is below 1e-6.
"""

import math
from functools import lru_cache

import numpy as np
from scipy import stats

FALSE_ALARM = 1e-8
LEAST_EXPECTED = 50


def laplace_cdf(z: np.ndarray, scale: float) -> np.ndarray:
    """P(Z <= z) for whole z and P(z) ∝ exp(-|z|/scale), from the closed form."""
    q = math.exp(-1 / scale)
    z = np.asarray(z, float)
    return np.where(z >= 0, 1 - np.exp(-(np.abs(z) + 1) / scale) / (1 + q), np.exp(-np.abs(z) / scale) / (1 + q))


def gaussian_cdf(z: np.ndarray, sigma2: float) -> np.ndarray:
    """P(Z <= z) for whole z and P(z) ∝ exp(-z²/(2 sigma2)); for large σ by the midpoint rule, to within 1/σ²."""
    sigma = math.sqrt(sigma2)
    if sigma > 1e4:
        return stats.norm.cdf((np.asarray(z, float) + 0.5) / sigma)
    below, least = _gaussian_sums(sigma2)
    return below[np.clip(np.asarray(z) - least + 1, 0, len(below) - 1)]


def fit_p_value(draws: np.ndarray, cdf, cells: int = 200) -> float:
    """P-value of Pearson's test of whole-number draws against a distribution, in cells of about equal probability.

    The outermost cells are open and hold about `LEAST_EXPECTED` draws each, so tails are tested far out.
    """
    n = len(draws)
    levels = np.concatenate(([LEAST_EXPECTED / n], np.arange(1, cells) / cells, [1 - LEAST_EXPECTED / n]))
    edges = np.unique([_quantile(cdf, level) for level in levels])
    probabilities = np.diff(np.concatenate(([0.0], cdf(edges), [1.0])))
    counts = np.bincount(np.searchsorted(edges, draws), minlength=len(probabilities))
    # A point mass can leave next to nothing between two edges: such cells join their neighbour.
    group = _merge(probabilities * n)
    observed, expected = np.bincount(group, counts), np.bincount(group, probabilities * n)
    if len(expected) == 1:
        return 1.0
    return float(stats.chi2.sf(((observed - expected) ** 2 / expected).sum(), len(expected) - 1))


def tail_p_value(draws: np.ndarray, beyond: int, cdf) -> float:
    """P-value of the exact binomial test of how many draws lie further from zero than `beyond`."""
    return stats.binomtest(int((np.abs(draws) > beyond).sum()), len(draws), float(2 * cdf(-beyond - 1))).pvalue


def same_law_p_value(first: np.ndarray, second: np.ndarray, cells: int = 50) -> float:
    """P-value of the two-sample chi-square test."""
    edges = np.unique(np.quantile(first, np.arange(1, cells) / cells).astype(np.int64))
    cells = (np.searchsorted(edges, draws) for draws in (first, second))
    counts = np.array([np.bincount(cell, minlength=len(edges) + 1) for cell in cells])
    return stats.chi2_contingency(counts[:, counts.sum(axis=0) > LEAST_EXPECTED]).pvalue


def independence_p_value(first: np.ndarray, second: np.ndarray) -> float:
    """P-value of the chi-square test of independence of paired draws, each cut into 5 cells by size and 2 by parity."""

    def cell(draws):
        edges = np.quantile(draws, [0.2, 0.4, 0.6, 0.8])
        return np.searchsorted(edges, draws) * 2 + (draws & 1)

    table = np.zeros((10, 10))
    np.add.at(table, (cell(first), cell(second)), 1)
    return stats.chi2_contingency(table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]).pvalue


@lru_cache
def _gaussian_sums(sigma2: float) -> tuple[np.ndarray, int]:
    """Cumulative probabilities from 40 sigma below zero on, and where that is."""
    least = -int(40 * math.sqrt(sigma2)) - 2
    mass = np.exp(-(np.arange(least, 1 - least, dtype=float) ** 2) / (2 * sigma2))
    return np.concatenate(([0.0], np.cumsum(mass / mass.sum()))), least


def _quantile(cdf, level: float) -> int:
    """Least whole number z with cdf(z) >= level, by bisection."""
    low, high = -(2**62), 2**62
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if cdf(np.array([middle]))[0] >= level else (middle, high)
    return high


def _merge(expected: np.ndarray) -> np.ndarray:
    """Number the cells so that neighbours join until each group expects `LEAST_EXPECTED` draws."""
    group, groups, held = np.zeros(len(expected), int), 0, 0.0
    for i, value in enumerate(expected):
        group[i] = groups
        held += value
        if held >= LEAST_EXPECTED * (1 - 1e-9):
            groups, held = groups + 1, 0.0
    if held:
        group[group == groups] = max(groups - 1, 0)
    return group
