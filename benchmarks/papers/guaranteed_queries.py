"""Huang and Roth's learner with the constants of the theory, as the ICLR paper ran it (Backurs et al. 2024, 11.1).

The hypothesis is zero at first, the threshold is twice the error that the sparse vector's theorem guarantees with
probability 0.95 for all queries (Dwork and Roth 2014, Theorem 3.28: 9c (log k + log 4c/β)/ε for c findings among k
queries), and c is what the learner needs for an error of that size (`core.lab.published.huang_roth`). Where there are
too few records for that to say anything, nothing ever exceeds the threshold, and the answer is zero everywhere: their
figure 1. (Huang and Roth state their constants for a sparse vector of their own; those used here are of the book's
later version and of the bound above, which are no larger in order and give the learner the better chance.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from core.lab.published.asked_distances import SCALE, STEPS
from core.lab.published.huang_roth import HuangRoth, Learner
from core.privacy.budget import Budget
from core.runtime.parameters import Number, Resolved, parameter

FAILURE = 0.05


@dataclass(frozen=True)
class GuaranteedQueries(HuangRoth):
    """Every query of the grid in turn, against a threshold in records times the range of a coordinate."""

    threshold: Resolved[float] = parameter(Number("The threshold", 1e-15, 1e15), None)
    comparing = Fraction(8, 9)  # That of Dwork and Roth's Theorem 3.28.
    borders = False

    @property
    def sized(self) -> bool:
        return self.asked is not None and self.threshold is not None

    def sized_for(self, budget: Budget, records: float) -> GuaranteedQueries:
        """What the theory asks for."""
        asked, threshold = guarantee(float(budget.epsilon) / self.domain.dimensions, records)
        return replace(self, asked=self.asked or asked, threshold=self.threshold or threshold)

    def _learn(self, learner: Learner) -> None:
        sweep(learner, round(self.threshold * SCALE))


def sweep(learner: Learner, threshold: int) -> None:
    """The paper's learner: every query of the grid in turn, until none is off or all findings are made."""
    again = True
    while again and learner.vector.left:
        again = False
        for place in coarse_to_fine():
            off = abs(learner.said(place) - int(learner.exact[place]))
            if place not in learner.places and learner.vector.left and learner.vector.above(off, threshold):
                learner.ask(place)
                again = True


def coarse_to_fine() -> list[int]:
    """All places: the ends, the middle, the quarters, and so on."""
    order, step = [0, STEPS], STEPS // 2
    while step:
        order += range(step, STEPS, 2 * step)
        step //= 2
    return order


def findings_for(error: float) -> int:
    """How many places the learner needs at most for an error of this share of the records times the range."""
    return 2 + math.ceil(2.0 * math.sqrt(2.0 / error))


def guarantee(epsilon: float, records: float) -> tuple[int, float]:
    """Findings and threshold of the theory: the least threshold that is twice the error guaranteed for its findings.

    Thresholds in records times the range; with more than all records, nothing is ever above.
    """
    threshold = 1.0
    while True:
        asked = min(findings_for(min(1.0, threshold / (2.0 * records))), STEPS + 1)
        # Every place is asked about once more after each finding, at most.
        queries = (STEPS + 1) * (asked + 1)
        error = 9.0 * asked * (math.log(queries) + math.log(4.0 * asked / FAILURE)) / epsilon
        if 2.0 * error <= threshold:
            return asked, threshold
        threshold *= 1.01
