"""Zero-concentrated differential privacy: one number ρ that adds up, and what it promises.

A mechanism is ρ-zCDP when the Rényi divergence of every order α > 1 between neighbours is at most αρ (Bun, Steinke
2016). ρ-zCDP gives (ε, δ) with δ = min over α > 1 of exp((α-1)(αρ-ε)) (1-1/α)^α / (α-1) (Canonne, Kamath, Steinke
2020, Corollary 13). Every α gives a valid bound, so a search that stops early is never wrong, only wasteful.
"""

import math
from functools import lru_cache

# Bounds on delta are met with this relative margin; their floating-point errors are below 1e-9 of them.
MARGIN = 1e-7


def zcdp_delta(epsilon: float, rho: float) -> float:
    """Return a delta with which ρ-zCDP implies (epsilon, delta)."""
    alpha = best_order(epsilon, rho)
    exponent = (alpha - 1) * (alpha * rho - epsilon) + alpha * math.log1p(-1 / alpha) - math.log(alpha - 1)
    return math.exp(min(exponent, 0.0))


def best_order(epsilon: float, rho: float) -> float:
    """Return the α with which the conversion of ρ-zCDP gives the least delta.

    It is where (2α-1)ρ - ε + log(1-1/α), the derivative of the logarithm of the bound, crosses zero.
    """
    low, high = 1.0 + 1e-9, (epsilon + 1) / (2 * rho) + 2
    for _ in range(100):
        alpha = (low + high) / 2
        if (2 * alpha - 1) * rho - epsilon + math.log1p(-1 / alpha) < 0:
            low = alpha
        else:
            high = alpha
    return alpha


@lru_cache(maxsize=1024)
def zcdp_epsilon(rho: float, delta: float) -> float:
    """Return an epsilon with which ρ-zCDP implies (epsilon, delta), rounded up."""
    low, high = 0.0, rho + 2 * math.sqrt(rho * -math.log(delta)) + 1e-12  # the classical conversion, Proposition 1.3
    while high - low > 1e-10 * high:
        middle = (low + high) / 2
        if zcdp_delta(middle, rho) <= delta * (1 - MARGIN):
            high = middle
        else:
            low = middle
    return high


@lru_cache(maxsize=1024)
def largest_rho(epsilon: float, delta: float) -> float:
    """Return the largest ρ, rounded down, with which ρ-zCDP implies (epsilon, delta)."""
    low, high = 1e-70, 1e5
    while high / low > 1 + 1e-12:
        middle = math.sqrt(low * high)
        if zcdp_delta(epsilon, middle) <= delta * (1 - MARGIN):
            low = middle
        else:
            high = middle
    return low
