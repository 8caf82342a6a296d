"""Discrete Gaussian noise on tables that one person moves by any whole numbers is as private as continuous noise.

Fixed-point tables are moved by large whole numbers, under noise that is larger still. The plain zCDP conversion wastes
some 15% of ρ there, and the sharper bound below speaks of shifts by -1, 0 and 1 alone. What follows holds for all.

Let a person move a table by v, at most n of its counters, and let X be discrete Gaussian noise of parameter σ² on each.
Take any τ² between 0 and σ², let s² = σ² - τ², and η = 2 Σ over k >= 1 of exp(-2π²τ²k²).

1.  *A rounding of continuous noise.* Add continuous noise N(0, s²) to every counter, and replace the sum y by a whole
    number z with probability exp(-(z-y)²/2τ²)/ρ(y), ρ(y) the sum of that over all z. By Poisson summation ρ(y) lies
    within a factor 1 ± η of τ√(2π), whatever y is, and the convolution of the two densities is that of N(0, σ²). So a
    counter of exact value f becomes z with a probability within 1/(1 ± η) of φ_σ(z - f), the density of N(0, σ²).
    (Peikert, CRYPTO 2010, Theorem 3.1, rounds so.)
2.  The discrete noise itself gives z with probability φ_σ(z - f)/Θ, where Θ = Σ over z of φ_σ(z) is within 1 ± η too,
    as σ > τ. So on n counters the two mechanisms' probabilities of any event are within a factor Λ = ((1+η)/(1-η))^n of
    each other. Counters that the person does not move have the same noise in both of two neighbouring tables, so only
    the n moved ones count.
3.  The first mechanism is a post-processing of continuous Gaussian noise, which is (ε, δ(ε, μ))-private for
    μ = ‖v‖/s (Balle, Wang 2018, Theorem 8; `gaussian_delta`). Hence for any event, P(M ∈ S) <= Λ P(M' ∈ S) <=
    Λ e^ε P(M'_neighbour ∈ S) + Λ δ(ε, μ) <= Λ² e^ε P(M_neighbour ∈ S) + Λ δ(ε, μ):

        δ(ε) <= Λ δ(ε - 2 log Λ, μ),    μ² = Δ2²/(σ² - τ²).

    As δ grows with μ, the longest v is the worst.

Several tables, also such that are chosen by what earlier ones show: the factors of step 2 multiply, and the continuous
mechanisms together are one of μ² = Σ μ_i². Tables with unit shifts may be among them, with the slack of the bound
below: its proof is about sums of losses, to which continuous mechanisms add theirs.

With τ² = 2 the factor Λ of a million counters differs from 1 by 3e-11, so that σ² = 2000 costs a thousandth more than
continuous noise would, and the noise of fixed-point tables nothing at all.

The privacy of discrete Gaussian noise on tables that one person moves by -1, 0 and 1 only.

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
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from scipy.special import erfcx

from ..runtime.counter_tables import Floats

Known = TypeVar("Known", bound=Hashable)
Found = TypeVar("Found")
NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)


class LatticeSlack(NamedTuple):
    """How far discrete noise may lose more than continuous noise of the same μ: 1/σ², log Θ and log(1 + η), each a sum
    over tables."""

    epsilon: float
    log_factor: float
    log_mass: float


def lattice_slack(tables: Sequence[tuple[int, float]]) -> LatticeSlack:
    """Bound the slack of several tables.

    `tables`: (Δ2², σ²) of each table.
    """
    epsilon = log_factor = log_mass = 0.0
    for slack in _each(tables, _lattice_slack):
        epsilon, log_factor, log_mass = epsilon + slack[0], log_factor + slack[1], log_mass + slack[2]
    return LatticeSlack(epsilon, log_factor, log_mass)


def _lattice_slack(table: tuple[int, float]) -> LatticeSlack:
    l2_squared, sigma2 = table
    tail = math.exp(-(math.pi**2) * sigma2)
    if tail > 0.5:
        return LatticeSlack(math.inf, math.inf, math.inf)
    # Theta series by the geometric series, as k² >= k.
    theta = math.log1p(2 * tail / (1 - tail)), math.log1p(2 * tail**2 / (1 - tail**2))
    return LatticeSlack(1 / sigma2, l2_squared * theta[0], theta[1])


def _each(tables: Sequence[Known], worked_out: Callable[[Known], Found]) -> list[Found]:
    """What is worked out of each table, once for all that are alike: trainers have one of the same for every step."""
    known = {table: worked_out(table) for table in set(tables)}
    return [known[table] for table in tables]


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

    `epsilon`: The privacy loss that is passed with probability delta only. `tables`: (Δ2², σ²) of each table.
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


# Natural logarithms of how much less than one table's share of log Λ may be: each τ² that is tried.
DIGITS = (8.0, 14.0, 24.0, 36.0)


class GaussianTable(NamedTuple):
    """Discrete Gaussian noise on one table: Δ2², σ², and whether it is moved by -1, 0 and 1 only."""

    l2_squared: int
    sigma2: float
    unit: bool = False


class Continuous(NamedTuple):
    """Continuous noise that is at most so much better: its μ, and what is lost by going over to it."""

    mu: float
    slack: LatticeSlack


def continuous_noises(tables: Sequence[GaussianTable]) -> list[Continuous]:
    """Continuous noises that several tables can be compared with, for every τ² that is tried; infinite slack counts.

    `tables`: Independent of each other.
    """
    mixed = len({table.unit for table in tables}) == 2
    return [one for apart in ((True, False) if mixed else (True,)) for one in _compared(tables, apart)]


def least_mu(tables: Sequence[GaussianTable], epsilon: float, log_factor: float) -> float:
    """The least μ of continuous noise that is no better than that of tables moved by any whole numbers, but for so much
    slack; infinite where none is."""
    ways = continuous_noises([table._replace(unit=False) for table in tables])
    fit = (way.mu for way in ways if way.slack.epsilon <= epsilon and way.slack.log_factor <= log_factor)
    return min(fit, default=math.inf) / (1 + 1e-12)


def _compared(tables: Sequence[GaussianTable], apart: bool) -> list[Continuous]:
    """The same, with the bound for unit shifts apart where there are such, or all tables alike."""
    units = [table for table in tables if table.unit and apart]
    others = [table for table in tables if not (table.unit and apart)]
    unit = lattice_slack([(table.l2_squared, table.sigma2) for table in units])
    squares = [table.l2_squared / table.sigma2 for table in units]
    found = []
    each = _each(others, _spread)
    for place in range(len(DIGITS) if others else 1):
        own, log_factor = [one[place][0] for one in each], sum((one[place][1] for one in each), 0.0)
        if max(own, default=0.0) < math.inf:
            slack = LatticeSlack(unit.epsilon + 2.0 * log_factor, unit.log_factor + log_factor, unit.log_mass)
            found.append(Continuous(math.sqrt(math.fsum(squares + own)), slack))
    return found


def _spread(table: GaussianTable) -> list[tuple[float, float]]:
    """The μ² of one table for every τ² that is tried, infinite where that leaves no noise, and its log Λ."""
    found = []
    for digits in DIGITS:
        exponent = math.log(4.0 * table.l2_squared) + digits  # no fewer counters than n: each moves by 1 at least
        left = table.sigma2 - exponent / (2.0 * math.pi**2)
        eta = 2.0 * math.exp(-exponent) / -math.expm1(-exponent)  # by the geometric series, as k² >= k
        lost = table.l2_squared * (math.log1p(eta) - math.log1p(-eta))
        found.append((table.l2_squared / left, lost) if left > 0.0 else (math.inf, 0.0))
    return found


def gaussian_tables_delta(epsilon: float, tables: Sequence[GaussianTable]) -> float:
    """Bound the delta at `epsilon` of discrete Gaussian noise on several tables together.

    `epsilon`: The privacy loss that is passed with probability delta only. `tables`: Independent of each other.
    """
    if all(table.unit for table in tables):
        return unit_shift_delta(epsilon, [(table.l2_squared, table.sigma2) for table in tables])
    best = 1.0
    for mu, slack in continuous_noises(tables):
        if slack.log_factor <= 1.0:
            bound = gaussian_delta(epsilon - slack.epsilon, mu) + math.expm1(slack.log_mass)
            best = min(best, math.exp(slack.log_factor) * bound)
    return best
