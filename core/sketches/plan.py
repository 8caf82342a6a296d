"""How a budget becomes noise, decided from public facts before any record is read."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ..privacy.accounting import Cost
from ..privacy.budget import Budget
from ..privacy.calibration import NoiseScale, calibrate_shares
from .linear import LinearSketch


@dataclass(frozen=True)
class Plan:
    """How a budget becomes noise, decided from public facts before any record is read.

    Attributes
    ----------
    noise : NoiseScale
        Of every counter.
    count_noise : NoiseScale | None
        Of a count of records of its own; None when there is none, or when the number is public.
    counts : bool
        Whether the number of records goes into the release by itself, noisy or public.
    cost : Cost
        What is written to the ledger.
    """

    noise: NoiseScale
    count_noise: NoiseScale | None
    counts: bool
    cost: Cost


def plan(sketch: LinearSketch, budget: Budget) -> Plan:
    """Share the budget between the table and a count of records, and calibrate the noise of both.

    The number of records is needed for densities. It is public when a neighbour replaces a record and no record can be
    left out; read off the table when that is good enough; otherwise worth a small share of the budget of its own.

    Raises
    ------
    RequestError
        When the sketch cannot keep such a promise.
    """
    sketch.check_budget(budget)
    table, count = sketch.sensitivity(budget.neighbours), sketch.count_sensitivity(budget.neighbours)
    epsilon, delta = Fraction(budget.epsilon), Fraction(budget.delta)
    (alone,) = calibrate_shares([(table, Fraction(1))], epsilon, delta, gaussian_only=sketch.gaussian_only)
    if sketch.count_is_public(budget.neighbours):
        return Plan(alone, None, True, Cost.of([(table, alone)], budget.epsilon, budget.delta))

    shares = [(table, 1 - sketch.count_share), (count, sketch.count_share)]
    noise, count_noise = calibrate_shares(shares, epsilon, delta, gaussian_only=sketch.gaussian_only)
    if sketch.total_variance(alone.variance) <= count_noise.variance:
        return Plan(alone, None, False, Cost.of([(table, alone)], budget.epsilon, budget.delta))
    cost = Cost.of([(table, noise), (count, count_noise)], budget.epsilon, budget.delta)
    return Plan(noise, count_noise, True, cost)
