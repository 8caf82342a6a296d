"""Sums of products: one release from which any column can be predicted from any others, for ever.

What least squares needs of the records is how many there are, the sums of all columns, and the sums of the products of
all pairs of columns (Vu, Slavković 2009; Foulds, Geumlek, Welling, Chaudhuri 2016 for the exponential family). That is
a linear sketch: nobody has to say beforehand which column is to be predicted, and how strong a ridge there is to be
(AdaSSP; Wang 2018) is chosen from what was released. `core.analysis.regression` asks it.

Numbers are taken from the middle of their bounds, in units of half their range, and rounded to multiples of 2^-15, so
that everything is whole; categories are one 1 among zeros. Entries that say nothing of their own are left
out, and the sensitivity is that of records in opposite corners.

As a question of closeness, like those that other sketches answer, it sums (<z, z'>/G)², G = 1 + the numbers of columns:
1 for equal records in a corner, and 0 where signs cancel.

Which products of a record's coordinates are summed: each once, and none that is another or always zero.

A record is z = (1, its numbers between -1 and 1, its categories as one 1 among zeros). What is summed are the products
z_i z_j, i <= j, without those that other sums say:

* two categories of one column never meet, so their product is 0;
* the square of a category's coordinate is itself, which is its product with the 1 in front.

How far one record moves sums of products, in L1 and in squared L2 norm.

Let q coordinates be numbers y_i in [-1, 1] and c columns be categories. In units of U², a record adds to its table v

    1;  y_i;  y_i y_j (i < j);  y_i²;  and for each column's category: 1, y_i, and 1 with each other column's category.

There are P = 1 + q + c + C(q+c, 2) + q entries that may differ from zero, each at most 1 in size, and all of size 1 for
a record in a corner of the bounds.

**Add or remove one.** L1 = L2² = P, reached by every record in a corner.

**Replace one** by a record v' with numbers y'. Let m of the columns have the same category in both.

*L2².* Apart from the squares y_i², every entry of v is linear in y_i for fixed others. Their part of |v - v'|² is
therefore a quadratic in y_i whose leading coefficient is a sum of squares, so convex, and alike in y'_i; so its largest
value is at some corner. The squares add (y_i² - y'_i²)² <= 1 each. Where there is a column of categories this is not
needed: the whole of |v - v'|² has the second derivative 2 A + 12 y_i² - 4 y'_i² in y_i, where A counts, among others,
the entries y_i and y_i with that category, so A >= 2 and it is convex; the largest value is at a corner, where squares
are all 1 and do not differ.

At corners |v|² = |v'|² = P. Of the numbers let k have opposite signs, and let t = 1 + q - 2k + m, the inner product of
(1, numbers, categories). The sum of z_i z'_i z_j z'_j over all i <= j is (t² + 1 + q + m)/2, m of which are squares of
categories, which are not in the table. So <v, v'> = (t² + 1 + q - m)/2, and |v - v'|² = 2P - (t² + 1 + q - m), whose
largest value over k and m is found by trying all.

*L1.* Every entry but the squares is linear in y_i, so its |difference| is convex and the sum is largest at a corner;
squares add 1 each at most. At a corner the entries differ by: 2 for each of k numbers; 2 for each of k(q-k) pairs of
numbers of which one has changed its sign; 2 for each of c-m columns with another category, and for each of the
C(c,2) - C(m,2) pairs of columns of which one has; and in the c q blocks of category and number by 2 where the category
has changed, and by 2 where it has not and the number has.

A replaced record may also be left out, or one come in for it that was left out, which moves what removing it does; P is
never more than the other bounds but for the smallest of tables, so the larger of the two is taken.

Sums of products of whole numbers at the speed of a matrix product, without an error.

Numbers are rounded once, to whole ones of at most 2^15, in blocks that stay in a core's cache. Their products are at
most 2^30, so a sum of 2^22 of them stays below 2^53, and float64 arithmetic on it is exact in any order, whichever
library multiplies and however it cuts its blocks. So what a record adds does not depend on the records beside it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..domain import Categorical, Domain
from ..errors import RequestError
from ..privacy.budget import Neighbours, Sensitivity
from ..runtime.compiled_code import njit
from ..runtime.counter_tables import Floats, Integers
from .answers import Answers
from .linear import LinearSketch
from .mechanism_spec import MechanismSpec


@dataclass(frozen=True)
class Layout:
    """Where the products of a domain's coordinates lie in a table."""

    # For each coordinate of z the group that it belongs to, ascending from 0: the 1 in front and every number are alone
    # in theirs, and the categories of a column share one.
    groups: tuple[int, ...]
    squared: tuple[bool, ...]  # For each coordinate, whether its square is summed: those of categories are not.

    @classmethod
    def of(cls, domain: Domain) -> Layout:
        groups, squared = [0], [True]
        for column in domain.columns:
            first, category = groups[-1] + 1, isinstance(column, Categorical)
            groups += [first] * column.width if category else range(first, first + column.width)
            squared += [not category] * column.width
        return cls(tuple(groups), tuple(squared))

    @property
    def coordinates(self) -> int:
        return len(self.groups)

    @property
    def numbers(self) -> int:
        return sum(self.squared) - 1

    @property
    def labels(self) -> int:
        return self.groups[-1] - self.numbers

    @property
    def size(self) -> int:
        """How many products there are; known without listing them."""
        widths = np.bincount(self.groups)
        pairs = (self.coordinates**2 - int((widths**2).sum())) // 2
        return pairs + sum(self.squared)

    @cached_property
    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """The two coordinates of every product, the smaller one first, int64 (size,) each, in the table's order."""
        groups, squared = np.array(self.groups), np.array(self.squared)
        first, second = np.triu_indices(self.coordinates)
        kept = (groups[first] != groups[second]) | ((first == second) & squared[first])
        return first[kept], second[kept]

    def matrix(self, values: np.ndarray) -> np.ndarray:
        """The symmetric matrix of all products, float64 (m, m), from those that are summed, (size,)."""
        first, second = self.pairs
        full = np.zeros((self.coordinates,) * 2)
        full[first, second] = full[second, first] = values
        category = np.flatnonzero(~np.array(self.squared))
        full[category, category] = full[0, category]
        return full


def farthest(layout: Layout, neighbours: Neighbours, unit: int) -> Sensitivity:
    """The sensitivity of a table whose entries are products of two whole numbers of at most ``unit`` each.

    The numbers between -unit and unit are rounded ones, of which everything that was said of y_i holds.
    """
    q, c = layout.numbers, layout.labels
    entries = 1 + 2 * q + c + math.comb(q + c, 2)
    l1 = l2_squared = entries
    if neighbours is Neighbours.REPLACE_ONE:
        cases = [(k, m) for k in range(q + 1) for m in range(c + 1)]
        l1 = max(l1, q + max(_moved(q, c, k, m) for k, m in cases))
        apart = max(2 * entries - ((1 + q - 2 * k + m) ** 2 + 1 + q - m) for k, m in cases)
        l2_squared = max(l2_squared, apart + (0 if c else q))
    area = unit**2
    longest = math.isqrt(l2_squared * area**2 - 1) + 1
    return Sensitivity(l1 * area, l2_squared * area**2, block=layout.size, blocks_l2=longest)


def _moved(q: int, c: int, k: int, m: int) -> int:
    """The L1 norm between corners where k numbers and all but m categories differ."""
    numbers = k + k * (q - k)
    labels = c - m + math.comb(c, 2) - math.comb(m, 2)
    return 2 * (numbers + labels + (c - m) * q + m * k)


UNIT = 1 << 15  # What 1 counts, so that a number is off by a 65,536th of its range at most.
LARGEST = float(UNIT)
EXACT_ROWS = 1 << 22
BLOCK_NUMBERS = 1 << 15  # Of a block: 256 KiB of float64.
LEAST_ROWS, MOST_ROWS = 256, 8192


def block_rows(coordinates: int) -> int:
    return min(MOST_ROWS, max(LEAST_ROWS, BLOCK_NUMBERS // coordinates))


def products(points: np.ndarray, middle: np.ndarray, factor: np.ndarray) -> Integers:
    """The sum of z zᵀ over records, int64 (d + 1, d + 1), in units of `UNIT`².

    `points`: encoded records, float64 (n, d). `middle`, `factor`: float64 (d,): a coordinate x counts round((x -
    middle) · factor), at most `UNIT` in size; the first of z is 1.
    """
    size = points.shape[1] + 1
    rows = block_rows(size)
    by_record = points.flags.c_contiguous
    total, units = np.zeros((size, size), np.int64), np.empty((rows, size) if by_record else (size, rows))
    product, sums = np.empty((size, size)), np.zeros((size, size))
    for start in range(0, len(points), rows):
        if start and start % EXACT_ROWS < rows:
            total += sums.astype(np.int64)
            sums[:] = 0.0
        count = min(rows, len(points) - start)
        if by_record:  # memory is read in the order in which it lies
            block = units[:count]
            round_records(points, start, middle, factor, block)
            np.matmul(block.T, block, out=product)
        else:
            block = units[:, :count]
            round_block(points.T, start, middle, factor, block)
            np.matmul(block, block.T, out=product)
        sums += product
    return total + sums.astype(np.int64)


@njit(nogil=True, cache=True)
def round_records(points: Floats, start: int, middle: Floats, factor: Floats, units: Floats) -> None:
    for i in range(len(units)):
        here, there = points[start + i], units[i]
        there[0] = LARGEST
        for place in range(len(middle)):
            value = np.rint((here[place] - middle[place]) * factor[place])
            value = LARGEST if value > LARGEST else value
            there[place + 1] = -LARGEST if value < -LARGEST else value


@njit(nogil=True, cache=True)
def round_block(points: Floats, start: int, middle: Floats, factor: Floats, units: Floats) -> None:
    """Units of the records from ``start`` on, as many as there is room for; points by coordinate."""
    count = units.shape[1]
    units[0, :] = LARGEST
    for place in range(len(middle)):
        centre, scale = middle[place], factor[place]
        here, there = points[place, start : start + count], units[place + 1]
        for i in range(count):
            value = np.rint((here[i] - centre) * scale)
            value = LARGEST if value > LARGEST else value
            there[i] = -LARGEST if value < -LARGEST else value


METRIC = "l2"
MAX_COORDINATES = 4_096  # Of an encoded record; the table has half their square.
AREA = float(UNIT**2)


@dataclass(frozen=True)
class Products(LinearSketch):
    """Sums of the products of all pairs of coordinates, of all coordinates, and of ones.

    RequestError when the columns have too many coordinates.

    Parameters
    ----------
    domain : Domain
        The public facts about the records.
    """

    domain: Domain
    name: ClassVar[str] = "products"
    described: ClassVar[str] = "sketch of products"
    asked_for: ClassVar[str] = "products"
    count_share: ClassVar[Fraction] = Fraction(1, 100)
    metric = METRIC
    largest_entry = UNIT**2

    def _check(self) -> None:
        super()._check()
        self._settle(domain=self.domain.by_differences)  # sums of the numbers themselves, also of amounts
        if self.domain.dimensions >= MAX_COORDINATES:
            raise RequestError(
                f"Products are of at most {MAX_COORDINATES - 1:,} coordinates, and the columns and categories have "
                f"{self.domain.dimensions:,}: leave some out."
            )

    @cached_property
    def layout(self) -> Layout:
        return Layout.of(self.domain)

    @property
    def shape(self) -> tuple[int]:
        return (self.layout.size,)

    @property
    def setup_bytes(self) -> int:
        return 40 * (self.domain.dimensions + 1) ** 2

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
    """Of records as they lie by column and, as one column lies either way, by row."""
    return Products(Domain.of(x=(0, 1), y=(0, 1))), Products(Domain.of(x=(0, 1)))


CARD = MechanismSpec(
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
