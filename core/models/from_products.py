"""A number predicted from sums of products: as of `core.sketches.sums_of_products`, with but one regression kept.

What is released is the noisy matrix of the sums of all products, from which any column could be predicted; this file's
model is a function of it (`core.analysis.regression`), and so are the errors of its coefficients. Whoever keeps the
release itself, by the mechanism "products", pays the same and can ask about every other column as well.

Records are added up as they are read, in constant memory, however many there are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..analysis.product_sums import Sums
from ..analysis.regression import Regression, regression
from ..errors import RequestError
from ..privacy.accounting import Cost
from ..privacy.budget import Budget
from ..privacy.calibration import NoiseScale
from ..privacy.noise.noise import add_noise, check_drawable
from ..privacy.noise.randomness import Source as NoiseSource
from ..privacy.noise.randomness import SystemSource
from ..releases.engine.building import TableBuilder
from ..releases.seal import seal
from ..sketches.plan import Plan, plan
from ..sketches.sums_of_products import UNIT, Products
from ..sources import Source
from .method import NumberMethod
from .number_model import NumberModel
from .records import Task

THEOREM = (
    "The coefficients are a function of sums of products of whole numbers that were released with exact noise (Vu, "
    "Slavković 2009; Dwork, McSherry, Nissim, Smith 2006)."
)


@dataclass(frozen=True)
class FromProducts(NumberMethod):
    """A number by regression on noisy sums of products.

    Parameters
    ----------
    domain, label, radius : Domain, str, float | None
        As of `Task`; records are never shortened, so the radius is that of a corner of the bounds.

    Raises
    ------
    RequestError
        When a parameter is out of range.
    """

    name: ClassVar[str] = "products"
    described: ClassVar[str] = "sums of products"
    theorem: ClassVar[str] = THEOREM
    unit: ClassVar[int] = UNIT

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
        return self._model(found.weights, budget, details, noise_source, residual=residual, covariance=covariance)


def times(noise: NoiseScale, share: Fraction) -> NoiseScale:
    """Noise of so many times the deviation."""
    square = noise.distribution == "discrete_gaussian"
    return replace(noise, parameter=noise.parameter * (share**2 if square else share))
