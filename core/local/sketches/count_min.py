"""Count-min sketches (Cormode, Muthukrishnan 2005) under local noise, by any oracle; Apple's CMS and HCMS are two of
them.

With S the sum over rows of the estimated counts of a value's cells, others fall into them with chance 1/m, so
f̂ = m/(m - 1) · (S - n/m) has no bias over the choice of hash functions. If the oracle's estimate has variance v + w for
each person of the cell and v for each other, its variance is

    (m/(m - 1))² [n v + (f_x + (n - f_x)/m) w + Σf_x'(1/m)(1 - 1/m)(1 - 1/k) + Σf_x'²(1 - 1/m)/(km)]

summed over x' ≠ x: noise, who picked which row, and collisions. The minimum and the median over rows are steadier
against one bad collision and biased; noise is larger than most collisions, so the minimum of noisy rows is far too low.
Where several values are asked together, the frequent among them are taken off first (`explaining`), and the last sum is
over values that nobody asked for: at ε = 3 that halves the error of the survey's setting.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...parameters import Choice, Resolved, parameter
from ..oracles.table import ORACLES
from .cells import CellSketch
from .sketch import ALIKE, collisions


@dataclass(frozen=True)
class CountMin(CellSketch):
    """Cells are counted."""

    name = "count-min"
    title = "count-min sketch"
    paper = "Cormode, Muthukrishnan 2005"
    ways = ("mean", "median", "min")

    @property
    def reach(self) -> tuple[float, float]:
        down, up = ((end - 1 / self.width) / (1 - 1 / self.width) for end in self.inner.reach)
        return down, up

    def line(self, people: float, alike: float = ALIKE) -> tuple[float, float]:
        noise, more = self.single
        chance = (1 / self.width) * (1 - 1 / self.width)
        nothing = people * (noise + more / self.width) + collisions(people, alike, self.rows, chance)
        each = more * (1 - 1 / self.width) - chance * (1 - 1 / self.rows)
        return nothing / (1 - 1 / self.width) ** 2, each / (1 - 1 / self.width) ** 2

    def variance(self, counts: Mapping[int, float], value: int) -> float:
        """Variance of one value's estimate where it alone is asked, for an oracle of pure counts.

        Parameters
        ----------
        counts : Mapping[int, float]
            The true counts of all values.
        value : int
            The one that is asked.
        """
        own = float(counts.get(value, 0.0))
        others = np.array([count for other, count in counts.items() if other != value], np.float64)
        people = own + others.sum()
        return self.typical_variance(people, own, float((others**2).sum()) / people**2)


@dataclass(frozen=True)
class CountMeanSketch(CountMin):
    """Apple's count-mean sketch (2017): the cell among m is reported by symmetric unary encoding."""

    name = "cms"
    title = "count-mean sketch"
    paper = "Apple 2017"

    oracle: Resolved[str] = parameter(Choice("The oracle", tuple(ORACLES)), "sue")


@dataclass(frozen=True)
class HadamardSketch(CountMin):
    """Apple's Hadamard count-mean sketch (2017): Hadamard coefficients of the cell, few bits beside their place."""

    name = "hcms"
    title = "Hadamard count-mean sketch"
    paper = "Apple 2017"

    oracle: Resolved[str] = parameter(Choice("The oracle", tuple(ORACLES)), "hm")
