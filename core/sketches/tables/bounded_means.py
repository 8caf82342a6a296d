"""How large the mean of a part of the records may be, by what is counted of the part and of all records.

u_x records of the part are in the cell x of the averaged column, and n_x of all, of which much more is known. As
0 <= u_x <= n_x, for any set K of cells

    sum over all x of (x - r) u_x  <=  sum over K of (x - r) u_x  +  sum over the other x > r of (x - r) n_x,

and a mean r for which what was counted of the right side lies further below 0 than noise reaches is none that the part
may have: which bounds the mean from above, and with the signs of x turned from below. Far cells, where hardly anybody
is and noise counts most, are so left to the column by itself. Every K gives an end that holds with its level; which is
taken, a stretch of cells, is said by where all records lie and by how large the part is.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .reading import Reading
from .table_layout import parts_of_table


@dataclass(frozen=True)
class NoiseOfPart:
    """What the variance of sums over cells of a column with weights is made of, u of a part and n of all."""

    reading: Reading
    place: int
    share: float  # Of the other columns' cells that the part is in, f: what it has of n's errors.
    # Beside those: of the square of the mean weight of u, and of the contrasts of its weights.
    even: float
    uneven: float

    def variance(self, part: np.ndarray, every: np.ndarray) -> np.ndarray:
        """Of the sum of u with some weights and n with others, float64 (..., cells) to (...)."""
        noise, both = self.reading.noise, self.share * part + every
        of_every = noise.products((self.place,), [both.mean(axis=-1)], [noise.alone_variance(self.place, both)])
        return of_every + self.even * part.mean(axis=-1) ** 2 + self.uneven * noise.axis_variance(self.place, part)


class NoiseOfParts:
    """The noise of each of some parts.

    `reading`, `place`: what was released, and the averaged column. `others`: the further columns, with the weights of
    their cells, or None where each of their cells is a part.
    """

    def __init__(self, reading: Reading, place: int, others: Mapping[int, np.ndarray | None]):
        self._reading, self._place = reading, place
        self._others = tuple(sorted(others))
        # By column: the mean weight, and the variance of its contrasts, with others and alone; one a cell of a group.
        self._of: dict[int, tuple[np.ndarray, ...]] = {}
        noise, axes = reading.noise, reading.layout.axes
        for one, weights in others.items():
            if weights is None:
                each = np.full(axes[one].cells, 1.0 / axes[one].cells)
                self._of[one] = (each, noise.axis_spread(one), noise.alone_spread(one))
            else:
                spreads = noise.axis_variance(one, weights), noise.alone_variance(one, weights)
                self._of[one] = (np.asarray(weights.mean()), *map(np.asarray, spreads))

    def at(self, cell: Mapping[int, int]) -> NoiseOfPart:
        """Of the part that is in one cell of each column of which each cell is a part."""
        variances, place = self._reading.noise.variances, self._place
        of = {
            one: [float(each[cell[one]] if one in cell else each) for each in facts] for one, facts in self._of.items()
        }
        even = uneven = 0.0
        for inside, outside in parts_of_table(self._others):
            if inside:
                outer = math.prod(of[one][0] ** 2 for one in outside)
                own = math.prod(of[one][1] for one in inside)
                even += variances[inside] * outer * (of[inside[0]][2] if len(inside) == 1 else own)
                uneven += variances[tuple(sorted((*inside, place)))] * outer * own
        return NoiseOfPart(self._reading, place, math.prod(facts[0] for facts in of.values()), even, uneven)


@dataclass(frozen=True)
class Part:
    """What was counted of a part and of all, and how large the mean of the part may be; arrays float64 (cells,)."""

    x: np.ndarray  # Where the records of each cell lie.
    share: np.ndarray  # What of each cell is meant.
    part: np.ndarray  # u.
    every: np.ndarray  # n.
    guess: np.ndarray  # n by the best guess.
    size: float  # The part's share of all records.
    chance: float  # The variance of the sum of the part's places within cells.

    def largest_mean(self, noise: NoiseOfPart, reach: float) -> float:
        """The largest mean that is not told from what was counted, with noise of so many standard errors.

        First the last cell of K is found, where it has all before, and then the first.
        """
        cells, middle = len(self.x), self._middle
        own = float(self.part @ (self.share * self.x)) / float(self.part @ self.share)
        before = [int((self.x < end(own, middle)).sum()) for end in (min, max)]
        lasts = np.arange(max(before[1], 1), cells + 1)
        _, cost = self._ends(np.zeros_like(lasts), lasts, noise, reach)
        last = int(lasts[np.argmin(cost)])
        firsts = np.arange(min(before[0], last - 1) + 1)
        found, cost = self._ends(firsts, np.full_like(firsts, last), noise, reach)
        return float(found[np.argmin(cost)])

    @property
    def _middle(self) -> float:
        """The mean of all records by the best guess."""
        return float(self.guess @ (self.share * self.x)) / max(float(self.guess @ self.share), 1.0)

    def _ends(
        self, firsts: np.ndarray, lasts: np.ndarray, noise: NoiseOfPart, reach: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """The end that each stretch of cells gives, from the first up to the one before the last by their x, and how
        far it may be expected to lie; infinitely far where it is none. Float64 (stretches,) each.
        """
        order = np.argsort(self.x, kind="stable")
        rank = np.argsort(order)
        kept = ((firsts[:, None] <= rank) & (rank < lasts[:, None])) * self.share
        above = (rank >= lasts[:, None]) * self.share
        apart = self.x - self._middle
        a, plus, c = (noise.variance(kept * w, above * w) for w in (apart, apart + 1.0, 1.0))
        a, b = a + self.chance, (plus - a - c) / 2.0
        total, count = ((kept * w) @ self.part + (above * w) @ self.every for w in (apart, 1.0))
        found = self._middle + _largest_quotient(total, count, a, b, c, reach)
        # What a stretch gives away where the part has its share of every cell, and what noise adds to it.
        away = above @ (self.guess * np.maximum(apart, 0.0)) * (1.0 - self.size)
        away = away + (self.share - kept - above) @ (self.guess * np.maximum(-apart, 0.0)) * self.size
        # Only where the cells left to all are above the end, and those left out below it, is it one.
        places = np.concatenate([[-np.inf], self.x[order], [np.inf]])
        holds = (places[lasts + 1] >= found) & (places[firsts] <= found)
        holds |= (firsts == 0) & (lasts == len(self.x))
        return found, np.where(holds, away + reach * np.sqrt(a), np.inf)


def _largest_quotient(
    total: np.ndarray, count: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray, reach: float
) -> np.ndarray:
    """The largest r for which total - r count, of variance a - 2 b r + c r², is not surely below 0 (Fieller 1954)."""
    leading, middle = count**2 - reach**2 * c, total * count - reach**2 * b
    root = np.sqrt(np.maximum(middle**2 - leading * (total**2 - reach**2 * a), 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((leading > 0.0) & (count > 0.0), (middle + root) / leading, np.inf)
