"""Logistic regression by approximate minima perturbation (Iyengar et al. 2019), for (epsilon, delta).

With u_i = ±z_i / R a record in the unit ball times its label, the objective is

    J(f) = Σ log(1 + exp(-<f, u_i>)) + k|f|²/2 + <b, f>,     b with independent entries from N(0, s²),

whose minimiser is f*. Any solver finds a place f' where |∇J(f')| <= γ, which is *checked* with bounds on everything
that rounds, b included (`certified_logistic`); if the check fails the search goes on with more digits, and b is never
drawn again. Then |f' - f*| <= γ/k, as J is k-strongly convex. Released is f' on a grid with discrete Gaussian noise.

**The second part.** With h the grid's step, round(f'/h) = round(f*/h) + e with |e| <= γ/(kh) + √m. Given f*, which is a
release of its own, e is a function of the records that any two data sets move by 2(γ/(kh) + √m) at most; noise of that
sensitivity is (ε₂, δ₂)-private, and together with f* it is (ε₁ + ε₂, δ₁ + δ₂)-private (basic composition). Later work
found this factor 2, which the paper does not have. The step is so fine that rounding costs no more than γ does,
h (√m + 1) <= γ/k, a power of two of public facts alone: then the second noise is far below a hundredth of s/k.

**The first part** (one record more or less; ε₁ = ε - ε₂ and δ₁ = δ - δ₂, the second part having a hundredth). Let
p = 1/(1 + exp<f, u>) be the weight of the record u that differs. As in `objective_perturbation`, b_D'(f) = b_D(f) + pu,
and the density of f* at f changes by

    L = (2 <b, pu> + p²|u|²)/(2s²) ± log(1 + p(1 - p) uᵀ(kI + H)⁻¹u),   with b = b_D(f) ~ N(0, s² I).

Let X = <b, u>/s, a normal number with deviation |u| <= 1 at most, and A = max(X, 0)/s. Then L is at most
g(p) = pA + p²/(2s²) + p(1 - p)/k. It is below g(1) = A + 1/(2s²) wherever A + 1/(2s²) >= ε₁, if

    k >= 1/(ε₁ + 1/(2s²)),                                                                                    (*)

since g(1) - g(p) = (1 - p)(A + (1 + p)/(2s²) - p/k), whose second factor is linear in p, at least 0 for p = 0, and for
p = 1 it is A + 1/s² - 1/k >= ε₁ + 1/(2s²) - 1/k >= 0. And g grows with A, so where A + 1/(2s²) < ε₁, g(p) is at most
what it is at the A with A + 1/(2s²) = ε₁, which is ε₁ (there must be one: ε₁ >= 1/(2s²)). So
E(1 - e^(ε₁ - L))₊ <= E(1 - e^(ε₁ - X/s - 1/(2s²)))₊: the δ of the Gaussian mechanism with sensitivity 1 and noise s,
whose closed form is known (Balle, Wang 2018). A shorter u makes X smaller.

Nothing is lost to the change of volume, and the noise is that of a release of a single number: 4.2 at (1, 10⁻⁶),
where the paper's constants take about 14. One *replaced* record is one removed and then one added, and m records of
a person are m steps: for j steps, (ε/j, δ₀)-private each, δ = δ₀ Σ e^(iε/j) for i < j.

More than two classes: one problem for each class against all others, with an equal share of epsilon and delta.

Approximate minima perturbation with its length tuned, under the same promise.

Records that are shortened to a smaller radius ask for less noise and say less; which radius serves best depends on the
records. A model for each of several radii is trained on most of the records, each with an equal share of epsilon and
delta; the one that gets most of the held-out records right, as far as report-noisy-max tells, is the one that is
released. `core.privacy.choosing.held_out` has the proof that choosing costs nothing beside training, as each record is
on one side only, whichever its coins say: what both cost together is what the models cost, and those add up to (ε, δ)
(basic composition). The records that a person has would have to be on one side, so there may be one each.

**What is right** is counted record by record: a score is added up coordinate by coordinate, each product and sum of
two numbers rounded as IEEE 754 says, so it follows from that record and the coefficients alone, bit for bit.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..errors import RequestError
from ..privacy.accounting import Alone, Cost
from ..privacy.budget import Budget, Neighbours, Sensitivity
from ..privacy.calibration import NoiseScale, calibrate_gaussian, round_up
from ..privacy.choosing.held_out import choose, held_out, plan_choice
from ..privacy.integer_shifts import gaussian_delta
from ..privacy.noise.noise import add_noise
from ..privacy.noise.randomness import Source as NoiseSource
from ..privacy.noise.vector_noise import NormalVector
from ..privacy.replay.solved_laws import ApproximateMinimum
from ..privacy.replay.tape import drawn
from ..runtime.parameters import Whole, parameter
from .certified_logistic import UNIT_BITS, approximate_minimiser
from .linear_models import LinearModel
from .method import Method, against_the_rest, signed_problems
from .model_file import BITS
from .record_vectors import block_by_block, whole_vectors
from .training_task import Task

SECOND_SHARE = Fraction(1, 100)  # Of epsilon and delta, for the noise on what the solver found.
LARGEST_GRADIENT = Fraction(1, 1 << 20)  # γ: a public constant that double precision can check for millions of records.
MARGIN = 1e-9
READ_UNIT = 1 << 24  # What 1 counts where records are read: squared lengths, and entries times 2^30, fit 64 bits.
THEOREM = (
    "The minimiser of a logistic loss with a Gaussian linear term, found to within a checked length of its gradient, "
    "is released with Gaussian noise for what is missing (approximate minima perturbation; Iyengar et al. 2019)."
)


@dataclass(frozen=True)
class Perturbed:
    """How every problem is perturbed."""

    # s and k.
    deviation: Fraction
    curvature: Fraction
    second: NoiseScale  # The noise on the result, in steps of the grid.
    bits: int  # The step of the grid is 2^-bits.


@dataclass(frozen=True)
class ApproximateMinima(Method):
    """Approximate minima perturbation of a logistic regression, without anything to be tuned."""

    name: ClassVar[str] = "amp"
    rank: ClassVar[int] = 1
    advantage: ClassVar[str] = "it is alone in a ledger"
    composable: ClassVar[bool] = False
    described: ClassVar[str] = "approximate minima perturbation"
    theorem: ClassVar[str] = THEOREM
    unit: ClassVar[int] = READ_UNIT

    def cost(self, budget: Budget) -> Cost:
        """What a fit costs; RequestError when the promise is none that the theorem keeps."""
        if budget.pure:
            raise RequestError(
                "Approximate minima perturbation needs a delta above 0; objective perturbation has none."
            )
        event = Alone(Fraction(budget.epsilon), Fraction(budget.delta))
        return Cost((event,), budget.epsilon, budget.delta)

    def perturbed(self, budget: Budget, models: int = 1) -> Perturbed:
        """Noise and curvature of every problem, from public facts alone; of each of several models that share it."""
        epsilon, delta = (Fraction(value) / (self.rows * models) for value in (budget.epsilon, budget.delta))
        first = epsilon * (1 - SECOND_SHARE), delta * (1 - SECOND_SHARE)
        steps = self.domain.unit.records * (2 if budget.neighbours is Neighbours.REPLACE_ONE else 1)
        deviation, curvature = sharp_constants(*one_step(float(first[0]), float(first[1]), steps))
        size = self.width + 1
        bits = grid_bits(curvature, size)
        reach = 2 * (LARGEST_GRADIENT / curvature * (1 << bits) + math.isqrt(size) + 1)
        square = math.ceil(reach**2)
        moved = Sensitivity(math.isqrt(square * size) + 1, square)
        second = calibrate_gaussian(moved, epsilon * SECOND_SHARE, delta * SECOND_SHARE)
        return Perturbed(deviation, curvature, second, bits)

    @classmethod
    def suits(cls, task: Task, budget: Budget) -> bool:
        return bool(task.categories) and not budget.pure

    def noise(self, budget: Budget) -> float:
        """Gaussian noise on m coordinates is s √m long."""
        return float(self.perturbed(budget).deviation) * math.sqrt(self.width + 1)

    def _planned(self, budget: Budget) -> Perturbed:
        return self.perturbed(budget)

    def _beside(self, plan: Perturbed, share: Fraction) -> Perturbed:
        return replace(plan, deviation=plan.deviation * share, curvature=plan.curvature * share)

    def _trained(
        self, units: np.ndarray, codes: np.ndarray, budget: Budget, plan: Perturbed, noise_source: NoiseSource
    ) -> LinearModel:
        vectors, length = in_unit_ball(units, self.longest(READ_UNIT))
        rows = []
        for signed in signed_problems(vectors, codes, self.rows):
            rows.append(near_minimiser(signed, plan, noise_source))
        details = {
            "deviation": str(plan.deviation),
            "curvature": str(plan.curvature),
            "second": str(plan.second.parameter),
            "largest_gradient": str(LARGEST_GRADIENT),
        }
        kind = against_the_rest(self.rows)
        scale = math.ldexp(1.0 / length, BITS - plan.bits)
        return self._model(kind, scale, np.array(rows), budget, details, noise_source)


def near_minimiser(vectors: np.ndarray, plan: Perturbed, noise_source: NoiseSource) -> np.ndarray:
    """A place near the minimiser of the module's objective with a drawn b, noise on it, int64 (m,); it was paid for.

    `vectors`: Records times their labels in units of 2^-`UNIT_BITS`, int64 (n, m); private.
    """
    second = plan.second.parameter
    law = ApproximateMinimum(plan.deviation, plan.curvature, LARGEST_GRADIENT, second, 1 << UNIT_BITS, 1 << plan.bits)

    def solved() -> np.ndarray:
        noise = NormalVector(law.deviation, vectors.shape[1], noise_source.stream())
        place = approximate_minimiser(vectors, law.curvature, noise.bounds, law.gradient)
        found = np.array([round(value * law.grid) for value in place], np.int64)
        return add_noise(found, plan.second, noise_source)

    return drawn(law, vectors, solved, noise_source.private)


def in_unit_ball(units: np.ndarray, longest: int) -> tuple[np.ndarray, float]:
    """Whole vectors divided by their largest length, in units of 2^-30 and cut toward zero; and that length.

    The length is rounded up to a whole number of units, so that no exact length exceeds 1.
    """
    length = math.isqrt(longest - 1) + 1
    within = block_by_block(lambda part: np.sign(part) * ((np.abs(part) << UNIT_BITS) // length), units)
    return within, length / READ_UNIT


def grid_bits(curvature: Fraction, size: int) -> int:
    """How fine the grid is on which so many coefficients are released.

    As |f*| <= (n + |b|)/k, they are no more than 2^21 (√m + 1)(n + |b|) steps, which fit 64 bits for 2^30 records.
    """
    finest = math.ceil(curvature * (math.isqrt(size) + 1) / LARGEST_GRADIENT)
    return max(BITS, (finest - 1).bit_length())


def sharp_constants(epsilon: float, delta: float) -> tuple[Fraction, Fraction]:
    """s and k for one record more or less."""
    least, most = 1e-6, 1e12
    while most / least > 1 + 1e-12:  # the noise that keeps delta, with a margin far above what rounds
        middle = math.sqrt(least * most)
        enough = gaussian_delta(epsilon, 1.0 / middle) <= delta * (1 - MARGIN) and 2 * epsilon * middle**2 >= 1.0
        least, most = (least, middle) if enough else (middle, most)
    deviation = round_up(Fraction(most * (1 + MARGIN)))
    return deviation, round_up(1 / (Fraction(epsilon) * Fraction(1 - MARGIN) + 1 / (2 * deviation**2)))


def one_step(epsilon: float, delta: float, steps: int) -> tuple[float, float]:
    """What one record more or less may lose so that so many together keep (epsilon, delta)."""
    each = epsilon / steps * (1 - MARGIN)
    return each, delta / math.fsum(math.exp(each * place) for place in range(steps)) * (1 - MARGIN)


@dataclass(frozen=True)
class TunedMinima(Method):
    """The best of several models by approximate minima perturbation, each of records half as long as the last."""

    radii: int = parameter(Whole("The number of radii that are tried", 2, 8), 2)
    name: ClassVar[str] = "tuned-amp"
    rank: ClassVar[int] = 2
    described: ClassVar[str] = "tuned approximate minima perturbation"
    theorem: ClassVar[str] = THEOREM
    unit: ClassVar[int] = READ_UNIT

    def _check(self) -> None:
        super()._check()
        if self.domain.unit.records > 1:
            raise RequestError("Tuning holds some records out, so each person may have one record only.")

    @cached_property
    def candidates(self) -> tuple[ApproximateMinima, ...]:
        """A method for every radius, the longest first."""
        return tuple(
            ApproximateMinima(self.domain, self.label, self.reach / 2.0**place, **self.bends_by)
            for place in range(self.radii)
        )

    def cost(self, budget: Budget) -> Cost:
        """What all models and the choice cost together; RequestError when the promise is none that they keep."""
        return plan_choice(self.candidates[0].cost(budget), budget.neighbours, self.domain.unit).cost

    def _planned(self, budget: Budget) -> tuple[Perturbed, ...]:
        return tuple(one.perturbed(budget, self.radii) for one in self.candidates)

    def _beside(self, plan: tuple[Perturbed, ...], share: Fraction) -> tuple[Perturbed, ...]:
        return tuple(one._beside(part, share) for one, part in zip(self.candidates, plan, strict=True))

    def _trained(
        self,
        units: np.ndarray,
        codes: np.ndarray,
        budget: Budget,
        plan: tuple[Perturbed, ...],
        noise_source: NoiseSource,
    ) -> LinearModel:
        out = held_out(np.column_stack([units, codes]), noise_source)
        made, right = [], []
        for one, part in zip(self.candidates, plan, strict=True):
            shorter = whole_vectors(units / READ_UNIT, one.reach, READ_UNIT)
            made.append(one._trained(shorter[~out], codes[~out], budget, part, noise_source))
            right.append(int((said(made[-1], shorter[out]) == codes[out]).sum()))
        choice = plan_choice(self.candidates[0].cost(budget), budget.neighbours, self.domain.unit)
        best = made[choose(np.array(right, np.int64), choice, noise_source)]
        details = {**best.details, "radii": str(self.radii)}
        return LinearModel(
            best.task,
            best.kind,
            best.scale,
            best.rows,
            budget,
            f"{self.described} of {self.radii} radii",
            self.theorem,
            details,
            noise_source.private,
        )


def said(model: LinearModel, units: np.ndarray) -> np.ndarray:
    """The place of the likeliest class of each record, int64 (n,), a function of that record and the model alone."""
    scores = np.zeros((len(model.rows), len(units)))
    for row, score in zip(model.rows, scores, strict=True):
        for weight, column in zip(row.tolist(), units.T, strict=True):
            score += column * float(weight)
    return (scores[0] > 0).astype(np.int64) if len(scores) == 1 else scores.argmax(axis=0)
