"""Queries by their coordinates: what is the same along an axis is computed once, and pictures are products of axes.

The places of a heatmap are all pairs of a few hundred values, and its 40,000 answers are then two products of small
matrices. Queries that stand anywhere are read by the same sums, one row for each.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np


class Placed(Protocol):
    """An axis of any grid: where its coordinates are, and how many it takes."""

    @property
    def coordinate(self) -> int: ...

    @property
    def coordinates(self) -> int: ...


@dataclass(frozen=True)
class Places:
    """Queries, with the distinct values that they have along each axis.

    Attributes
    ----------
    values : tuple[np.ndarray, ...]
        One array an axis, float64 (distinct, d): a query of each value along that axis.
    which : tuple[np.ndarray, ...]
        One array an axis, int64 (n,): the value that each query has.
    """

    values: tuple[np.ndarray, ...]
    which: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, points: np.ndarray, axes: Sequence[Placed]) -> Places:
        """The places of encoded queries, float64 (n, d), n > 0."""
        values, which = [], []
        for axis in axes:
            along = points[:, axis.coordinate]
            if axis.coordinates > 1:
                along = points[:, axis.coordinate : axis.coordinate + axis.coordinates]
            _, first, inverse = np.unique(along, axis=0, return_index=True, return_inverse=True)
            values.append(points[first])
            which.append(inverse.reshape(-1))
        return cls(tuple(values), tuple(which))

    @property
    def count(self) -> int:
        return len(self.which[0])

    @property
    def distinct(self) -> tuple[int, ...]:
        """How many values there are along each axis."""
        return tuple(map(len, self.values))

    @property
    def crossed(self) -> bool:
        """Whether the queries are, or nearly are, all combinations of their values."""
        return math.prod(self.distinct) <= 2 * self.count

    def sums(self, table: np.ndarray, factors: list[np.ndarray]) -> np.ndarray:
        """Sum over all counters of count times the product of the factors, float64 (n,).

        Parameters
        ----------
        table : np.ndarray
            float64, one axis each.
        factors : list[np.ndarray]
            One an axis, float64 (distinct, counters).
        """
        order = self._order(table.shape)
        if self.crossed:
            for axis in order:
                table = np.moveaxis(np.tensordot(factors[axis], table, (1, axis)), 0, axis)
            return table[self.which]
        first, rest = order[0], sorted(order[1:])
        sums = np.tensordot(factors[first], table, (1, first))[self.which[first]]
        for axis in rest:
            sums = np.einsum("nm,nm...->n...", factors[axis][self.which[axis]], sums)
        return sums

    def combined(self, weights: np.ndarray, factors: list[np.ndarray]) -> np.ndarray:
        """Sum over terms of weight times the product of the factors, float64 (n,).

        Parameters
        ----------
        weights : np.ndarray
            float64 (terms,).
        factors : list[np.ndarray]
            One an axis, float64 (distinct, terms).
        """
        if not self.crossed:
            return math.prod(factor[which] for factor, which in zip(factors, self.which, strict=True)) @ weights
        *others, longest = sorted(range(len(factors)), key=lambda axis: len(factors[axis]))
        products = weights[None]
        for axis in others:
            products = (products[:, None] * factors[axis][None]).reshape(-1, len(weights))
        everywhere = (products @ factors[longest].T).reshape([len(factors[axis]) for axis in (*others, longest)])
        return everywhere[tuple(self.which[axis] for axis in (*others, longest))]

    def squares(self, weights: np.ndarray, terms: list[list[np.ndarray]]) -> np.ndarray:
        """Sum over all counters of the square of a weighted sum of products of factors, float64 (n,).

        The square of the sum is a sum over pairs of terms, and each of them again the product of one sum an axis.

        Parameters
        ----------
        weights : np.ndarray
            float64 (terms,).
        terms : list[list[np.ndarray]]
            The factors of each, one an axis, float64 (distinct, counters).
        """
        first, second = np.triu_indices(len(terms))
        along_axes = []
        for factors in zip(*terms, strict=True):
            stacked = np.stack(factors, axis=1)
            along_axes.append((stacked @ stacked.swapaxes(1, 2))[:, first, second])
        twice = np.where(first == second, 1.0, 2.0)
        return np.maximum(self.combined(twice * weights[first] * weights[second], along_axes), 0.0)

    def numbers(self, shape: tuple[int, ...], terms: int) -> int:
        """How many numbers the intermediate results of `sums` and `combined` have at most.

        Parameters
        ----------
        shape : tuple[int, ...]
            Of the table.
        terms : int
            Of a combination.
        """
        if not self.crossed:
            return self.count * max(math.prod(shape) // shape[self._order(shape)[0]], terms)
        sizes, most = list(shape), 0
        for axis in self._order(shape):
            sizes[axis] = self.distinct[axis]
            most = max(most, math.prod(sizes))
        return max(most, math.prod(sorted(self.distinct)[:-1]) * terms)

    def _order(self, shape: tuple[int, ...]) -> list[int]:
        """Axes in the order in which a table is summed over them: first those that leave the least of it."""
        return sorted(range(len(shape)), key=lambda axis: self.distinct[axis] / shape[axis])
