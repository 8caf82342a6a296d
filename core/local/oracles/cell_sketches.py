"""Rows of cells: a value is hashed to one cell of its row, and the cell is reported by any frequency oracle.

Count-min sketches (Cormode, Muthukrishnan 2005) under local noise, by any oracle; Apple's CMS and HCMS are two of
them.

With S the sum over rows of the estimated counts of a value's cells, others fall into them with chance 1/m, so f̂ =
m/(m - 1) · (S - n/m) has no bias over the choice of hash functions. If the oracle's estimate has variance v + w for
each person of the cell and v for each other, its variance is

    (m/(m - 1))² [n v + (f_x + (n - f_x)/m) w + Σf_x'(1/m)(1 - 1/m)(1 - 1/k) + Σf_x'²(1 - 1/m)/(km)]

summed over x' ≠ x: noise, who picked which row, and collisions. The minimum and the median over rows are steadier
against one bad collision and biased; noise is larger than most collisions, so the minimum of noisy rows is far too low.
Where several values are asked together, the frequent among them are taken off first (`sketch`), and the last sum is
over values that nobody asked for: at ε = 3 that halves the error of the survey's setting.

Count sketches (Charikar, Chen, Farach-Colton 2002) under local noise.

A value has a public sign in each row beside its cell, and cell and sign together are reported by an oracle over 2m
signed cells. The difference of a cell's two counts, times the sign of x, has mean f_x: others come with either sign
equally often. Frequent candidates are taken off first (`sketch`). With v and w as above, and an oracle
whose estimates of two cells are as good as uncorrelated, the variance is

    2nv + (f_x + (n - f_x)/m) w + Σf_x'(1/m)(1 - 1/k) + Σf_x'²/(km).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from ...geometry.uniforms import PublicRandom
from ...privacy.noise.randomness import Source, SystemSource
from ...privacy.noise.responses import told
from ...runtime.counter_tables import Array, Floats, Integers
from ...runtime.parameters import Choice, Resolved, Whole, check_choice, parameter
from .counting import Tally
from .local_hashing import hashed
from .local_sketch import ALIKE, Cells, LocalSketch, checked_values, collisions
from .oracle import ORACLES, Oracle, RowReports, oracle

FAMILY = 0x534B45


@dataclass(frozen=True)
class CellSketch(RowReports, LocalSketch):
    """Rows of cells."""

    signed: ClassVar[bool] = False  # Whether a value is counted with a random sign, in a cell for each sign.
    ways: ClassVar[tuple[str, ...]] = ("mean", "median")

    # k, and how many cells m each row has.
    rows: int = parameter(Whole("The number of rows", 2, 1 << 16), 32)
    width: int = parameter(Whole("The width", 2, 1 << 22), 1024)
    # By which oracle cells are reported.
    oracle: Resolved[str] = parameter(Choice("The oracle", tuple(ORACLES)), "olh")

    def _check(self) -> None:
        self.check_room()

    @cached_property
    def inner(self) -> Oracle:
        """The oracle of one row's cells."""
        return oracle(self.oracle, self.width * (2 if self.signed else 1), self.epsilon)

    @property
    def surplus(self) -> int:
        return self.inner.surplus

    @property
    def groups(self) -> int:
        return self.rows

    @property
    def oracle_title(self) -> str:
        return f"a {self.title} of {self.rows:,} rows, its cells by {self.inner.title}"

    @cached_property
    def _family(self) -> tuple[Array, Array, Array, Array]:
        words = PublicRandom(self.seed, FAMILY).words(4, self.rows)
        return words[0], words[1], words[2], words[3]

    def cells(self, values: Integers, rows: Integers) -> tuple[Integers, Integers]:
        """The cell of each value in the row beside it, and its sign there: int64 (n,) each."""
        a, b, c, d = (words[rows] for words in self._family)
        sign = 1 - 2 * hashed(c, d, values, 2) if self.signed else np.ones(len(values), np.int64)
        return hashed(a, b, values, self.width), sign

    def privatise(self, values: object, source: Source | None = None) -> Array:
        given = checked_values(values)
        drawn = SystemSource() if source is None else source
        rows = told(self.rows, len(given), drawn).astype(np.int64)
        cell, sign = self.cells(given, rows)
        return self.joined(rows, self.inner.privatise(2 * cell + (sign < 0) if self.signed else cell, drawn))

    def each_row(self, tally: Tally, values: Integers) -> Floats:
        """How many people of each row have each candidate, less what other candidates explain."""
        return self.cells_of(tally, values).beyond_others()

    def mean(self, rows: Floats, tally: Tally) -> Floats:
        return np.asarray(rows.sum(axis=0))

    def cells_of(self, tally: Tally, values: Integers) -> Cells:
        """The estimated cells of all rows, and in which of them candidates lie."""
        told = np.empty((self.rows, self.width))
        for row in range(self.rows):
            estimate = self.inner.estimate(self.of_row(tally, row))
            told[row] = estimate[::2] - estimate[1::2] if self.signed else estimate
        found = [self.cells(values, np.full(len(values), row)) for row in range(self.rows)]
        people = tally.table[:, -1].astype(np.float64)
        noise = np.sqrt(np.maximum(people, 1.0) * self.single[0] * (2 if self.signed else 1))
        signs = np.stack([sign for _, sign in found]) if self.signed else None
        return Cells(told, people, noise, np.stack([cell for cell, _ in found])[:, np.newaxis], signs)

    def alone(self, tally: Tally, values: object, how: str = "mean") -> Floats:
        """Estimates by the own cells of each value alone, as the sketch was published: float64 (k,).

        `values`: Candidates, whole numbers (k,). `how`: The "mean" over rows, less what others bring to a cell on
        average; or, with a bias that nobody knows, their "median", or the "min" where cells only gain by collisions.
        """
        check_choice(how, "How rows are put together", self.ways)
        cells = self.cells_of(tally, self.asked(values))
        if how == "mean":
            return np.asarray(cells.alone().sum(axis=0))
        rows = cells.alone(people=np.zeros(self.rows)) * (1 - cells.density)
        return np.asarray(self.rows * (np.median if how == "median" else np.min)(rows, axis=0))

    @cached_property
    def single(self) -> tuple[float, float]:
        """What one person of any cell adds to the variance of a cell, and how much more one of that cell does."""
        cells = self.inner.domain
        at = np.zeros(cells)
        at[0] = 1.0
        own = float(self.inner.variance(at)[0])
        other = (float(self.inner.variance(np.full(cells, 1 / cells))[0]) - own / cells) / (1 - 1 / cells)
        return other, own - other


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

        `counts`: The true counts of all values. `value`: The one that is asked.
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


@dataclass(frozen=True)
class CountSketch(CellSketch):
    """Cells are counted with signs."""

    name = "count-sketch"
    title = "count sketch"
    paper = "Charikar, Chen, Farach-Colton 2002"
    signed = True

    @property
    def reach(self) -> tuple[float, float]:
        down, up = self.inner.reach
        return down - up, up - down

    def line(self, people: float, alike: float = ALIKE) -> tuple[float, float]:
        noise, more = self.single
        chance = 1 / self.width
        nothing = people * (2 * noise + more / self.width) + collisions(people, alike, self.rows, chance)
        return nothing, more * (1 - 1 / self.width) - chance * (1 - 1 / self.rows)
