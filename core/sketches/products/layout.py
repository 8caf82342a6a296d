"""Which products of a record's coordinates are summed: each once, and none that is another or always zero.

A record is z = (1, its numbers between -1 and 1, its categories as one 1 among zeros). What is summed are the products
z_i z_j, i <= j, without those that other sums say:

* two categories of one column never meet, so their product is 0;
* the square of a category's coordinate is itself, which is its product with the 1 in front.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...domain import Categorical, Domain


@dataclass(frozen=True)
class Layout:
    """Where the products of a domain's coordinates lie in a table.

    Parameters
    ----------
    groups : tuple[int, ...]
        For each coordinate of z the group that it belongs to, ascending from 0: the 1 in front and every number are
        alone in theirs, and the categories of a column share one.
    squared : tuple[bool, ...]
        For each coordinate, whether its square is summed: those of categories are not.
    """

    groups: tuple[int, ...]
    squared: tuple[bool, ...]

    @classmethod
    def of(cls, domain: Domain) -> Layout:
        """The layout of a domain's coordinates."""
        groups, squared = [0], [True]
        for column in domain.columns:
            first, category = groups[-1] + 1, isinstance(column, Categorical)
            groups += [first] * column.width if category else range(first, first + column.width)
            squared += [not category] * column.width
        return cls(tuple(groups), tuple(squared))

    @property
    def coordinates(self) -> int:
        """How many coordinates z has."""
        return len(self.groups)

    @property
    def numbers(self) -> int:
        """How many coordinates are numbers."""
        return sum(self.squared) - 1

    @property
    def labels(self) -> int:
        """How many columns of categories there are."""
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
