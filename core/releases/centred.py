"""A release around a bought centre: one budget pays for where everyone lies together, and for the table around it.

Records that differ little from each other, such as embeddings, all need noise for their whole length. Around a centre
that is close to all of them they are short, and so is the noise. Two readings: the first sums everyone, with noise from
a small share of the budget, and gives the centre (the pole of directions, the mean for moments); the second fills the
table around it. The centre goes into the release file as a public parameter, as it was paid for.

The second reading depends on what the first one gave, which sequential composition allows: epsilons add up, and so does
rho. Both noises are fixed and the whole cost is written to the ledger before any of them is drawn. That can be done, as
no sensitivity depends on the centre.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..domain import Domain
from ..errors import RequestError
from ..privacy.accounting import Cost
from ..privacy.budget import Budget, Number, exact_decimal
from ..privacy.calibration import NoiseScale, calibrate_shares
from ..privacy.noise.noise import add_noise, check_drawable
from ..privacy.noise.randomness import Source as NoiseSource
from ..sketches.linear import LinearSketch
from ..sketches.plan import Plan
from ..sources import Source
from .engine.building import check_room
from .engine.engine_choice import LOCAL, building_on
from .kind import Plain
from .stages import Known, Offer, Progress, Stage


@dataclass(frozen=True)
class CentrePurchase:
    """What is to be bought.

    Parameters
    ----------
    share : Number
        Part of epsilon, or of rho under (epsilon, delta), that pays for the centre; strictly between 0 and 1.
    radius : float | None
        For moments, the public radius of the first reading, in which records are still far from their centre; None is
        that of the whole box. Directions need none.
    """

    share: Number = "0.12"
    radius: float | None = None

    def __post_init__(self) -> None:
        share = exact_decimal(self.share, "The share of the centre")
        if not 0 < share < 1:
            raise RequestError("The share of the centre must lie strictly between 0 and 1, as the table has a cost.")
        object.__setattr__(self, "share", share)


@dataclass(frozen=True)
class CentreStage(Stage):
    """The centre of all records, and then a sketch around it."""

    sketch: LinearSketch  # Directions or moments, or classes of them; of a settled size.
    purchase: CentrePurchase
    budget: Budget  # The promise of everything together.
    name: ClassVar[str] = "centre"
    learns: ClassVar[str] = "a centre"
    needed: ClassVar[bool] = True

    @property
    def of(self) -> Domain:  # type: ignore[override]
        """The columns of the sketch."""
        return self.sketch.domain

    @cached_property
    def everyone(self) -> LinearSketch:
        """The sketch of the first reading, of all records in one; RequestError when there is no centre to buy."""
        return self.sketch.one_answer[0].finding_centre(self.purchase.radius)

    @cached_property
    def _noise(self) -> tuple[NoiseScale, Plan]:
        """The noise of the first reading, and the plan of the table, whose cost is that of everything together.

        Under a delta that of the pure promise where its table has less noise, as in `core.sketches.plan`.
        """
        delta = Fraction(self.budget.delta)
        return min((self._noise_under(one) for one in {delta, Fraction(0)}), key=lambda way: way[1].noise.variance)

    def _noise_under(self, delta: Fraction) -> tuple[NoiseScale, Plan]:
        """The same where so much of the budget's delta is used."""
        sketch, budget = self.sketch, self.budget
        neighbours, promise = budget.neighbours, (Fraction(budget.epsilon), delta)
        first, table = self.everyone.sensitivity(neighbours), sketch.sensitivity(neighbours)
        count = sketch.count_sensitivity(neighbours)
        share = Fraction(self.purchase.share)
        pair = [(first, share), (table, 1 - share)]
        for_count = (1 - share) * sketch.count_share
        three = [(first, share), (table, 1 - share - for_count), (count, for_count)]
        centre_noise, alone = calibrate_shares(pair, *promise)
        beside, noise, count_noise = calibrate_shares(three, *promise)
        public = sketch.count_is_public(neighbours)
        if public or sketch.total_variance(alone.variance) <= count_noise.variance:
            cost = Cost.of([(first, centre_noise), (table, alone)], budget.epsilon, budget.delta)
            return centre_noise, Plan(alone, None, public, cost)
        cost = Cost.of([(first, beside), (table, noise), (count, count_noise)], budget.epsilon, budget.delta)
        return beside, Plan(noise, count_noise, True, cost)

    @property
    def centre_noise(self) -> NoiseScale:
        """Of every counter of the first reading."""
        return self._noise[0]

    @property
    def planned(self) -> Plan:
        """Noise of the table and of the count."""
        return self._noise[1]

    @cached_property
    def _offer(self) -> Offer:
        """The price of the centre is in that of the table, as both share one rho."""
        table = Plain(self.sketch, self.budget, plan=self.planned)
        check_drawable(self.centre_noise, *table.noises)
        return Offer(self.centre_noise, None, self.budget, table=table)

    def offered(self, known: Known) -> Offer:
        return self._offer

    def read(self, known: Known, source: Source, noise_source: NoiseSource | None) -> Generator[int, None, np.ndarray]:
        """The sums of everyone; every record is encoded as that of the table will be."""
        reading = building_on(LOCAL, self.sketch.with_one_answer(self.everyone), source)
        yield from reading
        table, records = reading.exact.use_up()
        check_room(self.sketch, int(self.sketch.records_in(records)))
        return table

    def drawn(
        self,
        exact: np.ndarray,
        known: Known,
        offer: Offer,
        source: Source,
        noise_source: NoiseSource | None,
        progress: Progress,
    ) -> Plain:
        """The table around what the noisy sums of everyone say."""
        # The slabs of classes add up to the table of everyone, which one record moves as it moves any one table.
        noisy = add_noise(exact.sum(axis=0) if self.sketch.classes else exact, self.centre_noise, noise_source)
        exact[...] = 0
        one, _ = self.sketch.one_answer
        table: Plain = offer.table
        return replace(table, sketch=self.sketch.with_one_answer(one.centred_by(self.everyone, noisy)))

    def learnt(self, known: Known, offer: Offer, noisy: Plain) -> Iterable[Known]:
        return (known,)
