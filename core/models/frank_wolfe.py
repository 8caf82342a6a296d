"""Logistic regression on the L1 ball by private Frank-Wolfe steps (Talwar, Thakurta, Zhang 2015), delta or none.

Coefficients of (1, z) stay in the ball |θ|₁ <= C. Each of T steps goes toward the one corner ±C e_j of the ball along
which the loss falls fastest: θ ← (1 - μ) θ ± μ C e_j, μ = 2/(t + 2). Which corner that is, is all that a step says of
the records, so its noise grows with the logarithm of the number of coordinates, and most coefficients stay exactly
zero.

**The choice.** Corner ±j has the score ∓ Σ r z_j, r a record's residual at θ that is public by then: whole numbers of
2^-12, and coordinates whole numbers of 2^-13 of at most 1. So a score is a whole number, exact in any order, of which
one record more or less moves each by Δ = 2^12 · 2^13 at most, and a replaced one by 2 Δ. The corner is chosen by the
exponential mechanism, drawn exactly (`core.privacy.choosing.selection`), where the paper adds Laplace noise to every
score. No number of records is needed: a mean has the same best corner as a sum.

**The price.** Under a pure ε each of the T steps of each of K problems costs ε/(TK). Under (ε, δ) a choice of ε'
costs ρ = ε'²/8 (Cesar, Rogers 2021), and ρ adds up, also where a step is chosen in view of earlier ones (Bun, Steinke
2016).

More than two classes: one problem for each class against all others.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from ..privacy.accounting import Cost
from ..privacy.budget import Budget, Neighbours
from ..privacy.calibration import largest_rho
from ..privacy.choosing.selection import select
from ..privacy.composition import Selections
from ..privacy.noise.randomness import Source as NoiseSource
from ..runtime.parameters import Number, Whole, parameter
from ..sketches.adaptive import price_of
from .linear_models import LinearModel
from .method import Method, against_the_rest, signed_problems
from .model_file import BITS
from .standard_scale import RESIDUAL_UNIT, residuals, sums_of_slopes

UNIT = 1 << 13
THEOREM = (
    "Each step is a corner of a ball that the exponential mechanism chooses by whole-number slopes (Talwar, Thakurta, "
    "Zhang 2015; McSherry, Talwar 2007); choices add up by their zCDP, or by epsilon where there is no delta."
)


@dataclass(frozen=True)
class FrankWolfe(Method):
    """Sparse logistic regression: as many coordinates as there are steps, at most.

    `steps`: T, how many corners are chosen. `ball`: C, how large coefficients of coordinates between -1 and 1 may be
    together.
    """

    steps: int = parameter(Whole("The number of steps", 1, 1_000), 10)
    ball: float = parameter(Number("The largest sum of coefficients", 1e-2, 200.0), 5.0)
    name: ClassVar[str] = "frank-wolfe"
    rank: ClassVar[int] = 6
    described: ClassVar[str] = "private Frank-Wolfe steps"
    theorem: ClassVar[str] = THEOREM
    unit: ClassVar[int] = UNIT

    def cost(self, budget: Budget) -> Cost:
        """What a fit costs: all choices alike."""
        return Cost((Selections(self.price(budget), self.steps * self.rows),), budget.epsilon, budget.delta)

    def price(self, budget: Budget) -> Fraction:
        """The epsilon of one choice, by whichever of both sums allows more."""
        choices = self.steps * self.rows
        pure = Fraction(budget.epsilon) / choices
        if budget.pure:
            return pure
        return max(pure, price_of(Fraction(largest_rho(float(budget.epsilon), float(budget.delta))) / choices))

    def sensitivity(self, neighbours: Neighbours) -> int:
        """How far one person moves any score."""
        moves = 2 if neighbours is Neighbours.REPLACE_ONE else 1
        return moves * RESIDUAL_UNIT * UNIT * self.domain.unit.records

    def _planned(self, budget: Budget) -> Fraction:
        return self.price(budget)

    def _beside(self, plan: Fraction, share: Fraction) -> Fraction:
        return plan / share

    def _trained(
        self, units: np.ndarray, codes: np.ndarray, budget: Budget, plan: Fraction, noise_source: NoiseSource
    ) -> LinearModel:
        moved = self.sensitivity(budget.neighbours)
        rows = [
            self._walked(signed.astype(np.float64), plan, moved, noise_source)
            for signed in signed_problems(units, codes, self.rows)
        ]
        details = {"steps": str(self.steps), "ball": repr(self.ball), "price": str(plan)}
        kind = against_the_rest(self.rows)
        return self._model(kind, 1.0, np.array(rows, np.int64), budget, details, noise_source)

    def _walked(self, signed: np.ndarray, price: Fraction, moved: int, noise_source: NoiseSource) -> np.ndarray:
        """Coefficients after all steps, whole multiples of 2^-20, for records times their class."""
        place, corner = np.zeros(signed.shape[1]), self.ball * (1 << BITS)
        for step in range(self.steps):
            chosen = select(corner_scores(signed, place), moved, price, noise_source)
            toward, share = np.zeros(len(place)), 2.0 / (step + 2.0)
            toward[chosen % len(place)] = corner if chosen < len(place) else -corner
            place = np.rint((1.0 - share) * place + share * toward)
        return place


def corner_scores(signed: np.ndarray, place: np.ndarray) -> np.ndarray:
    """How fast the loss falls toward each corner, first the positive ones: int64 (2 m,), exact and private.

    `signed`: Records in whole units times their class, 1 or -1, float64 (n, m). `place`: Whole coefficients, float64
    (m,).
    """
    positive, free = np.ones(len(signed), np.int64), np.full(len(signed), RESIDUAL_UNIT**2)
    slopes = sums_of_slopes(
        signed,
        place[None],
        float(UNIT << BITS),
        lambda scores, here: residuals(scores, positive[here], "logistic", free[here]),
    )[0]
    return np.concatenate((-slopes, slopes))
