"""The privacy of discrete Gaussian noise on tables that one person moves by -1, 0 and 1 only.

For a sketch with one cell a row the plain zCDP conversion wastes some 15% of ρ. This bound wastes almost nothing.

One table. Let neighbouring tables differ by v with entries in {-1, 0, 1}, n = ‖v‖², and let X be discrete Gaussian
noise of parameter σ² on every counter. The privacy loss depends on T = <v, X> alone, ℓ(T) = (2T + n)/(2σ²), and δ(ε)
= E[(1 - e^(ε-ℓ(T)))₊].

1.  T has at most Θ times the Gaussian density on the integers: P(T=t) <= Θ φ_s(t), where s² = nσ², φ_s is the density
    of N(0, s²), Θ = ϑ^n and ϑ = Σ over integers k of exp(-π²σ²k²).

    Up to signs T is the sum of the noise of the n counters that v touches. The points of Z^n with coordinate sum t
    are a translate of the lattice A = {x in Z^n: Σ x_i = 0}, at squared distance t²/n from it. By Poisson summation
    the Gaussian sum over any translate of A is at most (2πσ²)^((n-1)/2)/√n · Θ', Θ' = Σ over y in the dual of A of
    exp(-2π²σ²‖y‖²), while each coordinate's normaliser is at least σ√(2π); so P(T=t) <= Θ' φ_s(t). The dual of A is
    Z^n projected along (1, …, 1). Write a point y of it as the projection of the one z in its class whose lower
    median is 0. A mean is within one standard deviation of a median, so ‖z‖² = ‖y‖² + n·mean(z)² <= 2‖y‖², and Θ' <=
    Σ over z in Z^n of exp(-π²σ²‖z‖²) = Θ.

2.  So δ(ε) <= Θ Σ_t φ_s(t)(1 - e^(ε-ℓ(t)))₊. The summand is log-concave, hence unimodal, and its sum over the
    integers is at most its integral plus its maximum. With μ = √n/σ and t = sz the integral is the continuous
    Gaussian mechanism's δ(ε, μ) = Φ(μ/2 - ε/μ) - e^ε Φ(-μ/2 - ε/μ) (Balle, Wang 2018, Theorem 8).

3.  For the maximum, 1 - e^(-u) <= u and a = ε/μ - μ/2 give φ_s(t)(ℓ(t) - ε)₊ = φ(z)(z - a)₊/σ², at most φ(z*)/(z*σ²)
    at z* = (a + √(a² + 4))/2.

4.  Θ, δ(ε, μ) and (a falls as μ grows) the maximum all grow with n: the longest v is the worst, n = Δ2².

Several tables with independent noise (or several releases), table i with n_i <= Δ2²_i. With η = Σ_t φ_s(t) - 1, which
is 2 Σ_{k>=1} exp(-2π²s²k²), every m has Σ_{t>=m} φ_s(t) <= P(N(0, s²) >= m-1) + η: compare sum and integral on the
side of 0 where φ_s is monotone and take the total from Poisson. So, up to the factor Θ_i, the loss of table i is
stochastically below the continuous mechanism's plus 1/σ²_i, except on mass η_i. Losses add up and (1 - e^(ε-ℓ))₊
grows with ℓ; hence

    δ(ε) <= Π Θ_i · (δ(ε - Σ 1/σ²_i, μ) + Π (1 + η_i) - 1),    μ² = Σ Δ2²_i/σ²_i.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import erfcx

from ..runtime.array_types import Floats

NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)


class LatticeSlack(NamedTuple):
    """How far discrete noise may lose more than continuous noise of the same μ: 1/σ², log Θ and log(1 + η), each a sum
    over tables."""

    epsilon: float
    log_factor: float
    log_mass: float


def lattice_slack(tables: Sequence[tuple[int, float]]) -> LatticeSlack:
    """Bound the slack of several tables.

    Parameters
    ----------
    tables : Sequence[tuple[int, float]]
        (Δ2², σ²) of each table.
    """
    epsilon = log_factor = log_mass = 0.0
    for l2_squared, sigma2 in tables:
        tail = math.exp(-(math.pi**2) * sigma2)
        if tail > 0.5:
            return LatticeSlack(math.inf, math.inf, math.inf)
        # Theta series by the geometric series, as k² >= k.
        epsilon += 1 / sigma2
        log_factor += l2_squared * math.log1p(2 * tail / (1 - tail))
        log_mass += math.log1p(2 * tail**2 / (1 - tail**2))
    return LatticeSlack(epsilon, log_factor, log_mass)


def gaussian_delta(epsilon: float, mu: float) -> float:
    """Return the least delta of continuous Gaussian noise at `epsilon` for μ = Δ2/σ (Balle, Wang 2018, Theorem 8).

    With a = ε/μ - μ/2, b = ε/μ + μ/2 and Mills' ratio M(x) = Φ(-x)/φ(x) it is φ(a)(M(a) - M(b)): no large powers of e
    cancel. For small μ the difference is taken as the integral of -M'(x) = 1 - xM(x), which keeps its digits.
    """
    a, b = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    if a < -20:
        return 1.0
    if mu < 1:
        x = epsilon / mu + mu / 2 * NODES
        difference = mu / 2 * float(WEIGHTS @ (1 - x * mills_ratio(x)))
    else:
        difference = float(mills_ratio(a) - mills_ratio(b))
    return min(1.0, _normal_density(a) * difference)


def unit_shift_delta(epsilon: float, tables: Sequence[tuple[int, float]]) -> float:
    """Bound the delta at `epsilon` of discrete Gaussian noise on tables with unit shifts.

    Parameters
    ----------
    epsilon : float
        The privacy loss that is passed with probability delta only.
    tables : Sequence[tuple[int, float]]
        (Δ2², σ²) of each table.
    """
    slack = lattice_slack(tables)
    if slack.log_factor > 1:
        return 1.0
    mu = math.sqrt(sum(l2_squared / sigma2 for l2_squared, sigma2 in tables))
    bound = gaussian_delta(epsilon - slack.epsilon, mu) + math.expm1(slack.log_mass)
    if len(tables) == 1:
        a = epsilon / mu - mu / 2
        peak = (a + math.hypot(a, 2)) / 2
        bound = min(bound, gaussian_delta(epsilon, mu) + _normal_density(peak) / peak * slack.epsilon)
    return min(1.0, math.exp(slack.log_factor) * bound)


def _normal_density(x: float) -> float:
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def mills_ratio(x: float | Floats) -> Floats:
    """Return Φ(-x)/φ(x), which neither overflows nor loses digits in the tail."""
    ratio: Floats = math.sqrt(math.pi / 2) * erfcx(np.asarray(x) / math.sqrt(2))
    return ratio
