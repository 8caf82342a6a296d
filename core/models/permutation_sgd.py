"""Logistic regression by stochastic gradient descent over a permutation, with noise on its result (Wu et al. 2017).

Records u_i in the unit ball, times their label 1 or -1, are put into batches once, in an order that is drawn in secret
for this fit and never told, and each of k passes takes one step a batch, on the mean of its losses
log(1 + exp(-<w, u_i>)), whose curvature is at most β = 1/4:

    w ← w + η · mean of p_i u_i over the batch,    p_i = 1/(1 + exp<w, u_i>).

**A replaced record keeps its place**, wherever in its file its new value puts it. In the places of a file it need not:
in one that is sorted by a column, or that a query gives in the order of an index, one changed value moves every record
between its old line and its new one, and each of them into another batch. So the order comes from draws, one of each
record's own (`hidden_order`): given which values there are, and how often each, all their orders are equally likely,
whatever the lines that they stood in, and the law of what is released depends on these values alone. Let D and D'
differ in one of them, and let the record that replaces another have its draw, and every other record the same draw in
both: each side keeps its law, and the sequences that are walked differ in one place. For every value of the draws the
noise hides that, P(M in E) <= exp(ε) P'(M in E) + δ by what follows, and so do the averages over them, whose
weights are the same on both sides (joint convexity). One order serves all problems of one class against the rest: what
is proved of a fixed order is proved of their table as a whole, whose lines all differ in that one place's step.

**Sensitivity, one replaced record in its place** (their Lemmas 6 and 7, with batches). A step by the same batch brings
no two places apart where η is at most 2/β. A step by batches that differ in one record, of b or more, adds 2η/b at
most, as p u is no longer than 1. One batch of every pass differs, so Δ = 2kη/b for a constant η <= 2/β.

So η is chosen such that Δ is what the promise allows for noise of a public deviation in each coefficient: how
many records there are, which is public, changes how far the search goes and no noise.

**Rounding.** Coefficients stay no longer than `LONGEST`, by η T <= LONGEST. In double precision (u
= 2^-53) an inner product of m <= 2^12 entries is then off by less than 1.01 m u LONGEST < 2^-30.9, p by a quarter of
that and some u (`certified_logistic`), the mean of a batch by 2^-33 more (`LARGEST_BATCH`), so a step by less than η
2^-30 + 2^-41. Errors are not made longer by later steps either; two runs are apart by 2 (Σ η 2^-30 + T 2^-41) more.
Both are then rounded to a grid, which adds √m of its steps, and Gaussian noise on whole numbers hides the sum of all
that.

Records are replaced, as one more would make another number of them, and so other batches. More than two classes: each
against the rest, in one table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from ..errors import RequestError
from ..privacy.accounting import Cost
from ..privacy.budget import Budget, Neighbours, Sensitivity
from ..privacy.calibration import NoiseScale, calibrate_gaussian
from ..privacy.noise.noise import add_noise, check_drawable
from ..privacy.noise.randomness import Source as NoiseSource
from ..privacy.noise.randomness import hidden_order
from ..runtime.parameters import Number, Whole, parameter
from ..sources import Source
from .amp import READ_UNIT, in_unit_ball
from .certified_logistic import UNIT_BITS, logistic_weights
from .linear_models import LinearModel
from .method import Method, against_the_rest, signed_problems
from .model_file import BITS, HIDDEN_ORDER, IN_AN_ORDER
from .preconditioned import of_square

BETA = 0.25
LONGEST = 1024.0
MARGIN = 1e-9
MOST_STEPS, LARGEST_BATCH = 10_000, 1 << 20
# How much further apart two runs are than in exact arithmetic: steps together are LONGEST long at most.
ROUNDING = 2.0 * (LONGEST * 2.0**-30 + MOST_STEPS * 2.0**-41)
TRIAL = 1 << 40
THEOREM = (
    "One replaced record moves what gradient steps over a permutation that is drawn in secret end at by a proven "
    "length, which discrete Gaussian noise hides (Wu, Li, Kumar, Chaudhuri, Jha, Naughton 2017)."
)


@dataclass(frozen=True)
class Plan:
    """What is public before a record is read."""

    # How far apart two runs of one problem may end, in steps of the grid and before they are rounded to it.
    moved: float
    noise: NoiseScale  # Of every coefficient.


@dataclass(frozen=True)
class PermutationSGD(Method):
    """Stochastic gradient descent with noise on its result.

    `passes`, `batch`: k, and how many records a batch has at least. `deviation`: Of the noise in each coefficient.
    """

    passes: int = parameter(Whole("The number of passes", 1, 100), 10)
    batch: int = parameter(Whole("The size of a batch", 1, LARGEST_BATCH), 50)
    deviation: float = parameter(Number("The deviation of a coefficient", 1e-3, 10.0), 0.5)
    name: ClassVar[str] = "sgd"
    rank: ClassVar[int] = 7
    described: ClassVar[str] = IN_AN_ORDER
    theorem: ClassVar[str] = THEOREM
    unit: ClassVar[int] = READ_UNIT

    @property
    def size(self) -> int:
        """Coordinates of a record, the 1 in front included."""
        return self.width + 1

    def cost(self, budget: Budget) -> Cost:
        """What a fit costs; RequestError when the promise is none that the theorem keeps."""
        sensitivity = self._sensitivity(budget)
        return Cost.of([(sensitivity, self._noise(budget, sensitivity))], budget.epsilon, budget.delta)

    def _sensitivity(self, budget: Budget) -> Sensitivity:
        """Of all coefficients together, on the grid: what noise of the chosen deviation hides."""
        if budget.pure:
            raise RequestError(
                "Noise on the result of a descent needs a delta above 0, and objective perturbation none."
            )
        if budget.neighbours is not Neighbours.REPLACE_ONE or not self.domain.keeps_every_record:
            raise RequestError(
                "Stochastic gradient descent over a permutation hides replaced records alone, none of which is left "
                "out, as one more would move every batch."
            )
        trial = calibrate_gaussian(
            of_square(TRIAL, self.rows * self.size), Fraction(budget.epsilon), Fraction(budget.delta)
        )
        square = math.floor((self.deviation * (1 << BITS)) ** 2 * TRIAL / trial.variance)
        if math.sqrt(square / self.rows) < 2.0 * (math.sqrt(self.size) + ROUNDING * (1 << BITS)):
            raise RequestError("This promise is too small for noise of this deviation on so many coefficients.")
        return of_square(square, self.rows * self.size)

    def _noise(self, budget: Budget, sensitivity: Sensitivity) -> NoiseScale:
        return calibrate_gaussian(sensitivity, Fraction(budget.epsilon), Fraction(budget.delta))

    @property
    def most_batches(self) -> int:
        """Of a pass."""
        return MOST_STEPS // self.passes

    def _read(self, source: Source) -> tuple[np.ndarray, np.ndarray]:
        units, codes = super()._read(source)
        most = self.most_batches * LARGEST_BATCH
        if len(codes) > most:
            raise RequestError(
                f"With {self.passes} passes at most {most:,} records can be learnt from, as the rounding of longer "
                "batches is not known; take noisy gradient descent."
            )
        return units, codes

    def _planned(self, budget: Budget) -> Plan:
        sensitivity = self._sensitivity(budget)
        noise = self._noise(budget, sensitivity)
        check_drawable(noise)
        each = math.sqrt(sensitivity.l2_squared / self.rows)
        return Plan(each * (1.0 - MARGIN) - math.sqrt(self.size), noise)

    def _beside(self, plan: Plan, share: Fraction) -> Plan:
        noise = NoiseScale("discrete_gaussian", plan.noise.parameter * share**2)
        return Plan(plan.moved, noise)

    def _trained(
        self, units: np.ndarray, codes: np.ndarray, budget: Budget, plan: Plan, noise_source: NoiseSource
    ) -> LinearModel:
        vectors, length = in_unit_ball(units, self.longest(READ_UNIT))
        walk = Walk.of(self, len(vectors), plan.moved / (1 << BITS))
        order = hidden_order(np.column_stack((vectors, codes)), noise_source)
        places = [
            walk.end(np.ldexp(signed[order], -UNIT_BITS)) for signed in signed_problems(vectors, codes, self.rows)
        ]
        found = np.rint(np.array(places) * (1 << BITS)).astype(np.int64)
        details = {
            **HIDDEN_ORDER,
            "passes": str(self.passes),
            "rate": repr(walk.rate),
            "sigma_squared": str(plan.noise.parameter),
        }
        kind, rows = against_the_rest(self.rows), add_noise(found, plan.noise, noise_source)
        return self._model(kind, 1.0 / length, rows, budget, details, noise_source)


@dataclass(frozen=True)
class Walk:
    """The steps of one problem, from a public number of records."""

    # How many.
    passes: int
    batches: int
    rate: float  # η.

    @classmethod
    def of(cls, method: PermutationSGD, records: int, apart: float) -> Walk:
        """The longest steps by which two runs end no further apart than that."""
        batches = max(1, min(records // method.batch, method.most_batches))
        least, room = max(1, records // batches), apart - ROUNDING
        longest = min(2.0 / BETA, LONGEST / (method.passes * batches), room * least / (2 * method.passes))
        return cls(method.passes, batches, longest * (1.0 - MARGIN))

    def end(self, records: np.ndarray) -> np.ndarray:
        """Where the steps end, float64 (m,), for records times their label in their order, float64 (n, m)."""
        place = np.zeros(records.shape[1])
        if not len(records):
            return place
        for batch in np.array_split(records, self.batches) * self.passes:
            place = place + self.rate * (logistic_weights(batch @ place) @ batch / len(batch))
        return place
