"""How a budget becomes noise, decided from public facts before any record is read."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from ..privacy.accounting import Cost
from ..privacy.budget import Budget
from ..privacy.calibration import NoiseScale, calibrate_shares
from ..privacy.shared_promise import Wanted, calibrate_joint
from .linear import LinearSketch

if TYPE_CHECKING:
    from .adaptive import Adaptive


class Planned(Protocol):
    """What is known of a release's noise and price, however many tables it has."""

    @property
    def noises(self) -> tuple[NoiseScale, ...]:
        """Of the counters of each table."""

    @property
    def count_noises(self) -> tuple[NoiseScale | None, ...]:
        """Of each number of records; None where it is public, and nothing at all where none goes into the release."""

    @property
    def cost(self) -> Cost:
        """What is written to the ledger."""


@dataclass(frozen=True)
class Plan:
    """How a budget becomes noise, decided from public facts before any record is read."""

    noise: NoiseScale  # Of every counter.
    # Of a count of records of its own; None when there is none, or when the number is public.
    count_noise: NoiseScale | None
    counts: bool  # Whether the number of records goes into the release by itself, noisy or public.
    cost: Cost  # What is written to the ledger.

    @property
    def noises(self) -> tuple[NoiseScale, ...]:
        return (self.noise,)

    @property
    def count_noises(self) -> tuple[NoiseScale | None, ...]:
        return (self.count_noise,) if self.counts else ()


@dataclass(frozen=True)
class JointPlan:
    """How one budget becomes the noise of several parts, whose tables and counts are of the same records."""

    noises: tuple[NoiseScale, ...]  # Of the counters of every part, in order.
    count_noises: tuple[NoiseScale | None, ...]  # Of every number of records; None where it is public.
    # What every part spends of the budget: of epsilon where its noise is pure; where it is Gaussian, of ρ, which shares
    # what pure noise leaves of epsilon. What is short of one goes to the numbers of records.
    shares: tuple[Fraction, ...]
    cost: Cost  # Of everything, which the ledger gets as one entry.


def planned_for(sketch: LinearSketch | Adaptive, budget: Budget, *, gaussian_only: bool = False) -> Planned:
    """The plan of a mechanism, or that of several parts; RequestError when such a promise cannot be kept.

    With ``gaussian_only`` no noise is pure, as where what else was bought adds up with Gaussian noise alone.
    """
    if sketch.chooses:
        return sketch.plan(budget)
    made = plan_parts if sketch.parts else plan
    return made(sketch, budget, gaussian_only=gaussian_only)


def plan_parts(sketch: LinearSketch, budget: Budget, *, gaussian_only: bool = False) -> JointPlan:
    """Share the budget among the parts of a sketch, and calibrate all their noise together.

    Every part says how large its noise is to be beside that of the others (`Part.noise`), so one number decides about
    all of them: the smallest at which the promise holds for the whole; see `core.privacy.shared_promise`. RequestError
    when a part cannot keep such a promise, or does not say how large its noise is to be.
    """
    sketch.check_budget(budget)
    tables, counts = sketch.sensitivities(budget.neighbours), sketch.count_sensitivities(budget.neighbours)
    wanted = [
        Wanted(table, part.settled_noise, gaussian_only or part.sketch.gaussian_only)
        for table, part in zip(tables, sketch.parts, strict=True)
    ]
    joint = calibrate_joint(wanted, counts, sketch.count_share, Fraction(budget.epsilon), Fraction(budget.delta))
    moved = zip((*tables, *counts), joint.scales, strict=True)
    cost = Cost.of(moved, budget.epsilon, budget.delta)
    of_counts = iter(joint.scales[len(tables) :])
    public = sketch.public_counts(budget.neighbours)
    count_noises = tuple(None if known else next(of_counts) for known in public)
    return JointPlan(joint.scales[: len(tables)], count_noises, joint.shares[: len(tables)], cost)


def plan(sketch: LinearSketch, budget: Budget, *, gaussian_only: bool = False) -> Plan:
    """Share the budget between the table and a count of records, and calibrate the noise of both.

    The number of records is needed for densities. It is public when a neighbour replaces a record and no record can be
    left out; read off the table when that is good enough; otherwise worth a small share of the budget of its own.
    Under a delta the plan of the pure promise is taken where its table has less noise, so a delta never adds any.
    RequestError when the sketch cannot keep such a promise.
    """
    sketch.check_budget(budget)
    gaussian_only = gaussian_only or sketch.gaussian_only
    made = _plan(sketch, budget, Fraction(budget.delta), gaussian_only)
    if budget.pure or gaussian_only:
        return made
    # What keeps ε keeps (ε, δ): a count of its own, or a share for it, may else cost more noise than the δ saves.
    pure = _plan(sketch, budget, Fraction(0), gaussian_only)
    return pure if pure.noise.variance < made.noise.variance else made


def _plan(sketch: LinearSketch, budget: Budget, delta: Fraction, gaussian_only: bool) -> Plan:
    """The plan that uses so much of the budget's delta."""
    table, count = sketch.sensitivity(budget.neighbours), sketch.count_sensitivity(budget.neighbours)
    epsilon = Fraction(budget.epsilon)
    (alone,) = calibrate_shares([(table, Fraction(1))], epsilon, delta, gaussian_only=gaussian_only)
    if sketch.count_is_public(budget.neighbours):
        return Plan(alone, None, True, Cost.of([(table, alone)], budget.epsilon, budget.delta))

    shares = [(table, 1 - sketch.count_share), (count, sketch.count_share)]
    noise, count_noise = calibrate_shares(shares, epsilon, delta, gaussian_only=gaussian_only)
    if sketch.total_variance(alone.variance) <= count_noise.variance:
        return Plan(alone, None, False, Cost.of([(table, alone)], budget.epsilon, budget.delta))
    cost = Cost.of([(table, noise), (count, count_noise)], budget.epsilon, budget.delta)
    return Plan(noise, count_noise, True, cost)
