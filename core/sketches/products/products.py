"""Sums of products: one release from which any column can be predicted from any others, for ever.

What least squares needs of the records is how many there are, the sums of all columns, and the sums of the products of
all pairs of columns (Vu, Slavković 2009; Foulds, Geumlek, Welling, Chaudhuri 2016 for the exponential family). That is
a linear sketch: nobody has to say beforehand which column is to be predicted, and how strong a ridge there is to be
(AdaSSP; Wang 2018) is chosen from what was released. `core.tasks.regression` asks it.

Numbers are taken from the middle of their bounds, in units of half their range, and rounded to multiples of 2^-15, so
that everything is whole (`filling`); categories are one 1 among zeros. Entries that say nothing of their own are left
out (`layout`), and the sensitivity is that of records in opposite corners (`farthest`).

As a question of closeness, like those that other sketches answer, it sums (<z, z'>/G)², G = 1 + the numbers of columns:
1 for equal records in a corner, and 0 where signs cancel.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from ...domain import Domain
from ...errors import RequestError
from ...privacy.neighbours import Neighbours, Sensitivity
from ..answers import Answers
from ..card import Card
from ..linear import LinearSketch
from .farthest import farthest
from .filling import UNIT, products
from .layout import Layout

METRIC = "l2"
MAX_COORDINATES = 4_096
"""Of an encoded record; the table has half their square."""
AREA = float(UNIT**2)


@dataclass(frozen=True)
class Products(LinearSketch):
    """Sums of the products of all pairs of coordinates, of all coordinates, and of ones.

    Parameters
    ----------
    domain : Domain
        The public facts about the records.

    Raises
    ------
    RequestError
        When the columns have too many coordinates.
    """

    domain: Domain
    name: ClassVar[str] = "products"
    described: ClassVar[str] = "sketch of products"
    count_share: ClassVar[Fraction] = Fraction(1, 100)

    def _check(self) -> None:
        super()._check()
        if self.domain.dimensions >= MAX_COORDINATES:
            raise RequestError(
                f"Products are of at most {MAX_COORDINATES - 1:,} coordinates, and the columns and categories have "
                f"{self.domain.dimensions:,}: leave some out."
            )

    @property
    def metric(self) -> str:
        return METRIC

    @cached_property
    def layout(self) -> Layout:
        """Which product lies where."""
        return Layout.of(self.domain)

    @property
    def shape(self) -> tuple[int]:
        return (self.layout.size,)

    @property
    def setup_bytes(self) -> int:
        return 40 * (self.domain.dimensions + 1) ** 2

    @property
    def largest_entry(self) -> int:
        return UNIT**2

    @cached_property
    def scaling(self) -> tuple[np.ndarray, np.ndarray]:
        """What is taken off an encoded coordinate, and what it is then divided by to lie between -1 and 1.

        Nothing is taken off the coordinate of a category, which is 0 or 1 then.
        """
        low, high = self.domain.bounds(METRIC)
        number = np.array(self.layout.squared[1:])
        return np.where(number, (low + high) / 2.0, 0.0), np.where(number, (high - low) / 2.0, high)

    def add(self, table: np.ndarray, points: np.ndarray) -> None:
        middle, half = self.scaling
        first, second = self.layout.pairs
        table += products(points, middle, UNIT / half)[first, second]

    def record_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """See `farthest` for the theorem and its proof, for both relations and both norms."""
        return farthest(self.layout, neighbours, UNIT)

    def vectors(self, points: np.ndarray) -> np.ndarray:
        """z of encoded records, not rounded, float64 (n, d + 1)."""
        middle, half = self.scaling
        return np.column_stack((np.ones(len(points)), (np.asarray(points, np.float64) - middle) / half))

    def matrix(self, table: np.ndarray) -> np.ndarray:
        """The sum of z zᵀ over the records, as the table says it, float64 (d + 1, d + 1)."""
        return self.layout.matrix(np.asarray(table, np.float64) / AREA)

    def entry_variance(self, counter_variance: float) -> float:
        """Variance that the noise gives every entry of `matrix`."""
        return counter_variance / AREA**2

    @property
    def _most(self) -> int:
        """The inner product of a corner with itself."""
        return 1 + self.layout.numbers + self.layout.labels

    def exact(self, queries: np.ndarray, records: np.ndarray) -> np.ndarray:
        """The exact sums of (<z, z'>/G)²."""
        return ((self.vectors(queries) @ self.vectors(records).T / self._most) ** 2).sum(axis=1)

    def answer(
        self, table: np.ndarray, records: float, points: np.ndarray, counter_variance: float, level: float
    ) -> Answers:
        asked = self.vectors(points) / self._most
        estimate = ((asked @ self.matrix(table)) * asked).sum(axis=1)
        return Answers.of_errors(estimate, np.sqrt(self.noise_variance(counter_variance, points)), records, level)

    def noise_variance(self, counter_variance: float, points: np.ndarray | None = None) -> float | np.ndarray:
        """An answer is zᵀMz, in which every product of two coordinates counts twice and that of one with itself once.

        The square of a category's coordinate is read off the entry of its product with the 1 in front.
        """
        if points is None:
            low, high = self.domain.bounds(METRIC)
            spread = np.random.default_rng(0).uniform(low, high, (200, len(low)))
            return float(np.mean(self.noise_variance(counter_variance, spread)))
        asked = self.vectors(points) / self._most
        squares = asked**2
        square, category = squares.sum(axis=1), ~np.array(self.layout.squared)
        counted = 2.0 * square**2 - (squares**2).sum(axis=1)  # each pair once, with 2² z_i² z_j²; squares with z_i⁴
        for group in set(np.array(self.layout.groups)[category].tolist()):
            own = squares[:, np.array(self.layout.groups) == group]
            counted -= 2.0 * own.sum(axis=1) ** 2 - (own**2).sum(axis=1)
        front, own = asked[:, :1], asked[:, category]
        counted += ((2.0 * front * own + own**2) ** 2 - (2.0 * front * own) ** 2).sum(axis=1)
        return self.entry_variance(counter_variance) * counted

    def total(self, table: np.ndarray) -> float:
        return float(table[0]) / AREA

    def total_variance(self, counter_variance: float) -> float:
        return self.entry_variance(counter_variance)


def _warm() -> tuple[Products, ...]:
    return (Products(Domain.of(x=(0, 1), y=(0, 1))),)


CARD = Card(
    "products",
    "Sums of products",
    "Vu, Slavković 2009; Wang 2018",
    "Noisy sums of all columns and of the products of all pairs of them say every regression of one on others.",
    sketch=Products,
    make=lambda facts: Products(facts.domain),
    answers="regression",
    rank=4,
    called="sums of products",
    several=True,
    plainly="Everything that regressions need (products)",
    options=frozenset(),
    holds=lambda sketch: f"{sketch.shape[0]:,} sums of products of pairs of coordinates",
    measure=lambda sketch: "the square of the inner product of two records",
    warm=_warm,
)
