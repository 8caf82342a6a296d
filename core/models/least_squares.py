"""Least squares: from sums of products, released once, and by boosting.

A number predicted from sums of products: as of `core.sketches.sums_of_products`, with but one regression kept.

What is released is the noisy matrix of the sums of all products, from which any column could be predicted; this file's
model is a function of it (`core.analysis.regression`), and so are the errors of its coefficients. Whoever keeps the
release itself, by the mechanism "products", pays the same and can ask about every other column as well.

Records are added up as they are read, in constant memory, however many there are.

Least squares by boosting: AdaSSP again and again on what is left to explain (Tang et al. 2023), with a delta.

AdaSSP (Wang 2018) releases Σ z zᵀ and Σ z y once. Boosting releases the first once, and then the sums of the records
times what is still wrong about them, a few times over, each cut to a length that a single Σ z y could not be cut to
without a bias: cut slopes let less noise in, and what was cut off in one step is made good in the next.
`preconditioned` has the steps, the ridge and the proof. As in the paper the matrix is bought once, and everything is
around a bought centre, in units of a bought length, which the paper leaves to whoever prepares the data.

**Sums of answers** y, whole numbers of at most U in size: Σ (U, y), from which come the number of records and a first
mean. One record more or less moves them by L2² <= 2 U² and L1 <= 2 U; of a replaced one the first does not move, so L2²
<= 4 U² and L1 <= 2 U. Around that mean are bought where the numbers lie and how far apart (`number_descent.located`),
a better mean t and spread s; the search is for (y - t)/s.

After the last step it is bought how far off the model is (`number_descent`).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..analysis.product_sums import Sums
from ..analysis.regression import Regression, regression
from ..errors import RequestError
from ..privacy.accounting import Cost
from ..privacy.budget import Budget, Neighbours, Sensitivity
from ..privacy.calibration import NoiseScale
from ..privacy.noise.noise import add_noise, check_drawable
from ..privacy.noise.randomness import Source as NoiseSource
from ..privacy.noise.randomness import SystemSource
from ..releases.engine.building import TableBuilder
from ..releases.seal import seal
from ..sketches.plan import Plan, plan
from ..sketches.sums_of_products import UNIT as PRODUCTS_UNIT
from ..sketches.sums_of_products import Products
from ..sources import Source
from .linear_models import NumberModel
from .method import NumberMethod
from .model_file import BITS
from .number_descent import FIT_SENSITIVITY, FIT_SHARE, bought_residual, located, near_the_middle, sum_of_squares
from .preconditioned import MOST_COORDINATES, THEOREM, UNIT, Preconditioned, Start
from .training_task import Task

SUMS_THEOREM = (
    "The coefficients are a function of sums of products of whole numbers that were released with exact noise (Vu, "
    "Slavković 2009; Dwork, McSherry, Nissim, Smith 2006)."
)


@dataclass(frozen=True)
class FromProducts(NumberMethod):
    """A number by regression on noisy sums of products.

    `domain`, `label`, `radius`: As of `Task`; records are never shortened, so the radius is that of a corner of the
    bounds.
    """

    name: ClassVar[str] = "products"
    rank: ClassVar[int] = 0
    advantage: ClassVar[str] = "it says how far its coefficients may be off"
    bends: ClassVar[bool] = False
    described: ClassVar[str] = "sums of products"
    theorem: ClassVar[str] = SUMS_THEOREM
    unit: ClassVar[int] = PRODUCTS_UNIT
    # Noise is in shares of the bounds, which made-up records fill and others do not: of public tables others said more.
    flattered: ClassVar[float] = 0.04

    def _check(self) -> None:
        super()._check()
        if self.reach < Task(self.domain, self.label).reach:
            raise RequestError("Sums of products take records as they are: leave the radius out.")
        _ = self.sketch

    @cached_property
    def sketch(self) -> Products:
        """The map of a record to its products."""
        return Products(self.domain)

    def cost(self, budget: Budget) -> Cost:
        """What a fit costs: as a release of the sums."""
        return plan(self.sketch, budget).cost

    @classmethod
    def suits(cls, task: Task, budget: Budget) -> bool:
        fits = task.radius >= Task(task.domain, task.label).radius and not task.domain.circles
        return not task.categories and fits

    def noise(self, budget: Budget) -> float:
        """How long the noise is on the products of all coordinates with one of them, in records."""
        variance = self.sketch.entry_variance(plan(self.sketch, budget).noise.variance)
        return math.sqrt(variance * self.sketch.layout.coordinates)

    def _planned(self, budget: Budget) -> Plan:
        found = plan(self.sketch, budget)
        check_drawable(*found.noises, *found.count_noises)
        return found

    def _beside(self, plan: Plan, share: Fraction) -> Plan:
        count = plan.count_noise
        shorter = None if count is None else times(count, share)
        return replace(plan, noise=times(plan.noise, share), count_noise=shorter)

    def fit(
        self,
        source: Source,
        budget: Budget,
        *,
        spend: Callable[[Cost], object] | None = None,
        noise_source: NoiseSource | None = None,
    ) -> NumberModel:
        planned = self._planned(budget)
        building = TableBuilder(self.sketch, source)
        for _ in building:
            pass
        release = seal(self.sketch, building.exact, budget, spend, noise_source, planned)
        drawn = SystemSource() if noise_source is None else noise_source
        return self._from(regression(release, self.label), budget, planned, drawn)

    def _trained(
        self, units: np.ndarray, codes: np.ndarray, budget: Budget, plan: Plan, noise_source: NoiseSource
    ) -> NumberModel:
        """The same of records that are held, as public ones are."""
        vectors = np.insert(units, self._place, codes, axis=1)
        first, second = self.sketch.layout.pairs
        noisy = add_noise((vectors.T @ vectors)[first, second], plan.noise, noise_source)
        matrix, count = self.sketch.matrix(noisy), plan.count_noise
        counted = 0 if count is None else int(add_noise(np.zeros(1, np.int64), count, noise_source)[0])
        matrix[0, 0] = max(1.0, float(len(codes) + counted))
        known = 0.0 if count is None else count.variance
        sums = Sums(self.sketch, matrix, self.sketch.entry_variance(plan.noise.variance), known)
        return self._from(regression(sums, self.label), budget, plan, noise_source)

    @property
    def _place(self) -> int:
        """The coordinate that is predicted, after the 1 in front."""
        return 1 + int(np.argmax(self.places))

    def _from(self, found: Regression, budget: Budget, plan: Plan, noise_source: NoiseSource) -> NumberModel:
        details = {"ridge": repr(found.ridge), "noise": plan.noise.describe()}
        residual, covariance = min(2.0, math.sqrt(found.residual)), found.covariance
        spread = residual / math.sqrt(1.0 - found.explained) if found.explained < 1.0 else None
        return self._model(
            found.weights, budget, details, noise_source, residual=residual, covariance=covariance, of_mean=spread
        )


def times(noise: NoiseScale, share: Fraction) -> NoiseScale:
    """Noise of so many times the deviation."""
    square = noise.distribution == "discrete_gaussian"
    return replace(noise, parameter=noise.parameter * (share**2 if square else share))


CLIP = 1.5


@dataclass(frozen=True)
class Boosted(Preconditioned, NumberMethod):
    """Boosted least squares: the number that a column has, from all others.

    `domain`, `label`, `radius`, `steps`, `clip`: As of `Preconditioned`; scores are in spreads of what is predicted.
    """

    name: ClassVar[str] = "boosted"
    rank: ClassVar[int] = 3
    described: ClassVar[str] = "boosted least squares"
    theorem: ClassVar[str] = THEOREM
    instead: ClassVar[str] = "sums of products"
    usual_clip: ClassVar[float] = CLIP
    curvature: ClassVar[float] = 1.0

    @classmethod
    def suits(cls, task: Task, budget: Budget) -> bool:
        return not task.categories and not budget.pure and task.width < MOST_COORDINATES

    def answers_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """See the module for the proof."""
        return Sensitivity(2 * UNIT, (4 if neighbours is Neighbours.REPLACE_ONE else 2) * UNIT**2)

    def _answers(self, answers: np.ndarray) -> np.ndarray:
        return np.array([len(answers) * UNIT, int(answers.sum())], np.int64)

    def _start(
        self, answers: np.ndarray, of_answers: NoiseScale, judging: Sequence[NoiseScale], noise: NoiseSource
    ) -> Start:
        said = add_noise(self._answers(answers), of_answers, noise) / UNIT
        records = max(float(said[0]), math.sqrt(of_answers.variance) / UNIT, 1.0)
        mean, spread = located(answers, float(said[1]) / records, records, judging[:2], noise)
        return Start(records, np.array([mean]), spread)

    def _slopes(self, scores: np.ndarray, answers: np.ndarray, start: Start) -> np.ndarray:
        return scores - (answers[:, None] / UNIT - start.scores) / start.spread

    def judging(self, neighbours: Neighbours) -> list[tuple[Sensitivity, Fraction]]:
        return [*near_the_middle(neighbours), (FIT_SENSITIVITY, FIT_SHARE)]

    def _judged(
        self,
        records: np.ndarray,
        answers: np.ndarray,
        start: Start,
        weights: np.ndarray,
        noise: NoiseScale,
        noise_source: NoiseSource,
    ) -> float | None:
        off = self._slopes(records @ weights.T / float(UNIT << BITS), answers, start)[:, 0]
        found = bought_residual(sum_of_squares(off), start.records, noise, noise_source)
        return None if found is None else min(2.0, found * start.spread)

    def _trained(
        self,
        units: np.ndarray,
        answers: np.ndarray,
        budget: Budget,
        plan: tuple[NoiseScale, ...],
        noise_source: NoiseSource,
    ) -> NumberModel:
        found = self._found(units, answers, plan, noise_source)
        weights = np.ldexp(found.rows[0], -BITS)
        spread = float(found.details["spread"])
        made = self._model(weights, budget, found.details, noise_source, residual=found.residual, of_mean=spread)
        return replace(made, term_errors=found.term_errors)
