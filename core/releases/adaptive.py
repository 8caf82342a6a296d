"""Releases of mechanisms that choose before they measure: one promise, and one entry in the ledger for all of it.

Everything is calibrated from public facts and written to the ledger before the first choice. A crash in between loses
budget, never privacy.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..privacy.accounting import Cost
from ..privacy.budget import Budget
from ..privacy.calibration import NoiseScale
from ..privacy.noise.randomness import Source as NoiseSource
from ..sketches.adaptive import Adaptive, AdaptivePlan
from ..sketches.linear import LinearSketch
from ..sketches.plan import Plan
from .kind import Filling, Held, Reader
from .release import Release
from .seal import covering_bounds, promise, promised_with, sealed


@dataclass(frozen=True)
class Choosing:
    """A mechanism that chooses before it measures, under a budget.

    Whatever has to be refused comes out in the first reading, before anything is spent. A mechanism that needs further
    readings makes them afterwards; should the source fail then, the budget is lost, and nothing was released.

    Attributes
    ----------
    sketch, budget : Adaptive, Budget
        For example `PrivBayes(domain, kernel)`, of a settled size, and the promise, which covers the choices too.
    bought : tuple[Cost, ...]
        What bounds in the sketch's domain have cost; paid already, and part of what the file promises.
    """

    sketch: Adaptive
    budget: Budget
    bought: tuple[Cost, ...] = ()
    readings: ClassVar[int] = 1

    @cached_property
    def planned(self) -> AdaptivePlan:
        """The price of every choice and table."""
        _ = self.promised  # what no file can promise is not planned either
        return self.sketch.plan(self.budget)

    @property
    def promised(self) -> Budget:
        """What the file promises: the price, and that of the bounds it shows; RequestError when no file can."""
        return promised_with(self.budget, self.bought)

    @property
    def cost(self) -> Cost:
        """Of all choices and tables."""
        return self.planned.cost

    @property
    def noises(self) -> tuple[NoiseScale | None, ...]:
        """Of every table that is measured, and of a count of records."""
        return (*self.planned.noises, self.planned.count_noise)

    @property
    def table(self) -> LinearSketch:
        """What is read first, as what is released is not chosen yet."""
        return self.sketch.first

    def first(self, reader: Reader) -> Filling:
        """What the mechanism looks at before anything else."""
        return reader.filling(self.sketch.first)

    def check(self, records: int) -> None:
        """Nothing is left to refuse, as mechanisms promise."""

    def noised(self, held: Held, reader: Reader, noise_source: NoiseSource | None) -> Release:
        """Choose and measure; what is chosen is part of the release."""
        planned, first = self.planned, self.sketch.first
        table, _ = held

        def read(sketch: LinearSketch) -> np.ndarray:
            return table if sketch == first else reader.read(sketch)[0]

        made = self.sketch.run(read, planned, noise_source)
        if made.noise not in planned.noises:
            raise RuntimeError(f"The table of {self.sketch.name!r} has another noise than was paid for.")
        noised = Plan(made.noise, planned.count_noise, planned.counts, planned.cost)
        released = sealed(made.sketch, made.table, made.count, promise(made.sketch, noised, self.budget), noise_source)
        return covering_bounds(released, self.bought)
