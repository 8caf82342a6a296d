"""Noisy gradient descent by steps on a sample of the records each (DP-SGD: Abadi et al. 2016), for (epsilon, delta).

As `descent`, which has the tables and what a record adds to them; but in every step each record takes part with
probability q = 2^-3 by fair coins of its own, and the noise is as much shorter as an accountant allows.

**One record more or less, one step.** Let Q be the step's noisy table without the record x and P that with it, and x
takes part with probability q: the table is M = (1 - q) Q + q P where x is there and Q where it is not, for every
outcome of the other coins, which is enough as mixing over these increases no divergence. P is Q moved by a vector of
whole numbers no longer than C, and Q is discrete Gaussian noise around whole numbers, so E_Q (P/Q)^k <=
exp(k(k-1)C²/(2σ²)) (Canonne, Kamath, Steinke 2020, Theorem 4, coordinate by coordinate). For whole α >= 2, by the
binomial theorem,

    E_Q (M/Q)^α <= Σ_k C(α, k) (1-q)^(α-k) q^k exp(k(k-1)C²/(2σ²)),

which is the bound of continuous noise. The other direction, D_α(Q|M), is no larger (Mironov, Talwar, Zhang 2019,
Theorem 5): their proof needs that a map which is its own inverse turns P into Q, here z → a + b - z for their centres
a and b, which maps whole numbers to whole numbers. So the Rényi divergences that a library knows for sampled
continuous noise, at whole orders, hold here. Those of all steps add up, each in view of earlier ones, with those of
the tables that are bought; then they become (ε, δ).

**One replaced record** is one removed and one added: (ε/2, δ/(1 + e^(ε/2))) each.

What is known is (ε, δ) alone: a ledger's filter reckons with other orders, so it admits this method alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from ..errors import RequestError
from ..privacy.accounting import Alone, Cost
from ..privacy.budget import Budget, Neighbours, Sensitivity
from ..privacy.calibration import NoiseScale, calibrate_shares, round_up
from ..privacy.choosing.held_out import held_out
from ..privacy.noise.randomness import Source as NoiseSource
from ..runtime.parameters import Resolved, Whole, parameter
from .amp import one_step
from .descent import NoisyDescent
from .training_task import Task

if TYPE_CHECKING:
    from dp_accounting import GaussianDpEvent

HALVINGS = 3
ORDERS = (*range(2, 33), *range(36, 65, 4), 80, 96, 128, 256)  # Whole ones alone, as the proof needs.
USUAL_STEPS = 400
MARGIN = 1e-6
# Of the variance that full steps would need, and how often the range between is halved.
LEAST, MOST, STEPS_OF_SEARCH = 1e-3, 64.0, 16
THEOREM = (
    "Sums over samples of the records, whole numbers with discrete Gaussian noise, compose by their Rényi divergences "
    "(Mironov, Talwar, Zhang 2019; Canonne, Kamath, Steinke 2020)."
)


@dataclass(frozen=True)
class SampledDescent(NoisyDescent):
    """Gradient descent in which a step is about an eighth of the records."""

    steps: Resolved[int] = parameter(Whole("The number of steps", 1, 10_000), USUAL_STEPS)
    name: ClassVar[str] = "dp-sgd"
    rank: ClassVar[int] = 8
    described: ClassVar[str] = "noisy gradient descent on samples"
    theorem: ClassVar[str] = THEOREM
    seen: ClassVar[float] = 2.0**-HALVINGS

    def _check(self) -> None:
        super()._check()
        if self.domain.unit.records > 1:
            raise RequestError("Records are sampled one by one, so each person may have one record only.")

    @classmethod
    def suits(cls, task: Task, budget: Budget) -> bool:
        return False

    def for_records(self, budget: Budget, records: float) -> Self:
        return self

    def cost(self, budget: Budget) -> Cost:
        """What a fit costs; RequestError when the promise is none that the theorem keeps."""
        self.noises(budget)
        return Cost((Alone(Fraction(budget.epsilon), Fraction(budget.delta)),), budget.epsilon, budget.delta)

    def noises(self, budget: Budget) -> tuple[NoiseScale, ...]:
        """The noise of every table, that of steps by the accountant."""
        return accounted(self, budget)

    def _step_table(
        self, units: np.ndarray, goals: np.ndarray, weights: np.ndarray, most: np.ndarray, noise_source: NoiseSource
    ) -> np.ndarray:
        some = held_out(np.column_stack([units, goals]), noise_source, halvings=HALVINGS, sampling=True)
        return self.slopes(units[some], goals[some], weights, most[some])


@lru_cache(maxsize=64)
def accounted(method: SampledDescent, budget: Budget) -> tuple[NoiseScale, ...]:
    """The noise of every table of such a descent; see the module."""
    whole = NoisyDescent.noises(method, budget)
    runs = 2 if budget.neighbours is Neighbours.REPLACE_ONE else 1
    epsilon, delta = one_step(float(budget.epsilon), float(budget.delta), runs)
    tables = method._tables(replace(budget, neighbours=Neighbours.ADD_REMOVE))
    full = calibrate_shares(tables, Fraction(epsilon), Fraction(delta), gaussian_only=True)
    steps = method.steps
    bought = tuple(zip((moved for moved, _ in tables[steps:]), full[steps:], strict=True))
    factor = least_factor(tables[0][0], full[0], steps, bought, epsilon, delta)
    step = replace(full[0], parameter=round_up(full[0].parameter * Fraction(factor)))
    return (*(step for _ in full[:steps]), *full[steps:])[: len(whole)]


def least_factor(
    moved: Sensitivity,
    noise: NoiseScale,
    steps: int,
    bought: tuple[tuple[Sensitivity, NoiseScale], ...],
    epsilon: float,
    delta: float,
) -> float:
    """The least share of a step's variance, of those tried, that keeps the promise together with what is bought.

    `moved`, `noise`: Of a step on all records. `bought`: Tables of all records. `epsilon`, `delta`: What one record
    more or less may lose. RequestError when no noise is enough.
    """

    from dp_accounting import NeighboringRelation, PoissonSampledDpEvent  # a second to load, for this method alone
    from dp_accounting.rdp import RdpAccountant

    def kept(factor: float) -> bool:
        accountant = RdpAccountant(ORDERS, NeighboringRelation.ADD_OR_REMOVE_ONE)
        accountant.compose(PoissonSampledDpEvent(2.0**-HALVINGS, _event(moved, noise, factor)), steps)
        for table, scale in bought:
            accountant.compose(_event(table, scale))
        return bool(accountant.get_delta(epsilon) <= delta * (1.0 - MARGIN))

    low, high = LEAST, MOST
    if not kept(high):
        raise RequestError("No noise that can be drawn keeps this promise with samples; take noisy gradient descent.")
    for _ in range(STEPS_OF_SEARCH):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if kept(middle) else (middle, high)
    return high


def _event(moved: Sensitivity, noise: NoiseScale, factor: float = 1.0) -> GaussianDpEvent:
    """A table as the accountant knows it: how many deviations of noise one record's length is hidden by."""
    from dp_accounting import GaussianDpEvent

    return GaussianDpEvent(math.sqrt(float(noise.parameter) * factor / moved.l2_squared) * (1.0 - MARGIN))
