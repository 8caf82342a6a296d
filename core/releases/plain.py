"""The release of a linear sketch: one reading, one table, and noise once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from ..privacy.accounting import Cost
from ..privacy.budget import Budget
from ..privacy.calibration import NoiseScale
from ..privacy.noise.randomness import Source as NoiseSource
from ..sketches.linear import LinearSketch
from ..sketches.plan import Planned, planned_for
from .kind import Filling, Held, Reader
from .release import Release
from .seal import covering_bounds, noised, promised_with


@dataclass(frozen=True)
class Plain:
    """A linear sketch, or several side by side, under a budget.

    Attributes
    ----------
    sketch, budget : LinearSketch, Budget
        Of a settled size, and the promise.
    bought : tuple[Cost, ...]
        What bounds in the sketch's domain have cost; paid already, and part of what the file promises.
    """

    sketch: LinearSketch
    budget: Budget
    bought: tuple[Cost, ...] = ()
    readings: ClassVar[int] = 1

    @cached_property
    def planned(self) -> Planned:
        """How the budget becomes noise."""
        _ = self.promised  # what no file can promise is not planned either
        return planned_for(self.sketch, self.budget)

    @property
    def cost(self) -> Cost:
        """The price."""
        return self.planned.cost

    @property
    def promised(self) -> Budget:
        """What the file promises: the price, and that of the bounds it shows; RequestError when no file can."""
        return promised_with(self.budget, self.bought)

    @property
    def noises(self) -> tuple[NoiseScale | None, ...]:
        """Of the table, and of a count of records; or of all parts and their counts."""
        return *self.planned.noises, *self.planned.count_noises

    @property
    def table(self) -> LinearSketch:
        """What is released."""
        return self.sketch

    def first(self, reader: Reader) -> Filling:
        """The one reading."""
        return reader.filling(self.sketch)

    def check(self, records: int) -> None:
        """Nothing is left to refuse: there is no later reading."""

    def noised(self, held: Held, reader: Reader, noise_source: NoiseSource | None) -> Release:
        """The table with its noise."""
        return covering_bounds(noised(self.sketch, held, self.planned, self.budget, noise_source), self.bought)
