"""Discrete Gaussian noise on tables that one person moves by any whole numbers is as private as continuous noise.

Fixed-point tables are moved by large whole numbers, under noise that is larger still. The plain zCDP conversion wastes
some 15% of ρ there, and `unit_shifts` speaks of shifts by -1, 0 and 1 alone. What follows holds for all.

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
mechanisms together are one of μ² = Σ μ_i². Tables with unit shifts may be among them, with the slack of `unit_shifts`:
its proof is about sums of losses, to which continuous mechanisms add theirs.

With τ² = 2 the factor Λ of a million counters differs from 1 by 3e-11, so that σ² = 2000 costs a thousandth more than
continuous noise would, and the noise of fixed-point tables nothing at all.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from .unit_shifts import LatticeSlack, gaussian_delta, lattice_slack, unit_shift_delta

DIGITS = (8.0, 14.0, 24.0, 36.0)
"""Natural logarithms of how much less than one table's share of log Λ may be: each τ² that is tried."""


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

    Parameters
    ----------
    tables : Sequence[GaussianTable]
        Independent of each other.
    """
    mixed = len({table.unit for table in tables}) == 2
    return [one for apart in ((True, False) if mixed else (True,)) for one in _compared(tables, apart)]


def _compared(tables: Sequence[GaussianTable], apart: bool) -> list[Continuous]:
    """The same, with the bound for unit shifts apart where there are such, or all tables alike."""
    units = [table for table in tables if table.unit and apart]
    others = [table for table in tables if not (table.unit and apart)]
    unit = lattice_slack([(table.l2_squared, table.sigma2) for table in units])
    squares = [table.l2_squared / table.sigma2 for table in units]
    found = []
    for digits in DIGITS if others else DIGITS[:1]:
        log_factor, own = 0.0, []
        for table in others:
            exponent = math.log(4.0 * table.l2_squared) + digits  # no fewer counters than n: each moves by 1 at least
            left = table.sigma2 - exponent / (2.0 * math.pi**2)
            if left <= 0.0:
                break
            own.append(table.l2_squared / left)
            eta = 2.0 * math.exp(-exponent) / -math.expm1(-exponent)  # by the geometric series, as k² >= k
            log_factor += table.l2_squared * (math.log1p(eta) - math.log1p(-eta))
        if len(own) == len(others):
            slack = LatticeSlack(unit.epsilon + 2.0 * log_factor, unit.log_factor + log_factor, unit.log_mass)
            found.append(Continuous(math.sqrt(math.fsum(squares + own)), slack))
    return found


def gaussian_tables_delta(epsilon: float, tables: Sequence[GaussianTable]) -> float:
    """Bound the delta at `epsilon` of discrete Gaussian noise on several tables together.

    Parameters
    ----------
    epsilon : float
        The privacy loss that is passed with probability delta only.
    tables : Sequence[GaussianTable]
        Independent of each other.
    """
    if all(table.unit for table in tables):
        return unit_shift_delta(epsilon, [(table.l2_squared, table.sigma2) for table in tables])
    best = 1.0
    for mu, slack in continuous_noises(tables):
        if slack.log_factor <= 1.0:
            bound = gaussian_delta(epsilon - slack.epsilon, mu) + math.expm1(slack.log_mass)
            best = min(best, math.exp(slack.log_factor) * bound)
    return best
