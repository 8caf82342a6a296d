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

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..errors import RequestError
from ..privacy.accounting import Cost
from ..privacy.budget import Budget, Number, exact_decimal
from ..privacy.calibration import NoiseScale, calibrate_shares
from ..privacy.noise.noise import add_noise
from ..privacy.noise.randomness import Source as NoiseSource
from ..sketches.linear import LinearSketch
from ..sketches.plan import Plan
from .engine.building import check_room
from .kind import Filling, Held, Reader
from .release import Release
from .seal import noised


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
class Centred:
    """A sketch around a centre that is still to be bought."""

    sketch: LinearSketch  # Directions or moments, or classes of them; of a settled size.
    # What is bought, and the promise of everything together.
    purchase: CentrePurchase
    budget: Budget
    readings: ClassVar[int] = 2

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

    @property
    def cost(self) -> Cost:
        """Of the centre, the table around it and, where none is in it, a count."""
        return self.planned.cost

    @property
    def noises(self) -> tuple[NoiseScale | None, ...]:
        """Of the first reading, of the table, and of a count of records."""
        return self.centre_noise, self.planned.noise, self.planned.count_noise

    @property
    def table(self) -> LinearSketch:
        """The sketch, whose size does not depend on its centre."""
        return self.sketch

    def first(self, reader: Reader) -> Filling:
        """Sum everyone, and encode every record as the second reading will."""
        return reader.filling(self.sketch.with_one_answer(self.everyone))

    def check(self, records: int) -> None:
        """The second reading keeps the records that the first one kept."""
        check_room(self.sketch, records)

    def noised(self, held: Held, reader: Reader, noise_source: NoiseSource | None) -> Release:
        """Buy the centre, then release the table around it."""
        table, _ = held
        # The slabs of classes add up to the table of everyone, which one record moves as it moves any one table.
        total = table.sum(axis=0) if self.sketch.classes else table
        noisy = add_noise(total, self.centre_noise, noise_source)
        table[...] = 0
        sketch = self._around(noisy)
        return noised(sketch, reader.read(sketch), self.planned, self.budget, noise_source)

    def _around(self, noisy: np.ndarray) -> LinearSketch:
        """The sketch around what the noisy sums of everyone say."""
        one, _ = self.sketch.one_answer
        return self.sketch.with_one_answer(one.centred_by(self.everyone, noisy))
